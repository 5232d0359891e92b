package agg

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/internal/needs"
	"github.com/duskdb/duskdb/value"
)

// numbers fills a collection with {_id: i, k: i mod 100, s: "…"}.
func (s *server) numbers(coll string, n, pad int) {
	s.Helper()
	text := value.String(strings.Repeat("x", pad))
	docs := make([]value.Doc, n)
	for i := range docs {
		docs[i] = value.NewDoc("_id", value.Int32(int32(i)), "k", value.Int32(int32(i%100)), "s", text)
	}
	s.insertDocs(coll, docs)
}

func TestBatches(t *testing.T) {
	s := newServer(t)
	s.numbers("c", 250, 10)
	first := func(command string) (n int, id int64) {
		cursor := s.ok("%s", command).Lookup("cursor").Doc()
		for range cursor.Lookup("firstBatch").Doc().Values() {
			n++
		}
		return n, cursor.Lookup("id").Int64()
	}
	for _, c := range []struct {
		pipeline, cursor string
		n                int
		open             bool
	}{
		{`[]`, `{}`, 101, true},
		{`[]`, `{batchSize: 0}`, 0, true},
		{`[]`, `{batchSize: 250}`, 250, true},
		{`[]`, `{batchSize: 251}`, 250, false},
		{`[{$limit: 101}]`, `{}`, 101, true},
		{`[{$limit: 100}]`, `{}`, 100, false},
		{`[{$match: {_id: -1}}]`, `{}`, 0, false},
		{`[{$match: {_id: -1}}]`, `{batchSize: 0}`, 0, true},
		{`[{$group: {_id: "$k"}}]`, `{batchSize: 7}`, 7, true},
	} {
		n, id := first(fmt.Sprintf(`{aggregate: "c", pipeline: %s, cursor: %s}`, c.pipeline, c.cursor))
		if n != c.n {
			t.Errorf("%s %s: %d documents, want %d", c.pipeline, c.cursor, n, c.n)
		}
		if (id != 0) != c.open {
			t.Errorf("%s %s: cursor %d", c.pipeline, c.cursor, id)
		}
		if id == 0 {
			continue
		}
		for id != 0 {
			cursor := s.ok(`{getMore: {"$numberLong": "%d"}, collection: "c", batchSize: 60}`, id).Lookup("cursor").Doc()
			for range cursor.Lookup("nextBatch").Doc().Values() {
				n++
			}
			id = cursor.Lookup("id").Int64()
		}
		if want := map[string]int{`[]`: 250, `[{$limit: 101}]`: 101, `[{$group: {_id: "$k"}}]`: 100}[c.pipeline]; n != want {
			t.Errorf("%s %s: %d documents in all, want %d", c.pipeline, c.cursor, n, want)
		}
	}
	// $out and $merge return nothing and keep no cursor, whatever the size.
	if n, id := first(`{aggregate: "c", pipeline: [{$out: "d"}], cursor: {batchSize: 0}}`); n != 0 || id != 0 {
		t.Error(n, id)
	}
	s.gives("d", `[{$count: "n"}]`, `[{n: 250}]`)
}

// Replies stay below 16 MB, and so does each document.
func TestSizes(t *testing.T) {
	s := newServer(t)
	s.numbers("c", 20, 1<<20)
	reply := s.ok(`{aggregate: "c", pipeline: [], cursor: {}}`)
	if n := len(batch(reply)); n != 15 || len(reply) > 16<<20 {
		t.Error(n, len(reply))
	}
	text := s.fails(10334, "c", `[{$group: {_id: null, all: {$push: "$s"}}}]`)
	if !strings.HasPrefix(text, "Executor error during aggregate command on namespace: test.c :: caused by :: BSONObj size: ") {
		t.Error(text)
	}
	// Within the pipeline a document may be larger.
	s.gives("c", `[{$group: {_id: null, all: {$push: "$s"}}}, {$project: {n: {$size: "$all"}}}]`, `[{_id: null, n: 20}]`)
	s.fails(10334, "c", `[{$facet: {a: []}}]`)
	s.gives("c", `[{$facet: {a: []}}, {$unwind: "$a"}, {$count: "n"}]`, `[{n: 20}]`)
	s.fails(10334, "c", `[{$limit: 1}, {$lookup: {from: "c", pipeline: [], as: "r"}}]`)
	s.gives("c", `[{$limit: 1}, {$lookup: {from: "c", pipeline: [], as: "r"}}, {$project: {n: {$size: "$r"}}}]`, `[{_id: 0, n: 20}]`)
	s.fails(10334, "c", `[{$group: {_id: null, all: {$push: "$s"}}}, {$out: "d"}]`)
}

func TestStageLimits(t *testing.T) {
	s := newServer(t, "internalQueryFacetMaxOutputDocSizeBytes", "100000", "internalLookupStageIntermediateDocumentMaxSizeBytes", "16777216")
	s.numbers("c", 300, 1000)
	s.fails(4031700, "c", `[{$facet: {a: []}}]`)
	s.numbers("big", 20, 1<<20)
	s.fails(4568, "c", `[{$limit: 1}, {$lookup: {from: "big", pipeline: [], as: "r"}}]`)
}

// An accumulator that grows with its input fails at its limit, which cannot
// be avoided by spilling.
func TestAccumulatorLimits(t *testing.T) {
	s := newServer(t, "internalQueryMaxPushBytes", "10000", "internalQueryTopNAccumulatorBytes", "10000")
	s.numbers("c", 300, 100)
	s.ok(`admin: {setParameter: 1, internalQueryMaxAddToSetBytes: 10000}`)
	for _, acc := range []string{`{$push: "$s"}`, `{$addToSet: "$_id"}`, `{$topN: {n: 200, sortBy: {_id: 1}, output: "$s"}}`, `{$minN: {n: 200, input: "$s"}}`, `{$lastN: {n: 200, input: "$s"}}`} {
		s.fails(146, "c", `[{$group: {_id: null, r: `+acc+`}}]`)
		s.fails(146, "c", `[{$setWindowFields: {sortBy: {_id: 1}, output: {r: `+acc+`}}}]`)
		s.aggregate("c", `[{$limit: 20}, {$group: {_id: null, r: `+acc+`}}]`)
	}
	text := s.fails(146, "c", `[{$group: {_id: null, r: {$push: "$s"}}}]`)
	if !strings.Contains(text, "$push used too much memory and cannot spill to disk. Used: ") || !strings.HasSuffix(text, " Memory limit: 10000 bytes") {
		t.Error(text)
	}
	s.ok(`admin: {setParameter: 1, internalQueryMaxPushBytes: 1000000}`)
	s.aggregate("c", `[{$group: {_id: null, r: {$push: "$s"}}}]`)
}

// Data beyond the memory limit is written to disk if the command allows it.
func TestSpilling(t *testing.T) {
	s := newServer(t, "internalQueryMaxBlockingSortMemoryUsageBytes", "100000", "internalDocumentSourceGroupMaxMemoryBytes", "100000",
		"internalDocumentSourceBucketAutoMaxMemoryBytes", "100000", "internalDocumentSourceSetWindowFieldsMaxMemoryBytes", "100000", "internalQueryFacetBufferSizeBytes", "100000")
	s.numbers("c", 3000, 100)
	sorted := `[{$sort: {k: -1, _id: 1}}, {$project: {_id: 1}}]`
	group := `[{$group: {_id: "$_id", n: {$push: "$s"}}}, {$count: "n"}]`
	bucket := `[{$bucketAuto: {groupBy: "$_id", buckets: 3, output: {n: {$sum: 1}}}}, {$project: {_id: 0}}]`
	for _, p := range []string{sorted, group, bucket, `[{$facet: {a: [{$count: "n"}], b: [{$limit: 1}]}}]`} {
		s.fails(292, "c", p, `allowDiskUse: false`)
	}
	s.fails(5643011, "c", `[{$setWindowFields: {sortBy: {_id: 1}, output: {n: {$sum: 1}}}}]`, `allowDiskUse: false`)
	// A partition goes to disk, and is read from there for each operator.
	window := `[{$setWindowFields: {partitionBy: {$lt: ["$_id", 2500]}, sortBy: {_id: 1}, output: {n: {$sum: "$k", window: {documents: [-1, 0]}}, first: {$first: "$_id"}, rank: {$rank: {}}}}}, {$sort: {_id: 1}}, {$project: {n: 1, first: 1, rank: 1}}]`
	docs := s.aggregate("c", window)
	if len(docs) != 3000 {
		t.Fatal(len(docs))
	}
	s.same(window, []value.Doc{docs[0], docs[2499], docs[2500], docs[2999]}, list(`[{_id: 0, n: 0, first: 0, rank: 1}, {_id: 2499, n: 197, first: 0, rank: 2500},
		{_id: 2500, n: 0, first: 2500, rank: 1}, {_id: 2999, n: 197, first: 2500, rank: 500}]`))
	// What is in the window of an operator has to fit; what has left it, and
	// the results, take nothing.
	wide := func(output string) string {
		return `[{$setWindowFields: {sortBy: {_id: 1}, output: {n: ` + output + `}}}, {$group: {_id: null, n: {$sum: {$size: {$ifNull: ["$n", []]}}}}}]`
	}
	text := s.fails(5414201, "c", wide(`{$push: "$s", window: {documents: [-2000, 2000]}}`))
	if !strings.Contains(text, "Exceeded memory limit in DocumentSourceSetWindowFields, used ") || !strings.HasSuffix(text, " bytes but max allowed is 100000") {
		t.Error(text)
	}
	s.gives("c", wide(`{$push: "$s", window: {documents: [-300, 0]}}`), `[{_id: null, n: 857850}]`)
	s.gives("c", wide(`{$first: ["$s"]}`), `[{_id: null, n: 3000}]`)
	s.gives("c", wide(`{$shift: {output: ["$s"], by: -2500}}`), `[{_id: null, n: 500}]`)
	got := s.aggregate("c", sorted)
	if len(got) != 3000 || got[0].Lookup("_id").Int32() != 99 || got[2999].Lookup("_id").Int32() != 2900 {
		t.Error(len(got), got[0])
	}
	s.gives("c", group, `[{n: 3000}]`)
	s.gives("c", bucket, `[{n: 1000}, {n: 1000}, {n: 1000}]`)
	s.gives("c", `[{$facet: {a: [{$count: "n"}], b: [{$sort: {_id: -1}}, {$limit: 1}, {$project: {_id: 1}}]}}]`, `[{a: [{n: 3000}], b: [{_id: 2999}]}]`)
	s.says(292, "Executor error during aggregate command on namespace: test.c :: caused by :: Sort exceeded memory limit of 100000 bytes, but did not opt in to external sorting.", "c", sorted, `allowDiskUse: false`)
	s.ok(`admin: {setParameter: 1, allowDiskUseByDefault: false}`)
	s.fails(292, "c", sorted)
	reply := s.run(`{find: "c", sort: {k: 1}}`)
	if reply.Lookup("code").Int32() != 292 || !strings.HasPrefix(reply.Lookup("errmsg").Str(), "Executor error during find command: test.c :: caused by :: Sort exceeded memory limit of 100000 bytes") {
		t.Error(reply)
	}
	s.ok(`{find: "c", sort: {k: 1}, allowDiskUse: true, singleBatch: true}`)
	s.ok(`{find: "c", sort: {k: 1}, limit: 10}`)

	// Temporary files, which have no name, go with the cursor that needs them.
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		needs.Missing(t, "/proc") // open files cannot be listed
	}
	reply = s.ok(`{aggregate: "c", pipeline: [{$sort: {k: 1}}], cursor: {batchSize: 1}, allowDiskUse: true}`)
	if n := s.spillFiles(); n != 1 {
		t.Error(n, "temporary files, want 1", s.Temp)
	}
	s.ok(`{killCursors: "c", cursors: [{"$numberLong": "%d"}]}`, reply.Lookup("cursor").Doc().Lookup("id").Int64())
	s.aggregate("c", group, `allowDiskUse: true`)
	s.tryAggregate("c", `[{$sort: {k: 1}}, {$project: {a: {$divide: [1, {$subtract: ["$k", 50]}]}}}]`, `allowDiskUse: true`)
	if n := s.spillFiles(); n != 0 {
		t.Error(n, "temporary files are left")
	}
}

// spillFiles counts the open temporary files of this server.
func (s *server) spillFiles() (n int) {
	fds, _ := os.ReadDir("/proc/self/fd")
	for _, fd := range fds {
		if target, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && strings.HasPrefix(target, s.Temp) {
			n++
		}
	}
	return n
}

// Every stage can be stopped, by time and by killOp.
func TestInterruption(t *testing.T) {
	s := newServer(t)
	s.numbers("c", 3000, 10)
	slow := map[string]string{
		"$match":           `[{$match: {$expr: {$gt: [{$reduce: {input: {$range: [0, 20000]}, initialValue: 0, in: {$add: ["$$value", 1]}}}, -1]}}}]`,
		"$project":         `[{$project: {x: {$reduce: {input: {$range: [0, 20000]}, initialValue: 0, in: {$add: ["$$value", 1]}}}}}]`,
		"$lookup":          `[{$lookup: {from: "c", let: {k: "$k"}, pipeline: [{$match: {$expr: {$lt: ["$k", "$$k"]}}}], as: "r"}}, {$count: "n"}]`,
		"$unwind":          `[{$set: {r: {$range: [0, 100000]}}}, {$unwind: "$r"}, {$count: "n"}]`,
		"$group":           `[{$set: {r: {$range: [0, 100000]}}}, {$unwind: "$r"}, {$group: {_id: "$r", n: {$sum: 1}}}]`,
		"$sort":            `[{$set: {r: {$range: [0, 10000]}}}, {$unwind: "$r"}, {$sort: {r: 1}}]`,
		"$graphLookup":     `[{$graphLookup: {from: "c", startWith: "$k", connectFromField: "_id", connectToField: "k", as: "r"}}, {$count: "n"}]`,
		"$unionWith":       `[{$limit: 1}, {$unionWith: {coll: "c", pipeline: [{$set: {r: {$range: [0, 100000]}}}, {$unwind: "$r"}]}}, {$count: "n"}]`,
		"$facet":           `[{$facet: {a: [{$set: {r: {$range: [0, 100000]}}}, {$unwind: "$r"}, {$count: "n"}]}}]`,
		"$densify":         `[{$densify: {field: "k", partitionByFields: ["_id"], range: {step: 0.0001, bounds: "full"}}}, {$match: {k: -1}}]`,
		"$setWindowFields": `[{$setWindowFields: {sortBy: {_id: 1}, output: {a: {$addToSet: "$_id", window: {documents: ["unbounded", "current"]}}}}}, {$match: {a: -1}}]`,
		"$merge":           `[{$set: {r: {$range: [0, 100000]}}}, {$unwind: "$r"}, {$unset: "_id"}, {$merge: "d"}]`,
	}
	system := clock.System()
	for name, pipeline := range slow {
		began := system.Now()
		s.fails(50, "c", pipeline, `maxTimeMS: 30`)
		if took := system.Now().Sub(began); took > 20*time.Second {
			t.Errorf("%s stopped after %s", name, took)
		}
	}
	// killOp, from another connection.
	done := make(chan value.Doc)
	other := s.Service.NewConn("127.0.0.1:2", "127.0.0.1:27017")
	go func() {
		b := doc(`{aggregate: "c", pipeline: ` + slow["$unwind"] + `, cursor: {}, comment: "victim", "$db": "test"}`)
		out, _ := s.Service.Handle(context.Background(), other, request(b), nil)
		done <- value.Doc(out)
	}()
	for {
		ops := s.aggregate("admin.1", `[{$currentOp: {allUsers: true}}, {$match: {"command.comment": "victim"}}]`)
		if len(ops) == 1 {
			s.ok(`admin: {killOp: 1, op: %d}`, ops[0].Lookup("opid").SafeInt64())
			break
		}
	}
	if reply := <-done; reply.Lookup("code").Int32() != 11601 {
		t.Error(reply)
	}
}

func TestLetCollationAndHint(t *testing.T) {
	s := newServer(t)
	s.insert("c", `[{_id: 1, a: "x", n: 1}, {_id: 2, a: "X", n: 2}, {_id: 3, a: "y", n: 3}]`)
	s.gives("c", `[{$match: {$expr: {$gt: ["$n", "$$least"]}}}, {$project: {v: {$add: ["$n", "$$least"]}}}]`, `[{_id: 2, v: 3}, {_id: 3, v: 4}]`, `let: {least: 1}`)
	s.gives("c", `[{$lookup: {from: "c", pipeline: [{$match: {$expr: {$eq: ["$n", "$$least"]}}}], as: "r"}}, {$match: {_id: 1}}, {$project: {r: "$r._id"}}]`, `[{_id: 1, r: [3]}]`, `let: {least: 3}`)
	s.gives("c", `[{$group: {_id: "$a", n: {$sum: 1}}}, {$sort: {_id: 1}}]`, `[{_id: "x", n: 2}, {_id: "y", n: 1}]`, `collation: {locale: "en", strength: 2}`)
	s.gives("c", `[{$match: {a: "X"}}, {$project: {e: {$eq: ["$a", "x"]}}}]`, `[{_id: 1, e: true}, {_id: 2, e: true}]`, `collation: {locale: "en", strength: 2}`)
	s.gives("c", `[{$match: {_id: 1}}, {$lookup: {from: "c", localField: "a", foreignField: "a", as: "r"}}, {$project: {n: {$size: "$r"}}}]`, `[{_id: 1, n: 2}]`, `collation: {locale: "en", strength: 2}`)
	s.ok(`{createIndexes: "c", indexes: [{key: {n: -1}, name: "n"}]}`)
	s.gives("c", `[{$project: {_id: 1}}]`, `[{_id: 3}, {_id: 2}, {_id: 1}]`, `hint: "n"`)
	s.gives("c", `[{$project: {_id: 1}}]`, `[{_id: 3}, {_id: 2}, {_id: 1}]`, `hint: {$natural: -1}`)
	s.gives("c", `[{$sort: {n: 1}}, {$limit: 1}, {$project: {_id: 1}}]`, `[{_id: 1}]`)
	s.fails(17276, "c", `[{$project: {v: "$$nosuch"}}]`)
}
