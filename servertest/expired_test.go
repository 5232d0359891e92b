package servertest_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/duskdb/duskdb/internal/engines"
	"github.com/duskdb/duskdb/servertest"
)

// No command and no stage sees expired documents. These tests run all commands and
// stages of the tables, and fail if one of them has no row here. A row runs the command
// on a collection with an expired document that is still stored.

// way is such a scene: the collection "c" has {_id: 2, u: 2, x: "here"} and the expired
// {_id: 1, u: 1, x: "gone", ttl: 5}; "d" has only the documents that the row inserts.
type way struct{ *scene }

// ways are the two ways in which document TTL is switched on.
var ways = map[string]string{
	"option": `{create: "c", documentTtl: {default: -1}}`,
	"index":  `{createIndexes: "c", indexes: [{key: {_ts: 1}, name: "_ts_1", expireAfterSeconds: -1}]}`,
}

// before are the documents in the collection at the beginning.
const before = `{_id: 1, u: 1, x: "gone", a: [1], b: [1], n: 10, ttl: 5, loc: [0, 0], parent: 2, files_id: 1, data: {"$binary": {"base64": "AAAA", "subType": "00"}}},
	{_id: 2, u: 2, x: "here", n: 20, loc: [1, 1], parent: 1}`

// inTheWay calls fn with each of the scenes.
func inTheWay(t *testing.T, fn func(w way)) {
	for name, create := range ways {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, servertest.Dir(t.TempDir()))
			s.admin(`{setParameter: 1, documentTtlPurgeYieldThreshold: 0}`)
			s.ok(create)
			s.ok(`{insert: "c", documents: [` + before + `]}`)
			s.to(5)
			is(s, "stored", number(s.ok(`{collStats: "c"}`).Lookup("count")), 2)
			fn(way{s})
		})
	}
}

// nothingGone looks for the expired document everywhere in the database.
func (w way) nothingGone() {
	w.Helper()
	for _, c := range w.batch(`{listCollections: 1, filter: {type: "collection"}}`) {
		name := c.Lookup("name").StringValue()
		if strings.HasPrefix(name, "system.") {
			continue
		}
		for _, d := range w.batch(`{find: %q, batchSize: 1000}`, name) {
			if strings.Contains(d.String(), `"gone"`) {
				w.Errorf("%s shows %s", name, d)
			}
		}
	}
}

// n checks a number of a reply.
func (w way) n(field string, want int64, command string, args ...any) {
	w.Helper()
	is(w.scene, fmt.Sprintf("%s of %s", field, short(command)), number(w.ok(command, args...).Lookup(strings.Split(field, ".")...)), want)
}

// ids checks the _ids in the first batch of a reply.
func (w way) ids(want, command string, args ...any) {
	w.Helper()
	var got []string
	for _, d := range w.batch(command, args...) {
		got = append(got, strconv.FormatInt(number(d.Lookup("_id")), 10))
	}
	is(w.scene, short(command), strings.Join(got, " "), want)
}

// row is the expected effect of a command on a collection with an expired document.
type row struct {
	why  string // it has nothing to do with documents that can expire
	face string // lone or cluster: only such a server has it
	walk func(w way)
}

// The faces of servers.
const (
	lone    = "lone"
	cluster = "cluster"
)

// only gives rows the face of the servers that have their commands.
func only(face string, rows map[string]row) map[string]row {
	for name, r := range rows {
		r.face = face
		rows[name] = r
	}
	return rows
}

const (
	names     = "it is about names, options and indexes; documents are not read"
	serverOwn = "it is about the server, its sessions, settings or users, in collections that take no document TTL"
	refused   = "it is refused, whatever there is"
	placement = "it is about the placement of data, which the database decides"
	physical  = "it is the pass itself, or tells what is stored"
)

func why(reason string, commands ...string) map[string]row {
	m := map[string]row{}
	for _, c := range commands {
		m[c] = row{why: reason}
	}
	return m
}

// commandRows has a row for each command.
func commandRows() map[string]row {
	rows := map[string]row{}
	for _, part := range []map[string]row{
		readingRows, writingRows, buildingRows, queueRows,
		why(names, "create", "drop", "dropDatabase", "listCollections", "listIndexes", "listDatabases", "validateDBMetadata", "planCacheClear",
			"planCacheClearFilters", "planCacheListFilters", "planCacheSetFilter", "createSearchIndexes", "dropSearchIndex", "updateSearchIndex", "listSearchIndexes"),
		why(physical, "collStats", "dbStats", "dataSize", "validate", "expirationStats", "runExpirationPass", "duskBackup", "compact", "autoCompact"),
		why(refused, "analyzeShardKey", "cleanupStructuredEncryptionData", "compactStructuredEncryptionData", "configureQueryAnalyzer",
			"setIndexCommitQuorum", "rotateCertificates", "setUserWriteBlockMode", "getShardMap", "getShardVersion", "flushRouterConfig"),
		only(lone, why(refused, "cleanupOrphaned", "coordinateCommitTransaction", "prepareTransaction", "replSetMaintenance", "replSetSyncFrom", "shardingState")),
		only(lone, why(serverOwn, "replSetFreeze", "replSetGetConfig", "replSetInitiate", "replSetReconfig", "replSetStepDown")),
		only(cluster, why(placement, "abortReshardCollection", "addShard", "addShardToZone", "balancerCollectionStatus", "balancerStart", "balancerStatus",
			"balancerStop", "checkMetadataConsistency", "cleanupReshardCollection", "clearJumboFlag", "commitReshardCollection", "configureCollectionBalancing",
			"enableSharding", "isdbgrid", "listShards", "mergeAllChunksOnShard", "mergeChunks", "moveChunk", "moveCollection", "movePrimary", "moveRange",
			"refineCollectionShardKey", "removeShard", "removeShardFromZone", "reshardCollection", "shardCollection", "split",
			"transitionFromDedicatedConfigServer", "transitionToDedicatedConfigServer", "unshardCollection", "updateZoneKeyRange")),
		why(serverOwn, "_isSelf", "appendOplogNote", "authenticate", "availableQueryOptions", "buildInfo", "connPoolStats", "connectionStatus", "createRole",
			"createUser", "currentOp", "dropAllRolesFromDatabase", "dropAllUsersFromDatabase", "dropConnections", "dropRole", "dropUser", "endSessions",
			"features", "fsync", "fsyncUnlock", "getAuditConfig", "getClusterParameter", "getCmdLineOpts", "getDefaultRWConcern", "getDiagnosticData", "getLog", "getParameter",
			"grantPrivilegesToRole", "grantRolesToRole", "grantRolesToUser", "hello", "hostInfo", "invalidateUserCache", "isMaster", "killAllSessions",
			"killAllSessionsByPattern", "killCursors", "killOp", "killSessions", "listCommands", "lockInfo", "logApplicationMessage", "logRotate", "logout",
			"ping", "profile", "refreshSessions", "removeQuerySettings", "replSetGetStatus", "replSetResizeOplog", "revokePrivilegesFromRole", "revokeRolesFromRole", "revokeRolesFromUser", "rolesInfo",
			"saslContinue", "saslStart", "serverStatus", "setAuditConfig", "setClusterParameter", "setDefaultRWConcern", "setFeatureCompatibilityVersion",
			"setParameter", "setQuerySettings", "shutdown", "startSession", "testClock", "top", "updateRole", "updateUser", "usersInfo", "whatsmysni", "whatsmyuri"),
	} {
		for name, r := range part {
			rows[name] = r
		}
	}
	return rows
}

// Every command of the table.
func TestExpiredInTheWayOfCommands(t *testing.T) {
	rows := commandRows()
	s := newScene(t)
	listed, err := s.ok(`{listCommands: 1}`).Lookup("commands").Document().Elements()
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, e := range listed {
		name := e.Key()
		known[name] = true
		r, ok := rows[name]
		switch {
		case !ok:
			t.Errorf("the command %s has no row: what does it do with an expired document in its way?", name)
		case r.walk != nil:
			t.Run(name, func(t *testing.T) {
				inTheWay(t, func(w way) { r.walk(w); w.nothingGone() })
			})
		case r.why == "":
			t.Errorf("the row of %s has neither a command nor a reason", name)
		}
	}
	for name, r := range rows {
		if r.face != "" && (r.face == cluster) != engines.Remote(engines.ForTests()) {
			continue
		}
		if !known[name] {
			t.Errorf("there is no command %s", name)
		}
	}
}

var readingRows = map[string]row{
	"aggregate": {walk: func(w way) {
		w.ids(`2`, `{aggregate: "c", pipeline: [], cursor: {}}`)
		w.ids(`2`, `{aggregate: "c", pipeline: [{$match: {u: {$gte: 0}}}], cursor: {}}`)
	}},
	"count": {walk: func(w way) {
		w.ok(`{createIndexes: "d", indexes: [{key: {u: 1}, name: "u"}]}`)
		for _, query := range []string{`{}`, `{u: {$gte: 0}}`, `{_id: {$gt: 0}}`, `{_id: {$in: [1, 2]}}`} {
			w.n("n", 1, `{count: "c", query: `+query+`}`)
		}
		w.n("n", 0, `{count: "c", query: {_id: 1}}`)
		w.n("n", 1, `{count: "c", limit: 1}`)
		w.n("n", 0, `{count: "c", skip: 1}`)
		w.n("n", 1, `{count: "c", hint: "_id_"}`)
	}},
	"distinct": {walk: func(w way) {
		is(w.scene, "values", w.ok(`{distinct: "c", key: "x"}`).Lookup("values").String(), `["here"]`)
		is(w.scene, "values by index", w.ok(`{distinct: "c", key: "_id"}`).Lookup("values").String(), `[{"$numberInt":"2"}]`)
	}},
	"dbHash": {walk: func(w way) {
		w.ok(`{insert: "d", documents: [{_id: 2, u: 2, x: "here", n: 20, loc: [1, 1], parent: 1}]}`)
		hashes := w.ok(`{dbHash: 1}`).Lookup("collections").Document()
		is(w.scene, "hash", hashes.Lookup("c").StringValue(), hashes.Lookup("d").StringValue())
	}},
	"explain": {walk: func(w way) {
		w.n("executionStats.nReturned", 1, `{explain: {find: "c"}, verbosity: "executionStats"}`)
		w.n("executionStats.nReturned", 0, `{explain: {find: "c", filter: {_id: 1}}, verbosity: "executionStats"}`)
	}},
	"filemd5": {walk: func(w way) {
		w.ok(`{create: "fs.chunks", documentTtl: {default: -1}}`)
		w.ok(`{createIndexes: "fs.chunks", indexes: [{key: {files_id: 1, n: 1}, name: "n", unique: true}]}`)
		w.ok(`{insert: "fs.chunks", documents: [{_id: 1, files_id: 1, n: 0, data: {"$binary": {"base64": "YWJj", "subType": "00"}}, ttl: 5}]}`)
		w.to(10)
		is(w.scene, "md5 of nothing", w.ok(`{filemd5: 1, root: "fs"}`).Lookup("md5").StringValue(), "d41d8cd98f00b204e9800998ecf8427e")
	}},
	"find": {walk: func(w way) {
		w.ids(`2`, `{find: "c"}`)
		w.ids(``, `{find: "c", filter: {_id: 1}}`)
		w.ids(``, `{find: "c", filter: {_id: {$in: [1]}}}`)
		w.ids(`2`, `{find: "c", sort: {_id: 1}}`)
		w.ids(`2`, `{find: "c", sort: {n: -1}, limit: 1}`)
		w.ids(`2`, `{find: "c", hint: "_id_", projection: {_id: 1}}`)
		w.ids(`2`, `{find: "c", filter: {$or: [{_id: 1}, {_id: 2}]}}`)
		w.ids(`2`, `{find: "c", hint: {$natural: -1}}`)
		w.ids(``, `{find: "c", filter: {_id: 1}, showRecordId: true}`)
	}},
	"getMore": {walk: func(w way) {
		w.ok(`{insert: "c", documents: [{_id: 3, x: "here"}, {_id: 4, x: "gone", ttl: 5}, {_id: 5, x: "here"}]}`)
		r := w.ok(`{find: "c", batchSize: 1}`).Lookup("cursor")
		w.to(10)
		id, _ := r.Document().Lookup("id").Int64OK()
		var got []string
		for _, d := range elements(w.ok(`{getMore: {"$numberLong": "%d"}, collection: "c"}`, id).Lookup("cursor", "nextBatch")) {
			got = append(got, d.Lookup("_id").String())
		}
		is(w.scene, "the rest", strings.Join(got, " "), `{"$numberInt":"3"} {"$numberInt":"5"}`)
	}},
	"mapReduce": {walk: func(w way) {
		r := w.ok(`{mapReduce: "c", map: {"$code": "function() { emit(1, this.n) }"}, reduce: {"$code": "function(k, v) { return Array.sum(v) }"}, out: {inline: 1}}`)
		is(w.scene, "sum", number(elements(r.Lookup("results"))[0].Lookup("value")), 20)
	}},
}

var writingRows = map[string]row{
	"applyOps": {walk: func(w way) {
		for _, op := range []string{
			`{op: "u", ns: "db.c", o2: {_id: 1}, o: {$v: 2, diff: {u: {n: 5}}}}`, `{op: "u", ns: "db.c", o2: {_id: 1}, o: {$set: {n: 5}}}`,
		} {
			if r, err := w.client.Database("admin").RunCommand(w.Context(), w.parse(`{applyOps: [`+op+`]}`)).Raw(); err == nil {
				w.Errorf("%s: %s", op, r)
			}
			w.ids(`2`, `{find: "c"}`)
		}
		w.admin(`{applyOps: [{op: "d", ns: "db.c", o: {_id: 1}}]}`)
		w.admin(`{applyOps: [{op: "i", ns: "db.c", o: {_id: 1, x: "new"}}]}`)
		is(w.scene, "inserted", w.first(`{find: "c", filter: {_id: 1}}`).String(), `{"_id": {"$numberInt":"1"},"x": "new"}`)
	}},
	"bulkWrite": {walk: func(w way) {
		r := w.admin(`{bulkWrite: 1, nsInfo: [{ns: "db.c"}], ops: [{update: 0, filter: {_id: 1}, updateMods: {$set: {n: 1}}}, {delete: 0, filter: {_id: 1}},
			{update: 0, filter: {u: {$gt: 0}}, updateMods: {$set: {n: 1}}, multi: true}, {insert: 0, document: {_id: 1, x: "new"}}]}`)
		is(w.scene, "nMatched", number(r.Lookup("nMatched")), 1)
		is(w.scene, "nDeleted", number(r.Lookup("nDeleted")), 0)
		is(w.scene, "nInserted", number(r.Lookup("nInserted")), 1)
	}},
	"delete": {walk: func(w way) {
		w.n("n", 0, `{delete: "c", deletes: [{q: {_id: 1}, limit: 1}]}`)
		w.n("n", 0, `{delete: "c", deletes: [{q: {u: 1}, limit: 0}]}`)
		w.n("n", 1, `{delete: "c", deletes: [{q: {}, limit: 0}]}`)
	}},
	"findAndModify": {walk: func(w way) {
		for _, rest := range []string{`update: {$set: {n: 1}}`, `update: {n: 1}, new: true`, `update: [{$set: {n: 1}}]`, `remove: true`} {
			is(w.scene, rest, w.ok(`{findAndModify: "c", query: {_id: 1}, `+rest+`}`).Lookup("value").Type, bson.TypeNull)
			is(w.scene, rest, w.ok(`{findAndModify: "c", query: {u: 1}, sort: {n: 1}, `+rest+`}`).Lookup("value").Type, bson.TypeNull)
		}
		r := w.ok(`{findAndModify: "c", query: {_id: 1}, update: {$set: {n: 1}}, upsert: true, new: true}`)
		is(w.scene, "upserted", r.Lookup("value").String(), `{"_id": {"$numberInt":"1"},"n": {"$numberInt":"1"}}`)
	}},
	"insert": {walk: func(w way) {
		w.ok(`{createIndexes: "c", indexes: [{key: {u: 1}, name: "u", unique: true}]}`)
		w.n("n", 1, `{insert: "c", documents: [{_id: 1, u: 5, ttl: 1}]}`)
		w.to(6)
		w.n("n", 1, `{insert: "c", documents: [{_id: 7, u: 5}]}`)
		w.n("n", 1, `{insert: "c", documents: [{_id: 1, u: 8}]}`)
	}},
	"update": {walk: func(w way) {
		w.n("n", 0, `{update: "c", updates: [{q: {_id: 1}, u: {$set: {n: 1}}}]}`)
		w.n("n", 0, `{update: "c", updates: [{q: {u: 1}, u: {n: 1}}]}`)
		w.n("n", 1, `{update: "c", updates: [{q: {}, u: [{$set: {n: 1}}], multi: true}]}`)
		r := w.ok(`{update: "c", updates: [{q: {_id: 1}, u: {$set: {n: 1}}, upsert: true}]}`)
		is(w.scene, "upserted", len(elements(r.Lookup("upserted"))), 1)
		is(w.scene, "the new one", w.first(`{find: "c", filter: {_id: 1}}`).String(), `{"_id": {"$numberInt":"1"},"n": {"$numberInt":"1"}}`)
	}},
	"commitTransaction": {walk: func(w way) { w.inTransaction(true) }},
	"abortTransaction":  {walk: func(w way) { w.inTransaction(false) }},
	"_mergeAuthzCollections": {walk: func(w way) {
		admin := w.client.Database("admin")
		for _, command := range []string{
			`{create: "incoming", documentTtl: {default: -1}}`,
			`{insert: "incoming", documents: [{_id: "db.gone", user: "gone", db: "db", credentials: {}, roles: [], ttl: 1}]}`,
		} {
			w.admin(command)
		}
		w.to(6)
		if r, err := admin.RunCommand(w.Context(), w.parse(`{_mergeAuthzCollections: 1, tempUsersCollection: "admin.incoming", tempRolesCollection: "", db: "", drop: false}`)).Raw(); err != nil {
			w.Errorf("%s, %v", r, err)
		}
		is(w.scene, "users", len(elements(w.ok(`{usersInfo: {forAllDBs: true}}`).Lookup("users"))), 0)
	}},
}

// inTransaction writes documents with the keys of the expired one, and ends the
// transaction.
func (w way) inTransaction(commit bool) {
	w.Helper()
	session, err := w.client.StartSession()
	if err != nil {
		w.Fatal(err)
	}
	defer session.EndSession(w.Context())
	if err := session.StartTransaction(); err != nil {
		w.Fatal(err)
	}
	ctx := mongo.NewSessionContext(w.Context(), session)
	c := w.db.Collection("c")
	if n, err := c.CountDocuments(ctx, bson.D{}); n != 1 || err != nil {
		w.Errorf("counted %d, %v", n, err)
	}
	if r, err := c.DeleteOne(ctx, bson.D{{Key: "_id", Value: 1}}); err != nil || r.DeletedCount != 0 {
		w.Errorf("deleted %v, %v", r, err)
	}
	if _, err := c.InsertOne(ctx, bson.D{{Key: "_id", Value: 1}, {Key: "x", Value: "new"}}); err != nil {
		w.Error(err)
	}
	if !commit {
		if err := session.AbortTransaction(w.Context()); err != nil {
			w.Error(err)
		}
		w.ids(`2`, `{find: "c"}`)
		return
	}
	if err := session.CommitTransaction(w.Context()); err != nil {
		w.Error(err)
	}
	w.ids(`1 2`, `{find: "c", sort: {_id: 1}}`)
}

var buildingRows = map[string]row{
	"createIndexes": {walk: func(w way) {
		w.ok(`{update: "c", updates: [{q: {_id: 2}, u: {$set: {u: 1}}}]}`) // as the expired one
		w.ok(`{createIndexes: "c", indexes: [{key: {u: 1}, name: "u", unique: true}, {key: {a: 1, b: 1}, name: "parallel"}]}`)
		w.ids(`2`, `{find: "c", hint: "u"}`)
	}},
	"collMod": {walk: func(w way) {
		w.ok(`{createIndexes: "c", indexes: [{key: {n: 1}, name: "n"}]}`)
		w.ok(`{insert: "c", documents: [{_id: 3, n: 20, x: "gone", ttl: 1}]}`)
		w.to(6)
		w.ok(`{collMod: "c", index: {name: "n", prepareUnique: true}}`)
		w.ok(`{collMod: "c", index: {name: "n", unique: true}, dryRun: true}`)
		w.ok(`{collMod: "c", index: {name: "n", unique: true}}`)
		w.ok(`{insert: "c", documents: [{_id: 4, n: 4, x: "gone", ttl: 1}]}`)
		w.to(7)
		w.ok(`{collMod: "c", documentTtl: "off"}`)
		w.ids(`2`, `{find: "c"}`)
	}},
	"dropIndexes": {walk: func(w way) {
		w.ok(`{dropIndexes: "c", index: "_ts_1"}`)
		w.ids(`2`, `{find: "c"}`)
	}},
	"reIndex": {walk: func(w way) {
		w.ok(`{reIndex: "c"}`)
		w.ids(`2`, `{find: "c", hint: "_id_"}`)
	}},
	"customAction": {walk: func(w way) {
		w.ok(`{update: "c", updates: [{q: {_id: 2}, u: {$set: {u: 1}}}]}`)
		w.ok(`{customAction: "UpdateCollection", collection: "c", indexes: [{key: {_id: 1}, name: "_id_"}, {key: {u: 1}, name: "u", unique: true}]}`)
		w.ids(`2`, `{find: "c"}`) // and the policy is off
	}},
	"convertToCapped":         {walk: func(w way) { w.fails(72, "", `{convertToCapped: "c", size: 4096}`) }},
	"cloneCollectionAsCapped": {walk: func(w way) { w.fails(72, "", `{cloneCollectionAsCapped: "c", toCollection: "capped", size: 4096}`) }},
	"renameCollection": {walk: func(w way) {
		w.admin(`{renameCollection: "db.c", to: "db.renamed"}`)
		w.ids(`2`, `{find: "renamed"}`)
		w.admin(`{renameCollection: "db.renamed", to: "other.c"}`)
		w.db = w.client.Database("other")
		w.ids(`2`, `{find: "c"}`)
		w.n("n", 1, `{insert: "c", documents: [{_id: 1}]}`)
	}},
}

// queueRows are the rows for expired messages. They cannot be received; browsing may
// show them until they are swept (semantics.md 9.3).
var queueRows = func() map[string]row {
	messages := func(w way) {
		w.Helper()
		w.ok(`{create: "q", messageQueue: {}}`)
		w.ok(`{mqSend: "q", messages: [{_id: 1, x: "old", _mq: {timeToLive: 5}}, {_id: 2}]}`)
	}
	sessions := func(w way) {
		w.Helper()
		w.ok(`{create: "q", messageQueue: {requiresSession: true}}`)
		w.ok(`{mqSend: "q", messages: [{_id: 1, _mq: {timeToLive: 5, sessionId: "a"}}]}`)
	}
	// locked receives the message that expires, and lets lock and time pass.
	lost := func(command string) row {
		return row{walk: func(w way) {
			messages(w)
			m := w.messages(`{mqReceive: "q"}`)
			token := m[0].Lookup("_mq", "lockToken").String()
			w.to(100)
			w.fails(90410, "", fmt.Sprintf(`{%s: "q", lockToken: %s}`, command, token))
			is(w.scene, "the other", w.messages(`{mqReceive: "q"}`)[0].Lookup("_id").String(), `{"$numberInt":"2"}`)
		}}
	}
	return map[string]row{
		"mqReceive": {walk: func(w way) {
			messages(w)
			w.to(10)
			got := w.messages(`{mqReceive: "q", maxMessages: 10}`)
			is(w.scene, "received", len(got), 1)
			is(w.scene, "_id", got[0].Lookup("_id").String(), `{"$numberInt":"2"}`)
			w.fails(90404, "", `{mqReceive: "q", sequenceNumbers: [{"$numberLong": "1"}]}`)
		}},
		"mqSend": {walk: func(w way) {
			messages(w)
			w.to(10)
			w.ok(`{delete: "q", deletes: [{q: {_id: 1}, limit: 1}]}`)
			w.ok(`{mqSend: "q", messages: [{_id: 1}]}`)
			is(w.scene, "received", len(w.messages(`{mqReceive: "q", maxMessages: 10}`)), 2)
		}},
		"mqStats": {walk: func(w way) {
			messages(w)
			w.to(10)
			w.n("active", 1, `{mqStats: "q"}`)
			w.n("expiredPending", 1, `{mqStats: "q"}`)
		}},
		"mqAcceptSession": {walk: func(w way) { // a session with nothing but an expired message has no next
			sessions(w)
			w.to(10)
			is(w.scene, "session", w.ok(`{mqAcceptSession: "q"}`).Lookup("session").String(), "null")
		}},
		"mqSessions": {walk: func(w way) {
			sessions(w)
			w.to(10)
			is(w.scene, "sessions", len(elements(w.ok(`{mqSessions: "q"}`).Lookup("sessions"))), 1) // until it is swept
		}},
		"mqRenewSession": {why: "it concerns the session alone; its locked messages do not expire"},
		"mqReleaseSession": {walk: func(w way) {
			sessions(w)
			got := w.ok(`{mqAcceptSession: "q"}`).Lookup("session", "sessionToken").String()
			is(w.scene, "received", len(w.messages(fmt.Sprintf(`{mqReceive: "q", sessionToken: %s}`, got))), 1)
			w.to(10)
			w.ok(fmt.Sprintf(`{mqReleaseSession: "q", sessionToken: %s}`, got))
			is(w.scene, "left", len(w.messages(`{mqPeek: "q"}`)), 0)
		}},
		"mqGetSessionState": {why: "it reads the state of the session, which does not expire"},
		"mqSetSessionState": {why: "it writes the state of the session, which does not expire"},
		"mqPeek":            {why: "browsing shows expired messages until they are swept"},
		"mqPurge": {walk: func(w way) {
			messages(w)
			w.to(10)
			w.n("purged", 2, `{mqPurge: "q"}`) // an expired message that is still stored goes, too
			is(w.scene, "received", len(w.messages(`{mqReceive: "q", maxMessages: 10}`)), 0)
		}},
		"explainExpiry": {walk: func(w way) {
			w.ok(`{create: "hidden", documentTtl: {default: 5}}`)
			w.ok(`{insert: "hidden", documents: [{_id: 1}]}`)
			w.to(10)
			w.fails(47, "", `{explainExpiry: "hidden", _id: 1}`)
			w.n("examined", 0, `{explainExpiry: "hidden", policy: {documentTtl: {default: 1}}}`)
		}},
		"mqRestore":  {why: "it stores messages and reads none"},
		"mqResubmit": {why: "it reads only the dead-letter queue, where nothing expires"},
		"mqCancelScheduled": {walk: func(w way) {
			messages(w)
			w.to(10)
			w.fails(90404, "", `{mqCancelScheduled: "q", sequenceNumber: {"$numberLong": "1"}}`)
		}},
		"mqComplete": lost("mqComplete"), "mqAbandon": lost("mqAbandon"), "mqDefer": lost("mqDefer"),
		"mqDeadLetter": lost("mqDeadLetter"), "mqRenewLock": lost("mqRenewLock"),
	}
}()
