package agg

import (
	"strings"
	"testing"
)

// equijoin is a set of documents that are joined, field by field, with one
// document {_id: 0, b: …}: as the local side of the $lookup, and as the
// foreign one.
type equijoin struct {
	name, field, docs string
	with              []joined
}

// joined is the result for one value: the _ids of the matching documents.
type joined struct {
	b                  string // "": the field is missing
	asLocal, asForeign string // the many are local, or foreign
}

// equijoins are values that a $lookup by two fields treats as equal: arrays, null, missing fields
// and paths through arrays. No index changes the result.
var equijoins = []equijoin{
	{"null and missing", "a", `[{_id: 0, no_a: 1}, {_id: 1, a: null}, {_id: 2, a: [null, 1]}, {_id: 10, a: []}, {_id: 20, a: 1}, {_id: 21, a: {x: null}}, {_id: 22, a: [[null, 1], 2]},
		{_id: 23, a: false}, {_id: 24, a: 0}, {_id: 25, a: {}}, {_id: 26, a: ""}]`, []joined{{`null`, `0 1 2 10`, `0 1 2`}, {``, `0 1 2 10`, `0 1 2`}}},
	{"undefined", "a", `[{_id: 0, no_a: 1}, {_id: 1, a: null}, {_id: 2, a: []}, {_id: 3, a: [null, 1]}, {_id: 10, a: 1}, {_id: 11, a: [[null, 1], 2]}, {_id: 20, a: {"$undefined": true}}, {_id: 21, a: [{"$undefined": true}, 1]}]`,
		[]joined{{`{"$undefined": true}`, `20 21`, `20 21`}}},
	{"NaN", "a", `[{_id: 0, a: Double("NaN")}, {_id: 1, a: NumberDecimal("NaN")}, {_id: 2, a: [1, Double("NaN")]}, {_id: 3, a: [1, NumberDecimal("NaN")]}, {_id: 10, a: null}, {_id: 11, no_a: 42}]`,
		[]joined{{`Double("NaN")`, `0 1 2 3`, `0 1 2 3`}}},
	{"a scalar", "a", `[{_id: 0, a: 1, y: 2}, {_id: 1, a: [1]}, {_id: 2, a: [1, 2, 3]}, {_id: 3, a: [1, [2, 3]]}, {_id: 4, a: [1, [1, 2]]}, {_id: 5, a: [1, 2, 1]}, {_id: 6, a: [1, null]}, {_id: 7, a: [1, []]},
		{_id: 10, a: 2}, {_id: 11, a: [[1], 2]}, {_id: 12, a: [2, 3]}, {_id: 13, a: {y: 1}}, {_id: 14, no_a: 1}]`, []joined{{`1`, `0 1 2 3 4 5 6 7`, `0 1 2 3 4 5 6 7`}}},
	{"a scalar by a path", "a.x", `[{_id: 0, a: {x: 1, y: 2}}, {_id: 1, a: [{x: 1}, {x: 2}]}, {_id: 2, a: [{x: 1}, {x: null}]}, {_id: 3, a: [{x: 1}, {x: []}]}, {_id: 4, a: [{x: 1}, {no_x: 2}]}, {_id: 5, a: {x: [1, 2]}},
		{_id: 6, a: [{x: [1, 2]}]}, {_id: 7, a: [{x: [1, 2]}, {no_x: 2}]}, {_id: 10, a: {x: 2, y: 1}}, {_id: 11, a: {x: [2, 3], y: 1}}, {_id: 12, a: [{no_x: 1}, {x: 2}, {x: 3}]}, {_id: 13, a: {x: [[1], 2]}},
		{_id: 14, a: [{x: [[1], 2]}]}, {_id: 15, a: {no_x: 1}}]`, []joined{{`1`, `0 1 2 3 4 5 6 7`, `0 1 2 3 4 5 6 7`}}},
	{"a scalar by a deep path", "a.b.c", `[{_id: 0, a: {b: {c: 1}}}, {_id: 1, a: {b: {c: [[2, 3], 1]}}}, {_id: 2, a: {b: [{c: 2}, {c: 1}]}}, {_id: 3, a: {b: [{c: null}, {c: 1}]}}, {_id: 4, a: {b: [{no_c: 2}, {c: 1}]}},
		{_id: 5, a: {b: [{c: []}, {c: 1}]}}, {_id: 6, a: {b: [{c: [[2, 3], 1]}]}}, {_id: 8, a: [{b: {c: 2}}, {b: {c: 1}}]}, {_id: 11, a: [{b: {c: []}}, {b: {c: 1}}]}, {_id: 14, a: [{no_b: 2}, {b: {c: 1}}]},
		{_id: 15, a: [{b: [{c: 1}]}]}, {_id: 16, a: [{b: {c: 3}}, {b: [{c: 1}, {c: 2}]}]}, {_id: 20, a: [{b: [{c: [[2, 3], 1]}]}]}, {_id: 22, a: [{no_b: 2}, {b: [{no_c: 3}, {c: 1}]}]},
		{_id: 100, a: {b: {c: [[1, 2], 3]}}}, {_id: 101, a: {b: [{c: [[1, 2], 3]}]}}, {_id: 102, a: [{b: {c: [[1, 2], 3]}}]}, {_id: 103, a: [{b: [{c: [[1, 2], 3]}]}]}]`,
		[]joined{{`1`, `0 1 2 3 4 5 6 8 11 14 15 16 20 22`, `0 1 2 3 4 5 6 8 11 14 15 16 20 22`}}},
	{"an array", "a", `[{_id: 0, a: [[1, 2], 3], y: 4}, {_id: 1, a: [[1, 2]]}, {_id: 2, a: [1, 2], y: 3}, {_id: 10, a: [[[1, 2], 3], 4]}, {_id: 11, a: [2, 1]}, {_id: 12, a: [[2, 1], 3], y: [1, 2]},
		{_id: 13, a: [[2, 1], 3], y: [[1, 2], 3]}, {_id: 14, a: null}, {_id: 15, no_a: [1, 2]}]`, []joined{{`[1, 2]`, `0 1 2 11`, `2 11`}, {`[[1, 2], 42]`, `0 1`, `0 1 2`}}},
	{"an array by a path", "a.x", `[{_id: 0, a: {x: [[1, 2], 3], y: 4}}, {_id: 1, a: [{x: [[1, 2], 3]}, {x: 4}]}, {_id: 2, a: [{x: [[1, 2], 3]}, {x: null}]}, {_id: 3, a: [{x: [[1, 2], 3]}, {no_x: 4}]},
		{_id: 4, a: {x: [1, 2], y: 4}}, {_id: 5, a: [{x: [1, 2]}, {x: 4}]}, {_id: 6, a: [{x: [1, 2]}, {x: null}]}, {_id: 7, a: [{x: [1, 2]}, {no_x: 4}]}, {_id: 10, a: {x: [2, 1], y: [1, 2]}},
		{_id: 11, a: {x: [[2, 1], 3], y: [[1, 2], 3]}}, {_id: 12, a: [{x: 1}, {x: 2}]}, {_id: 13, a: {x: [[[1, 2], 3]]}}, {_id: 14, a: [{x: [[[1, 2], 3]]}]}, {_id: 15, a: {no_x: [[1, 2], 3]}}]`,
		[]joined{{`[1, 2]`, `0 1 2 3 4 5 6 7 10 12`, `4 5 6 7 10 12`}, {`[[1, 2], 42]`, `0 1 2 3`, `0 1 2 3 4 5 6 7`}}},
	{"nothing at a path", "a.x", `[{_id: 0, a: {no_x: 1}}, {_id: 1, a: {no_x: [1, 2]}}, {_id: 2, a: [{no_x: 1}, {no_x: 2}]}, {_id: 5, a: {x: null}}, {_id: 6, a: [{x: null}, {x: 1}]}, {_id: 7, a: [{x: null}, {x: [1]}]},
		{_id: 8, no_a: 1}, {_id: 20, a: {x: 2, y: 1}}, {_id: 21, a: [{x: 2}, {x: 3}]}]`, []joined{{`null`, `0 1 2 5 6 7 8`, `0 1 2 5 6 7 8`}, {``, `0 1 2 5 6 7 8`, `0 1 2 5 6 7 8`}}},
	{"an empty array", "a", `[{_id: 0, a: [[]]}, {_id: 1, a: [[], 1]}, {_id: 2, a: [[], null]}, {_id: 10, no_a: 1}, {_id: 11, a: null}, {_id: 12, a: [null]}, {_id: 13, a: [null, 1]}, {_id: 20, a: 1},
		{_id: 21, a: [[[], 1], 2]}, {_id: 22, a: [1, 2]}, {_id: 23, a: [[null, 1], 2]}]`, []joined{{`[]`, `0 1 2`, `2 10 11 12 13`}}},
}

func TestEquijoins(t *testing.T) {
	for _, index := range []string{"", "1", "-1", `"hashed"`, "1, sparse"} {
		s := newServer(t)
		s.ok(`{create: "view", viewOn: "foreign", pipeline: []}`)
		for _, e := range equijoins {
			for _, j := range e.with {
				one := `[{_id: 0}]`
				if j.b != "" {
					one = `[{_id: 0, b: ` + j.b + `}]`
				}
				s.joins(e.name, index, side{e.docs, e.field}, side{one, "b"}, j.asLocal, true)
				s.joins(e.name, index, side{one, "b"}, side{e.docs, e.field}, j.asForeign, false)
			}
		}
	}
}

// side is the documents of one collection and the field that it is joined by.
type side struct{ docs, field string }

// joins fills both sides and compares the _ids that take part.
func (s *server) joins(name, index string, local, foreign side, want string, manyLocal bool) {
	s.Helper()
	s.run(`{drop: "local"}`)
	s.run(`{drop: "foreign"}`)
	s.insert("local", local.docs)
	s.insert("foreign", foreign.docs)
	if index != "" {
		direction, sparse := index, ""
		if strings.HasSuffix(index, "sparse") {
			direction, sparse = "1", ", sparse: true"
		}
		if !s.run(`{createIndexes: "foreign", indexes: [{key: {"%s": %s}, name: "i"%s}]}`, foreign.field, direction, sparse).Lookup("ok").Truthy() {
			return // hashed indexes take no arrays
		}
	}
	for _, from := range []string{"foreign", "view"} {
		docs := s.aggregate("local", `[{$lookup: {from: "`+from+`", localField: "`+local.field+`", foreignField: "`+foreign.field+`", as: "r"}}, {$sort: {_id: 1}}, {$set: {r: {$sortArray: {input: "$r", sortBy: {_id: 1}}}}}]`)
		var found []string
		for _, d := range docs {
			for m := range d.Lookup("r").Doc().Values() {
				id := d.Lookup("_id")
				if !manyLocal {
					id = m.Doc().Lookup("_id")
				}
				found = append(found, id.String())
			}
		}
		if got := strings.Join(found, " "); got != want {
			s.Errorf("%s, index %q: local.%s = %s.%s in %s matches %s, want %s", name, index, local.field, from, foreign.field, foreign.docs, got, want)
		}
	}
}
