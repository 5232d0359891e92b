package ddl_test

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/value"
)

func TestCustomActionErrors(t *testing.T) {
	h := harness.New(t)
	h.OK(`{"insert": "plain", "documents": [{"_id": 1}]}`)
	for _, tt := range []struct {
		code    int32
		command string
	}{
		{59, `{"customAction": "Nonsense"}`},
		{48, `{"customAction": "CreateDatabase"}`},
		{2, `{"customAction": "UpdateDatabase", "offerThroughput": 399}`},
		{2, `{"customAction": "UpdateDatabase", "offerThroughput": 400, "autoScaleSettings": {"maxThroughput": 4000}}`},
		{40415, `{"customAction": "GetDatabase", "collection": "c"}`},
		{40414, `{"customAction": "CreateCollection"}`},
		{40415, `{"customAction": "CreateCollection", "collection": "c", "autoScaleSettings": {"max": 4000}}`},
		{40414, `{"customAction": "CreateCollection", "collection": "c", "autoScaleSettings": {}}`},
		{48, `{"customAction": "CreateCollection", "collection": "plain"}`},
		{2, `{"customAction": "CreateCollection", "collection": "c", "offerThroughput": 10001}`},
		{2, `{"customAction": "CreateCollection", "collection": "c", "indexes": [{"key": {"a": 1}, "name": "a_1"}]}`},
		{73, `{"customAction": "CreateCollection", "collection": "$cosmos"}`},
		{26, `{"customAction": "GetCollection", "collection": "c"}`},
		{26, `{"customAction": "UpdateCollection", "collection": "c"}`},
		{40415, `{"customAction": "UpdateCollection", "collection": "plain", "shardKey": "a"}`},
		{2, `{"customAction": "UpdateCollection", "collection": "plain", "offerThroughput": 20000}`},
	} {
		text := h.Fails(tt.code, tt.command)
		if got := h.Run(tt.command).Lookup("errMsg").Str(); got != text {
			t.Errorf("%s: errMsg %q, errmsg %q", tt.command, got, text)
		}
	}
}

func TestCustomActionOffers(t *testing.T) {
	h := harness.New(t)
	h.OK(`{"customAction": "CreateDatabase", "offerThroughput": 800}`)
	h.Fails(48, `{"customAction": "CreateDatabase"}`)
	if got := h.OK(`{"customAction": "GetDatabase"}`).Lookup("provisionedThroughput").SafeInt64(); got != 800 {
		t.Errorf("throughput of the database: %d", got)
	}
	if got := h.Admin(`{"listDatabases": 1, "nameOnly": true}`).String(); !strings.Contains(got, "test") {
		t.Errorf("a database without collections is not listed: %s", got)
	}
	h.OK(`{"customAction": "CreateCollection", "collection": "c", "offerThroughput": 20000, "shardKey": "a.b"}`)
	got := h.OK(`{"customAction": "GetCollection", "collection": "c"}`).String()
	if !strings.Contains(got, `shardKeyDefinition: { a.b: "hashed" }`) || !strings.Contains(got, "provisionedThroughput: 20000") {
		t.Errorf("sharded: %s", got)
	}
	h.OK(`{"customAction": "UpdateCollection", "collection": "c", "autoScaleSettings": {"maxThroughput": 4000}}`)
	got = h.OK(`{"customAction": "GetCollection", "collection": "c"}`).String()
	if !strings.Contains(got, "provisionedThroughput: 400,") || !strings.Contains(got, "maxThroughput: 4000") || !strings.Contains(got, "hashed") {
		t.Errorf("autoscaled: %s", got)
	}
	h.Admin(`{"renameCollection": "test.c", "to": "test.d"}`)
	if got := h.OK(`{"customAction": "GetCollection", "collection": "d"}`).String(); !strings.Contains(got, "hashed") {
		t.Errorf("renamed: %s", got)
	}
	h.OK(`{"drop": "d"}`)
	if n := len(harness.Docs(h.OK(`{"listCollections": 1}`))); n != 0 {
		t.Errorf("%d collections are listed", n)
	}
	h.OK(`{"dropDatabase": 1}`)
	h.Fails(26, `{"customAction": "GetDatabase"}`)
}

// showIndexes adds the indexes as listIndexes shows them.
func TestCustomActionShowsIndexes(t *testing.T) {
	h := harness.New(t)
	h.OK(`{"createIndexes": "c", "indexes": [{"key": {"_ts": 1}, "name": "_ts_1", "expireAfterSeconds": 30}, {"key": {"b.$**": 1}, "name": "b.$**_1"}]}`)
	get := func(show string) value.Value {
		return h.OK(`{"customAction": "GetCollection", "collection": "c"` + show + `}`).Lookup("indexes")
	}
	listed := value.NewArray(values(harness.Docs(h.OK(`{"listIndexes": "c"}`)))...)
	if got := get(`, "showIndexes": true`); value.Compare(got, listed) != 0 {
		t.Errorf("indexes %s, want %s", got, listed)
	}
	for _, show := range []string{``, `, "showIndexes": false`} {
		if got := get(show); !got.IsMissing() {
			t.Errorf("with%s: %s", show, got)
		}
	}
	h.Fails(40415, `{"customAction": "GetDatabase", "showIndexes": true}`)
}

func values(docs []value.Doc) (list []value.Value) {
	for _, d := range docs {
		list = append(list, value.Document(d))
	}
	return list
}

func TestCustomActionIndexes(t *testing.T) {
	h := harness.New(t)
	h.OK(`{"customAction": "CreateCollection", "collection": "c", "indexes": [{"key": {"_id": 1}, "name": "_id_1"},
		{"key": {"a": 1}, "name": "a_1"}, {"key": {"b": 1}, "name": "b_1", "unique": true}]}`)
	names := func() (s string) {
		for _, d := range harness.Docs(h.OK(`{"listIndexes": "c"}`)) {
			s += d.Lookup("name").Str() + " "
		}
		return s
	}
	if got := names(); got != "_id_ a_1 b_1 " {
		t.Errorf("created: %s", got)
	}
	h.OK(`{"customAction": "UpdateCollection", "collection": "c", "indexes": [{"key": {"_id": 1}, "name": "_id_1"},
		{"key": {"b": 1}, "name": "b_1"}, {"key": {"c": 1}, "name": "c_1"}, {"key": {"_ts": 1}, "name": "_ts_1", "expireAfterSeconds": 30}]}`)
	if got := names(); got != "_id_ b_1 c_1 _ts_1 " {
		t.Errorf("replaced: %s", got)
	}
	h.OK(`{"insert": "c", "documents": [{"_id": 1, "b": 1}, {"_id": 2, "b": 1}]}`) // b_1 is not unique any more
	h.OK(`{"customAction": "UpdateCollection", "collection": "c", "indexes": [{"key": {"_id": 1}, "name": "_id_1"}, {"key": {"_ts": 1}, "name": "_ts_1", "expireAfterSeconds": 60}]}`)
	if got := h.OK(`{"listCollections": 1}`).String(); !strings.Contains(got, "default: 60") {
		t.Errorf("policy: %s", got)
	}
	h.OK(`{"customAction": "UpdateCollection", "collection": "c"}`)
	if got := names(); got != "_id_ _ts_1 " {
		t.Errorf("without indexes: %s", got)
	}
	h.OK(`{"customAction": "UpdateCollection", "collection": "c", "indexes": [{"key": {"_id": 1}, "name": "_id_1"}]}`)
	if got := names(); got != "_id_ " {
		t.Errorf("policy off: %s", got)
	}
}

// The manual's rules on throughput (custom-commands.md): a collection has 400 RU/s
// of its own, however it was made, unless it shares the database's.
func TestCustomActionThroughput(t *testing.T) {
	throughput := func(h *harness.Harness, coll string) int64 {
		h.Helper()
		return h.OK(`{customAction: "GetCollection", collection: "` + coll + `"}`).Lookup("provisionedThroughput").SafeInt64()
	}
	h := harness.New(t)
	h.OK(`{insert: "inserted", documents: [{_id: 1}]}`)
	h.OK(`{create: "created"}`)
	h.OK(`{customAction: "CreateCollection", collection: "own"}`)
	for _, c := range []string{"inserted", "created", "own"} {
		if got := throughput(h, c); got != 400 {
			t.Errorf("%s: %d", c, got)
		}
	}
	h = harness.New(t)
	h.OK(`{customAction: "CreateDatabase", offerThroughput: 800}`)
	h.OK(`{customAction: "CreateCollection", collection: "shares"}`)
	h.OK(`{insert: "inserted", documents: [{_id: 1}]}`)
	h.OK(`{customAction: "CreateCollection", collection: "own", offerThroughput: 500}`)
	for c, want := range map[string]int64{"shares": 0, "inserted": 0, "own": 500} {
		if got := throughput(h, c); got != want {
			t.Errorf("%s: %d, want %d", c, got, want)
		}
	}
	h.Fails(2, `{customAction: "CreateCollection", collection: "x", autoScaleSettings: {maxThroughput: 20000}}`)
	h.OK(`{customAction: "CreateCollection", collection: "x", autoScaleSettings: {maxThroughput: 20000}, shardKey: "a"}`)
	h.OK(`{customAction: "CreateCollection", collection: "y", autoScaleSettings: {maxThroughput: 10000}}`)
	h.Fails(2, `{customAction: "UpdateCollection", collection: "y", autoScaleSettings: {maxThroughput: 20000}}`)
}

// GetChangeStreamTokens returns tokens with which a stream can be resumed.
func TestChangeStreamTokens(t *testing.T) {
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1}]}`)
	token := func(rest string) string {
		h.Helper()
		list := h.OK(`{customAction: "GetChangeStreamTokens", collection: "c"` + rest + `}`).Lookup("resumeAfterTokens").Doc()
		if list.Len() != 1 {
			t.Fatal(list)
		}
		return list.Index(0).Doc().JSON()
	}
	now := token(``)
	begin := token(`, startAtOperationTime: {"$timestamp": {"t": 1, "i": 1}}`)
	h.OK(`{insert: "c", documents: [{_id: 2}]}`)
	for from, want := range map[string]int{now: 1, begin: 2} {
		events := h.Watch("c", `{"resumeAfter": `+from+`}`, "").Events()
		if len(events) != want || events[want-1].Lookup("documentKey").Doc().Lookup("_id").Int32() != 2 {
			t.Errorf("after %s: %v", from, events)
		}
	}
	h.Fails(26, `{customAction: "GetChangeStreamTokens", collection: "none"}`)
	h.Fails(14, `{customAction: "GetChangeStreamTokens", collection: "c", startAtOperationTime: 5}`)
	h.Fails(40415, `{customAction: "GetChangeStreamTokens", collection: "c", offerThroughput: 400}`)
}
