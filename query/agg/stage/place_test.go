package stage_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/value"
)

// TestPlace: a place that is filled in is the document with the field set.
func TestPlace(t *testing.T) {
	docs := []string{
		`{}`, `{"a": 1}`, `{"_id": 1, "a": [1, 2, 3], "z": "behind"}`, `{"a": {"b": [1], "c": 2}, "z": 1}`, `{"a": {"b": {"c": {"d": 1}}}, "b": 2}`,
		`{"x": 1, "a": {"x": {"b": 1}, "b": {"x": 1, "c": "long enough"}, "y": 1}, "b": {}}`, `{"ab": 1, "b": {"a": 1}}`,
	}
	values := []string{`1`, `"text"`, `null`, `{"k": [1, 2]}`, `[]`, `{"$numberLong": "5"}`, `{"$numberDecimal": "1.5"}`, `{"$minKey": 1}`, `true`, `{"$binary": {"base64": "AAE=", "subType": "02"}}`}
	rapid.Check(t, func(t *rapid.T) {
		d := value.MustJSON(rapid.SampledFrom(docs).Draw(t, "doc"))
		parts := strings.Split(rapid.SampledFrom([]string{"a", "b", "a.b", "a.b.c", "z", "new", "new.deep"}).Draw(t, "path"), ".")
		p := stage.NewPlace(d, parts)
		for range 3 {
			v := value.MustJSON(`{"v": ` + rapid.SampledFrom(values).Draw(t, "value") + `}`).Lookup("v")
			got := p.With(v)
			if err := value.Validate(got); err != nil {
				t.Fatal(err)
			}
			if want := stage.SetPath(d, parts, v); string(got) != string(want) {
				t.Fatalf("%s, want %s", got, want)
			}
		}
	})
}
