package catalog

import (
	"slices"

	"github.com/duskdb/duskdb/query/index"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

// Document TTL is listed as a TTL index on _ts, however it was switched on. This index
// does not exist: two internal indexes order the documents by their expiry. Every
// command that lists, counts, names or drops indexes treats it like a real one.

// ExposesTS reports whether documents are returned with _ts.
func ExposesTS(p *ttl.DocumentPolicy) bool { return p != nil && p.ExposeTS }

// listTSIndex lists the index on _ts behind the real ones, under a name that
// none of them has.
func (m *Meta) listTSIndex() {
	name := ttl.TSIndexName
	if slices.ContainsFunc(m.Indexes, func(s *index.Spec) bool { return s.Name == name }) {
		name = ttl.OtherTSIndexName
	}
	m.TSIndex, _ = index.Load(m.DocTTL.NamedTSIndex(name))
	m.Listed = append(slices.Clip(m.Listed), m.TSIndex)
}

// ConflictCandidates returns the indexes that a new one may conflict with.
func (m *Meta) ConflictCandidates() []*index.Spec {
	if m.TSIndex == nil || m.hasKey(m.TSIndex.Key) {
		return m.Indexes
	}
	return append(slices.Clip(m.Indexes), m.TSIndex)
}

// hasKey reports whether there is a real index with a key pattern.
func (m *Meta) hasKey(key value.Doc) bool {
	return slices.ContainsFunc(m.Indexes, func(s *index.Spec) bool { return value.CompareDocs(s.Key, key, nil) == 0 })
}

// IsTSIndex reports whether a name or a key pattern means the listed index on _ts, not a
// real one.
func (m *Meta) IsTSIndex(v value.Value) bool {
	switch {
	case m.TSIndex == nil:
		return false
	case v.Kind() == value.KindDocument:
		return ttl.IsTSKey(v.Doc()) && !m.hasKey(v.Doc())
	}
	return v.Kind() == value.KindString && v.Str() == m.TSIndex.Name
}

// DropsTSIndex reports whether the index argument of dropIndexes includes the index on
// _ts, and returns what remains of it for the real ones, Missing for nothing.
func (m *Meta) DropsTSIndex(v value.Value) (drops bool, rest value.Value) {
	switch {
	case m.TSIndex == nil:
		return false, v
	case IsWildcard(v):
		return true, v
	case m.IsTSIndex(v):
		return true, value.Value{}
	case v.Kind() != value.KindArray:
		return false, v
	}
	var others []value.Value
	for e := range v.Doc().Values() {
		if e.Kind() == value.KindString && m.IsTSIndex(e) {
			drops = true
			continue
		}
		others = append(others, e)
	}
	return drops, value.NewArray(others...)
}

// MayNameTSIndex reports whether an index argument can mean the index on _ts.
func MayNameTSIndex(v value.Value) bool {
	if v.Kind() == value.KindArray {
		return slices.ContainsFunc(Elements(v.Doc()), MayNameTSIndex)
	}
	return IsWildcard(v) || v.Str() == ttl.TSIndexName || v.Str() == ttl.OtherTSIndexName || v.Kind() == value.KindDocument && ttl.IsTSKey(v.Doc())
}

// ResolveHint replaces names that only clients use by what the planner uses: the index on
// _ts, which would have every document, by a collection scan in natural order, and the
// name of a clustered index by the name under which it is stored.
func (m *Meta) ResolveHint(h *plan.Hint) {
	if c := m.Clustered; c != nil && h.Name != "" {
		switch h.Name {
		case c.Name:
			h.Name = c.StoredName()
		case c.StoredName(): // no index has this name
			h.Name, h.Nameless = "", true
		}
	}
	if m.TSIndex == nil || h.Natural != 0 {
		return
	}
	if h.Name != "" && h.Name == m.TSIndex.Name || h.Key != nil && m.IsTSIndex(value.Document(h.Key)) {
		*h = plan.Hint{Natural: 1}
	}
}

// IndexStats returns the entries and bytes of a listed index; those of the index on _ts
// are the sums of the two internal ones.
func (m *Meta) IndexStats(coll storage.Collection, spec *index.Spec) (s storage.IndexStats, err error) {
	if spec != m.TSIndex {
		return coll.IndexStats(spec.StoredName())
	}
	for _, i := range ttl.DocumentIndexes() {
		one, err := coll.IndexStats(i.Name)
		if err != nil {
			return s, err
		}
		s.Entries, s.Bytes = s.Entries+one.Entries, s.Bytes+one.Bytes
	}
	return s, nil
}
