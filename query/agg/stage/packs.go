package stage

import (
	"github.com/duskdb/duskdb/value"
)

// Packs is an Iterator over documents that are stored in packs: the
// measurements of a time series, in buckets. What a pack tells of its
// documents answers some stages without opening it: $group by the shared
// field and the time, $sort by time, and the last point of each series.
//
// The packs are given one by one by NextPack; who has asked for one must not
// ask for documents any more.
type Packs interface {
	Iterator
	// PackFields are the top-level fields with the value that all documents
	// of a pack share ("" if there is none), and with their time.
	PackFields() (shared, time string)
	// NextPack returns the next pack, nil at the end.
	NextPack() (Pack, error)
}

// Pack is some documents that are stored together. It may be kept.
type Pack interface {
	// Whole reports that all its documents pass the filter of the source.
	Whole() bool
	// Count is the number of documents.
	Count() (int64, error)
	// Shared is the value that the documents share, Missing if none.
	Shared() value.Value
	// Times are an instant that no document lies before, and that of the
	// last one, in milliseconds; ok is false if they are not known.
	Times() (from, last int64, ok bool)
	// Extreme is the value that $min or, if greatest is set, $max gives over
	// all documents, Missing if they have none; ok is false if the pack does
	// not tell.
	Extreme(path value.Path, greatest bool) (v value.Value, ok bool)
	// Docs gives the documents that pass the filter. It ends what another
	// pack of the source gives.
	Docs() Iterator
}
