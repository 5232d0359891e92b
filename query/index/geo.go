package index

import (
	"math"
	"slices"
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/geo"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/value"
)

// Geo indexes have an entry for each cell that a document's shapes meet, with
// the number of the cell as key. The numbers are unsigned; as values they are
// shifted into the range of a long, which keeps their order.

func cellValue(n uint64) value.Value { return value.Int64(int64(n ^ 1<<63)) }

// levels is the resolution of a 2dsphere index.
func levels(coarsest, finest value.Value) geo.Cover {
	c := geo.IndexCover
	if coarsest.IsNumber() {
		c.Coarsest = int(coarsest.SafeInt64())
	}
	if finest.IsNumber() {
		c.Finest = int(finest.SafeInt64())
	}
	return c
}

func (s *Spec) levels() geo.Cover {
	return levels(s.option("coarsestIndexedLevel"), s.option("finestIndexedLevel"))
}

func (s *Spec) grid() geo.Grid {
	return geo.Grid{Min: s.Planar.Min, Max: s.Planar.Max, Bits: uint(s.Planar.Bits)}
}

// CheckCenter fails if p is outside of the grid of a 2d index, so that a $near
// search cannot start there.
func (s *Spec) CheckCenter(p geo.XY) error {
	if _, err := s.grid().Hash(p); err != nil {
		return mongoerr.Newf(16433, "%s :: caused by :: [ %s, %s ]", err, value.Double(p.X), value.Double(p.Y))
	}
	return nil
}

// sphereCells are the cells of the geometries of one field of a 2dsphere
// index; other values are refused. A field that is missing, or whose only
// value is null or empty, has no cells.
func (s *Spec) sphereCells(d value.Doc, f *Field) (out cells, many bool, err error) {
	shapes := distinct(f.path, d)
	if len(shapes) == 1 && (shapes[0].IsNullish() || shapes[0].Doc() != nil && shapes[0].Doc().IsEmpty()) {
		return nil, false, nil
	}
	c := s.levels()
	for _, v := range shapes {
		if v.Doc() == nil {
			name := f.Path[strings.LastIndexByte(f.Path, '.')+1:]
			// sic: mongod
			return nil, false, mongoerr.Newf(16755, "Can't extract geo keys: %s  geo element must be an array or object: %s: %v", d, name, v)
		}
		g, err := geo.ParseStored(v)
		if err != nil {
			// sic: mongod
			return nil, false, mongoerr.Newf(16755, "Can't extract geo keys: %s  %s", d, mongoerr.From(err).Message)
		}
		numbers, ok := g.IndexCells(c)
		if !ok {
			return nil, false, mongoerr.Newf(16755, "Can't extract geo keys: %s", d)
		}
		for _, n := range numbers {
			out = append(out, row{cellValue(n)})
		}
	}
	return out, len(out) > 1, nil
}

// distinct returns the distinct values at a path.
func distinct(p value.Path, d value.Doc) (out []value.Value) {
	p.Walk(d, func(v value.Value) bool {
		same := func(have value.Value) bool { return value.Equal(have, v) }
		if !v.IsMissing() && !slices.ContainsFunc(out, same) {
			out = append(out, v)
		}
		return false
	})
	return out
}

// planarCells are the cells of the points of the geo field of a 2d index: one
// point or an array of them.
func (s *Spec) planarCells(d value.Doc, f *Field) (out cells, many bool, err error) {
	grid := s.grid()
	add := func(v value.Value) error {
		g, err := geo.ParseStored(v)
		if err != nil || !isPair(v) {
			return mongoerr.Newf(13026, "geo values must be 'legacy coordinate pairs' for 2d indexes :: caused by :: %s", d)
		}
		p, ok := g.Point()
		if !ok {
			return mongoerr.Newf(13026, "geo values must be 'legacy coordinate pairs' for 2d indexes :: caused by :: %s", d)
		}
		n, err := grid.Hash(p)
		if err != nil {
			return mongoerr.Newf(13027, "%s :: caused by :: %s", err, d)
		}
		out = append(out, row{cellValue(n)})
		return nil
	}
	f.path.Walk(d, func(v value.Value) bool {
		if isPair(v) {
			err = add(v)
			return err != nil
		}
		for e := range v.Doc().Values() { // the values of a document count like the elements of an array
			many = many || v.Kind() == value.KindArray
			switch {
			case e.Doc() == nil:
				err = mongoerr.New(16804, "location object expected, location array not in correct format")
			case !e.Doc().IsEmpty():
				err = add(e)
			}
			if err != nil {
				return true
			}
		}
		return false
	})
	return out, many || len(out) > 1, err
}

// isPair reports whether a value is one point for a 2d index, and not several: a document or an
// array that begins with a number, but no GeoJSON.
func isPair(v value.Value) bool {
	if v.Doc() == nil {
		return false
	}
	it := v.Doc().Iter()
	return it.Next() && it.Value().IsNumber()
}

// anywhere is the set of all cells.
var anywhere = []plan.Interval{plan.Between(value.Int64(math.MinInt64), value.Int64(math.MaxInt64))}

// cover returns the cells that may contain matches of a geo condition; nil if
// the index cannot serve it.
func (s *Spec) cover(n match.Node) []plan.Interval {
	switch n := n.(type) {
	case *match.Geo:
		return s.coverShape(n.Shape)
	case *match.Near:
		return s.coverNear(n)
	}
	return nil
}

func (s *Spec) coverShape(g *geo.Geometry) []plan.Interval {
	if s.Kind == Sphere {
		if ranges, ok := g.QueryRanges(s.queryLevels()); ok {
			return cellIntervals(ranges)
		}
		return nil
	}
	if lo, hi, ok := g.Bounds(); ok {
		return cellIntervals(s.grid().Ranges(lo, hi))
	}
	return nil
}

func (s *Spec) queryLevels() geo.Cover {
	c := s.levels()
	c.MaxCells = geo.QueryCover.MaxCells
	return c
}

// coverNear returns the cells within the limits of a $near, nil if it needs
// another kind of index.
func (s *Spec) coverNear(n *match.Near) []plan.Interval {
	switch {
	case s.Kind == Sphere && !n.Sphere, s.Kind == Geo2D && n.Sphere && !n.Radians:
		return nil // one in metres needs a 2dsphere index, one on the plane a 2d index
	case s.Kind == Geo2D && !n.Sphere && !math.IsInf(n.Max, 1):
		lo := geo.XY{X: n.Center.X - n.Max, Y: n.Center.Y - n.Max}
		hi := geo.XY{X: n.Center.X + n.Max, Y: n.Center.Y + n.Max}
		return cellIntervals(s.grid().Ranges(lo, hi))
	case s.Kind == Geo2D:
		return anywhere
	}
	outer := n.Max
	if !n.Radians {
		outer /= geo.EarthRadius
	}
	if !(outer < math.Pi) {
		return anywhere
	}
	return cellIntervals(geo.RingRanges(n.Center, 0, outer*(1+1e-9)+1e-9, s.queryLevels()))
}

func cellIntervals(ranges []geo.Range) []plan.Interval {
	out := make([]plan.Interval, len(ranges))
	for i, r := range ranges {
		out[i] = plan.Between(cellValue(r.Lo), cellValue(r.Hi))
	}
	return out
}
