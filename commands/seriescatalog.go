package commands

import (
	"errors"
	"slices"
	"strconv"

	"github.com/duskdb/duskdb/index"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/collation"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/timeseries"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

// planTimeSeries plans a time series and the collection of its buckets
// (semantics.md §6.1).
func (c *Call) planTimeSeries(ns storage.Namespace, a *createArgs) (*creation, error) {
	if err := timeseries.CheckCreate(c.Body); err != nil {
		return nil, err
	}
	if a.PreAndPost != nil {
		return nil, mongoerr.New(mongoerr.InvalidOptions, "option not supported on a time-series collection: changeStreamPreAndPostImages")
	}
	series, err := timeseries.ParseOptions(a.TimeSeries)
	if err != nil {
		return nil, err
	}
	var expire *int64
	if !a.ExpireAfter.IsMissing() {
		n, err := ttl.ParseCollectionSeconds(a.ExpireAfter, c.now)
		if err != nil {
			return nil, err
		}
		expire = &n
	}
	col, err := collation.Parse(a.Collation)
	if err != nil {
		return nil, err
	}
	return seriesCreation(ns, series, expire, col)
}

// seriesCreation lists the two collections of a time series.
func seriesCreation(ns storage.Namespace, series *timeseries.Options, expire *int64, col *collation.Collation) (*creation, error) {
	main := newOptions(seriesOptions(series, expire))
	behind := newOptions(series.BucketOptions(expire))
	if col != nil {
		main.set("collation", value.Document(col.Doc()))
		behind.set("collation", value.Document(col.Doc()))
	}
	indexes := []storage.IndexSpec{index.IDSpec(nil).Stored()}
	for _, i := range ttl.BucketIndexes(series.TimeField) {
		indexes = append(indexes, storage.IndexSpec{Name: i.Name, Spec: index.InternalSpec(i.Name, i.Path, index.Order(i.Order))})
	}
	if d := series.DefaultIndex(); d != nil {
		spec, err := bucketIndexSpec(series, d, col)
		if err != nil {
			return nil, err
		}
		indexes = append(indexes, spec.Stored())
	}
	return &creation{parts: []creationPart{
		{ns: ns, options: main.doc()},
		{ns: bucketsOf(ns), options: behind.doc(), indexes: indexes},
	}}, nil
}

// seriesOptions are the options of a time series as they are listed.
func seriesOptions(series *timeseries.Options, expire *int64) value.Doc {
	var b value.Builder
	b.Reset(nil)
	if expire != nil {
		b.Int64("expireAfterSeconds", *expire)
	}
	b.Document("timeseries", series.Doc())
	return b.Doc()
}

// bucketIndexSpec turns an index on measurements into one on buckets.
func bucketIndexSpec(series *timeseries.Options, d value.Doc, col *collation.Collation) (*index.Spec, error) {
	var o index.ParseOptions
	if col != nil {
		o.Collation = col.Doc()
	}
	user, err := index.Parse(d, o)
	if err != nil {
		return nil, err
	}
	stored, err := series.BucketIndex(user.Doc())
	if err != nil {
		return nil, err
	}
	return index.Load(stored)
}

func (c *Call) parseBucketIndexes(info *storage.Info, given []value.Doc) (storage.Namespace, []*index.Spec, error) {
	m, ns := metaOf(info), bucketsOf(info.Namespace)
	specs := make([]*index.Spec, 0, len(given))
	for _, d := range given {
		s, err := bucketIndexSpec(m.series, d, m.collation)
		if err != nil {
			return ns, nil, err
		}
		specs = append(specs, s)
	}
	return ns, specs, nil
}

func (c *Call) listedBucketIndexes(info *storage.Info) ([]value.Doc, error) {
	buckets, err := c.lookup(bucketsOf(info.Namespace))
	if err != nil {
		return nil, err
	}
	var docs []value.Doc
	for _, spec := range metaOf(buckets).indexes {
		if d, ok := metaOf(info).series.UserIndex(spec.Doc()); ok {
			docs = append(docs, d)
		}
	}
	return docs, nil
}

// bucketIndex turns the index argument of dropIndexes into one on buckets.
func (c *Call) bucketIndex(tx storage.Tx, info *storage.Info, find value.Value) (*storage.Info, value.Value, error) {
	coll, err := tx.Collection(bucketsOf(info.Namespace))
	if err != nil {
		return nil, find, err
	}
	if find.Kind() != value.KindDocument {
		return coll.Info(), find, nil
	}
	name, err := metaOf(info).userIndex(metaOf(coll.Info()), find.Doc())
	return coll.Info(), value.String(name), err
}

// userIndex finds the one index of a time series with a key pattern in the
// user's terms. Several kinds of index on buckets look the same to users.
func (m *collectionMeta) userIndex(buckets *collectionMeta, key value.Doc) (string, error) {
	var found []value.Doc
	for _, spec := range buckets.indexes {
		d, ok := m.series.UserIndex(spec.Doc())
		if ok && value.CompareDocs(d.Lookup("key").Doc(), key, nil) == 0 {
			found = append(found, d)
		}
	}
	switch len(found) {
	case 0:
		return "", mongoerr.Newf(mongoerr.IndexNotFound, "can't find index with key: %s", key)
	case 1:
		return found[0].Lookup("name").Str(), nil
	}
	return "", mongoerr.Newf(mongoerr.AmbiguousIndexKeyPattern, "%d indexes found for key: %s, identify by name instead. Conflicting indexes: %s, %s", len(found), key, found[0], found[1])
}

// modifyBucketIndex hides or shows an index of a time series, which users know
// by other names and keys than the buckets have.
func (m *collMod) modifyBucketIndex(x *collModIndexArgs) error {
	coll, err := m.tx.Collection(bucketsOf(m.info.Namespace))
	if err != nil {
		return err
	}
	buckets := metaOf(coll.Info())
	unknown := func(what string) error {
		return mongoerr.Newf(mongoerr.IndexNotFound, "cannot find index %s for ns %s", what, m.info.Namespace)
	}
	var name string
	if x.Name != nil {
		name = *x.Name
	} else if name, err = m.meta.userIndex(buckets, x.KeyPattern); mongoerr.Is(err, mongoerr.IndexNotFound) {
		return unknown(x.KeyPattern.String())
	} else if err != nil {
		return err
	}
	i := slices.IndexFunc(buckets.listed, func(s *index.Spec) bool { return s.Name == name })
	if i < 0 {
		return unknown(name)
	}
	old := buckets.listed[i]
	spec, err := m.setHidden(old, x)
	if err != nil {
		return err
	}
	if spec, err = m.setUnique(spec, x); err != nil {
		return err
	}
	m.indexNow, m.indexWas = indexChange(name, old.Doc(), spec.Doc())
	return m.tx.SetIndex(coll.Info().Namespace, spec.Stored())
}

// modifyTimeSeries applies the timeseries option of collMod.
func (m *collMod) modifyTimeSeries() error {
	v := m.args.TimeSeries
	if v.IsMissing() {
		return nil
	}
	it := m.c.Body.Iter()
	it.Next()
	for it.Next() {
		switch name := it.Key(); {
		case name == "timeseries", genericArgs[name]:
		default:
			return mongoerr.New(mongoerr.InvalidOptions, "Cannot combine timeseries option with other collMod options")
		}
	}
	series, err := m.meta.series.CollMod(v)
	if err != nil {
		return err
	}
	return m.setSeries(series, m.meta.expireAfter)
}

// setSeries writes the options of both collections of a time series.
func (m *collMod) setSeries(series *timeseries.Options, expire *int64) error {
	keep := func(info *storage.Info, fresh value.Doc) value.Doc {
		o := newOptions(fresh)
		for _, name := range []string{"collation", "onExpire"} {
			if v := info.Options.Lookup(name); !v.IsMissing() {
				o.set(name, v)
			}
		}
		return o.doc()
	}
	if err := m.tx.SetOptions(m.info.Namespace, keep(m.info, seriesOptions(series, expire))); err != nil {
		return err
	}
	buckets, err := m.tx.Collection(bucketsOf(m.info.Namespace))
	if err != nil {
		return err
	}
	return m.tx.SetOptions(buckets.Info().Namespace, keep(buckets.Info(), series.BucketOptions(expire)))
}

// checkTimeSeriesOptions refuses what collMod cannot change of a time
// series.
func (m *collMod) checkTimeSeriesOptions() error {
	a := m.args
	if m.meta.kind == timeSeriesBuckets {
		return mongoerr.Newf(mongoerr.InvalidNamespace, "collMod on a time-series collection's underlying buckets collection is not supported: %s", m.info.Namespace)
	}
	if m.meta.kind != timeSeries {
		return nil
	}
	for _, o := range []struct {
		name  string
		given bool
	}{
		{"validator", a.Validator != nil}, {"validationLevel", a.Level != ""}, {"validationAction", a.Action != ""},
		{"changeStreamPreAndPostImages", a.PreAndPost != nil}, {"documentTtl", !a.DocumentTTL.IsMissing()},
		{"messageQueue", !a.MessageQueue.IsMissing()}, {"indexingPolicy", !a.IndexingPolicy.IsMissing()},
	} {
		if o.given {
			return mongoerr.Newf(mongoerr.InvalidOptions, "option not supported on a time-series collection: %s", o.name)
		}
	}
	return nil
}

// outTimeSeries opens a time series as the target of $out.
func (h *host) outTimeSeries(ns storage.Namespace, old *storage.Info, t agg.OutTarget) (agg.OutWriter, error) {
	var series *timeseries.Options
	var expire *int64
	switch {
	case t.TimeSeries != nil:
		var err error
		if series, err = timeseries.ParseOptions(value.Document(t.TimeSeries)); err != nil {
			return nil, err
		}
		if old != nil && metaOf(old).kind != timeSeries {
			return nil, mongoerr.New(7268700, "Cannot create a time-series collection from a non time-series collection.")
		}
		if old != nil && metaOf(old).series.Doc().String() != series.Doc().String() {
			return nil, mongoerr.Newf(7406103, "Time-series options inputted must match the existing time-series collection. Received: %sFound: %s",
				t.TimeSeries, metaOf(old).series.Doc())
		}
	default:
		series = metaOf(old).series
	}
	if old != nil {
		expire = metaOf(old).expireAfter
	}
	c := h.x.running()
	o := &outSeries{h: h, ns: ns, temp: storage.Namespace{DB: ns.DB, Coll: outPrefix + strconv.FormatInt(c.svc.outs.Add(1), 10)}, series: series}
	plan, err := seriesCreation(o.temp, series, expire, metaOf(old).collation)
	if err != nil {
		return nil, err
	}
	return o, c.update(func(tx storage.Tx) error {
		for _, p := range plan.parts {
			if _, err := tx.Create(p.ns, p.options, p.indexes); err != nil {
				return err
			}
		}
		return nil
	})
}

// outSeries writes measurements into a temporary time series.
type outSeries struct {
	h       *host
	ns      storage.Namespace
	temp    storage.Namespace
	series  *timeseries.Options
	pending []value.Doc
	done    bool
}

func (o *outSeries) Write(d value.Doc) error {
	if err := o.series.Check(d); err != nil {
		return err
	}
	o.pending = append(o.pending, d.Clone())
	if len(o.pending) < insertChunk {
		return nil
	}
	return o.flush()
}

func (o *outSeries) flush() error {
	c := o.h.x.running()
	err := c.update(func(tx storage.Tx) error {
		coll, err := tx.Collection(o.temp)
		if err != nil {
			return err
		}
		return c.storeMeasurements(tx, coll.Info(), o.pending)
	})
	o.pending = o.pending[:0]
	return err
}

func (o *outSeries) Commit() error {
	if err := o.flush(); err != nil {
		return err
	}
	err := o.h.x.running().update(func(tx storage.Tx) error {
		for _, pair := range [][2]storage.Namespace{{o.temp, o.ns}, {bucketsOf(o.temp), bucketsOf(o.ns)}} {
			if err := tx.Drop(pair[1]); err != nil && !errors.Is(err, storage.ErrNotFound) {
				return err
			}
			if err := tx.Rename(pair[0], pair[1]); err != nil {
				return err
			}
		}
		return nil
	})
	o.done = err == nil
	return err
}

func (o *outSeries) Abort() {
	if o.done {
		return
	}
	o.done = true
	svc := o.h.x.running().svc
	_ = svc.engine.Update(svc.background, func(tx storage.Tx) error {
		return errors.Join(tx.Drop(o.temp), tx.Drop(bucketsOf(o.temp)))
	})
}
