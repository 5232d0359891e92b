package ddl

import (
	"slices"

	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/create"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/index"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// modifyBucketIndex hides or unhides an index of a time series. Users see other keys than
// those of the buckets.
func (m *collMod) modifyBucketIndex(x *collModIndexArgs) error {
	coll, err := m.tx.Collection(canonical.BucketsOf(m.info.Namespace))
	if err != nil {
		return err
	}
	buckets := catalog.Of(coll.Info())
	unknown := func(what string) error {
		return mongoerr.Newf(mongoerr.IndexNotFound, "cannot find index %s for ns %s", what, m.info.Namespace)
	}
	var name string
	if x.Name != nil {
		name = *x.Name
	} else if name, err = m.meta.UserIndex(buckets, x.KeyPattern); mongoerr.Is(err, mongoerr.IndexNotFound) {
		return unknown(x.KeyPattern.String())
	} else if err != nil {
		return err
	}
	i := slices.IndexFunc(buckets.Listed, func(s *index.Spec) bool { return s.Name == name })
	if i < 0 {
		return unknown(name)
	}
	spec, err := m.setHidden(buckets.Listed[i], x)
	if err != nil {
		return err
	}
	if spec, err = m.setUnique(spec, x); err != nil {
		return err
	}
	m.noteIndex(name)
	return m.tx.SetIndex(coll.Info().Namespace, spec.Stored())
}

// modifyTimeSeries applies the timeseries option of collMod, which can stand beside other
// options: mongod refuses that only since 8.3.
func (m *collMod) modifyTimeSeries() (err error) {
	m.series = m.meta.Series
	v := m.args.TimeSeries
	if v.IsMissing() {
		return nil
	}
	if m.series, err = m.series.CollMod(v); err != nil {
		return err
	}
	return m.setSeries(m.meta.ExpireAfter)
}

// setSeries writes the options of both collections of a time series.
func (m *collMod) setSeries(expire *int64) error {
	series := m.series
	keep := func(info *storage.Info, fresh value.Doc) value.Doc {
		o := catalog.NewOptions(fresh)
		for _, name := range []string{"collation", "onExpire"} {
			if v := info.Options.Lookup(name); !v.IsMissing() {
				o.Set(name, v)
			}
		}
		return o.Doc()
	}
	if err := m.tx.SetOptions(m.info.Namespace, keep(m.info, create.SeriesOptions(series, expire))); err != nil {
		return err
	}
	buckets, err := m.tx.Collection(canonical.BucketsOf(m.info.Namespace))
	if err != nil {
		return err
	}
	return m.tx.SetOptions(buckets.Info().Namespace, keep(buckets.Info(), series.BucketOptions(expire)))
}

// checkTimeSeriesOptions refuses what collMod cannot change of a time
// series.
func (m *collMod) checkTimeSeriesOptions() error {
	a := m.args
	if m.meta.Kind == catalog.Buckets {
		return mongoerr.Newf(mongoerr.InvalidNamespace, "collMod on a time-series collection's underlying buckets collection is not supported: %s", m.info.Namespace)
	}
	if m.meta.Kind != catalog.TimeSeries {
		return nil
	}
	for _, o := range []struct {
		name  string
		given bool
	}{
		{"validator", a.Validator != nil}, {"validationLevel", a.Level != ""}, {"validationAction", a.Action != ""},
		{"changeStreamPreAndPostImages", a.PreAndPost != nil}, {"documentTtl", !a.DocumentTTL.IsMissing()},
		{"messageQueue", !a.MessageQueue.IsMissing()}, {"messageTopic", !a.MessageTopic.IsMissing()}, {"messageSubscription", !a.Subscription.IsMissing()}, {"indexingPolicy", !a.IndexingPolicy.IsMissing()},
	} {
		if o.given {
			return mongoerr.Newf(mongoerr.InvalidOptions, "option not supported on a time-series collection: %s", o.name)
		}
	}
	return nil
}
