package crud_test

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/value"
)

// The commands that write documents, and the other doors to them, on each kind of name
// below "system.": legal for clients, only written by the server, or unknown
// (userAllowedWriteNS and isLegalClientSystemNS of mongod).
func TestWritesToSystemNames(t *testing.T) {
	t.Parallel()
	const legal, server, unknown = "", "cannot write to ", "Invalid system namespace: "
	names := map[string]string{
		"test.system.js": legal, "test.system.users": legal, "test.system.buckets.x": legal,
		"admin.system.js": legal, "admin.system.version": legal, "admin.system.keys": legal, "admin.system.backup_users": legal, "admin.system.new_users": legal,
		"config.system.indexBuilds": legal, "local.system.healthlog": legal,
		"test.system.views": server, "test.system.profile": server, "admin.system.views": server,
		"test.system.foobar": unknown, "test.system.roles": unknown, "test.system.version": unknown, "test.system.keys": unknown,
		"test.system.sessions": unknown, "test.system.replset": unknown, "test.system.indexes": unknown, "test.system.namespaces": unknown,
		"test.system.bucketsx": unknown, "admin.system.foobar": unknown, "admin.system.sessions": unknown, "config.system.roles": unknown, "local.system.foo": unknown,
	}
	commands := map[string]string{
		"insert":                `{insert: "COLL", documents: [{_id: 1}]}`,
		"update":                `{update: "COLL", updates: [{q: {_id: 7}, u: {$set: {a: 1}}}]}`,
		"update, multi":         `{update: "COLL", updates: [{q: {}, u: {$set: {a: 1}}, multi: true}]}`,
		"upsert":                `{update: "COLL", updates: [{q: {_id: 7}, u: {$set: {a: 1}}, upsert: true}]}`,
		"delete":                `{delete: "COLL", deletes: [{q: {_id: 7}, limit: 1}]}`,
		"delete, all":           `{delete: "COLL", deletes: [{q: {}, limit: 0}]}`,
		"findAndModify":         `{findAndModify: "COLL", query: {_id: 7}, update: {$set: {a: 1}}}`,
		"findAndModify, upsert": `{findAndModify: "COLL", query: {_id: 7}, update: {$set: {a: 1}}, upsert: true}`,
		"findAndModify, remove": `{findAndModify: "COLL", query: {_id: 7}, remove: true}`,
		"bulkWrite, insert":     `{bulkWrite: 1, ops: [{insert: 0, document: {_id: 2}}], nsInfo: [{ns: "DB.COLL"}]}`,
		"bulkWrite, update":     `{bulkWrite: 1, ops: [{update: 0, filter: {_id: 7}, updateMods: {$set: {a: 1}}}], nsInfo: [{ns: "DB.COLL"}]}`,
		"bulkWrite, delete":     `{bulkWrite: 1, ops: [{delete: 0, filter: {_id: 7}}], nsInfo: [{ns: "DB.COLL"}]}`,
		"create":                `{create: "COLL"}`,
		"createIndexes":         `{createIndexes: "COLL", indexes: [{key: {a: 1}, name: "a"}]}`,
	}
	for name, kind := range names {
		t.Run(name, func(t *testing.T) {
			db, coll, _ := strings.Cut(name, ".")
			h := harness.New(t)
			for what, command := range commands {
				command = strings.NewReplacer("DB", db, "COLL", coll).Replace(command)
				on := db
				if strings.HasPrefix(what, "bulkWrite") {
					on = "admin"
				}
				code, text := refusal(h.RunOn(on, harness.Relaxed(command)))
				ddl := strings.HasPrefix(what, "create")
				switch allowed := kind == legal; {
				case ddl && kind == server: // create and createIndexes have rules of their own
				case allowed && code == 73:
					t.Errorf("%s: %d %s", what, code, text)
				case !allowed && (code != 73 || text != kind+name):
					t.Errorf("%s: %d %s, want 73 %s%s", what, code, text, kind, name)
				}
			}
		})
	}
}

// refusal is the first error of a reply, in whichever place the command has it.
func refusal(reply value.Doc) (code int64, text string) {
	of := reply
	if first := reply.Lookup("writeErrors").Doc().Index(0); !first.IsMissing() {
		of = first.Doc()
	} else if first := reply.Lookup("cursor").Doc().Lookup("firstBatch").Doc().Index(0); !first.IsMissing() {
		of = first.Doc()
	}
	return of.Lookup("code").SafeInt64(), of.Lookup("errmsg").Str()
}
