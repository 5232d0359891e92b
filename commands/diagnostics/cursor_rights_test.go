package diagnostics_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/duskdb/duskdb/commands/access"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/value"
)

func newCursorHarness(t *testing.T) *harness.AuthHarness {
	h := harness.NewAuth(t)
	for _, ns := range []string{"test.open", "vault.hidden"} {
		db, coll, _ := strings.Cut(ns, ".")
		h.MustOn(db, fmt.Sprintf(`{"insert": %q, "documents": [{"_id": 1}, {"_id": 2}, {"_id": 3}]}`, coll))
	}
	h.User("root", "root@admin")
	h.User("ann", "read@test")
	return h
}

// TestKillCursorsOfOthers: killCursors requires the privilege on the collection that the
// cursor reads, not on the one that the command names.
func TestKillCursorsOfOthers(t *testing.T) {
	h := newCursorHarness(t)
	h.MustOn("admin", `{"createRole": "killer", "roles": [], "privileges": [{"resource": {"db": "vault", "collection": ""}, "actions": ["killAnyCursor"]}]}`)
	h.MustOn("admin", `{"createRole": "named", "roles": [], "privileges": [{"resource": {"db": "vault", "collection": "hidden"}, "actions": ["killCursors"]}]}`)
	h.User("killer", "killer@admin")
	h.User("named", "named@admin")
	for _, tt := range []struct {
		name, db, coll, open string
		killed               bool
	}{
		{"ann", "test", "anything", `{find: "hidden", batchSize: 1}`, false},
		{"ann", "vault", "hidden", `{find: "hidden", batchSize: 1}`, false},
		{"named", "vault", "hidden", `{find: "hidden", batchSize: 1}`, false}, // is for one's own cursors
		{"killer", "test", "anything", `{find: "hidden", batchSize: 1}`, true},
		{"killer", "vault", "hidden", `{listCollections: 1, cursor: {batchSize: 0}}`, true},
		{"ann", "test", "open", `{listCollections: 1, cursor: {batchSize: 0}}`, false},
		{"root", "test", "open", `{find: "hidden", batchSize: 1}`, true},
	} {
		id := h.CursorOf("root", "vault", tt.open)
		reply := h.As(tt.name, tt.db, fmt.Sprintf(`{killCursors: %q, cursors: [{$numberLong: "%d"}]}`, tt.coll, id))
		_, _, alive := access.Owner(h.Svc.Cursors, id)
		if alive == tt.killed || reply.Lookup("ok").Truthy() != tt.killed || !tt.killed && reply.Lookup("code").Int32() != 13 {
			t.Errorf("%s of %s as %s on %s.%s answered %s, alive %t", "killCursors", tt.open, tt.name, tt.db, tt.coll, reply, alive)
		}
	}
	own := h.CursorOf("ann", "test", `{find: "open", batchSize: 1}`)
	others := h.CursorOf("root", "vault", `{find: "hidden", batchSize: 1}`)
	reply := h.As("ann", "test", fmt.Sprintf(`{killCursors: "open", cursors: [{$numberLong: "%d"}, {$numberLong: "%d"}]}`, own, others))
	if _, _, alive := access.Owner(h.Svc.Cursors, own); !alive || reply.Lookup("code").Int32() != 13 {
		t.Errorf("a list with one of another's answered %s, own alive %t", reply, alive)
	}
	reply = h.As("ann", "test", fmt.Sprintf(`{killCursors: "x", cursors: [{$numberLong: "%d"}, {$numberLong: "7"}]}`, own))
	if reply.Lookup("cursorsKilled").Doc().Len() != 1 || reply.Lookup("cursorsNotFound").Doc().Len() != 1 {
		t.Errorf("one's own: %s", reply)
	}
}

// TestGetMoreAsksAgain revokes the privileges that were needed to open a cursor.
func TestGetMoreAsksAgain(t *testing.T) {
	for _, open := range []string{
		`{find: "open", batchSize: 1}`,
		`{aggregate: "open", pipeline: [{$match: {}}], cursor: {batchSize: 1}}`,
		`{aggregate: "open", pipeline: [{$changeStream: {}}], cursor: {batchSize: 1}}`,
		`{aggregate: 1, pipeline: [{$documents: [{a: 1}, {a: 2}]}, {$lookup: {from: "open", pipeline: [], as: "j"}}], cursor: {batchSize: 1}}`,
		`{listCollections: 1, cursor: {batchSize: 0}}`,
		`{listIndexes: "open", cursor: {batchSize: 0}}`,
	} {
		t.Run(open, func(t *testing.T) {
			h := newCursorHarness(t)
			id := h.CursorOf("ann", "test", open)
			coll := "open"
			if strings.HasPrefix(open, "{listC") {
				coll = "$cmd.listCollections"
			} else if strings.Contains(open, "aggregate: 1") {
				coll = "$cmd.aggregate"
			}
			more := fmt.Sprintf(`{getMore: {$numberLong: "%d"}, collection: %q, batchSize: 1%s}`, id, coll, map[bool]string{true: ", maxTimeMS: 1"}[strings.Contains(open, "changeStream")])
			h.MustOn("admin", `{"grantRolesToUser": "ann", "roles": [{"role": "read", "db": "vault"}]}`) // who may more than before goes on
			h.MustOn("test", `{"insert": "open", "documents": [{"_id": 4}]}`)
			h.MustOn("admin", `{"revokeRolesFromUser": "ann", "roles": [{"role": "read", "db": "test"}]}`)
			want := fmt.Sprintf("not authorized for getMore with cursor id %d", id)
			if reply := h.As("ann", "test", more); reply.Lookup("code").Int32() != 13 || reply.Lookup("errmsg").Str() != want {
				t.Errorf("answered %s", reply)
			}
			h.MustOn("admin", `{"grantRolesToUser": "ann", "roles": [{"role": "read", "db": "test"}]}`)
			if reply := h.As("ann", "test", more); !reply.Lookup("ok").Truthy() {
				t.Errorf("with the role again: %s", reply)
			}
			if reply := h.As("root", "test", more); reply.Lookup("code").Int32() != 13 && reply.Lookup("code").Int32() != 43 {
				t.Errorf("another's cursor: %s", reply)
			}
		})
	}
}

// TestKillCursorsWakes ends a getMore that waits for something new.
func TestKillCursorsWakes(t *testing.T) {
	for name, open := range map[string]string{
		"stream": `{aggregate: "open", pipeline: [{$changeStream: {}}], cursor: {batchSize: 1}}`,
		"capped": `{find: "capped", tailable: true, awaitData: true}`,
	} {
		t.Run(name, func(t *testing.T) {
			h := newCursorHarness(t)
			h.MustOn("test", `{"create": "capped", "capped": true, "size": 4096}`)
			h.MustOn("test", `{"insert": "capped", "documents": [{"_id": 1}]}`)
			id := h.CursorOf("ann", "test", open)
			coll := map[string]string{"stream": "open", "capped": "capped"}[name]
			answer := make(chan value.Doc, 1)
			other := *h
			other.Harness = &harness.Harness{TB: h.TB, Svc: h.Svc, Clock: h.Clock, Conn: h.Svc.NewConn("10.0.0.1:5001", "")}
			other.Conn.User = h.Find("ann")
			go func() {
				answer <- other.RunOn("test", harness.Relaxed(fmt.Sprintf(`{getMore: {$numberLong: "%d"}, collection: %q, maxTimeMS: 3600000}`, id, coll)))
			}()
			for _, _, pinned, _, _ := h.Svc.Cursors.Count(); pinned == 0; _, _, pinned, _, _ = h.Svc.Cursors.Count() {
				runtime.Gosched()
			}
			reply := h.As("ann", "test", fmt.Sprintf(`{killCursors: %q, cursors: [{$numberLong: "%d"}]}`, coll, id))
			if reply.Lookup("cursorsKilled").Doc().Len() != 1 {
				t.Fatalf("killCursors answered %s", reply)
			}
			select {
			case reply := <-answer:
				if code := reply.Lookup("code").Int32(); code != 237 {
					t.Errorf("getMore answered %s", reply)
				}
			case <-h.Svc.Real.NewTimer(10 * time.Second).C():
				t.Fatal("getMore goes on")
			}
			if reply := other.RunOn("test", harness.Relaxed(`{find: "open"}`)); !reply.Lookup("ok").Truthy() {
				t.Errorf("the connection's next command answered %s", reply)
			}
		})
	}
}
