package geo

import (
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// stored parses what a document field holds, written in JSON.
func stored(t testing.TB, s string) *Geometry {
	t.Helper()
	g, err := ParseStored(value.MustJSON(`{"v": ` + s + `}`).Lookup("v"))
	if err != nil {
		t.Fatalf("ParseStored(%s): %v", s, err)
	}
	return g
}

var shapeText = regexp.MustCompile(`^(\$\w+) (.*)$`)

// shape parses "$box [[0,0],[1,1]]".
func shape(t testing.TB, s string) *Geometry {
	t.Helper()
	m := shapeText.FindStringSubmatch(s)
	g, err := ParseShape(m[1], value.MustJSON(`{"v": `+m[2]+`}`).Lookup("v"))
	if err != nil {
		t.Fatalf("ParseShape(%s): %v", s, err)
	}
	return g
}

const square = `$geometry {"type": "Polygon", "coordinates": [[[0,0],[10,0],[10,10],[0,10],[0,0]]]}`

const holed = `$geometry {"type": "Polygon", "coordinates": [[[0,0],[10,0],[10,10],[0,10],[0,0]], [[4,4],[6,4],[6,6],[4,6],[4,4]]]}`

func point(xy string) string { return `{"type": "Point", "coordinates": ` + xy + `}` }

func line(xys string) string { return `{"type": "LineString", "coordinates": ` + xys + `}` }

func TestContains(t *testing.T) {
	cases := []struct{ shape, in, out string }{
		{`$box [[0,0],[10,10]]`, `[5,5] [0,0] [10,10] ` + point(`[1,1]`), `[11,5] [-1,0] ` + line(`[[1,1],[2,2]]`)},
		{`$box [[10,10],[0,0]]`, `[5,5]`, `[11,5]`},
		{`$center [[0,0],5]`, `[3,4] [0,5]`, `[4,4]`},
		{`$polygon [[0,0],[10,0],[5,10]]`, `[5,5] [5,0] [0,0]`, `[0,5] [5,11]`},
		{`$centerSphere [[0,0],0.1]`, `[5,0] ` + point(`[0,5.7]`), point(`[0,5.8]`) + ` [200,0]`},
		{square, `[5,5] ` + point(`[0,0]`) + ` ` + point(`[10,5]`) + ` ` + line(`[[1,1],[9,9]]`), point(`[11,5]`) + ` ` + line(`[[5,5],[15,5]]`) + ` [500,5]`},
		{holed, point(`[2,2]`), point(`[5,5]`) + ` ` + line(`[[2,5],[8,5]]`)},
		{square, `{"type":"MultiPoint","coordinates":[[1,1],[2,2]]}`, `{"type":"MultiPoint","coordinates":[[1,1],[20,2]]}`},
		{square, `{"type":"Polygon","coordinates":[[[1,1],[2,1],[2,2],[1,1]]]}`, `{"type":"Polygon","coordinates":[[[1,1],[20,1],[2,2],[1,1]]]}`},
		{`$geometry {"type":"MultiPolygon","coordinates":[[[[0,0],[1,0],[1,1],[0,0]]],[[[5,5],[6,5],[6,6],[5,5]]]]}`, point(`[5.9,5.5]`), point(`[3,3]`)},
		{`$geometry {"type":"Polygon","coordinates":[[[-100,60],[-100,0],[-100,-60],[100,-60],[100,60],[-100,60]]],"crs":{"type":"name","properties":{"name":"urn:x-mongodb:crs:strictwinding:EPSG:4326"}}}`, point(`[0,0]`), point(`[170,0]`)},
	}
	for _, c := range cases {
		g := shape(t, c.shape)
		for _, s := range splitJSON(c.in) {
			if !g.Contains(stored(t, s)) {
				t.Errorf("%s does not contain %s", c.shape, s)
			}
		}
		for _, s := range splitJSON(c.out) {
			if g.Contains(stored(t, s)) {
				t.Errorf("%s contains %s", c.shape, s)
			}
		}
	}
}

// splitJSON splits values separated by blanks outside of brackets.
func splitJSON(s string) (out []string) {
	depth, start := 0, 0
	for i, r := range s + " " {
		switch {
		case strings.ContainsRune("{[", r):
			depth++
		case strings.ContainsRune("}]", r):
			depth--
		case r == ' ' && depth == 0:
			if i > start {
				out = append(out, s[start:i])
			}
			start = i + 1
		}
	}
	return out
}

func TestIntersects(t *testing.T) {
	cases := []struct{ shape, yes, no string }{
		{square, point(`[5,5]`) + ` ` + point(`[0,0]`) + ` ` + line(`[[-5,5],[5,5]]`) + ` ` + line(`[[-5,5],[15,6]]`), point(`[20,5]`) + ` ` + line(`[[-5,5],[-1,5]]`)},
		{square, `{"type":"Polygon","coordinates":[[[5,5],[15,5],[15,15],[5,5]]]}`, `{"type":"Polygon","coordinates":[[[20,5],[25,5],[25,15],[20,5]]]}`},
		{holed, line(`[[2,5],[8,5]]`), point(`[5,5]`)},
		{`$geometry ` + line(`[[0,0],[10,0]]`), point(`[5,0]`) + ` ` + line(`[[5,-5],[5,5]]`), point(`[5,1]`)},
		{`$geometry ` + point(`[1,1]`), point(`[1,1]`) + ` [1,1] ` + line(`[[1,1],[2,2]]`), point(`[1,2]`)},
		{`$geometry {"type":"GeometryCollection","geometries":[` + point(`[1,1]`) + `,` + line(`[[5,5],[6,6]]`) + `]}`, point(`[1,1]`) + ` ` + point(`[5,5]`), point(`[2,2]`)},
	}
	for _, c := range cases {
		g := shape(t, c.shape)
		for _, s := range splitJSON(c.yes) {
			if !g.Intersects(stored(t, s)) || !stored(t, s).Intersects(g) {
				t.Errorf("%s does not intersect %s", c.shape, s)
			}
		}
		for _, s := range splitJSON(c.no) {
			if g.Intersects(stored(t, s)) {
				t.Errorf("%s intersects %s", c.shape, s)
			}
		}
	}
}

func TestDistance(t *testing.T) {
	// Central Park to LaGuardia Airport, as the manual's examples place them.
	rad, ok := stored(t, point(`[-73.97, 40.77]`)).Angle(XY{-73.88, 40.78})
	if meters := rad * EarthRadius; !ok || math.Abs(meters-7662) > 20 {
		t.Errorf("distance is %.0f m", meters)
	}
	if rad, ok := stored(t, `[0,0]`).Angle(XY{90, 0}); !ok || math.Abs(rad-math.Pi/2) > 1e-12 {
		t.Errorf("a quarter of the globe is %v", rad)
	}
	for _, pole := range []XY{{180, 90}, {-180, -90}, {0, 90}} { // as the C library's atan2 gives it
		if rad, _ := stored(t, `[0,0]`).Angle(pole); pole.X != 0 && rad != 1.5707963267948968 || pole.X == 0 && rad != 1.5707963267948966 {
			t.Errorf("%v is at %v", pole, rad)
		}
	}
	if rad, _ := stored(t, `[0,0]`).Angle(XY{180, 0}); rad != math.Pi {
		t.Errorf("the opposite point is at %v", rad)
	}
	if d, ok := stored(t, `{"x": 3, "y": 4}`).FlatDistance(XY{0, 0}); !ok || d != 5 {
		t.Errorf("flat distance is %v", d)
	}
	if _, ok := stored(t, `[500,0]`).Angle(XY{0, 0}); ok {
		t.Error("a point off the sphere has an angle")
	}
}

// A hole may touch the outer ring in a vertex.
func TestTouchingHole(t *testing.T) {
	g := shape(t, `$geometry {"type": "Polygon", "coordinates": [[[0,0],[5,0],[5,5],[0,5],[0,0]], [[0,0],[2,1],[1,2],[0,0]]]}`)
	if !g.Contains(stored(t, point(`[4,4]`))) || g.Contains(stored(t, point(`[1,1]`))) {
		t.Error("the hole is not one")
	}
}

func TestParseErrors(t *testing.T) {
	cases := []struct{ shape, message string }{
		{`$foo [1]`, `unknown geo specifier: $foo: [ 1 ]`},
		{`$geometry {"type": "Foo"}`, `unknown GeoJSON type: { type: "Foo" }`},
		{`$geometry {"type": "Point", "coordinates": [200, 0]}`, `Longitude/latitude is out of bounds, lng: 200 lat: 0`},
		{`$geometry {"type": "Point"}`, `Point must be an array or object, instead got type missing`},
		{`$geometry {"type": "Point", "coordinates": ["a", 1]}`, `Point must only contain numeric elements, instead got type string`},
		{`$geometry {"type": "Point", "coordinates": [1]}`, `Point must only contain numeric elements, instead got type missing`},
		{`$geometry {"type": "Polygon", "coordinates": [[[0,0],[1,0],[1,1]]]}`, `Loop is not closed, first vertex does not equal last vertex: [ [ 0, 0 ], [ 1, 0 ], [ 1, 1 ] ]`},
		{`$geometry {"type": "Polygon", "coordinates": [[[0,0],[1,0],[0,0]]]}`, `Loop must have at least 3 different vertices, 2 unique vertices were provided: [ [ 0, 0 ], [ 1, 0 ], [ 0, 0 ] ]`},
		{`$geometry {"type": "Polygon", "coordinates": [[[0,0],[10,10],[10,0],[0,10],[0,0]]]}`, `Loop is not valid: [ [ 0, 0 ], [ 10, 10 ], [ 10, 0 ], [ 0, 10 ], [ 0, 0 ] ] Edges 0 and 2 cross. Edge locations in degrees: [0.0000000, 0.0000000]-[10.0000000, 10.0000000] and [0.0000000, 10.0000000]-[10.0000000, 0.0000000]`},
		{`$geometry {"type": "Polygon", "coordinates": [[[0,0],[5,0],[5,5],[0,5],[0,0]], [[0,0],[0,2],[2,2],[2,0],[0,0]]]}`, `Secondary loops not contained by first exterior loop - secondary loops must be holes: [ [ 0, 0 ], [ 0, 2 ], [ 2, 2 ], [ 2, 0 ], [ 0, 0 ] ] first loop: [ [ 0, 0 ], [ 5, 0 ], [ 5, 5 ], [ 0, 5 ], [ 0, 0 ] ]`},
		{`$geometry {"type": "Polygon", "coordinates": [[[0,0],[9,0],[9,9],[0,9],[0,0]], [[1,1],[1,2],[2,2],[2,1],[1,1]], [[3,3],[3,6],[6,6],[6,3],[3,3]], [[4,4],[4,7],[7,7],[7,4],[4,4]]]}`, `Polygon isn't valid: Loop 2 crosses loop 3 [ [ [ 0, 0 ], [ 9, 0 ], [ 9, 9 ], [ 0, 9 ], [ 0, 0 ] ], [ [ 1, 1 ], [ 1, 2 ], [ 2, 2 ], [ 2, 1 ], [ 1, 1 ] ], [ [ 3, 3 ], [ 3, 6 ], [ 6, 6 ], [ 6, 3 ], [ 3, 3 ] ], [ [ 4, 4 ], [ 4, 7 ], [ 7, 7 ], [ 7, 4 ], [ 4, 4 ] ] ]`},
		{`$geometry {"type": "Polygon", "coordinates": [[[0,0],[9,0],[9,9],[0,9],[0,0]], [[1,1],[5,1],[3,5],[1,1]], [[3,5],[2,1],[4,1],[3,5]]]}`, `Polygon isn't valid: Loop 1 crosses loop 2 [ [ [ 0, 0 ], [ 9, 0 ], [ 9, 9 ], [ 0, 9 ], [ 0, 0 ] ], [ [ 1, 1 ], [ 5, 1 ], [ 3, 5 ], [ 1, 1 ] ], [ [ 3, 5 ], [ 2, 1 ], [ 4, 1 ], [ 3, 5 ] ] ]`},
		{`$geometry {"type": "Polygon", "coordinates": [[[0,0],[5,0],[5,5],[0,0]], [[0,0],[5,0],[3,2],[0,0]]]}`, `Polygon isn't valid: Duplicate edge: loop 1, edge 0 and loop 0, edge 0 [ [ [ 0, 0 ], [ 5, 0 ], [ 5, 5 ], [ 0, 0 ] ], [ [ 0, 0 ], [ 5, 0 ], [ 3, 2 ], [ 0, 0 ] ] ]`},
		{`$geometry {"type": "Polygon", "coordinates": []}`, `Polygon has no loops.`},
		{`$geometry {"type": "LineString", "coordinates": [[0,0]]}`, `GeoJSON LineString must have at least 2 vertices: [ [ 0, 0 ] ]`},
		{`$geometry {"type": "Point", "coordinates": [0,0], "crs": {"type": "name", "properties": {"name": "x"}}}`, `Unknown CRS name: x`},
		{`$center [[0,0],-1]`, `radius must be a non-negative number`},
		{`$center [[0,0]]`, `radius must be a non-negative number`},
		{`$box [[0,0]]`, `Point must be an array or object, instead got type missing`},
		{`$polygon [[0,0],[1,1]]`, `Polygon must have at least 3 points`},
	}
	for _, c := range cases {
		m := shapeText.FindStringSubmatch(c.shape)
		_, err := ParseShape(m[1], value.MustJSON(`{"v": `+m[2]+`}`).Lookup("v"))
		if e := mongoerr.From(err); e == nil || e.Code != mongoerr.BadValue || e.Message != c.message {
			t.Errorf("%s\n got %v\nwant %s", c.shape, err, c.message)
		}
	}
}

func inRanges(cell uint64, ranges []Range) bool {
	for _, r := range ranges {
		if cell >= r.Lo && cell <= r.Hi {
			return true
		}
	}
	return false
}

// TestCellsFindAll checks that every geometry that intersects a query is in one of the
// cells that the query reads.
func TestCellsFindAll(t *testing.T) {
	g := shape(t, square)
	ranges, ok := g.QueryRanges(QueryCover)
	if !ok || len(ranges) == 0 {
		t.Fatal("no ranges")
	}
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(-20, 20).Draw(t, "x")
		y := rapid.Float64Range(-20, 20).Draw(t, "y")
		p := &Geometry{Type: "Point", Flat: true, coords: []XY{{x, y}}}
		cells, ok := p.IndexCells(IndexCover)
		if !ok || len(cells) != 1 {
			t.Fatalf("cells %v", cells)
		}
		if g.Intersects(p) && !inRanges(cells[0], ranges) {
			t.Fatal("the index would not find the point")
		}
	})
}

func TestCellsOfShapes(t *testing.T) {
	g := shape(t, square)
	ranges, _ := g.QueryRanges(QueryCover)
	for _, s := range []string{line(`[[5,5],[50,50]]`), `{"type":"Polygon","coordinates":[[[-50,-50],[50,-50],[50,50],[-50,50],[-50,-50]]]}`} {
		cells, ok := stored(t, s).IndexCells(IndexCover)
		found := false
		for _, c := range cells {
			found = found || inRanges(c, ranges)
		}
		if !ok || !found {
			t.Errorf("%s is not found by its cells", s)
		}
	}
	if _, ok := stored(t, `[500, 0]`).IndexCells(IndexCover); ok {
		t.Error("a point off the sphere has cells")
	}
}

func TestRingRanges(t *testing.T) {
	center := XY{10, 10}
	ranges := RingRanges(center, 0.01, 0.05, QueryCover)
	for range 500 {
		p := XY{rand.Float64()*10 + 5, rand.Float64()*10 + 5}
		g := flatPoint(p)
		rad, _ := g.Angle(center)
		cells, _ := g.IndexCells(IndexCover)
		if rad > 0.01 && rad < 0.05 && !inRanges(cells[0], ranges) {
			t.Errorf("%v at %v is not in the ring", p, rad)
		}
	}
}

func TestGrid(t *testing.T) {
	g := Grid{Min: 0, Max: 4, Bits: 2}
	for p, want := range map[XY]uint64{{0, 0}: 0, {0, 1}: 1, {1, 0}: 2, {1, 1}: 3, {2, 0}: 8, {3.9, 3.9}: 15} {
		if got, err := g.Hash(p); err != nil || got != want {
			t.Errorf("Hash(%v) = %d, %v; want %d", p, got, err, want)
		}
	}
	if got, err := g.Hash(XY{4, 4}); err != nil || got != 15 {
		t.Errorf("the upper bounds: %d, %v", got, err)
	}
	if _, err := g.Hash(XY{4.1, 0}); err == nil {
		t.Error("a point out of the grid has a cell")
	}
}

func TestGridRangesFindAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := Grid{Min: -180, Max: 180, Bits: uint(rapid.IntRange(1, 32).Draw(t, "bits"))}
		f := rapid.Float64Range(-180, 179)
		a, b := XY{f.Draw(t, "ax"), f.Draw(t, "ay")}, XY{f.Draw(t, "bx"), f.Draw(t, "by")}
		lo, hi := XY{min(a.X, b.X), min(a.Y, b.Y)}, XY{max(a.X, b.X), max(a.Y, b.Y)}
		ranges := g.Ranges(lo, hi)
		if len(ranges) > maxRanges {
			t.Fatalf("%d ranges", len(ranges))
		}
		p := XY{lo.X + (hi.X-lo.X)*rapid.Float64Range(0, 1).Draw(t, "px"), lo.Y + (hi.Y-lo.Y)*rapid.Float64Range(0, 1).Draw(t, "py")}
		hash, err := g.Hash(p)
		if err != nil {
			t.Fatal(err)
		}
		if !inRanges(hash, ranges) {
			t.Fatalf("%v with hash %d is not in %v", p, hash, ranges)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(value.MustJSON(`{"type": "Polygon", "coordinates": [[[0,0],[1,0],[1,1],[0,0]]]}`)))
	f.Add([]byte(value.MustJSON(`{"type": "GeometryCollection", "geometries": [{"type": "Point", "coordinates": [1,2]}]}`)))
	f.Fuzz(func(t *testing.T, b []byte) {
		if value.Validate(b) != nil {
			return
		}
		g, err := ParseStored(value.Document(value.Doc(b)))
		if err != nil {
			return
		}
		g.IndexCells(IndexCover)
		g.Intersects(g)
		if g.HasArea() {
			g.Contains(g)
		}
	})
}
