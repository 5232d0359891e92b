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

// overPacks opens the stages at the head of the pipeline that packs can
// answer. It returns how many these are, 0 if none.
func (p *Pipeline) overPacks(x *Exec, src Iterator) (it Iterator, n int) {
	packs, ok := src.(Packs)
	if !ok || len(p.stages) == 0 {
		return nil, 0
	}
	shared, time := packs.PackFields()
	switch plan := p.packPlan(shared, time).(type) {
	case *packedGroup:
		return plan.open(x, packs), 1
	case *lastPoint:
		return plan.open(x, packs), plan.stages
	case *packedSort:
		return plan.open(x, packs), 1
	}
	return nil, 0
}

// packPlan is how packs answer the head of the pipeline: a *packedGroup, a
// *lastPoint, a *packedSort or nil.
func (p *Pipeline) packPlan(shared, time string) any {
	switch s := p.first().(type) {
	case *groupStage:
		if g := s.overPacks(shared, time); g != nil {
			return g
		}
		if l := s.topPoint(shared, time); l != nil {
			return l
		}
	case *sortStage:
		if l := p.lastPoint(shared, time); l != nil {
			return l
		}
		if b := s.overPacks(time); b != nil {
			return b
		}
	}
	return nil
}

// within reports whether a path is a field or lies below it.
func within(path, field string) bool {
	return field != "" && (path == field || strings.HasPrefix(path, field) && path[len(field)] == '.')
}
