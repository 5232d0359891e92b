package geo

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/golang/geo/s2"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

func bad(format string, args ...any) error {
	return mongoerr.Newf(mongoerr.BadValue, format, args...)
}

// strictWinding is the coordinate system of polygons larger than a
// hemisphere.
const strictWinding = "urn:x-mongodb:crs:strictwinding:EPSG:4326"

// geoJSONTypes maps GeoJSON types to the functions that read their
// coordinates.
var geoJSONTypes = map[string]func(g *Geometry, coordinates value.Value) error{
	"Point":           readPoint,
	"LineString":      readLine,
	"Polygon":         readPolygon,
	"MultiPoint":      readEach("MultiPoint", readPoint),
	"MultiLineString": readEach("MultiLineString", readLine),
	"MultiPolygon":    readEach("MultiPolygon", readPolygon),
}

// ParseGeoJSON parses a GeoJSON object.
func ParseGeoJSON(d value.Doc) (*Geometry, error) {
	t := d.Lookup("type")
	read, known := geoJSONTypes[t.Str()]
	if t.Str() != "GeometryCollection" && !known {
		return nil, bad("unknown GeoJSON type: %v", d)
	}
	g := &Geometry{Type: t.Str()}
	if err := g.readCRS(d); err != nil {
		return nil, err
	}
	if known {
		return g, read(g, d.Lookup("coordinates"))
	}
	return g, g.readCollection(d.Lookup("geometries"))
}

// readCRS checks the coordinate reference system; only polygons may have the
// strict winding one.
func (g *Geometry) readCRS(d value.Doc) error {
	crs := d.Lookup("crs")
	if crs.IsMissing() {
		return nil
	}
	if crs.Kind() != value.KindDocument {
		return bad("GeoJSON CRS must be an object")
	}
	if crs.Doc().Lookup("type").Str() != "name" {
		return bad(`GeoJSON CRS must have field "type": "name"`)
	}
	properties := crs.Doc().Lookup("properties")
	if properties.Kind() != value.KindDocument {
		return bad(`CRS must have field "properties" which is an object, instead got type %s`, properties.Kind())
	}
	name := properties.Doc().Lookup("name")
	if name.Kind() != value.KindString {
		return bad(`In CRS, "properties.name" must be a string, instead got type %s`, name.Kind())
	}
	switch name.Str() {
	case "EPSG:4326", "urn:ogc:def:crs:OGC:1.3:CRS84":
	case strictWinding:
		g.Big = true
		if g.Type != "Polygon" {
			return bad("only polygon supported with strict winding order")
		}
	default:
		return bad("Unknown CRS name: %s", name.Str())
	}
	return nil
}

// readCollection reads the geometries of a GeometryCollection.
func (g *Geometry) readCollection(v value.Value) error {
	if v.Kind() != value.KindArray {
		return bad("GeometryCollection geometries must be an array, instead got type %s", v.Kind())
	}
	if v.Doc().IsEmpty() {
		return bad("GeometryCollection geometries must have at least 1 element")
	}
	for name, item := range v.Doc().All() {
		if item.Kind() != value.KindDocument {
			return bad("Element %s of \"geometries\" must be an object, instead got type %s:%s: %v", name, item.Kind(), name, item)
		}
		part, err := ParseGeoJSON(item.Doc())
		if err != nil {
			return err
		}
		if part.Big || part.Type == "GeometryCollection" {
			return bad("GeometryCollection geometries don't support big polygons or collections: %v", item)
		}
		g.points = append(g.points, part.points...)
		g.lines = append(g.lines, part.lines...)
		g.polygons = append(g.polygons, part.polygons...)
	}
	return nil
}

// readEach returns the reader of a Multi… type: it reads each element with
// read.
func readEach(name string, read func(*Geometry, value.Value) error) func(*Geometry, value.Value) error {
	return func(g *Geometry, v value.Value) error {
		if v.Kind() != value.KindArray {
			return bad("%s coordinates must be an array, instead got type %s", name, v.Kind())
		}
		if v.Doc().IsEmpty() {
			return bad("%s coordinates must have at least 1 element", name)
		}
		for item := range v.Doc().Values() {
			if err := read(g, item); err != nil {
				return err
			}
		}
		return nil
	}
}

// pair reads two numbers, and ignores further values.
func pair(v value.Value) (p XY, err error) {
	if v.Kind() != value.KindArray && v.Kind() != value.KindDocument {
		return p, bad("Point must be an array or object, instead got type %s", v.Kind())
	}
	it := v.Doc().Iter()
	for _, into := range []*float64{&p.X, &p.Y} {
		kind := value.Missing
		if it.Next() {
			kind = it.Kind()
		}
		if !kind.IsNumber() {
			return p, bad("Point must only contain numeric elements, instead got type %s", kind)
		}
		*into = it.Value().AsDouble()
		if math.IsNaN(*into) || math.IsInf(*into, 0) {
			return p, bad("Point coordinates must be finite numbers")
		}
	}
	return p, nil
}

// onlyPair reads two numbers and refuses further values, which is the rule in
// queries.
func onlyPair(v value.Value) (XY, error) {
	p, err := pair(v)
	if err == nil && v.Doc().Len() > 2 {
		err = bad("Point must only contain two numeric elements")
	}
	return p, err
}

// lngLat reads a position on the sphere.
func lngLat(v value.Value) (XY, error) {
	p, err := pair(v)
	if err == nil && !p.onSphere() {
		err = bad("Longitude/latitude is out of bounds, lng: %s lat: %s", number(p.X), number(p.Y))
	}
	return p, err
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

func readPoint(g *Geometry, v value.Value) error {
	p, err := lngLat(v)
	if err != nil {
		return err
	}
	g.coords = append(g.coords, p)
	g.points = append(g.points, p.point())
	return nil
}

// positions reads an array of positions; equal neighbours become one.
func positions(v value.Value) (points []s2.Point, closed bool, err error) {
	if v.Kind() != value.KindArray {
		return nil, false, bad("GeoJSON coordinates must be an array of coordinates, instead got type %s", v.Kind())
	}
	var first, last XY
	n := 0
	for item := range v.Doc().Values() {
		if item.Kind() != value.KindArray {
			return nil, false, bad("GeoJSON coordinates must be an array, instead got type %s", item.Kind())
		}
		p, err := lngLat(item)
		if err != nil {
			return nil, false, err
		}
		if n == 0 {
			first = p
		}
		if n == 0 || p != last {
			points = append(points, p.point())
		}
		last = p
		n++
	}
	return points, n > 0 && first == last, nil
}

// readLine reads a LineString with at least two different positions.
func readLine(g *Geometry, v value.Value) error {
	points, _, err := positions(v)
	if err != nil {
		return err
	}
	if len(points) < 2 {
		return bad("GeoJSON LineString must have at least 2 vertices: %v", v)
	}
	line := s2.Polyline(points)
	if err := line.Validate(); err != nil {
		return bad("GeoJSON LineString is not valid: %v", v)
	}
	g.lines = append(g.lines, &line)
	return nil
}

// readPolygon reads and validates the loops of a polygon.
func readPolygon(g *Geometry, v value.Value) error {
	if err := g.checkRings(v); err != nil {
		return err
	}
	var loops []*s2.Loop
	for ring := range v.Doc().Values() {
		loop, err := readLoop(ring, g.Big)
		if err != nil {
			return err
		}
		loops = append(loops, loop)
	}
	if len(loops) == 0 {
		return bad("Polygon has no loops.")
	}
	if g.Big {
		g.polygons = append(g.polygons, s2.PolygonFromOrientedLoops(loops))
		return nil
	}
	if err := checkHoles(loops, v); err != nil {
		return err
	}
	nestFast(loops)
	g.polygons = append(g.polygons, s2.PolygonFromLoops(loops))
	return nil
}

// nestFast sorts loops by size, so that the library compares one that is within many others with
// few of them: it looks for the parent of each loop from the outside.
func nestFast(loops []*s2.Loop) {
	if len(loops) < 3 {
		return
	}
	areas := make(map[*s2.Loop]float64, len(loops))
	for _, l := range loops {
		areas[l] = l.Area()
	}
	slices.SortStableFunc(loops, func(a, b *s2.Loop) int { return cmp.Compare(areas[a], areas[b]) })
}

// maxHoles limits the holes of a polygon: the library compares each with each.
const maxHoles = 5000

// checkRings checks the number of loops of a polygon.
func (g *Geometry) checkRings(v value.Value) error {
	switch {
	case v.Kind() == value.KindArray && g.Big && v.Doc().Len() > 1:
		return bad("Only one simple loop is allowed in a big polygon, instead provided %d", v.Doc().Len())
	case v.Kind() == value.KindArray && v.Doc().Len() > 1+maxHoles:
		return bad("A polygon may have at most %d holes, instead provided %d", maxHoles, v.Doc().Len()-1)
	case v.Kind() == value.KindArray:
		return nil
	case g.Big:
		return bad("Coordinates of polygon must be an array, instead got type %s", v.Kind())
	}
	return bad("Polygon coordinates must be an array, instead got type %s", v.Kind())
}

// readLoop reads one closed loop; unless big is set, it is oriented to enclose
// at most a hemisphere.
func readLoop(v value.Value, big bool) (*s2.Loop, error) {
	points, closed, err := positions(v)
	if err != nil {
		return nil, err
	}
	if !closed {
		return nil, bad("Loop is not closed, first vertex does not equal last vertex: %v", v)
	}
	if len(points) > 1 {
		points = points[:len(points)-1]
	}
	if len(points) < 3 {
		return nil, bad("Loop must have at least 3 different vertices, %d unique vertices were provided: %v", len(points), v)
	}
	if reason := loopProblem(points); reason != "" {
		return nil, bad("Loop is not valid: %v %s", v, reason)
	}
	loop := s2.LoopFromPoints(points)
	if !big {
		loop.Normalize()
	}
	return loop, nil
}

// loopProblem finds repeated vertices and edges that cross.
func loopProblem(points []s2.Point) string {
	n := len(points)
	seen := make(map[s2.Point]int, n)
	for i, p := range points {
		if j, ok := seen[p]; ok {
			return "Duplicate vertices: " + strconv.Itoa(j) + " and " + strconv.Itoa(i)
		}
		seen[p] = i
	}
	edges := make(edgeSet, n)
	for i := range n {
		edges[i] = s2.Edge{V0: points[i], V1: points[(i+1)%n]}
	}
	i, j, found := edges.crossing()
	if !found {
		return ""
	}
	return fmt.Sprintf("Edges %d and %d cross. Edge locations in degrees: %s-%s and %s-%s", i, j,
		degrees(edges[i].V0), degrees(edges[i].V1), degrees(edges[j].V0), degrees(edges[j].V1))
}

// degrees prints latitude and longitude.
func degrees(p s2.Point) string {
	ll := s2.LatLngFromPoint(p)
	return fmt.Sprintf("[%.7f, %.7f]", ll.Lat.Degrees(), ll.Lng.Degrees())
}

// checkHoles checks that every loop after the first is inside of the first.
func checkHoles(loops []*s2.Loop, v value.Value) error {
	for i, hole := range loops[1:] {
		if !loops[0].Contains(hole) {
			return bad("Secondary loops not contained by first exterior loop - secondary loops must be holes: %v first loop: %v", v.Doc().Index(i+1), v.Doc().Index(0))
		}
	}
	return checkEdges(loops, v)
}

// checkEdges refuses loops that have an edge in common or cross.
func checkEdges(loops []*s2.Loop, v value.Value) error {
	seen := map[s2.Edge][2]int{}
	for i, loop := range loops {
		for j := range loop.NumVertices() {
			edge := loop.Edge(j)
			at, twice := seen[edge]
			if !twice {
				at, twice = seen[edge.Reversed()]
			}
			if twice {
				return bad("Polygon isn't valid: Duplicate edge: loop %d, edge %d and loop %d, edge %d %v", i, j, at[0], at[1], v)
			}
			seen[edge] = [2]int{i, j}
		}
	}
	if i, j, cross := crossingLoops(loops); cross {
		return bad("Polygon isn't valid: Loop %d crosses loop %d %v", i, j, v)
	}
	return nil
}
