package write

import (
	"bytes"

	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// The storage has one write lock. A script may run for a long time, so it never runs while
// the lock is held: it runs on a snapshot, and its result is written if the record is still
// the same. In a multi-document transaction a script may run directly, since the
// transaction takes the write lock only to commit.

// MaxScriptRuns is how often a script is run on a record that other clients keep changing.
const MaxScriptRuns = 100

// findScripts finds out whether a modification runs JavaScript. If it does, a filter by _id
// is executed like any other filter.
func (r *Run) findScripts(c *kernel.Call, meta *catalog.Meta) error {
	if c.Transaction() != nil {
		return nil
	}
	q := &r.Query
	r.scripted = q.Matcher != nil && q.Matcher.Scripted() != "" || r.Update.Kind() == value.KindArray && agg.RunsScripts(r.Update)
	if !r.scripted || q.Matcher != nil {
		return nil
	}
	return canonical.CompileFilter(c, q, meta)
}

// lookUp finds a record, and reports whether it exists.
type lookUp func(tx storage.Tx) (storage.Collection, storage.Record, bool, error)

// apart calls match with a record without blocking other writers. If match reports
// that the record is to be changed, apart calls change within an engine transaction.
// If the record has changed in between, apart calls match again. It skips a record
// that no longer exists.
func apart(c *kernel.Call, ns storage.Namespace, find lookUp, match func(*catalog.Meta, storage.Record) (bool, error), change func(storage.Tx, storage.Collection, storage.Record) error) error {
	for range MaxScriptRuns {
		var seen storage.Record
		var info *storage.Info
		err := c.View(func(tx storage.Tx) error {
			coll, r, ok, err := find(tx)
			if ok {
				seen, info = r, coll.Info()
			}
			return err
		})
		if err != nil || info == nil {
			return err
		}
		if hit, err := match(catalog.Of(info), seen); err != nil || !hit {
			return err
		}
		stale := false
		err = c.Update(func(tx storage.Tx) error {
			coll, r, ok, err := find(tx)
			if err != nil || !ok {
				stale = false
				return err
			}
			if stale = coll.Info().Version != info.Version || r.TS != seen.TS || !bytes.Equal(r.Doc, seen.Doc); stale {
				return nil
			}
			return change(tx, coll, r)
		})
		if err != nil || !stale {
			return err
		}
	}
	return kernel.Translate(ns, storage.ErrConflict)
}

// modifyScripted applies a modification that runs JavaScript to one record.
func modifyScripted(c *kernel.Call, m *Run, id storage.RecordID) (out Updated, err error) {
	var v outcome
	find := func(tx storage.Tx) (coll storage.Collection, r storage.Record, ok bool, err error) {
		out = Updated{}
		if coll, err = exec.StillThere(tx, m.NS, m.collection); err == nil {
			r, ok, err = c.Visible(coll).Get(id)
		}
		return coll, r, ok, err
	}
	match := func(meta *catalog.Meta, r storage.Record) (_ bool, err error) {
		v, err = evaluate(c, m, meta, r)
		return v.matched, err
	}
	err = apart(c, m.NS, find, match, func(tx storage.Tx, coll storage.Collection, _ storage.Record) error {
		return carryOut(c, m, New(c, tx, coll, m.Bypass), &v, &out)
	})
	if err != nil {
		return Updated{}, err
	}
	return out, nil
}
