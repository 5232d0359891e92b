package write

import (
	"errors"

	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/observe"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/commands/session"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/query/update"
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

// modifyChunk bounds the records one engine transaction of a multi-update or
// multi-delete changes.
const modifyChunk = 200

// ModifyMatching changes the records that match: looked for without holding
// up any writer, then read and judged again by the transaction that changes
// them.
func ModifyMatching(c *kernel.Call, m *Modification, info *storage.Info) (Updated, error) {
	if id, ok := m.pointID(info); ok {
		m.byID = true
		return modifyByID(c, m, id)
	}
	m.Collection = info.UUID
	for attempt := 1; ; attempt++ {
		m.passed = false
		out, err := modifyFound(c, m, info)
		// A sort finds the first alone. Where that was passed over, there is
		// another first.
		if !m.passed || err != nil || out.Matched > 0 || m.Query.Sort.IsEmpty() || attempt == MostJudgings {
			return out, err
		}
	}
}

// Reopen forgets what Open has found, when the View runs again.
func (m *Modification) Reopen() { m.found = nil }

// Open looks for the records of a ModifyMatching that follows, to be called in the View
// that the collection was opened in.
func (m *Modification) Open(c *kernel.Call, info *storage.Info) (err error) {
	if _, ok := m.pointID(info); ok {
		return nil
	}
	if m.found, err = exec.OpenRecords(c, m.Exec, info, &m.Query); err == nil {
		m.Exec.ReadAhead(modifyChunk)
	}
	return kernel.Translate(m.NS, err)
}

// modifyFound looks for records, unless Open has, and changes them.
func modifyFound(c *kernel.Call, m *Modification, info *storage.Info) (Updated, error) {
	if m.found == nil {
		if err := c.InOneView(func() error { return m.Open(c, info) }); err != nil {
			return Updated{}, err
		}
	}
	src := m.found
	m.found = nil
	defer src.Close()
	if m.Multi {
		return modifyMany(c, m, src)
	}
	return modifyFirst(c, m, src)
}

// pointID returns the _id that the filter consists of, if the index on _id finds it.
func (m *Modification) pointID(info *storage.Info) (id value.Value, ok bool) {
	id, ok = canonical.PointID(m.Query.Filter)
	return id, ok && !m.scripted && m.CanUseID(info)
}

// CanUseID reports whether the index on _id can answer an equality.
func (m *Modification) CanUseID(info *storage.Info) bool {
	return info != nil && m.Hint.IsMissing() && info.Index(reserved.IDIndex) != nil && canonical.SameCollation(catalog.Of(info).Collator(), m.Query.Collator)
}

// modifyByID finds the one record by its _id inside the transaction that
// changes it.
func modifyByID(c *kernel.Call, m *Modification, id value.Value) (out Updated, err error) {
	key := value.AppendKeyWith(nil, id, m.Query.Collator)
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

// modifyFirst changes the first record that matches. A record that stopped
// matching between being found and being changed is passed over.
func modifyFirst(c *kernel.Call, m *Modification, src exec.RecordSource) (out Updated, err error) {
	for {
		found, ok, err := src.Next()
		if err != nil || !ok {
			return out, err
		}
		if m.scripted {
			if out, err = modifyJudged(c, m, found.ID); err != nil || out.Matched > 0 {
				return out, err
			}
			m.passed = true
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
			return out, err
		}
	}
}

// modifyMany changes all records that match, a chunk at a time. An update may
// move a record to a place in the index where the scan has yet to come: each
// is changed once.
func modifyMany(c *kernel.Call, m *Modification, src exec.RecordSource) (total Updated, err error) {
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
			if m.Compile != nil {
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
func modifyRecords(c *kernel.Call, m *Modification, ids []storage.RecordID) (out Updated, err error) {
	if len(ids) == 0 {
		return out, nil
	}
	if m.scripted {
		for _, id := range ids {
			one, err := modifyJudged(c, m, id)
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
func eachRecord(c *kernel.Call, tx storage.Tx, m *Modification, ids []storage.RecordID, fn func(*Writer, storage.Record) error) error {
	coll, err := exec.StillThere(tx, m.NS, m.Collection)
	if err != nil {
		return err
	}
	w := New(c, tx, coll, m.Bypass)
	return c.Visible(coll).Each(ids, func(r storage.Record) error { return fn(w, r) })
}

// withRecord is eachRecord for one.
func withRecord(c *kernel.Call, tx storage.Tx, m *Modification, id storage.RecordID, fn func(*Writer, storage.Record) error) error {
	coll, err := exec.StillThere(tx, m.NS, m.Collection)
	if err != nil {
		return err
	}
	r, ok, err := c.Visible(coll).Get(id)
	if err != nil || !ok {
		return err
	}
	return fn(New(c, tx, coll, m.Bypass), r)
}

// verdict is what is to become of a record.
type verdict struct {
	r        storage.Record // as the collection's kind is changed
	matched  bool
	modified bool      // by the update
	old, d   value.Doc // as shown before, and as it is to be
}

// change judges one record and, if it matches, updates or removes it.
func change(c *kernel.Call, m *Modification, w *Writer, r storage.Record, out *Updated) (changed bool, err error) {
	v, err := judge(c, m, w.Meta, r)
	if err != nil || !v.matched {
		return false, err
	}
	return true, carryOut(c, m, w, &v, out)
}

// judge finds out whether a record matches and what the update makes of it.
func judge(c *kernel.Call, m *Modification, meta *catalog.Meta, r storage.Record) (v verdict, err error) {
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
	if m.Compile == nil {
		v.matched = true
		return v, nil
	}
	before := r.Doc
	if m.Compile.IsPipeline() { // which may read _ts; what it sets there is discarded
		before = v.old
	}
	if v.d, v.modified, err = m.Compile.Apply(m.Exec.Env, before, update.ApplyOptions{Position: position}); err != nil {
		return v, m.withContext(err)
	}
	v.matched = true
	return v, nil
}

// carryOut updates or removes a record that matches.
func carryOut(c *kernel.Call, m *Modification, w *Writer, v *verdict, out *Updated) error {
	out.Old = v.old
	out.Matched++
	if m.Compile == nil {
		return w.Remove(v.r)
	}
	out.New = w.Meta.Shown(v.d, c.Now)
	if !v.modified {
		return w.touch(v.r)
	}
	out.Modified++
	return w.change(v.r, v.d, &oplog.Change{Replaces: m.Compile.IsReplacement(), Touched: m.Compile.TouchedPaths()})
}

// withContext adds what mongod's plan executor says before errors of updates.
func (m *Modification) withContext(err error) error {
	if m.FindAndModify {
		return mongoerr.From(err).WithPrefix("Plan executor error during findAndModify")
	}
	return mongoerr.From(err).WithPrefix("Plan executor error during update")
}

// WriteProfile stores an entry in the database's system.profile. The
// collection has no _id, and its changes are not logged.
func WriteProfile(s *kernel.Service, c *kernel.Call, entry value.Doc) error {
	if s.Fsync.Held() {
		return nil
	}
	ns := storage.Namespace{DB: c.DB, Coll: "system.profile"}
	author := &kernel.Call{Ctx: s.Background, Svc: s, Now: c.Now}
	err := storage.Retry(s.Background, s.Engine, func(tx storage.Tx) error {
		coll, err := tx.Collection(ns)
		if errors.Is(err, storage.ErrNotFound) {
			coll, err = tx.Create(ns, value.NewDoc("capped", value.Bool(true), "size", value.Int(observe.ProfileBytes)), nil)
		}
		if err != nil {
			return err
		}
		if err := New(author, tx, coll, true).makeRoom(len(entry)); err != nil {
			return err
		}
		_, err = coll.Insert(entry, c.Now)
		return err
	})
	if err == nil {
		s.Changes.Signal()
	}
	return err
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

// CheckRename refuses a $rename of _ts where it is the server's: the value would
// be lost in silence.
func (m *Modification) CheckRename(meta *catalog.Meta) error {
	if meta.DocTTL == nil || m.Compile == nil || !m.Compile.Renames(ttl.TSField) {
		return nil
	}
	return mongoerr.New(mongoerr.ImmutableField, "Performing an update on the path '_ts' would modify the immutable field '_ts'")
}
