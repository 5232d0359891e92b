package geo

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/golang/geo/s2"

	"github.com/duskdb/duskdb/value"
)

// ring is a loop of edges through points in degrees.
func ring(points ...[2]float64) edgeSet {
	edges := make(edgeSet, len(points))
	for i := range points {
		p, q := points[i], points[(i+1)%len(points)]
		edges[i] = s2.Edge{V0: s2.PointFromLatLng(s2.LatLngFromDegrees(p[1], p[0])), V1: s2.PointFromLatLng(s2.LatLngFromDegrees(q[1], q[0]))}
	}
	return edges
}

// The sweep finds a crossing if and only if a comparison of all pairs does.
func TestSweep(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	some := 0
	for range 20000 {
		n := 3 + r.IntN(8)
		points := make([][2]float64, n)
		size := []float64{1, 40, 180}[r.IntN(3)]
		whole := r.IntN(2) == 0 // on a grid, where edges touch and lie on each other
		at := [2]float64{[]float64{0, 179, -20}[r.IntN(3)], []float64{0, 80, 40}[r.IntN(3)]}
		for i := range points {
			x, y := (r.Float64()-0.5)*size, (r.Float64()-0.5)*min(size, 20)
			if whole {
				x, y = math.Round(x*4), math.Round(y*4)
			}
			points[i] = [2]float64{math.Remainder(at[0]+x, 360), max(-89, min(89, at[1]+y))}
		}
		edges := ring(points...)
		if r.IntN(2) == 0 { // a sorted star crosses seldom
			edges = star(r, n, at)
		}
		if twice(edges) { // is an error of its own
			continue
		}
		_, _, want := edges.first(1 << 20)
		a, b, got := edges.sweep()
		if got != want {
			t.Fatalf("%v: %v, want %v", edges, got, want)
		}
		if got {
			some++
			if s2.CrossingSign(edges[a].V0, edges[a].V1, edges[b].V0, edges[b].V1) != s2.Cross {
				t.Fatalf("%v: %d and %d do not cross", edges, a, b)
			}
		}
	}
	if some < 2000 || some > 18000 {
		t.Errorf("%d cross", some)
	}
}

// twice reports whether a loop has a vertex twice.
func twice(edges edgeSet) bool {
	seen := map[s2.Point]bool{}
	for _, e := range edges {
		if seen[e.V0] {
			return true
		}
		seen[e.V0] = true
	}
	return false
}

// star is a loop around a point.
func star(r *rand.Rand, n int, at [2]float64) edgeSet {
	points := make([][2]float64, n)
	for i := range points {
		far := 1 + 8*r.Float64()
		a := 2 * math.Pi * float64(i) / float64(n)
		points[i] = [2]float64{math.Remainder(at[0]+far*math.Cos(a), 360), at[1] + far*math.Sin(a)}
	}
	return ring(points...)
}

// A loop of many edges is checked in time, whatever it looks like: each with each would be
// five thousand million pairs.
func TestManyEdges(t *testing.T) {
	const n = 100_000
	for name, c := range map[string]struct {
		at  func(i int, share float64) [2]float64 // share is i/n
		end [][2]float64
	}{
		"zigzag":     {func(i int, share float64) [2]float64 { return [2]float64{share * 50, float64(i%2) * 0.1} }, [][2]float64{{51, -5}, {-1, -5}}},
		"long teeth": {func(i int, share float64) [2]float64 { return [2]float64{float64(i%2) * 30, share * 40} }, [][2]float64{{-5, 41}, {-5, -1}}},
		"slant teeth": {func(i int, share float64) [2]float64 {
			return [2]float64{float64(i%2)*30 + share*40, float64(i%2)*30 - share*40}
		}, [][2]float64{{30, -50}, {-5, -50}}},
		"equator": {func(i int, share float64) [2]float64 { return [2]float64{float64(i%2)*60 + share*9, 0} }, nil},
	} {
		points := make([][2]float64, n)
		for i := range points {
			points[i] = c.at(i, float64(i)/n)
		}
		edges := ring(append(points, c.end...)...)
		begin := time.Now()
		a, b, found := edges.crossing()
		t.Log(name, time.Since(begin), found)
		if found != (name == "equator") && found {
			t.Errorf("%s: %d and %d cross", name, a, b)
		}
		begin = time.Now()
		_, _, found = append(edges, ring([2]float64{20, -60}, [2]float64{20, 60}, [2]float64{-80, 10})...).crossing()
		t.Log(name, time.Since(begin))
		if !found {
			t.Errorf("%s: no edges cross", name)
		}
	}
}

// Loops that meet at a vertex cross only if each has an edge between those of the other.
func TestCrossingRays(t *testing.T) {
	for name, c := range map[string]struct {
		loops string
		want  bool
	}{
		"beside":  {`[[3,5],[1,1],[2,1],[3,5]], [[3,5],[4,1],[5,1],[3,5]]`, false},
		"within":  {`[[3,5],[1,1],[5,1],[3,5]], [[3,5],[2,2],[4,2],[3,5]]`, false},
		"through": {`[[3,5],[1,1],[4,1],[3,5]], [[3,5],[2,0.5],[5,1],[3,5]]`, true},
		"at it":   {`[[3,5],[1,1],[3,1],[3,5]], [[3,5],[2,6],[2,2],[3,5]]`, true},
	} {
		_, err := ParseGeoJSON(value.MustJSON(`{"type": "Polygon", "coordinates": [[[0,0],[9,0],[9,9],[0,9],[0,0]], ` + c.loops + `]}`))
		if (err != nil) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A polygon of many holes is read in time.
func TestManyHoles(t *testing.T) {
	for name, at := range map[string]func(i int) (x, y, size float64){
		"apart":         func(i int) (x, y, size float64) { return float64(i%200) / 4, float64(i/200) / 4, 0.2 },
		"in each other": func(i int) (x, y, size float64) { return 1 + float64(i)/1000, 1 + float64(i)/1000, 60 - float64(i)/300 },
	} {
		outer := value.NewArray(position(-1, -1), position(80, -1), position(80, 80), position(-1, 80), position(-1, -1))
		all := []value.Value{outer}
		for i := range maxHoles {
			x, y, size := at(i)
			all = append(all, value.NewArray(position(x, y), position(x, y+size), position(x+size, y), position(x, y)))
		}
		begin := time.Now()
		_, err := ParseGeoJSON(value.NewDoc("type", value.String("Polygon"), "coordinates", value.NewArray(all...)))
		t.Log(name, time.Since(begin))
		if err != nil {
			t.Errorf("%s: %.200s", name, err)
		}
	}
}

func position(x, y float64) value.Value { return value.NewArray(value.Double(x), value.Double(y)) }
