package expr

import (
	"regexp"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// The tables of the tests are written in a shorthand of extended JSON: names
// need no quotes, strings take single ones, and dec('1.5'), long(5),
// date('2020-01-01T00:00:00Z'), ts(1,2), oid('…'), bin(0,'base64'), dbl('NaN')
// stand for the types that JSON lacks.
var shorthands = []struct {
	re  *regexp.Regexp
	out string
}{
	{regexp.MustCompile(`dec\('([^']*)'\)`), `{"$$numberDecimal":"$1"}`},
	{regexp.MustCompile(`long\((-?\d+)\)`), `{"$$numberLong":"$1"}`},
	{regexp.MustCompile(`dbl\('([^']*)'\)`), `{"$$numberDouble":"$1"}`},
	{regexp.MustCompile(`date\('([^']*)'\)`), `{"$$date":"$1"}`},
	{regexp.MustCompile(`ms\((-?\d+)\)`), `{"$$date":{"$$numberLong":"$1"}}`},
	{regexp.MustCompile(`ts\((\d+),(\d+)\)`), `{"$$timestamp":{"t":$1,"i":$2}}`},
	{regexp.MustCompile(`oid\('([^']*)'\)`), `{"$$oid":"$1"}`},
	{regexp.MustCompile(`bin\((\w+),'([^']*)'\)`), `{"$$binary":{"base64":"$2","subType":"$1"}}`},
	{regexp.MustCompile(`re\('([^']*)','([^']*)'\)`), `{"$$regularExpression":{"pattern":"$1","options":"$2"}}`},
}

var bareName = regexp.MustCompile(`([{,]\s*)([$A-Za-z_][\w$]*)\s*:`)

func parse(t testing.TB, s string) value.Value {
	t.Helper()
	if s == "missing" {
		return value.Value{}
	}
	for _, h := range shorthands {
		s = h.re.ReplaceAllString(s, h.out)
	}
	s = bareName.ReplaceAllString(strings.ReplaceAll(s, `'`, `"`), `$1"$2":`)
	d, err := value.ParseJSON(`{"v":` + s + `}`)
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return d.Lookup("v")
}

func canonical(v value.Value) string {
	if v.IsMissing() {
		return "missing"
	}
	s := value.NewDoc("v", v).CanonicalJSON()
	return s[len(`{"v":`) : len(s)-1]
}

// testNow is $$NOW of the tests.
const testNow = 1600000000000

func run(t testing.TB, e string, doc value.Doc) (value.Value, error) {
	t.Helper()
	compiled, err := Compile(parse(t, e), nil)
	if err != nil {
		return value.Value{}, err
	}
	return compiled.Eval(NewEnv(testNow), doc)
}

// result is one row: expression and result, exact in type.
type result struct{ expr, want string }

func checkResults(t *testing.T, doc string, rows []result) {
	t.Helper()
	d := parse(t, doc).Doc()
	for _, r := range rows {
		got, err := run(t, r.expr, d)
		if err != nil {
			t.Errorf("%s: %v", r.expr, err)
			continue
		}
		if g, w := canonical(got), canonical(parse(t, r.want)); g != w {
			t.Errorf("%s = %s, want %s", r.expr, g, w)
		}
	}
}

// failure is one row: expression, code and (if not empty) message.
type failure struct {
	expr string
	code mongoerr.Code
	msg  string
}

func checkFailures(t *testing.T, doc string, rows []failure) {
	t.Helper()
	d := parse(t, doc).Doc()
	for _, r := range rows {
		got, err := run(t, r.expr, d)
		if err == nil {
			t.Errorf("%s = %s, want error %d", r.expr, canonical(got), r.code)
			continue
		}
		if e := mongoerr.From(err); e.Code != r.code || r.msg != "" && e.Message != r.msg {
			t.Errorf("%s: %d %q, want %d %q", r.expr, e.Code, e.Message, r.code, r.msg)
		}
	}
}
