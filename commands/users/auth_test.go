package users_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/commands/access"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/auth"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// gated are the users of TestPrivileges, named by their only role.
var gated = strings.Fields(`read readWrite dbAdmin userAdmin dbOwner clusterMonitor hostManager clusterManager clusterAdmin
	readAnyDatabase readWriteAnyDatabase dbAdminAnyDatabase userAdminAnyDatabase backup restore root`)

// ofDatabase are the roles that the users have on the database test.
var ofDatabase = map[string]bool{"read": true, "readWrite": true, "dbAdmin": true, "userAdmin": true, "dbOwner": true}

// Groups of roles for the table, after the manual's lists of what each
// built-in role may do.
const (
	readers   = "read readWrite dbOwner readAnyDatabase readWriteAnyDatabase backup root"
	writers   = "readWrite dbOwner readWriteAnyDatabase root"
	inserters = writers + " restore"
	admins    = "dbAdmin dbOwner dbAdminAnyDatabase root"
	makers    = inserters + " dbAdmin dbAdminAnyDatabase"
	userists  = "userAdmin dbOwner userAdminAnyDatabase restore root"
	monitors  = "clusterMonitor clusterAdmin root"
	hosts     = "hostManager clusterAdmin root"
	everybody = "*"
)

var privilegeCases = []struct{ db, command, who string }{
	{"test", `{"find": "x"}`, readers},
	{"test", `{"count": "x"}`, readers},
	{"test", `{"distinct": "x", "key": "a"}`, readers},
	{"test", `{"aggregate": "x", "pipeline": [], "cursor": {}}`, readers},
	{"test", `{"aggregate": "x", "pipeline": [{"$lookup": {"from": "y", "localField": "a", "foreignField": "a", "as": "j"}}]}`, readers},
	{"test", `{"aggregate": "x", "pipeline": [{"$out": "y"}]}`, writers},
	{"test", `{"aggregate": "x", "pipeline": [{"$merge": {"into": "y"}}]}`, writers},
	{"test", `{"aggregate": "x", "pipeline": [{"$facet": {"f": [{"$lookup": {"from": "y", "pipeline": [{"$unionWith": "z"}], "as": "j"}}]}}]}`, readers},
	{"test", `{"aggregate": "x", "pipeline": [{"$unionWith": {"coll": "system.users", "pipeline": []}}]}`, "backup root"},
	{"test", `{"aggregate": "x", "pipeline": [{"$out": {"db": "test", "coll": "y", "db": "other"}}]}`, ""},
	{"test", `{"aggregate": "x", "pipeline": [{"$collStats": {}}]}`, readers + " clusterMonitor clusterAdmin dbAdmin dbAdminAnyDatabase"},
	{"test", `{"aggregate": "x", "pipeline": [{"$indexStats": {}}]}`, monitors},
	{"test", `{"aggregate": "x", "pipeline": [{"$planCacheStats": {}}]}`, "read readWrite dbAdmin dbOwner readAnyDatabase readWriteAnyDatabase dbAdminAnyDatabase root"},
	{"test", `{"aggregate": "x", "pipeline": [{"$changeStream": {}}]}`, "read readWrite dbOwner readAnyDatabase readWriteAnyDatabase root"},
	{"test", `{"aggregate": 1, "pipeline": [{"$documents": []}]}`, everybody},
	{"admin", `{"aggregate": 1, "pipeline": [{"$currentOp": {}}]}`, everybody},
	{"admin", `{"aggregate": 1, "pipeline": [{"$currentOp": {"allUsers": true}}]}`, monitors},
	{"admin", `{"aggregate": 1, "pipeline": [{"$changeStream": {"allChangesForCluster": true}}]}`, "readAnyDatabase readWriteAnyDatabase root"},
	{"test", `{"insert": "x", "documents": [{}]}`, inserters},
	{"test", `{"insert": "x", "documents": [{}], "bypassDocumentValidation": true}`, "dbOwner restore root"},
	{"test", `{"insert": "system.js", "documents": [{}]}`, inserters},
	{"test", `{"insert": "system.profile", "documents": [{}]}`, ""},
	{"test", `{"update": "x", "updates": [{"q": {}, "u": {}}]}`, writers},
	{"test", `{"update": "x", "updates": [{"q": {}, "u": {}, "upsert": true}]}`, writers},
	{"test", `{"delete": "x", "deletes": [{"q": {}, "limit": 0}]}`, writers},
	{"test", `{"findAndModify": "x", "update": {}}`, writers},
	{"test", `{"findAndModify": "x", "remove": true}`, writers},
	{"admin", `{"bulkWrite": 1, "ops": [{"insert": 0, "document": {}}, {"delete": 0, "filter": {}}], "nsInfo": [{"ns": "test.x"}]}`, writers},
	{"admin", `{"bulkWrite": 1, "ops": [{"insert": 0, "document": {}}], "nsInfo": [{"ns": "other.x"}]}`, "readWriteAnyDatabase restore root"},
	{"test", `{"explain": {"find": "x"}}`, readers},
	{"test", `{"explain": {"delete": "x", "deletes": []}}`, writers},
	{"test", `{"getMore": {"$numberLong": "1"}, "collection": "x"}`, everybody},
	{"admin", `{"applyOps": [{"op": "i", "ns": "test.x", "o": {}}]}`, "restore root"},
	{"admin", `{"applyOps": [{"op": "u", "ns": "test.x", "o2": {}, "o": {}}]}`, "root"},
	{"admin", `{"applyOps": [{"op": "d", "ns": "test.x", "o": {}}]}`, "root"},
	{"admin", `{"applyOps": [{"op": "n", "ns": "", "o": {}}]}`, "root"},
	{"admin", `{"applyOps": [{"op": "i", "ns": "test.x", "o": {}}], "bypassDocumentValidation": true}`, "restore root"},
	{"admin", `{"applyOps": [{"op": "u", "ns": "admin.system.users", "o2": {}, "o": {}}]}`, "restore root"},
	{"admin", `{"applyOps": [{"op": "u", "ns": "config.x", "o2": {}, "o": {}}]}`, "root"},
	{"admin", `{"applyOps": [{"op": "c", "ns": "test.$cmd", "o": {"drop": "x"}}]}`, "dbAdminAnyDatabase restore root"},
	{"admin", `{"applyOps": [{"op": "c", "ns": "test.$cmd", "o": {"dropDatabase": 1}}]}`, "dbAdminAnyDatabase root"},
	{"admin", `{"applyOps": [{"op": "c", "ns": "test.$cmd", "o": {"create": "x"}}]}`, "dbAdminAnyDatabase restore root"},
	{"admin", `{"applyOps": [{"op": "c", "ns": "test.$cmd", "o": {"createIndexes": "x", "v": 2, "key": {"a": 1}, "name": "a"}}]}`, "dbAdminAnyDatabase restore root"},
	{"admin", `{"applyOps": [{"op": "c", "ns": "test.$cmd", "o": {"renameCollection": "test.x", "to": "other.y"}}]}`, "root"},
	{"admin", `{"applyOps": [{"op": "c", "ns": "admin.$cmd", "o": {"applyOps": [{"op": "i", "ns": "test.x", "o": {}}]}}]}`, "restore root"},
	{"admin", `{"applyOps": [{"op": "c", "ns": "admin.$cmd", "o": {"applyOps": [{"op": "d", "ns": "test.x", "o": {}}]}}]}`, "root"},
	{"admin", `{"applyOps": [{"op": "c", "ns": "admin.$cmd", "o": {"applyOps": []}}]}`, ""},
	{"admin", `{"applyOps": []}`, ""},
	{"admin", `{"applyOps": [{"op": "c", "ns": "test.$cmd", "o": {"create": "x"}}, {"op": "n", "ns": "", "o": {}}]}`, ""},
	{"admin", `{"applyOps": [{"op": "i", "ns": "test.x", "versionContext": {}, "o": {}}]}`, ""},
	{"admin", `{"applyOps": [{"op": "c", "ns": "test.$cmd", "ui": {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAA==", "subType": "04"}}, "o": {"create": "x"}}]}`, "restore root"},
	{"admin", `{"applyOps": [{"op": "c", "ns": "test.$cmd", "ui": {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAA==", "subType": "04"}}, "o": {"drop": "x"}}]}`, "restore root"},
	{"test", `{"killCursors": "x", "cursors": [{"$numberLong": "1"}]}`, everybody},
	{"test", `{"create": "x"}`, makers},
	{"test", `{"create": "v", "viewOn": "x", "pipeline": []}`, makers},
	{"test", `{"create": "x", "onExpire": {"deadLetterTo": "y"}}`, inserters},
	{"test", `{"collMod": "x", "onExpire": {"deadLetterTo": "y"}}`, "dbOwner restore root"},
	{"test", `{"drop": "x"}`, makers},
	{"test", `{"dropDatabase": 1}`, admins + " clusterAdmin"},
	{"test", `{"createIndexes": "x", "indexes": []}`, makers},
	{"test", `{"dropIndexes": "x", "index": "*"}`, "readWrite dbAdmin dbOwner readWriteAnyDatabase dbAdminAnyDatabase root"},
	{"test", `{"collMod": "x"}`, admins + " restore"},
	{"test", `{"collMod": "v", "viewOn": "x", "pipeline": []}`, admins + " restore"},
	{"test", `{"listIndexes": "x"}`, readers + " dbAdmin dbAdminAnyDatabase"},
	{"test", `{"listCollections": 1}`, readers + " dbAdmin dbAdminAnyDatabase restore"},
	{"test", `{"validate": "x"}`, admins},
	{"test", `{"collStats": "x"}`, readers + " dbAdmin dbAdminAnyDatabase clusterMonitor clusterAdmin"},
	{"test", `{"dbStats": 1}`, "read readWrite dbAdmin dbOwner readAnyDatabase readWriteAnyDatabase dbAdminAnyDatabase clusterMonitor clusterAdmin root"},
	{"test", `{"dataSize": "test.x"}`, readers},
	{"test", `{"cloneCollectionAsCapped": "x", "toCollection": "y", "size": 4096}`, writers},
	{"test", `{"convertToCapped": "x", "size": 4096}`, makers},
	{"test", `{"profile": -1}`, "dbAdmin dbOwner dbAdminAnyDatabase clusterMonitor clusterAdmin backup root"},
	{"test", `{"profile": -1, "slowms": 1}`, "dbAdmin dbOwner dbAdminAnyDatabase root"},
	{"admin", `{"aggregate": 1, "pipeline": [{"$listCatalog": {}}]}`, "readAnyDatabase readWriteAnyDatabase backup root"},
	{"test", `{"profile": 0}`, "dbAdmin dbOwner dbAdminAnyDatabase root"},
	{"test", `{"reIndex": "x"}`, admins},
	{"test", `{"compact": "x"}`, admins},
	{"test", `{"dbHash": 1}`, "read readWrite dbOwner readAnyDatabase readWriteAnyDatabase root"},
	{"admin", `{"logRotate": 1}`, hosts},
	{"admin", `{"renameCollection": "test.x", "to": "test.y"}`, "readWrite dbAdmin dbOwner readWriteAnyDatabase dbAdminAnyDatabase root"},
	{"admin", `{"renameCollection": "test.x", "to": "other.y"}`, "readWriteAnyDatabase root"},
	{"test", `{"mqSend": "x"}`, inserters},
	{"test", `{"mqReceive": "x"}`, writers},
	{"test", `{"mqPeek": "x"}`, readers},
	{"test", `{"mqPurge": "x"}`, writers},
	{"test", `{"mqPurge": "x", "dryRun": true}`, readers},
	{"test", `{"mqResubmit": "x", "all": true}`, writers},
	{"test", `{"mqRestore": "x", "messages": [{"a": 1}]}`, "dbOwner restore root"},
	{"test", `{"createUser": "u", "pwd": "p", "roles": []}`, userists},
	{"test", `{"createUser": "u", "pwd": "p", "roles": ["read"]}`, userists},
	{"test", `{"createUser": "u", "pwd": "p", "roles": [{"role": "root", "db": "admin"}]}`, "userAdminAnyDatabase restore root"},
	{"test", `{"updateUser": "u", "pwd": "p"}`, userists},
	{"test", `{"updateUser": "u", "roles": []}`, "userAdminAnyDatabase restore root"},
	{"test", `{"dropUser": "u"}`, userists},
	{"test", `{"dropAllUsersFromDatabase": 1}`, userists},
	{"test", `{"grantRolesToUser": "u", "roles": ["read"]}`, userists},
	{"test", `{"revokeRolesFromUser": "u", "roles": [{"role": "read", "db": "other"}]}`, "userAdminAnyDatabase restore root"},
	{"test", `{"usersInfo": 1}`, userists},
	{"test", `{"usersInfo": {"forAllDBs": true}}`, "userAdminAnyDatabase root"},
	{"test", `{"createRole": "r", "roles": [], "privileges": []}`, userists},
	{"test", `{"createRole": "r", "roles": [], "privileges": [{"resource": {"cluster": true}, "actions": ["shutdown"]}]}`, "userAdminAnyDatabase restore root"},
	{"test", `{"updateRole": "r", "roles": []}`, "userAdminAnyDatabase restore root"},
	{"test", `{"grantPrivilegesToRole": "r", "privileges": [{"resource": {"db": "test", "collection": ""}, "actions": ["find"]}]}`, userists},
	{"test", `{"dropRole": "r"}`, userists},
	{"test", `{"rolesInfo": 1}`, userists},
	{"admin", `{"_mergeAuthzCollections": 1, "tempUsersCollection": "admin.tempusers", "db": "", "drop": true}`, "restore root"},
	{"admin", `{"invalidateUserCache": 1}`, "hostManager clusterAdmin userAdminAnyDatabase root"},
	{"admin", `{"serverStatus": 1}`, monitors + " backup"},
	{"admin", `{"getParameter": "*"}`, monitors + " backup restore"},
	{"admin", `{"setParameter": 1}`, hosts},
	{"admin", `{"shutdown": 1}`, hosts},
	{"admin", `{"rotateCertificates": 1}`, hosts},
	{"admin", `{"fsync": 1}`, hosts},
	{"admin", `{"killOp": 1, "op": 7}`, hosts},
	{"admin", `{"killAllSessions": []}`, hosts},
	{"admin", `{"currentOp": 1}`, monitors},
	{"admin", `{"currentOp": 1, "$ownOps": true}`, everybody},
	{"admin", `{"getLog": "global"}`, monitors},
	{"admin", `{"hostInfo": 1}`, monitors},
	{"admin", `{"top": 1}`, monitors},
	{"admin", `{"getCmdLineOpts": 1}`, monitors},
	{"admin", `{"listDatabases": 1}`, everybody},
	{"admin", `{"find": "system.users"}`, "userAdminAnyDatabase backup restore root"},
	{"admin", `{"delete": "system.users", "deletes": []}`, "restore root"},
	{"admin", `{"find": "x"}`, "readAnyDatabase readWriteAnyDatabase backup root"},
	{"local", `{"find": "x"}`, "clusterMonitor clusterAdmin backup root"},
	{"config", `{"insert": "x", "documents": []}`, "clusterManager clusterAdmin restore root"},
	{"other", `{"find": "x"}`, "readAnyDatabase readWriteAnyDatabase backup root"},
	{"test", `{"ping": 1}`, everybody},
	{"test", `{"connectionStatus": 1}`, everybody},
	{"test", `{"startSession": 1}`, everybody},
}

func TestPrivileges(t *testing.T) {
	h := harness.NewAuth(t)
	users := map[string]*auth.User{"": h.User("nobody")}
	for _, role := range gated {
		db := "admin"
		if ofDatabase[role] {
			db = "test"
		}
		users[role] = h.User("u-"+role, role+"@"+db)
	}
	for _, tc := range privilegeCases {
		wanted := map[string]bool{}
		for _, role := range strings.Fields(tc.who) {
			wanted[role] = true
		}
		for role, u := range users {
			err := h.Gate(u, tc.db, tc.command)
			if err != nil && !mongoerr.Is(err, mongoerr.Unauthorized) {
				t.Errorf("%s as %q: %v", tc.command, role, err)
			}
			if want := wanted[role] || wanted["*"]; (err == nil) != want {
				t.Errorf("%s on %s as %q: %v, allowed should be %t", tc.command, tc.db, role, err, want)
			}
		}
	}
}

// TestEveryCommandIsGuarded fails for commands without a rule for privileges.
func TestEveryCommandIsGuarded(t *testing.T) {
	h := harness.New(t)
	for _, cmd := range h.Svc.Commands {
		if cmd.Action != "" {
			if _, ok := auth.ActionOf(cmd.Action); !ok {
				t.Errorf("%s asks for %s, which is no action", cmd.Name, cmd.Action)
			}
			if cmd.On == kernel.OnNothing {
				t.Errorf("%s does not say on what it wants to %s", cmd.Name, cmd.Action)
			}
		}
		if cmd.Action == "" && cmd.Rule == nil && !cmd.Has(kernel.PreAuth) && !harness.Open[cmd.Name] {
			t.Errorf("%s may be run by everybody: give it an action or a rule", cmd.Name)
		}
	}
}

func TestOwnThings(t *testing.T) {
	h := harness.NewAuth(t)
	h.MustOn("admin", `{"createRole": "self", "roles": [], "privileges": [{"resource": {"db": "admin", "collection": ""}, "actions": ["changeOwnPassword"]}]}`)
	u := h.User("ann", "self@admin", "read@test")
	for command, ok := range map[string]bool{
		`{"updateUser": "ann", "pwd": "new"}`:                                     true,
		`{"updateUser": "ann", "customData": {}}`:                                 false,
		`{"updateUser": "bob", "pwd": "new"}`:                                     false,
		`{"usersInfo": "ann"}`:                                                    true,
		`{"usersInfo": ["ann", "bob"]}`:                                           false,
		`{"rolesInfo": {"role": "read", "db": "test"}}`:                           true,
		`{"rolesInfo": {"role": "readWrite", "db": "test"}}`:                      false,
		`{"listCollections": 1, "nameOnly": true, "authorizedCollections": true}`: true,
		`{"listCollections": 1, "nameOnly": true}`:                                false,
		`{"listDatabases": 1, "authorizedDatabases": true}`:                       true,
		`{"listDatabases": 1, "authorizedDatabases": false}`:                      false,
	} {
		if err := h.Gate(u, "admin", command); (err == nil) != ok {
			t.Errorf("%s: %v", command, err)
		}
	}
}

func TestListingsShowWhatMayBeUsed(t *testing.T) {
	h := harness.NewAuth(t)
	for _, ns := range []string{"test.a", "test.b", "other.c"} {
		db, coll, _ := strings.Cut(ns, ".")
		h.MustOn(db, fmt.Sprintf(`{"create": %q}`, coll))
	}
	h.MustOn("test", `{"createRole": "onA", "roles": [], "privileges": [{"resource": {"db": "test", "collection": "a"}, "actions": ["find"]}]}`)
	h.Conn.User = h.User("ann", "onA@test")
	h.Svc.Options.Security.Auth = true
	got := h.Run(`{"listCollections": 1, "nameOnly": true, "authorizedCollections": true}`).Lookup("cursor").Doc().Lookup("firstBatch").Doc()
	if got.Len() != 1 || got.Index(0).Doc().Lookup("name").Str() != "a" {
		t.Errorf("collections: %s", got)
	}
	got = h.Admin(`{"listDatabases": 1, "nameOnly": true}`).Lookup("databases").Doc()
	if got.Len() != 1 || got.Index(0).Doc().Lookup("name").Str() != "test" {
		t.Errorf("databases: %s", got)
	}
	if reply := h.Run(`{"find": "b"}`); reply.Lookup("code").Int32() != 13 {
		t.Errorf("find: %s", reply)
	}
	h.OK(`{"find": "a"}`)
}

// A forecast of all databases leaves out those whose statistics the user may not see.
func TestForecastShowsWhatMayBeUsed(t *testing.T) {
	h := harness.NewAuth(t)
	for _, db := range []string{"test", "other"} {
		h.MustOn(db, `{"create": "x", "documentTtl": {"default": 5}}`)
	}
	for roles, want := range map[string]string{"read@test": "test.x ", "clusterMonitor@admin": "other.x test.x ", "": ""} {
		h.Svc.Options.Security.Auth = false
		h.Conn.User = h.User("ann"+roles[:min(len(roles), 4)], strings.Fields(roles)...)
		h.Svc.Options.Security.Auth = true
		got := ""
		for v := range h.Admin(`{"expirationStats": 1}`).Lookup("collections").Doc().Values() {
			got += v.Doc().Lookup("ns").Str() + " "
		}
		if got != want {
			t.Errorf("%q sees %q, want %q", roles, got, want)
		}
	}
}

// TestMessages checks that the error for a missing privilege says only that the client
// is not authorized to run the command.
func TestMessages(t *testing.T) {
	h := harness.NewAuth(t)
	u := h.User("ann")
	for _, tc := range []struct{ db, command, want string }{
		{"test", `{"find": "x", "filter": {"a": 1}}`, `not authorized on test to execute command { find: "x", filter: { a: 1 } }`},
		{"test", `{"listCollections": 1}`, `not authorized on test to execute command { listCollections: 1 }`},
		{"test", `{"dropUser": "x"}`, `not authorized on test to execute command { dropUser: "x" }`},
		{"test", `{"grantRolesToUser": "x", "roles": ["read"]}`, `not authorized on test to execute command { grantRolesToUser: "x", roles: [ "read" ] }`},
		{"admin", `{"shutdown": 1}`, `not authorized on admin to execute command { shutdown: 1 }`},
	} {
		err := h.Gate(u, tc.db, tc.command)
		if err == nil || mongoerr.From(err).Message != tc.want {
			t.Errorf("%s: %v, want %s", tc.command, err, tc.want)
		}
	}
}

// TestSecretsStayOutOfLogs sends passwords in all ways while everything is
// logged and profiled.
func TestSecretsStayOutOfLogs(t *testing.T) {
	var log strings.Builder
	h := harness.NewWith(t, kernel.Options{Log: zerolog.New(&log)})
	h.OK(`{profile: 2, slowms: 0}`)
	h.Admin(`{profile: 2, slowms: 0}`)
	h.Admin(`{setParameter: 1, logLevel: 5}`)
	for _, command := range []string{
		`{createUser: "ann", pwd: "hunter2", roles: []}`, `{updateUser: "ann", pwd: "hunter2"}`, `{createUser: "bob", pwd: "hunter2", roles: [], x: 1}`,
		`{explain: {createUser: "x", pwd: "hunter2", roles: []}}`, `{explain: {createuser: "x", pwd: "hunter2", roles: []}}`,
		`{applyOps: [{op: "c", ns: "admin.$cmd", o: {createUser: "x", pwd: "hunter2", roles: []}}]}`,
		`{applyOps: [{op: "c", ns: "admin.$cmd", o: {createuser: "x", pwd: "hunter2", roles: []}}]}`,
		`{saslStart: 1, mechanism: "PLAIN", payload: "hunter2"}`, `{authenticate: 1, mechanism: "x", pwd: "hunter2", key: "hunter2"}`,
		`{hello: 1, speculativeAuthenticate: {saslStart: 1, mechanism: "SCRAM-SHA-1", payload: "hunter2"}}`,
	} {
		for _, db := range []string{"admin", "test"} {
			reply := h.RunOn(db, harness.Relaxed(command))
			if strings.Contains(reply.String(), "hunter2") {
				t.Errorf("%s answered %s", command, reply)
			}
		}
	}
	for _, db := range []string{"admin", "test"} {
		list := harness.Docs(h.RunOn(db, harness.Relaxed(`{find: "system.profile", batchSize: 1000}`)))
		if len(list) < 2 {
			t.Fatalf("%d operations of %s are profiled", len(list), db)
		}
		for _, d := range list {
			if strings.Contains(d.String(), "hunter2") {
				t.Errorf("profiled: %s", d)
			}
		}
	}
	if text := log.String(); strings.Contains(text, "hunter2") || !strings.Contains(text, "createUser") {
		t.Errorf("logged: %s", text)
	}
}

func BenchmarkAuthorizeFind(b *testing.B) {
	h := harness.NewAuth(b)
	u := h.User("ann", "root@admin")
	h.Svc.Options.Security.Auth = true
	c := &kernel.Call{Ctx: context.Background(), Svc: h.Svc, Conn: &kernel.Conn{Endpoint: kernel.Endpoint{Remote: "10.0.0.1:5000"}, User: u}, Cmd: h.Svc.Table["find"], Request: kernel.Request{Body: value.MustJSON(`{"find": "x"}`), DB: "test"}}
	b.ReportAllocs()
	for b.Loop() {
		if err := access.Authorize(c); err != nil {
			b.Fatal(err)
		}
	}
}
