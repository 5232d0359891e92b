package exec

import (
	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/index"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/storage"
)

// geoIndexes are the indexes that a $geoNear may name: of a time series, those
// of its buckets in the terms of users.
func geoIndexes(c *kernel.Call, info *storage.Info) ([]*index.Spec, error) {
	if catalog.Of(info).Kind != catalog.TimeSeries {
		return catalog.Of(info).Indexes, nil
	}
	docs, err := ListedBucketIndexes(c, info)
	if err != nil {
		return nil, err
	}
	var specs []*index.Spec
	for _, d := range docs {
		if s, err := index.Load(d); err == nil {
			specs = append(specs, s)
		}
	}
	return specs, nil
}

// nearMeasurements answers $geoNear over a time series: the measurements that
// match, by distance.
func nearMeasurements(c *kernel.Call, x *Execution, info *storage.Info, q *canonical.Query, near *match.Near) (agg.Source, error) {
	limit := q.Limit
	q.Limit = 0 // the nearest are known when all have been read
	q.Fields = nil
	it, err := OpenMeasurements(c, x, info, q)
	if err != nil {
		return agg.Source{}, err
	}
	sorted, err := x.sortByDistance(&measuredRecords{it: it}, near, -1, limit)
	if err != nil {
		return agg.Source{}, err
	}
	return agg.Source{Iterator: NewDocuments(x, nil, q, sorted), Sorted: true}, nil
}

// measuredRecords are measurements where records are expected; they have no ids.
type measuredRecords struct{ it agg.Iterator }

func (m *measuredRecords) Next() (r storage.Record, ok bool, err error) {
	r.Doc, err = m.it.Next()
	return r, r.Doc != nil && err == nil, err
}

func (m *measuredRecords) Close() { m.it.Close() }
