package commands

import (
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/query/update"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/timeseries"
	"github.com/duskdb/duskdb/value"
)

// bucketsOf is the collection that holds the buckets of a time series.
func bucketsOf(ns storage.Namespace) storage.Namespace {
	return storage.Namespace{DB: ns.DB, Coll: bucketsPrefix + ns.Coll}
}

// bucketStore writes buckets by a writer.
type bucketStore struct{ w *writer }

func (s bucketStore) Insert(bucket value.Doc) (storage.RecordID, error) { return s.w.insert(bucket) }
func (s bucketStore) Replace(r storage.Record, bucket value.Doc) error  { return s.w.replace(r, bucket) }

// insertMeasurements stores a chunk of measurements; those that are none
// become write errors.
func (c *Call) insertMeasurements(tx storage.Tx, coll storage.Collection, w *batchWrite, chunk []numbered, done *int64) error {
	if c.transaction() != nil {
		return timeseries.TransactionError("insert")
	}
	m := metaOf(coll.Info())
	batch := make([]value.Doc, 0, len(chunk))
	for _, e := range chunk {
		if err := m.series.Check(e.d); err != nil {
			if err := w.fail(e.i, err); err != nil {
				return err
			}
			if w.stopped {
				break
			}
			continue
		}
		batch = append(batch, e.d)
	}
	if err := c.storeMeasurements(tx, coll.Info(), batch); err != nil {
		return err
	}
	*done = int64(len(batch))
	return nil
}

// storeMeasurements sorts measurements into buckets. The validator of the
// buckets is for those who write them directly: it knows no compressed ones.
func (c *Call) storeMeasurements(tx storage.Tx, info *storage.Info, batch []value.Doc) error {
	if len(batch) == 0 {
		return nil
	}
	buckets, err := tx.Collection(bucketsOf(info.Namespace))
	if err != nil {
		return err
	}
	m := metaOf(info)
	return c.svc.buckets.Insert(buckets, bucketStore{c.newWriter(tx, buckets, true)}, m.series, m.collator(), batch)
}

// bucketQuery is a filter on measurements, turned into one on buckets.
type bucketQuery struct {
	info     *storage.Info // of the buckets
	meta     *collectionMeta
	pushdown *timeseries.Pushdown
	query    readQuery // on buckets
	matcher  *match.Matcher
}

// queryBuckets prepares to read the measurements that q asks for.
func (c *Call) queryBuckets(info *storage.Info, q *readQuery) (*bucketQuery, error) {
	b := &bucketQuery{meta: metaOf(info), matcher: q.matcher}
	var err error
	if b.info, err = c.lookup(bucketsOf(info.Namespace)); err != nil {
		return nil, err
	}
	if b.info == nil {
		return nil, mongoerr.Newf(mongoerr.NamespaceNotFound, "the buckets of %s are gone", info.Namespace)
	}
	filter := q.filter
	if filter == nil {
		filter = value.EmptyDoc
	}
	b.pushdown = b.meta.series.NewPushdown(filter, timeseries.PushdownOptions{
		Collation: b.meta.collator(), OtherCollation: !sameCollation(b.meta.collator(), q.collator),
	})
	b.query = readQuery{filter: b.pushdown.Filter, collator: q.collator, scope: q.scope}
	if b.query.hint, err = b.meta.bucketHint(q.hint); err != nil {
		return nil, err
	}
	return b, c.compileFilter(&b.query, metaOf(b.info))
}

// bucketHint turns a hint on measurements into one on buckets.
func (m *collectionMeta) bucketHint(hint value.Value) (value.Value, error) {
	if hint.Kind() != value.KindDocument || hint.Doc().IsEmpty() {
		return hint, nil
	}
	if _, natural := isNatural(hint.Doc()); natural {
		return hint, nil
	}
	key, err := m.series.BucketKey(hint.Doc())
	return value.Document(key), err
}

// openMeasurements reads the measurements of a time series that match.
func (c *Call) openMeasurements(x *execution, info *storage.Info, q *readQuery) (*measurements, error) {
	b, err := c.queryBuckets(info, q)
	if err != nil {
		return nil, err
	}
	x.packed = true
	a, err := c.access(x, b.info, &b.query)
	if err != nil {
		return nil, err
	}
	return b.open(x, a, q), nil
}

// modifyMeasurements deletes measurements, or updates their meta field.
func (c *Call) modifyMeasurements(m *modification, info *storage.Info) (out updated, err error) {
	switch {
	case c.transaction() != nil:
		return out, timeseries.TransactionError("delete")
	case m.findAndModify:
		err = timeseries.CheckFindAndModify(m.compile == nil, m.sort != nil && !m.sort.IsEmpty(), c.retry.on)
	}
	switch {
	case err != nil:
		return out, err
	case m.compile != nil:
		return c.updateMeta(m, info)
	}
	b, err := c.queryBuckets(info, &m.query)
	if err != nil {
		return out, err
	}
	m.exec.packed = true
	a, err := c.access(m.exec, b.info, &b.query)
	if err != nil {
		return out, err
	}
	src := a.matching(m.exec, b.info, &b.query)
	defer src.Close()
	for m.multi || out.matched == 0 {
		r, ok, err := src.Next()
		if err != nil || !ok {
			return out, err
		}
		if !b.pushdown.MayMatch(r.Doc) {
			continue
		}
		n, last, err := c.deleteMeasurements(m, b, r.ID)
		if err != nil {
			return out, err
		}
		out.matched, out.old = out.matched+n, last
	}
	return out, nil
}

// thinning is what a deletion makes of one bucket.
type thinning struct {
	removed int64
	last    value.Doc // the last measurement removed, unless that was all at once
	rest    value.Doc // nil: nothing
}

// deleteMeasurements removes from one bucket what matches. last is the last
// measurement that was removed, unless that was all of them at once.
func (c *Call) deleteMeasurements(m *modification, b *bucketQuery, id storage.RecordID) (removed int64, last value.Doc, err error) {
	var t thinning
	find := func(tx storage.Tx) (storage.Collection, storage.Record, bool, error) {
		removed, last = 0, nil
		coll, err := stillThere(tx, b.info.Namespace, b.info.UUID)
		if err != nil {
			return nil, storage.Record{}, false, err
		}
		r, ok := coll.Get(id)
		return coll, r, ok, nil
	}
	judge := func(_ *collectionMeta, r storage.Record) (_ bool, err error) {
		t, err = b.thin(m, r)
		return t.removed > 0, err
	}
	change := func(tx storage.Tx, coll storage.Collection, r storage.Record) error {
		removed, last = t.removed, t.last
		w := c.newWriter(tx, coll, true)
		if t.rest == nil {
			return w.remove(r)
		}
		return w.replace(r, t.rest)
	}
	if m.scripted {
		err = c.apart(b.info.Namespace, find, judge, change)
		return removed, last, err
	}
	err = c.update(func(tx storage.Tx) error {
		coll, r, ok, err := find(tx)
		if err != nil || !ok {
			return err
		}
		if hit, err := judge(nil, r); err != nil || !hit {
			return err
		}
		return change(tx, coll, r)
	})
	return removed, last, err
}

// thin finds out which measurements of a bucket a deletion removes.
func (b *bucketQuery) thin(m *modification, r storage.Record) (t thinning, err error) {
	if b.pushdown.MetaOnly && m.multi { // all of it, or nothing
		hit, err := b.query.matcher.Match(m.exec.env, r.Doc)
		if err != nil || !hit {
			return t, err
		}
		n, err := timeseries.Count(b.meta.series, r.Doc)
		t.removed = int64(n)
		return t, err
	}
	t.rest, _, err = timeseries.Filter(b.meta.series, r.Doc, b.meta.collator(), func(d value.Doc) (bool, error) {
		if !m.multi && t.removed > 0 {
			return false, nil
		}
		hit, err := b.matcher.Match(m.exec.env, d)
		if hit {
			t.removed++
			t.last = d
		}
		return hit, err
	})
	return t, err
}

// updateMeta changes the meta field of whole buckets, the only update there
// is on a time series (semantics.md §6.7).
func (c *Call) updateMeta(m *modification, info *storage.Info) (out updated, err error) {
	meta := metaOf(info)
	filter, change, err := meta.series.TranslateUpdate(timeseries.UpdateRequest{
		Filter: m.filter, Update: m.update, Multi: m.multi, Upsert: m.upsert,
	})
	if err != nil {
		return out, err
	}
	buckets, err := c.lookup(bucketsOf(info.Namespace))
	if err != nil {
		return out, err
	}
	u, err := update.Compile(value.Document(change), update.Options{Collation: m.query.collator, Multi: true})
	if err != nil {
		return out, err
	}
	q := readQuery{filter: filter, collator: m.query.collator, scope: m.query.scope}
	if q.hint, err = meta.bucketHint(m.hint); err != nil {
		return out, err
	}
	if err := c.compileFilter(&q, metaOf(buckets)); err != nil {
		return out, err
	}
	m.exec.packed = true
	src, err := c.openRecords(m.exec, buckets, &q)
	if err != nil {
		return out, err
	}
	defer src.Close()
	for {
		r, ok, err := src.Next()
		if err != nil || !ok {
			return out, err
		}
		if err := c.updateBucket(m, &q, u, meta.series, buckets, r.ID, &out); err != nil {
			return out, err
		}
	}
}

func (c *Call) updateBucket(m *modification, q *readQuery, u *update.Update, o *timeseries.Options, buckets *storage.Info, id storage.RecordID, out *updated) error {
	var matched, modified int64
	err := c.update(func(tx storage.Tx) error {
		matched, modified = 0, 0
		coll, err := stillThere(tx, buckets.Namespace, buckets.UUID)
		if err != nil {
			return err
		}
		r, ok := coll.Get(id)
		if !ok {
			return nil
		}
		hit, err := q.matcher.Match(m.exec.env, r.Doc)
		if err != nil || !hit {
			return err
		}
		n, err := timeseries.Count(o, r.Doc)
		if err != nil {
			return err
		}
		matched = int64(n)
		d, changed, err := u.Apply(m.exec.env, r.Doc, update.ApplyOptions{Position: -1})
		if err != nil || !changed {
			return err
		}
		modified = int64(n)
		return c.newWriter(tx, coll, true).replace(r, d)
	})
	out.matched += matched
	out.modified += modified
	return err
}

// shownBucket is a bucket as readers of system.buckets see it.
func shownBucket(d value.Doc) value.Doc {
	if plain, err := timeseries.Expand(d); err == nil {
		return plain
	}
	return d // damaged: it is shown as it is
}

// documentsOf are the documents of a record: the measurements of a bucket,
// else the one.
func (w *writer) documentsOf(r storage.Record) ([]value.Doc, error) {
	if w.meta.kind != timeSeriesBuckets {
		return []value.Doc{r.Doc}, nil
	}
	return timeseries.Unpack(w.meta.series, r.Doc)
}
