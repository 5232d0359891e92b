package order_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/agg/internal/aggtest"
	"github.com/duskdb/duskdb/query/agg/order"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// TestRefusals: the errors of mongod's SortPattern.
func TestRefusals(t *testing.T) {
	wide := `{"f0": 1`
	for i := 1; i < 33; i++ {
		wide += fmt.Sprintf(`, "f%d": 1`, i)
	}
	aggtest.RunCases(t, []aggtest.Case{
		{Name: "twice", Pipeline: `[{"$sort": {"a": 1, "a": -1}}]`, Err: "7472500: $sort key must not contain duplicate keys (duplicate: 'a')"},
		{Name: "wide", Pipeline: `[{"$sort": ` + wide + `}}]`, Err: "13103: too many compound keys"},
		{Name: "meta and more", Pipeline: `[{"$sort": {"a": {"$meta": "textScore", "x": 1}}}]`, Err: "9: Cannot have additional keys in a $meta sort specification"},
		{Name: "empty name", Pipeline: `[{"$sort": {"a..b": 1}}]`, Err: "15998: FieldPath field names may not be empty strings."},
		{Name: "ambiguous", Docs: `[{"_id": 1, "a": [{"0": {"b": 1}}]}]`, Pipeline: `[{"$sort": {"a.0.b": 1}}]`,
			Err: "16746: Ambiguous field name found in array (do not use numeric field names in embedded elements in an array), field: '0' for array: …"},
		{Name: "element that is no document", Docs: `[{"_id": 1, "a": [5, {"b": 3}]}, {"_id": 2, "a": [{"b": 1}]}]`, Pipeline: `[{"$sort": {"a.b": 1}}, {"$project": {"_id": 1}}]`, Want: `[{"_id": 1}, {"_id": 2}]`},
		{Name: "array of documents without the field", Docs: `[{"_id": 1, "a": [{"b": 1}], "c": 2}, {"_id": 2, "a": [{"x": 1}], "c": 1}]`, Pipeline: `[{"$sort": {"a.b": 1, "c": 1}}, {"$project": {"_id": 1}}]`, Want: `[{"_id": 2}, {"_id": 1}]`},
		{Name: "position behind the end", Docs: `[{"_id": 1, "a": [1]}, {"_id": 2, "a": [1, 0]}]`, Pipeline: `[{"$sort": {"a.1": 1}}, {"$project": {"_id": 1}}]`, Want: `[{"_id": 1}, {"_id": 2}]`},
	}, nil)
}

// TestMetadataKeys: sort keys of metadata together with keys of fields.
func TestMetadataKeys(t *testing.T) {
	p, err := order.ParsePattern(value.MustJSON(`{"a": 1, "s": {"$meta": "randVal"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Doc().JSON(); got != `{"a":1,"s":{"$meta":"randVal"}}` || !p.MetaOnly() {
		t.Error(got, p.MetaOnly())
	}
	env := expr.NewEnv(0)
	at := 0.5
	env.Rand = func() float64 { return at }
	key := func(json string) string {
		k, err := p.AppendKey(nil, env, value.MustJSON(json), nil)
		if err != nil {
			t.Fatal(err)
		}
		return string(k)
	}
	for _, d := range []string{`{"a": 1}`, `{"a": [1, 2]}`} {
		less := key(d)
		at = 0.75
		if more := key(d); less == more {
			t.Error("the random number does not count")
		}
		at = 0.5
	}
	env.Rand = nil
	if first, again := key(`{"a": 1}`), key(`{"a": 1}`); first != again {
		t.Error("without a random number, keys of the same document differ")
	}
	plain, _ := order.ParsePattern(value.MustJSON(`{"a": 1, "b": -1}`))
	for prefix, want := range map[string]bool{`{"a": 1}`: true, `{"a": 1, "b": -1}`: true, `{"a": -1}`: false, `{"a": 1, "b": -1, "c": 1}`: false, `{"b": -1}`: false} {
		q, err := order.ParsePattern(value.MustJSON(prefix))
		if err != nil || plain.Extends(q) != want {
			t.Error(prefix, err)
		}
	}
}

// many returns n documents in the opposite order of their _id.
func many(n int) (docs []value.Doc) {
	for i := range n {
		docs = append(docs, value.MustJSON(fmt.Sprintf(`{"_id": %d, "text": "%s"}`, n-i, strings.Repeat("x", i%50))))
	}
	return docs
}

var options = stage.Options{DB: "test", Coll: "c"}

// TestSpilledSort: documents that do not fit into memory are merged from the disk, as many
// as are wanted.
func TestSpilledSort(t *testing.T) {
	h := aggtest.NewHost()
	h.Colls["test.c"] = many(500)
	for limit, want := range map[string]int{``: 500, `, {"$limit": 100}`: 100} {
		x := aggtest.Exec(h)
		x.MemoryLimit, x.TempDir = 4000, t.TempDir()
		got, err := aggtest.Drain(t, `[{"$sort": {"_id": 1}}`+limit+`]`, options, x)
		if err != nil || !x.UsedDisk() || len(got) != want {
			t.Fatal(len(got), err)
		}
		for i, d := range got {
			if d.Lookup("_id").Int64() != int64(i+1) {
				t.Fatalf("document %d is %s", i, d)
			}
		}
	}
	x := aggtest.Exec(h)
	x.AllowDiskUse, x.MemoryLimit = false, 4000
	_, err := aggtest.Drain(t, `[{"$sort": {"_id": 1}}]`, options, x)
	aggtest.CheckError(t, err, "292: Sort exceeded memory limit of 4000 bytes, but did not opt in to external sorting.")
	x = aggtest.Exec(h)
	x.MemoryLimit, x.TempDir = 4000, t.TempDir()+"/none"
	_, err = aggtest.Drain(t, `[{"$sort": {"_id": 1}}]`, options, x)
	aggtest.CheckError(t, err, "39: …")
	stop := errors.New("stop")
	for _, memory := range []int64{0, 4000} {
		x = aggtest.Exec(h)
		x.MemoryLimit, x.TempDir, x.Interrupt = memory, t.TempDir(), func() error { return stop }
		if _, err = aggtest.Drain(t, `[{"$sort": {"_id": 1}}]`, options, x); !errors.Is(err, stop) {
			t.Error(err)
		}
	}
}

// TestStatistics: explain shows the sort, and what it wrote to disk.
func TestStatistics(t *testing.T) {
	h := aggtest.NewHost()
	h.Colls["test.c"] = many(100)
	p, err := agg.Compile(aggtest.Array(t, `[{"$sort": {"text": -1, "_id": 1}}, {"$limit": 90}]`), options)
	if err != nil {
		t.Fatal(err)
	}
	if got := aggtest.Shape(p); got != `[{"$sort":{"sortKey":{"text":-1,"_id":1},"limit":90}}]` {
		t.Error(got)
	}
	x := aggtest.Exec(h)
	x.MemoryLimit, x.TempDir = 2000, t.TempDir()
	it, err := p.Open(x)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := aggtest.ReadAll(it); err != nil || len(got) != 90 {
		t.Fatal(len(got), err)
	}
	if d := p.Explain(agg.ExecutionStats, x)[0]; !d.Lookup("usedDisk").Bool() || d.Lookup("spills").Int64() < 2 || d.Lookup("spilledDataStorageSize").Int64() == 0 {
		t.Error(d)
	}
}

// TestSorter: a sorter outside of a pipeline, as other packages use it.
func TestSorter(t *testing.T) {
	pattern, err := order.ParsePattern(value.MustJSON(`{"_id": 1}`))
	if err != nil {
		t.Fatal(err)
	}
	x := aggtest.Exec(nil)
	s := order.NewSorter(x, &order.Stage{Pattern: pattern}, 2, 1<<20)
	defer s.Close()
	s.CopyDocs()
	for i, d := range many(10) {
		if worst, full := s.Worst(); full != (i >= 2) || full && worst.Lookup("_id").Int64() != int64(12-i) {
			t.Error(i, worst, full)
		}
		d := d.Clone()
		if err := s.AddRecord(order.Record{Key: []byte{byte(d.Lookup("_id").Int64())}, Doc: d, Seq: i}); err != nil {
			t.Fatal(err)
		}
		clear(d) // it keeps a copy
	}
	if err := s.AddRecord(order.Record{Key: []byte{99}, Doc: value.EmptyDoc}); err != nil { // sorts last
		t.Fatal(err)
	}
	it, err := s.Sorted()
	if err != nil {
		t.Fatal(err)
	}
	got, err := aggtest.ReadAll(it)
	if err != nil || len(got) != 2 || got[0].Lookup("_id").Int64() != 1 || got[1].Lookup("_id").Int64() != 2 {
		t.Error(got, err)
	}
}
