package users_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/xdg-go/scram"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/auth"
	"github.com/duskdb/duskdb/value"
)

// client logs in by SCRAM as drivers do (the authentication specification).
type client struct {
	h         *harness.AuthHarness
	mechanism string
	db        string
	text      bool // the payloads as base64 text, not as bytes
	skip      bool // without the empty exchange at the end
}

func (c client) payload(text string) value.Value {
	if c.text {
		return value.String(base64.StdEncoding.EncodeToString([]byte(text)))
	}
	return value.Binary(0, []byte(text))
}

// read returns the payload of a reply, which comes in the form of the request.
func (c client) read(reply value.Doc) (string, error) {
	p := reply.Lookup("payload")
	if c.text != (p.Kind() == value.KindString) {
		return "", fmt.Errorf("the payload of %s has the wrong form", reply)
	}
	if !c.text {
		_, data := p.Binary()
		return string(data), nil
	}
	data, err := base64.StdEncoding.DecodeString(p.Str())
	return string(data), err
}

// login runs a whole conversation and returns the last reply.
func (c client) login(name, password string) (value.Doc, error) {
	gen, secret := scram.SHA256, password
	if c.mechanism == auth.SHA1 {
		gen, secret = scram.SHA1, auth.PasswordDigest(name, password)
	}
	driver, err := gen.NewClientUnprepped(name, secret, "")
	if err != nil {
		return nil, err
	}
	talk := driver.NewConversation()
	msg, _ := talk.Step("")
	start := value.NewDoc("saslStart", value.Int32(1), "mechanism", value.String(c.mechanism), "payload", c.payload(msg),
		"options", value.Document(value.NewDoc("skipEmptyExchange", value.Bool(c.skip))))
	reply := c.h.RunOn(c.db, start)
	for i := 0; i < 3; i++ {
		if !reply.Lookup("ok").Truthy() {
			return reply, nil
		}
		answer, err := c.read(reply)
		if err != nil {
			return reply, err
		}
		if i < 2 {
			if msg, err = talk.Step(answer); err != nil {
				return reply, err
			}
		}
		if reply.Lookup("done").Bool() {
			return reply, nil
		}
		reply = c.h.RunOn(c.db, value.NewDoc("saslContinue", value.Int32(1), "conversationId", reply.Lookup("conversationId"), "payload", c.payload(msg)))
	}
	return reply, errors.New("the conversation has no end")
}

// loggedIn returns the users of the connection, as connectionStatus has them.
func loggedIn(h *harness.AuthHarness) string {
	h.Helper()
	var names []string
	for v := range h.RunOn("admin", harness.Relaxed(`{connectionStatus: 1}`)).Lookup("authInfo").Doc().Lookup("authenticatedUsers").Doc().Values() {
		names = append(names, v.Doc().Lookup("user").Str()+"@"+v.Doc().Lookup("db").Str())
	}
	return strings.Join(names, " ")
}

func TestSASL(t *testing.T) {
	h := harness.NewAuth(t)
	h.MustOn("shop", `{"createUser": "ann", "pwd": "päss", "roles": ["read"]}`)
	for _, c := range []client{
		{h, auth.SHA1, "shop", false, false}, {h, auth.SHA256, "shop", false, false}, {h, auth.SHA256, "shop", true, false}, {h, auth.SHA256, "shop", false, true},
	} {
		h.Conn = h.Svc.NewConn("10.0.0.1:1", "127.0.0.1:27017")
		if reply, err := c.login("ann", "wrong"); err != nil || reply.Lookup("code").Int32() != 18 || reply.Lookup("errmsg").Str() != "Authentication failed." || loggedIn(h) != "" {
			t.Errorf("%v: the wrong password answered %s, %v", c, reply, err)
		}
		if reply, err := c.login("ann", "päss"); err != nil || !reply.Lookup("done").Bool() || reply.Lookup("conversationId").Int32() != 1 || loggedIn(h) != "ann@shop" {
			t.Errorf("%v: the password answered %s, %v; logged in: %s", c, reply, err, loggedIn(h))
		}
		if reply, err := c.login("ann", "päss"); err != nil || !reply.Lookup("ok").Truthy() { // once more is no harm
			t.Errorf("%v: again answered %s, %v", c, reply, err)
		}
		h.RunOn("other", harness.Relaxed(`{logout: 1}`)) // of another database
		if who := loggedIn(h); who != "ann@shop" {
			t.Errorf("%v: after the logout of another database: %q", c, who)
		}
		if reply := h.RunOn("shop", harness.Relaxed(`{logout: 1}`)); !reply.Lookup("ok").Truthy() || loggedIn(h) != "" {
			t.Errorf("%v: logout answered %s; logged in: %s", c, reply, loggedIn(h))
		}
	}
}

// One connection is one user's (5626701), and has one conversation at a time, on
// one database.
func TestSASLRefusals(t *testing.T) {
	h := harness.NewAuth(t)
	h.MustOn("admin", `{"createUser": "ann", "pwd": "p", "roles": []}`)
	h.MustOn("admin", `{"createUser": "bob", "pwd": "p", "roles": []}`)
	const start = `{saslStart: 1, mechanism: "SCRAM-SHA-256", payload: {$binary: {base64: "biwsbj1hbm4scj1hYmNkZWZnaA==", subType: "00"}}}` // n,,n=ann,r=abcdefgh
	const next = `{saslContinue: 1, conversationId: 1, payload: {$binary: {base64: "eA==", subType: "00"}}}`
	h.Refuses([]harness.Refusal{
		{DB: "admin", Command: next, Code: 17, Text: "No SASL session state found"},
		{DB: "admin", Command: start},
		{DB: "admin", Command: strings.Replace(next, "conversationId: 1", "conversationId: 2", 1), Code: 17, Text: "sasl: Mismatched conversation id"},
		{DB: "admin", Command: start},
		{DB: "other", Command: next, Code: 17, Text: "Attempt to switch database target during SASL authentication."},
		{DB: "admin", Command: next, Code: 17, Text: "No SASL session state found"},
		{DB: "admin", Command: start},
		{DB: "admin", Command: next, Code: 18, Text: "Authentication failed."}, // no proof
		{DB: "admin", Command: next, Code: 17, Text: "No SASL session state found"},
		{DB: "admin", Command: start},
		{DB: "admin", Command: `{logout: 1}`},
		{DB: "admin", Command: next, Code: 17},
		{DB: "admin", Command: `{saslStart: 1, mechanism: "FLY", payload: ""}`, Code: 334, Text: "Received authentication for mechanism FLY which is unknown or not enabled"},
		{DB: "admin", Command: `{saslStart: 1, mechanism: "SCRAM-SHA-256", payload: "*"}`, Code: 9},
		{DB: "admin", Command: `{saslStart: 1, mechanism: "SCRAM-SHA-256", payload: 1}`, Code: 14},
		{DB: "admin", Command: `{saslStart: 1, payload: ""}`, Code: 40414},
		{DB: "admin", Command: `{saslContinue: 1, payload: ""}`, Code: 40414},
		{DB: "admin", Command: `{connectionStatus: 1, fly: 1}`, Code: 40415},
	})
	c := client{h, auth.SHA256, "admin", false, true}
	if reply, err := c.login("ann", "p"); err != nil || !reply.Lookup("ok").Truthy() {
		t.Fatalf("ann: %s, %v", reply, err)
	}
	if reply, err := c.login("bob", "p"); err != nil || reply.Lookup("code").Int32() != 5626701 || loggedIn(h) != "ann@admin" {
		t.Errorf("bob on ann's connection: %s, %v", reply, err)
	}
}

// connectionStatus names the user's roles, with those that they inherit, and on
// request what they allow (the manual's page on it).
func TestConnectionStatus(t *testing.T) {
	h := harness.NewAuth(t)
	h.MustOn("shop", `{"createRole": "clerk", "roles": [], "privileges": [{"resource": {"db": "shop", "collection": "orders"}, "actions": ["find", "insert"]}]}`)
	h.MustOn("shop", `{"createRole": "boss", "roles": ["clerk"], "privileges": []}`)
	h.User("ann", "boss@shop")
	status := func(command string) string {
		h.Helper()
		return h.RunOn("test", harness.Relaxed(command)).Lookup("authInfo").Doc().CanonicalJSON()
	}
	want := func(text string) string { return harness.Relaxed(text).CanonicalJSON() }
	if got := status(`{connectionStatus: 1}`); got != want(`{authenticatedUsers: [], authenticatedUserRoles: []}`) {
		t.Errorf("nobody: %s", got)
	}
	h.Conn.User = h.Find("ann")
	const who = `{authenticatedUsers: [{user: "ann", db: "admin"}], authenticatedUserRoles: [{role: "boss", db: "shop"}, {role: "clerk", db: "shop"}]`
	if got := status(`{connectionStatus: 1}`); got != want(who+`}`) {
		t.Errorf("ann: %s", got)
	}
	if got := status(`{connectionStatus: 1, showPrivileges: true}`); got != want(who+`, authenticatedUserPrivileges: [{resource: {db: "shop", collection: "orders"}, actions: ["find", "insert"]}]}`) {
		t.Errorf("ann's privileges: %s", got)
	}
	h.MustOn("admin", `{"dropUser": "ann"}`)
	if who := loggedIn(h); who != "" {
		t.Errorf("a user who is gone is logged in: %s", who)
	}
}

// Logins by certificate: the name is that of the certificate, the database is
// $external. They can be sent along with hello.
func TestX509(t *testing.T) {
	const subject = "CN=ann,OU=clients,O=shop"
	create := `{"createUser": "` + subject + `", "roles": [{"role": "read", "db": "shop"}]}`
	h := harness.NewAuth(t)
	if err := h.Svc.Params.Set(h.Svc.Params.Lines["authenticationMechanisms"], harness.Relaxed(`{l: ["MONGODB-X509", "SCRAM-SHA-1"]}`).Lookup("l")); err != nil {
		h = &harness.AuthHarness{Harness: harness.NewWith(t, kernel.Options{Parameters: map[string]string{"authenticationMechanisms": "MONGODB-X509,SCRAM-SHA-1"}})}
	}
	h.Refuses([]harness.Refusal{
		{DB: "$external", Command: `{authenticate: 1}`, Code: 2, Text: "Auth mechanism not specified"},
		{DB: "$external", Command: `{authenticate: 1, mechanism: "MONGODB-CR"}`, Code: 2, Text: "Unsupported mechanism: MONGODB-CR"},
		{DB: "admin", Command: `{authenticate: 1, mechanism: "MONGODB-X509"}`, Code: 17, Text: "X.509 authentication must always use the $external database."},
		{DB: "$external", Command: `{authenticate: 1, mechanism: "MONGODB-X509"}`, Code: 18, Text: "No verified subject name available from client"},
		{DB: "$external", Command: `{authenticate: 1, mechanism: 1}`, Code: 14},
	})
	h.Conn.SetSubject(subject)
	h.Refuses([]harness.Refusal{
		{DB: "$external", Command: `{authenticate: 1, mechanism: "MONGODB-X509", user: "CN=bob"}`, Code: 18, Text: "There is no x.509 client certificate matching the user."},
		{DB: "$external", Command: `{authenticate: 1, mechanism: "MONGODB-X509"}`, Code: 18, Text: "Authentication failed."}, // nobody of that name
	})
	h.MustOn("$external", create)
	for _, user := range []string{``, `, user: "` + subject + `"`} {
		reply := h.RunOn("$external", harness.Relaxed(`{authenticate: 1, mechanism: "MONGODB-X509"`+user+`}`))
		if without(harness.Plain(reply), "ok") != harness.Relaxed(`{dbname: "$external", user: "`+subject+`"}`).CanonicalJSON() || loggedIn(h) != subject+"@$external" {
			t.Errorf("authenticate%s answered %s; logged in: %s", user, reply, loggedIn(h))
		}
		h.RunOn("$external", harness.Relaxed(`{logout: 1}`))
	}
	reply := h.Admin(`{hello: 1, speculativeAuthenticate: {authenticate: 1, mechanism: "MONGODB-X509"}}`)
	if got := reply.Lookup("speculativeAuthenticate").Doc().Lookup("user").Str(); got != subject || loggedIn(h) != subject+"@$external" {
		t.Errorf("hello answered %s; logged in: %s", reply, loggedIn(h))
	}
}

// without is a document in JSON without some fields.
func without(d value.Doc, names ...string) string {
	b := value.NewBuilder()
	for name, v := range d.All() {
		if !strings.Contains(" "+strings.Join(names, " ")+" ", " "+name+" ") {
			b.Append(name, v)
		}
	}
	return b.Doc().CanonicalJSON()
}

// hello lists the mechanisms of a user, and all mechanisms for a user that does not
// exist, so that clients cannot find out which users exist. If the login in hello fails
// or is invalid, the reply does not have the field.
func TestHelloAuth(t *testing.T) {
	h := harness.NewAuth(t)
	h.MustOn("shop", `{"createUser": "ann", "pwd": "p", "roles": [], "mechanisms": ["SCRAM-SHA-1"]}`)
	for asked, want := range map[string]string{`"shop.ann"`: "SCRAM-SHA-1", `"shop.bob"`: "SCRAM-SHA-1 SCRAM-SHA-256", `{user: "ann", db: "shop"}`: "SCRAM-SHA-1"} {
		var names []string
		for v := range h.Admin(`{hello: 1, saslSupportedMechs: ` + asked + `}`).Lookup("saslSupportedMechs").Doc().Values() {
			names = append(names, v.Str())
		}
		slices.Sort(names)
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %s, want %s", asked, got, want)
		}
	}
	h.Refuses([]harness.Refusal{
		{DB: "admin", Command: `{hello: 1, saslSupportedMechs: 1}`, Code: 14},
		{DB: "admin", Command: `{hello: 1, saslSupportedMechs: null}`, Code: 14},
		{DB: "admin", Command: `{hello: 1, saslSupportedMechs: ["admin.ann"]}`, Code: 14},
		{DB: "admin", Command: `{hello: 1, saslSupportedMechs: {db: "admin"}}`, Code: 2},
		{DB: "admin", Command: `{hello: 1, saslSupportedMechs: {db: "admin", user: 1}}`, Code: 2},
		{DB: "admin", Command: `{hello: 1, saslSupportedMechs: {db: "admin", user: "ann", role: "x"}}`, Code: 2},
		{DB: "admin", Command: `{hello: 1, saslSupportedMechs: "ann"}`, Code: 2},
	})
	for _, login := range []string{`{ping: 1}`, `{}`, `{saslStart: 1}`, `{saslStart: 1, mechanism: "FLY", payload: "", db: "admin"}`, `{authenticate: 1}`, `{authenticate: 1, mechanism: "MONGODB-X509"}`} {
		if reply := h.Admin(`{hello: 1, speculativeAuthenticate: ` + login + `}`); !reply.Lookup("ok").Truthy() || reply.Has("speculativeAuthenticate") {
			t.Errorf("%s answered %s", login, reply)
		}
	}
}
