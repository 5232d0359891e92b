package exec

import (
	"cmp"
	"math"
	"slices"

	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/index"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// byDistance yields the matching records in order of their distance.
type byDistance struct {
	x     *Execution
	found []distant
	next  int
}

type distant struct {
	r        storage.Record
	distance float64
	point    value.Value
	meta     expr.Meta
}

// sortByDistance reads all records that match and orders those beyond a
// distance by the distance that the query's $near asks for. With a limit it
// keeps no more than that.
func (x *Execution) sortByDistance(src RecordSource, near *match.Near, beyond float64, limit int64) (*byDistance, error) {
	defer src.Close()
	b := &byDistance{x: x}
	for {
		r, ok, err := src.Next()
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		if v, d, ok := near.Nearest(r.Doc); ok && d > beyond {
			b.found = append(b.found, distant{r, d, v, x.Env.Meta})
		}
		// When there are twice as many records as needed, they are sorted
		// and the farther half is dropped.
		if n := int64(len(b.found)); limit > 0 && n > 64 && n/2 >= limit {
			b.sort(limit)
		}
	}
	b.sort(limit)
	return b, nil
}

// sort puts the nearest first, and keeps so many; 0 stands for all.
func (b *byDistance) sort(limit int64) {
	slices.SortStableFunc(b.found, func(a, c distant) int { return cmp.Compare(a.distance, c.distance) })
	if limit > 0 && int64(len(b.found)) > limit {
		clear(b.found[limit:])
		b.found = b.found[:limit]
	}
}

func (b *byDistance) Next() (storage.Record, bool, error) {
	if b.next == len(b.found) {
		return storage.Record{}, false, nil
	}
	f := b.found[b.next]
	b.next++
	b.x.Env.Meta = f.meta
	b.x.Env.Meta.Set(expr.MetaGeoNearDistance, value.Double(f.distance))
	b.x.Env.Meta.Set(expr.MetaGeoNearPoint, f.point)
	return f.r, true, nil
}

func (b *byDistance) Close() { b.found = nil }

// requireGeoIndex fails as mongod does when no index can serve a $near: one
// from a GeoJSON point, in metres, needs a 2dsphere index.
func requireGeoIndex(ns storage.Namespace, indexes []*index.Spec, q *canonical.Query, near *match.Near, path string) error {
	metres := near.Sphere && !near.Radians
	var outside error
	for _, s := range indexes {
		for _, f := range s.Fields {
			switch {
			case f.Path != path:
			case f.Kind == index.Sphere && near.Sphere:
				return nil
			case f.Kind == index.Geo2D && !metres:
				if outside = s.CheckCenter(near.Center); outside == nil {
					return nil
				}
			}
		}
	}
	if outside != nil {
		return outside
	}
	pq := plan.Query{NS: ns.String(), Matcher: q.Matcher.WithNear(near), Sort: q.Sort, Command: q.Command}
	return pq.NoGeoIndex()
}

// OpenNear opens the source of a $geoNear. It runs the equivalent $near and sets the
// distance and the point as metadata.
func OpenNear(c *kernel.Call, x *Execution, info *storage.Info, q *canonical.Query, n *agg.Near) (agg.Source, error) {
	series := catalog.Of(info).Kind == catalog.TimeSeries
	indexed, err := geoIndexes(c, info)
	if err != nil {
		return agg.Source{}, err
	}
	key := n.Key
	if key == "" {
		if key, err = onlyGeoField(info.Namespace, indexed); err != nil {
			return agg.Source{}, err
		}
	}
	if q.Hint.Natural != 0 {
		return agg.Source{}, mongoerr.New(mongoerr.BadValue, "geoNear expression not allowed with $natural hint")
	}
	op := "$near"
	if n.Spherical {
		op = "$nearSphere"
	}
	cond := value.NewDoc(op, n.Point)
	if n.Point.Kind() == value.KindDocument && n.Point.Doc().Has("type") {
		cond = value.NewDoc(op, value.Document(value.NewDoc("$geometry", n.Point)))
	}
	m, err := match.Compile(value.NewDoc(key, value.Document(cond)), match.Options{AllowNear: true})
	if err != nil {
		return agg.Source{}, err
	}
	near := canonical.FindNear(m.Root())
	if near == nil {
		return agg.Source{}, mongoerr.New(mongoerr.BadValue, "$geoNear requires a point")
	}
	near.Min, near.Max = n.MinDistance, n.MaxDistance
	if err := requireGeoIndex(info.Namespace, indexed, q, near, key); err != nil {
		return agg.Source{}, err
	}
	if series {
		return nearMeasurements(c, x, info, q, near)
	}
	limit := q.Limit
	if limit > 0 || !math.IsInf(near.Max, 1) {
		// The filter needs the $near, so that the planner uses the index.
		q.Near, q.Matcher = near, q.Matcher.WithNear(near)
		q.Filter = value.NewDoc("$and", value.NewArray(value.Document(q.Matcher.Filter()), value.Document(value.NewDoc(key, value.Document(cond)))))
	}
	q.Limit = 0 // the nearest are known only when all have been read
	plan, err := ChooseAccessPath(c, x, info, q)
	if err != nil {
		return agg.Source{}, err
	}
	if rings, ok := x.openRings(info, q, near, limit); ok {
		return agg.Source{Iterator: NewDocuments(x, info, q, rings), Sorted: true}, nil
	}
	sorted, err := x.sortByDistance(plan.Matching(x, info, q), near, -1, limit)
	if err != nil {
		return agg.Source{}, err
	}
	return agg.Source{Iterator: NewDocuments(x, info, q, sorted), Sorted: true}, nil
}

// onlyGeoField is the field of the collection's only geospatial index: of the
// one 2d index if there is any, else of the one 2dsphere index.
func onlyGeoField(ns storage.Namespace, indexes []*index.Spec) (string, error) {
	for _, kind := range []index.Kind{index.Geo2D, index.Sphere} {
		var fields []string
		for _, s := range indexes {
			for _, f := range s.Fields {
				if f.Kind == kind {
					fields = append(fields, f.Path)
				}
			}
		}
		switch {
		case len(fields) > 1:
			return "", mongoerr.Newf(mongoerr.IndexNotFound, "There is more than one %s index on %s; unsure which to use for $geoNear", kind, ns)
		case len(fields) == 1:
			return fields[0], nil
		}
	}
	return "", mongoerr.New(mongoerr.IndexNotFound, "$geoNear requires a 2d or 2dsphere index, but none were found")
}
