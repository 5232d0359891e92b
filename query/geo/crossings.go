package geo

import (
	"cmp"
	"math"
	"slices"

	"github.com/golang/geo/s2"
	"github.com/tidwall/btree"
)

// An edgeSet finds two edges that cross. To compare each with each would take minutes for the
// largest documents, so many edges are swept: a meridian turns around the earth once and
// visits the ends of the edges. Of the edges that it crosses at a time, only neighbours are
// compared, because the first two that cross are neighbours before they do.
type edgeSet []s2.Edge

const (
	// fewEdges is up to how many edges are compared each with each.
	fewEdges = 100
	// maxPairs limits the search for the first of the edges that cross.
	maxPairs = 4 << 20
)

// crossing returns two edges that cross: the first that crosses another and the first that
// it crosses, unless there are too many before them.
func (s edgeSet) crossing() (a, b int, found bool) {
	if len(s) <= fewEdges {
		return s.first(len(s) * len(s))
	}
	if a, b, found = s.sweep(); !found {
		return 0, 0, false
	}
	if a1, b1, ok := s.first(maxPairs); ok {
		return a1, b1, true
	}
	return min(a, b), max(a, b), true
}

// first compares each edge with all after it, up to a number of pairs.
func (s edgeSet) first(pairs int) (a, b int, found bool) {
	for i, e := range s {
		if pairs -= len(s) - i; pairs < 0 {
			return 0, 0, false
		}
		crosser := s2.NewEdgeCrosser(e.V0, e.V1)
		for j := i + 1; j < len(s); j++ {
			if crosser.CrossingSign(s[j].V0, s[j].V1) == s2.Cross {
				return i, j, true
			}
		}
	}
	return 0, 0, false
}

// span is an edge as the meridian meets it, from west to east.
type span struct {
	edge       int
	west, east s2.Point
	from, to   float64 // longitudes
}

// axis is what the meridian turns around. Edges of maps do not lead through its poles.
var axis = s2.PointFromCoords(0.4381, -0.6203, 0.6507)

// spans returns the edges as the meridian meets them from -π to π. An edge across the line
// where it begins comes twice.
func (s edgeSet) spans() []span {
	x := s2.Ortho(axis)
	y := axis.Cross(x.Vector)
	longitude := func(p s2.Point) float64 { return math.Atan2(p.Dot(y), p.Dot(x.Vector)) }
	spans := make([]span, 0, len(s))
	for i, e := range s {
		p := span{edge: i, west: e.V0, east: e.V1, from: longitude(e.V0), to: longitude(e.V1)}
		turn := math.Remainder(p.to-p.from, 2*math.Pi)
		if turn < 0 || turn == 0 && p.west.Cmp(p.east.Vector) > 0 {
			p.west, p.east, p.from, p.to = p.east, p.west, p.to, p.from
		}
		if p.from <= p.to {
			spans = append(spans, p)
			continue
		}
		before, after := p, p
		before.from -= 2 * math.Pi
		after.to += 2 * math.Pi
		spans = append(spans, before, after)
	}
	return spans
}

// visit is when the meridian reaches an end of a span.
type visit struct {
	at     float64
	vertex s2.Point
	begin  bool
	span   *span
}

// order is that of visits: at a vertex, spans end before others begin.
func (v visit) order(w visit) int {
	switch {
	case v.at != w.at:
		return cmp.Compare(v.at, w.at)
	case v.vertex != w.vertex:
		return v.vertex.Cmp(w.vertex.Vector)
	case v.begin != w.begin && w.begin:
		return -1
	case v.begin != w.begin:
		return 1
	}
	return 0
}

// sweep finds two edges that cross.
func (s edgeSet) sweep() (a, b int, found bool) {
	spans := s.spans()
	visits := make([]visit, 0, 2*len(spans))
	for i := range spans {
		p := &spans[i]
		visits = append(visits, visit{p.from, p.west, true, p}, visit{p.to, p.east, false, p})
	}
	slices.SortFunc(visits, visit.order)
	met := btree.NewBTreeGOptions(southOf, btree.Options{NoLocks: true})
	for _, v := range visits {
		if !v.begin {
			met.Delete(v.span)
		}
		var south, north *span
		met.Descend(v.span, func(p *span) bool { south = p; return false })
		met.Ascend(v.span, func(p *span) bool { north = p; return false })
		if v.begin {
			met.Set(v.span)
			if s.cross(south, v.span) {
				return south.edge, v.span.edge, true
			}
			if s.cross(v.span, north) {
				return v.span.edge, north.edge, true
			}
		} else if s.cross(south, north) {
			return south.edge, north.edge, true
		}
	}
	return 0, 0, false
}

// cross reports whether two spans cross; either may be missing.
func (s edgeSet) cross(p, q *span) bool {
	return p != nil && q != nil && s2.CrossingSign(p.west, p.east, q.west, q.east) == s2.Cross
}

// southOf orders spans that the meridian crosses: by where the one that begins later does.
func southOf(p, q *span) bool {
	if p.west == q.west {
		if p.east == q.east {
			return p.edge < q.edge
		}
		return p.leaves(q.east)
	}
	if d := cmp.Compare(p.from, q.from); d < 0 || d == 0 && p.west.Cmp(q.west.Vector) < 0 {
		return p.leaves(q.west)
	}
	return !q.leaves(p.west)
}

// leaves reports whether a point is north of a span.
func (p *span) leaves(v s2.Point) bool {
	return s2.RobustSign(p.west, p.east, v) == s2.CounterClockwise
}

// crossingLoops returns two loops that cross, along edges or at a vertex.
func crossingLoops(loops []*s2.Loop) (a, b int, cross bool) {
	if len(loops) < 2 {
		return 0, 0, false
	}
	var edges edgeSet
	var of []int // the loop of each edge
	for i, loop := range loops {
		for j := range loop.NumVertices() {
			edges, of = append(edges, loop.Edge(j)), append(of, i)
		}
	}
	if x, y, found := edges.crossing(); found {
		return of[x], of[y], true
	}
	rays := map[s2.Point][]ray{}
	for i, e := range edges {
		rays[e.V0] = append(rays[e.V0], ray{of[i], e.V1})
		rays[e.V1] = append(rays[e.V1], ray{of[i], e.V0})
	}
	for _, e := range edges {
		if a, b, cross = crossingRays(e.V0, rays[e.V0]); cross {
			return a, b, true
		}
	}
	return 0, 0, false
}

// ray is an edge as seen from one of its vertices.
type ray struct {
	loop int
	to   s2.Point
}

// crossingRays returns two loops that cross at a vertex: between the two edges of one around
// the vertex there is one edge of the other.
func crossingRays(vertex s2.Point, rays []ray) (a, b int, cross bool) {
	if len(rays) <= 2 {
		return 0, 0, false
	}
	first := rays[0].to
	slices.SortFunc(rays[1:], func(p, q ray) int {
		switch {
		case p.to == q.to:
			return 0
		case s2.OrderedCCW(first, p.to, q.to, vertex):
			return -1
		}
		return 1
	})
	var open []int // loops of which one edge has been met
	for _, r := range rays {
		switch last := len(open) - 1; {
		case last >= 0 && open[last] == r.loop:
			open = open[:last]
		case slices.Contains(open, r.loop):
			return min(r.loop, open[last]), max(r.loop, open[last]), true
		default:
			open = append(open, r.loop)
		}
	}
	return 0, 0, false
}
