package index

import (
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/storage"
)

// Describe tells the planner about the index as its entries are now; nil for
// an internal index, which serves no query.
func (s *Spec) Describe(stats storage.IndexStats) *plan.Index {
	if s.Internal != "" {
		return nil
	}
	x := &plan.Index{
		Name:      s.Name,
		Key:       s.Key,
		Fields:    make([]plan.Field, len(s.Fields)),
		Version:   s.Version,
		Unique:    s.IsUnique,
		Sparse:    s.Sparse,
		Hidden:    s.Hidden,
		Multikey:  stats.Multikey,
		Clustered: s.Clustered,
		Partial:   s.Partial,
		Entries:   stats.Entries,
		Collation: s.collator,
		Hash:      s.Hash,
		Cover:     s.cover,
	}
	if s.Collation != nil {
		x.CollationDoc = s.option("collation").Doc()
	}
	for i, f := range s.Fields {
		x.Fields[i] = plan.Field{Path: f.Path, Desc: f.Desc, Kind: plan.Kind(f.Kind)}
		if f.Kind == Wildcard {
			x.Takes = s.takesBelow(f.Path)
		}
	}
	return x
}

// takesBelow tells which paths the wildcard that begins at root lists.
func (s *Spec) takesBelow(root string) func(path string) bool {
	return func(path string) bool { return covers(root, path) && s.projection.takes(path) }
}
