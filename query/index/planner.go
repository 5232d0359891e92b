package index

import (
	"github.com/duskdb/duskdb/query/plan"
)

// Plan describes the index for the planner; nil for an internal index, which
// serves no query. The caller sets Entries and Multikey; the description is a
// copy.
func (s *Spec) Plan() *plan.Index {
	var x plan.Index
	if !s.PlanInto(&x) {
		return nil
	}
	return &x
}

// PlanInto is [Spec.Plan] into memory of the caller; it returns false for an
// internal index.
func (s *Spec) PlanInto(x *plan.Index) bool {
	if s.described == nil {
		return false
	}
	*x = *s.described
	return true
}

// describe builds the description for the planner, once.
func (s *Spec) describe() *plan.Index {
	x := &plan.Index{
		Name:      s.StoredName(),
		Key:       s.Key,
		Fields:    s.places,
		Version:   s.Version,
		Unique:    s.IsUnique,
		Sparse:    s.Sparse,
		Hidden:    s.Hidden,
		Clustered: s.Clustered,
		Partial:   s.Partial,
		Collation: s.collator,
		Hash:      s.Hash,
		Cover:     s.cover,
	}
	if s.Collation != nil {
		x.CollationDoc = s.option("collation").Doc()
	}
	for _, f := range s.Fields {
		if f.Kind == Wildcard {
			x.Takes, x.TakesAll = s.takesBelow(f.Path), s.takesAllBelow(f.Path)
		}
	}
	return x
}

// takesAllBelow returns a function that reports whether the wildcard at root
// indexes a path and everything below it.
func (s *Spec) takesAllBelow(root string) func(path string) bool {
	takes := s.takesBelow(root)
	return func(path string) bool {
		if !takes(path) {
			return false
		}
		for _, p := range s.projection.paths {
			if !s.projection.include && covers(path, p) {
				return false
			}
		}
		return true
	}
}

// takesBelow returns a function that reports whether the wildcard at root
// indexes a path.
func (s *Spec) takesBelow(root string) func(path string) bool {
	return func(path string) bool { return covers(root, path) && s.projection.takes(path) }
}
