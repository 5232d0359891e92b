package crud_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/housekeeping"
	"github.com/duskdb/duskdb/commands/internal/harness"
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

// busy opens a cursor and a transaction in a session. The returned function reports
// whether they still exist.
func busy(h *harness.Harness, id string) func() (cursor, txn bool) {
	h.Helper()
	h.OK(`{insert: "c", documents: [{}, {}, {}]}`)
	cursor := h.OK(`{find: "c", batchSize: 1, lsid: ` + id + `}`).Lookup("cursor").Doc().Lookup("id").Int64()
	h.OK(`{find: "c", lsid: ` + id + `, txnNumber: {$numberLong: "1"}, autocommit: false, startTransaction: true}`)
	return func() (bool, bool) {
		more := h.Run(fmt.Sprintf(`{getMore: {$numberLong: "%d"}, collection: "c", batchSize: 1, lsid: %s}`, cursor, id))
		again := h.Run(`{find: "c", lsid: ` + id + `, txnNumber: {$numberLong: "1"}, autocommit: false}`)
		return more.Lookup("ok").Truthy(), again.Lookup("ok").Truthy()
	}
}

// local lists the ids of sessions.
func local(h *harness.Harness, spec string) (ids []string) {
	h.Helper()
	for _, d := range harness.Docs(h.OK(`{aggregate: 1, pipeline: [{$listLocalSessions: ` + spec + `}], cursor: {}}`)) {
		ids = append(ids, d.Lookup("_id").String())
	}
	return ids
}

// withUID adds the digest of the user nobody to an lsid.
func withUID(lsid string) string { return strings.TrimSuffix(lsid, "}") + ", uid: " + nobodyUID + "}" }

// killSessions ends the commands, cursors and transaction of a session, which stays
// usable; endSessions removes the session.
func TestKillSessions(t *testing.T) {
	for command, gone := range map[string]bool{
		`{killSessions: [` + firstID + `]}`:                                                         true,
		`{killSessions: []}`:                                                                        true,
		`{killSessions: [` + secondID + `]}`:                                                        false,
		`{killAllSessions: []}`:                                                                     true,
		`{killAllSessions: [{user: "a", db: "test"}]}`:                                              false,
		`{killAllSessionsByPattern: []}`:                                                            true,
		`{killAllSessionsByPattern: [{}]}`:                                                          true,
		`{killAllSessionsByPattern: [{lsid: ` + withUID(firstID) + `}]}`:                            true,
		`{killAllSessionsByPattern: [{lsid: ` + withUID(secondID) + `}]}`:                           false,
		`{killAllSessionsByPattern: [{lsid: ` + withUID(secondID) + `}, {uid: ` + nobodyUID + `}]}`: true,
		`{killAllSessionsByPattern: [{uid: ` + otherUID + `}]}`:                                     false,
		`{killAllSessionsByPattern: [{uid: ` + nobodyUID + `, lsid: ` + withUID(secondID) + `}]}`:   false,
		`{killAllSessionsByPattern: [{users: [{user: "a", db: "test"}]}]}`:                          false,
		`{killAllSessionsByPattern: [{roles: [{role: "root", db: "admin"}]}]}`:                      false,
		`{refreshSessions: [` + firstID + `]}`:                                                      false,
		`{endSessions: [` + secondID + `]}`:                                                         false,
		`{endSessions: [` + firstID + `]}`:                                                          true,
	} {
		h := harness.New(t)
		busy := busy(h, firstID)
		h.OK(command)
		if n := len(local(h, `{allUsers: true}`)); (n > 0) == strings.HasPrefix(command, `{endSessions: [`+firstID) {
			t.Errorf("%s left %d sessions", command, n)
		}
		if cursor, txn := busy(); cursor == gone || txn == gone {
			t.Errorf("%s left the cursor: %v, the transaction: %v", command, cursor, txn)
		}
	}
}

func TestSessionCommandRefusals(t *testing.T) {
	h := harness.New(t)
	list := []harness.Refusal{
		{DB: "test", Command: `{killAllSessions: 1}`, Code: 14, Text: "BSON field 'KillAllSessionsCmd.killAllSessions' is the wrong type 'int', expected type 'array'"},
		{DB: "test", Command: `{killAllSessions: [1]}`, Code: 14, Text: "BSON field 'KillAllSessionsCmd.killAllSessions.0' is the wrong type 'int', expected type 'object'"},
		{DB: "test", Command: `{killAllSessions: [{user: "a"}]}`, Code: 40414, Text: "BSON field 'KillAllSessionsCmd.killAllSessions.db' is missing but a required field"},
		{DB: "test", Command: `{killAllSessions: [], extra: 1}`, Code: 0, Text: ""}, // "strict: false" in kill_sessions.idl
		{DB: "test", Command: `{killAllSessionsByPattern: [{extra: 1}]}`, Code: 40415, Text: ""},
		{DB: "test", Command: `{killAllSessionsByPattern: [{uid: 1}]}`, Code: 14, Text: ""},
		{DB: "test", Command: `{killAllSessionsByPattern: [{uid: {$binary: {base64: "AA==", subType: "00"}}}]}`, Code: 12, Text: "Unsupported SHA256Block hash length: 1"},
		{DB: "test", Command: `{killAllSessionsByPattern: [{users: [{}]}]}`, Code: 40414, Text: "BSON field 'KillAllSessionsByPatternCmd.killAllSessionsByPattern.users.user' is missing but a required field"},
		{DB: "test", Command: `{killAllSessionsByPattern: [{users: [1]}]}`, Code: 14, Text: "BSON field 'KillAllSessionsByPatternCmd.killAllSessionsByPattern.users.0' is the wrong type 'int', expected type 'object'"},
		{DB: "test", Command: `{killAllSessionsByPattern: [{lsid: ` + firstID + `}]}`, Code: 40414, Text: "BSON field 'KillAllSessionsByPatternCmd.killAllSessionsByPattern.lsid.uid' is missing but a required field"},
		{DB: "test", Command: `{killAllSessionsByPattern: [{roles: [{role: 1}]}]}`, Code: 14, Text: ""},
		{DB: "test", Command: `{find: "c", lsid: {}}`, Code: 40414, Text: "BSON field 'OperationSessionInfo.lsid.id' is missing but a required field"},
		{DB: "test", Command: `{find: "c", lsid: {id: 1}}`, Code: 14, Text: ""},
		{DB: "test", Command: `{find: "c", lsid: {id: {$uuid: "00000000-0000-4000-8000-000000000001"}, extra: 1}}`, Code: 40415, Text: "BSON field 'OperationSessionInfo.lsid.extra' is an unknown field."},
		{DB: "test", Command: `{find: "c", lsid: {id: {$uuid: "00000000-0000-4000-8000-000000000001"}, txnNumber: {$numberLong: "1"}}}`, Code: 72, Text: "Cannot specify txnNumber in lsid without specifying txnUUID"},
		{DB: "test", Command: `{find: "c", lsid: {id: {$uuid: "00000000-0000-4000-8000-000000000001"}, uid: ` + nobodyUID + `}}`, Code: 0, Text: ""},
	}
	for _, c := range []struct{ command, name, elements string }{
		{"killSessions", "KillSessionsCmd", "killSessions"},
		{"endSessions", "endSessions", "endSessionsFromClient"},
		{"refreshSessions", "refreshSessions", "refreshSessionsFromClient"},
	} {
		path := "BSON field '" + c.name + "." + c.elements
		list = append(list,
			harness.Refusal{DB: "test", Command: `{` + c.command + `: 1}`, Code: 14, Text: "BSON field '" + c.name + "." + c.command + "' is the wrong type 'int', expected type 'array'"},
			harness.Refusal{DB: "test", Command: `{` + c.command + `: [1]}`, Code: 14, Text: path + ".0' is the wrong type 'int', expected type 'object'"},
			harness.Refusal{DB: "test", Command: `{` + c.command + `: [` + firstID + `, {}]}`, Code: 40414, Text: path + ".id' is missing but a required field"},
			harness.Refusal{DB: "test", Command: `{` + c.command + `: [{id: {$uuid: "00000000-0000-4000-8000-000000000001"}, x: 1}]}`, Code: 40415, Text: path + ".x' is an unknown field."},
		)
	}
	h.Refuses(list)
}

// Internal sessions of a cluster (with txnUUID) are separate sessions: each has its own
// transactions.
func TestChildSessions(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "c"}`)
	const id = `id: {$uuid: "00000000-0000-4000-8000-000000000001"}`
	const child = `{` + id + `, txnUUID: {$uuid: "00000000-0000-4000-8000-000000000009"}}`
	const retry = `{` + id + `, txnNumber: {$numberLong: "5"}, txnUUID: {$uuid: "00000000-0000-4000-8000-000000000009"}}`
	for i, lsid := range []string{`{` + id + `}`, child, retry} {
		h.OK(fmt.Sprintf(`{insert: "c", documents: [{_id: %d}], lsid: %s, txnNumber: {$numberLong: "1"}, autocommit: false, startTransaction: true}`, i, lsid))
	}
	for _, lsid := range []string{retry, `{` + id + `}`, child} {
		if r := h.Admin(`{commitTransaction: 1, lsid: ` + lsid + `, txnNumber: {$numberLong: "1"}, autocommit: false}`); !r.Lookup("ok").Truthy() {
			t.Error(r)
		}
	}
	if n := h.OK(`{count: "c"}`).Lookup("n").Int32(); n != 3 {
		t.Errorf("%d documents", n)
	}
	if n := len(harness.Docs(h.RunOn("config", harness.Relaxed(`{find: "transactions", filter: {state: "committed"}}`)))); n != 3 {
		t.Errorf("%d records", n)
	}
	if ids := local(h, `{}`); len(ids) != 3 {
		t.Error(ids)
	}
	again, err := harness.NewService(kernel.Options{Engine: h.Svc.Engine, Clock: h.Clock, TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer housekeeping.Close(again)
	h2 := &harness.Harness{TB: t, Svc: again, Clock: h.Clock, Conn: again.NewConn("127.0.0.1:1", "127.0.0.1:27017")}
	for _, lsid := range []string{retry, `{` + id + `}`, child} {
		if r := h2.Admin(`{commitTransaction: 1, lsid: ` + lsid + `, txnNumber: {$numberLong: "1"}, autocommit: false}`); !r.Lookup("ok").Truthy() {
			t.Errorf("after a restart %s", r)
		}
	}
}

// Which users may see and kill the sessions of others. The digest of a user is that of
// "name@db".
func TestSessionsOfUsers(t *testing.T) {
	h := harness.NewAuth(t)
	as := func(name string, roles ...string) *harness.Harness {
		u := h.User(name, roles...)
		one := &harness.Harness{TB: t, Svc: h.Svc, Clock: h.Clock, Conn: h.Svc.NewConn("10.0.0.1:1", "127.0.0.1:27017")}
		one.Conn.User = u
		return one
	}
	ann, bob, root := as("ann", "readWriteAnyDatabase@admin"), as("bob", "readWriteAnyDatabase@admin"), as("root", "root@admin")
	h.Svc.Options.Security.Auth = true
	digest := sha256.Sum256([]byte("ann@admin"))
	uid := value.Binary(0, digest[:]).JSON()
	other := sha256.Sum256([]byte("bob@admin"))
	bobUID := value.Binary(0, other[:]).JSON()
	annBusy, bobBusy := busy(ann, firstID), busy(bob, secondID)
	if got := local(ann, `{}`); len(got) != 1 || !strings.Contains(got[0], value.Binary(0, digest[:]).String()) {
		t.Errorf("ann sees %v", got)
	}
	bob.Refuses([]harness.Refusal{
		{DB: "test", Command: `{aggregate: 1, pipeline: [{$listLocalSessions: {allUsers: true}}], cursor: {}}`, Code: 13, Text: ""},
		{DB: "test", Command: `{aggregate: 1, pipeline: [{$listLocalSessions: {users: [{user: "ann", db: "admin"}]}}], cursor: {}}`, Code: 13, Text: ""},
		{DB: "admin", Command: `{killAllSessions: []}`, Code: 13, Text: ""},
		{DB: "test", Command: `{find: "c", lsid: {id: {$uuid: "00000000-0000-4000-8000-000000000001"}, uid: ` + uid + `}}`, Code: 13, Text: "Unauthorized to set user digest in LogicalSessionId"},
		{DB: "test", Command: `{killSessions: [{id: {$uuid: "00000000-0000-4000-8000-000000000001"}, uid: ` + uid + `}]}`, Code: 13, Text: "Unauthorized to set user digest in LogicalSessionId"},
		{DB: "test", Command: `{killSessions: [` + firstID + `]}`, Code: 0, Text: ""}, // it has none of that id
	})
	if got := local(root, `{users: [{user: "ann", db: "admin"}]}`); len(got) != 1 {
		t.Errorf("root sees %v of ann", got)
	}
	if got := local(root, `{allUsers: true}`); len(got) != 2 {
		t.Errorf("root sees %v", got)
	}
	root.Refuses([]harness.Refusal{
		{DB: "test", Command: `{killAllSessionsByPattern: [{users: [{user: "ann", db: "admin"}]}]}`, Code: 13, Text: "Not authorized to impersonate in killAllSessionsByPattern"},
		{DB: "test", Command: `{killAllSessionsByPattern: [{uid: ` + uid + `, lsid: ` + strings.TrimSuffix(secondID, "}") + `, uid: ` + bobUID + `}}]}`, Code: 0, Text: ""},
	})
	if cursor, txn := annBusy(); !cursor || !txn {
		t.Error("what runs for ann has ended")
	}
	root.OK(`{killSessions: [{id: {$uuid: "00000000-0000-4000-8000-000000000001"}, uid: ` + uid + `}]}`)
	if cursor, txn := annBusy(); cursor || txn {
		t.Error("what runs for ann goes on")
	}
	h.Svc.Options.Security.Auth = false // who may impersonate others
	h.OK(`{killAllSessionsByPattern: [{roles: [{role: "root", db: "admin"}]}]}`)
	h.Svc.Options.Security.Auth = true
	if cursor, txn := bobBusy(); !cursor || !txn {
		t.Error("what runs for bob has ended")
	}
	h.Svc.Options.Security.Auth = false
	h.OK(`{killAllSessionsByPattern: [{roles: [{role: "readWriteAnyDatabase", db: "admin"}]}]}`)
	h.Svc.Options.Security.Auth = true
	if cursor, txn := bobBusy(); cursor || txn {
		t.Error("what runs for bob goes on")
	}
}

// Commands that exist only with enableTestCommands.
func TestSessionCacheCommands(t *testing.T) {
	h := harness.NewTestCommands(t)
	h.OK(`{startSession: 1}`)
	h.OK(`{refreshLogicalSessionCacheNow: 1}`)
	if n := len(harness.Docs(h.RunOn("config", harness.Relaxed(`{aggregate: "system.sessions", pipeline: [{$listSessions: {}}], cursor: {}}`)))); n != 1 {
		t.Errorf("%d sessions", n)
	}
	h.OK(`{insert: "c", documents: [{}], lsid: ` + firstID + `, txnNumber: {$numberLong: "1"}}`)
	h.OK(`{endSessions: [` + firstID + `]}`)
	h.OK(`{reapLogicalSessionCacheNow: 1}`)
	harness.New(t).Refuses([]harness.Refusal{
		{DB: "admin", Command: `{refreshLogicalSessionCacheNow: 1}`, Code: 59, Text: "no such command: 'refreshLogicalSessionCacheNow'"},
		{DB: "admin", Command: `{reapLogicalSessionCacheNow: 1}`, Code: 59, Text: ""},
	})
}
