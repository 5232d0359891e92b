package commands

import (
	"bytes"

	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// The storage has one writer. A script may run for as long as its limit lets it,
// so it never runs in there: what it says of a record is found out apart, on a
// snapshot, and the writer acts on it if the record is still the same. Within a
// multi-document transaction a script may run at once, as that takes the writer
// only to commit.

// mostJudgings is how often a record is judged that others keep changing.
const mostJudgings = 100

// findScripts finds out whether a modification is to be judged apart. What it is
// to do to a single _id is then found like everything else.
func (c *Call) findScripts(m *modification, meta *collectionMeta) error {
	if c.transaction() != nil {
		return nil
	}
	q := &m.query
	m.scripted = q.matcher != nil && q.matcher.Scripted() != "" || m.update.Kind() == value.KindArray && agg.RunsScripts(m.update)
	if !m.scripted || q.matcher != nil {
		return nil
	}
	return c.compileFilter(q, meta)
}

// lookUp finds a record, or that it is gone.
type lookUp func(tx storage.Tx) (storage.Collection, storage.Record, bool, error)

// apart has judge see a record without holding up any writer. If it reports that
// something is to be done, change does it as part of an engine transaction, unless
// the record has changed meanwhile: then it is judged again. One that is gone is
// passed over.
func (c *Call) apart(ns storage.Namespace, find lookUp, judge func(*collectionMeta, storage.Record) (bool, error), change func(storage.Tx, storage.Collection, storage.Record) error) error {
	for range mostJudgings {
		var seen storage.Record
		var meta *collectionMeta
		err := c.view(func(tx storage.Tx) error {
			coll, r, ok, err := find(tx)
			if ok {
				seen, meta = r, metaOf(coll.Info())
			}
			return err
		})
		if err != nil || meta == nil {
			return err
		}
		if hit, err := judge(meta, seen); err != nil || !hit {
			return err
		}
		stale := false
		err = c.update(func(tx storage.Tx) error {
			coll, r, ok, err := find(tx)
			if err != nil || !ok {
				stale = false
				return err
			}
			if stale = metaOf(coll.Info()) != meta || r.TS != seen.TS || !bytes.Equal(r.Doc, seen.Doc); stale {
				return nil
			}
			return change(tx, coll, r)
		})
		if err != nil || !stale {
			return err
		}
	}
	return translate(ns, storage.ErrConflict)
}

// modifyJudged changes one record that JavaScript judges.
func (c *Call) modifyJudged(m *modification, id storage.RecordID) (out updated, err error) {
	var v verdict
	find := func(tx storage.Tx) (coll storage.Collection, r storage.Record, ok bool, err error) {
		out = updated{}
		if coll, err = stillThere(tx, m.ns, m.collection); err == nil {
			r, ok = c.sight(coll).get(id)
		}
		return coll, r, ok, err
	}
	judge := func(meta *collectionMeta, r storage.Record) (_ bool, err error) {
		v, err = c.judge(m, meta, r)
		return v.matched, err
	}
	err = c.apart(m.ns, find, judge, func(tx storage.Tx, coll storage.Collection, _ storage.Record) error {
		return c.carryOut(m, c.newWriter(tx, coll, m.bypass), &v, &out)
	})
	if err != nil {
		return updated{}, err
	}
	return out, nil
}
