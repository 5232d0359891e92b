package value_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/value"
)

// A Finder finds what Lookup finds, whatever documents it has read before.
func TestFinder(t *testing.T) {
	t.Parallel()
	names := []string{"", "a", "ab", "abcdef", "abcdefg", "abcdefgh", "abcdefghi", "b", "ÿ"}
	values := []value.Value{
		value.Int32(1), value.Int64(-1), value.Double(0.5), value.Null(), value.Undefined(), value.MinKey(), value.MaxKey(), value.Bool(true),
		value.String(""), value.String("a\x00b"), value.String("\x10a\x00\x01\x00\x00\x00"), value.Symbol("s"), value.Code("x"), value.DateTime(7), value.Timestamp(1, 2),
		value.Binary(0, []byte("xyz")), value.Binary(2, []byte("old")), value.Regex("p.*", "i"), value.ObjectID(value.NewOID(0)),
		value.DecimalValue(value.DecimalZero), value.NewArray(value.Int32(1), value.Null()), value.Document(value.NewDoc("a", value.Int32(5))),
		value.Document(value.EmptyDoc),
	}
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, 4, rapid.ID).Draw(t, "names")
		f := value.NewFinder(list...)
		shapes := rapid.SliceOfN(rapid.SliceOfN(rapid.SampledFrom(names), 0, 6), 1, 3).Draw(t, "shapes")
		for range rapid.IntRange(1, 60).Draw(t, "documents") {
			b := value.NewBuilder()
			for _, name := range rapid.SampledFrom(shapes).Draw(t, "shape") {
				b.Append(name, rapid.SampledFrom(values).Draw(t, "value"))
			}
			d := b.Doc()
			if rapid.IntRange(0, 9).Draw(t, "one by one") > 3 {
				checkFinder(t, &f, d, list)
				continue
			}
			if f.Reset(d); rapid.Bool().Draw(t, "all") {
				readFinder(t, &f, d, list)
			} else {
				f.Next() // what is left of the document does not matter
			}
		}
	})
}

// readFinder reads all fields at once.
func readFinder(t *rapid.T, f *value.Finder, d value.Doc, names []string) {
	found := make([]value.Value, len(names))
	for i := range found {
		found[i] = value.Int32(-99)
	}
	f.Read(d, found)
	for i, name := range names {
		if want := d.Lookup(name); !value.Identical(found[i], want) {
			t.Fatalf("%q in %s: %s, want %s", name, d, found[i], want)
		}
	}
}

func checkFinder(t *rapid.T, f *value.Finder, d value.Doc, names []string) {
	f.Reset(d)
	found := make([]value.Value, len(names))
	for i, v := f.Next(); i >= 0; i, v = f.Next() {
		if !found[i].IsMissing() {
			t.Fatalf("%q is found twice in %s", names[i], d)
		}
		found[i] = v
	}
	for i, name := range names {
		want := d.Lookup(name)
		if !value.Identical(found[i], want) || (f.Left()>>i&1 != 0) != want.IsMissing() {
			t.Fatalf("%q in %s: %s, want %s; left are %b", name, d, found[i], want, f.Left())
		}
	}
}

// More fields than a Finder learns, and documents that differ all the time.
func TestFinderOfManyFields(t *testing.T) {
	t.Parallel()
	f := value.NewFinder("x", "y")
	for n := range 300 {
		b := value.NewBuilder()
		for i := range n % 100 {
			b.Int32(strings.Repeat("f", i%11+n%3), int32(i))
		}
		d := b.Int32("y", 1).Int32("x", int32(n)).Null("z").Doc()
		f.Reset(d)
		if i, v := f.Next(); i != 1 || v.Int32() != 1 {
			t.Fatalf("%d: found %d, %s", n, i, v)
		}
		if i, v := f.Next(); i != 0 || v.Int32() != int32(n) {
			t.Fatalf("%d: found %d, %s", n, i, v)
		}
		if i, _ := f.Next(); i != -1 {
			t.Fatalf("%d: found %d more", n, i)
		}
	}
}

func BenchmarkFinder(b *testing.B) {
	f := value.NewFinder("status", "qty")
	for b.Loop() {
		f.Reset(lookupDoc)
		for i, _ := f.Next(); i >= 0; i, _ = f.Next() {
		}
	}
}
