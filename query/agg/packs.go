package agg

import (
	"strings"

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

// packPlan is how packs answer the stages at the head of a pipeline.
type packPlan interface {
	// open runs these stages over packs.
	open(x *Exec, src Packs) Iterator
	// replaces is how many stages they are.
	replaces() int
	// appendSpec writes what explain shows in place of the first of them, if
	// it shows them differently.
	appendSpec(b *value.Builder) bool
}

// planPacks is how packs with these fields answer the head of a pipeline, nil
// if they cannot.
func planPacks(stages []stage, shared, time string) packPlan {
	if len(stages) == 0 {
		return nil
	}
	switch s := stages[0].(type) {
	case *groupStage:
		if g := groupPacks(s, shared, time); g != nil {
			return g
		}
		if l := topPoint(s, shared, time); l != nil {
			return l
		}
	case *sortStage:
		if l := sortedPoint(stages, shared, time); l != nil {
			return l
		}
		if b := sortPacks(s, time); b != nil {
			return b
		}
	}
	return nil
}

// within reports whether a path is a field or lies below it.
func within(path, field string) bool {
	return field != "" && (path == field || strings.HasPrefix(path, field) && path[len(field)] == '.')
}
