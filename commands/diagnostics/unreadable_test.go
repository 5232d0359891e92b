package diagnostics_test

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/storage"
)

// A command that cannot read a collection fails, and does not reply as if the collection
// were empty.
func TestUnreadableCollectionsAreReported(t *testing.T) {
	h, e := harness.NewBreakable(t, kernel.Options{})
	h.OK(`{create: "c", documentTtl: {default: 60}}`)
	h.OK(`{insert: "c", documents: [{_id: 1}]}`)
	h.Admin(`{createUser: "ann", pwd: "p", roles: ["root"]}`)
	c := storage.Namespace{DB: "test", Coll: "c"}
	tests := []struct {
		broken      storage.Namespace
		db, command string
	}{
		{c, "test", `{collStats: "c"}`},
		{c, "test", `{find: "c"}`},
		{c, "test", `{aggregate: "c", pipeline: [], cursor: {}}`},
		{c, "test", `{listIndexes: "c"}`},
		{c, "test", `{dbStats: 1}`},
		{c, "admin", `{serverStatus: 1}`},
		{c, "admin", `{listDatabases: 1}`},
		{storage.Namespace{DB: "admin", Coll: "system.users"}, "admin", `{usersInfo: 1}`},
		{c, "test", `{collMod: "c", documentTtl: "off"}`},
	}
	for _, tt := range tests {
		e.Broken = tt.broken
		reply := h.RunOn(tt.db, harness.Relaxed(tt.command))
		if reply.Lookup("ok").Truthy() || !strings.Contains(reply.Lookup("errmsg").Str(), harness.ErrBroken.Error()) {
			t.Errorf("%s answered %s", tt.command, reply)
		}
		e.Broken = storage.Namespace{}
		if reply := h.RunOn(tt.db, harness.Relaxed(tt.command)); !reply.Lookup("ok").Truthy() {
			t.Errorf("afterwards %s answered %s", tt.command, reply)
		}
	}
}
