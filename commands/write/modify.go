package write

import (
	"errors"

	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/commands/session"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// modifyChunk bounds the records one engine transaction of a multi-update or
// multi-delete changes.
const modifyChunk = 200

// Modify runs a statement:
//
//  1. In one view it looks for the collection, compiles the statement and opens the records
//     that match.
//  2. Each record is read and matched again by the engine transaction that changes it, so
//     that no writer is held up by the search. Measurements go a way of their own.
//  3. If no record matched, an upsert inserts one; if another client has inserted it
//     meanwhile, the statement starts over at 2.
//
// The Run is nil if the statement could not be compiled.
func Modify(c *kernel.Call, m *Modification) (*Run, Updated, error) {
	run, info, src, err := open(c, m)
	if err != nil {
		return nil, Updated{}, err
	}
	if catalog.Of(info).Kind == catalog.TimeSeries {
		out, err := modifyMeasurements(c, run, info)
		return run, out, err
	}
	for attempt := 0; ; attempt++ {
		var out Updated
		if info != nil {
			if out, err = modifyMatching(c, run, info, src); err != nil {
				return run, out, kernel.Translate(m.NS, err)
			}
		}
		if out.Matched > 0 || !m.Upsert {
			return run, out, nil
		}
		out, err = upsert(c, run)
		if mongoerr.Is(err, mongoerr.DuplicateKey) && attempt < maxUpsertAttempts && c.Transaction() == nil && run.retriesUpsert(err) {
			if info, err = exec.Lookup(c, m.NS); err == nil {
				run.over(info)
				src = nil
				continue
			}
		}
		return run, out, kernel.Translate(m.NS, err)
	}
}

// open compiles the statement and opens the records. info is nil if there is no such
// collection, src if the records are found otherwise.
func open(c *kernel.Call, m *Modification) (run *Run, info *storage.Info, src exec.RecordSource, err error) {
	err = c.InOneView(func() error {
		src = nil // the view runs again if the catalog has changed
		if info, err = exec.Lookup(c, m.NS); err != nil {
			return err
		}
		meta := catalog.Of(info)
		if m.FindAndModify && info != nil {
			if err := queue.CheckUpdate(info); err != nil {
				return err
			}
		}
		if meta.Kind == catalog.View {
			return catalog.NotOnView(m.NS)
		}
		if run, err = Compile(c, m, info); err != nil {
			return err
		}
		switch {
		case meta.IsQueue && !m.Removes():
			return queue.CheckUpdate(info)
		case info == nil || meta.Kind == catalog.TimeSeries || run.byID:
			return nil
		}
		src, err = openRecords(c, run, info)
		return err
	})
	return run, info, src, err
}

// openRecords opens the records that match, and reads the first of them. It is called in the
// View that the collection was opened in.
func openRecords(c *kernel.Call, m *Run, info *storage.Info) (exec.RecordSource, error) {
	src, err := exec.OpenRecords(c, m.Exec, info, &m.Query)
	if err != nil {
		return nil, kernel.Translate(m.NS, err)
	}
	m.Exec.ReadAhead(modifyChunk)
	return src, nil
}

// modifyMatching changes the records that match. src has them, unless it is nil.
func modifyMatching(c *kernel.Call, m *Run, info *storage.Info, src exec.RecordSource) (Updated, error) {
	if m.byID {
		return modifyByID(c, m)
	}
	for attempt := 1; ; attempt++ {
		if src == nil {
			err := c.InOneView(func() (err error) { src, err = openRecords(c, m, info); return err })
			if err != nil {
				return Updated{}, err
			}
		}
		var out Updated
		var skipped bool
		var err error
		if m.Multi {
			out, err = ModifyMany(c, m, src)
		} else {
			out, skipped, err = ModifyFirst(c, m, src)
		}
		src.Close()
		src = nil
		// A sorted search returns only the first; if it was skipped, search again.
		if !skipped || err != nil || out.Matched > 0 || m.Query.Sort.IsEmpty() || attempt == MaxScriptRuns {
			return out, err
		}
	}
}

// modifyByID finds the one record by its _id inside the transaction that
// changes it.
func modifyByID(c *kernel.Call, m *Run) (out Updated, err error) {
	key := value.AppendKeyWith(nil, m.id, m.Query.Collator)
	found := false
	err = c.Update(func(tx storage.Tx) error {
		out, found = Updated{}, false
		coll, err := tx.Collection(m.NS)
		if err != nil {
			if errors.Is(err, storage.ErrNotFound) {
				return nil
			}
			return err
		}
		r, ok, err := c.Visible(coll).Find(reserved.IDIndex, key)
		if found = ok; err != nil || !ok {
			return err
		}
		w := New(c, tx, coll, m.Bypass)
		_, err = change(c, m, w, r, &out)
		return err
	})
	exec.CountByID(&c.Counts, found)
	return out, err
}

// ModifyFirst changes the first record that matches. A record that stopped
// matching between being found and being changed is skipped; skipped reports whether that
// was so because a script no longer matched one.
func ModifyFirst(c *kernel.Call, m *Run, src exec.RecordSource) (out Updated, skipped bool, err error) {
	for {
		found, ok, err := src.Next()
		if err != nil || !ok {
			return out, skipped, err
		}
		if m.scripted {
			if out, err = modifyScripted(c, m, found.ID); err != nil || out.Matched > 0 {
				return out, skipped, err
			}
			skipped = true
			continue
		}
		changed := false
		err = c.Update(func(tx storage.Tx) error {
			out, changed = Updated{}, false
			return withRecord(c, tx, m, found.ID, func(w *Writer, r storage.Record) error {
				changed, err = change(c, m, w, r, &out)
				return err
			})
		})
		if err != nil || changed {
			return out, skipped, err
		}
	}
}

// ModifyMany changes all records that match, a chunk at a time. An update may
// move a record to a place in the index where the scan has yet to come: each
// is changed once.
func ModifyMany(c *kernel.Call, m *Run, src exec.RecordSource) (total Updated, err error) {
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
			if !m.Removes() {
				if _, again := changed[found.ID]; again {
					continue
				}
				changed[found.ID] = struct{}{}
			}
			ids = append(ids, found.ID)
		}
		out, err := modifyRecords(c, m, ids)
		total.Matched += out.Matched
		total.Modified += out.Modified
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// modifyRecords changes records in one transaction. Those before one that
// fails stay changed.
func modifyRecords(c *kernel.Call, m *Run, ids []storage.RecordID) (out Updated, err error) {
	if len(ids) == 0 {
		return out, nil
	}
	if m.scripted {
		for _, id := range ids {
			one, err := modifyScripted(c, m, id)
			if err != nil {
				return out, err
			}
			out.Matched += one.Matched
			out.Modified += one.Modified
		}
		return out, nil
	}
	var failed error
	err = c.Update(func(tx storage.Tx) error {
		out, failed = Updated{}, nil
		before := out
		err := eachRecord(c, tx, m, ids, func(w *Writer, r storage.Record) error {
			before = out
			_, err := change(c, m, w, r, &out)
			return err
		})
		if kernel.Retry(err) || mongoerr.Is(err, mongoerr.WriteConflict) {
			return err // to be tried again as a whole
		}
		if err != nil {
			out, failed = before, err // the record that failed does not count
		}
		return nil
	})
	if err != nil {
		return Updated{}, err
	}
	return out, failed
}

// eachRecord calls fn with the records that still exist, in the collection they
// were found in: another one may have got the name since.
func eachRecord(c *kernel.Call, tx storage.Tx, m *Run, ids []storage.RecordID, fn func(*Writer, storage.Record) error) error {
	coll, err := exec.StillThere(tx, m.NS, m.collection)
	if err != nil {
		return err
	}
	w := New(c, tx, coll, m.Bypass)
	return c.Visible(coll).Each(ids, func(r storage.Record) error { return fn(w, r) })
}

// withRecord is eachRecord for one.
func withRecord(c *kernel.Call, tx storage.Tx, m *Run, id storage.RecordID, fn func(*Writer, storage.Record) error) error {
	coll, err := exec.StillThere(tx, m.NS, m.collection)
	if err != nil {
		return err
	}
	r, ok, err := c.Visible(coll).Get(id)
	if err != nil || !ok {
		return err
	}
	return fn(New(c, tx, coll, m.Bypass), r)
}

// outcome says what becomes of a record.
type outcome struct {
	r        storage.Record // the record in the form that is changed
	matched  bool
	modified bool      // whether the update changes it
	old, d   value.Doc // the document shown before, and the new one
}

// change evaluates one record and, if it matches, updates or removes it.
func change(c *kernel.Call, m *Run, w *Writer, r storage.Record, out *Updated) (changed bool, err error) {
	v, err := evaluate(c, m, w.Meta, r)
	if err != nil || !v.matched {
		return false, err
	}
	return true, carryOut(c, m, w, &v, out)
}

// evaluate finds out whether a record matches and what the update makes of it.
func evaluate(c *kernel.Call, m *Run, meta *catalog.Meta, r storage.Record) (v outcome, err error) {
	if meta.Kind == catalog.Buckets {
		r.Doc = exec.ShownBucket(r.Doc)
	}
	shown := meta.Shown(r.Doc, r.TS)
	if meta.IsQueue {
		shown = queue.Present(r.Doc, c.Now)
	}
	position := -1
	if !m.byID { // a filter that is nothing but the _id holds
		var ok bool
		if ok, position, err = m.Query.Matcher.MatchWithPosition(m.Exec.Env, shown); err != nil || !ok {
			return v, err
		}
	}
	v.r, v.old = r, meta.Shown(r.Doc, r.TS)
	if m.Removes() {
		v.matched = true
		return v, nil
	}
	before := r.Doc
	if m.update.IsPipeline() { // which may read _ts; what it sets there is discarded
		before = v.old
	}
	if v.d, v.modified, err = m.Apply(before, position); err != nil {
		return v, m.withContext(err)
	}
	v.matched = true
	return v, nil
}

// carryOut updates or removes a record that matches.
func carryOut(c *kernel.Call, m *Run, w *Writer, v *outcome, out *Updated) error {
	out.Old = v.old
	out.Matched++
	if m.Removes() {
		return w.Remove(v.r)
	}
	out.New = w.Meta.Shown(v.d, c.Now)
	if !v.modified {
		return w.touch(v.r)
	}
	out.Modified++
	return w.change(v.r, v.d, &oplog.Change{Replaces: m.update.IsReplacement(), Touched: m.update.TouchedPaths()})
}

// withContext adds what mongod's plan executor says before errors of updates.
func (m *Run) withContext(err error) error {
	if m.FindAndModify {
		return mongoerr.From(err).WithPrefix("Plan executor error during findAndModify")
	}
	return mongoerr.From(err).WithPrefix("Plan executor error during update")
}

// Retried runs the i-th statement of a command, or answers it as its first
// run was answered.
func Retried(c *kernel.Call, i int, run func() (Updated, error)) (Updated, error) {
	if s := c.Statement(i); s != nil {
		return OutcomeOf(s), nil
	}
	return run()
}

// OutcomeOf is what the statement answered when it was run.
func OutcomeOf(s *session.RetriedStatement) Updated {
	out := Updated{Old: s.Image, New: s.Image}
	switch s.Kind {
	case 'i':
		out.Upserted = s.ID
	case 'u':
		out.Matched, out.Modified = 1, 1
	default:
		out.Matched = 1
	}
	return out
}
