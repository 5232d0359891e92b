package oplog_test

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
)

// Nobody but the server writes to the change log.
func TestOplogIsNotWritable(t *testing.T) {
	h := harness.New(t)
	for _, tt := range []struct {
		db, command string
		code        int32
		text        string
	}{
		{"local", `{insert: "oplog.rs", documents: [{a: 1}]}`, 73, "cannot write to local.oplog.rs"},
		{"local", `{update: "oplog.rs", updates: [{q: {a: 1}, u: {$set: {a: 1}}}]}`, 73, "cannot write to local.oplog.rs"},
		{"local", `{delete: "oplog.rs", deletes: [{q: {}, limit: 0}]}`, 73, "cannot write to local.oplog.rs"},
		{"local", `{findAndModify: "oplog.rs", query: {}, remove: true}`, 73, "cannot write to local.oplog.rs"},
		{"admin", `{applyOps: [{op: "i", ns: "local.oplog.rs", o: {_id: 1}}]}`, 73, "cannot write to local.oplog.rs"},
		{"local", `{createIndexes: "oplog.rs", indexes: [{key: {a: 1}, name: "a"}]}`, 67, "cannot create an index on the oplog"},
		{"admin", `{renameCollection: "local.oplog.rs", to: "local.poison"}`, 20, "can't rename live oplog while replicating"},
		{"admin", `{renameCollection: "local.foo", to: "local.oplog.rs"}`, 20, "can't rename to live oplog while replicating"},
	} {
		reply := h.RunOn(tt.db, harness.Relaxed(tt.command))
		code, text := reply.Lookup("code"), reply.Lookup("errmsg").Str()
		if first := reply.Lookup("writeErrors").Doc().Index(0); !first.IsMissing() {
			code, text = first.Doc().Lookup("code"), first.Doc().Lookup("errmsg").Str()
		}
		if code.Int32() != tt.code || text != tt.text {
			t.Errorf("%s answered %s", tt.command, reply)
		}
	}
	h.OK(`{insert: "c", documents: [{a: 1}]}`)
	if n := len(harness.Docs(h.RunOn("local", harness.Relaxed(`{find: "oplog.rs", filter: {op: {$ne: "n"}}}`)))); n != 2 {
		t.Errorf("%d entries of a collection that was made and filled", n)
	}
}

// Users and roles are documents, and the log has their changes like any others.
func TestOplogOfUsers(t *testing.T) {
	h := harness.New(t)
	for _, command := range []string{
		`{createUser: "u", pwd: "p", roles: []}`, `{updateUser: "u", customData: {a: 1}}`,
		`{createRole: "r", privileges: [], roles: []}`, `{grantRolesToUser: "u", roles: ["r"]}`, `{dropRole: "r"}`, `{dropUser: "u"}`,
	} {
		if r := h.Admin(command); !r.Lookup("ok").Truthy() {
			t.Fatalf("%s answered %s", command, r)
		}
	}
	var got []string
	for _, d := range harness.Docs(h.RunOn("local", harness.Relaxed(`{find: "oplog.rs", filter: {ns: {$ne: ""}}}`))) {
		ops := []string{d.Lookup("op").Str() + " " + d.Lookup("ns").Str()}
		if list := d.Lookup("o").Doc().Lookup("applyOps"); !list.IsMissing() {
			ops = nil
			for v := range list.Doc().Values() {
				ops = append(ops, v.Doc().Lookup("op").Str()+" "+v.Doc().Lookup("ns").Str())
			}
		}
		for _, op := range ops {
			if !strings.HasPrefix(op, "c ") && op != "i admin.system.version" {
				got = append(got, op)
			}
		}
	}
	users, roles := "admin.system.users", "admin.system.roles"
	want := []string{"i " + users, "u " + users, "i " + roles, "u " + users, "u " + users, "d " + roles, "d " + users}
	if strings.Join(got, ", ") != strings.Join(want, ", ") {
		t.Errorf("the log has %v", got)
	}
}
