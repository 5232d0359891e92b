package order

import "github.com/duskdb/duskdb/value"

// bound recognises documents that a sort with a limit will not return, by the first field
// of the sort: it lies behind that of the worst document kept. No key is made for them.
// With more than two fields the key is made all the same, since it is an error if two of
// them are arrays.
type bound struct {
	finder value.Finder
	part   *Part // nil: the first field is of no use for that
	worst  value.Value
	at     int // Sorter.replaced when worst was read, and 1; 0: it was not
	vain   int // documents lately that were not excluded, less those that were
	idle   int // so many documents are not looked at, since it would be in vain
}

func newBound(s *Stage) *bound {
	b := &bound{}
	if part := &s.Pattern[0]; s.Limit > 0 && len(s.Pattern) <= 2 && !part.Meta && part.P.Len() == 1 {
		b.part, b.finder = part, value.NewFinder(part.Path)
	}
	return b
}

// excludes reports whether the sorter has no use for a document. Only values of one type
// are compared, whose order is simple.
func (b *bound) excludes(r *Sorter, d value.Doc) bool {
	if b.part == nil || !r.full() {
		return false
	}
	if b.idle > 0 {
		b.idle--
		return false
	}
	if b.at != r.replaced+1 {
		b.worst, b.at = b.first(r.records[0].Doc), r.replaced+1
	}
	if b.behind(b.first(d)) {
		b.vain = max(b.vain-1, 0)
		return true
	}
	if b.vain++; b.vain > 32 {
		b.vain, b.idle = 0, 512
	}
	return false
}

// behind reports whether a value certainly sorts behind that of the worst document.
func (b *bound) behind(v value.Value) bool {
	if !ordered(v) || !ordered(b.worst) || v.Kind().Rank() != b.worst.Kind().Rank() {
		return false
	}
	c := value.Compare(v, b.worst)
	return c > 0 && !b.part.Desc || c < 0 && b.part.Desc
}

// first returns the value of the first field of the sort.
func (b *bound) first(d value.Doc) value.Value {
	b.finder.Reset(d)
	_, v := b.finder.Next()
	return v
}

// ordered reports whether values of the type of v are sorted as they are, whatever the
// collation.
func ordered(v value.Value) bool {
	switch v.Kind() {
	case value.KindInt32, value.KindInt64, value.KindDouble, value.KindDateTime, value.KindObjectID, value.KindTimestamp:
		return true
	}
	return false
}
