package timeseries

import (
	"encoding/json"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/value"
)

var seconds = &Options{TimeField: "t", MetaField: "m", Granularity: "seconds", MaxSpan: 3600, Rounding: 60}

func docs(list ...string) (out []value.Doc) {
	for _, s := range list {
		out = append(out, value.MustJSON(s))
	}
	return out
}

func TestBucketDocument(t *testing.T) {
	b := NewBucket(seconds, 600, field(`{"s":1}`), nil)
	for _, d := range docs(
		`{"t":{"$date":{"$numberLong":"614134"}},"_id":1,"m":{"s":1},"x":{"a":5,"b":[1,9]},"y":"s"}`,
		`{"t":{"$date":{"$numberLong":"610000"}},"m":{"s":1},"_id":2,"z":1.5,"x":{"a":3,"c":0,"b":[4]}}`,
		`{"t":{"$date":{"$numberLong":"700000"}},"m":{"s":1},"_id":3,"y":7}`,
	) {
		b.Append(d)
	}
	d := b.Doc()
	if err := value.Validate(d); err != nil {
		t.Fatal(err)
	}
	if got := d.Lookup("_id").ObjectID().Seconds(); got != 600 {
		t.Errorf("the id says %d", got)
	}
	want := `{"version":1,"min":{"t":{"$date":{"$numberLong":"600000"}},"_id":1,"x":{"a":3,"b":[1,9],"c":0},"y":7,"z":1.5},` +
		`"max":{"t":{"$date":{"$numberLong":"700000"}},"_id":3,"x":{"a":5,"b":[4,9],"c":0},"y":"s","z":1.5},"count":3}`
	if got := d.Lookup("control").Doc(); string(got) != string(value.MustJSON(want)) {
		t.Errorf("control %s\nwant    %s", got.JSON(), want)
	}
	if got := d.Lookup("data").Doc().JSON(); got != `{"t":{"0":{"$date":"1970-01-01T00:10:14.134Z"},"1":{"$date":"1970-01-01T00:10:10Z"},"2":{"$date":"1970-01-01T00:11:40Z"}},"_id":{"0":1,"1":2,"2":3},"x":{"0":{"a":5,"b":[1,9]},"1":{"a":3,"c":0,"b":[4]}},"y":{"0":"s","2":7},"z":{"1":1.5}}` {
		t.Error(got)
	}
	out, err := Unpack(seconds, d)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		`{"t":{"$date":"1970-01-01T00:10:14.134Z"},"m":{"s":1},"_id":1,"x":{"a":5,"b":[1,9]},"y":"s"}`,
		`{"t":{"$date":"1970-01-01T00:10:10Z"},"m":{"s":1},"_id":2,"x":{"a":3,"c":0,"b":[4]},"z":1.5}`,
		`{"t":{"$date":"1970-01-01T00:11:40Z"},"m":{"s":1},"_id":3,"y":7}`,
	} {
		if got := out[i].JSON(); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
	if n, err := Count(seconds, d); n != 3 || err != nil {
		t.Error(n, err)
	}
}

// genDoc makes a measurement with some fields of many types.
func genDoc(t *rapid.T, at int64, meta string) value.Doc {
	b := value.NewBuilder()
	if rapid.Bool().Draw(t, "id first") {
		b.Int32("_id", rapid.Int32().Draw(t, "_id"))
	}
	b.Date("t", at)
	if meta != "" {
		b.Append("m", field(meta))
	}
	for _, name := range []string{"a", "b", "c", "a"} { // a may come twice
		if rapid.IntRange(0, 3).Draw(t, "has "+name) > 0 {
			b.Append(name, genValue(t))
		}
	}
	return b.Doc()
}

func genValue(t *rapid.T) value.Value {
	switch rapid.IntRange(0, 12).Draw(t, "type") {
	case 0, 1, 2:
		return value.Double(float64(rapid.IntRange(-50, 50).Draw(t, "double")) / 4)
	case 3:
		return value.Int64(rapid.Int64().Draw(t, "long"))
	case 4:
		return value.Int32(rapid.Int32().Draw(t, "int"))
	case 5:
		return value.String(rapid.StringN(0, 5, 20).Draw(t, "string"))
	case 6:
		return value.DateTime(rapid.Int64().Draw(t, "date"))
	case 7:
		return value.NewArray(value.Int32(rapid.Int32Range(0, 20).Draw(t, "first")), value.Int32(rapid.Int32Range(0, 20).Draw(t, "second")))
	case 8:
		return value.Document(value.NewDoc("y", value.Int32(rapid.Int32Range(0, 20).Draw(t, "y")), "z", value.Bool(true)))
	case 9:
		return value.Null()
	case 10:
		return value.ObjectID(bucketID(rapid.Int64().Draw(t, "oid")))
	case 11:
		return value.Timestamp(rapid.Uint32().Draw(t, "seconds"), rapid.Uint32().Draw(t, "ordinal"))
	}
	return value.Binary(0, rapid.SliceOfN(rapid.Byte(), 0, 8).Draw(t, "binary"))
}

// expected returns what a bucket must return for a measurement: time, meta and the rest.
// Of a repeated field it returns the first.
func expected(d value.Doc) map[string]string {
	out := map[string]string{}
	for name, v := range d.All() {
		if _, twice := out[name]; !twice {
			out[name] = string(value.Marshal(nil, normalizeIf(name == "m", v)))
		}
	}
	return out
}

func normalizeIf(is bool, v value.Value) value.Value {
	if is {
		return normalize(v)
	}
	return v
}

func sameDoc(t *rapid.T, got, put value.Doc) {
	want := expected(put)
	n := 0
	for name, v := range got.All() {
		if want[name] != string(value.Marshal(nil, v)) {
			t.Fatalf("%s came back as %s", put, got)
		}
		n++
	}
	if n != len(want) {
		t.Fatalf("%s came back as %s", put, got)
	}
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		meta := rapid.SampledFrom([]string{"", `null`, `"s"`, `{"a":1}`}).Draw(t, "meta")
		b := NewBucket(seconds, 0, value.Value{}, nil)
		if meta != "" {
			b.meta = field(meta)
		}
		var in []value.Doc
		for range rapid.IntRange(1, 30).Draw(t, "n") {
			d := genDoc(t, rapid.Int64Range(0, 3599_999).Draw(t, "t"), meta)
			in = append(in, d)
			b.Append(d)
			if rapid.IntRange(0, 4).Draw(t, "reopen") == 0 {
				stored := b.Doc()
				if rapid.Bool().Draw(t, "compress") {
					stored = Compress(stored)
				}
				var err error
				if b, err = OpenBucket(seconds, stored, nil); err != nil {
					t.Fatal(err)
				}
			}
		}
		plain := b.Doc()
		packed := Compress(plain)
		if err := value.Validate(packed); err != nil {
			t.Fatal(err)
		}
		if again, err := Expand(packed); err != nil || string(again) != string(plain) {
			t.Fatalf("%v: %s\nfrom %s", err, again, plain)
		}
		for _, stored := range []value.Doc{plain, packed} {
			out, err := Unpack(seconds, stored)
			if err != nil || len(out) != len(in) {
				t.Fatalf("%d measurements of %d: %v", len(out), len(in), err)
			}
			for i := range in {
				sameDoc(t, out[i], in[i])
			}
		}
		drop := rapid.IntRange(0, len(in)).Draw(t, "drop")
		i := -1
		rest, removed, err := Filter(seconds, packed, nil, func(value.Doc) (bool, error) { i++; return i < drop, nil })
		if err != nil || removed != drop {
			t.Fatal(removed, err)
		}
		if drop == len(in) {
			if rest != nil {
				t.Fatal("an empty bucket is left")
			}
			return
		}
		out, err := Unpack(seconds, rest)
		if err != nil || len(out) != len(in)-drop || !value.Equal(rest.Lookup("_id"), plain.Lookup("_id")) {
			t.Fatalf("%d left: %v", len(out), err)
		}
		for i, d := range out {
			sameDoc(t, d, in[drop+i])
		}
	})
}

// The control values are those of all measurements.
func TestExtremes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := NewBucket(seconds, 0, value.Value{}, nil)
		var least, greatest value.Value
		for range rapid.IntRange(1, 10).Draw(t, "n") {
			v := genValue(t)
			b.Append(value.NewDoc("t", value.DateTime(0), "x", v))
			if v.Kind() == value.KindDocument || v.Kind() == value.KindArray {
				continue
			}
			if least.IsMissing() || value.Compare(v, least) < 0 {
				least = v
			}
			if greatest.IsMissing() || value.Compare(v, greatest) > 0 {
				greatest = v
			}
		}
		h := readHeader(seconds, b.Doc())
		lo, hi := h.min.Lookup("x"), h.max.Lookup("x")
		if !least.IsMissing() && (value.Compare(lo, least) > 0 || value.Compare(hi, greatest) < 0) {
			t.Fatalf("%s … %s does not hold %s … %s", lo, hi, least, greatest)
		}
	})
}

func TestCompressSaves(t *testing.T) {
	d := benchBucket(1000)
	packed := Compress(d)
	t.Logf("%d bytes become %d", len(d), len(packed))
	if len(packed)*4 > len(d) || packed.Lookup("control").Doc().Lookup("version").Int32() != 2 {
		t.Errorf("%d bytes become %d", len(d), len(packed))
	}
	if got := Compress(packed); string(got) != string(packed) {
		t.Error("compressed twice")
	}
	if got, err := Expand(d); err != nil || &got[0] != &d[0] {
		t.Error("a plain bucket is copied")
	}
	small := pack(seconds, 0, value.Value{}, docs(`{"t":{"$date":{"$numberLong":"5"}}}`), nil)
	if got := Compress(small); len(got) > len(small) {
		t.Error("a small bucket grows")
	}
}

// Buckets that no server makes: clients may write them to system.buckets.
func TestOddBuckets(t *testing.T) {
	for _, s := range []string{
		`{}`, `{"data":5}`, `{"data":{}}`, `{"data":{"t":5}}`, `{"data":{"t":{"0":1},"x":7,"y":{"a":1,"99999999999999999999":2}}}`,
		`{"control":5,"data":{"t":{"x":1,"x":2}}}`, `{"control":{"min":5,"max":{"t":1}},"data":{"t":{"1048577":1}}}`,
		`{"data":{"t":{"5":1,"3":2,"3":7}}}`,
	} {
		d := value.MustJSON(s)
		if _, err := Unpack(seconds, d); err != nil {
			t.Errorf("%s: %v", s, err)
		}
		if _, err := Unpack(seconds, Compress(d)); err != nil {
			t.Errorf("%s compressed: %v", s, err)
		}
		if _, err := OpenBucket(seconds, d, nil); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
	for _, s := range []string{
		`{"data":{"$binary":{"base64":"","subType":"80"}}}`, `{"data":{"$binary":{"base64":"Ag==","subType":"80"}}}`,
		`{"data":{"$binary":{"base64":"AQID","subType":"80"}}}`,
	} {
		if _, err := Unpack(seconds, value.MustJSON(s)); err == nil {
			t.Errorf("%s: no error", s)
		}
	}
}

func FuzzDecodeColumns(f *testing.F) {
	f.Add(encodeColumns(benchBucket(20).Lookup("data").Doc()))
	f.Add(encodeColumns(value.MustJSON(`{"t":{"0":1,"2":"x"},"y":{"1":{"$oid":"000000000000000000000000"}}}`)))
	f.Add([]byte{1, 1, 0, 3, 7})
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := decodeColumns(b, nil)
		if err != nil {
			return
		}
		u := NewUnpacker(seconds)
		if err := u.Reset(value.NewDoc("data", value.Document(d))); err != nil {
			t.Fatal(err)
		}
		for m, ok := u.Next(); ok; m, ok = u.Next() {
			if err := value.Validate(m); err != nil {
				t.Fatal(err)
			}
		}
		if again := encodeColumns(d); again != nil {
			if _, err := decodeColumns(again, nil); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// benchBucket has measurements with five fields.
func benchBucket(n int) value.Doc {
	b := NewBucket(seconds, 0, value.String("sensor"), nil)
	for i := range n {
		b.Append(benchDoc(i))
	}
	return b.Doc()
}

func benchDoc(i int) value.Doc {
	return value.NewDoc("t", value.DateTime(int64(i)*3000), "_id", value.ObjectID(bucketID(int64(i))), "m", value.String("sensor"),
		"temperature", value.Double(20+float64(i%37)/8), "humidity", value.Int32(int32(40+i%11)), "state", value.String("ok"))
}

func BenchmarkUnpack(b *testing.B) {
	plain := benchBucket(1000)
	for name, d := range map[string]value.Doc{"plain": plain, "compressed": Compress(plain)} {
		b.Run(name, func(b *testing.B) {
			u := NewUnpacker(seconds)
			b.ReportAllocs()
			for b.Loop() {
				_ = u.Reset(d)
				n := 0
				for _, ok := u.Next(); ok; _, ok = u.Next() {
					n++
				}
				if n != 1000 {
					b.Fatal(n)
				}
			}
			b.ReportMetric(float64(b.N)*1000/b.Elapsed().Seconds(), "measurements/s")
		})
	}
}

func BenchmarkCompress(b *testing.B) {
	d := benchBucket(1000)
	b.SetBytes(int64(len(d)))
	for b.Loop() {
		Compress(d)
	}
}

func BenchmarkInsert(b *testing.B) {
	for _, batch := range []int{1, 1000} {
		b.Run(fmt.Sprintf("batch=%d", batch), func(b *testing.B) {
			cat := NewCatalog()
			list, i := make([]value.Doc, batch), 0
			f := newBuckets(seconds)
			f.trust = true
			b.ReportAllocs()
			for b.Loop() {
				for k := range list {
					list[k] = benchDoc(i % 500)
					i++
				}
				if len(f.records) > 50 {
					f = newBuckets(seconds)
					f.trust = true
				}
				if err := cat.Insert(f, f, seconds, nil, list); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*float64(batch)/b.Elapsed().Seconds(), "measurements/s")
		})
	}
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// pack returns a bucket with the given measurements.
func pack(o *Options, minimum int64, meta value.Value, docs []value.Doc, c value.Collator) value.Doc {
	b := NewBucket(o, minimum, meta, c)
	for _, d := range docs {
		b.Append(d)
	}
	return b.Doc()
}
