package plan

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/value"
)

// counting is a collation that counts its comparisons.
type counting struct{ n int }

func (c *counting) Compare(a, b string) int {
	c.n++
	return strings.Compare(a, b)
}

func (c *counting) AppendKey(dst []byte, s string) []byte { return append(dst, s...) }

// repeated is a filter with many conditions of one form; %[1]d is the number
// of each.
func repeated(t testing.TB, n int, op, form string) *match.Matcher {
	list := value.NewBuilder().StartArray(op)
	for i := range n {
		list.Document("", value.MustJSON(fmt.Sprintf(form, i)))
	}
	m, err := match.Compile(list.End().Doc(), match.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestManyConditions: the bounds of n conditions take about n comparisons, not n².
func TestManyConditions(t *testing.T) {
	work := func(n int, op, form string) int {
		x := testIndex(t, `{"a":1}`)
		c := &counting{}
		x.Collation = c
		if _, err := Make(&Query{Matcher: repeated(t, n, op, form)}, &Collection{Indexes: []*Index{x}, Count: 1000}); err != nil {
			t.Fatal(err)
		}
		return c.n
	}
	for _, f := range [][2]string{
		{"$and", `{"a": {"$ne": "s%d"}}`},
		{"$nor", `{"a": "s%d"}`},
		{"$and", `{"a": {"$gte": "s%d"}}`},
		{"$and", `{"a": {"$not": {"$gt": "s%[1]d", "$lt": "s%[1]dx"}}}`},
		{"$or", `{"a": "s%d"}`},
		{"$or", `{"a": ["s%d"]}`},
	} {
		few, many := work(200, f[0], f[1]), work(3200, f[0], f[1])
		if many > 16*3*max(few, 3200) { // n log n
			t.Errorf("%s of %s: %d comparisons for 200, %d for 3200", f[0], f[1], few, many)
		}
	}
}

// TestPlanningEnds: a query that is interrupted is not planned to its end.
func TestPlanningEnds(t *testing.T) {
	over := errors.New("over")
	for _, f := range [][2]string{
		{"$or", `{"a": %[1]d, "b": %[1]d}`},
		{"$and", `{"$or": [{"a": %[1]d}, {"b": %[1]d}]}`},
		{"$and", `{"$or": [{"c": %[1]d}, {"d": %[1]d}]}`},
		{"$and", `{"a": {"$ne": %d}}`},
		{"$and", `{"f%[1]d": %[1]d}`},
	} {
		asked, estimated := 0, 0
		q := &Query{Matcher: repeated(t, 5000, f[0], f[1]), Interrupt: func() error {
			if asked++; asked > 3 {
				return over
			}
			return nil
		}}
		coll := &Collection{Count: 1000, Estimate: func(*Index, Range, int64) int64 { estimated++; return 5 }}
		for _, key := range []string{`{"a":1}`, `{"b":1,"a":1}`, `{"$**":1}`} {
			coll.Indexes = append(coll.Indexes, testIndex(t, key))
		}
		_, err := Make(q, coll)
		if asked <= 3 { // it was soon done
			continue
		}
		if !errors.Is(err, over) || asked > 3+2*maxSolutions || estimated > 500 {
			t.Errorf("%s of %s: %v after %d checks for an interruption and %d estimates", f[0], f[1], err, asked, estimated)
		}
	}
}

// TestNestedDisjunctions: a conjunction of disjunctions without an index has
// no more plans than conditions.
func TestNestedDisjunctions(t *testing.T) {
	and := value.NewBuilder().StartArray("$and")
	for range 40 {
		and.Document("", value.MustJSON(`{"$or": [{"y": 1}, {"z": 1}]}`))
	}
	and.Document("", value.MustJSON(`{"$or": [{"a": 1}, {"b": 1}]}`))
	m, err := match.Compile(and.End().Doc(), match.Options{})
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	q := &Query{Matcher: m, Interrupt: func() error {
		if asked++; asked > 10_000 {
			t.Fatal("it does not end")
		}
		return nil
	}}
	p, err := Make(q, &Collection{Indexes: []*Index{testIndex(t, `{"a":1}`), testIndex(t, `{"b":1}`)}, Count: 1000})
	if err != nil || p.Type != Union || len(p.Parts) != 2 {
		t.Errorf("%+v, %v", p, err)
	}
}
