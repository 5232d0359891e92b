package access_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/access"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/auth"
	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// from runs a command with access control for a client that has not logged in.
func from(h *harness.AuthHarness, remote, db, command string) value.Doc {
	h.Helper()
	h.Svc.Options.Security.Auth = true
	old := h.Conn
	defer func() { h.Conn = old }()
	h.Conn = h.Svc.NewConn(remote, "127.0.0.1:27017")
	return h.RunOn(db, harness.Relaxed(command))
}

// Who has not logged in may do what comes before that, and no more.
func TestBeforeLogin(t *testing.T) {
	h := harness.NewAuth(t)
	h.User("root", "root@admin")
	for command, code := range map[string]int32{
		`{hello: 1}`:                             0,
		`{ping: 1}`:                              0,
		`{buildInfo: 1}`:                         13,
		`{find: "c"}`:                            13,
		`{listDatabases: 1}`:                     13,
		`{getParameter: 1, quiet: 1}`:            13,
		`{createUser: "a", pwd: "p", roles: []}`: 13,
		`{insert: "c", documents: [{_id: "x"}]}`: 13,
	} {
		for _, remote := range []string{"127.0.0.1:5", "10.0.0.1:5"} {
			reply := from(h, remote, "admin", command)
			name, _ := harness.Relaxed(command).First()
			if got := reply.Lookup("code").Int32(); got != code || code == 13 && reply.Lookup("errmsg").Str() != "Command "+name+" requires authentication" {
				t.Errorf("%s from %s answered %s", command, remote, reply)
			}
		}
	}
	h.MustOn("admin", `{"insert": "c", "documents": [{"_id": 1}]}`)
	if docs := harness.Docs(h.As("root", "admin", `{find: "c"}`)); len(docs) != 1 {
		t.Errorf("written: %v", docs)
	}
}

// What buildInfo tells a client that has not logged in is for a parameter to say; by default
// nothing since 8.1, and all before (mongod's jstests/auth/buildinfo_auth_cmd.js).
func TestBuildInfoBeforeLogin(t *testing.T) {
	for _, d := range []dialect.Dialect{dialect.Mongo82, dialect.Mongo80} {
		h := &harness.AuthHarness{Harness: harness.NewOf(t, d)}
		fields := func() string {
			reply := from(h, "10.0.0.1:5", "admin", `{buildInfo: 1}`)
			switch {
			case reply.Lookup("code").Int32() == 13 && reply.Lookup("errmsg").Str() == "Command buildInfo requires authentication":
				return "none"
			case reply.Has("maxBsonObjectSize"):
				return "all"
			}
			return reply.Lookup("version").Str()
		}
		if d == dialect.Mongo82 {
			if reply := from(h, "127.0.0.1:5", "admin", `{buildInfo: 1}`); !reply.Has("maxBsonObjectSize") {
				t.Errorf("before there is a user: %s", reply)
			}
		}
		h.User("guest")
		h.User("root", "root@admin")
		if got, want := fields(), map[dialect.Dialect]string{dialect.Mongo82: "none", dialect.Mongo80: "all"}[d]; got != want {
			t.Errorf("%s: %s", d.Version(), got)
		}
		for mode, want := range map[string]string{kernel.NeedsLogin: "none", kernel.VersionOnly: d.Version(), kernel.OpenToStrangers: "all"} {
			h.As("root", "admin", `{setParameter: 1, buildInfoAuthMode: "`+mode+`"}`)
			if got := fields(); got != want {
				t.Errorf("%s: a stranger sees %s", mode, got)
			}
			if reply := h.As("guest", "admin", `{buildInfo: 1}`); !reply.Has("maxBsonObjectSize") {
				t.Errorf("%s: who has logged in sees %s", mode, reply)
			}
		}
		for _, mode := range []string{`"never"`, `1`} {
			if reply := h.As("root", "admin", `{setParameter: 1, buildInfoAuthMode: `+mode+`}`); reply.Lookup("code").Int32() != 2 {
				t.Errorf("%s: %s", mode, reply)
			}
		}
	}
}

// The localhost exception: before there is any user, a client of this machine may
// make the first one in admin, and set up the replica set; nobody from elsewhere, and
// not if enableLocalhostAuthBypass is off.
func TestLocalhostException(t *testing.T) {
	first := `{createUser: "first", pwd: "p", roles: ["root"], mechanisms: ["SCRAM-SHA-1"]}`
	refused := []struct{ remote, db, command string }{
		{"10.0.0.1:5", "admin", first},
		{"127.0.0.1:5", "test", first},
		{"127.0.0.1:5", "test", `{find: "c"}`},
		{"127.0.0.1:5", "admin", `{find: "system.users"}`},
		{"127.0.0.1:5", "admin", `{createRole: "r", roles: [], privileges: []}`},
	}
	h := harness.NewAuth(t)
	for _, tt := range refused {
		if reply := from(h, tt.remote, tt.db, tt.command); reply.Lookup("code").Int32() != 13 {
			t.Errorf("%s on %s from %s answered %s", tt.command, tt.db, tt.remote, reply)
		}
	}
	if reply := from(h, "127.0.0.1:5", "admin", `{replSetGetStatus: 1}`); reply.Lookup("code").Int32() == 13 {
		t.Errorf("replSetGetStatus answered %s", reply)
	}
	if reply := from(h, "127.0.0.1:5", "admin", first); !reply.Lookup("ok").Truthy() {
		t.Fatalf("the first user: %s", reply)
	}
	if reply := from(h, "127.0.0.1:5", "admin", `{createUser: "second", pwd: "p", roles: []}`); reply.Lookup("code").Int32() != 13 {
		t.Errorf("the second user: %s", reply)
	}
	off := &harness.AuthHarness{Harness: harness.NewWith(t, kernel.Options{Parameters: map[string]string{"enableLocalhostAuthBypass": "false"}})}
	if reply := from(off, "127.0.0.1:5", "admin", first); reply.Lookup("code").Int32() != 13 {
		t.Errorf("without the exception: %s", reply)
	}
}

// A cursor gives no more once its owner has lost what it was opened with, and goes on
// if the owner still has it, whatever else has changed.
func TestCursorOfWhoLostTheRight(t *testing.T) {
	h := harness.NewAuth(t)
	h.MustOn("test", `{"insert": "c", "documents": [{"_id": 1}, {"_id": 2}, {"_id": 3}]}`)
	h.User("ann", "read@test", "read@other")
	id := h.CursorOf("ann", "test", `{find: "c", batchSize: 1}`)
	if ns, user, ok := access.Owner(h.Svc.Cursors, id); !ok || ns.String() != "test.c" || user != "admin.ann" {
		t.Errorf("the cursor is %s's, of %s: %t", user, ns, ok)
	}
	if _, _, ok := access.Owner(h.Svc.Cursors, id+1); ok {
		t.Error("there is another cursor")
	}
	more := fmt.Sprintf(`{getMore: {$numberLong: "%d"}, collection: "c", batchSize: 1}`, id)
	h.MustOn("admin", `{"revokeRolesFromUser": "ann", "roles": [{"role": "read", "db": "other"}]}`)
	if reply := h.As("ann", "test", more); !reply.Lookup("ok").Truthy() {
		t.Errorf("with the right the getMore answered %s", reply)
	}
	h.MustOn("admin", `{"revokeRolesFromUser": "ann", "roles": [{"role": "read", "db": "test"}]}`)
	if reply := h.As("ann", "test", more); reply.Lookup("code").Int32() != 13 {
		t.Errorf("without the right the getMore answered %s", reply)
	}
}

// What is noted of a cursor is what its command was allowed: nothing without access
// control, and nothing of commands that may be run by everybody.
func TestGrants(t *testing.T) {
	h := harness.NewAuth(t)
	u := h.User("ann", "read@test")
	call := func(command string) *kernel.Call {
		body := harness.Relaxed(command)
		name, _ := body.First()
		c := &kernel.Call{Ctx: t.Context(), Svc: h.Svc, Conn: &kernel.Conn{User: u}, Cmd: h.Svc.Table[name], Request: kernel.Request{Body: body, DB: "test"}}
		c.User = u
		return c
	}
	h.Svc.Options.Security.Auth = false
	if list := access.Grants(call(`{find: "c"}`)); list != nil {
		t.Errorf("without access control: %v", list)
	}
	h.Svc.Options.Security.Auth = true
	if list := access.Grants(call(`{hello: 1}`)); list != nil {
		t.Errorf("of hello: %v", list)
	}
	list := access.Grants(call(`{find: "c"}`))
	if len(list) != 1 || list[0].On != auth.Namespace("test", "c") || list[0].Action != auth.MustAction("find") {
		t.Errorf("of find: %v", list)
	}
	if list := access.Grants(call(`{insert: "c", documents: []}`)); len(list) != 0 {
		t.Errorf("of what is not allowed: %v", list)
	}
}

// What a command works on is what it names first: a collection, the database it was
// sent to, or the server as a whole.
func TestTarget(t *testing.T) {
	for _, tt := range []struct{ name, body, want string }{
		{"find", `{find: "c"}`, "test.c"},
		{"find", `{find: "a.b"}`, "test.a.b"},
		{"find", `{find: 1}`, "test"},
		{"mqSend", `{mqSend: "q", messages: []}`, "test.q"},
		{"mqSend", `{mqSend: ""}`, "test"},
	} {
		c := &kernel.Call{Cmd: &kernel.Command{Name: tt.name}, Request: kernel.Request{Body: harness.Relaxed(tt.body), DB: "test"}}
		if got := access.Target(c); strings.TrimSuffix(got.String(), ".") != tt.want {
			t.Errorf("%s: %q, want %q", tt.body, got, tt.want)
		}
	}
	if got := access.SplitNamespace("db.a.b"); got != (storage.Namespace{DB: "db", Coll: "a.b"}) {
		t.Errorf("db.a.b is split into %q and %q", got.DB, got.Coll)
	}
	if access.DatabaseOr("", "admin") != "admin" || access.DatabaseOr("db", "admin") != "db" {
		t.Error("the database that was named comes first")
	}
}

// The statements of a write are found wherever they stand in the message: in the
// command, in sequences behind it, and in all of them if a name comes twice.
func TestStatements(t *testing.T) {
	a, b := value.MustJSON(`{"q": 1}`), value.MustJSON(`{"q": 2}`)
	c := &kernel.Call{Request: kernel.Request{
		Body: harness.Relaxed(`{delete: "c", deletes: [{q: 3}, 7, {q: 4}], other: [{q: 9}]}`),
		Sequences: []kernel.Sequence{
			{ID: "others", Docs: a, Len: 1},
			{ID: "deletes", Docs: append(a.Clone(), b...), Len: 2},
		},
	}}
	read := func(most int) string {
		var list []string
		for d := range access.Statements(c, "deletes") {
			if list = append(list, d.Lookup("q").String()); len(list) == most {
				break
			}
		}
		return strings.Join(list, " ")
	}
	for most, want := range map[int]string{0: "3 4 1 2", 1: "3", 3: "3 4 1"} {
		if got := read(most); got != want {
			t.Errorf("%d: %s, want %s", most, got, want)
		}
	}
}

// A listing without the right to list shows what the user may use.
func TestAuthorizedListings(t *testing.T) {
	h := harness.NewAuth(t)
	for _, ns := range []string{"test.a", "test.b", "other.c"} {
		db, coll, _ := strings.Cut(ns, ".")
		h.MustOn(db, fmt.Sprintf(`{"create": %q}`, coll))
	}
	h.MustOn("test", `{"createRole": "onA", "roles": [], "privileges": [{"resource": {"db": "test", "collection": "a"}, "actions": ["find"]}]}`)
	h.User("ann", "onA@test")
	h.User("root", "root@admin")
	for _, tt := range []struct{ user, db, command, list, want string }{
		{"ann", "test", `{listCollections: 1, nameOnly: true, authorizedCollections: true}`, "cursor", "a"},
		{"ann", "admin", `{listDatabases: 1, nameOnly: true}`, "databases", "test"},
		{"root", "test", `{listCollections: 1, nameOnly: true, authorizedCollections: true}`, "cursor", "a b"},
		{"root", "admin", `{listDatabases: 1, nameOnly: true, filter: {name: {$in: ["test", "other"]}}}`, "databases", "other test"},
	} {
		reply := h.As(tt.user, tt.db, tt.command)
		docs := reply.Lookup(tt.list).Doc()
		if tt.list == "cursor" {
			docs = docs.Lookup("firstBatch").Doc()
		}
		var names []string
		for v := range docs.Values() {
			names = append(names, v.Doc().Lookup("name").Str())
		}
		if got := strings.Join(names, " "); got != tt.want || !reply.Lookup("ok").Truthy() {
			t.Errorf("%s for %s on %s: %q, want %q: %s", tt.command, tt.user, tt.db, got, tt.want, reply)
		}
	}
	for db, command := range map[string]string{
		"test":  `{listCollections: 1, nameOnly: true}`,
		"other": `{listCollections: 1, nameOnly: true, authorizedCollections: true}`, // nothing there is ann's
	} {
		if reply := h.As("ann", db, command); reply.Lookup("code").Int32() != 13 || !strings.HasPrefix(reply.Lookup("errmsg").Str(), "not authorized on "+db+" to execute command { listCollections: 1, nameOnly: true") {
			t.Errorf("%s on %s answered %s", command, db, reply)
		}
	}
}
