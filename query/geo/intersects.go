package geo

import (
	"github.com/golang/geo/s2"
)

// weighing is a comparison of geometries that may be interrupted.
type weighing struct {
	weigh func(bytes int) error // nil: it may not
	err   error
}

// edgeBytes is how many bytes could be read in the time that an edge takes.
const edgeBytes = 64

// stop is called before n edges are visited. It reports whether the comparison is to end.
func (w *weighing) stop(n int) bool {
	if w.err == nil && w.weigh != nil {
		w.err = w.weigh(edgeBytes * (1 + n))
	}
	return w.err != nil
}

// Intersects reports whether g and o share a point on the sphere.
func (g *Geometry) Intersects(o *Geometry) bool { return g.intersects(o, &weighing{}) }

// IntersectsUnless is Intersects, which ends with the error of weigh. That is called for the
// edges that are visited, with the bytes that could be read meanwhile.
func (g *Geometry) IntersectsUnless(o *Geometry, weigh func(bytes int) error) (bool, error) {
	w := weighing{weigh: weigh}
	ok := g.intersects(o, &w)
	return ok && w.err == nil, w.err
}

// ContainsUnless is Contains, in the manner of IntersectsUnless.
func (g *Geometry) ContainsUnless(o *Geometry, weigh func(bytes int) error) (bool, error) {
	w := weighing{weigh: weigh}
	ok := g.contains(o, &w)
	return ok && w.err == nil, w.err
}

// edges is the number of edges of the lines and polygons.
func (g *Geometry) edges() (n int) {
	for _, l := range g.lines {
		n += len(*l)
	}
	for _, p := range g.polygons {
		n += p.NumEdges()
	}
	return n
}

func (g *Geometry) intersects(o *Geometry, w *weighing) bool {
	a, okA := g.sphere()
	b, okB := o.sphere()
	if !okA || !okB {
		return false
	}
	edges := 0
	if len(b.points) > 0 {
		edges = a.edges()
	}
	for _, p := range b.points {
		if w.stop(edges + len(a.points)) {
			return false
		}
		if a.meetsPoint(p) {
			return true
		}
	}
	for _, l := range b.lines {
		if a.meetsLine(l, w) {
			return true
		}
	}
	for _, poly := range b.polygons {
		if a.meetsPolygon(poly, w) {
			return true
		}
	}
	return false
}

// meetsPoint reports whether a point is in or on the geometry.
func (g *Geometry) meetsPoint(p s2.Point) bool {
	if g.containsPoint(p) {
		return true
	}
	cell := s2.CellFromPoint(p)
	for _, q := range g.points {
		if s2.CellFromPoint(q).ID() == cell.ID() {
			return true
		}
	}
	for _, l := range g.lines {
		if lineHasPoint(l, p, cell) {
			return true
		}
	}
	return false
}

// lineHasPoint allows for the width of a leaf cell, about a centimeter.
func lineHasPoint(l *s2.Polyline, p s2.Point, cell s2.Cell) bool {
	if !l.RectBound().Intersects(cell.RectBound()) {
		return false
	}
	q, _ := l.Project(p)
	return p.Distance(q).Radians()*EarthRadius < 0.01
}

// meetsLine reports whether a line has a point in common with the geometry.
func (g *Geometry) meetsLine(l *s2.Polyline, w *weighing) bool {
	for _, p := range g.points {
		if w.stop(len(*l)) {
			return false
		}
		if lineHasPoint(l, p, s2.CellFromPoint(p)) {
			return true
		}
	}
	for _, other := range g.lines {
		if w.stop(len(*other) + len(*l)) {
			return false
		}
		if other.Intersects(l) {
			return true
		}
	}
	for _, poly := range g.polygons {
		if polygonMeetsLine(poly, l, w) {
			return true
		}
	}
	if g.cap == nil {
		return false
	}
	q, _ := l.Project(g.cap.Center())
	return g.cap.ContainsPoint(q)
}

func polygonMeetsLine(poly *s2.Polygon, l *s2.Polyline, w *weighing) bool {
	for _, v := range *l {
		if w.stop(0) {
			return false
		}
		if polygonHasPoint(poly, v) {
			return true
		}
	}
	return crossesPolygon(l, poly)
}

// meetsPolygon is false for polygons that only touch: their interiors have no
// common point, and S2Polygon::Intersects, which mongod uses, is false for
// them.
func (g *Geometry) meetsPolygon(o *s2.Polygon, w *weighing) bool {
	for _, p := range g.points {
		if w.stop(0) {
			return false
		}
		if polygonHasPoint(o, p) {
			return true
		}
	}
	for _, l := range g.lines {
		if polygonMeetsLine(o, l, w) {
			return true
		}
	}
	for _, poly := range g.polygons {
		if w.stop(poly.NumEdges() + o.NumEdges()) {
			return false
		}
		if poly.Intersects(o) {
			return true
		}
	}
	return g.cap != nil && polygonAngle(o, g.cap.Center()) <= g.cap.Radius()
}
