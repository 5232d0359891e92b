package stage

import (
	"github.com/duskdb/duskdb/value"
)

// Packs is an Iterator over documents that are stored in packs: the measurements of a
// time series, in buckets. Some stages can be computed from the summary of a pack without
// unpacking it: $group by the shared field and the time, $sort by time, and the last
// point of each series.
//
// NextPack returns the packs one by one. After the first call of NextPack, Next must not
// be called any more.
type Packs interface {
	Iterator
	// PackFields returns two top-level fields: the one whose value all documents of a
	// pack share ("" without such a field), and the one with their time.
	PackFields() (shared, time string)
	// NextPack returns the next pack, nil at the end.
	NextPack() (Pack, error)
}

// Pack is a group of documents that are stored together. The caller may keep it.
type Pack interface {
	// Whole reports whether all its documents pass the filter of the source.
	Whole() bool
	// Count is the number of documents.
	Count() (int64, error)
	// Shared is the value that the documents share, or Missing.
	Shared() value.Value
	// Times returns a lower bound of the times of the documents, and the time of the
	// last one, in milliseconds. ok is false if they are not known.
	Times() (from, last int64, ok bool)
	// Extreme returns the least or, if greatest is set, the greatest value of a path
	// over all documents, Missing if they have no value. ok is false if the pack does
	// not know it.
	Extreme(path value.Path, greatest bool) (v value.Value, ok bool)
	// Docs returns the documents that pass the filter. It closes the iterator of the
	// pack that was opened before.
	Docs() Iterator
}
