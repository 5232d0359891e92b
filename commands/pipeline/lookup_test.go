package pipeline_test

import (
	"fmt"
	"strings"
	"testing"

	"time"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/value"
)

// joined inserts 300 documents into "outer" and, for each value k from 0 to 49, k documents
// into "inner", which has an index on k. Some outer documents have values that are looked
// up apart: an array, null, none.
// "plain" is the same without the index.
func joined(t *testing.T) *harness.Harness {
	h := harness.New(t)
	h.OK(`{createIndexes: "inner", indexes: [{key: {k: 1, s: 1}, name: "k"}]}`)
	var outer, inner []string
	for i := range 300 {
		k := fmt.Sprint(i % 60)
		switch i % 29 {
		case 7:
			k = "[1, 2]"
		case 8:
			k = "null"
		}
		outer = append(outer, fmt.Sprintf("{_id: %d, k: %s}", i, k))
	}
	for k := range 50 {
		for i := range k {
			inner = append(inner, fmt.Sprintf("{_id: %d, k: %d, s: [%d, 1000]}", k*100+i, k, i))
		}
	}
	h.OK(`{insert: "outer", documents: [` + strings.Join(outer, ", ") + `]}`)
	h.OK(`{insert: "inner", documents: [` + strings.Join(inner, ", ") + `]}`)
	h.OK(`{insert: "plain", documents: [` + strings.Join(inner, ", ") + `]}`)
	return h
}

// foundFor returns how many inner documents an outer document finds.
func foundFor(i int) int {
	switch k := i % 60; {
	case i%29 == 7:
		return 1 + 2
	case i%29 == 8, k >= 50:
		return 0
	default:
		return k
	}
}

// drain runs an aggregate to its end, with batches of a size.
func drain(h *harness.Harness, pipeline string, size int, between func()) (docs []value.Doc) {
	h.Helper()
	reply := h.OK(fmt.Sprintf(`{aggregate: "outer", pipeline: [%s], cursor: {batchSize: %d}}`, pipeline, size)).Lookup("cursor").Doc()
	for batch := "firstBatch"; ; batch = "nextBatch" {
		for d := range reply.Lookup(batch).Doc().Values() {
			docs = append(docs, d.Doc().Clone())
		}
		id := reply.Lookup("id").Int64()
		if id == 0 {
			return docs
		}
		between()
		reply = h.OK(fmt.Sprintf(`{getMore: {$numberLong: "%d"}, collection: "outer", batchSize: %d}`, id, size)).Lookup("cursor").Doc()
	}
}

// Each input gets the documents that it finds, in order, no matter which inputs are read
// together.
func TestLookupOfMany(t *testing.T) {
	t.Parallel()
	h := joined(t)
	for _, lookup := range []string{
		`{$lookup: {from: "plain", localField: "k", foreignField: "k", as: "x"}}`,
		`{$lookup: {from: "plain", localField: "k", foreignField: "k", pipeline: [{$match: {s: 1000}}], as: "x"}}`,
		`{$lookup: {from: "inner", localField: "k", foreignField: "k", as: "x"}}`,
		`{$lookup: {from: "inner", localField: "k", foreignField: "k", let: {r: {$rand: {}}}, pipeline: [{$match: {$expr: {$gt: ["$$r", -1]}}}], as: "x"}}`,
	} {
		for _, size := range []int{1, 2, 7, 101, 1000} {
			docs := drain(h, `{$sort: {_id: 1}}, `+lookup, size, func() {})
			if len(docs) != 300 {
				t.Fatalf("%d documents, want 300", len(docs))
			}
			for i, d := range docs {
				if id := d.Lookup("_id").SafeInt64(); id != int64(i) {
					t.Fatalf("document %d has _id %d", i, id)
				}
				n, found := foundFor(i), d.Lookup("x").Doc()
				if found.Len() != n {
					t.Errorf("batches of %d: document %d finds %d, want %d", size, i, found.Len(), n)
				}
				last := int64(-1)
				for v := range found.Values() {
					id := v.Doc().Lookup("_id").SafeInt64()
					if id <= last {
						t.Errorf("document %d finds %d behind %d", i, id, last)
					}
					last = id
					if k := v.Doc().Lookup("k"); i%29 != 7 && k.SafeInt64() != int64(i%60) {
						t.Errorf("document %d finds one with %s", i, k)
					}
				}
			}
		}
	}
}

func TestLookupOfManyUnwound(t *testing.T) {
	t.Parallel()
	h := joined(t)
	want := 0
	for i := range 300 {
		want += foundFor(i)
	}
	for _, size := range []int{1, 50, 101} {
		docs := drain(h, `{$sort: {_id: 1}}, {$lookup: {from: "inner", localField: "k", foreignField: "k", as: "x"}}, {$unwind: "$x"}`, size, func() {})
		if len(docs) != want {
			t.Errorf("batches of %d: %d documents, want %d", size, len(docs), want)
		}
		last := int64(0)
		for _, d := range docs {
			id := d.Lookup("_id").SafeInt64()
			if id < last {
				t.Fatalf("_id %d comes behind %d", id, last)
			}
			last = id
		}
	}
}

// The equality of a pipeline with let is looked up in the index as well.
func TestLookupOfManyByExpression(t *testing.T) {
	t.Parallel()
	h := joined(t)
	docs := drain(h, `{$match: {k: {$gte: 0}}}, {$sort: {_id: 1}}, {$lookup: {from: "inner", let: {k: "$k"}, pipeline: [{$match: {$expr: {$eq: ["$k", "$$k"]}}}], as: "x"}}, {$project: {n: {$size: "$x"}}}`, 101, func() {})
	for _, d := range docs {
		i := int(d.Lookup("_id").SafeInt64())
		want := foundFor(i)
		if i%29 == 7 {
			want = 0 // no inner k is an array
		}
		if n := d.Lookup("n").SafeInt64(); n != int64(want) {
			t.Errorf("document %d finds %d, want %d", i, n, want)
		}
	}
}

// A getMore returns what is there when it runs: changes of the other collection, and no
// document that has expired.
func TestLookupOfManySeesChanges(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{create: "outer", documentTtl: {default: 3600}}`)
	h.OK(`{createIndexes: "inner", indexes: [{key: {k: 1}, name: "k"}]}`)
	var docs []string
	for i := range 100 {
		docs = append(docs, fmt.Sprintf("{_id: %d, k: %d}", i, i))
	}
	h.OK(`{insert: "outer", documents: [` + strings.Join(docs, ", ") + `]}`)
	h.OK(`{insert: "inner", documents: [` + strings.Join(docs, ", ") + `]}`)
	calls := 0
	got := drain(h, `{$lookup: {from: "inner", localField: "k", foreignField: "k", as: "x"}}`, 40, func() {
		if calls++; calls == 1 {
			h.OK(`{update: "inner", updates: [{q: {}, u: {$set: {new: true}}, multi: true}]}`)
		} else {
			h.Clock.Advance(2 * time.Hour)
		}
	})
	if len(got) != 80 {
		t.Errorf("%d documents, want 80: those of the third batch have expired", len(got))
	}
	for i, d := range got {
		if fresh := d.Lookup("x").Doc().Index(0).Doc().Has("new"); fresh != (i >= 40) {
			t.Errorf("document %d: changed is %v", i, fresh)
		}
	}
}

// Without an index, the collection is read once for many inputs, unless it takes too much
// memory. What a filter finds, the $lookup finds.
func TestLookupWithoutIndex(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{insert: "outer", documents: [{_id: 1, k: 0}, {_id: 2, k: 1}, {_id: 3, k: {$numberDecimal: "2.0"}}, {_id: 4, k: "a"}, {_id: 5, k: 9}]}`)
	h.OK(`{insert: "plain", documents: [{_id: 1, o: {k: 1}}, {_id: 2, o: [{k: [2, 1, 1]}, {k: 1}]}, {_id: 3, o: {k: "A"}}, {_id: 4, o: {k: {$numberDouble: "1"}}}, {_id: 5, o: {k: [[1]]}}]}`)
	want := `[{"_id": 1, "x": []}, {"_id": 2, "x": [1, 2, 4]}, {"_id": 3, "x": [2]}, {"_id": 4, "x": []}, {"_id": 5, "x": []}]`
	lookup := `{aggregate: "outer", pipeline: [{$lookup: {from: "plain", localField: "k", foreignField: "o.k", as: "x"}}, {$project: {x: "$x._id"}}], cursor: {}`
	h.Finds(lookup+`}`, want)
	h.Finds(lookup+`, collation: {locale: "en", strength: 2}}`, strings.Replace(want, `4, "x": []`, `4, "x": [3]`, 1))
	h.Admin(`{setParameter: 1, internalQueryMaxBlockingSortMemoryUsageBytes: 100}`)
	h.Finds(lookup+`}`, want)
}

// A getMore reads a collection without an index again after a change.
func TestLookupWithoutIndexSeesChanges(t *testing.T) {
	t.Parallel()
	h := joined(t)
	calls := 0
	docs := drain(h, `{$match: {k: 3}}, {$lookup: {from: "plain", localField: "k", foreignField: "k", as: "x"}}`, 2, func() {
		if calls++; calls == 1 {
			h.OK(`{delete: "plain", deletes: [{q: {_id: 301}, limit: 1}]}`)
		}
	})
	for i, d := range docs {
		want := 3
		if i >= 2 {
			want = 2
		}
		if n := d.Lookup("x").Doc().Len(); n != want {
			t.Errorf("document %d finds %d, want %d", i, n, want)
		}
	}
	if len(docs) < 4 {
		t.Errorf("%d documents", len(docs))
	}
}

// Without an index, values that no index serves directly (arrays, null, none, documents,
// NaN) do not make a $lookup read the collection for each input either. They find what
// they find with an index.
func TestLookupWithoutIndexReadsOnce(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	values := []string{`k: 1`, `k: null`, `o: 1`, `k: [1, 2]`, `k: []`, `k: [null, 3]`, `k: {a: 1}`, `k: [[1, 2]]`, `k: {$numberDouble: "NaN"}`, `k: [{a: 1}, 1]`, `k: {$regularExpression: {pattern: "a", options: ""}}`}
	for _, tt := range []struct {
		name string
		n    int
	}{{"outer", 220}, {"plain", 110}, {"indexed", 110}} {
		var docs []string
		for i := range tt.n {
			docs = append(docs, fmt.Sprintf(`{_id: %d, %s}`, i, values[i%len(values)]))
		}
		h.OK(`{insert: "` + tt.name + `", documents: [` + strings.Join(docs, ", ") + `]}`)
	}
	h.OK(`{createIndexes: "indexed", indexes: [{key: {k: 1}, name: "k"}]}`)
	found := func(pipeline string) string {
		var list []string
		for _, d := range drain(h, pipeline+`, {$set: {x: {$sortArray: {input: "$x._id", sortBy: 1}}}}`, 1000, func() {}) {
			list = append(list, d.Lookup("_id").String()+": "+d.Lookup("x").String())
		}
		return strings.Join(list, "\n")
	}
	scanned := func() int64 { // by the command before
		entries := harness.Docs(h.OK(`{find: "system.profile", filter: {"command.aggregate": "outer"}}`))
		return entries[len(entries)-1].Lookup("docsExamined").Int64()
	}
	h.OK(`{profile: 2}`)
	for _, inner := range []string{``, `, pipeline: [{$match: {o: {$exists: false}}}]`} {
		plain := found(`{$lookup: {from: "plain", localField: "k", foreignField: "k", as: "x"` + inner + `}}`)
		if n := scanned(); n < 220 || n > 220+3*110 {
			t.Errorf("%s: %d documents were read", inner, n)
		}
		if want := found(`{$lookup: {from: "indexed", localField: "k", foreignField: "k", as: "x"` + inner + `}}`); plain != want {
			t.Errorf("%s: found\n%s\nwith an index\n%s", inner, plain, want)
		}
	}
}

// A $lookup without an index whose other side takes too much memory writes it to disk once,
// and finds the same documents in the same order. Without permission for that it reads the
// collection for each input.
func TestLookupOnDisk(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{profile: 2}`)
	values := []string{
		`1`, `2`, `{$numberDouble: "1"}`, `{$numberDecimal: "2.0"}`, `null`, `"a"`, `"A"`, `[1, 2]`, `[2, 2, "a"]`, `[]`, `[null]`,
		`[[1, 2]]`, `{a: 1}`, `{$numberDouble: "NaN"}`, `true`, `missing`,
	}
	rapid.Check(t, func(t *rapid.T) {
		size := map[string]int64{}
		for _, coll := range []string{"outer", "plain"} {
			h.OK(`{delete: "` + coll + `", deletes: [{q: {}, limit: 0}]}`)
			var docs []string
			for i, v := range rapid.SliceOfN(rapid.SampledFrom(values), 3, 30).Draw(t, coll) {
				doc := fmt.Sprintf(`{_id: %d, k: %s}`, i, v)
				docs = append(docs, strings.Replace(doc, ", k: missing", "", 1))
			}
			h.OK(`{insert: "` + coll + `", documents: [` + strings.Join(docs, ", ") + `]}`)
			size[coll] = int64(len(docs))
		}
		command := `{aggregate: "outer", pipeline: [{$lookup: {from: "plain", localField: "k", foreignField: "k", as: "x"` +
			rapid.SampledFrom([]string{``, `, pipeline: [{$match: {k: {$ne: "a"}}}, {$set: {y: 1}}]`}).Draw(t, "pipeline") + `}}` +
			rapid.SampledFrom([]string{``, `, {$unwind: "$x"}`, `, {$unwind: {path: "$x", preserveNullAndEmptyArrays: true}}`}).Draw(t, "unwind") +
			`], cursor: {batchSize: 10000}` +
			rapid.SampledFrom([]string{``, `, collation: {locale: "en", strength: 2}`}).Draw(t, "collation")
		find := func(options string) string {
			return h.OK(command + options + `}`).Lookup("cursor").Doc().Lookup("firstBatch").String()
		}
		usesDisk := func(options string) bool {
			e := h.OK(`{explain: ` + command + options + `}, verbosity: "executionStats"}`).Lookup("stages").Doc()
			return e.Index(1).Doc().Lookup("usedDisk").Truthy()
		}
		memory := func(bytes string) {
			h.Admin(`{setParameter: 1, internalQueryMaxBlockingSortMemoryUsageBytes: ` + bytes + `}`)
		}
		memory("100000")
		want := find("")
		memory("150")
		if got := find(""); got != want {
			t.Fatalf("%s: found on disk\n%s\nin memory\n%s", command, got, want)
		}
		profiled := harness.Docs(h.OK(`{find: "system.profile", filter: {"command.aggregate": "outer"}, sort: {$natural: -1}, limit: 1}`))
		if n := profiled[0].Lookup("docsExamined").Int64(); n > size["outer"]+3*size["plain"] {
			t.Fatalf("%s: %d documents were read", command, n)
		}
		if !usesDisk("") || usesDisk(", allowDiskUse: false") {
			t.Fatalf("%s: disk is used: %v", command, usesDisk(""))
		}
		if got := find(", allowDiskUse: false"); got != want {
			t.Fatalf("%s: found without disk\n%s\nin memory\n%s", command, got, want)
		}
	})
}
