package match

import (
	"testing"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
)

// matches compiles a filter and runs it on one document.
func matches(t *testing.T, filter, d string) bool {
	t.Helper()
	m, err := Compile(doc(filter), Options{})
	if err != nil {
		t.Fatalf("Compile(%s): %v", filter, err)
	}
	ok, err := m.Match(expr.NewEnv(0), doc(d))
	if err != nil {
		t.Fatalf("Match(%s, %s): %v", filter, d, err)
	}
	return ok
}

// refused checks the error of a filter that must not compile.
func refused(t *testing.T, filter string, code mongoerr.Code, message string) {
	t.Helper()
	_, err := Compile(doc(filter), Options{})
	if err == nil {
		t.Errorf("Compile(%s) succeeded, want %d %s", filter, code, message)
		return
	}
	if e := mongoerr.From(err); e.Code != code || e.Message != message {
		t.Errorf("Compile(%s)\n got %d %s\nwant %d %s", filter, e.Code, e.Message, code, message)
	}
}

// matchCase is one filter with documents it matches and documents it does
// not.
type matchCase struct {
	filter   string
	yes, nos []string
}

func runCases(t *testing.T, cases []matchCase) {
	t.Helper()
	for _, c := range cases {
		for _, d := range c.yes {
			if !matches(t, c.filter, d) {
				t.Errorf("%s does not match %s", c.filter, d)
			}
		}
		for _, d := range c.nos {
			if matches(t, c.filter, d) {
				t.Errorf("%s matches %s", c.filter, d)
			}
		}
	}
}

func TestComparison(t *testing.T) {
	runCases(t, []matchCase{
		{`{a: 5}`, []string{`{a: 5}`, `{a: 5.0}`, `{a: [1, 5]}`, `{a: {"$numberDecimal": "5.0"}}`}, []string{`{a: "5"}`, `{b: 5}`, `{a: [[5]]}`, `{a: {b: 5}}`}},
		{`{a: [5]}`, []string{`{a: [5]}`, `{a: [[5], 1]}`}, []string{`{a: 5}`, `{a: [5, 6]}`}},
		{`{a: null}`, []string{`{a: null}`, `{}`, `{a: [null]}`, `{b: 1}`}, []string{`{a: 0}`, `{a: []}`, `{a: undef}`}},
		{`{a: {$ne: null}}`, []string{`{a: 1}`, `{a: []}`, `{a: undef}`}, []string{`{a: null}`, `{}`}},
		{`{a: {$gte: null}}`, []string{`{a: null}`, `{}`}, []string{`{a: 1}`}},
		{`{a: {$gt: null}}`, nil, []string{`{a: null}`, `{}`, `{a: 1}`}},
		{`{a: {$lt: 5}}`, []string{`{a: 4}`, `{a: -1e300}`, `{a: [9, 1]}`}, []string{`{a: "4"}`, `{a: null}`, `{}`, `{a: 5}`, `{a: nan}`, `{a: true}`}},
		{`{a: {$gt: {"$date": "2020-01-01T00:00:00Z"}}}`, []string{`{a: {"$date": "2021-01-01T00:00:00Z"}}`}, []string{`{a: {"$timestamp": {t: 2000000000, i: 1}}}`, `{a: 99999999999999}`}},
		{`{a: {$gte: minkey}}`, []string{`{a: 1}`, `{}`, `{a: minkey}`, `{a: "x"}`}, nil},
		{`{a: {$gt: minkey}}`, []string{`{a: 1}`, `{}`}, []string{`{a: minkey}`}},
		{`{a: {$lt: maxkey}}`, []string{`{a: 1}`, `{}`}, []string{`{a: maxkey}`}},
		{`{a: {$lt: minkey}}`, nil, []string{`{a: 1}`, `{}`}},
		{`{a: nan}`, []string{`{a: nan}`, `{a: {"$numberDecimal": "NaN"}}`}, []string{`{a: 0}`}},
		{`{a: {$lte: nan}}`, []string{`{a: nan}`}, []string{`{a: 0}`}},
		{`{a: {$gte: 0}}`, []string{`{a: 0}`, `{a: {"$numberDouble": "-0.0"}}`}, []string{`{a: nan}`}},
		{`{a: {"$numberDouble": "-0.0"}}`, []string{`{a: 0}`, `{a: {"$numberDecimal": "0E+3"}}`}, nil},
		{`{a: {$in: [1, "x", null]}}`, []string{`{a: 1}`, `{a: "x"}`, `{}`, `{a: null}`, `{a: [3, 1]}`}, []string{`{a: 2}`, `{a: []}`}},
		{`{a: {$in: [[1, 2]]}}`, []string{`{a: [1, 2]}`, `{a: [[1, 2]]}`}, []string{`{a: [1]}`}},
		{`{a: {$nin: [1, null]}}`, []string{`{a: 2}`}, []string{`{a: 1}`, `{}`, `{a: [1, 2]}`}},
		{`{a: {$in: []}}`, nil, []string{`{a: 1}`, `{}`}},
		{`{a: {b: 1, c: 2}}`, []string{`{a: {b: 1, c: 2}}`}, []string{`{a: {c: 2, b: 1}}`, `{a: {b: 1}}`}},
	})
}

func TestComparisonErrors(t *testing.T) {
	refused(t, `{a: {$gt: {"$regularExpression": {pattern: "b", options: ""}}}}`, mongoerr.BadValue, "Can't have RegEx as arg to non-equality predicate over field 'a'.")
	refused(t, `{a: {$ne: {"$regularExpression": {pattern: "b", options: ""}}}}`, mongoerr.BadValue, "Can't have regex as arg to $ne.")
	refused(t, `{a: {$in: 1}}`, mongoerr.BadValue, "$in needs an array")
	refused(t, `{a: {$nin: 1}}`, mongoerr.BadValue, "$nin needs an array")
	refused(t, `{a: {$in: [{$gt: 1}]}}`, mongoerr.BadValue, "cannot nest $ under $in")
	refused(t, `{a: {$gt: undef}}`, mongoerr.BadValue, "cannot compare to undefined")
	refused(t, `{a: {$foo: 1}}`, mongoerr.BadValue, "unknown operator: $foo")
	refused(t, `{$mod: [1, 1]}`, mongoerr.BadValue, "unknown top level operator: $mod. If you have a field name that starts with a '$' symbol, consider using $getField or $setField.")
	refused(t, `{$not: {a: 1}}`, mongoerr.BadValue, "unknown top level operator: $not. If you are trying to negate an entire expression, use $nor.")
}
