package write

import (
	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/query/update"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/timeseries"
	"github.com/duskdb/duskdb/value"
)

// bucketStore writes buckets through a Writer.
type bucketStore struct{ w *Writer }

func (s bucketStore) Insert(bucket value.Doc) (storage.RecordID, error) { return s.w.Insert(bucket) }

func (s bucketStore) Replace(r storage.Record, bucket value.Doc) error { return s.w.Replace(r, bucket) }

// insertMeasurements stores a chunk of measurements. Documents that are not valid
// measurements become write errors.
func insertMeasurements(c *kernel.Call, tx storage.Tx, coll storage.Collection, w *BatchWrite, chunk []Numbered, done *int64) error {
	if c.Transaction() != nil {
		return timeseries.TransactionError("insert")
	}
	m := catalog.Of(coll.Info())
	batch := make([]value.Doc, 0, len(chunk))
	for _, e := range chunk {
		if err := m.Series.Check(e.D); err != nil {
			if err := w.Fail(e.I, err); err != nil {
				return err
			}
			if w.Stopped {
				break
			}
			continue
		}
		batch = append(batch, e.D)
	}
	if err := StoreMeasurements(c, tx, coll.Info(), batch); err != nil {
		return err
	}
	*done = int64(len(batch))
	return nil
}

// StoreMeasurements stores measurements in buckets. It does not apply the validator
// of the buckets collection, which is for direct writes and refuses compressed
// buckets.
func StoreMeasurements(c *kernel.Call, tx storage.Tx, info *storage.Info, batch []value.Doc) error {
	if len(batch) == 0 {
		return nil
	}
	buckets, err := tx.Collection(canonical.BucketsOf(info.Namespace))
	if err != nil {
		return err
	}
	m := catalog.Of(info)
	return c.Svc.Buckets.Insert(buckets, bucketStore{New(c, tx, buckets, true)}, m.Series, m.Collator(), batch)
}

// modifyMeasurements deletes measurements, or updates their meta field.
func modifyMeasurements(c *kernel.Call, m *Run, info *storage.Info) (out Updated, err error) {
	switch {
	case c.Transaction() != nil:
		return out, timeseries.TransactionError("delete")
	case m.FindAndModify:
		err = timeseries.CheckFindAndModify(m.Removes(), m.Sort != nil && !m.Sort.IsEmpty(), c.Retry.On)
	}
	switch {
	case err != nil:
		return out, err
	case !m.Removes():
		return updateMeta(c, m, info)
	}
	b, err := exec.QueryBuckets(c, info, &m.Query)
	if err != nil {
		return out, err
	}
	m.Exec.Packed = true
	a, err := exec.ChooseAccessPath(c, m.Exec, b.Info, &b.Query)
	if err != nil {
		return out, err
	}
	src := a.Matching(m.Exec, b.Info, &b.Query)
	defer src.Close()
	for m.Multi || out.Matched == 0 {
		r, ok, err := src.Next()
		if err != nil || !ok {
			return out, err
		}
		if !b.Pushdown.MayMatch(r.Doc) {
			continue
		}
		n, last, err := deleteMeasurements(c, m, b, r.ID)
		if err != nil {
			return out, err
		}
		out.Matched, out.Old = out.Matched+n, last
	}
	return out, nil
}

// thinning is the effect of a deletion on one bucket.
type thinning struct {
	removed int64
	last    value.Doc // the last measurement removed, unless that was all at once
	rest    value.Doc // nil: nothing
}

// deleteMeasurements removes the matching measurements from one bucket. last is the
// last one that was removed, unless the whole bucket was removed.
func deleteMeasurements(c *kernel.Call, m *Run, b *exec.BucketQuery, id storage.RecordID) (removed int64, last value.Doc, err error) {
	var t thinning
	find := func(tx storage.Tx) (storage.Collection, storage.Record, bool, error) {
		removed, last = 0, nil
		coll, err := exec.StillThere(tx, b.Info.Namespace, b.Info.UUID)
		if err != nil {
			return nil, storage.Record{}, false, err
		}
		r, ok, err := coll.Get(id)
		return coll, r, ok, err
	}
	match := func(_ *catalog.Meta, r storage.Record) (_ bool, err error) {
		t, err = thin(b, m, r)
		return t.removed > 0, err
	}
	change := func(tx storage.Tx, coll storage.Collection, r storage.Record) error {
		removed, last = t.removed, t.last
		w := New(c, tx, coll, true)
		if t.rest == nil {
			return w.Remove(r)
		}
		return w.Replace(r, t.rest)
	}
	if m.scripted {
		err = apart(c, b.Info.Namespace, find, match, change)
		return removed, last, err
	}
	err = c.Update(func(tx storage.Tx) error {
		coll, r, ok, err := find(tx)
		if err != nil || !ok {
			return err
		}
		if hit, err := match(nil, r); err != nil || !hit {
			return err
		}
		return change(tx, coll, r)
	})
	return removed, last, err
}

// thin finds out which measurements of a bucket a deletion removes.
func thin(b *exec.BucketQuery, m *Run, r storage.Record) (t thinning, err error) {
	if b.Pushdown.MetaOnly && m.Multi { // all of it, or nothing
		hit, err := b.Query.Matcher.Match(m.Exec.Env, r.Doc)
		if err != nil || !hit {
			return t, err
		}
		n, err := timeseries.Count(b.Meta.Series, r.Doc)
		t.removed = int64(n)
		return t, err
	}
	t.rest, _, err = timeseries.Filter(b.Meta.Series, r.Doc, b.Meta.Collator(), func(d value.Doc) (bool, error) {
		if !m.Multi && t.removed > 0 {
			return false, nil
		}
		hit, err := b.Matcher.Match(m.Exec.Env, d)
		if hit {
			t.removed++
			t.last = d
		}
		return hit, err
	})
	return t, err
}

// updateMeta changes the meta field of whole buckets, the only update that a time
// series allows (semantics.md §6.7).
func updateMeta(c *kernel.Call, m *Run, info *storage.Info) (out Updated, err error) {
	meta := catalog.Of(info)
	filter, change, err := meta.Series.TranslateUpdate(timeseries.UpdateRequest{
		Filter: m.Filter, Update: m.Update, Multi: m.Multi, Upsert: m.Upsert,
	})
	if err != nil {
		return out, err
	}
	buckets, err := exec.Lookup(c, canonical.BucketsOf(info.Namespace))
	if err != nil {
		return out, err
	}
	x := metaUpdate{series: meta.Series, buckets: buckets, env: m.Exec.Env}
	if x.update, err = update.Compile(value.Document(change), update.Options{Collation: m.Query.Collator, Multi: true}); err != nil {
		return out, err
	}
	q := canonical.Query{Filter: filter, Collator: m.Query.Collator, Scope: m.Query.Scope}
	if q.Hint, err = canonical.BucketHint(meta, m.Query.Hint); err != nil {
		return out, err
	}
	if err := canonical.CompileFilter(c, &q, catalog.Of(buckets)); err != nil {
		return out, err
	}
	x.filter = q.Matcher
	m.Exec.Packed = true
	src, err := exec.OpenRecords(c, m.Exec, buckets, &q)
	if err != nil {
		return out, err
	}
	defer src.Close()
	for {
		r, ok, err := src.Next()
		if err != nil || !ok {
			return out, err
		}
		n, modified, err := x.bucket(c, r.ID)
		if err != nil {
			return out, err
		}
		out.Matched += n
		out.Modified += modified
	}
}

// metaUpdate is an update of the meta field of measurements, compiled for buckets.
type metaUpdate struct {
	series  *timeseries.Options
	buckets *storage.Info
	env     *expr.Env
	filter  *match.Matcher
	update  *update.Update
}

// bucket updates one bucket, if it still matches. It counts the measurements.
func (x *metaUpdate) bucket(c *kernel.Call, id storage.RecordID) (matched, modified int64, err error) {
	err = c.Update(func(tx storage.Tx) error {
		matched, modified = 0, 0
		coll, err := exec.StillThere(tx, x.buckets.Namespace, x.buckets.UUID)
		if err != nil {
			return err
		}
		r, ok, err := coll.Get(id)
		if err != nil || !ok {
			return err
		}
		hit, err := x.filter.Match(x.env, r.Doc)
		if err != nil || !hit {
			return err
		}
		n, err := timeseries.Count(x.series, r.Doc)
		if err != nil {
			return err
		}
		matched = int64(n)
		d, changed, err := x.update.Apply(x.env, r.Doc, update.ApplyOptions{Position: -1})
		if err != nil || !changed {
			return err
		}
		modified = int64(n)
		return New(c, tx, coll, true).Replace(r, d)
	})
	return matched, modified, err
}

// documentsOf returns the documents of a record: the measurements of a bucket, or the
// record's document.
func (w *Writer) documentsOf(r storage.Record) ([]value.Doc, error) {
	if w.Meta.Kind != catalog.Buckets {
		return []value.Doc{r.Doc}, nil
	}
	return timeseries.Unpack(w.Meta.Series, r.Doc)
}
