package users_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/internal/auth"
	"github.com/duskdb/duskdb/internal/mongoerr"
)

// demands lists commands with all the rights that they need: with these a user may
// run them, without any one of them not. A right is "action on", where on is
// cluster, any (collections of all databases), a database, or "db.collection". They
// are those of the manual's pages on the commands and on privilege actions.
var demands = []struct{ db, command, rights string }{
	{"test", `{mapReduce: "x", out: {inline: 1}}`, "find test.x"},
	{"test", `{mapReduce: "x", out: "y", bypassDocumentValidation: true}`, "find test.x, insert test.y, remove test.y, bypassDocumentValidation test.y"},
	{"test", `{mapReduce: "x", out: {replace: "y", db: "other"}}`, "find test.x, insert other.y, remove other.y"},
	{"test", `{mapReduce: "x", out: {merge: "y"}}`, "find test.x, insert test.y, update test.y"},
	{"test", `{mapReduce: "x", out: {reduce: "y"}, bypassDocumentValidation: true}`, "find test.x, insert test.y, update test.y, find test.y, bypassDocumentValidation test.y"},
	{"test", `{expirationStats: "x"}`, "collStats test.x"},
	{"test", `{expirationStats: 1}`, "collStats test"},
	{"test", `{filemd5: 1, root: "fs"}`, "find test.fs.chunks"},
	{"admin", `{validateDBMetadata: 1, db: "test"}`, "validate test"},
	{"admin", `{validateDBMetadata: 1}`, "validate any"},
	{"test", `{aggregate: 1, pipeline: [{$listLocalSessions: {}}]}`, ""},
	{"test", `{aggregate: 1, pipeline: [{$listLocalSessions: {users: [{user: "ann", db: "admin"}]}}]}`, ""},
	{"test", `{aggregate: 1, pipeline: [{$listLocalSessions: {users: [{user: "ann", db: "admin"}, {user: "bob", db: "admin"}]}}]}`, "listSessions cluster"},
	{"test", `{aggregate: 1, pipeline: [{$listLocalSessions: {users: [{user: "ann", db: "admin", user: "bob"}]}}]}`, "listSessions cluster"},
	{"config", `{aggregate: "system.sessions", pipeline: [{$listSessions: {allUsers: true}}]}`, "listSessions cluster"},
	{"admin", `{aggregate: 1, pipeline: [{$queryStats: {}}]}`, "queryStatsRead cluster"},
	{"admin", `{aggregate: 1, pipeline: [{$querySettings: {}}]}`, "querySettings cluster"},
	{"test", `{aggregate: 1, pipeline: [{$changeStream: {}}]}`, "find test, changeStream test"},
	{"test", `{aggregate: "x", pipeline: [{$listCatalog: {}}]}`, "listCollections test.x, listIndexes test.x"},
	{"test", `{aggregate: "x", pipeline: [{$merge: "y"}]}`, "find test.x, insert test.y, update test.y"},
	{"test", `{aggregate: "x", pipeline: [{$merge: {into: {db: "other", coll: "y"}, whenMatched: "fail"}}], bypassDocumentValidation: true}`, "find test.x, insert other.y, bypassDocumentValidation other.y"},
	{"test", `{aggregate: "x", pipeline: [{$merge: {into: "y", whenMatched: "merge", whenNotMatched: "discard"}}]}`, "find test.x, update test.y"},
	{"test", `{aggregate: "x", pipeline: [{$out: {db: "other", coll: "y"}}], bypassDocumentValidation: true}`, "find test.x, insert other.y, remove other.y, bypassDocumentValidation other.y"},
	{"test", `{aggregate: "x", pipeline: [{$facet: {a: [{$unionWith: "y"}, {$graphLookup: {from: "z"}}]}}]}`, "find test.x, find test.y, find test.z"},
	{"test", `{aggregate: "x", pipeline: [{$lookup: {pipeline: [{$unionWith: "y"}], from: "z"}}]}`, "find test.x, find test.y, find test.z"},
	{"test", `{aggregate: "x", pipeline: [{$lookup: {from: {db: "other", coll: "y"}}}]}`, "find test.x, find other.y"},
	{"test", `{update: "x", updates: [{q: {}, u: {}}, {q: {}, u: {}, upsert: true}], bypassDocumentValidation: true}`, "update test.x, insert test.x, bypassDocumentValidation test.x"},
	{"test", `{findAndModify: "x", update: {}, upsert: true, bypassDocumentValidation: true}`, "find test.x, update test.x, insert test.x, bypassDocumentValidation test.x"},
	{"admin", `{bulkWrite: 1, ops: [{insert: 0}, {delete: 1}, {update: 1, upsert: true}, {fly: 0}, {insert: 7}], nsInfo: [{ns: "test.x"}, {ns: "other.y"}], bypassDocumentValidation: true}`,
		"insert test.x, bypassDocumentValidation test.x, remove other.y, update other.y, insert other.y, bypassDocumentValidation other.y"},
	{"test", `{explain: {update: "x", updates: [{q: {}, u: {}, upsert: true}]}}`, "update test.x, insert test.x"},
	{"test", `{explain: {}}`, ""},
	{"test", `{explain: {fly: 1}}`, ""},
	{"test", `{explain: {explain: {find: "x"}}}`, ""},
	{"test", `{create: "x", capped: true}`, "createCollection test.x, convertToCapped test.x"},
	{"test", `{create: "x", onExpire: {deadLetterTo: "y"}}`, "createCollection test.x, insert test.y"},
	{"test", `{collMod: "x", onExpire: {deadLetterTo: "y"}}`, "collMod test.x, insert test.y"},
	{"admin", `{renameCollection: "test.x", to: "test.y"}`, "find test.x, dropCollection test.x, insert test.y, createIndex test.y"},
	{"admin", `{renameCollection: "test.x", to: "other.y", dropTarget: true}`, "find test.x, dropCollection test.x, dropCollection other.y, insert other.y, createIndex other.y"},
	{"admin", `{renameCollection: "test.moves", to: "other.y"}`, "find test.moves, dropCollection test.moves, insert other.y, createIndex other.y, insert other.dead"},
	{"test", `{cloneCollectionAsCapped: "x", toCollection: "y"}`, "find test.x, insert test.y, createIndex test.y, convertToCapped test.y"},
	{"admin", `{killOp: 1, op: 7}`, "killop cluster"},
	{"admin", `{applyOps: [{op: "u", b: true, ns: "test.x", o2: {}, o: {}}], bypassDocumentValidation: true}`, "applyOps cluster, update test.x, insert test.x, bypassDocumentValidation test.x"},
	{"test", `{createUser: "u", pwd: "p", roles: [{role: "read", db: "other"}], authenticationRestrictions: []}`, "createUser test, grantRole other, setAuthenticationRestriction test"},
	{"test", `{updateUser: "u", pwd: "p", mechanisms: [], customData: {}}`, "changePassword test, changeCustomData test"},
	{"test", `{updateUser: "u", roles: [{role: "read", db: "other"}]}`, "revokeRole any, grantRole other"},
	{"test", `{createRole: "r", roles: [], privileges: [{resource: {db: "other", collection: ""}, actions: ["find"]}], authenticationRestrictions: []}`, "createRole test, grantRole other, setAuthenticationRestriction test"},
	{"test", `{updateRole: "r", roles: [{role: "read", db: "other"}], privileges: [{resource: {cluster: true}, actions: ["find"]}]}`, "revokeRole any, grantRole other, grantRole admin"},
	{"test", `{revokePrivilegesFromRole: "r", privileges: [{resource: {db: "other", collection: "x"}, actions: ["find"]}, {resource: {anyResource: true}, actions: ["find"]}]}`, "revokeRole other, revokeRole admin"},
	{"test", `{usersInfo: [{user: "u", db: "other"}]}`, "viewUser other"},
	{"test", `{usersInfo: {forAllDBs: true}}`, "viewUser cluster"},
	{"test", `{rolesInfo: [{role: "r", db: "other"}]}`, "viewRole other"},
	{"admin", `{_mergeAuthzCollections: 1, tempRolesCollection: "other.tmp", drop: true}`, "createUser any, createRole any, grantRole any, revokeRole any, dropUser any, dropRole any, find other.tmp"},
}

// privilegesOf writes rights as privileges of createRole.
func privilegesOf(rights []string) string {
	var list []string
	for _, r := range rights {
		action, on, _ := strings.Cut(r, " ")
		resource := `{"cluster": true}`
		if db, coll, _ := strings.Cut(on, "."); on == "any" {
			resource = `{"db": "", "collection": ""}`
		} else if on != "cluster" {
			resource = fmt.Sprintf(`{"db": %q, "collection": %q}`, db, coll)
		}
		list = append(list, fmt.Sprintf(`{"resource": %s, "actions": [%q]}`, resource, action))
	}
	return "[" + strings.Join(list, ", ") + "]"
}

func TestDemands(t *testing.T) {
	h := harness.NewAuth(t)
	h.MustOn("test", `{"create": "moves", "onExpire": {"deadLetterTo": "dead"}}`)
	h.MustOn("admin", `{"createRole": "some", "roles": [], "privileges": []}`)
	h.User("ann", "some@admin")
	with := func(rights []string) *auth.User {
		h.MustOn("admin", `{"updateRole": "some", "privileges": `+privilegesOf(rights)+`}`)
		return h.Find("ann")
	}
	for _, d := range demands {
		command := harness.Relaxed(d.command).CanonicalJSON()
		rights := strings.Split(d.rights, ", ")
		if d.rights == "" {
			rights = nil
		}
		if err := h.Gate(with(rights), d.db, command); err != nil {
			t.Errorf("%s with %v: %v", d.command, rights, err)
		}
		for i, missing := range rights {
			err := h.Gate(with(slices.Delete(slices.Clone(rights), i, i+1)), d.db, command)
			if !mongoerr.Is(err, mongoerr.Unauthorized) {
				t.Errorf("%s without %s: %v", d.command, missing, err)
			}
		}
	}
}

// Where a field is given twice, or a mode is unknown, nobody knows what the command
// would do: it is refused, whatever the user may do.
func TestAmbiguousCommands(t *testing.T) {
	h := harness.NewAuth(t)
	root := h.User("root", "root@admin")
	for _, command := range []string{
		`{"mapReduce": "x", "out": {"replace": "y", "db": "test", "db": "other"}}`,
		`{"aggregate": "x", "pipeline": [{"$merge": {"into": {"db": "test", "coll": "y", "db": "other"}}}]}`,
		`{"aggregate": "x", "pipeline": [{"$facet": {"a": [{"$lookup": {"from": "y", "from": "z"}}]}}]}`,
		`{"aggregate": "x", "pipeline": [{"$unionWith": {"coll": "y", "pipeline": [{"$out": {"db": "a", "coll": "y", "db": "b"}}]}}]}`,
	} {
		if err := h.Gate(root, "test", command); !mongoerr.Is(err, mongoerr.Unauthorized) {
			t.Errorf("%s: %v", command, err)
		}
	}
}

// Cursors and operations of others need a privilege, one's own none.
func TestKillOthers(t *testing.T) {
	h := harness.NewAuth(t)
	h.MustOn("test", `{"insert": "c", "documents": [{"_id": 1}, {"_id": 2}]}`)
	h.MustOn("test", `{"insert": "d", "documents": [{"_id": 1}]}`)
	h.MustOn("admin", `{"createRole": "killer", "roles": [], "privileges": [{"resource": {"db": "test", "collection": "c"}, "actions": ["killAnyCursor"]}]}`)
	h.MustOn("admin", `{"createRole": "lister", "roles": [], "privileges": [{"resource": {"db": "test", "collection": ""}, "actions": ["killAnyCursor"]}]}`)
	h.MustOn("admin", `{"createRole": "master", "roles": [], "privileges": [{"resource": {"cluster": true}, "actions": ["killAnyCursor"]}]}`)
	h.User("ann", "read@test")
	users := map[string]*auth.User{"ann": h.Find("ann"), "bob": h.User("bob", "read@test"), "killer": h.User("killer", "killer@admin"), "lister": h.User("lister", "lister@admin"), "master": h.User("master", "master@admin")}
	find := h.CursorOf("ann", "test", `{find: "c", batchSize: 1}`)
	list := h.CursorOf("ann", "test", `{listCollections: 1, cursor: {batchSize: 1}}`)
	for _, tt := range []struct {
		ids, who string
	}{
		{fmt.Sprintf(`[{"$numberLong": "%d"}]`, find), "ann killer lister master"},
		{fmt.Sprintf(`[{"$numberLong": "%d"}]`, list), "ann lister master"},
		{fmt.Sprintf(`[{"$numberLong": "%d"}, {"$numberLong": "%d"}]`, find, list), "ann lister master"},
		{`[{"$numberLong": "77"}]`, "ann bob killer lister master"}, // a cursor that does not exist
	} {
		for name, u := range users {
			err := h.Gate(u, "test", `{"killCursors": "d", "cursors": `+tt.ids+`}`)
			if err != nil && !mongoerr.Is(err, mongoerr.Unauthorized) || (err == nil) != slices.Contains(strings.Fields(tt.who), name) {
				t.Errorf("killCursors %s as %s: %v", tt.ids, name, err)
			}
		}
	}
	for command, code := range map[string]mongoerr.Code{`{"killCursors": "d"}`: 40414, `{"killCursors": "d", "cursors": ["x"]}`: 14} {
		if err := h.Gate(users["master"], "test", command); !mongoerr.Is(err, code) {
			t.Errorf("%s: %v, want code %d", command, err, code)
		}
	}
}
