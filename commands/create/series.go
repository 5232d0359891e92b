package create

import (
	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/collation"
	"github.com/duskdb/duskdb/query/index"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/timeseries"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

// planTimeSeries plans a time series and the collection of its buckets
// (semantics.md §6.1).
func planTimeSeries(c *kernel.Call, ns storage.Namespace, a *Args) (*Plan, error) {
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
		n, err := ttl.ParseCollectionSeconds(a.ExpireAfter, c.Now)
		if err != nil {
			return nil, err
		}
		expire = &n
	}
	col, err := collation.Parse(a.Collation)
	if err != nil {
		return nil, err
	}
	return PlanSeries(ns, series, expire, col)
}

// PlanSeries plans the two collections of a time series: the series itself and the
// collection of its buckets. expire is expireAfterSeconds, nil if measurements do
// not expire.
func PlanSeries(ns storage.Namespace, series *timeseries.Options, expire *int64, col *collation.Collation) (*Plan, error) {
	main := catalog.NewOptions(SeriesOptions(series, expire))
	behind := catalog.NewOptions(series.BucketOptions(expire))
	if col != nil {
		main.Set("collation", value.Document(col.Doc()))
		behind.Set("collation", value.Document(col.Doc()))
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
	return &Plan{Parts: []Part{
		{NS: ns, Options: main.Doc()},
		{NS: canonical.BucketsOf(ns), Options: behind.Doc(), Indexes: indexes},
	}}, nil
}

// SeriesOptions returns the options of a time series as they are listed.
func SeriesOptions(series *timeseries.Options, expire *int64) value.Doc {
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
	o := index.ParseOptions{Measurements: true}
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

// ParseBucketIndexes turns the specifications of indexes on measurements into
// those on buckets, and returns the namespace of the buckets.
func ParseBucketIndexes(c *kernel.Call, info *storage.Info, given []value.Doc) (storage.Namespace, []*index.Spec, error) {
	m, ns := catalog.Of(info), canonical.BucketsOf(info.Namespace)
	specs := make([]*index.Spec, 0, len(given))
	for _, d := range given {
		s, err := bucketIndexSpec(m.Series, d, m.Collation)
		if err != nil {
			return ns, nil, err
		}
		specs = append(specs, s)
	}
	return ns, specs, nil
}

// BucketIndex turns the index argument of dropIndexes, given as a key of
// measurements, into the name of the index on buckets. It returns the collection
// of the buckets, too.
func BucketIndex(c *kernel.Call, tx storage.Tx, info *storage.Info, find value.Value) (*storage.Info, value.Value, error) {
	coll, err := tx.Collection(canonical.BucketsOf(info.Namespace))
	if err != nil {
		return nil, find, err
	}
	if find.Kind() != value.KindDocument {
		return coll.Info(), find, nil
	}
	name, err := catalog.Of(info).UserIndex(catalog.Of(coll.Info()), find.Doc())
	return coll.Info(), value.String(name), err
}
