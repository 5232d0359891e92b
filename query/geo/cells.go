package geo

import (
	"cmp"
	"slices"

	"github.com/golang/geo/s1"
	"github.com/golang/geo/s2"
)

// Cover is the resolution of a 2dsphere index.
type Cover struct {
	Coarsest, Finest int // levels, 0 to 30
	MaxCells         int
}

// Coverings as mongod makes them.
var (
	IndexCover = Cover{Coarsest: 0, Finest: 23, MaxCells: 50}
	QueryCover = Cover{Coarsest: 0, Finest: 23, MaxCells: 20}
)

// Range is a range of cell numbers, both ends included.
type Range struct{ Lo, Hi uint64 }

// IndexCells returns the numbers of the S2 cells under which a 2dsphere index
// stores a geometry; ok is false if it is not on the sphere.
func (g *Geometry) IndexCells(c Cover) (cells []uint64, ok bool) {
	s, ok := g.sphere()
	if !ok || s.Big || s.cap != nil {
		return nil, false
	}
	if len(s.points) == 1 && len(s.lines)+len(s.polygons) == 0 {
		return []uint64{uint64(s2.CellFromPoint(s.points[0]).ID().Parent(c.Finest))}, true
	}
	for _, id := range s.covering(c) {
		cells = append(cells, uint64(id))
	}
	return cells, true
}

// QueryRanges returns the ranges of cell numbers that can hold geometries
// meeting g: all cells inside of its covering, and those around them.
func (g *Geometry) QueryRanges(c Cover) ([]Range, bool) {
	s, ok := g.sphere()
	if !ok {
		return nil, false
	}
	return ranges(s.covering(c), c), true
}

// RingRanges returns the ranges of cell numbers for everything between two
// distances (in radians) from a point: one step of a $near search.
func RingRanges(center XY, inner, outer float64, c Cover) []Range {
	disc := s2.CapFromCenterAngle(center.point(), s1.Angle(outer))
	coverer := s2.RegionCoverer{MinLevel: c.Coarsest, MaxLevel: c.Finest, LevelMod: 1, MaxCells: c.MaxCells}
	cells := coverer.Covering(disc)
	if inner > 0 {
		hole := s2.CapFromCenterAngle(center.point(), s1.Angle(inner))
		cells = slices.DeleteFunc(cells, func(id s2.CellID) bool {
			return hole.ContainsCell(s2.CellFromCellID(id))
		})
	}
	return ranges(cells, c)
}

// covering returns the S2 cells that cover the geometry, at the levels of c.
func (g *Geometry) covering(c Cover) s2.CellUnion {
	coverer := s2.RegionCoverer{MinLevel: c.Coarsest, MaxLevel: c.Finest, LevelMod: 1, MaxCells: c.MaxCells}
	var union s2.CellUnion
	for _, p := range g.points {
		union = append(union, s2.CellFromPoint(p).ID().Parent(c.Finest))
	}
	for _, l := range g.lines {
		union = append(union, coverer.Covering(l)...)
	}
	for _, p := range g.polygons {
		union = append(union, coverer.Covering(p)...)
	}
	if g.cap != nil {
		union = append(union, coverer.Covering(g.cap)...)
	}
	union.Normalize()
	return union
}

// ranges turns a covering into ranges. A stored cell that meets the covering
// is a descendant of one of its cells (a range) or an ancestor (a point).
func ranges(cells s2.CellUnion, c Cover) []Range {
	var out []Range
	seen := map[s2.CellID]bool{}
	for _, id := range cells {
		out = append(out, Range{uint64(id.RangeMin()), uint64(id.RangeMax())})
		for level := c.Coarsest; level < id.Level(); level++ {
			if parent := id.Parent(level); !seen[parent] {
				seen[parent] = true
				out = append(out, Range{uint64(parent), uint64(parent)})
			}
		}
	}
	return mergeRanges(out)
}

// mergeRanges sorts ranges and joins those that overlap.
func mergeRanges(in []Range) []Range {
	slices.SortFunc(in, func(a, b Range) int { return cmp.Or(cmp.Compare(a.Lo, b.Lo), cmp.Compare(a.Hi, b.Hi)) })
	var out []Range
	for _, r := range in {
		if n := len(out); n > 0 && (r.Lo <= out[n-1].Hi || r.Lo == out[n-1].Hi+1) {
			out[n-1].Hi = max(out[n-1].Hi, r.Hi)
			continue
		}
		out = append(out, r)
	}
	return out
}
