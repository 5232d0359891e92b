package geo

import (
	"github.com/golang/geo/s2"
)

// Intersects reports whether g and o share a point on the sphere.
func (g *Geometry) Intersects(o *Geometry) bool {
	a, okA := g.sphere()
	b, okB := o.sphere()
	if !okA || !okB {
		return false
	}
	for _, p := range b.points {
		if a.meetsPoint(p) {
			return true
		}
	}
	for _, l := range b.lines {
		if a.meetsLine(l) {
			return true
		}
	}
	for _, poly := range b.polygons {
		if a.meetsPolygon(poly) {
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
func (g *Geometry) meetsLine(l *s2.Polyline) bool {
	for _, p := range g.points {
		if lineHasPoint(l, p, s2.CellFromPoint(p)) {
			return true
		}
	}
	for _, other := range g.lines {
		if other.Intersects(l) {
			return true
		}
	}
	for _, poly := range g.polygons {
		if polygonMeetsLine(poly, l) {
			return true
		}
	}
	if g.cap == nil {
		return false
	}
	q, _ := l.Project(g.cap.Center())
	return g.cap.ContainsPoint(q)
}

func polygonMeetsLine(poly *s2.Polygon, l *s2.Polyline) bool {
	for _, v := range *l {
		if polygonHasPoint(poly, v) {
			return true
		}
	}
	return crossesPolygon(l, poly)
}

// meetsPolygon is false for polygons that only touch: their interiors have no
// common point, and S2Polygon::Intersects, which mongod uses, is false for
// them.
func (g *Geometry) meetsPolygon(o *s2.Polygon) bool {
	for _, p := range g.points {
		if polygonHasPoint(o, p) {
			return true
		}
	}
	for _, l := range g.lines {
		if polygonMeetsLine(o, l) {
			return true
		}
	}
	for _, poly := range g.polygons {
		if poly.Intersects(o) {
			return true
		}
	}
	return g.cap != nil && polygonAngle(o, g.cap.Center()) <= g.cap.Radius()
}
