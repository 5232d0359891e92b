package index

import (
	"strings"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Showing returns the specification with keys computed from show(record), for
// collections whose readers see fields that are not stored.
func (s *Spec) Showing(show func(*storage.Record) value.Doc) *Spec {
	c := *s
	c.show = show
	return &c
}

// shown returns a record's document as readers see it. The parameter is a
// copy, so that the records of other indexes are not allocated on the heap.
//
//go:noinline
func (s *Spec) shown(r storage.Record) value.Doc { return s.show(&r) }

// Mentions reports whether the keys of the index, or its partial filter, may
// depend on a top-level field.
func (s *Spec) Mentions(field string) bool {
	if s.Internal != "" {
		return false
	}
	for i := range s.Fields {
		f := &s.Fields[i]
		if f.Kind == Wildcard && f.Path == "" || f.Path == field || strings.HasPrefix(f.Path, field+".") {
			return true
		}
	}
	return names(s.PartialFilter, field)
}

// names reports whether a filter uses a top-level field.
func names(filter value.Doc, field string) bool {
	for name, v := range filter.All() {
		if name == field || strings.HasPrefix(name, field+".") {
			return true
		}
		if strings.HasPrefix(name, "$") && v.Kind() == value.KindArray { // $and, $or
			for e := range v.Doc().Values() {
				if e.Kind() == value.KindDocument && names(e.Doc(), field) {
					return true
				}
			}
		}
	}
	return false
}
