package commands

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/housekeeping"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/value"
)

const (
	firstID  = `{id: {$uuid: "00000000-0000-4000-8000-000000000001"}}`
	secondID = `{id: {$uuid: "00000000-0000-4000-8000-000000000002"}}`
	// nobodyUID is the digest of no user: SHA-256 of nothing.
	nobodyUID = `{$binary: {base64: "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", subType: "00"}}`
	otherUID  = `{$binary: {base64: "AAAAQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", subType: "00"}}`
)

// busy opens a cursor and a transaction in a session and reports whether they
// are still there.
func (h *harness) busy(id string) func() (cursor, txn bool) {
	h.Helper()
	h.ok(`{insert: "c", documents: [{}, {}, {}]}`)
	cursor := h.ok(`{find: "c", batchSize: 1, lsid: ` + id + `}`).Lookup("cursor").Doc().Lookup("id").Int64()
	h.ok(`{find: "c", lsid: ` + id + `, txnNumber: {$numberLong: "1"}, autocommit: false, startTransaction: true}`)
	return func() (bool, bool) {
		more := h.run(fmt.Sprintf(`{getMore: {$numberLong: "%d"}, collection: "c", batchSize: 1, lsid: %s}`, cursor, id))
		again := h.run(`{find: "c", lsid: ` + id + `, txnNumber: {$numberLong: "1"}, autocommit: false}`)
		return more.Lookup("ok").Truthy(), again.Lookup("ok").Truthy()
	}
}

// local lists the ids of sessions.
func (h *harness) local(spec string) (ids []string) {
	h.Helper()
	for _, d := range docs(h.ok(`{aggregate: 1, pipeline: [{$listLocalSessions: ` + spec + `}], cursor: {}}`)) {
		ids = append(ids, d.Lookup("_id").String())
	}
	return ids
}

// Killing ends what runs in a session, which goes on; ending forgets it.
func TestKillSessions(t *testing.T) {
	for command, gone := range map[string]bool{
		`{killSessions: [` + firstID + `]}`:                                                true,
		`{killSessions: []}`:                                                               true,
		`{killSessions: [` + secondID + `]}`:                                               false,
		`{killAllSessions: []}`:                                                            true,
		`{killAllSessions: [{user: "a", db: "test"}]}`:                                     false,
		`{killAllSessionsByPattern: []}`:                                                   true,
		`{killAllSessionsByPattern: [{}]}`:                                                 true,
		`{killAllSessionsByPattern: [{lsid: ` + firstID + `}]}`:                            true,
		`{killAllSessionsByPattern: [{lsid: ` + secondID + `}]}`:                           false,
		`{killAllSessionsByPattern: [{lsid: ` + secondID + `}, {uid: ` + nobodyUID + `}]}`: true,
		`{killAllSessionsByPattern: [{uid: ` + otherUID + `}]}`:                            false,
		`{killAllSessionsByPattern: [{uid: ` + nobodyUID + `, lsid: ` + secondID + `}]}`:   false,
		`{killAllSessionsByPattern: [{users: [{user: "a", db: "test"}]}]}`:                 false,
		`{killAllSessionsByPattern: [{roles: [{role: "root", db: "admin"}]}]}`:             false,
		`{refreshSessions: [` + firstID + `]}`:                                             false,
		`{endSessions: [` + secondID + `]}`:                                                false,
		`{endSessions: [` + firstID + `]}`:                                                 true,
	} {
		h := newHarness(t)
		busy := h.busy(firstID)
		h.ok(command)
		if n := len(h.local(`{allUsers: true}`)); (n > 0) == strings.HasPrefix(command, `{endSessions: [`+firstID) {
			t.Errorf("%s left %d sessions", command, n)
		}
		if cursor, txn := busy(); cursor == gone || txn == gone {
			t.Errorf("%s left the cursor: %v, the transaction: %v", command, cursor, txn)
		}
	}
}

func TestSessionCommandRefusals(t *testing.T) {
	h := newHarness(t)
	list := []refusal{
		{"test", `{killAllSessions: 1}`, 14, "BSON field 'KillAllSessionsCmd.killAllSessions' is the wrong type 'int', expected type 'array'"},
		{"test", `{killAllSessions: [1]}`, 14, "BSON field 'KillAllSessionsCmd.killAllSessions.0' is the wrong type 'int', expected type 'object'"},
		{"test", `{killAllSessions: [{user: "a"}]}`, 40414, "BSON field 'KillAllSessionsCmd.killAllSessions.0.db' is missing but a required field"},
		{"test", `{killAllSessions: [], extra: 1}`, 0, ""}, // "strict: false" in kill_sessions.idl
		{"test", `{killAllSessionsByPattern: [{extra: 1}]}`, 40415, ""},
		{"test", `{killAllSessionsByPattern: [{uid: 1}]}`, 14, ""},
		{"test", `{killAllSessionsByPattern: [{uid: {$binary: {base64: "AA==", subType: "00"}}}]}`, 12, "Unsupported SHA256Block hash length: 1"},
		{"test", `{killAllSessionsByPattern: [{users: [{}]}]}`, 40414, ""},
		{"test", `{killAllSessionsByPattern: [{roles: [{role: 1}]}]}`, 14, ""},
		{"test", `{find: "c", lsid: {}}`, 40414, "BSON field 'OperationSessionInfo.lsid.id' is missing but a required field"},
		{"test", `{find: "c", lsid: {id: 1}}`, 14, ""},
		{"test", `{find: "c", lsid: {id: {$uuid: "00000000-0000-4000-8000-000000000001"}, extra: 1}}`, 40415, "BSON field 'OperationSessionInfo.lsid.extra' is an unknown field."},
		{"test", `{find: "c", lsid: {id: {$uuid: "00000000-0000-4000-8000-000000000001"}, txnNumber: {$numberLong: "1"}}}`, 72, "Cannot specify txnNumber in lsid without specifying txnUUID"},
		{"test", `{find: "c", lsid: {id: {$uuid: "00000000-0000-4000-8000-000000000001"}, uid: ` + nobodyUID + `}}`, 0, ""},
	}
	for command, name := range map[string]string{"killSessions": "KillSessionsCmd", "endSessions": "EndSessionsCmdFromClient", "refreshSessions": "RefreshSessionsCmdFromClient"} {
		list = append(list,
			refusal{"test", `{` + command + `: 1}`, 14, "BSON field '" + name + "." + command + "' is the wrong type 'int', expected type 'array'"},
			refusal{"test", `{` + command + `: [` + firstID + `, {}]}`, 40414, "BSON field '" + name + "." + command + ".1.id' is missing but a required field"},
			refusal{"test", `{` + command + `: [{id: {$uuid: "00000000-0000-4000-8000-000000000001"}, x: 1}]}`, 40415, ""},
		)
	}
	h.refuses(list)
}

// Sessions within a session, which members of a cluster use, are sessions of
// their own: each has its transactions.
func TestChildSessions(t *testing.T) {
	h := newHarness(t)
	h.ok(`{create: "c"}`)
	const id = `id: {$uuid: "00000000-0000-4000-8000-000000000001"}`
	const child = `{` + id + `, txnUUID: {$uuid: "00000000-0000-4000-8000-000000000009"}}`
	const retry = `{` + id + `, txnNumber: {$numberLong: "5"}, txnUUID: {$uuid: "00000000-0000-4000-8000-000000000009"}}`
	for i, lsid := range []string{`{` + id + `}`, child, retry} {
		h.ok(fmt.Sprintf(`{insert: "c", documents: [{_id: %d}], lsid: %s, txnNumber: {$numberLong: "1"}, autocommit: false, startTransaction: true}`, i, lsid))
	}
	for _, lsid := range []string{retry, `{` + id + `}`, child} {
		if r := h.admin(`{commitTransaction: 1, lsid: ` + lsid + `, txnNumber: {$numberLong: "1"}, autocommit: false}`); !r.Lookup("ok").Truthy() {
			t.Error(r)
		}
	}
	if n := h.ok(`{count: "c"}`).Lookup("n").Int32(); n != 3 {
		t.Errorf("%d documents", n)
	}
	if n := len(docs(h.runOn("config", relaxed(`{find: "transactions", filter: {state: "committed"}}`)))); n != 3 {
		t.Errorf("%d records", n)
	}
	if ids := h.local(`{}`); len(ids) != 3 {
		t.Error(ids)
	}
	again, err := newRunning(kernel.Options{Engine: h.svc.Engine, Clock: h.clock, TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer housekeeping.Close(again)
	h2 := &harness{TB: t, svc: again, clock: h.clock, conn: again.NewConn("127.0.0.1:1", "127.0.0.1:27017")}
	for _, lsid := range []string{retry, `{` + id + `}`, child} {
		if r := h2.admin(`{commitTransaction: 1, lsid: ` + lsid + `, txnNumber: {$numberLong: "1"}, autocommit: false}`); !r.Lookup("ok").Truthy() {
			t.Errorf("after a restart %s", r)
		}
	}
}

// Who may see and kill whose sessions. The digest of a user is that of
// "name@db".
func TestSessionsOfUsers(t *testing.T) {
	h := newAuthHarness(t)
	as := func(name string, roles ...string) *harness {
		u := h.user(name, roles...)
		one := &harness{TB: t, svc: h.svc, clock: h.clock, conn: h.svc.NewConn("10.0.0.1:1", "127.0.0.1:27017")}
		one.conn.User = u
		return one
	}
	ann, bob, root := as("ann", "readWriteAnyDatabase@admin"), as("bob", "readWriteAnyDatabase@admin"), as("root", "root@admin")
	h.svc.Options.Security.Auth = true
	digest := sha256.Sum256([]byte("ann@admin"))
	uid := value.Binary(0, digest[:]).JSON()
	annBusy, bobBusy := ann.busy(firstID), bob.busy(secondID)
	if got := ann.local(`{}`); len(got) != 1 || !strings.Contains(got[0], value.Binary(0, digest[:]).String()) {
		t.Errorf("ann sees %v", got)
	}
	bob.refuses([]refusal{
		{"test", `{aggregate: 1, pipeline: [{$listLocalSessions: {allUsers: true}}], cursor: {}}`, 13, ""},
		{"test", `{aggregate: 1, pipeline: [{$listLocalSessions: {users: [{user: "ann", db: "admin"}]}}], cursor: {}}`, 13, ""},
		{"admin", `{killAllSessions: []}`, 13, ""},
		{"test", `{find: "c", lsid: {id: {$uuid: "00000000-0000-4000-8000-000000000001"}, uid: ` + uid + `}}`, 13, "Unauthorized to set user digest in LogicalSessionId"},
		{"test", `{killSessions: [{id: {$uuid: "00000000-0000-4000-8000-000000000001"}, uid: ` + uid + `}]}`, 13, "Unauthorized to set user digest in LogicalSessionId"},
		{"test", `{killSessions: [` + firstID + `]}`, 0, ""}, // it has none of that id
	})
	if got := root.local(`{users: [{user: "ann", db: "admin"}]}`); len(got) != 1 {
		t.Errorf("root sees %v of ann", got)
	}
	if got := root.local(`{allUsers: true}`); len(got) != 2 {
		t.Errorf("root sees %v", got)
	}
	root.refuses([]refusal{
		{"test", `{killAllSessionsByPattern: [{users: [{user: "ann", db: "admin"}]}]}`, 13, "Not authorized to impersonate in killAllSessionsByPattern"},
		{"test", `{killAllSessionsByPattern: [{uid: ` + uid + `, lsid: ` + secondID + `}]}`, 0, ""},
	})
	if cursor, txn := annBusy(); !cursor || !txn {
		t.Error("what runs for ann has ended")
	}
	root.ok(`{killSessions: [{id: {$uuid: "00000000-0000-4000-8000-000000000001"}, uid: ` + uid + `}]}`)
	if cursor, txn := annBusy(); cursor || txn {
		t.Error("what runs for ann goes on")
	}
	h.svc.Options.Security.Auth = false // who may impersonate others
	h.ok(`{killAllSessionsByPattern: [{roles: [{role: "root", db: "admin"}]}]}`)
	h.svc.Options.Security.Auth = true
	if cursor, txn := bobBusy(); !cursor || !txn {
		t.Error("what runs for bob has ended")
	}
	h.svc.Options.Security.Auth = false
	h.ok(`{killAllSessionsByPattern: [{roles: [{role: "readWriteAnyDatabase", db: "admin"}]}]}`)
	h.svc.Options.Security.Auth = true
	if cursor, txn := bobBusy(); cursor || txn {
		t.Error("what runs for bob goes on")
	}
}

// What only servers for tests have.
func TestSessionCacheCommands(t *testing.T) {
	h := newTestCommands(t)
	h.ok(`{startSession: 1}`)
	h.ok(`{refreshLogicalSessionCacheNow: 1}`)
	if n := len(docs(h.runOn("config", relaxed(`{aggregate: "system.sessions", pipeline: [{$listSessions: {}}], cursor: {}}`)))); n != 1 {
		t.Errorf("%d sessions", n)
	}
	h.ok(`{insert: "c", documents: [{}], lsid: ` + firstID + `, txnNumber: {$numberLong: "1"}}`)
	h.ok(`{endSessions: [` + firstID + `]}`)
	h.ok(`{reapLogicalSessionCacheNow: 1}`)
	newHarness(t).refuses([]refusal{
		{"admin", `{refreshLogicalSessionCacheNow: 1}`, 59, "no such command: 'refreshLogicalSessionCacheNow'"},
		{"admin", `{reapLogicalSessionCacheNow: 1}`, 59, ""},
	})
}
