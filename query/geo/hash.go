package geo

import (
	"fmt"
	"math"
)

// Grid is the square of a 2d index, cut into 2^Bits by 2^Bits cells. A cell's
// hash has its two coordinates interleaved, x first, so that near cells tend
// to have near hashes.
type Grid struct {
	Min, Max float64
	Bits     uint // 1 to 32
}

// Contains reports whether p can be indexed. The upper bounds belong to the
// last cells.
func (g Grid) Contains(p XY) bool {
	return p.X >= g.Min && p.X <= g.Max && p.Y >= g.Min && p.Y <= g.Max
}

// Hash is the hash of the cell that p lies in.
func (g Grid) Hash(p XY) (uint64, error) {
	if !g.Contains(p) {
		return 0, fmt.Errorf("point not in interval of [ %s, %s ]", number(g.Min), number(g.Max))
	}
	return interleave(g.cell(p.X), g.cell(p.Y)), nil
}

// cell is the column or row of a coordinate.
func (g Grid) cell(f float64) uint32 {
	n := math.Floor((f - g.Min) / (g.Max - g.Min) * math.Exp2(float64(g.Bits)))
	return uint32(min(max(n, 0), math.Exp2(float64(g.Bits))-1))
}

// interleave puts the bits of x and y in turn, x above y.
func interleave(x, y uint32) uint64 { return spread(x)<<1 | spread(y) }

// spread puts a zero above every bit.
func spread(v uint32) uint64 {
	n := uint64(v)
	n = (n | n<<16) & 0x0000ffff0000ffff
	n = (n | n<<8) & 0x00ff00ff00ff00ff
	n = (n | n<<4) & 0x0f0f0f0f0f0f0f0f
	n = (n | n<<2) & 0x3333333333333333
	return (n | n<<1) & 0x5555555555555555
}

// Bounds is the smallest upright rectangle around a geometry on the plane; ok
// is false for those on the sphere.
func (g *Geometry) Bounds() (lo, hi XY, ok bool) {
	switch {
	case g.box != nil:
		return g.box.min, g.box.max, true
	case g.circle != nil:
		c, r := g.circle.center, g.circle.radius
		return XY{c.X - r, c.Y - r}, XY{c.X + r, c.Y + r}, true
	case g.cap != nil:
		rect := g.cap.RectBound()
		if rect.Lng.IsInverted() {
			return XY{-180, rect.Lo().Lat.Degrees()}, XY{180, rect.Hi().Lat.Degrees()}, true
		}
		return XY{rect.Lo().Lng.Degrees(), rect.Lo().Lat.Degrees()}, XY{rect.Hi().Lng.Degrees(), rect.Hi().Lat.Degrees()}, true
	case len(g.coords) == 0:
		return lo, hi, false
	}
	lo, hi = g.coords[0], g.coords[0]
	for _, p := range g.coords {
		lo = XY{min(lo.X, p.X), min(lo.Y, p.Y)}
		hi = XY{max(hi.X, p.X), max(hi.Y, p.Y)}
	}
	return lo, hi, true
}

// maxRanges limits the number of ranges: more ranges mean fewer unnecessary
// keys, but more searches.
const maxRanges = 32

// Ranges returns the ranges of hashes whose cells meet the rectangle.
func (g Grid) Ranges(lo, hi XY) []Range {
	x0, y0, x1, y1 := g.cell(lo.X), g.cell(lo.Y), g.cell(hi.X), g.cell(hi.Y)
	type square struct {
		x, y uint32
		bits uint // the side is 2^bits cells
	}
	open := []square{{0, 0, g.Bits}}
	var done []Range
	emit := func(s square) {
		first := interleave(s.x, s.y)
		done = append(done, Range{first, first + (1<<(2*s.bits) - 1)})
	}
	for len(open) > 0 {
		s := open[0]
		open = open[1:]
		side := uint64(1)<<s.bits - 1
		sx, sy := uint64(s.x)+side, uint64(s.y)+side
		switch {
		case uint64(x1) < uint64(s.x) || uint64(x0) > sx || uint64(y1) < uint64(s.y) || uint64(y0) > sy:
			continue
		case s.bits == 0, len(done)+len(open)+4 > maxRanges,
			x0 <= s.x && sx <= uint64(x1) && y0 <= s.y && sy <= uint64(y1):
			emit(s)
			continue
		}
		half := uint32(1) << (s.bits - 1)
		for _, o := range [][2]uint32{{0, 0}, {0, half}, {half, 0}, {half, half}} {
			open = append(open, square{s.x + o[0], s.y + o[1], s.bits - 1})
		}
	}
	return mergeRanges(done)
}
