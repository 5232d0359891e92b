package server

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/needs"
	"github.com/duskdb/duskdb/value"
)

// spillParameters make everything that may spill do so from 100 KB on.
func spillParameters() map[string]string {
	parameters := map[string]string{}
	for _, name := range []string{
		"internalQueryMaxBlockingSortMemoryUsageBytes", "internalDocumentSourceGroupMaxMemoryBytes",
		"internalDocumentSourceBucketAutoMaxMemoryBytes", "internalDocumentSourceSetWindowFieldsMaxMemoryBytes", "internalQueryFacetBufferSizeBytes",
	} {
		parameters[name] = "100000"
	}
	return parameters
}

// spillDocs is the number of documents in the collections that spillServer
// fills: {_id: i, k: i mod 100, s: 100 characters}.
const spillDocs = 3000

// spillServer is a server that keeps its data in dir and spills early.
func spillServer(t *testing.T, dir string) *testClient {
	t.Helper()
	s := serveConfig(t, Config{DBPath: dir, Parameters: spillParameters()})
	c := dial(t, s)
	docs := make([]value.Value, spillDocs)
	for i := range docs {
		docs[i] = value.Document(value.NewDoc("_id", value.Int32(int32(i)), "k", value.Int32(int32(i%100)), "s", value.String(strings.Repeat("x", 100))))
	}
	c.ok(t, value.NewDoc("insert", value.String("c"), "documents", value.NewArray(docs...), "$db", value.String("test")))
	return c
}

// spills are commands that hold more than 100 KB, with their first batch (or the
// collection that they write) and the code of the error without disk.
var spills = []struct {
	name, command string
	then          string // a command whose first batch is looked at instead
	want          string
	refused       int32 // code for allowDiskUse: false, 0: it does not take the option
}{
	{"$sort", `{"aggregate": "c", "pipeline": [{"$sort": {"k": -1, "_id": 1}}, {"$skip": 1499}, {"$limit": 2}, {"$project": {"_id": 1}}], "cursor": {}%s}`, "", `[{"_id":2950},{"_id":49}]`, 292},
	{"$sort and $limit", `{"aggregate": "c", "pipeline": [{"$sort": {"k": -1, "_id": 1}}, {"$limit": 2900}, {"$group": {"_id": null, "n": {"$sum": 1}, "low": {"$min": "$k"}}}], "cursor": {}%s}`, "", `[{"_id":null,"n":2900,"low":3}]`, 292},
	{"$group", `{"aggregate": "c", "pipeline": [{"$group": {"_id": "$_id", "s": {"$push": "$s"}}}, {"$match": {"_id": {"$in": [7, 2999]}}}, {"$sort": {"_id": 1}}, {"$project": {"n": {"$strLenCP": {"$first": "$s"}}}}], "cursor": {}%s}`, "", `[{"_id":7,"n":100},{"_id":2999,"n":100}]`, 292},
	{"$sortByCount", `{"aggregate": "c", "pipeline": [{"$sortByCount": {"$concat": ["$s", {"$toString": {"$max": ["$_id", 10]}}]}}, {"$limit": 1}, {"$project": {"_id": 0}}], "cursor": {}%s}`, "", `[{"count":11}]`, 292},
	{"$bucketAuto", `{"aggregate": "c", "pipeline": [{"$bucketAuto": {"groupBy": "$_id", "buckets": 3, "output": {"n": {"$sum": 1}, "k": {"$sum": "$k"}}}}], "cursor": {}%s}`, "", `[{"_id":{"min":0,"max":1000},"n":1000,"k":49500},{"_id":{"min":1000,"max":2000},"n":1000,"k":49500},{"_id":{"min":2000,"max":2999},"n":1000,"k":49500}]`, 292},
	{"$facet", `{"aggregate": "c", "pipeline": [{"$facet": {"a": [{"$count": "n"}], "b": [{"$sort": {"_id": -1}}, {"$skip": 2999}, {"$project": {"_id": 1}}]}}], "cursor": {}%s}`, "", `[{"a":[{"n":3000}],"b":[{"_id":0}]}]`, 292},
	{"$setWindowFields", `{"aggregate": "c", "pipeline": [{"$setWindowFields": {"partitionBy": {"$lt": ["$_id", 2500]}, "sortBy": {"_id": 1}, "output": {"n": {"$sum": "$k", "window": {"documents": [-1, 0]}}, "first": {"$first": "$_id"}}}}, {"$match": {"_id": {"$in": [2499, 2500, 2999]}}}, {"$sort": {"_id": 1}}, {"$project": {"n": 1, "first": 1}}], "cursor": {}%s}`, "", `[{"_id":2499,"n":197,"first":0},{"_id":2500,"n":0,"first":2500},{"_id":2999,"n":197,"first":2500}]`, 292},
	{"$setWindowFields in one partition", `{"aggregate": "c", "pipeline": [{"$setWindowFields": {"output": {"n": {"$sum": "$k"}}}}, {"$match": {"_id": 17}}, {"$project": {"n": 1}}], "cursor": {}%s}`, "", `[{"_id":17,"n":148500}]`, 5643011},
	{"find", `{"find": "c", "sort": {"k": -1, "_id": 1}, "skip": 1499, "projection": {"_id": 1}, "batchSize": 2%s}`, "", `[{"_id":2950},{"_id":49}]`, 292},
	{"$sort below $lookup", `{"aggregate": "c", "pipeline": [{"$limit": 1}, {"$lookup": {"from": "c", "pipeline": [{"$sort": {"k": -1, "_id": 1}}, {"$group": {"_id": null, "first": {"$first": "$_id"}, "n": {"$sum": 1}}}], "as": "r"}}, {"$project": {"r": 1}}], "cursor": {}%s}`, "", `[{"_id":0,"r":[{"_id":null,"first":99,"n":3000}]}]`, 292},
	{"$lookup without an index", `{"aggregate": "c", "pipeline": [{"$limit": 3}, {"$lookup": {"from": "c", "localField": "_id", "foreignField": "k", "as": "r"}}, {"$project": {"n": {"$size": "$r"}, "last": {"$last": "$r._id"}}}], "cursor": {}%s}`, "", `[{"_id":0,"n":30,"last":2900},{"_id":1,"n":30,"last":2901},{"_id":2,"n":30,"last":2902}]`, 0},
	{"$sort below $unionWith", `{"aggregate": "c", "pipeline": [{"$limit": 1}, {"$unionWith": {"coll": "c", "pipeline": [{"$sort": {"k": -1, "_id": 1}}]}}, {"$skip": 1}, {"$limit": 1}, {"$project": {"k": 1}}], "cursor": {}%s}`, "", `[{"_id":99,"k":99}]`, 292},
	{"$sort in $facet", `{"aggregate": "c", "pipeline": [{"$facet": {"a": [{"$sort": {"k": -1, "_id": 1}}, {"$limit": 2000}, {"$skip": 1999}, {"$project": {"k": 1}}]}}], "cursor": {}%s}`, "", `[{"a":[{"_id":1933,"k":33}]}]`, 292},
	{"$out", `{"aggregate": "c", "pipeline": [{"$sort": {"k": -1, "_id": 1}}, {"$out": "out"}], "cursor": {}%s}`, `{"find": "out", "projection": {"_id": 1}, "limit": 2, "$db": "test"}`, `[{"_id":99},{"_id":199}]`, 292},
	{"$merge", `{"aggregate": "c", "pipeline": [{"$group": {"_id": "$_id", "s": {"$first": "$s"}}}, {"$sort": {"_id": -1}}, {"$merge": {"into": "merged"}}], "cursor": {}%s}`, `{"aggregate": "merged", "pipeline": [{"$count": "n"}], "cursor": {}, "$db": "test"}`, `[{"n":3000}]`, 292},
	{"$sort of a view", `{"find": "view", "sort": {"k": 1, "_id": -1}, "limit": 1, "projection": {"_id": 1}%s}`, "", `[{"_id":2900}]`, 0},
	{"$densify and $fill", `{"aggregate": "c", "pipeline": [{"$densify": {"field": "_id", "range": {"step": 0.5, "bounds": "full"}}}, {"$fill": {"sortBy": {"_id": 1}, "output": {"k": {"method": "linear"}}}}, {"$match": {"_id": {"$in": [0.5, 1.5]}}}], "cursor": {}%s}`, "", `[{"_id":0.5,"k":0.5},{"_id":1.5,"k":1.5}]`, 292},
	{"distinct values by $group", `{"aggregate": "c", "pipeline": [{"$group": {"_id": {"s": "$s", "i": "$_id"}}}, {"$count": "n"}], "cursor": {}%s}`, "", `[{"n":3000}]`, 292},
}

// TestSpillToDataDirectory: with data on disk, every stage that does not fit into memory
// writes to files in the data directory.
func TestSpillToDataDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	c := spillServer(t, dir)
	c.ok(t, value.MustJSON(`{"create": "view", "viewOn": "c", "pipeline": [{"$match": {"_id": {"$gte": 0}}}], "$db": "test"}`))
	for _, sp := range spills {
		t.Run(sp.name, func(t *testing.T) {
			for _, allow := range []string{"", `, "allowDiskUse": true`} {
				reply := c.ok(t, value.MustJSON(fmt.Sprintf(sp.command, allow+`, "$db": "test"`)))
				if sp.then != "" {
					reply = c.ok(t, value.MustJSON(sp.then))
				}
				if got := reply.Lookup("cursor").Doc().Lookup("firstBatch"); got.JSON() != value.MustJSON(`{"a": `+sp.want+`}`).Lookup("a").JSON() {
					t.Errorf("%s gave %s, want %s", sp.name, got.JSON(), sp.want)
				}
			}
			if sp.refused != 0 {
				c.refused(t, sp.refused, fmt.Sprintf(sp.command, `, "allowDiskUse": false, "$db": "test"`))
			}
		})
	}
	c.ok(t, value.MustJSON(`{"setParameter": 1, "allowDiskUseByDefault": false, "$db": "admin"}`))
	for _, sp := range spills {
		if sp.refused != 0 {
			c.refused(t, sp.refused, fmt.Sprintf(sp.command, `, "$db": "test"`))
			c.ok(t, value.MustJSON(fmt.Sprintf(sp.command, `, "allowDiskUse": true, "$db": "test"`)))
		}
	}
	if left := names(t, filepath.Join(dir, tempName)); len(left) != 0 {
		t.Errorf("%v are left", left)
	}
}

// refused runs a command that must fail with a code.
func (c *testClient) refused(tb testing.TB, code int32, command string) value.Doc {
	tb.Helper()
	m, err := c.RoundTrip(value.MustJSON(command))
	if err != nil {
		tb.Fatalf("%s: %v", command, err)
	}
	if got := m.Body.Lookup("code").Int32(); got != code {
		tb.Errorf("%s: code %d, want %d: %s", command, got, code, m.Body)
	}
	return m.Body.Clone()
}

// names lists the files of a directory.
func names(tb testing.TB, dir string) (out []string) {
	tb.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		tb.Fatal(err)
	}
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// openTemporary lists the modes of the files of dir that this process has
// open, also those without a name.
func openTemporary(tb testing.TB, dir string) (modes []fs.FileMode) {
	tb.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		needs.Missing(tb, "/proc") // open files cannot be listed
	}
	for _, fd := range fds {
		path := "/proc/self/fd/" + fd.Name()
		target, err := os.Readlink(path)
		if err != nil || !strings.HasPrefix(target, dir) {
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			tb.Fatal(err)
		}
		modes = append(modes, info.Mode())
	}
	return modes
}

// TestTemporaryFiles: only the server may use the directory, which is empty at the start.
// Its files are removed when the cursor ends, for whatever reason.
func TestTemporaryFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	temp := filepath.Join(dir, tempName)
	if err := os.MkdirAll(filepath.Join(temp, "deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(temp, "deep", "spill-1.tmp"), []byte("of a server that was killed"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := spillServer(t, dir)
	if left := names(t, temp); len(left) != 0 {
		t.Errorf("%v are left by the last server", left)
	}
	if info, err := os.Stat(temp); err != nil || info.Mode() != fs.ModeDir|0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	for _, query := range []string{`"find": "c", "sort": {"k": 1}, "batchSize": 1`, `"aggregate": "c", "pipeline": [{"$setWindowFields": {"output": {"n": {"$sum": "$k"}}}}], "cursor": {"batchSize": 1}`} {
		for name, end := range map[string]string{
			"killCursors": `{"killCursors": "c", "cursors": [{"$numberLong": "%d"}], "$db": "test"}`,
			"read":        `{"getMore": {"$numberLong": "%d"}, "collection": "c", "batchSize": 100000, "$db": "test"}`,
		} {
			id := c.ok(t, value.MustJSON(`{`+query+`, "$db": "test"}`)).Lookup("cursor").Doc().Lookup("id").Int64()
			open := openTemporary(t, temp)
			if len(open) != 1 || open[0] != 0o600 {
				t.Errorf("open files have the modes %v, want one of 0600", open)
			}
			c.ok(t, value.MustJSON(fmt.Sprintf(end, id)))
			if open := openTemporary(t, temp); len(open) != 0 {
				t.Errorf("%s of %s leaves %d files open", name, query, len(open))
			}
		}
	}
	for _, failing := range []string{
		`[{"$sort": {"k": 1}}, {"$project": {"a": {"$divide": [1, {"$subtract": ["$k", 50]}]}}}, {"$match": {"a": -1}}]`,
		`[{"$group": {"_id": "$_id", "s": {"$push": "$s"}}}, {"$project": {"a": {"$divide": [1, {"$subtract": ["$_id", 2000]}]}}}, {"$match": {"a": -1}}]`,
		`[{"$facet": {"a": [{"$sort": {"k": 1}}, {"$project": {"a": {"$divide": [1, {"$subtract": ["$k", 50]}]}}}]}}]`,
		`[{"$facet": {"a": [{"$sort": {"k": 1}}, {"$limit": 1}], "b": [{"$limit": 1}]}}, {"$sort": {"a": 1}}, {"$project": {"a": {"$divide": [1, 0]}}}]`,
		`[{"$lookup": {"from": "c", "pipeline": [{"$sort": {"k": 1}}, {"$limit": 1000}], "as": "r"}}, {"$project": {"a": {"$divide": [1, 0]}}}]`,
	} {
		m, err := c.RoundTrip(value.MustJSON(`{"aggregate": "c", "pipeline": ` + failing + `, "cursor": {}, "$db": "test"}`))
		if err != nil || m.Body.Lookup("ok").Truthy() {
			t.Fatalf("%s: %v, %s", failing, err, m.Body)
		}
		if open := openTemporary(t, temp); len(open) != 0 {
			t.Errorf("the failing %s leaves %d files open", failing, len(open))
		}
	}
}
