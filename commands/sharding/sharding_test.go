package sharding_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/cluster"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/internal/engines"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// servers starts servers over one engine, which have reported themselves.
func servers(t *testing.T, hosts ...string) (list []*harness.Harness) {
	t.Helper()
	manual := clock.NewManual(harness.TestStart)
	opened, err := engines.Open(engines.ForTests(), engines.Options{Path: engines.Memory, Clock: manual, Indexer: catalog.NewIndexer()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close() })
	shared := storagetest.NewCluster(harness.Hostile(t, opened.Engine), manual)
	for _, host := range hosts {
		h := harness.NewOver(t, shared.Join(), manual, kernel.Options{Log: zerolog.Nop(), Host: host})
		report(t, h)
		list = append(list, h)
	}
	return list
}

func report(t *testing.T, h *harness.Harness) {
	t.Helper()
	if err := cluster.Report(h.Svc, t.Context()); err != nil {
		t.Fatal(err)
	}
}

// on runs a command on a database, which must succeed.
func on(h *harness.Harness, db, command string) value.Doc {
	h.Helper()
	reply := h.RunOn(db, harness.Relaxed(command))
	if !reply.Lookup("ok").Truthy() {
		h.Fatalf("%s answered %s", command, reply)
	}
	return reply
}

// config returns the documents of a collection of the database config.
func config(h *harness.Harness, coll string) []value.Doc {
	h.Helper()
	return harness.Docs(on(h, "config", `{"find": "`+coll+`", "sort": {"_id": 1}}`))
}

// The cases are those of MongoDB's own test of shardCollection (jstests/sharding,
// shard_collection_basic.js) and of the checks in its sources.
func TestShardCollection(t *testing.T) {
	t.Parallel()
	h := servers(t, "h1:1")[0]
	h.OK(`{insert: "full", documents: [{_id: 1, a: 1, l: [1, 2]}]}`)
	h.OK(`{create: "capped", capped: true, size: 10000}`)
	h.OK(`{create: "view", viewOn: "full", pipeline: []}`)
	h.OK(`{create: "collated", collation: {locale: "fr"}}`)
	h.OK(`{createIndexes: "indexed", indexes: [{key: {a: 1, b: 1}, name: "ab"}, {key: {h: "hashed"}, name: "h"}, {key: {m: 1}, name: "m"}, {key: {s: 1}, name: "s", sparse: true}]}`)
	h.OK(`{insert: "indexed", documents: [{a: 1, b: 1, m: [1, 2], s: 1}]}`)
	h.OK(`{createIndexes: "unique", indexes: [{key: {u: 1}, name: "u", unique: true}]}`)
	shard := func(coll, rest string) string { return `{shardCollection: "` + coll + `", ` + rest + `}` }
	h.Refuses([]harness.Refusal{
		{DB: "test", Command: shard("test.c", `key: {a: 1}`), Code: 13, Text: "shardCollection may only be run against the admin database."},
		{DB: "admin", Command: shard("test", `key: {a: 1}`), Code: 73},
		{DB: "admin", Command: shard("test.", `key: {a: 1}`), Code: 73},
		{DB: "admin", Command: `{shardCollection: 1, key: {a: 1}}`, Code: 2},
		{DB: "admin", Command: `{shardCollection: "test.c"}`, Code: 40414},
		{DB: "admin", Command: shard("test.c", `key: {a: 1}, nothing: 1`), Code: 40415},
		{DB: "admin", Command: shard("test.c", `key: {}`), Code: 2, Text: "Shard key is empty"},
		{DB: "admin", Command: shard("test.c", `key: {a: -1}`), Code: 2, Text: "Field a can only be 1 or 'hashed'"},
		{DB: "admin", Command: shard("test.c", `key: {a: "text"}`), Code: 2},
		{DB: "admin", Command: shard("test.c", `key: {a: {b: 1}}`), Code: 2},
		{DB: "admin", Command: shard("test.c", `key: {"a..b": 1}`), Code: 2, Text: "Field a..b contains empty parts"},
		{DB: "admin", Command: shard("test.c", `key: {a: "hashed", b: "hashed"}`), Code: 2},
		{DB: "admin", Command: shard("test.c", `key: {a: "hashed"}, unique: true`), Code: 72, Text: "Hashed shard keys cannot be declared unique.*"},
		{DB: "admin", Command: shard("config.c", `key: {a: 1}`), Code: 20},
		{DB: "admin", Command: shard("test.system.js", `key: {a: 1}`), Code: 20, Text: "can't shard system namespaces"},
		{DB: "admin", Command: shard("test.capped", `key: {_id: 1}`), Code: 72},
		{DB: "admin", Command: shard("test.view", `key: {_id: 1}`), Code: 166},
		{DB: "admin", Command: shard("test.collated", `key: {_id: 1}`), Code: 2, Text: "Collection has default collation*"},
		{DB: "admin", Command: shard("test.c", `key: {a: 1}, collation: {locale: "fr"}`), Code: 2},
		{DB: "admin", Command: shard("test.c", `key: {a: 1}, numInitialChunks: 8193`), Code: 72},
		{DB: "admin", Command: shard("test.full", `key: {a: 1}`), Code: 72, Text: "Please create an index that starts with the proposed shard key before sharding the collection"},
		{DB: "admin", Command: shard("test.full", `key: {a: 1}, implicitlyCreateIndex: false`), Code: 6373200},
		{DB: "admin", Command: shard("test.indexed", `key: {m: 1}`), Code: 72},
		{DB: "admin", Command: shard("test.indexed", `key: {s: 1}`), Code: 72},
		{DB: "admin", Command: shard("test.indexed", `key: {b: 1}`), Code: 72},
		{DB: "admin", Command: shard("test.indexed", `key: {a: 1, b: 1}, unique: true`), Code: 72, Text: "can't shard collection test.indexed, { a: 1, b: 1 } index not unique, and unique index explicitly specified"},
		{DB: "admin", Command: shard("test.unique", `key: {x: 1}`), Code: 72, Text: "can't shard collection 'test.unique' with unique index on { u: 1 }*"},
	})
	for coll, rest := range map[string]string{
		"full": `key: {_id: 1}`, "indexed": `key: {a: 1}`, "unique": `key: {u: 1}, unique: true`, "made": `key: {"x.y": 1, z: 1}`,
		"hashed": `key: {_id: "hashed"}`, "compound": `key: {a: 1, b: "hashed"}`, "collated": `key: {k: 1}, collation: {locale: "simple"}`, "once": `key: {o: 1}, unique: true`,
	} {
		for range 2 { // the same again succeeds
			if reply := h.Admin(shard("test."+coll, rest)); reply.Lookup("collectionsharded").Str() != "test."+coll {
				t.Errorf("%s: %s", coll, reply)
			}
		}
	}
	for coll, want := range map[string]string{
		"full": "_id_ ", "indexed": "_id_ ab h m s ", "unique": "_id_ u ", "made": "_id_ x.y_1_z_1 ", "hashed": "_id_ _id_hashed ", "compound": "_id_ a_1_b_hashed ", "collated": "_id_ k_1 ", "once": "_id_ o_1 ",
	} {
		if got := h.IndexNames(coll); got != want {
			t.Errorf("%s has the indexes %s, want %s", coll, got, want)
		}
	}
	h.OK(`{insert: "once", documents: [{o: 1}]}`)
	h.Fails(11000, `{insert: "once", documents: [{o: 1}]}`)
	h.Refuses([]harness.Refusal{
		{DB: "admin", Command: shard("test.made", `key: {x: 1}`), Code: 23, Text: "sharding already enabled for collection test.made"},
		{DB: "admin", Command: shard("test.full", `key: {_id: 1}, unique: true`), Code: 23},
	})
	// A key stays with a collection that is renamed, and ends with it.
	h.Admin(`{renameCollection: "test.made", to: "test.renamed"}`)
	h.OK(`{drop: "hashed"}`)
	h.OK(`{create: "hashed"}`)
	var names []string
	for _, d := range config(h, "collections") {
		names = append(names, strings.TrimPrefix(d.Lookup("_id").Str(), "test.")+d.Lookup("key").String()+fmt.Sprint(d.Lookup("unique").Bool()))
	}
	if got := strings.Join(names, " "); got != `collated{ k: 1 }false compound{ a: 1, b: "hashed" }false full{ _id: 1 }false indexed{ a: 1 }false once{ o: 1 }true renamed{ x.y: 1, z: 1 }false unique{ u: 1 }true` {
		t.Errorf("sharded: %s", got)
	}
	chunks := config(h, "chunks")
	if len(chunks) != 7 {
		t.Errorf("%d chunks", len(chunks))
	}
	for _, d := range chunks {
		if d.Lookup("shard").Str() != "duskdb" || d.Lookup("min").Doc().Len() == 0 {
			t.Errorf("a chunk is %s", d)
		}
	}
}

// Change streams with showExpandedEvents show a new shard key.
func TestShardCollectionEvent(t *testing.T) {
	t.Parallel()
	both := servers(t, "h1:1", "h2:1")
	h, other := both[0], both[1]
	h.OK(`{create: "c"}`)
	expanded, there, plain := h.Watch("c", "{showExpandedEvents: true}", ""), other.Watch("c", "{showExpandedEvents: true}", ""), h.Watch("c", "{}", "")
	h.Admin(`{shardCollection: "test.c", key: {_id: 1}}`)
	for _, s := range []*harness.TestStream{expanded, there} {
		events := s.Events()
		if len(events) != 1 || events[0].Lookup("operationType").Str() != "shardCollection" || events[0].Lookup("ns").String() != `{ db: "test", coll: "c" }` ||
			events[0].Lookup("operationDescription").String() != `{ shardKey: { _id: 1 }, unique: false }` {
			t.Errorf("events: %v", events)
		}
	}
	if events := plain.Events(); len(events) != 0 {
		t.Errorf("without showExpandedEvents: %v", events)
	}
}

// A shard key can be refined by fields that an index has, replaced and taken away.
func TestOtherShardKeys(t *testing.T) {
	t.Parallel()
	h := servers(t, "h1:1")[0]
	h.OK(`{insert: "c", documents: [{a: 1, b: 2}]}`)
	h.OK(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a"}]}`)
	h.Refuses([]harness.Refusal{{DB: "admin", Command: `{refineCollectionShardKey: "test.c", key: {a: 1, b: 1}}`, Code: 118, Text: "Collection test.c is not sharded."}})
	h.Admin(`{shardCollection: "test.c", key: {a: 1}}`)
	h.Refuses([]harness.Refusal{
		{DB: "admin", Command: `{refineCollectionShardKey: "test.none", key: {a: 1, b: 1}}`, Code: 26},
		{DB: "admin", Command: `{refineCollectionShardKey: "test.c", key: {b: 1}}`, Code: 72, Text: "refineCollectionShardKey shard key { b: 1 } does not extend the current shard key { a: 1 }"},
		{DB: "admin", Command: `{refineCollectionShardKey: "test.c", key: {a: 1, b: 1}}`, Code: 72, Text: "Please create an index that starts with the proposed shard key before refining the shard key of the collection"},
		{DB: "admin", Command: `{refineCollectionShardKey: "test.c", key: {a: 1}}`},
	})
	h.OK(`{createIndexes: "c", indexes: [{key: {a: 1, b: 1}, name: "ab"}]}`)
	key := func(want string) {
		t.Helper()
		docs := config(h, "collections")
		if want == "" && len(docs) == 0 {
			return
		}
		if len(docs) != 1 || docs[0].Lookup("key").String() != want {
			t.Errorf("sharded: %v, want %s", docs, want)
		}
	}
	h.Refuses([]harness.Refusal{{DB: "admin", Command: `{refineCollectionShardKey: "test.c", key: {a: 1, b: 1}}`}})
	key("{ a: 1, b: 1 }")
	h.Refuses([]harness.Refusal{{DB: "admin", Command: `{reshardCollection: "test.c", key: {b: 1}}`}})
	key("{ b: 1 }")
	if names := h.IndexNames("c"); names != "_id_ a ab b_1 " {
		t.Errorf("indexes: %s", names)
	}
	h.Refuses([]harness.Refusal{
		{DB: "admin", Command: `{unshardCollection: "test.c", toShard: "other"}`, Code: 70},
		{DB: "admin", Command: `{unshardCollection: "test.c", toShard: "duskdb"}`},
		{DB: "admin", Command: `{unshardCollection: "test.c"}`, Code: 118},
	})
	key("")
}

// All servers that live are listed, and the shard is where they are.
func TestMembers(t *testing.T) {
	t.Parallel()
	both := servers(t, "h1:27017", "h2:27017")
	a, b := both[0], both[1]
	real := clock.NewManual(time.Now()) // the test clock does not count
	for _, h := range both {
		h.Svc.Real = real
		report(t, h)
		h.Advance(3600)
	}
	pass := func(d time.Duration) {
		t.Helper()
		if err := real.Advance(d); err != nil {
			t.Fatal(err)
		}
	}
	ids := func(h *harness.Harness) (s string) {
		for _, d := range config(h, "mongos") {
			s += d.Lookup("_id").Str() + " "
			if d.Lookup("mongoVersion").Str() != dialect.NewestFull || d.Lookup("ping").Kind() != value.KindDateTime || d.Lookup("up").Kind() != value.KindInt64 || !d.Lookup("waiting").Bool() {
				t.Errorf("listed as %s", d)
			}
		}
		return s
	}
	if got := ids(a) + ids(b); got != "h1:27017 h2:27017 h1:27017 h2:27017 " {
		t.Errorf("listed: %s", got)
	}
	shard := `{ _id: "duskdb", host: "duskdb/h1:27017,h2:27017", state: 1, topologyTime: Timestamp(1, 1), replSetConfigVersion: 1 }`
	if got := a.Admin(`{listShards: 1}`).Lookup("shards").Doc().Index(0).String(); got != shard {
		t.Errorf("the shard is %s", got)
	}
	if docs := config(b, "shards"); len(docs) != 1 || docs[0].String() != shard {
		t.Errorf("the shards are %v", docs)
	}
	if got := a.Admin(`{getShardMap: 1}`).Lookup("map").String(); got != `{ config: "duskdb/h1:27017,h2:27017", duskdb: "duskdb/h1:27017,h2:27017" }` {
		t.Errorf("the map is %s", got)
	}
	pass(59 * time.Second)
	report(t, a)
	if got := ids(a); got != "h1:27017 h2:27017 " {
		t.Errorf("after 59 s: %s", got)
	}
	pass(2 * time.Second)
	report(t, a)
	if got := ids(a); got != "h1:27017 " {
		t.Errorf("one is silent for 61 s: %s", got)
	}
	report(t, b)
	if err := cluster.Leave(a.Svc); err != nil {
		t.Fatal(err)
	}
	if got := ids(b); got != "h2:27017 " {
		t.Errorf("one has left: %s", got)
	}
}

// The collections of config that are made when they are read can be queried as others, but
// not written.
func TestConfigDatabase(t *testing.T) {
	t.Parallel()
	both := servers(t, "h1:1", "h2:1")
	h := both[0]
	h.OK(`{insert: "c", documents: [{}]}`)
	h.RunOn("other", harness.Relaxed(`{insert: "c", documents: [{}]}`))
	first, second := config(h, "version"), config(both[1], "version")
	if len(first) != 1 || first[0].Lookup("clusterId").Kind() != value.KindObjectID || first[0].String() != second[0].String() {
		t.Errorf("config.version is %v and %v", first, second)
	}
	if docs := harness.Docs(on(h, "config", `{"find": "databases", "filter": {"_id": "other"}, "projection": {"primary": 1}}`)); len(docs) != 1 || docs[0].String() != `{ _id: "other", primary: "duskdb" }` {
		t.Errorf("databases: %v", docs)
	}
	if n := on(h, "config", `{"count": "databases"}`).Lookup("n").SafeInt64(); n != 2 {
		t.Errorf("%d databases", n)
	}
	if docs := harness.Docs(on(h, "config", `{"aggregate": "databases", "pipeline": [{"$lookup": {"from": "shards", "localField": "primary", "foreignField": "_id", "as": "s"}}, {"$match": {"s.state": 1}}, {"$count": "n"}], "cursor": {}}`)); len(docs) != 1 || docs[0].String() != `{ n: 2 }` {
		t.Errorf("joined: %v", docs)
	}
	if values := on(h, "config", `{"distinct": "databases", "key": "primary"}`).Lookup("values").String(); values != `[ "duskdb" ]` {
		t.Errorf("distinct: %s", values)
	}
	h.Refuses([]harness.Refusal{
		{DB: "config", Command: `{insert: "shards", documents: [{_id: "other"}]}`, Code: 166},
		{DB: "config", Command: `{update: "databases", updates: [{q: {_id: "other"}, u: {$set: {primary: "x"}}}]}`, Code: 166},
		{DB: "config", Command: `{delete: "chunks", deletes: [{q: {}, limit: 0}]}`, Code: 166},
		{DB: "config", Command: `{findAndModify: "collections", query: {_id: 1}, remove: true}`, Code: 166},
		{DB: "config", Command: `{update: "settings", updates: [{q: {_id: "chunksize"}, u: {$set: {value: 64}}, upsert: true}]}`},
	})
	listed := ""
	for _, d := range harness.Docs(on(h, "config", `{"listCollections": 1, "nameOnly": true}`)) {
		listed += d.Lookup("name").Str() + " "
	}
	for _, name := range []string{"shards", "databases", "collections", "chunks", "mongos", "version"} {
		if !strings.Contains(listed, name+" ") {
			t.Errorf("%s is not listed: %s", name, listed)
		}
	}
	if strings.Contains(listed, "$") {
		t.Errorf("listed: %s", listed)
	}
}

// What a mongos knows, and what it refuses; there is one shard.
func TestOtherCommands(t *testing.T) {
	t.Parallel()
	h := servers(t, "h1:1")[0]
	h.OK(`{insert: "c", documents: [{}]}`)
	h.Admin(`{shardCollection: "test.s", key: {a: 1}}`)
	h.Refuses([]harness.Refusal{
		{DB: "admin", Command: `{enableSharding: "test"}`},
		{DB: "admin", Command: `{enableSharding: "test", primaryShard: "duskdb"}`},
		{DB: "admin", Command: `{enableSharding: "test", primaryShard: "other"}`, Code: 70},
		{DB: "admin", Command: `{enableSharding: "admin"}`, Code: 72},
		{DB: "admin", Command: `{enableSharding: "a b"}`, Code: 73},
		{DB: "admin", Command: `{getShardVersion: "test.c"}`, Code: 118, Text: "Collection test.c is not sharded."},
		{DB: "admin", Command: `{getShardVersion: "test.s", fullMetadata: true}`},
		{DB: "admin", Command: `{getShardVersion: "test"}`},
		{DB: "admin", Command: `{flushRouterConfig: 1}`},
		{DB: "admin", Command: `{moveChunk: "test.s", find: {a: 1}, to: "duskdb"}`},
		{DB: "admin", Command: `{moveChunk: "test.s", find: {a: 1}, to: "other"}`, Code: 70},
		{DB: "admin", Command: `{moveChunk: "test.c", find: {a: 1}, to: "duskdb"}`, Code: 118},
		{DB: "admin", Command: `{movePrimary: "test", to: "duskdb"}`},
		{DB: "admin", Command: `{moveCollection: "test.c", toShard: "duskdb"}`},
		{DB: "admin", Command: `{removeShard: "duskdb"}`, Code: 20},
		{DB: "admin", Command: `{removeShard: "other"}`, Code: 70},
		{DB: "admin", Command: `{addShard: "rs/h:1"}`, Code: 115},
		{DB: "admin", Command: `{split: "test.s", middle: {a: 1}}`, Code: 115},
		{DB: "admin", Command: `{balancerCollectionStatus: "test.s"}`},
		{DB: "admin", Command: `{balancerCollectionStatus: "test.c"}`, Code: 118},
		{DB: "admin", Command: `{replSetGetConfig: 1}`, Code: 59},
		{DB: "admin", Command: `{replSetStepDown: 1}`, Code: 59},
		{DB: "admin", Command: `{shardingState: 1}`, Code: 59},
		{DB: "test", Command: `{checkMetadataConsistency: 1}`},
	})
	if reply := h.Admin(`{replSetGetStatus: 1}`); reply.Lookup("ok").Truthy() || reply.Lookup("info").Str() != "mongos" || reply.Lookup("errmsg").Str() != "replSetGetStatus is not supported through mongos" {
		t.Errorf("replSetGetStatus answered %s", reply)
	}
	if reply := h.OK(`{isdbgrid: 1}`); reply.Lookup("isdbgrid").SafeInt64() != 1 || !reply.Has("hostname") {
		t.Errorf("isdbgrid answered %s", reply)
	}
	status := h.Admin(`{serverStatus: 1}`)
	if status.Lookup("process").Str() != "mongos" || status.Lookup("sharding").Doc().Lookup("configsvrConnectionString").Str() != "duskdb/h1:1" || status.Has("repl") {
		t.Errorf("serverStatus answered %s, %s", status.Lookup("process"), status.Lookup("sharding"))
	}
	for command, mode := range map[string]string{`{balancerStop: 1}`: "off", `{balancerStart: 1}`: "full"} {
		h.Admin(command)
		if reply := h.Admin(`{balancerStatus: 1}`); reply.Lookup("mode").Str() != mode || reply.Lookup("inBalancerRound").Truthy() {
			t.Errorf("after %s: %s", command, reply)
		}
	}
}
