package commands_test

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
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
