package value

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"
)

// nested is JSON text that is n levels deep, in all ways in which it can be.
func nested(n int) map[string]string {
	return map[string]string{
		"arrays":          `{"a":` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + "}",
		"open arrays":     `{"a":` + strings.Repeat("[", n-1),
		"documents":       strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n),
		"open documents":  strings.Repeat(`{"a":`, n),
		"both":            strings.Repeat(`{"a":[`, n/2) + strings.Repeat("]}", n/2),
		"scopes":          strings.Repeat(`{"$code":"","$scope":{"a":`, n/2) + "1" + strings.Repeat("}}", n/2),
		"behind brackets": `{"a":"[[[[\"[[", "b":` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + "}",
	}
}

// No depth of JSON text, which recursive parsers read, can end the process.
func TestParseJSONLimitsDepth(t *testing.T) {
	for _, n := range []int{MaxDepth + 2, maxTextDepth + 2, 1_000_000} {
		for name, text := range nested(n) {
			_, err := ParseJSON(text)
			if err == nil {
				t.Errorf("%s, %d deep: no error", name, n)
			} else if len(err.Error()) > 2*maxErrorText {
				t.Errorf("%s, %d deep: an error of %d bytes", name, n, len(err.Error()))
			}
		}
	}
	for name, text := range nested(MaxDepth) {
		if _, err := ParseJSON(text); err != nil && !strings.HasPrefix(name, "open") && name != "scopes" {
			t.Errorf("%s, %d deep: %v", name, MaxDepth, err)
		}
	}
	deepest := nested(MaxDepth + 1)["arrays"]
	if _, err := ParseJSON(deepest); err != nil {
		t.Errorf("as deep as BSON may be: %v", err)
	}
	if _, err := ParseJSON(nested(MaxDepth + 2)["arrays"]); !errors.Is(err, ErrDepth) {
		t.Errorf("deeper than BSON may be: %v", err)
	}
}

// The text must be one document, and errors do not repeat it.
func TestParseJSONRefuses(t *testing.T) {
	long := strings.Repeat("9", 1<<20)
	for _, text := range []string{"", " ", "null", "1", "[]", `"{}"`, "{", `{"a":1`, `{"a":"}`, `{} x`, `{}{}`, `{"a":1} ]`, `{"a":1]`, `}{`,
		`{"a":` + long + `}`, `{"` + long + `":{"$oid":"x"}}`, `{"a":{"$date":"` + long + `"}}`, `{} ` + long, `{"a":{"` + long + `":[{"$numberInt":"x"}]}}`} {
		d, err := ParseJSON(text)
		if err == nil {
			t.Errorf("%.40s became %.40s", text, d)
		} else if len(err.Error()) > 2*maxErrorText {
			t.Errorf("%.40s: an error of %d bytes", text, len(err.Error()))
		}
	}
	if d, err := ParseJSON(" \r\n\t{\"a\": \"\\\"}\"} \n"); err != nil || d.Lookup("a").Str() != `"}` {
		t.Errorf("with space around: %v %v", d, err)
	}
}

func TestCut(t *testing.T) {
	for in, want := range map[string]string{"": "", "abcd": "abcd", "abcde": "abcd… (5 bytes)", "abcö": "abc… (5 bytes)", "äöü": "äö… (6 bytes)"} {
		if got := Cut(in, 4); got != want {
			t.Errorf("Cut(%q) = %q, want %q", in, got, want)
		}
	}
}

// anyDoc draws documents of all types.
func anyDoc(depth int) *rapid.Generator[bson.D] {
	return rapid.Custom(func(t *rapid.T) bson.D {
		d := bson.D{}
		for range rapid.IntRange(0, 4).Draw(t, "fields") {
			d = append(d, bson.E{Key: anyName.Draw(t, "name"), Value: anyValue(t, depth)})
		}
		return d
	})
}

var (
	anyText = rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"\x00\x1f\b\f\n\r\t\"\\/<>&", "\u2028\u2029\ufffd\U0001f600", "\xff\xc3", strings.Repeat("ä\xe2", 5000), strings.Repeat("x€", 3000)}))
	anyName = rapid.Map(anyText, func(s string) string { return strings.ReplaceAll(s, "\x00", "") })
)

func anyValue(t *rapid.T, depth int) any {
	kinds := 21
	if depth == 0 {
		kinds = 18
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return rapid.Float64().Draw(t, "double")
	case 1:
		return rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1, 1e15, 1e20, 1e21, 1e-7, 5e-324, math.MaxFloat64, math.NaN(), math.Inf(1), math.Inf(-1)}).Draw(t, "double")
	case 2, 3:
		return anyText.Draw(t, "text")
	case 4:
		b := bson.Binary{Subtype: rapid.Byte().Draw(t, "subtype"), Data: rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "data")}
		if b.Subtype == 2 && len(b.Data) == 0 { // the driver takes its inner length for data; mongod does not
			b.Subtype = 0
		}
		return b
	case 5:
		return bson.Binary{Subtype: 2, Data: bytes.Repeat([]byte{7}, rapid.IntRange(3000, 9000).Draw(t, "length"))}
	case 6:
		return bson.ObjectID(rapid.SliceOfN(rapid.Byte(), 12, 12).Draw(t, "oid"))
	case 7:
		return rapid.Bool().Draw(t, "bool")
	case 8:
		return bson.DateTime(rapid.Int64Range(-1e16, 1e16).Draw(t, "date"))
	case 9:
		return nil
	case 10:
		return bson.Regex{Pattern: anyName.Draw(t, "pattern"), Options: rapid.StringOf(rapid.SampledFrom([]rune("ximsu"))).Draw(t, "options")}
	case 11:
		return bson.JavaScript(anyText.Draw(t, "code"))
	case 12:
		return bson.Symbol(anyText.Draw(t, "symbol"))
	case 13:
		return rapid.Int32().Draw(t, "int")
	case 14:
		return bson.Timestamp{T: rapid.Uint32().Draw(t, "t"), I: rapid.Uint32().Draw(t, "i")}
	case 15:
		return rapid.Int64().Draw(t, "long")
	case 16:
		return bson.NewDecimal128(rapid.Uint64().Draw(t, "high"), rapid.Uint64().Draw(t, "low"))
	case 17:
		return rapid.SampledFrom([]any{bson.MinKey{}, bson.MaxKey{}, bson.Undefined{}, bson.DateTime(0), bson.DateTime(253402300799999), bson.DateTime(253402300800000),
			bson.DBPointer{DB: "db.c", Pointer: bson.ObjectID{1}}}).Draw(t, "rare")
	case 18:
		return bson.CodeWithScope{Code: bson.JavaScript(anyText.Draw(t, "code")), Scope: anyDoc(depth-1).Draw(t, "scope")}
	case 19:
		return anyDoc(depth-1).Draw(t, "document")
	}
	a := bson.A{}
	for range rapid.IntRange(0, 4).Draw(t, "elements") {
		a = append(a, anyValue(t, depth-1))
	}
	return a
}

// The text is that of MongoDB's Go driver, however the document arrives.
func TestWriteJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw, err := bson.Marshal(anyDoc(3).Draw(t, "document"))
		if err != nil {
			t.Skip(err)
		}
		for _, canonical := range []bool{false, true} {
			want, err := bson.MarshalExtJSON(bson.Raw(raw), canonical, false)
			if err != nil {
				t.Skip(err)
			}
			if got := Doc(raw).json(canonical); got != string(want) {
				t.Fatalf("got\n%.2000q, want\n%.2000q", got, want)
			}
			for name, r := range map[string]io.Reader{"bytes": iotest.OneByteReader(bytes.NewReader(raw)), "halves": iotest.HalfReader(bytes.NewReader(raw))} {
				var b bytes.Buffer
				if err := WriteJSON(&b, r, canonical); err != nil || !bytes.Equal(b.Bytes(), want) {
					t.Fatalf("in %s: %v\n%.2000q, want\n%.2000q", name, err, b.Bytes(), want)
				}
			}
		}
	})
}

// A binary of subtype 2 has its length once more within (BSON specification), also without data.
func TestWriteEmptyOldBinary(t *testing.T) {
	raw, err := bson.Marshal(bson.D{{Key: "a", Value: bson.Binary{Subtype: 2}}})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"a":{"$binary":{"base64":"","subType":"02"}}}`
	var b bytes.Buffer
	if err := WriteJSON(&b, bytes.NewReader(raw), true); err != nil || b.String() != want || Doc(raw).json(true) != want {
		t.Errorf("%s, %v, %s", &b, err, Doc(raw).json(true))
	}
}

// Broken and deep BSON is an error, never more: the input of FuzzWriteJSON is not validated.
func TestWriteJSONRefuses(t *testing.T) {
	d := MustJSON(`{"a": {"b": [1, "x", {"$binary": {"base64": "AAAA", "subType": "00"}}, {"$regularExpression": {"pattern": "p", "options": "i"}}]}}`)
	for n := range len(d) {
		if err := WriteJSON(io.Discard, bytes.NewReader(d[:n]), false); err == nil {
			t.Errorf("%d of %d bytes: no error", n, len(d))
		}
	}
	for depth, want := range map[int]error{maxJSONDepth: nil, maxJSONDepth + 1: ErrDepth, 100_000: ErrDepth} {
		if err := WriteJSON(io.Discard, bytes.NewReader(deep(depth)), false); !errors.Is(err, want) {
			t.Errorf("%d deep: %v, want %v", depth, err, want)
		}
	}
	if err := WriteJSON(broken{}, bytes.NewReader(d), false); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a writer that fails: %v", err)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// deep is a document with n documents in one another.
func deep(n int) []byte {
	var b []byte
	for range n {
		b = append(b, 255, 255, 255, 127, byte(KindDocument), 0)
	}
	b = append(b, 5, 0, 0, 0, 0)
	return append(b, make([]byte, n)...)
}

// What ParseJSON accepts is valid BSON whose canonical text leads back to it; nothing makes
// it, or WriteJSON, end the process.
func FuzzParseJSON(f *testing.F) {
	for _, n := range []int{3, MaxDepth, maxTextDepth + 2} {
		for _, text := range nested(n) {
			f.Add(text)
		}
	}
	f.Add(`{"a":{"$date":{"$numberLong":"1"}},"b":{"$uuid":"00112233-4455-6677-8899-aabbccddeeff"},"c":{"$code":"f","$scope":{}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ParseJSON(text)
		if err != nil {
			return
		}
		if err := Validate(d); err != nil {
			t.Fatalf("%q became invalid: %v", text, err)
		}
		var b bytes.Buffer
		if err := WriteJSON(&b, bytes.NewReader(d), true); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
	})
}

// Input that is no BSON may give any text or an error, and takes time and memory in
// proportion to its length.
func FuzzWriteJSON(f *testing.F) {
	f.Add([]byte(MustJSON(`{"a": {"b": [1, "x", {"$binary": {"base64": "AAAA", "subType": "02"}}]}}`)))
	f.Add(deep(300))
	f.Fuzz(func(t *testing.T, b []byte) {
		var out bytes.Buffer
		if err := WriteJSON(&out, bytes.NewReader(b), true); err == nil && out.Len() > 200+100*len(b) {
			t.Errorf("%d bytes became %d", len(b), out.Len())
		}
	})
}
