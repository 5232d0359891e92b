package value_test

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/value"
)

// ordered lists values in MongoDB's order, each group equal among itself,
// as the manual's "Comparison/Sort Order" and its number rules have it.
var ordered = [][]value.Value{
	{value.MinKey()},
	{{}, value.Undefined()},
	{value.Null()},
	{value.Double(math.NaN()), decimal("NaN")},
	{value.Double(math.Inf(-1)), decimal("-Infinity")},
	{decimal("-1E+400")},
	{value.Double(-math.MaxFloat64)},
	{value.Int64(math.MinInt64), value.Double(math.MinInt64), decimal("-9223372036854775808")},
	{value.Int64(-9007199254740993), decimal("-9007199254740993")},
	{value.Int64(-9007199254740992), value.Double(-9007199254740992)},
	{value.Double(-1.5), decimal("-1.50")},
	{value.Int32(-1), value.Int64(-1), value.Double(-1), decimal("-1"), decimal("-1.000")},
	{decimal("-1E-400")},
	{value.Int32(0), value.Int64(0), value.Double(0), value.Double(math.Copysign(0, -1)), decimal("0"), decimal("-0E+3")},
	{decimal("1E-400")},
	{value.Double(math.SmallestNonzeroFloat64)},
	{decimal("0.1")},
	{value.Double(0.1)}, // the double is a little more than a tenth
	{value.Double(0.3)}, // a little less than three tenths
	{decimal("0.3")},
	{value.Double(0.30000000000000004)},
	{value.Int32(1), value.Int64(1), value.Double(1), decimal("1.0")},
	{value.Int64(9007199254740992), value.Double(9007199254740992)},
	{value.Int64(9007199254740993), decimal("9007199254740993")},
	{value.Double(9007199254740994), value.Int64(9007199254740994)},
	{value.Int64(math.MaxInt64), decimal("9223372036854775807")},
	{value.Double(math.MaxInt64)}, // rounds up to 2^63
	{value.Double(math.MaxFloat64)},
	{decimal("1E+400")},
	{decimal("9.99E+400")},
	{value.Double(math.Inf(1)), decimal("Infinity")},
	{value.String(""), value.Symbol("")},
	{value.String("\x00")},
	{value.String("A")},
	{value.String("AB")},
	{value.String("a")},
	{value.String("é")},
	{doc(`{}`)},
	{doc(`{"a": null}`)},
	{doc(`{"a": 1}`), doc(`{"a": {"$numberDouble": "1"}}`)},
	{doc(`{"a": 1, "b": 1}`)},
	{doc(`{"a": 2}`)},
	{doc(`{"b": 1}`)},
	{doc(`{"a": "x"}`)}, // the type is compared before the name
	{value.NewArray()},
	{value.NewArray(value.Int32(1))},
	{value.NewArray(value.Int32(1), value.Int32(1))},
	{value.NewArray(value.Int32(2))},
	{value.Binary(0, nil)},
	{value.Binary(0, []byte{9})},
	{value.Binary(5, []byte{1})}, // length, then subtype, then bytes
	{value.Binary(0, []byte{1, 1})},
	{value.ObjectID(value.OID{})},
	{value.ObjectID(value.OID{1})},
	{value.Bool(false)},
	{value.Bool(true)},
	{value.DateTime(math.MinInt64)},
	{value.DateTime(-1)},
	{value.DateTime(0)},
	{value.DateTime(1)},
	{value.Timestamp(0, 1)},
	{value.Timestamp(1, 0)},
	{value.Timestamp(math.MaxUint32, 0)},
	{value.Regex("a", "")},
	{value.Regex("a", "i")},
	{value.Regex("b", "")},
	{value.Code("x")},
	{value.MaxKey()},
}

func decimal(s string) value.Value {
	d, ok := value.ParseDecimal(s)
	if !ok {
		panic("not a decimal: " + s)
	}
	return value.DecimalValue(d)
}

func doc(s string) value.Value { return value.Document(value.MustJSON(s)) }

func TestOrder(t *testing.T) {
	for i, left := range ordered {
		for j, right := range ordered {
			want := sign(i - j)
			for _, a := range left {
				for _, b := range right {
					if got := sign(value.Compare(a, b)); got != want {
						t.Errorf("Compare(%s %s, %s %s) = %d, want %d", a.Kind(), a, b.Kind(), b, got, want)
					}
					ka, kb := value.AppendKey(nil, a), value.AppendKey(nil, b)
					if got := bytes.Compare(ka, kb); got != want {
						t.Errorf("keys of %s %s and %s %s compare %d, want %d", a.Kind(), a, b.Kind(), b, got, want)
					}
				}
			}
		}
	}
}

func sign(n int) int { return min(max(n, -1), 1) }

// scalars draws values of every type, close to each other so that equality
// and near misses happen.
func scalars() *rapid.Generator[value.Value] {
	near := rapid.SampledFrom([]int64{-9007199254740993, -2, -1, 0, 1, 2, 255, 256, 9007199254740992, 9007199254740993, math.MaxInt64, math.MinInt64})
	return rapid.OneOf(
		rapid.Map(near, value.Int64),
		rapid.Map(rapid.Int32(), value.Int32),
		rapid.Map(rapid.Int64(), value.Int64),
		rapid.Map(near, func(n int64) value.Value { return value.Double(float64(n)) }),
		rapid.Map(rapid.Float64(), value.Double),
		rapid.Map(near, func(n int64) value.Value { return value.DecimalValue(value.DecimalFromInt64(n)) }),
		rapid.Custom(func(t *rapid.T) value.Value {
			return decimal(rapid.StringMatching(`-?[0-9]{1,34}E[+-]?[0-9]{1,4}`).Draw(t, "decimal"))
		}),
		rapid.Map(rapid.StringOfN(rapid.SampledFrom([]rune{0, 1, 'a', 'b', 'é', 0xff}), 0, 4, -1), value.String),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 4), func(b []byte) value.Value { return value.Binary(b4(b), b) }),
		rapid.Map(rapid.Int64(), value.DateTime),
		rapid.Map(rapid.Bool(), value.Bool),
		rapid.SampledFrom([]value.Value{{}, value.Null(), value.MinKey(), value.MaxKey(), value.Undefined(), value.ObjectID(value.OID{7})}),
		rapid.Custom(func(t *rapid.T) value.Value {
			return value.Timestamp(rapid.Uint32().Draw(t, "t"), rapid.Uint32().Draw(t, "i"))
		}),
		rapid.Custom(func(t *rapid.T) value.Value {
			s := rapid.StringMatching(`[ab]{0,2}`)
			return value.Regex(s.Draw(t, "pattern"), s.Draw(t, "options"))
		}),
	)
}

func b4(b []byte) byte { return byte(len(b) % 3) }

func anyValue(depth int) *rapid.Generator[value.Value] {
	if depth == 0 {
		return scalars()
	}
	inner := rapid.Deferred(func() *rapid.Generator[value.Value] { return anyValue(depth - 1) })
	return rapid.OneOf(
		scalars(),
		rapid.Map(rapid.SliceOfN(inner, 0, 3), func(vs []value.Value) value.Value { return value.NewArray(vs...) }),
		rapid.Custom(func(t *rapid.T) value.Value {
			b := value.NewBuilder()
			for range rapid.IntRange(0, 3).Draw(t, "fields") {
				b.Append(rapid.StringMatching(`[ab]{0,2}`).Draw(t, "name"), inner.Draw(t, "value"))
			}
			return value.Document(b.Doc())
		}),
	)
}

// TestKeysAgreeWithCompare is the property that indexes rest on.
func TestKeysAgreeWithCompare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyValue(2).Draw(t, "a"), anyValue(2).Draw(t, "b")
		ka, kb := value.AppendKey(nil, a), value.AppendKey(nil, b)
		want := sign(value.Compare(a, b))
		if got := bytes.Compare(ka, kb); got != want {
			t.Fatalf("Compare %d, keys %d\n%x\n%x", want, got, ka, kb)
		}
		if got := bytes.Compare(value.AppendKeyDesc(nil, a, nil), value.AppendKeyDesc(nil, b, nil)); got != -want {
			t.Fatalf("descending keys %d, want %d", got, -want)
		}
		if want != 0 && (bytes.HasPrefix(ka, kb) || bytes.HasPrefix(kb, ka)) {
			t.Fatalf("one key is the beginning of the other:\n%x\n%x", ka, kb)
		}
	})
}

// TestCompareIsAnOrder checks that sorting gives one result whatever the
// order before.
func TestCompareIsAnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vs := rapid.SliceOfN(anyValue(1), 2, 6).Draw(t, "values")
		for _, a := range vs {
			for _, b := range vs {
				if sign(value.Compare(a, b)) != -sign(value.Compare(b, a)) {
					t.Fatalf("%s against %s is not antisymmetric", a, b)
				}
			}
		}
		other := slices.Clone(vs)
		slices.Reverse(other)
		slices.SortStableFunc(vs, value.Compare)
		slices.SortStableFunc(other, value.Compare)
		for i := range vs {
			if value.Compare(vs[i], other[i]) != 0 {
				t.Fatalf("place %d: %s or %s", i, vs[i], other[i])
			}
		}
	})
}

// TestMarshalRoundTrip checks that values survive storage.
func TestMarshalRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := anyValue(2).Draw(t, "v")
		back := value.Unmarshal(value.Marshal(nil, v))
		if back.Kind() != v.Kind() || value.Compare(back, v) != 0 {
			t.Fatalf("%s came back as %s", v, back)
		}
		d := value.NewDoc("x", v)
		if err := value.Validate(d); err != nil {
			t.Fatalf("built document is invalid: %v", err)
		}
		if got := d.Lookup("x"); got.Kind() != v.Kind() || value.Compare(got, v) != 0 {
			t.Fatalf("%s was read as %s", v, got)
		}
	})
}

func BenchmarkAppendKey(b *testing.B) {
	vs := []value.Value{value.Int32(7), value.String("the quick brown fox"), value.Double(1.5), value.DateTime(1), value.ObjectID(value.OID{1})}
	buf := make([]byte, 0, 64)
	b.ReportAllocs()
	for i := range b.N {
		buf = value.AppendKey(buf[:0], vs[i%len(vs)])
	}
}

func BenchmarkCompare(b *testing.B) {
	x, y := value.MustJSON(`{"a": 1, "b": "text", "c": [1, 2, 3]}`), value.MustJSON(`{"a": 1, "b": "text", "c": [1, 2, 4]}`)
	b.ReportAllocs()
	for range b.N {
		value.CompareDocs(x, y, nil)
	}
}
