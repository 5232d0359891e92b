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
	if id, ok := pointID(m.query.filter); ok && !m.scripted && m.canUseID(info) {
		m.byID = true
		return c.modifyByID(m, id)
	}
	m.collection = info.UUID
	for attempt := 1; ; attempt++ {
		m.passed = false
		out, err := c.modifyFound(m, info)
		// A sort finds the first alone. Where that was passed over, there is
		// another first.
		if !m.passed || err != nil || out.matched > 0 || m.query.sort.IsEmpty() || attempt == mostJudgings {
			return out, err
		}
	}
}

// modifyFound looks for records and changes them.
func (c *Call) modifyFound(m *modification, info *storage.Info) (updated, error) {
	src, err := c.openRecords(m.exec, info, &m.query)
	if err != nil {
		return updated{}, err
	}
	defer src.Close()
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
		if m.scripted {
			if out, err = c.modifyJudged(m, found.ID); err != nil || out.matched > 0 {
				return out, err
			}
			m.passed = true
			continue
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
	if m.scripted {
		for _, id := range ids {
			one, err := c.modifyJudged(m, id)
			if err != nil {
				return out, err
			}
			out.matched += one.matched
			out.modified += one.modified
		}
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

// verdict is what is to become of a record.
type verdict struct {
	r        storage.Record // as the collection's kind is changed
	matched  bool
	modified bool      // by the update
	old, d   value.Doc // as shown before, and as it is to be
}

// change judges one record and, if it matches, updates or removes it.
func (c *Call) change(m *modification, w *writer, r storage.Record, out *updated) (changed bool, err error) {
	v, err := c.judge(m, w.meta, r)
	if err != nil || !v.matched {
		return false, err
	}
	return true, c.carryOut(m, w, &v, out)
}

// judge finds out whether a record matches and what the update makes of it.
func (c *Call) judge(m *modification, meta *collectionMeta, r storage.Record) (v verdict, err error) {
	if meta.kind == timeSeriesBuckets {
		r.Doc = shownBucket(r.Doc)
	}
	shown := meta.shown(r.Doc, r.TS)
	if meta.isQueue {
		shown = queue.Present(r.Doc, c.now)
	}
	ok, position := true, -1
	if !m.byID { // a filter that is nothing but the _id holds
		if ok, position, err = m.query.matcher.MatchWithPosition(m.exec.env, shown); err != nil || !ok {
			return v, err
		}
	}
	v.r, v.old = r, meta.shown(r.Doc, r.TS)
	if m.compile == nil {
		v.matched = true
		return v, nil
	}
	before := r.Doc
	if m.compile.IsPipeline() { // which may read _ts; what it sets there is discarded
		before = v.old
	}
	if v.d, v.modified, err = m.compile.Apply(m.exec.env, before, update.ApplyOptions{Position: position}); err != nil {
		return v, m.withContext(err)
	}
	v.matched = true
	return v, nil
}

// carryOut updates or removes a record that matches.
func (c *Call) carryOut(m *modification, w *writer, v *verdict, out *updated) error {
	out.old = v.old
	out.matched++
	if m.compile == nil {
		return w.remove(v.r)
	}
	out.new = w.meta.shown(v.d, c.now)
	if !v.modified {
		return w.touch(v.r)
	}
	out.modified++
	if log := c.recorder(); log != nil {
		log.replacing, log.touched = m.compile.IsReplacement(), m.compile.TouchedPaths()
		defer func() { log.replacing, log.touched = false, nil }()
	}
	return w.replace(v.r, v.d)
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
