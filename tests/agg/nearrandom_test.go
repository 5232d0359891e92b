package agg

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/value"
)

// place draws what a document has for a location: near the point (10, 20) or
// far from it, several points, a line, or nothing.
func place(t *rapid.T, planar bool) string {
	point := func() string {
		if rapid.Bool().Draw(t, "close") {
			return fmt.Sprintf(`[%v, %v]`, 10+rapid.Float64Range(-0.01, 0.01).Draw(t, "dx"), 20+rapid.Float64Range(-0.01, 0.01).Draw(t, "dy"))
		}
		return fmt.Sprintf(`[%v, %v]`, rapid.Float64Range(-179, 179).Draw(t, "x"), rapid.Float64Range(-89, 89).Draw(t, "y"))
	}
	kind := rapid.IntRange(0, 9).Draw(t, "kind")
	switch {
	case kind == 0:
		return ""
	case kind == 1 && planar:
		return `, "loc": [` + point() + `, ` + point() + `]`
	case planar:
		return `, "loc": ` + point()
	case kind == 1:
		return `, "loc": {"type": "MultiPoint", "coordinates": [` + point() + `, ` + point() + `]}`
	case kind == 2:
		return `, "loc": {"type": "LineString", "coordinates": [[11, 20], [11.5, 21], ` + point() + `]}`
	}
	return `, "loc": {"type": "Point", "coordinates": ` + point() + `}`
}

// A $geoNear or $near with a limit, which searches ring by ring, has the same result as
// one that computes all distances.
func TestRingsAgree(t *testing.T) {
	s := newServer(t)
	rapid.Check(t, func(r *rapid.T) {
		planar := rapid.Bool().Draw(r, "planar")
		s.run(`{drop: "c"}`)
		docs := make([]value.Doc, rapid.IntRange(0, 60).Draw(r, "documents"))
		for i := range docs {
			docs[i] = value.MustJSON(fmt.Sprintf(`{"_id": %d, "k": %d%s}`, i, i%3, place(r, planar)))
		}
		s.insertDocs("c", docs)
		kind, near := "2dsphere", `{"type": "Point", "coordinates": [10, 20]}`
		if planar {
			kind, near = "2d", `[10, 20]`
		}
		s.ok(`{createIndexes: "c", indexes: [{key: {loc: %q}, name: "loc"}]}`, kind)
		unit := 1.0
		if !planar {
			unit = 100_000
		}
		options := fmt.Sprintf(`"near": %s, "distanceField": "d", "spherical": %t`, near, !planar)
		if rapid.Bool().Draw(r, "min") {
			options += fmt.Sprintf(`, "minDistance": %v`, unit*rapid.SampledFrom([]float64{0.001, 1, 30}).Draw(r, "least"))
		}
		if rapid.Bool().Draw(r, "max") {
			options += fmt.Sprintf(`, "maxDistance": %v`, unit*rapid.SampledFrom([]float64{0.005, 2, 100}).Draw(r, "most"))
		}
		if rapid.Bool().Draw(r, "query") {
			options += `, "query": {"k": {"$lt": 2}}`
		}
		all := s.aggregate("c", `[{"$geoNear": {`+options+`}}, {"$project": {"d": 1}}]`)
		limit := rapid.IntRange(1, 70).Draw(r, "limit")
		got := s.aggregate("c", fmt.Sprintf(`[{"$geoNear": {%s}}, {"$limit": %d}, {"$project": {"d": 1}}]`, options, limit))
		if want := distances(all[:min(limit, len(all))]); distances(got) != want {
			r.Fatalf("{%s} with a limit of %d in %v\ngives %v\nwant  %v", options, limit, docs, distances(got), want)
		}
	})
}

// distances prints distances, and the _ids of those that no other shares.
func distances(docs []value.Doc) string {
	var b strings.Builder
	for i, d := range docs {
		at := d.Lookup("d").AsDouble()
		fmt.Fprint(&b, at)
		if i > 0 && docs[i-1].Lookup("d").AsDouble() != at && i+1 < len(docs) && docs[i+1].Lookup("d").AsDouble() != at {
			fmt.Fprint(&b, " of ", d.Lookup("_id"))
		}
		b.WriteString("; ")
	}
	return b.String()
}
