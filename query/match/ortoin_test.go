package match

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/value"
)

// TestOrToIn: which disjunctions are a $in, by jstests/core/or_to_in.js.
func TestOrToIn(t *testing.T) {
	for _, c := range [][2]string{
		{`{$or: [{f1: 5}, {f1: 3}, {f1: 7}]}`, `{f1: {$in: [7, 3, 5]}}`},
		{`{$or: [{f1: {$eq: 5}}, {f1: {$eq: 3}}, {f1: {$eq: 7}}]}`, `{f1: {$in: [7, 3, 5]}}`},
		{`{$or: [{f1: {$regularExpression: {pattern: "^x", options: ""}}}, {f1: "ab"}]}`, `{f1: {$in: [{$regularExpression: {pattern: "^x", options: ""}}, "ab"]}}`},
		{`{$or: [{f1: {$regularExpression: {pattern: "^x", options: ""}}}, {f1: "^a"}]}`, `{f1: {$in: [{$regularExpression: {pattern: "^x", options: ""}}, "^a"]}}`},
		{`{$or: [{f1: {$regex: "^x"}}, {f1: {$regex: "ab"}}]}`, `{f1: {$in: [{$regularExpression: {pattern: "^x", options: ""}}, {$regularExpression: {pattern: "ab", options: ""}}]}}`},
		{`{$or: [{f1: 42}, {f1: null}, {f1: 99}]}`, `{f1: {$in: [42, 99, null]}}`},
		{`{$or: [{f1: 1}, {f2: 9}, {f1: 99}]}`, `{$or: [{f2: 9}, {f1: {$in: [1, 99]}}]}`},
		{`{$and: [{$or: [{f1: 7}, {f1: 3}, {f1: 5}]}, {$or: [{f1: 1}, {f1: 2}, {f1: 3}]}]}`, `{$and: [{f1: {$in: [7, 3, 5]}}, {f1: {$in: [1, 2, 3]}}]}`},
		{`{$or: [{$or: [{f1: 7}, {f1: 3}, {f1: 5}]}, {$or: [{f1: 1}, {f1: 2}, {f1: 3}]}]}`, `{$or: [{f1: {$in: [7, 3, 5]}}, {f1: {$in: [1, 2, 3]}}]}`},
		{`{$or: [{$and: [{f1: 7}, {f2: 7}, {f1: 5}]}, {$or: [{f1: 1}, {f1: 2}, {f1: 3}]}]}`, `{$or: [{$and: [{f1: 7}, {f2: 7}, {f1: 5}]}, {f1: {$in: [1, 2, 3]}}]}`},
		{`{$or: [{f2: [32, 52]}, {f2: [42, [13, 11]]}]}`, `{f2: {$in: [[32, 52], [42, [13, 11]]]}}`},
	} {
		or, in := compile(t, c[0]), compile(t, c[1])
		if got, want := or.Parsed().String(), in.Parsed().String(); got != want {
			t.Errorf("%s is %s, want %s", c[0], got, want)
		}
		if or.Shape() != in.Shape() {
			t.Errorf("%s and %s have different shapes", c[0], c[1])
		}
		if or.Filter().String() == in.Filter().String() {
			t.Errorf("%s: the filter as it was given is %s", c[0], or.Filter())
		}
	}
	for _, filter := range []string{
		`{$or: [{f2: 9}, {f1: 1}, {f1: 99}]}`, // only the path of the first equality counts
		`{$or: [{f1: {$eq: {$regularExpression: {pattern: "^x", options: ""}}}}, {f1: {$eq: {$regularExpression: {pattern: "ab", options: ""}}}}]}`,
		`{$or: [{f1: {$lt: 2}}, {f1: {$gt: 3}}]}`,
	} {
		or, ok := compile(t, filter).Root().(*Or)
		if !ok {
			t.Errorf("%s is rewritten", filter)
			continue
		}
		for _, n := range or.Nodes {
			if _, in := n.(*In); in {
				t.Errorf("%s: a branch has become a $in", filter)
			}
		}
	}
}

// TestOrToInMatchesTheSame: the rewritten filter accepts what the written one
// accepts, also within $elemMatch and negations.
func TestOrToInMatchesTheSame(t *testing.T) {
	values := []string{`1`, `2`, `2.0`, `"a"`, `"ab"`, `null`, `[1, 2]`, `[]`, `{"b": 1}`, `{"$regularExpression": {"pattern": "^a", "options": ""}}`, `{"$minKey": 1}`, `{"$numberDouble": "NaN"}`}
	draw := func(t *rapid.T) value.Value {
		return value.MustJSON(`{"v": ` + rapid.SampledFrom(values).Draw(t, "value") + `}`).Lookup("v")
	}
	rapid.Check(t, func(t *rapid.T) {
		var branches []value.Value
		for range rapid.IntRange(1, 5).Draw(t, "branches") {
			path := rapid.SampledFrom([]string{"a", "a.b", "b"}).Draw(t, "path")
			v := draw(t)
			if rapid.IntRange(0, 3).Draw(t, "spelt out") == 0 {
				v = value.Document(value.NewDoc("$eq", v))
			}
			branches = append(branches, value.Document(value.NewDoc(path, v)))
		}
		filter := value.NewDoc(rapid.SampledFrom([]string{"$or", "$nor"}).Draw(t, "op"), value.NewArray(branches...))
		if rapid.Bool().Draw(t, "nested") {
			filter = value.NewDoc("c", value.Document(value.NewDoc("$elemMatch", value.Document(filter))))
		}
		m, err := Compile(filter, Options{})
		if err != nil {
			t.Skip(err)
		}
		d := value.NewDoc("a", draw(t), "b", draw(t), "c", value.NewArray(value.Document(value.NewDoc("a", draw(t), "b", draw(t)))))
		if rapid.Bool().Draw(t, "without a") {
			d = value.NewDoc("b", draw(t))
		}
		got, _ := m.root.match(nil, d, nil)
		want, _ := m.written().match(nil, d, nil)
		if got != want {
			t.Fatalf("%s on %s: rewritten %v, written %v", filter, d, got, want)
		}
	})
}
