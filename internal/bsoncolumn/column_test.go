package bsoncolumn

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/value"
)

// texts decodes a column to shell text, one for each row.
func texts(t *testing.T, column []byte) ([]string, error) {
	t.Helper()
	var out []string
	err := Decode(column, &Limit{Rows: 5000, Bytes: 1 << 20}, func(row int, v value.Value) {
		if row != len(out) {
			t.Fatalf("row %d after %d", row, len(out))
		}
		out = append(out, v.String())
	})
	return out, err
}

// Columns that servers of several versions wrote, as their documentation, logs and
// bug reports show them.
func TestColumnsOfMongod(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"CQDoAwAAAAAAAAA=", `new Date(1000)`},
		{"AQAAAAAAAADwPwA=", `1.0`},
		{"AgAEAAAAZm9vAAA=", `"foo"`},
		{"AgALAAAAcHJlVXBncmFkZQAA", `"preUpgrade"`},
		{"BwBk3UrposROddEVEoUA", `ObjectId('64dd4ae9a2c44e75d1151285')`},
		{"CQAYhggUjQEAAIAOAAAAAAAAAAA=", `new Date(1705438119448) new Date(1705438119448)`},
		{"AQAAAAAAAAAAAJAuAAAAAAAAAAA=", `0.0 1.0`},
		{"BwBlpuun5tLoSOCMN1CALgAAAAAAAAAA", `ObjectId('65a6eba7e6d2e848e08c3750') ObjectId('65a6eba7e6d2e848e08c3751')`},
	} {
		column, err := base64.StdEncoding.DecodeString(tt.in)
		if err != nil {
			t.Fatal(err)
		}
		got, err := texts(t, column)
		if err != nil || strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %s, %v", tt.in, got, err)
		}
	}
}

// word packs slots of a width, after the selectors; absent slots are missing values.
func word(selectors uint64, bits uint, slots ...uint64) []byte {
	at := uint(4)
	if s := selectors & 15; s == 7 || s == 8 {
		at = 8
	}
	w := selectors
	for ; at+bits <= 64; at += bits {
		slot := uint64(1)<<bits - 1
		if len(slots) > 0 {
			slot, slots = slots[0], slots[1:]
		}
		w |= slot << at
	}
	return binary.LittleEndian.AppendUint64(nil, w)
}

// zigzag is the form in which a difference is stored.
func zigzag(n int64) uint64 { return uint64(n<<1) ^ uint64(n>>63) }

// literal is an element without a name.
func literal(v value.Value) []byte {
	b := value.Marshal(nil, v)
	return slices.Insert(b, 1, 0)
}

// join ends a column.
func join(parts ...[]byte) []byte { return append(slices.Concat(parts...), 0) }

// long is the literal 0 and one word of differences.
func long(w []byte) []byte { return join(literal(value.Int64(0)), []byte{0x80}, w) }

// Every selector divides a word as the format says.
func TestSelectors(t *testing.T) {
	plain := []struct {
		selectors uint64
		bits      uint
	}{{2, 2}, {3, 3}, {4, 4}, {5, 5}, {6, 6}, {7, 7}, {8, 8}, {9, 10}, {10, 12}, {11, 15}, {12, 20}, {13, 30}, {14, 60}}
	for _, p := range plain {
		got, err := texts(t, long(word(p.selectors, p.bits, zigzag(1))))
		if err != nil || got[0] != "0" || got[1] != "1" {
			t.Errorf("selector %d: %s, %v", p.selectors, got, err)
		}
		if n := int(60 / p.bits); p.selectors != 7 && p.selectors != 8 && len(got) != n+1 {
			t.Errorf("selector %d has %d slots", p.selectors, len(got)-1)
		}
	}
	seven := []uint{2, 3, 4, 5, 7, 10, 14, 24, 52}
	for i, bits := range seven {
		got, err := texts(t, long(word(7|uint64(i+1)<<4, bits+4, zigzag(1)>>1<<4|3, 1<<4|2)))
		if want := []string{"0", "4", "6"}; err != nil || !slices.Equal(got[:min(3, len(got))], want[:min(3, len(got))]) || len(got) != 1+int(56/(bits+4)) {
			t.Errorf("selector 7, %d: %s, %v", i+1, got, err)
		}
	}
	eight := []struct{ bits, zeros uint }{{4, 4}, {5, 4}, {7, 4}, {10, 4}, {14, 4}, {24, 4}, {52, 4}, {4, 5}, {6, 5}, {9, 5}, {13, 5}, {23, 5}, {51, 5}}
	for i, e := range eight {
		got, err := texts(t, long(word(8|uint64(i+1)<<4, e.bits+e.zeros, 1<<e.zeros|3)))
		if err != nil || got[1] != "2048" || len(got) != 1+int(56/(e.bits+e.zeros)) {
			t.Errorf("selector 8, %d: %s, %v", i+1, got, err)
		}
	}
	for _, bad := range []uint64{0, 7 | 10<<4, 8 | 14<<4, 8 | 15<<4} {
		if got, err := texts(t, long(binary.LittleEndian.AppendUint64(nil, bad))); err == nil {
			t.Errorf("selectors %#x: %s", bad, got)
		}
	}
}

// A run repeats the last slot, also one of a part before; without one before it, the
// value does not change.
func TestRuns(t *testing.T) {
	run := func(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, 15|(n-1)<<4) }
	got, err := texts(t, join(literal(value.Int32(7)), []byte{0x80}, run(2)))
	if err != nil || len(got) != 241 || got[240] != "7" {
		t.Errorf("%d rows, %v", len(got), err)
	}
	got, err = texts(t, join(literal(value.Int32(7)), []byte{0x80}, word(14, 60, zigzag(-2)), []byte{0x80}, run(1)))
	if err != nil || len(got) != 122 || got[1] != "5" || got[121] != "-235" {
		t.Errorf("%d rows, %v", len(got), err)
	}
	if _, err = texts(t, join(literal(value.Int32(7)), slices.Repeat(append([]byte{0x80}, run(16)...), 3))); !errors.Is(err, errTooLarge) {
		t.Errorf("5761 rows: %v", err)
	}
}

// Each type has its own numbers.
func TestDifferences(t *testing.T) {
	deltas := func(list ...int64) []byte {
		var b []byte
		for i, n := range list {
			if i%16 == 0 {
				b = append(b, 0x80|byte(min(16, len(list)-i)-1))
			}
			b = append(b, word(14, 60, zigzag(n))...)
		}
		return b
	}
	scaled := func(control byte, n int64) []byte { return append([]byte{control}, word(14, 60, zigzag(n))...) }
	id, ok := value.ParseOID("65a6eba7e6d2e848e08c3750")
	if !ok {
		t.Fatal("id")
	}
	for _, tt := range []struct {
		name string
		in   []byte
		want string
	}{
		{"int", join(literal(value.Int32(5)), deltas(1, -7)), "5 6 -1"},
		{"long", join(literal(value.Int64(1<<40)), deltas(1, 0)), "1099511627776 1099511627777 1099511627777"},
		{"bool", join(literal(value.Bool(false)), deltas(1, 0, -1)), "false true true false"},
		{"date", join(literal(value.DateTime(1000)), deltas(1000, 0, 1)), "new Date(1000) new Date(2000) new Date(3000) new Date(4001)"},
		{"timestamp", join(literal(value.Timestamp(1, 1)), deltas(1, 0)), "Timestamp(1, 1) Timestamp(1, 2) Timestamp(1, 3)"},
		{"ObjectId", join(literal(value.ObjectID(id)), deltas(1, 1<<8)), "ObjectId('65a6eba7e6d2e848e08c3750') ObjectId('65a6eba7e6d2e848e08c3751') ObjectId('65a6eba8e6d2e848e08c3752')"},
		{"double, tenths", join(literal(value.Double(1.5)), scaled(0xa0, 1)), "1.5 1.6"},
		{"double, hundredths", join(literal(value.Double(1.5)), scaled(0xb0, -1), scaled(0x90+0x20, 1)), "1.5 1.49 1.5"},
		{"double, bits", join(literal(value.Double(1)), scaled(0x80, 10)), "1.0 1.000000000000002"},
		{"string", join(literal(value.String("ab")), deltas(1, 'x'<<16)), `"ab" "ac" "xac"`},
		{"empty string", join(literal(value.String("")), deltas('a')), `"" "a"`},
		{"code", join(literal(value.Code("f1")), deltas(1)), `f1 f2`},
		{"binary", join(literal(value.Binary(0, []byte{1, 2, 3})), deltas(1)), "BinData(0, 010203) BinData(0, 020203)"},
		{"null", join(literal(value.Null()), deltas(0)), "null null"},
		{"document", join(literal(value.Document(value.MustJSON(`{"a":1}`))), deltas(0)), "{ a: 1 } { a: 1 }"},
		{"long string", join(literal(value.String("abcdefghijklmnopqrstuvwxyz")), deltas(0)), `"abcdefghijklmnopqrstuvwxyz" "abcdefghijklmnopqrstuvwxyz"`},
		{"keys", join(literal(value.MinKey()), literal(value.MaxKey())), "MinKey MaxKey"},
		{"missing", join(literal(value.Int32(1)), []byte{0x80}, word(13, 30, zigzag(1))), "1 2 missing"},
		{"missing first", join([]byte{0x80}, word(13, 30), literal(value.Int32(1))), "missing missing 1"},
	} {
		got, err := texts(t, tt.in)
		if err != nil || strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %s, %v; want %s", tt.name, strings.Join(got, " "), err, tt.want)
		}
	}
	for name, in := range map[string][]byte{
		"empty": {}, "no end": literal(value.Int32(1)), "after the end": append(join(literal(value.Int32(1))), 0),
		"scale of an int": join(literal(value.Int32(1)), scaled(0x90, 1)), "difference of null": join(literal(value.Null()), deltas(1)),
		"scale too coarse": join(literal(value.Double(1.25)), scaled(0xa0, 1)), "NaN with a scale": join(literal(value.Double(nan())), scaled(0x90, 1)),
		"named literal": join([]byte{0x10, 'a', 0, 1, 0, 0, 0}), "unknown type": join([]byte{0x1f, 0}),
		"words cut": {0x10, 0, 1, 0, 0, 0, 0x81, 0, 0, 0, 0, 0, 0, 0, 0, 0}, "unknown control": join([]byte{0x60}, word(14, 60)),
	} {
		if got, err := texts(t, in); err == nil {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func nan() float64 { zero := 0.0; return zero / zero }

// Documents with the same fields are stored field by field.
func TestInterleaved(t *testing.T) {
	part := func(control byte, reference string, parts ...[]byte) []byte {
		return append(append([]byte{control}, value.MustJSON(reference)...), append(slices.Concat(parts...), 0)...)
	}
	words := func(bits uint, selector uint64, deltas ...int64) []byte {
		var slots []uint64
		for _, n := range deltas {
			slots = append(slots, zigzag(n))
		}
		return append([]byte{0x80}, word(selector, bits, slots...)...)
	}
	for _, tt := range []struct {
		name string
		in   []byte
		want []string
	}{
		{"two fields", part(0xf1, `{"a":1,"b":{"c":10}}`, words(20, 12, 0, 1, 1), words(20, 12, 0, 5, -1)),
			[]string{"{ a: 1, b: { c: 10 } }", "{ a: 2, b: { c: 15 } }", "{ a: 3, b: { c: 14 } }"}},
		{"missing", part(0xf1, `{"a":1,"b":{"c":10}}`, words(30, 13, 0), words(30, 13)),
			[]string{"{ a: 1 }", "missing"}},
		{"empty below", part(0xf1, `{"a":1,"b":{}}`, words(30, 13, 0, 1)),
			[]string{"{ a: 1, b: {} }", "{ a: 2, b: {} }"}},
		{"array", part(0xf1, `{"a":[1,2]}`, words(30, 13, 0, 1), words(30, 13, 0, 1)),
			[]string{"{ a: [ 1, 2 ] }", "{ a: [ 2, 3 ] }"}},
		{"array, old", part(0xf0, `{"b":1,"a":[1,2]}`, words(30, 13, 0, 1), words(30, 13, 0, 0)),
			[]string{"{ b: 1, a: [ 1, 2 ] }", "{ b: 2, a: [ 1, 2 ] }"}},
		{"array at the root", part(0xf2, `{"0":1,"1":2}`, words(30, 13, 0, 1), words(30, 13, 0, 0)),
			[]string{"[ 1, 2 ]", "[ 2, 2 ]"}},
		{"literal between", part(0xf1, `{"a":1}`, words(60, 14, 0), literal(value.String("x")), words(60, 14, 1)),
			[]string{"{ a: 1 }", `{ a: "x" }`, `{ a: "y" }`}},
		{"fields of different lengths", part(0xf1, `{"a":1,"b":1}`, words(30, 13, 0, 1), words(60, 14, 0), words(60, 14, 2)),
			[]string{"{ a: 1, b: 1 }", "{ a: 2, b: 3 }"}},
	} {
		got, err := texts(t, join(tt.in))
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, %v", tt.name, got, err)
		}
	}
	// The last document may be repeated after the part.
	got, err := texts(t, join(part(0xf1, `{"a":1}`, words(60, 14, 4)), words(60, 14, 0), literal(value.Int32(3))))
	if err != nil || strings.Join(got, " ") != "{ a: 5 } { a: 5 } 3" {
		t.Errorf("after the part: %q, %v", got, err)
	}
	for name, in := range map[string][]byte{
		"no field": part(0xf1, `{"b":{}}`), "field without words": part(0xf1, `{"a":1,"b":1}`, words(60, 14, 0)),
		"ends in a row": part(0xf1, `{"a":1,"b":1}`, words(30, 13, 0, 1), words(60, 14, 0)), "reference cut": {0xf1, 9, 0, 0, 0, 0},
		"nested": part(0xf1, `{"a":1}`, part(0xf1, `{"a":1}`, words(60, 14, 4))),
	} {
		if got, err := texts(t, join(in)); err == nil {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// No input takes more than the limit, or panics; what is decoded is valid.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{"CQDoAwAAAAAAAAA=", "BwBlpuun5tLoSOCMN1CALgAAAAAAAAAA", "AgAEAAAAZm9vAAA="} {
		b, _ := base64.StdEncoding.DecodeString(s)
		f.Add(b)
	}
	f.Add(long(word(8|9<<4, 11, 40, 41)))
	f.Add(join(append(append([]byte{0xf1}, value.MustJSON(`{"a":1,"b":{"c":"x"}}`)...), 0x80)))
	f.Fuzz(func(t *testing.T, in []byte) {
		var b value.Builder
		b.Reset(nil)
		rows := 0
		if err := Decode(in, &Limit{Rows: 1000, Bytes: 1 << 16}, func(_ int, v value.Value) { b.Append("x", v); rows++ }); err != nil {
			return
		}
		if err := value.Validate(b.Doc()); err != nil || rows > 1000 {
			t.Errorf("%x: %d rows, %v", in, rows, err)
		}
	})
}
