package commands

import (
	"github.com/duskdb/duskdb/index"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/storage"
)

// geoIndexes are the indexes that a $geoNear may name: of a time series, those
// of its buckets in the terms of users.
func (c *Call) geoIndexes(info *storage.Info) ([]*index.Spec, error) {
	if metaOf(info).kind != timeSeries {
		return metaOf(info).indexes, nil
	}
	docs, err := c.listedBucketIndexes(info)
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
func (c *Call) nearMeasurements(x *execution, info *storage.Info, q *readQuery, near *match.Near) (agg.Source, error) {
	limit := q.limit
	q.limit = 0 // the nearest are known when all have been read
	q.fields = nil
	it, err := c.openMeasurements(x, info, q)
	if err != nil {
		return agg.Source{}, err
	}
	sorted, err := x.sortByDistance(&measuredRecords{it: it}, near, -1, limit)
	if err != nil {
		return agg.Source{}, err
	}
	return agg.Source{Iterator: q.documents(x, sorted), Sorted: true}, nil
}

// measuredRecords are measurements where records are expected; they have no ids.
type measuredRecords struct{ it agg.Iterator }

func (m *measuredRecords) Next() (r storage.Record, ok bool, err error) {
	r.Doc, err = m.it.Next()
	return r, r.Doc != nil && err == nil, err
}

func (m *measuredRecords) Close() { m.it.Close() }
