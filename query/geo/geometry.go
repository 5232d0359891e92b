package geo

import (
	"math"

	"github.com/golang/geo/s1"
	"github.com/golang/geo/s2"
)

// XY is a point on the plane; on the sphere X is the longitude and Y the
// latitude in degrees.
type XY struct{ X, Y float64 }

// onSphere reports whether p is a longitude and a latitude.
func (p XY) onSphere() bool {
	return p.X >= -180 && p.X <= 180 && p.Y >= -90 && p.Y <= 90
}

// point is the position on the sphere. The date line has one point for each
// latitude, though it has two longitudes.
func (p XY) point() s2.Point {
	if p.X == -180 {
		p.X = 180
	}
	return s2.PointFromLatLng(s2.LatLngFromDegrees(p.Y, p.X))
}

// Geometry is a parsed shape. It is immutable and safe for concurrent use.
type Geometry struct {
	// Type is the GeoJSON type, or the name of the legacy shape: "Point",
	// "Polygon", "$box", "$center", "$polygon", "$centerSphere".
	Type string
	// Flat reports whether the shape is on the plane.
	Flat bool
	// Big reports whether a polygon is the area to the left of its edges, however
	// large.
	Big bool

	// The parts of a geometry on the sphere.
	points   []s2.Point
	lines    []*s2.Polyline
	polygons []*s2.Polygon
	cap      *s2.Cap

	// The parts of a geometry on the plane.
	coords []XY // the points of the source, or the corners of a polygon
	box    *box
	circle *circle
}

type box struct{ min, max XY }

type circle struct {
	center XY
	radius float64
}

// IsPoint reports whether the geometry is one single point.
func (g *Geometry) IsPoint() bool { return g.Type == "Point" }

// Point returns the coordinates of a single point.
func (g *Geometry) Point() (XY, bool) {
	if g.Type != "Point" {
		return XY{}, false
	}
	return g.coords[0], true
}

// sphere returns the geometry on the sphere; ok is false for shapes that only
// exist on the plane.
func (g *Geometry) sphere() (*Geometry, bool) {
	if !g.Flat {
		return g, true
	}
	if g.Type != "Point" || !g.coords[0].onSphere() {
		return nil, false
	}
	return &Geometry{Type: g.Type, coords: g.coords, points: []s2.Point{g.coords[0].point()}}, true
}

// HasArea reports whether the geometry can contain others.
func (g *Geometry) HasArea() bool {
	if g.Flat {
		return g.Type != "Point"
	}
	return len(g.polygons) > 0 || g.cap != nil
}

// OnSphere reports whether the geometry is on the sphere or can be converted.
func (g *Geometry) OnSphere() bool {
	_, ok := g.sphere()
	return ok
}

// Contains reports whether o lies within g. A geometry on the plane contains
// only points; one on the sphere contains legacy points that are longitude
// and latitude.
func (g *Geometry) Contains(o *Geometry) bool { return g.contains(o, &weighing{}) }

func (g *Geometry) contains(o *Geometry, w *weighing) bool {
	if g.Flat {
		p, ok := o.Point()
		return ok && g.containsFlat(p)
	}
	o, ok := o.sphere()
	if !ok || o.Big || len(o.points)+len(o.lines)+len(o.polygons) == 0 {
		return false
	}
	for _, p := range o.points {
		if w.stop(len(g.polygons)) {
			return false
		}
		if !g.containsPoint(p) {
			return false
		}
	}
	for _, l := range o.lines {
		if w.stop(len(*l)) || !g.containsLine(l) {
			return false
		}
	}
	for _, p := range o.polygons {
		if w.stop(p.NumEdges()) || !g.containsPolygon(p) {
			return false
		}
	}
	return true
}

func (g *Geometry) containsPoint(p s2.Point) bool {
	if g.cap != nil && g.cap.ContainsPoint(p) {
		return true
	}
	for _, poly := range g.polygons {
		if polygonHasPoint(poly, p) {
			return true
		}
	}
	return false
}

// polygonHasPoint reports whether a point is in the polygon or on its
// boundary.
func polygonHasPoint(poly *s2.Polygon, p s2.Point) bool {
	return poly.ContainsPoint(p) || poly.IntersectsCell(s2.CellFromPoint(p))
}

func (g *Geometry) containsLine(l *s2.Polyline) bool {
	if g.cap != nil && capHasAll(g.cap, *l) {
		return true
	}
	for _, poly := range g.polygons {
		if polygonHasAll(poly, *l) && !crossesPolygon(l, poly) {
			return true
		}
	}
	return false
}

// containsPolygon reports whether a polygon is inside the geometry.
func (g *Geometry) containsPolygon(o *s2.Polygon) bool {
	if g.cap != nil {
		for _, l := range o.Loops() {
			if !capHasAll(g.cap, l.Vertices()) {
				return false
			}
		}
		return true
	}
	for _, poly := range g.polygons {
		if poly.Contains(o) {
			return true
		}
	}
	return false
}

// capHasAll reports whether all points, and so the edges between them, lie in a
// cap; this holds up to a hemisphere.
func capHasAll(c *s2.Cap, points []s2.Point) bool {
	for _, p := range points {
		if !c.ContainsPoint(p) {
			return false
		}
	}
	return true
}

func polygonHasAll(poly *s2.Polygon, points []s2.Point) bool {
	for _, p := range points {
		if !polygonHasPoint(poly, p) {
			return false
		}
	}
	return true
}

func crossesPolygon(l *s2.Polyline, poly *s2.Polygon) bool {
	for i := range l.NumEdges() {
		a := l.Edge(i)
		for j := range poly.NumEdges() {
			b := poly.Edge(j)
			if s2.CrossingSign(a.V0, a.V1, b.V0, b.V1) == s2.Cross {
				return true
			}
		}
	}
	return false
}

// containsFlat reports whether a point is in the shape or on its boundary.
func (g *Geometry) containsFlat(p XY) bool {
	switch {
	case g.box != nil:
		b := g.box
		return p.X >= b.min.X && p.X <= b.max.X && p.Y >= b.min.Y && p.Y <= b.max.Y
	case g.circle != nil:
		c := g.circle
		return math.Hypot(p.X-c.center.X, p.Y-c.center.Y) <= c.radius
	case g.Type == "$polygon":
		return inRing(g.coords, p)
	}
	return false
}

// inRing casts a ray, as Polygon::contains of mongod's geo/shapes.cpp does:
// corners, horizontal and vertical edges are inside, and points on a sloping
// edge are inside if the polygon lies to the left of the edge.
func inRing(ring []XY, p XY) bool {
	inside := false
	a := ring[0]
	for i := 1; i <= len(ring); i++ {
		b := ring[i%len(ring)]
		if p == a || p == b || onLevel(a, b, p) {
			return true
		}
		if p.Y > min(a.Y, b.Y) && p.Y <= max(a.Y, b.Y) && p.X <= max(a.X, b.X) {
			if a.X == b.X && p.X == a.X {
				return true
			}
			if a.X == b.X || p.X <= (p.Y-a.Y)*(b.X-a.X)/(b.Y-a.Y)+a.X {
				inside = !inside
			}
		}
		a = b
	}
	return inside
}

// onLevel reports whether p lies on the edge from a to b, and the edge is
// horizontal.
func onLevel(a, b, p XY) bool {
	return a.Y == b.Y && p.Y == a.Y && p.X >= min(a.X, b.X) && p.X <= max(a.X, b.X)
}

// angleTo is the smallest angle between a point and the geometry.
func (g *Geometry) angleTo(p s2.Point) s1.Angle {
	best := s1.InfAngle()
	for _, q := range g.points {
		best = min(best, angleBetween(p, q))
	}
	for _, l := range g.lines {
		q, _ := l.Project(p)
		best = min(best, angleBetween(p, q))
	}
	for _, poly := range g.polygons {
		best = min(best, polygonAngle(poly, p))
	}
	return best
}

// angleBetween is the angle between two points. Above a quarter of a circle it adds what a
// double lacks of π, as exact libraries do; math.Atan2 does not.
func angleBetween(p, q s2.Point) s1.Angle {
	const lack = 6.123233995736766e-17 // of π/2
	y, x := p.Cross(q.Vector).Norm(), p.Dot(q.Vector)
	switch {
	case x >= 0:
		return s1.Angle(math.Atan2(y, x))
	case y > -x:
		return s1.Angle(math.Pi/2 + (lack + math.Atan(-x/y)))
	}
	return s1.Angle(math.Pi + (2*lack - math.Atan(y/-x)))
}

func polygonAngle(poly *s2.Polygon, p s2.Point) s1.Angle {
	if poly.ContainsPoint(p) {
		return 0
	}
	best := s1.InfAngle()
	for i := range poly.NumEdges() {
		e := poly.Edge(i)
		best = min(best, s2.DistanceFromSegment(p, e.V0, e.V1))
	}
	return best
}

// Angle is the distance on the sphere, in radians, from a point to the nearest
// part of the geometry; ok is false if the geometry is not on the sphere.
func (g *Geometry) Angle(from XY) (radians float64, ok bool) {
	s, ok := g.sphere()
	if !ok || s.cap != nil {
		return 0, false
	}
	return float64(s.angleTo(from.point())), true
}

// FlatDistance is the distance on the plane from a point to the geometry,
// which must be a point too.
func (g *Geometry) FlatDistance(from XY) (d float64, ok bool) {
	p, ok := g.Point()
	return math.Hypot(p.X-from.X, p.Y-from.Y), ok
}
