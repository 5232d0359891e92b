package exec

import (
	"math"

	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/query/geo"
	"github.com/duskdb/duskdb/query/index"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/storage"
)

// byRings yields the nearest records without reading the others. It searches a small disc
// around the point, then the ring around the disc, and so on, until it has enough records.
// Each ring is a separate query with its own distances, whose records are sorted.
type byRings struct {
	x        *Execution
	info     *storage.Info
	q        canonical.Query
	near     match.Near // the $near of the query, with its distances
	want     int64      // number of records to return
	given    int64      // number of records returned
	outer    float64    // radius of the disc that has been searched; -1: none
	next     float64    // outer radius of the next ring
	farthest float64    // radius of the disc that has all records
	last     float64    // a ring with a greater radius takes all the rest
	ring     *byDistance
}

// openRings searches by rings. ok is false if the index cannot limit a search to a ring,
// or if the query is only explained.
func (x *Execution) openRings(info *storage.Info, q *canonical.Query, near *match.Near, limit int64) (*byRings, bool) {
	first, last, farthest := ringSizes(info, near)
	if limit <= 0 || x.Explained || first == 0 {
		return nil, false
	}
	r := &byRings{x: x, info: info, q: *q, near: *near, want: limit, outer: -1, last: last, farthest: min(farthest, near.Max)}
	r.q.Limit, r.q.Counted = 0, true
	r.next = near.Min + first
	return r, true
}

// ringSizes returns the radius at which the first ring ends, the radius at which the last
// ring begins, and the greatest distance of any record. first is 0 if the index cannot
// search a disc.
func ringSizes(info *storage.Info, near *match.Near) (first, last, farthest float64) {
	for _, s := range catalog.Of(info).Indexes {
		for _, f := range s.Fields {
			switch {
			case f.Path != near.FieldPath().String() || f.Kind != index.Geo2D && f.Kind != index.Sphere:
			case near.Sphere != (f.Kind == index.Sphere):
				return 0, 0, 0
			case near.Sphere:
				radius := 1.0
				if !near.Radians {
					radius = geo.EarthRadius
				}
				first, last, farthest = 100/geo.EarthRadius*radius, math.Pi/2*radius, math.Pi*(1+1e-9)*radius
			default:
				side := s.Planar.Max - s.Planar.Min
				first, last, farthest = side/(1<<15), 2*side, math.Inf(1)
			}
		}
	}
	return first, last, farthest
}

func (r *byRings) Next() (storage.Record, bool, error) {
	for r.given < r.want {
		if r.ring != nil {
			record, ok, err := r.ring.Next()
			if ok || err != nil {
				r.given++
				return record, ok, err
			}
			r.grow()
		}
		if r.outer >= r.farthest {
			break
		}
		if err := r.search(); err != nil {
			return storage.Record{}, false, err
		}
	}
	return storage.Record{}, false, nil
}

// search finds the records in the next ring.
func (r *byRings) search() error {
	near := r.near
	near.Max = min(r.next, r.near.Max)
	q := r.q
	q.Near, q.Matcher = &near, r.q.Matcher.WithNear(&near)
	plan, err := ChooseAccessPath(r.x.Running(), r.x, r.info, &q)
	if err != nil {
		return err
	}
	r.ring, err = r.x.sortByDistance(plan.Matching(r.x, r.info, &q), &near, r.outer, r.want-r.given)
	r.outer = near.Max
	return err
}

// ringsGrow bounds how much farther than the last one a ring may end.
const (
	ringsGrowLeast = 1.5
	ringsGrowMost  = 4
)

// grow chooses the radius of the next ring from the density of the records found so far.
func (r *byRings) grow() {
	factor := float64(ringsGrowMost)
	if r.given > 0 {
		factor = math.Sqrt(1.5 * float64(r.want) / float64(r.given))
	}
	r.next = r.outer * min(max(factor, ringsGrowLeast), ringsGrowMost)
	if r.next > r.last {
		r.next = r.farthest
	}
}

func (r *byRings) Close() {
	if r.ring != nil {
		r.ring.Close()
	}
}
