package index

import (
	"strings"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Showing returns the specification with keys that are made of what show makes
// of a record, where documents have fields for readers that are not stored.
func (s *Spec) Showing(show func(*storage.Record) value.Doc) *Spec {
	c := *s
	c.show = show
	return &c
}

// shown is a record's document as readers see it. The record is a copy, so that
// those of indexes that show nothing stay off the heap.
//
//go:noinline
func (s *Spec) shown(r storage.Record) value.Doc { return s.show(&r) }

// Mentions reports whether the keys of the index, or whether a document is in
// it at all, may depend on a field of the root.
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

// names reports whether a filter speaks of a field of the root.
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
