package value_test

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/value"
)

// entry makes key and tail of some values.
func entry(vs []value.Value, desc []bool) []byte {
	var key []byte
	for i, v := range vs {
		if v.IsMissing() {
			v = value.Null()
		}
		if desc[i] {
			key = value.AppendKeyDesc(key, v, nil)
		} else {
			key = value.AppendKey(key, v)
		}
	}
	var t value.KeyTail
	t.Reset(key)
	for _, v := range vs {
		if v.IsMissing() {
			t.AddMissing(false)
		} else {
			t.Add(v)
		}
	}
	return t.Bytes(len(key))
}

// checkEntry reads an entry back and compares the values byte by byte.
func checkEntry(t interface {
	Errorf(string, ...any)
	Helper()
}, vs []value.Value, desc []bool) {
	t.Helper()
	key := entry(vs, desc)
	var r value.KeyReader
	r.Reset(key, desc)
	for i, v := range vs {
		got, ok := r.Next(desc[i])
		if !ok {
			t.Errorf("%s of %v cannot be read from %x", v, vs, key)
			return
		}
		if !bytes.Equal(value.Marshal(nil, got), value.Marshal(nil, v)) {
			t.Errorf("%s %s comes back as %s %s from %x", v.Kind(), v, got.Kind(), got, key)
		}
	}
}

func TestKeysAreReadBack(t *testing.T) {
	for _, group := range ordered {
		for _, v := range group {
			for _, desc := range [][]bool{{false, false}, {true, false}, {false, true}, {true, true}} {
				checkEntry(t, []value.Value{v, value.String("x")}, desc)
				checkEntry(t, []value.Value{value.Int64(3), v}, desc)
				checkEntry(t, []value.Value{value.Document(value.NewDoc("x", v)), value.NewArray(value.Double(2), v)}, desc)
			}
		}
	}
}

func TestUsualKeysHaveNoTail(t *testing.T) {
	for _, json := range []string{
		`{"a":1}`, `{"a":{"$numberLong":"5000000000"}}`, `{"a":1.5}`, `{"a":"x"}`, `{"a":{"$date":{"$numberLong":"1"}}}`,
		`{"a":null}`, `{"a":true}`, `{"a":{"$oid":"0102030405060708090a0b0c"}}`, `{"a":{"b":[1,"x"]}}`,
	} {
		v := value.MustJSON(json).Lookup("a")
		if key := entry([]value.Value{v}, []bool{false}); len(key) != value.KeyLen(key, false) {
			t.Errorf("%s has the tail %x", json, key[value.KeyLen(key, false):])
		}
	}
}

func TestLongTails(t *testing.T) {
	var many []value.Value
	for range 200 {
		many = append(many, value.Double(1))
	}
	desc := []bool{false}
	key := entry([]value.Value{value.NewArray(many...)}, desc)
	var r value.KeyReader
	r.Reset(key, desc)
	if _, ok := r.Next(false); ok {
		t.Error("a tail that was given up is read")
	}
}

// TestEntries draws keys of several values: what is read is what was written,
// and the tail changes no order.
func TestEntries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) ([]value.Value, []bool) {
			vs := rapid.SliceOfN(scalars(), 2, 2).Draw(t, name)
			return vs, []bool{rapid.Bool().Draw(t, "desc"), rapid.Bool().Draw(t, "desc")}
		}
		vs, desc := draw("values")
		checkEntry(t, vs, desc)
		others, _ := draw("others")
		a, b := entry(vs, desc), entry(others, desc)
		n := value.KeyLen(a, desc[0])
		n += value.KeyLen(a[n:], desc[1])
		if want := bytes.Compare(a[:n], b[:min(n, len(b))]); want != 0 && bytes.Compare(a, b) != want {
			t.Errorf("the tails of %x and %x change their order", a, b)
		}
	})
}

func FuzzKeyReader(f *testing.F) {
	for _, group := range ordered {
		f.Add(entry([]value.Value{group[0], value.Int32(1)}, []bool{false, false}))
	}
	f.Fuzz(func(_ *testing.T, key []byte) {
		for _, desc := range [][]bool{{false, true}, {true, false}} {
			var r value.KeyReader
			r.Reset(key, desc)
			for _, d := range desc {
				if v, ok := r.Next(d); ok {
					_ = value.Marshal(nil, v)
				}
			}
		}
	})
}

func BenchmarkKeyReader(b *testing.B) {
	desc := []bool{false, false}
	key := entry([]value.Value{value.String("a name"), value.Double(7)}, desc)
	b.ReportAllocs()
	var r value.KeyReader
	for b.Loop() {
		r.Reset(key, desc)
		r.Next(false)
		r.Next(false)
	}
}
