package expr

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// arbitrary draws any value; strings are often paths of the test document.
func arbitrary(t *rapid.T, depth int) value.Value {
	kinds := 17
	if depth > 2 {
		kinds = 15
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return value.Int32(rapid.Int32Range(-5, 5).Draw(t, "int"))
	case 1:
		return value.Int64(rapid.SampledFrom([]int64{0, 1, -1, math.MaxInt64, math.MinInt64, 1 << 33}).Draw(t, "long"))
	case 2:
		return value.Double(rapid.SampledFrom([]float64{0, 0.5, -1.5, 1e300, math.NaN(), math.Inf(1), math.Inf(-1)}).Draw(t, "double"))
	case 3:
		d, _ := value.ParseDecimal(rapid.SampledFrom([]string{"0", "1.5", "-7", "1E+6000", "1E-6000", "NaN", "-Infinity"}).Draw(t, "decimal"))
		return value.DecimalValue(d)
	case 4, 5, 6, 7:
		return value.String(rapid.SampledFrom([]string{"$a", "$a.b", "$arr", "$arr.x", "$s", "$n", "$d", "$$ROOT", "$$this", "$$value", "$$NOW", "$$REMOVE",
			"text", "", "é", "day", "week", "hour", "UTC", "%Y-%m-%d", "int", "string", "2020-01-01", "a*", "approximate"}).Draw(t, "string"))
	case 8:
		return value.Null()
	case 9:
		return value.Bool(rapid.Bool().Draw(t, "bool"))
	case 10:
		return value.DateTime(rapid.SampledFrom([]int64{0, 1e12, -1e15, math.MaxInt64, math.MinInt64}).Draw(t, "date"))
	case 11:
		return value.Binary(4, make([]byte, 16))
	case 12:
		return value.Regex("a+", "i")
	case 13:
		return rapid.SampledFrom([]value.Value{value.MinKey(), value.MaxKey(), value.Timestamp(5, 6), value.ObjectID(value.OID{1}), value.Undefined()}).Draw(t, "rare")
	case 14:
		return value.Array(value.EmptyDoc)
	case 15:
		var a value.ArrayBuilder
		for range rapid.IntRange(0, 4).Draw(t, "length") {
			a.Append(expression(t, depth+1))
		}
		return a.Value()
	}
	b := value.NewBuilder()
	for range rapid.IntRange(0, 3).Draw(t, "fields") {
		b.Append(rapid.SampledFrom([]string{"x", "y", "k", "v", "$odd"}).Draw(t, "name"), arbitrary(t, depth+1))
	}
	return value.Document(b.Doc())
}

var argumentNames = []string{"input", "in", "cond", "as", "limit", "initialValue", "n", "sortBy", "inputs", "date", "timezone", "format", "unit", "amount",
	"startDate", "endDate", "to", "onError", "onNull", "regex", "options", "find", "replacement", "chars", "field", "value", "vars", "branches", "default", "p",
	"method", "dateString", "year", "month", "day", "binSize", "startOfWeek", "iso8601", "if", "then", "else", "useLongestLength", "defaults"}

// expression draws an expression, right or wrong.
func expression(t *rapid.T, depth int) value.Value {
	if depth > 3 || rapid.IntRange(0, 3).Draw(t, "plain") == 0 {
		return arbitrary(t, depth)
	}
	op := &operators[rapid.IntRange(0, len(operators)-1).Draw(t, "operator")]
	return value.Document(value.NewDoc(op.name, argumentsFor(t, op, depth)))
}

func argumentsFor(t *rapid.T, op *operator, depth int) value.Value {
	if op.params == nil && op.parse == nil {
		var a value.ArrayBuilder
		for range rapid.IntRange(op.min, max(op.max, op.min+2)).Draw(t, "arity") {
			a.Append(expression(t, depth+1))
		}
		return a.Value()
	}
	b := value.NewBuilder()
	for _, p := range op.params {
		if p.missing != 0 || rapid.Bool().Draw(t, "given") {
			b.Append(p.name, expression(t, depth+1))
		}
	}
	if op.params == nil {
		needed := map[string][]string{"$map": {"input", "in"}, "$filter": {"input", "cond"}, "$reduce": {"input", "initialValue", "in"}, "$getField": {"field", "input"},
			"$sortArray": {"input", "sortBy"}, "$zip": {"inputs"}, "$cond": {"if", "then", "else"}, "$median": {"input", "method"}, "$percentile": {"input", "p", "method"}}[op.name]
		for _, name := range needed {
			b.Append(name, expression(t, depth+1))
		}
		if len(needed) == 0 {
			return expression(t, depth+1)
		}
	}
	if rapid.IntRange(0, 9).Draw(t, "more") == 0 {
		b.Append(rapid.SampledFrom(argumentNames).Draw(t, "extra"), expression(t, depth+1))
	}
	return value.Document(b.Doc())
}

const fuzzDoc = `{a: {b: 3, c: 'x'}, arr: [{x: 1}, {x: 'b'}, 5, null], s: 'hello', n: null, d: date('2020-02-29T12:00:00Z')}`

// checkAnything compiles and evaluates an expression: the outcome must be a value, which
// is valid BSON, or an error with a code.
func checkAnything(t interface{ Fatalf(string, ...any) }, v value.Value, d value.Doc) {
	e, err := Compile(v, nil)
	if err != nil {
		if _, ok := errors.AsType[*mongoerr.Error](err); !ok {
			t.Fatalf("%s: error without a code: %v", v, err)
		}
		return
	}
	_ = e.Value()
	e.Deps(func(string) {}, func() {})
	out, err := e.Eval(NewEnv(0), d)
	if err != nil {
		if mongoerr.CodeOf(err) == mongoerr.InternalError {
			t.Fatalf("%s: internal error: %v", v, err)
		}
		return
	}
	if err := value.Validate(value.NewDoc("v", out)); err != nil {
		t.Fatalf("%s = %s: %v", v, out, err)
	}
}

func TestAnyExpression(t *testing.T) {
	d := parse(t, fuzzDoc).Doc()
	rapid.Check(t, func(t *rapid.T) { checkAnything(t, expression(t, 0), d) })
}

func FuzzCompile(f *testing.F) {
	d := parse(f, fuzzDoc).Doc()
	for _, s := range []string{`{$add: ['$a.b', 1]}`, `{$map: {input: '$arr', in: '$$this.x'}}`, `{$dateToString: {date: '$d', format: '%Y'}}`, `{$regexFindAll: {input: '$s', regex: 'l*'}}`, `{$convert: {input: '$s', to: 'int', onError: 0}}`} {
		f.Add([]byte(value.NewDoc("v", parse(f, s))))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if value.Validate(b) != nil {
			return
		}
		for _, v := range value.Doc(b).All() {
			checkAnything(t, v, d)
		}
	})
}
