package match

import (
	"testing"

	"github.com/duskdb/duskdb/value"
)

// WithNear replaces a $near, or adds one to the other conditions.
func TestWithNear(t *testing.T) {
	near := func(filter string) *Matcher {
		m, err := Compile(value.MustJSON(filter), Options{AllowNear: true})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	small, ok := near(`{"loc": {"$near": [0, 0], "$maxDistance": 1}}`).Root().(*Near)
	if !ok {
		t.Fatal("no $near")
	}
	for _, filter := range []string{`{}`, `{"k": 1}`, `{"loc": {"$near": [0, 0]}}`, `{"k": 1, "loc": {"$near": [0, 0]}}`, `{"$or": [{"k": 1}, {"k": 2}]}`} {
		m := near(filter)
		with := m.WithNear(small)
		for doc, want := range map[string]bool{`{"k": 1, "loc": [0.5, 0]}`: true, `{"k": 1, "loc": [5, 0]}`: false} {
			if got, err := with.Match(nil, value.MustJSON(doc)); got != want || err != nil {
				t.Errorf("%s with a $near matches %s: %t %v", filter, doc, got, err)
			}
		}
		if got, _ := m.Match(nil, value.MustJSON(`{"k": 1, "loc": [5, 0]}`)); !got {
			t.Errorf("%s was changed", filter)
		}
	}
}
