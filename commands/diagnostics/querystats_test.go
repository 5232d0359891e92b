package diagnostics_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/observe"
	"github.com/duskdb/duskdb/value"
)

// statsOf returns the entries of $queryStats for queries on collections of the database test.
func statsOf(h *harness.Harness, spec string) (list []value.Doc) {
	h.Helper()
	reply := h.Admin(`{aggregate: 1, pipeline: [{$queryStats: ` + spec + `}], cursor: {batchSize: 1000}}`)
	if !reply.Lookup("ok").Truthy() {
		h.Fatalf("$queryStats answered %s", reply)
	}
	return harness.Docs(reply)
}

func metric(d value.Doc, name, part string) int64 {
	return d.Lookup("metrics").Doc().Lookup(name).Doc().Lookup(part).SafeInt64()
}

// Nothing is recorded until a rate is set; then queries of one shape have one entry.
func TestQueryStats(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1, a: 1}, {_id: 2, a: 2}, {_id: 3, a: 3}]}`)
	h.OK(`{find: "c", filter: {a: 1}}`)
	if list := statsOf(h, `{}`); len(list) != 0 {
		t.Fatalf("without a rate there is %s", list)
	}
	h.Admin(`{setParameter: 1, internalQueryStatsRateLimit: -1}`)
	h.OK(`{find: "c", filter: {a: 1}}`)
	h.OK(`{find: "c", filter: {a: {$eq: 3}}}`)
	h.OK(`{explain: {find: "c", filter: {a: 1}}}`)
	h.Fails(2, `{find: "c", filter: {a: {$none: 1}}}`)
	list := statsOf(h, `{}`)
	if len(list) != 1 {
		t.Fatalf("there is %s", list)
	}
	d := list[0]
	key := d.Lookup("key").Doc()
	if shape := key.Lookup("queryShape").String(); shape != `{ cmdNs: { db: "test", coll: "c" }, command: "find", filter: { a: { $eq: "?number" } } }` {
		t.Errorf("the shape is %s", shape)
	}
	if key.Lookup("collectionType").Str() != "collection" || len(d.Lookup("queryShapeHash").Str()) != 64 || len(d.Lookup("keyHash").Str()) != 44 ||
		d.Lookup("asOf").Kind() != value.KindTimestamp {
		t.Errorf("the entry is %s", d)
	}
	for _, tt := range []struct {
		name, part string
		want       int64
	}{
		{"docsReturned", "sum", 2}, {"docsReturned", "max", 1}, {"docsReturned", "min", 1}, {"docsExamined", "sum", 6},
		{"docsExamined", "sumOfSquares", 18}, {"keysExamined", "sum", 0}, {"hasSortStage", "false", 2}, {"usedDisk", "true", 0},
	} {
		if got := metric(d, tt.name, tt.part); got != tt.want {
			t.Errorf("%s.%s is %d, want %d", tt.name, tt.part, got, tt.want)
		}
	}
	if n := d.Lookup("metrics").Doc().Lookup("execCount"); n.Kind() != value.KindInt64 || n.Int64() != 2 {
		t.Errorf("execCount is %s", n)
	}
}

// A query with a cursor is recorded when the cursor ends: exhausted, killed or with its
// session.
func TestQueryStatsOfCursors(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1}, {_id: 2}, {_id: 3}, {_id: 4}]}`)
	h.Admin(`{setParameter: 1, internalQueryStatsSampleRate: 1.0}`)
	open := func() int64 {
		return h.OK(`{find: "c", sort: {a: 1}, batchSize: 2}`).Lookup("cursor").Doc().Lookup("id").Int64()
	}
	id := open()
	if list := statsOf(h, `{}`); len(list) != 0 {
		t.Errorf("while the cursor is open there is %s", list)
	}
	h.OK(fmt.Sprintf(`{getMore: {$numberLong: "%d"}, collection: "c"}`, id))
	d := statsOf(h, `{}`)[0]
	if metric(d, "docsReturned", "sum") != 4 || metric(d, "hasSortStage", "true") != 1 || metric(d, "docsExamined", "max") != 4 {
		t.Errorf("after the end of the cursor: %s", d)
	}
	h.OK(fmt.Sprintf(`{killCursors: "c", cursors: [{$numberLong: "%d"}]}`, open()))
	if d = statsOf(h, `{}`)[0]; metric(d, "docsReturned", "sum") != 6 || metric(d, "docsReturned", "min") != 2 {
		t.Errorf("after a killed cursor: %s", d)
	}
	if key := d.Lookup("key").Doc(); key.Lookup("batchSize").Str() != "?number" {
		t.Errorf("its key is %s", key)
	}
}

// What tells entries apart besides the shape, by command.
func TestQueryStatsKeys(t *testing.T) {
	t.Parallel()
	h := harness.New(t).AsMember()
	h.OK(`{create: "c"}`)
	h.OK(`{create: "v", viewOn: "c", pipeline: []}`)
	h.OK(`{create: "s", timeseries: {timeField: "t"}}`)
	h.Admin(`{setParameter: 1, internalQueryStatsRateLimit: -1}`)
	for _, tt := range []struct{ command, want string }{
		{`{find: "c", comment: {a: [1]}, noCursorTimeout: true}`, `comment: "?object", collectionType: "collection", noCursorTimeout: true`},
		{`{count: "v", query: {a: 1}, hint: "_id_", maxTimeMS: 1000}`, `collectionType: "view", hint: { $hint: "_id_" }, maxTimeMS: "?number"`},
		{`{distinct: "s", key: "a", readConcern: {level: "majority"}}`, `readConcern: { level: "majority" }, collectionType: "timeseries"`},
		{`{aggregate: "none", pipeline: [], cursor: {batchSize: 1}, hint: {a: 1}}`, `collectionType: "nonExistent", hint: { a: 1 }, cursor: { batchSize: "?number" }`},
		{`{aggregate: 1, pipeline: [{$documents: []}], cursor: {}, apiVersion: "1", $readPreference: {mode: "nearest"}}`,
			`apiVersion: "1", $readPreference: { mode: "nearest" }, collectionType: "virtual"`},
		{`{aggregate: "c", pipeline: [{$changeStream: {}}], cursor: {}}`, `collectionType: "changeStream"`},
	} {
		h.OK(tt.command)
		d := statsOf(h, `{}`)[0] // the latest
		_, rest, _ := strings.Cut(d.Lookup("key").String(), ` }, `+strings.SplitN(tt.want, ":", 2)[0]+`:`)
		if got := strings.SplitN(tt.want, ":", 2)[0] + ":" + strings.TrimSuffix(rest, " }"); got != tt.want {
			t.Errorf("%s has the key %s, want … %s", tt.command, d.Lookup("key"), tt.want)
		}
	}
	if n := len(statsOf(h, `{}`)); n != 6 {
		t.Errorf("there are %d entries", n)
	}
}

// transformIdentifiers replaces names, not operators and types.
func TestQueryStatsDisguised(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.Admin(`{setParameter: 1, internalQueryStatsRateLimit: -1}`)
	h.OK(`{find: "secrets", filter: {"inner.name": 1}, sort: {other: 1}}`)
	const spec = `{transformIdentifiers: {algorithm: "hmac-sha-256", hmacKey: {$binary: {base64: "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE=", subType: "08"}}}}`
	text := statsOf(h, spec)[0].Lookup("key").Doc().Lookup("queryShape").String()
	for _, gone := range []string{"secrets", "test", "inner", "name", "other"} {
		if strings.Contains(text, gone) {
			t.Errorf("%s is in %s", gone, text)
		}
	}
	for _, kept := range []string{`command: "find"`, `$eq: "?number"`} {
		if !strings.Contains(text, kept) {
			t.Errorf("%s is not in %s", kept, text)
		}
	}
	if statsOf(h, `{transformIdentifiers: {algorithm: "none"}}`)[0].Lookup("key").Doc().Lookup("queryShape").Doc().Lookup("cmdNs").Doc().Lookup("coll").Str() != "secrets" {
		t.Error("without an algorithm names are replaced")
	}
}

// The statistics keep to their rate and to their limit; what was seen last stays.
func TestQueryStatsLimits(t *testing.T) {
	t.Parallel()
	q := observe.NewQueryStats(1 << 20)
	at := time.Unix(100, 0)
	if q.Wants(at) {
		t.Error("recorded without a rate")
	}
	q.SetPerSecond(2)
	for i, want := range []bool{true, true, false, false} {
		if q.Wants(at) != want {
			t.Errorf("query %d of a second is recorded: %v", i, !want)
		}
	}
	if !q.Wants(at.Add(time.Second)) {
		t.Error("none of the next second is recorded")
	}
	record := func(i int) {
		r := q.Run(value.NewDoc("i", value.Int32(int32(i))), "", func() int64 { return int64(i) })
		r.Add(&observe.Counts{Returned: int64(i)}, time.Millisecond)
		r.End()
		r.End() // nothing was added
	}
	for i := range 100 {
		record(i)
	}
	record(0)
	q.SetLimit(4096)
	list := q.List(1)
	if len(list) != 3 || list[0].Lookup("key").Doc().Lookup("i").Int32() != 0 || list[1].Lookup("key").Doc().Lookup("i").Int32() != 99 {
		t.Errorf("left are %s", list)
	}
	if n := list[0].Lookup("metrics").Doc().Lookup("execCount").Int64(); n != 2 {
		t.Errorf("an entry counts %d", n)
	}
	q.SetLimit(0)
	if q.Wants(at.Add(time.Hour)) || len(q.List(1)) != 0 {
		t.Error("recorded without room")
	}
}

func TestQueryStatsParameters(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	for command, code := range map[string]int32{
		`{setParameter: 1, internalQueryStatsCacheSize: "2MB"}`: 0, `{setParameter: 1, internalQueryStatsCacheSize: "1.5 gb"}`: 0, `{setParameter: 1, internalQueryStatsCacheSize: "3%"}`: 0,
		`{setParameter: 1, internalQueryStatsCacheSize: "3"}`: 6007010, `{setParameter: 1, internalQueryStatsCacheSize: "3KB"}`: 6007010, `{setParameter: 1, internalQueryStatsSampleRate: 2.0}`: 2,
	} {
		if reply := h.Admin(command); reply.Lookup("code").Int32() != code {
			t.Errorf("%s answered %s", command, reply)
		}
	}
}
