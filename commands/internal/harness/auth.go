package harness

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/access"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/auth"
	"github.com/duskdb/duskdb/value"
)

// As runs a command as a user with access control on.
func (h *AuthHarness) As(name, db, command string) value.Doc {
	h.Helper()
	conn := h.Svc.NewConn("10.0.0.1:5000", "127.0.0.1:27017")
	conn.SetUser(h.Find(name))
	h.Svc.Options.Security.Auth = true
	admin := h.Conn
	h.Conn = conn
	defer func() { h.Conn = admin }()
	return h.RunOn(db, Relaxed(command))
}

// CursorOf opens a cursor as a user and returns its id.
func (h *AuthHarness) CursorOf(name, db, command string) int64 {
	h.Helper()
	reply := h.As(name, db, command)
	id := reply.Lookup("cursor").Doc().Lookup("id").Int64()
	if id == 0 {
		h.Fatalf("%s answered %s", command, reply)
	}
	return id
}

// ShownOps lists the operations that $currentOp shows a user, without the command itself:
// the type of each and what it belongs to.
func (h *AuthHarness) ShownOps(name, command string) string {
	h.Helper()
	reply := h.As(name, "admin", command)
	if !reply.Lookup("ok").Truthy() {
		h.Fatalf("%s answered %s", command, reply)
	}
	var list []string
	for v := range reply.Lookup("inprog").Doc().Values() {
		if d := v.Doc(); d.Lookup("type").Str() != "op" {
			list = append(list, d.Lookup("type").Str())
		}
	}
	for _, d := range Docs(reply) {
		if d.Lookup("type").Str() != "op" {
			list = append(list, strings.TrimSpace(d.Lookup("type").Str()+" "+d.Lookup("ns").Str()))
		}
	}
	return strings.Join(list, ", ")
}

// CodeOf runs a command without access control and returns the code of its error,
// 0 if it succeeded, and the reply.
func (h *AuthHarness) CodeOf(db, command string) (int32, value.Doc) {
	h.Helper()
	h.Svc.Options.Security.Auth = false
	reply := h.RunOn(db, value.MustJSON(command))
	return reply.Lookup("code").Int32(), reply
}

// AuthHarness is a harness with access control. Its users need not log in.
type AuthHarness struct{ *Harness }

// NewAuth returns a harness for tests of access control, with cheap passwords.
func NewAuth(tb testing.TB) *AuthHarness {
	h := &AuthHarness{New(tb)}
	for _, name := range []string{"scramIterationCount", "scramSHA256IterationCount"} {
		if err := h.Svc.Params.Set(h.Svc.Params.Lines[name], value.Int32(5000)); err != nil {
			tb.Fatal(err)
		}
	}
	return h
}

// User creates a user with the given roles, each written as role@db.
func (h *AuthHarness) User(name string, roles ...string) *auth.User {
	h.Helper()
	var list []string
	for _, r := range roles {
		role, db, _ := strings.Cut(r, "@")
		list = append(list, fmt.Sprintf(`{"role": %q, "db": %q}`, role, db))
	}
	h.MustOn("admin", fmt.Sprintf(`{"createUser": %q, "pwd": "p", "roles": [%s], "mechanisms": ["SCRAM-SHA-1"]}`, name, strings.Join(list, ",")))
	return h.Find(name)
}

// Find returns a user of the database admin.
func (h *AuthHarness) Find(name string) *auth.User {
	h.Helper()
	u, err := h.Svc.Auth.Find(context.Background(), auth.Name{Name: name, DB: "admin"})
	if err != nil || u == nil {
		h.Fatalf("user %s: %v", name, err)
	}
	return u
}

// MustOn runs a command, which must succeed, without access control.
func (h *AuthHarness) MustOn(db, command string) value.Doc {
	h.Helper()
	h.Svc.Options.Security.Auth = false
	reply := h.RunOn(db, value.MustJSON(command))
	if !reply.Lookup("ok").Truthy() {
		h.Fatalf("%s\nanswered %s", command, reply)
	}
	return reply
}

// Gate returns the error of authorising a command for a user, without running it.
func (h *AuthHarness) Gate(u *auth.User, db, command string) error {
	h.Helper()
	h.Svc.Options.Security.Auth = true
	body := value.MustJSON(command)
	name, _ := body.First()
	cmd := h.Svc.Table[name]
	if cmd == nil {
		h.Fatalf("no command %s", name)
	}
	c := &kernel.Call{Ctx: context.Background(), Svc: h.Svc, Conn: &kernel.Conn{Endpoint: kernel.Endpoint{Remote: "10.0.0.1:5000"}, User: u}, Cmd: cmd, Request: kernel.Request{Body: body, DB: db}}
	return access.Authorize(c)
}

// Open lists the commands that every logged-in user may run: they have neither an
// action in the table nor a rule.
var Open = map[string]bool{
	"getMore": true, "startSession": true, "refreshSessions": true, "killSessions": true, "features": true,
	"commitTransaction": true, "abortTransaction": true, "endSessions": true, "whatsmysni": true, "availableQueryOptions": true,
	"isdbgrid": true, "buildInfo": true,
}
