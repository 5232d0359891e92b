package server_test

import (
	"encoding/binary"
	"maps"
	"net"
	"strings"
	"testing"

	"github.com/xdg-go/scram"

	"github.com/duskdb/duskdb/server"
	"github.com/duskdb/duskdb/value"
	"github.com/duskdb/duskdb/wire"
)

// legacy is a client that only knows OP_QUERY.
type legacy struct {
	testing.TB
	nc     net.Conn
	reader *wire.Reader
}

func dialLegacy(t *testing.T, s *server.Server) *legacy {
	nc, _ := dial(t, s)
	return &legacy{t, nc, wire.NewReader(nc)}
}

// ask sends a command in an OP_QUERY and returns the reply.
func (l *legacy) ask(db string, command value.Doc) value.Doc {
	l.Helper()
	return l.query(db+".$cmd", command)
}

// query sends an OP_QUERY and returns the document of the reply.
func (l *legacy) query(ns string, command value.Doc) value.Doc {
	l.Helper()
	b := append(wire.BeginQuery(nil, 1, 0, ns), command...)
	return l.exchange(wire.FinishQuery(b, 0))
}

// exchange sends a message and returns the document of the reply.
func (l *legacy) exchange(message []byte) value.Doc {
	l.Helper()
	if _, err := l.nc.Write(message); err != nil {
		l.Fatal(err)
	}
	m, err := l.reader.ReadMessage()
	if err != nil {
		l.Fatal(err)
	}
	for d := range m.(*wire.Reply).Docs.Docs() {
		return d.Clone()
	}
	l.Fatal("no document")
	return nil
}

// login logs in by SCRAM, with OP_QUERY alone.
func (l *legacy) login(name, password string) value.Doc {
	l.Helper()
	client, err := scram.SHA256.NewClient(name, password, "")
	if err != nil {
		l.Fatal(err)
	}
	talk := client.NewConversation()
	text, _ := talk.Step("")
	reply := l.ask("admin", value.NewDoc("saslStart", value.Int32(1), "mechanism", value.String("SCRAM-SHA-256"), "payload", value.Binary(0, []byte(text))))
	for reply.Lookup("ok").Truthy() && !reply.Lookup("done").Truthy() {
		_, payload := reply.Lookup("payload").Binary()
		if text, err = talk.Step(string(payload)); err != nil {
			l.Fatal(err)
		}
		reply = l.ask("admin", value.NewDoc("saslContinue", value.Int32(1), "conversationId", reply.Lookup("conversationId"), "payload", value.Binary(0, []byte(text))))
	}
	return reply
}

// An old driver opens with OP_QUERY alone: it asks for the version, which a parameter
// allows, logs in, and may be routed as through a mongos.
func TestLegacyLogin(t *testing.T) {
	parameters := maps.Clone(cheap)
	parameters["buildInfoAuthMode"] = "versionOnlyIfPreAuth"
	s := startServer(t, server.Config{Auth: true, RootUser: "root", RootPassword: "secret", Parameters: parameters})
	l := dialLegacy(t, s)
	if reply := l.ask("admin", command(`{"buildinfo": 1}`)); reply.Lookup("version").Str() == "" || !reply.Lookup("ok").Truthy() {
		t.Errorf("buildinfo: %s", reply)
	}
	wrapped := command(`{"$query": {"buildInfo": 1}, "$readPreference": {"mode": "secondaryPreferred"}}`)
	if reply := l.ask("admin", wrapped); reply.Lookup("version").Str() == "" {
		t.Errorf("wrapped: %s", reply)
	}
	if reply := l.ask("admin", command(`{"_isSelf": 1}`)); !reply.Lookup("ok").Truthy() {
		t.Errorf("_isSelf: %s", reply)
	}
	if reply := l.ask("$external", command(`{"authenticate": 1, "mechanism": "MONGODB-X509"}`)); reply.Lookup("code").Int32() != 18 {
		t.Errorf("authenticate without a certificate: %s", reply)
	}
	if reply := l.login("root", "wrong"); reply.Lookup("code").Int32() != 18 {
		t.Errorf("wrong password: %s", reply)
	}
	if reply := l.login("root", "secret"); !reply.Lookup("ok").Truthy() {
		t.Fatalf("login: %s", reply)
	}
	c := wire.NewClient(l.nc)
	status := mustRoundTrip(t, c, command(`{"connectionStatus": 1, "$db": "admin"}`))
	if !strings.Contains(status.String(), `user: "root"`) {
		t.Errorf("not logged in: %s", status)
	}
}

// Every other command is refused, in the client's spelling, before and after the login.
func TestLegacyCommandsRefused(t *testing.T) {
	s := startServer(t, server.Config{Auth: true, RootUser: "root", RootPassword: "secret", Parameters: cheap})
	l := dialLegacy(t, s)
	for range 2 {
		for _, name := range []string{
			"find", "insert", "listDatabases", "getMore", "ping", "getnonce", "logout", "connectionStatus", "saslstart", "BuildInfo", "Hello", "IsMaster", "nothing", "availablequeryoptions", "collstats",
		} {
			reply := l.ask("admin", value.NewDoc(name, value.Int32(1)))
			want := "Unsupported OP_QUERY command: " + name + ". The client driver may require an upgrade. For more details see https://dochub.mongodb.org/core/legacy-opcode-removal"
			if reply.Lookup("code").Int32() != 352 || reply.Lookup("codeName").Str() != "UnsupportedOpQueryCommand" || reply.Lookup("errmsg").Str() != want {
				t.Errorf("%s: %s", name, reply)
			}
		}
		l.login("root", "secret")
	}
}

// A command by OP_QUERY asks for one document, has its database in the namespace, and
// cannot stream; the connection goes on.
func TestLegacyFormRefused(t *testing.T) {
	l := dialLegacy(t, startServer(t, server.Config{}))
	const flags, numberToReturn = wire.HeaderSize, wire.HeaderSize + 4 + len("admin.$cmd") + 1 + 4
	hello := command(`{"hello": 1}`)
	for _, c := range []struct {
		command value.Doc
		at      int
		to      uint32
		code    int32
		text    string
	}{
		{hello, numberToReturn, 0, 16979, "Bad numberToReturn (0) for $cmd type ns - can only be 1 or -1"},
		{hello, numberToReturn, 2, 16979, "Bad numberToReturn (2) for $cmd type ns - can only be 1 or -1"},
		{command(`{"nothing": 1}`), numberToReturn, 0, 16979, "Bad numberToReturn (0) for $cmd type ns - can only be 1 or -1"},
		{hello, flags, uint32(wire.Exhaust), 18527, "The 'exhaust' OP_QUERY flag is invalid for commands: admin.$cmd { hello: 1 }"},
		{command(`{"hello": 1, "$db": "admin"}`), numberToReturn, 1, 40621, "$db is not allowed in OP_QUERY requests"},
		{hello, numberToReturn, 1, 0, ""},
	} {
		b := append(wire.BeginQuery(nil, 1, 0, "admin.$cmd"), c.command...)
		binary.LittleEndian.PutUint32(b[c.at:], c.to)
		reply := l.exchange(wire.FinishQuery(b, 0))
		if reply.Lookup("code").Int32() != c.code || reply.Lookup("errmsg").Str() != c.text {
			t.Errorf("%s, %d: %s", c.command, c.to, reply)
		}
	}
}

// Queries by OP_QUERY are refused and counted, commands by OP_QUERY are not.
func TestLegacyQueriesAreCounted(t *testing.T) {
	s := startServer(t, server.Config{})
	l := dialLegacy(t, s)
	counters := func() value.Doc {
		nc, _ := dial(t, s)
		defer nc.Close()
		return mustRoundTrip(t, wire.NewClient(nc), command(`{"serverStatus": 1, "$db": "admin"}`)).Lookup("opcounters").Doc()
	}
	l.ask("admin", command(`{"hello": 1}`))
	if before := counters(); before.Has("deprecated") {
		t.Errorf("before: %s", before)
	}
	for range 2 {
		if reply := l.query("test.c", command(`{"a": 1}`)); reply.Lookup("code").Int32() != 5739101 {
			t.Errorf("a query: %s", reply)
		}
	}
	if after := counters(); after.Lookup("deprecated").String() != "{ query: 2 }" || after.Lookup("query").SafeInt64() != 0 {
		t.Errorf("after: %s", after)
	}
}
