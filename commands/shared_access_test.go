package commands_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/session"
	"github.com/duskdb/duskdb/value"
)

// All servers answer an unknown user with the same salt, so that a name cannot be tried by
// asking two of them.
func TestSharedStrangers(t *testing.T) {
	t.Parallel()
	a, b, _ := serversOver(t)
	salt := func(on server, user string) string {
		t.Helper()
		h := &harness.Harness{TB: t, Svc: on.Svc, Conn: on.Svc.NewConn("127.0.0.1:2", "127.0.0.1:27017")}
		reply := h.RunOn("admin", value.NewDoc("saslStart", value.Int32(1), "mechanism", value.String("SCRAM-SHA-256"), "payload", value.Binary(0, []byte("n,,n="+user+",r=abcdefgh"))))
		_, payload := reply.Lookup("payload").Binary()
		_, after, ok := strings.Cut(string(payload), ",s=")
		if !ok {
			t.Fatalf("saslStart answered %s", reply)
		}
		s, _, _ := strings.Cut(after, ",")
		return s
	}
	for _, user := range []string{"ghost", "spectre"} {
		if x, y, z := salt(a, user), salt(b, user), salt(a.another(), user); x != y || x != z {
			t.Errorf("%s has the salts %s, %s and %s", user, x, y, z)
		}
	}
	if salt(a, "ghost") == salt(a, "spectre") {
		t.Error("two strangers have the same salt")
	}
	if docs := harness.Docs(a.RunOn("local", harness.Relaxed(`{find: "$secrets"}`))); len(docs) > 0 {
		t.Errorf("clients can read %s", docs)
	}
}

// killSessions and its kin end what runs in sessions on all servers.
func TestSharedKillSessions(t *testing.T) {
	t.Parallel()
	a, b, _ := serversOver(t)
	a.OK(`{insert: "c", documents: [{_id: 1}, {_id: 2}, {_id: 3}]}`)
	uid := session.Key{}.Digest()
	lsid := strings.TrimPrefix(harness.Lsid, `"lsid": `)
	digest := `, uid: ` + harness.JSONOf(value.Binary(0, uid[:])) + `}`
	for i, kill := range []string{
		`{killAllSessions: []}`,
		`{killSessions: []}`,
		`{killSessions: [` + lsid + `]}`,
		`{killAllSessionsByPattern: [{lsid: ` + strings.TrimSuffix(lsid, "}") + digest + `}]}`,
		`{killAllSessionsByPattern: [{uid: ` + harness.JSONOf(value.Binary(0, uid[:])) + `}]}`,
	} {
		a.OK(harness.InTxnArgs(fmt.Sprintf(`{"insert": "c", "documents": [{"_id": "%d"}]}`, i), i+1, true))
		cursor := a.OK(`{find: "c", batchSize: 1, ` + harness.Lsid + `}`).Lookup("cursor").Doc().Lookup("id").Int64()
		// What does not fit stays.
		if reply := b.Admin(`{killAllSessionsByPattern: [{lsid: {id: {$uuid: "00000000-0000-4000-8000-000000000009"}` + digest + `}, {users: [{user: "x", db: "y"}]}]}`); !reply.Lookup("ok").Truthy() {
			t.Fatal(reply)
		}
		if reply := b.Admin(kill); !reply.Lookup("ok").Truthy() {
			t.Fatal(reply)
		}
		inTime(t, kill, func() {
			for open := true; open; {
				open = a.OK(`{serverStatus: 1}`).Lookup("metrics").Doc().Lookup("cursor").Doc().Lookup("open").Doc().Lookup("total").SafeInt64() > 0
				for _, ss := range a.Svc.Sessions.List() {
					open = open || ss.InTransaction()
				}
				<-clock.System().After(time.Millisecond)
			}
		})
		if reply := a.EndTxn("commitTransaction", i+1); reply.Lookup("code").Int32() != 251 {
			t.Errorf("%s: the commit answered %s", kill, reply)
		}
		if reply := a.Run(fmt.Sprintf(`{getMore: {$numberLong: "%d"}, collection: "c", `+harness.Lsid+`}`, cursor)); reply.Lookup("code").Int32() != 43 {
			t.Errorf("%s: the cursor answered %s", kill, reply)
		}
	}
	a.OK(harness.InTxnArgs(`{"insert": "c", "documents": [{"_id": "last"}]}`, 9, true))
	b.Admin(`{killSessions: [{id: {$uuid: "00000000-0000-4000-8000-000000000009"}}]}`)
	b.Admin(`{killAllSessions: [{user: "x", db: "y"}]}`)
	if reply := a.EndTxn("commitTransaction", 9); !reply.Lookup("ok").Truthy() {
		t.Errorf("a session that was not killed: the commit answered %s", reply)
	}
}
