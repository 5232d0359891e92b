package value

import (
	"math"
	"strings"
	"testing"
)

// Values in the notation of the operator << of mongod's class Value, and in that of
// BSONElement, which has spaces inside brackets.
func TestCompact(t *testing.T) {
	for _, tt := range []struct{ json, compact, plain string }{
		{`{"k": "key", "z": {"$numberInt": "2"}}`, `{k: "key", z: 2}`, `{ k: "key", z: 2 }`},
		{`{"a": [1, [2, {"b": null}], []], "d": {}}`, `{a: [1, [2, {b: null}], []], d: {}}`, `{ a: [ 1, [ 2, { b: null } ], [] ], d: {} }`},
		{`{"a": {"$numberDouble": "1.0"}, "b": {"$numberDouble": "0.333333333333"}, "c": {"$numberDouble": "1e20"}, "d": {"$numberDouble": "1234567"}}`,
			`{a: 1, b: 0.333333, c: 1e+20, d: 1.23457e+06}`, `{ a: 1.0, b: 0.333333333333, c: 1e+20, d: 1234567.0 }`},
		{`{"a": {"$date": "2018-05-01T10:00:00.5Z"}, "b": {"$date": {"$numberLong": "-99999999999999"}}}`,
			`{a: 2018-05-01T10:00:00.500Z, b: -99999999999999}`, `{ a: new Date(1525168800500), b: new Date(-99999999999999) }`},
		{`{"a": {"$oid": "5ab9cbe531c2ab715d42129a"}}`, `{a: 5ab9cbe531c2ab715d42129a}`, `{ a: ObjectId('5ab9cbe531c2ab715d42129a') }`},
		{`{"a": {"$symbol": "x"}, "b": {"$code": "f"}, "c": {"$binary": {"base64": "qg==", "subType": "00"}}}`,
			`{a: Symbol("x"), b: Code("f"), c: BinData(0, "AA")}`, `{ a: "x", b: f, c: BinData(0, AA) }`},
		{`{"a": {"$code": "f", "$scope": {"x": 1}}, "b": {"$dbPointer": {"$ref": "c", "$id": {"$oid": "5ab9cbe531c2ab715d42129a"}}}}`,
			`{a: CodeWScope("f", { x: 1 }), b: DBRef("c", 5ab9cbe531c2ab715d42129a)}`, `{ a: CodeWScope( f, { x: 1 }), b: DBRef('c',5ab9cbe531c2ab715d42129a) }`},
		{`{"a": {"$numberDecimal": "1.50"}, "b": {"$timestamp": {"t": 1, "i": 2}}, "c": {"$regularExpression": {"pattern": "x", "options": "i"}}, "d": {"$minKey": 1}, "e": true}`,
			`{a: 1.50, b: Timestamp(1, 2), c: /x/i, d: MinKey, e: true}`, `{ a: 1.50, b: Timestamp(1, 2), c: /x/i, d: MinKey, e: true }`},
	} {
		v := Document(MustJSON(tt.json))
		if v.Compact() != tt.compact || v.String() != tt.plain {
			t.Errorf("%s\n%s\nwant %s\n     %s", v.Compact(), v, tt.compact, tt.plain)
		}
	}
	for f, want := range map[float64]string{math.Inf(1): "inf", math.Inf(-1): "-inf", math.NaN(): "nan"} {
		if got := Double(f).Compact(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := (Value{}).Compact(); got != "MISSING" {
		t.Error(got)
	}
}

// FormatDouble prints what C's %.16g does, with .0 where that leaves neither point nor exponent.
func TestFormatDouble(t *testing.T) {
	for f, want := range map[float64]string{
		1: "1.0", math.Copysign(0, -1): "-0.0", 0.1: "0.1", 0.1 + 0.2: "0.3", 1.0 / 3: "0.3333333333333333",
		1234567: "1234567.0", -2147483648: "-2147483648.0", 123456789.123456789: "123456789.1234568",
		1e15: "1000000000000000.0", 1e16: "1e+16", 1e20: "1e+20", 1e-5: "1e-05", 1e-308: "9.999999999999999e-309",
		5e-324: "4.940656458412465e-324", 2.2250738585072014e-308: "2.225073858507201e-308",
		math.NaN(): "nan", math.Inf(1): "inf", math.Inf(-1): "-inf",
	} {
		if got := FormatDouble(f); got != want {
			t.Errorf("%v: %s, want %s", f, got, want)
		}
	}
}

// Abridged cuts strings, symbols and code, and binary data, where BSONElement::toString does.
func TestAbridged(t *testing.T) {
	long, code := strings.Repeat("°", 80), strings.Repeat("f", 80)
	b := NewBuilder().String("s", long).String("short", long[:158]).Append("c", Code(code)).Append("b", Binary(0, make([]byte, 81))).
		Append("b80", Binary(0, make([]byte, 80))).StartArray("l").String("", "x"+long).End()
	want := `{ s: "` + long[:150] + `...", short: "` + long[:158] + `", c: ` + code[:70] + `..., b: BinData(0, ` + strings.Repeat("00", 70) +
		`...), b80: BinData(0, ` + strings.Repeat("00", 80) + `), l: [ "` + ("x" + long)[:150] + `..." ] }`
	if got := b.Doc().Abridged(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if whole := b.Doc().String(); strings.Contains(whole, "...") {
		t.Error(whole)
	}
}
