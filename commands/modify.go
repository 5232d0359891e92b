package commands

import (
	"errors"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/update"
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// modifyChunk bounds the records one engine transaction of a multi-update or
// multi-delete changes.
const modifyChunk = 200

// modifyMatching changes the records that match: looked for without holding
// up any writer, then read and judged again by the transaction that changes
// them.
func (c *Call) modifyMatching(m *modification, info *storage.Info) (updated, error) {
	if id, ok := pointID(m.query.filter); ok && m.canUseID(info) {
		m.byID = true
		return c.modifyByID(m, id)
	}
	src, err := c.openRecords(m.exec, info, &m.query)
	if err != nil {
		return updated{}, err
	}
	defer src.Close()
	m.collection = info.UUID
	if m.multi {
		return c.modifyMany(m, src)
	}
	return c.modifyFirst(m, src)
}

// canUseID reports whether the index on _id can answer an equality.
func (m *modification) canUseID(info *storage.Info) bool {
	return info != nil && m.hint.IsMissing() && info.Index(idIndex) != nil && sameCollation(metaOf(info).collator(), m.query.collator)
}

// modifyByID finds the one record by its _id inside the transaction that
// changes it.
func (c *Call) modifyByID(m *modification, id value.Value) (out updated, err error) {
	key := value.AppendKeyWith(nil, id, m.query.collator)
	err = c.update(func(tx storage.Tx) error {
		out = updated{}
		coll, err := tx.Collection(m.ns)
		if err != nil {
			if errors.Is(err, storage.ErrNotFound) {
				return nil
			}
			return err
		}
		c.counts.byID()
		r, ok, err := c.sight(coll).find(idIndex, key)
		if err != nil || !ok {
			return err
		}
		w := c.newWriter(tx, coll, m.bypass)
		_, err = c.change(m, w, r, &out)
		return err
	})
	return out, err
}

// modifyFirst changes the first record that matches. A record that stopped
// matching between being found and being changed is passed over.
func (c *Call) modifyFirst(m *modification, src recordSource) (out updated, err error) {
	for {
		found, ok, err := src.Next()
		if err != nil || !ok {
			return out, err
		}
		changed := false
		err = c.update(func(tx storage.Tx) error {
			out, changed = updated{}, false
			return c.withRecord(tx, m, found.ID, func(w *writer, r storage.Record) error {
				changed, err = c.change(m, w, r, &out)
				return err
			})
		})
		if err != nil || changed {
			return out, err
		}
	}
}

// modifyMany changes all records that match, a chunk at a time. An update may
// move a record to a place in the index where the scan has yet to come: each
// is changed once.
func (c *Call) modifyMany(m *modification, src recordSource) (total updated, err error) {
	ids := make([]storage.RecordID, 0, modifyChunk)
	changed := map[storage.RecordID]struct{}{}
	for done := false; !done; {
		ids = ids[:0]
		for len(ids) < modifyChunk {
			found, ok, err := src.Next()
			if err != nil {
				return total, err
			}
			if !ok {
				done = true
				break
			}
			if m.compile != nil {
				if _, again := changed[found.ID]; again {
					continue
				}
				changed[found.ID] = struct{}{}
			}
			ids = append(ids, found.ID)
		}
		out, err := c.modifyRecords(m, ids)
		total.matched += out.matched
		total.modified += out.modified
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// modifyRecords changes records in one transaction. Those before one that
// fails stay changed.
func (c *Call) modifyRecords(m *modification, ids []storage.RecordID) (out updated, err error) {
	if len(ids) == 0 {
		return out, nil
	}
	var failed error
	err = c.update(func(tx storage.Tx) error {
		out, failed = updated{}, nil
		for _, id := range ids {
			err := c.withRecord(tx, m, id, func(w *writer, r storage.Record) error {
				_, err := c.change(m, w, r, &out)
				return err
			})
			if errors.Is(err, storage.ErrConflict) || mongoerr.Is(err, mongoerr.WriteConflict) {
				return err // to be tried again as a whole
			}
			if err != nil {
				failed = err
				return nil
			}
		}
		return nil
	})
	if err != nil {
		return updated{}, err
	}
	return out, failed
}

// withRecord calls fn with a record if it still exists, in the collection it
// was found in: another one may have got the name since.
func (c *Call) withRecord(tx storage.Tx, m *modification, id storage.RecordID, fn func(*writer, storage.Record) error) error {
	coll, err := stillThere(tx, m.ns, m.collection)
	if err != nil {
		return err
	}
	r, ok := c.sight(coll).get(id)
	if !ok {
		return nil
	}
	return fn(c.newWriter(tx, coll, m.bypass), r)
}

// change judges one record and, if it matches, updates or removes it.
func (c *Call) change(m *modification, w *writer, r storage.Record, out *updated) (changed bool, err error) {
	if w.meta.kind == timeSeriesBuckets {
		r.Doc = shownBucket(r.Doc)
	}
	shown := w.meta.shown(r.Doc, r.TS)
	if w.meta.isQueue {
		shown = queue.Present(r.Doc, c.now)
	}
	ok, position := true, -1
	if !m.byID { // a filter that is nothing but the _id holds
		if ok, position, err = m.query.matcher.MatchWithPosition(m.exec.env, shown); err != nil || !ok {
			return false, err
		}
	}
	out.old = w.meta.shown(r.Doc, r.TS)
	if m.compile == nil {
		out.matched++
		return true, w.remove(r)
	}
	before := r.Doc
	if m.compile.IsPipeline() { // which may read _ts; what it sets there is discarded
		before = out.old
	}
	d, modified, err := m.compile.Apply(m.exec.env, before, update.ApplyOptions{Position: position})
	if err != nil {
		return false, m.withContext(err)
	}
	out.matched++
	out.new = w.meta.shown(d, c.now)
	if !modified {
		return true, w.touch(r)
	}
	out.modified++
	if log := c.recorder(); log != nil {
		log.replacing, log.touched = m.compile.IsReplacement(), m.compile.TouchedPaths()
		defer func() { log.replacing, log.touched = false, nil }()
	}
	return true, w.replace(r, d)
}

// withContext adds what mongod's plan executor says before errors of updates.
func (m *modification) withContext(err error) error {
	if m.findAndModify {
		return mongoerr.From(err).WithPrefix("Plan executor error during findAndModify")
	}
	return mongoerr.From(err).WithPrefix("Plan executor error during update")
}

// recordSource yields the records that match a query.
type recordSource interface {
	Next() (storage.Record, bool, error)
	Close()
}

// matching passes on the records that match.
type matching struct {
	src recordSource
	q   *readQuery
	env *expr.Env
}

func (f *matching) Next() (storage.Record, bool, error) {
	for {
		r, ok, err := f.src.Next()
		if err != nil || !ok {
			return r, false, err
		}
		hit, err := f.q.matcher.Match(f.env, r.Doc)
		if err != nil {
			return r, false, err
		}
		if hit {
			return r, true, nil
		}
	}
}

func (f *matching) Close() { f.src.Close() }

// sameCollation compares two collators by what they do.
func sameCollation(a, b value.Collator) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return a == b || collationDoc(a).String() == collationDoc(b).String()
}

func collationDoc(c value.Collator) value.Doc {
	if d, ok := c.(interface{ Doc() value.Doc }); ok {
		return d.Doc()
	}
	return nil
}
