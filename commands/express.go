package commands

import (
	"errors"

	"github.com/duskdb/duskdb/query/project"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// expressFind answers a find by _id without compiling a filter or planning:
// the commonest of all queries. handled is false if the query is anything
// else.
func (c *Call) expressFind(ns storage.Namespace, a *findArgs) (handled bool, err error) {
	id, ok := pointID(a.Filter)
	if !ok || !a.plain() || a.Projection != nil && !a.Projection.IsEmpty() && hasPosition(a.Projection) {
		return false, nil
	}
	var rec storage.Record
	found := false
	err = c.view(func(tx storage.Tx) error {
		coll, err := tx.Collection(ns)
		if err != nil {
			handled = errors.Is(err, storage.ErrNotFound)
			return nil
		}
		info := coll.Info()
		m := metaOf(info)
		if !m.express() {
			return nil
		}
		handled = true
		c.counts.byID()
		var key [64]byte
		rec, found, err = coll.Find(idIndex, value.AppendKey(key[:0], id))
		found = found && (m.visible == nil || m.visible(&rec, c.now))
		return err
	})
	if !handled || err != nil {
		return handled, err
	}
	d := rec.Doc
	if found && a.Projection != nil && !a.Projection.IsEmpty() {
		p, err := project.Compile(a.Projection, project.Options{})
		if err != nil {
			return true, err
		}
		if d, err = p.Apply(newExecution(c).env, nil, d); err != nil {
			return true, err
		}
	}
	b := c.reply
	b.StartDocument("cursor").StartArray("firstBatch")
	if found {
		b.Document("", d)
		c.svc.metrics.document.returned.Add(1)
		c.counts.returned = 1
	}
	b.End().Int64("id", 0).String("ns", ns.String()).End()
	return true, nil
}

// plain reports whether a find has no option that changes what _id alone
// would give.
func (a *findArgs) plain() bool {
	return a.Sort == nil && a.Hint.IsMissing() && a.Collation == nil && a.Skip == 0 && a.Min == nil && a.Max == nil &&
		!bool(a.ReturnKey) && !bool(a.ShowRecordID) && !bool(a.Tailable) && !bool(a.AwaitData) && a.Let == nil &&
		(a.BatchSize == nil || *a.BatchSize > 0) && a.NTok == nil
}

// hasPosition looks for a positional projection, which needs the filter.
func hasPosition(d value.Doc) bool {
	for name := range d.All() {
		if len(name) > 1 && name[len(name)-1] == '$' {
			return true
		}
	}
	return false
}

// express reports whether a collection's records can be found by _id and
// returned as they are.
func (m *collectionMeta) express() bool {
	return m.kind == ordinary && m.collation == nil && !m.isQueue && (m.docTTL == nil || !m.docTTL.ExposeTS)
}
