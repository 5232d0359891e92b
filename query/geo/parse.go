package geo

import (
	"math"

	"github.com/golang/geo/s1"
	"github.com/golang/geo/s2"

	"github.com/duskdb/duskdb/value"
)

// ParseStored parses a value of a document: GeoJSON or a legacy coordinate
// pair.
func ParseStored(v value.Value) (*Geometry, error) {
	if d := v.Doc(); v.Kind() == value.KindDocument && (isGeoJSON(d) || !leadsWithNumber(d)) {
		g, err := ParseGeoJSON(d)
		if err == nil || !leadsWithNumber(d) {
			return g, err
		}
	}
	p, err := pair(v)
	if err != nil {
		return nil, err
	}
	return flatPoint(p), nil
}

func isGeoJSON(d value.Doc) bool { return d.Lookup("type").Kind() == value.KindString }

// leadsWithNumber reports whether the document may be a legacy point.
func leadsWithNumber(d value.Doc) bool {
	_, v := d.First()
	return v.IsNumber()
}

func flatPoint(p XY) *Geometry { return &Geometry{Type: "Point", Flat: true, coords: []XY{p}} }

// ParsePoint parses the point of $near: GeoJSON, whose type need not be given,
// or a legacy pair.
func ParsePoint(v value.Value) (*Geometry, error) {
	if isLegacy(v) {
		p, err := onlyPair(v)
		return flatPoint(p), err
	}
	if v.Kind() != value.KindDocument {
		return nil, bad("Point must be an array or object, instead got type %s", v.Kind())
	}
	g := &Geometry{Type: "Point"}
	if err := g.readCRS(v.Doc()); err != nil {
		return nil, err
	}
	return g, readPoint(g, v.Doc().Lookup("coordinates"))
}

// isLegacy reports whether v is meant as a pair of numbers, and not as GeoJSON.
func isLegacy(v value.Value) bool {
	return v.Kind() == value.KindArray || v.Kind() == value.KindDocument && leadsWithNumber(v.Doc())
}

// ParsePointWithDistance parses [x, y, distance]. It reports false for
// anything else.
func ParsePointWithDistance(v value.Value) (center *Geometry, distance float64, ok bool) {
	d := v.Doc()
	if !isLegacy(v) || d.Len() != 3 {
		return nil, 0, false
	}
	p, err := pair(v)
	third := d.Index(2)
	return flatPoint(p), third.AsDouble(), err == nil && third.IsNumber()
}

// shapes maps shape operators to their parsers.
var shapes = map[string]func(v value.Value) (*Geometry, error){
	"$box":          parseBox,
	"$center":       parseCenter,
	"$centerSphere": parseCenterSphere,
	"$polygon":      parsePolygon,
	"$geometry":     parseGeometry,
}

// ParseShape parses one shape of $geoWithin and $geoIntersects: name is
// $geometry, $box, $center, $centerSphere or $polygon.
func ParseShape(name string, v value.Value) (*Geometry, error) {
	parse, ok := shapes[name]
	if !ok || v.Kind() != value.KindDocument && v.Kind() != value.KindArray {
		return nil, bad("unknown geo specifier: %s: %v", name, v)
	}
	g, err := parse(v)
	if err != nil {
		return nil, err
	}
	return g, nil
}

func parseGeometry(v value.Value) (*Geometry, error) {
	if isLegacy(v) {
		return ParsePoint(v)
	}
	return ParseGeoJSON(v.Doc())
}

func parseBox(v value.Value) (*Geometry, error) {
	a, err := onlyPair(v.Doc().Index(0))
	if err != nil {
		return nil, err
	}
	b, err := onlyPair(v.Doc().Index(1))
	if err != nil {
		return nil, err
	}
	return &Geometry{Type: "$box", Flat: true, box: &box{
		min: XY{min(a.X, b.X), min(a.Y, b.Y)},
		max: XY{max(a.X, b.X), max(a.Y, b.Y)},
	}}, nil
}

// centerAndRadius reads [[x, y], radius].
func centerAndRadius(v value.Value) (center XY, radius float64, err error) {
	if center, err = onlyPair(v.Doc().Index(0)); err != nil {
		return center, 0, err
	}
	r := v.Doc().Index(1)
	radius = r.AsDouble()
	switch {
	case !r.IsNumber() || !(radius >= 0):
		return center, 0, bad("radius must be a non-negative number")
	case v.Doc().Len() > 2:
		return center, 0, bad("Only 2 fields allowed for circular region")
	}
	return center, radius, nil
}

func parseCenter(v value.Value) (*Geometry, error) {
	c, r, err := centerAndRadius(v)
	if err != nil {
		return nil, err
	}
	return &Geometry{Type: "$center", Flat: true, circle: &circle{c, r}}, nil
}

func parseCenterSphere(v value.Value) (*Geometry, error) {
	c, r, err := centerAndRadius(v)
	if err != nil {
		return nil, err
	}
	if !c.onSphere() {
		return nil, bad("Spherical circle would require (unimplemented) splitting")
	}
	area := s2.CapFromCenterAngle(c.point(), s1.Angle(min(r, math.Pi)))
	return &Geometry{Type: "$centerSphere", cap: &area}, nil
}

func parsePolygon(v value.Value) (*Geometry, error) {
	g := &Geometry{Type: "$polygon", Flat: true}
	for item := range v.Doc().Values() {
		p, err := onlyPair(item)
		if err != nil {
			return nil, err
		}
		g.coords = append(g.coords, p)
	}
	if len(g.coords) < 3 {
		return nil, bad("Polygon must have at least 3 points")
	}
	return g, nil
}
