package timeseries

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// t0 is 2026-01-01 in seconds.
const t0 = 1767225600

func at(second float64, rest string) value.Doc {
	return value.MustJSON(fmt.Sprintf(`{"t":{"$date":{"$numberLong":"%d"}}%s}`, int64((t0+second)*1000), rest))
}

// shape lists the buckets: minimum in seconds after t0, and count.
func (f *fakeBuckets) shape(t testing.TB) string {
	var out []string
	for id := storage.RecordID(1); id <= f.last; id++ {
		if r, ok := f.records[id]; ok {
			h := readHeader(seconds, r.Doc)
			n, err := Count(seconds, r.Doc)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, fmt.Sprintf("%d:%d", h.minimum/1000-t0, n))
		}
	}
	return strings.Join(out, " ")
}

func TestBucketing(t *testing.T) {
	thousand := make([]value.Doc, 1001)
	for i := range thousand {
		thousand[i] = at(5, `,"m":1`)
	}
	large := strings.Repeat("x", 30_000)
	tests := []struct {
		name    string
		batches [][]value.Doc
		want    string
	}{
		{"rounded minimum", [][]value.Doc{{at(614.134, ``)}}, "600:1"},
		{"span", [][]value.Doc{{at(614.134, ``)}, {at(4199.999, ``)}, {at(4200, ``)}}, "600:2 4200:1"},
		{"span in one batch", [][]value.Doc{{at(614.134, ``), at(4199.999, ``), at(4200, ``)}}, "600:2 4200:1"},
		{"count", [][]value.Doc{thousand}, "0:1000 0:1"},
		{"count over batches", [][]value.Doc{thousand[:600], thousand[:600]}, "0:1000 0:200"},
		{"backwards", [][]value.Doc{{at(614, ``)}, {at(599, ``)}, {at(615, ``)}, {at(598, ``)}}, "600:1 540:3"},
		{"meta values", [][]value.Doc{{at(0, `,"m":1`), at(0, `,"m":2`), at(0, ``), at(0, `,"m":null`)}, {at(1, `,"m":1`), at(1, ``)}}, "0:2 0:1 0:2 0:1"},
		{"numbers of other types", [][]value.Doc{{at(0, `,"m":1`), at(0, `,"m":1.0`), at(0, `,"m":{"$numberLong":"1"}`)}}, "0:1 0:1 0:1"},
		{"fields of meta in another order", [][]value.Doc{{at(0, `,"m":{"a":1,"b":{"c":1,"d":2}}`), at(0, `,"m":{"b":{"d":2,"c":1},"a":1}`)}}, "0:2"},
		{"before 1970", [][]value.Doc{{at(-t0-1, ``)}}, fmt.Sprintf("%d:1", -t0-60)},
		{"size", [][]value.Doc{{at(0, `,"x":"`+strings.Repeat("x", 12_000)+`"`)}, slices.Repeat([]value.Doc{at(1, `,"x":"`+strings.Repeat("x", 12_000)+`"`)}, 12)}, "0:10 0:3"},
		{"very large measurements", [][]value.Doc{slices.Repeat([]value.Doc{at(1, `,"x":"`+strings.Repeat("x", 3<<20)+`"`)}, 3), slices.Repeat([]value.Doc{at(1, `,"x":"`+strings.Repeat("x", 3<<20)+`"`)}, 2)}, "0:1 0:1 0:1 0:1 0:1"},
		{"with their extremes below 12 MB", [][]value.Doc{{at(1, `,"x":"`+strings.Repeat("x", 2<<20)+`"`)}, slices.Repeat([]value.Doc{at(1, `,"x":"`+strings.Repeat("x", 2<<20)+`"`)}, 4)}, "0:3 0:2"},
		{"large measurements", [][]value.Doc{slices.Repeat([]value.Doc{at(1, `,"x":"`+large+`"`)}, 11)}, "0:10 0:1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, cat, n := newBuckets(seconds), NewCatalog(), 0
			for _, batch := range tt.batches {
				n += len(batch)
				if err := cat.Insert(f, f, seconds, nil, batch); err != nil {
					t.Fatal(err)
				}
			}
			if got := f.shape(t); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
			if got := len(f.all(t, seconds)); got != n {
				t.Errorf("%d measurements of %d", got, n)
			}
		})
	}
}

func TestFullBucketsAreClosed(t *testing.T) {
	f, cat := newBuckets(seconds), NewCatalog()
	list := slices.Repeat([]value.Doc{at(5, `,"m":1`)}, 1000)
	if err := cat.Insert(f, f, seconds, nil, list); err != nil {
		t.Fatal(err)
	}
	control := f.records[1].Doc.Lookup("control").Doc()
	if control.Lookup("version").Int32() != 2 || !control.Lookup("closed").Bool() || f.writes != 1 {
		t.Errorf("%s after %d writes", control, f.writes)
	}
	if s := cat.Stats(); s.Series != 1 || s.Open != 0 {
		t.Errorf("%+v", s)
	}
}

func TestArchive(t *testing.T) {
	f, cat := newBuckets(seconds), NewCatalog()
	for hour := range 6 {
		batch := make([]value.Doc, 100)
		for i := range batch {
			batch[i] = at(float64(hour*3600+i), `,"m":1,"x":"a value that repeats"`)
		}
		if err := cat.Insert(f, f, seconds, nil, batch); err != nil {
			t.Fatal(err)
		}
	}
	for id := storage.RecordID(1); id <= 6; id++ {
		want := int32(1)
		if id <= 2 {
			want = 2
		}
		if got := readHeader(seconds, f.records[id].Doc).version; got != want {
			t.Errorf("bucket %d has version %d", id, got)
		}
	}
	// An archived bucket takes late measurements.
	if err := cat.Insert(f, f, seconds, nil, []value.Doc{at(200, `,"m":1`)}); err != nil {
		t.Fatal(err)
	}
	if got := f.shape(t); got != "0:101 3600:100 7200:100 10800:100 14400:100 18000:100" || cat.Stats().Reopens != 1 {
		t.Errorf("%s, %+v", got, cat.Stats())
	}
}

func TestRestart(t *testing.T) {
	f := newBuckets(seconds)
	for _, meta := range []string{`,"m":{"a":1}`, ``} {
		for i := range 3 { // each time with a catalog that knows nothing
			if err := NewCatalog().Insert(f, f, seconds, nil, []value.Doc{at(float64(i), meta)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := f.shape(t); got != "0:3 0:3" {
		t.Error(got)
	}
	f.info.Indexes = nil // nothing to find them by
	if err := NewCatalog().Insert(f, f, seconds, nil, []value.Doc{at(5, ``)}); err != nil {
		t.Fatal(err)
	}
	if got := f.shape(t); got != "0:3 0:3 0:1" {
		t.Error(got)
	}
}

// What the catalog believes may be wrong.
func TestCatalogIsChecked(t *testing.T) {
	f, cat := newBuckets(seconds), NewCatalog()
	f.info.Indexes = nil
	insert := func(rest string) {
		t.Helper()
		if err := cat.Insert(f, f, seconds, nil, []value.Doc{at(1, rest)}); err != nil {
			t.Fatal(err)
		}
	}
	insert(`,"m":1`)
	delete(f.records, 1) // expired, or rolled back
	insert(`,"m":1`)
	if got := f.shape(t); got != "0:1" {
		t.Error(got)
	}
	r := f.records[2]
	r.Doc = value.NewDoc("_id", r.Doc.Lookup("_id"), "control", r.Doc.Lookup("control"), "meta", value.Int32(7), "data", r.Doc.Lookup("data"))
	f.records[2] = r // the meta value was updated
	insert(`,"m":1`)
	if got := f.shape(t); got != "0:1 0:1" {
		t.Error(got)
	}
	f.fail = errors.New("disk full")
	if err := cat.Insert(f, f, seconds, nil, []value.Doc{at(1, `,"m":1`)}); err == nil {
		t.Error("no error")
	}
}

func TestCatalogForgets(t *testing.T) {
	f, cat := newBuckets(seconds), NewCatalog()
	cat.limit = 10
	for i := range 50 {
		if err := cat.Insert(f, f, seconds, nil, []value.Doc{at(1, fmt.Sprintf(`,"m":%d`, i))}); err != nil {
			t.Fatal(err)
		}
	}
	if s := cat.Stats(); s.Series != 10 || s.Open != 10 {
		t.Errorf("%+v", s)
	}
}

func TestCheckMeasurement(t *testing.T) {
	for _, d := range docs(`{}`, `{"t":"x"}`, `{"t":5}`, `{"t":null}`, `{"t":{"$timestamp":{"t":1,"i":1}}}`) {
		checkErr(t, d.String(), seconds.Check(d), 2, "'t' must be present and contain a valid BSON UTC datetime value")
	}
	checkErr(t, "valid", seconds.Check(at(0, ``)), 0, "")
}

// Nothing is lost, nothing is where it should not be.
func TestInsertProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f, cat := newBuckets(seconds), NewCatalog()
		var in []value.Doc
		for range rapid.IntRange(1, 8).Draw(rt, "batches") {
			if rapid.IntRange(0, 3).Draw(rt, "restart") == 0 {
				cat = NewCatalog()
			}
			var batch []value.Doc
			for range rapid.IntRange(1, 12).Draw(rt, "n") {
				meta := rapid.SampledFrom([]string{"", "1", `"a"`, `{"x":1,"y":2}`, `{"y":2,"x":1}`, `[1,2]`, "null"}).Draw(rt, "meta")
				batch = append(batch, genDoc(rt, rapid.Int64Range(-20_000_000, 20_000_000).Draw(rt, "t"), meta))
			}
			if err := cat.Insert(f, f, seconds, nil, batch); err != nil {
				rt.Fatal(err)
			}
			in = append(in, batch...)
		}
		count := map[string]int{}
		for _, d := range in {
			count[fmt.Sprint(expected(d))]++
		}
		for _, r := range f.records {
			h := readHeader(seconds, r.Doc)
			out, err := Unpack(seconds, r.Doc)
			if err != nil || len(out) == 0 || h.count != len(out) {
				rt.Fatal(len(out), h.count, err)
			}
			if uint32(floorDiv(h.minimum, 1000)) != r.Doc.Lookup("_id").ObjectID().Seconds() || floorDiv(h.minimum, 1000)%60 != 0 {
				rt.Fatalf("minimum %d, id %s", h.minimum, r.Doc.Lookup("_id"))
			}
			for _, d := range out {
				count[fmt.Sprint(expected(d))]--
				if ms := seconds.time(d); !seconds.covers(h.minimum, ms) || ms > h.max.Lookup("t").DateTime() || !sameMeta(seconds.meta(d), r.Doc.Lookup("meta")) {
					rt.Fatalf("%s in the bucket of %d", d, h.minimum)
				}
			}
		}
		for d, n := range count {
			if n != 0 {
				rt.Fatalf("%d times too few: %s", n, d)
			}
		}
	})
}
