package commands

import (
	"slices"

	"github.com/duskdb/duskdb/index"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

// Document TTL is listed as a TTL index on _ts, whichever way it was switched
// on. There is no such index: what expires is in the order of two internal
// ones. Every command that lists, counts, names or drops indexes knows it all
// the same.

// exposesTS reports whether documents are returned with _ts.
func exposesTS(p *ttl.DocumentPolicy) bool { return p != nil && p.ExposeTS }

// listTSIndex lists the index on _ts behind the real ones, under a name that
// none of them has.
func (m *collectionMeta) listTSIndex() {
	name := ttl.TSIndexName
	if slices.ContainsFunc(m.indexes, func(s *index.Spec) bool { return s.Name == name }) {
		name = ttl.OtherTSIndexName
	}
	m.tsIndex, _ = index.Load(m.docTTL.NamedTSIndex(name))
	m.listed = append(slices.Clip(m.listed), m.tsIndex)
}

// known are the indexes that a new one may conflict with.
func (m *collectionMeta) known() []*index.Spec {
	if m.tsIndex == nil || m.hasKey(m.tsIndex.Key) {
		return m.indexes
	}
	return append(slices.Clip(m.indexes), m.tsIndex)
}

// hasKey reports whether there is a real index with a key pattern.
func (m *collectionMeta) hasKey(key value.Doc) bool {
	return slices.ContainsFunc(m.indexes, func(s *index.Spec) bool { return value.CompareDocs(s.Key, key, nil) == 0 })
}

// isTSIndex reports whether a name or a key pattern means the index on _ts and
// no real one.
func (m *collectionMeta) isTSIndex(v value.Value) bool {
	switch {
	case m.tsIndex == nil:
		return false
	case v.Kind() == value.KindDocument:
		return ttl.IsTSKey(v.Doc()) && !m.hasKey(v.Doc())
	}
	return v.Kind() == value.KindString && v.Str() == m.tsIndex.Name
}

// dropsTSIndex tells whether the index argument of dropIndexes includes the
// index on _ts, and what is left of it for the real ones: Missing for nothing.
func (m *collectionMeta) dropsTSIndex(v value.Value) (drops bool, rest value.Value) {
	switch {
	case m.tsIndex == nil:
		return false, v
	case isAll(v):
		return true, v
	case m.isTSIndex(v):
		return true, value.Value{}
	case v.Kind() != value.KindArray:
		return false, v
	}
	var others []value.Value
	for e := range v.Doc().Values() {
		if e.Kind() == value.KindString && m.isTSIndex(e) {
			drops = true
			continue
		}
		others = append(others, e)
	}
	return drops, value.NewArray(others...)
}

// mayNameTSIndex reports whether an index argument can mean the index on _ts.
func mayNameTSIndex(v value.Value) bool {
	if v.Kind() == value.KindArray {
		return slices.ContainsFunc(elements(v.Doc()), mayNameTSIndex)
	}
	return isAll(v) || v.Str() == ttl.TSIndexName || v.Str() == ttl.OtherTSIndexName || v.Kind() == value.KindDocument && ttl.IsTSKey(v.Doc())
}

// useTSIndex answers a hint at the index on _ts: every document is in it, so the
// records are read as they lie.
func (m *collectionMeta) useTSIndex(h *plan.Hint) {
	if m.tsIndex == nil || h.Natural != 0 {
		return
	}
	if h.Name != "" && h.Name == m.tsIndex.Name || h.Key != nil && m.isTSIndex(value.Document(h.Key)) {
		*h = plan.Hint{Natural: 1}
	}
}

// indexStats are the figures of a listed index.
func (m *collectionMeta) indexStats(coll storage.Collection, spec *index.Spec) (s storage.IndexStats, err error) {
	if spec != m.tsIndex || spec == nil {
		return coll.IndexStats(spec.Name)
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

// rebuildShown builds those indexes anew whose keys depend on whether readers
// see _ts. The log is not told: to clients they are the same.
func rebuildShown(tx storage.Tx, ns storage.Namespace) error {
	if l, ok := tx.(*loggedTx); ok {
		tx = l.Tx
	}
	coll, err := tx.Collection(ns)
	if err != nil {
		return err
	}
	for _, spec := range metaOf(coll.Info()).indexes {
		if !spec.Mentions(ttl.TSField) {
			continue
		}
		if err := tx.DropIndex(ns, spec.Name); err != nil {
			return err
		}
		if err := tx.CreateIndex(ns, spec.Stored()); err != nil {
			return err
		}
	}
	return nil
}

// checkRename refuses a $rename of _ts where it is the server's: the value would
// be lost in silence.
func (m *modification) checkRename(meta *collectionMeta) error {
	if meta.docTTL == nil || m.compile == nil || !m.compile.Renames(ttl.TSField) {
		return nil
	}
	return mongoerr.New(mongoerr.ImmutableField, "Performing an update on the path '_ts' would modify the immutable field '_ts'")
}
