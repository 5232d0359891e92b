package server_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/duskdb/duskdb/server"
	"github.com/duskdb/duskdb/value"
	"github.com/duskdb/duskdb/wire"
)

// startServer runs a server in memory on a port of its own.
func startServer(t *testing.T, cfg server.Config) *server.Server {
	t.Helper()
	cfg.Log = zerolog.Nop()
	s, err := server.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

func dial(t *testing.T, s *server.Server) (net.Conn, *wire.Client) {
	t.Helper()
	nc, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = nc.Close() })
	return nc, wire.NewClient(nc)
}

func command(json string) value.Doc { return value.MustJSON(json) }

func mustRoundTrip(t *testing.T, c *wire.Client, body value.Doc, seqs ...wire.Sequence) value.Doc {
	t.Helper()
	m, err := c.RoundTrip(body, seqs...)
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	if !m.Body.Lookup("ok").Truthy() {
		t.Fatalf("%s: %s", body, m.Body)
	}
	return m.Body.Clone()
}

func TestHandshake(t *testing.T) {
	s := startServer(t, server.Config{})
	_, c := dial(t, s)
	hello := mustRoundTrip(t, c, command(`{"hello": 1, "$db": "admin", "compression": ["zstd", "lzma", "snappy"]}`))
	for name, want := range map[string]int64{
		"maxWireVersion": 27, "minWireVersion": 0, "maxBsonObjectSize": 16777216,
		"maxMessageSizeBytes": 48000000, "maxWriteBatchSize": 100000, "logicalSessionTimeoutMinutes": 30,
	} {
		if got, _ := hello.Lookup(name).AsInt64(); got != want {
			t.Errorf("%s is %d, want %d", name, got, want)
		}
	}
	if got := hello.Lookup("compression").String(); got != `[ "zstd", "snappy" ]` {
		t.Errorf("compression is %s", got)
	}
}

func TestCompressorsAreChosen(t *testing.T) {
	for _, tt := range []struct {
		names []string
		want  string
	}{{nil, `[ "zstd", "snappy" ]`}, {[]string{"snappy"}, `[ "snappy" ]`}, {[]string{}, ""}} {
		s := startServer(t, server.Config{Compressors: tt.names})
		_, c := dial(t, s)
		hello := mustRoundTrip(t, c, command(`{"hello": 1, "$db": "admin", "compression": ["zstd", "snappy"]}`))
		got := ""
		if v := hello.Lookup("compression"); !v.IsMissing() {
			got = v.String()
		}
		if got != tt.want {
			t.Errorf("%v: compression is %s, want %s", tt.names, got, tt.want)
		}
	}
}

// TestLegacyHandshake opens as every driver does: isMaster in an OP_QUERY.
func TestLegacyHandshake(t *testing.T) {
	s := startServer(t, server.Config{})
	for _, name := range []string{"isMaster", "ismaster", "hello"} {
		nc, _ := dial(t, s)
		b := wire.BeginQuery(nil, 1, 0, "admin.$cmd")
		b = append(b, value.NewDoc(name, value.Int32(1), "helloOk", value.Bool(true))...)
		if _, err := nc.Write(wire.FinishQuery(b, 0)); err != nil {
			t.Fatal(err)
		}
		m, err := wire.NewReader(nc).ReadMessage()
		if err != nil {
			t.Fatal(err)
		}
		reply, ok := m.(*wire.Reply)
		if !ok {
			t.Fatalf("%s was answered with %s", name, m.Head().OpCode)
		}
		for d := range reply.Docs.Docs() {
			if !d.Lookup("ok").Truthy() || !d.Lookup("helloOk").Truthy() {
				t.Errorf("%s: %s", name, d)
			}
		}
	}
}

func TestLegacyQueryIsRefused(t *testing.T) {
	s := startServer(t, server.Config{})
	nc, _ := dial(t, s)
	b := wire.BeginQuery(nil, 1, 0, "test.c")
	b = append(b, value.EmptyDoc...)
	if _, err := nc.Write(wire.FinishQuery(b, 0)); err != nil {
		t.Fatal(err)
	}
	m, err := wire.NewReader(nc).ReadMessage()
	if err != nil {
		t.Fatal(err)
	}
	for d := range m.(*wire.Reply).Docs.Docs() {
		if code := d.Lookup("code").Int32(); code != 5739101 {
			t.Errorf("answered %s", d)
		}
	}
}

// TestExhaustHello sends one awaitable hello with exhaustAllowed, and gets several
// replies.
func TestExhaustHello(t *testing.T) {
	s := startServer(t, server.Config{})
	_, c := dial(t, s)
	first := mustRoundTrip(t, c, command(`{"hello": 1, "$db": "admin"}`))
	ask := value.NewDoc("hello", value.Int32(1), "topologyVersion", first.Lookup("topologyVersion"),
		"maxAwaitTimeMS", value.Int32(10), "$db", value.String("admin"))
	if _, err := c.Send(wire.ExhaustAllowed, ask); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		m, err := c.Receive()
		if err != nil {
			t.Fatal(err)
		}
		if !m.Has(wire.MoreToCome) || !m.Body.Lookup("ok").Truthy() {
			t.Fatalf("reply %d: flags %x, %s", i, m.Flags, m.Body)
		}
	}
}

func TestHelloWantsBothOrNeither(t *testing.T) {
	s := startServer(t, server.Config{})
	_, c := dial(t, s)
	m, err := c.RoundTrip(command(`{"hello": 1, "maxAwaitTimeMS": 10, "$db": "admin"}`))
	if err != nil {
		t.Fatal(err)
	}
	if m.Body.Lookup("code").Int32() != 31368 {
		t.Errorf("answered %s", m.Body)
	}
}

// TestExhaustGetMore reads a whole cursor with one getMore.
func TestExhaustGetMore(t *testing.T) {
	s := startServer(t, server.Config{})
	_, c := dial(t, s)
	docs := wire.NewSequence("documents")
	for i := range 10 {
		docs.Append(value.NewDoc("_id", value.Int32(int32(i))))
	}
	mustRoundTrip(t, c, command(`{"insert": "c", "$db": "test"}`), docs)
	found := mustRoundTrip(t, c, command(`{"find": "c", "batchSize": 2, "$db": "test"}`))
	id := found.Lookup("cursor").Doc().Lookup("id")
	if _, err := c.Send(wire.ExhaustAllowed, value.NewDoc("getMore", id, "collection", value.String("c"), "batchSize", value.Int32(3), "$db", value.String("test"))); err != nil {
		t.Fatal(err)
	}
	n := 2
	for more := true; more; {
		m, err := c.Receive()
		if err != nil {
			t.Fatal(err)
		}
		n += m.Body.Lookup("cursor").Doc().Lookup("nextBatch").Doc().Len()
		more = m.Has(wire.MoreToCome)
	}
	if n != 10 {
		t.Errorf("%d documents, want 10", n)
	}
}

// TestNoReply sends writes without a reply, then a command with one.
func TestNoReply(t *testing.T) {
	s := startServer(t, server.Config{})
	_, c := dial(t, s)
	for i := range 3 {
		doc := value.NewDoc("insert", value.String("c"), "documents", value.NewArray(value.Document(value.NewDoc("_id", value.Int32(int32(i))))),
			"writeConcern", value.Document(value.NewDoc("w", value.Int32(0))), "$db", value.String("test"))
		if _, err := c.Send(wire.MoreToCome, doc); err != nil {
			t.Fatal(err)
		}
	}
	if n := mustRoundTrip(t, c, command(`{"count": "c", "$db": "test"}`)).Lookup("n").Int32(); n != 3 {
		t.Errorf("%d documents, want 3", n)
	}
}

func TestChecksum(t *testing.T) {
	s := startServer(t, server.Config{})
	_, c := dial(t, s)
	if _, err := c.Send(wire.ChecksumPresent, command(`{"ping": 1, "$db": "admin"}`)); err != nil {
		t.Fatal(err)
	}
	m, err := c.Receive() // verifies the checksum of the reply
	if err != nil {
		t.Fatal(err)
	}
	if !m.Has(wire.ChecksumPresent) {
		t.Error("the reply has no checksum")
	}
}

func TestCompressedReplies(t *testing.T) {
	s := startServer(t, server.Config{})
	for _, name := range []string{"snappy", "zlib", "zstd"} {
		z, _ := wire.CompressorByName(name)
		_, c := dial(t, s)
		c.SetCompressor(z)
		m, err := c.RoundTrip(command(`{"buildInfo": 1, "$db": "admin"}`))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if m.Compressor != z || m.Body.Lookup("version").Str() != server.MongoDBVersion {
			t.Errorf("%s: came back by %s: %s", name, m.Compressor, m.Body)
		}
	}
}

// TestPipelining sends requests without waiting; the replies come in order.
func TestPipelining(t *testing.T) {
	s := startServer(t, server.Config{})
	nc, _ := dial(t, s)
	var b []byte
	for id := range int32(50) {
		start := len(b)
		b = wire.BeginMsg(b, id+1, 0, 0)
		b = append(b, command(`{"ping": 1, "$db": "admin"}`)...)
		b = wire.FinishMsg(b, start)
	}
	if _, err := nc.Write(b); err != nil {
		t.Fatal(err)
	}
	r := wire.NewReader(nc)
	for id := range int32(50) {
		m, err := r.ReadMessage()
		if err != nil {
			t.Fatal(err)
		}
		if m.Head().ResponseTo != id+1 {
			t.Fatalf("reply to %d, want %d", m.Head().ResponseTo, id+1)
		}
	}
}

// TestInvalidDocument sends bytes that are no BSON: the command fails, the
// connection goes on, nothing is stored.
func TestInvalidDocument(t *testing.T) {
	s := startServer(t, server.Config{})
	_, c := dial(t, s)
	bad := value.NewDoc("_id", value.Int32(1), "s", value.String("text"))
	bad[len(bad)-2] = 'x' // the string's terminator
	m, err := c.RoundTrip(command(`{"insert": "c", "$db": "test"}`), wire.NewSequence("documents", bad))
	if err != nil {
		t.Fatal(err)
	}
	if m.Body.Lookup("code").Int32() != 22 {
		t.Errorf("answered %s", m.Body)
	}
	if n := mustRoundTrip(t, c, command(`{"count": "c", "$db": "test"}`)).Lookup("n").Int32(); n != 0 {
		t.Errorf("%d documents were stored", n)
	}
}

// TestUnknownCommand answers as mongod does.
func TestUnknownCommand(t *testing.T) {
	s := startServer(t, server.Config{})
	_, c := dial(t, s)
	m, err := c.RoundTrip(command(`{"nonsense": 1, "$db": "test"}`))
	if err != nil {
		t.Fatal(err)
	}
	if m.Body.Lookup("code").Int32() != 59 || m.Body.Lookup("errmsg").Str() != "no such command: 'nonsense'" || m.Body.Lookup("codeName").Str() != "CommandNotFound" {
		t.Errorf("answered %s", m.Body)
	}
}

// TestCloseEndsWaitingCommands closes a server while a client waits.
func TestCloseEndsWaitingCommands(t *testing.T) {
	s := startServer(t, server.Config{})
	_, c := dial(t, s)
	first := mustRoundTrip(t, c, command(`{"hello": 1, "$db": "admin"}`))
	ask := value.NewDoc("hello", value.Int32(1), "topologyVersion", first.Lookup("topologyVersion"),
		"maxAwaitTimeMS", value.Int32(60000), "$db", value.String("admin"))
	if _, err := c.Send(0, ask); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Close(context.Background()) }()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-ctx.Done():
		t.Fatal("Close waits for a waiting client")
	}
}

// TestSecondServerIsRefused opens one data directory twice.
func TestSecondServerIsRefused(t *testing.T) {
	dir := t.TempDir()
	startServer(t, server.Config{DBPath: dir})
	if _, err := server.New(server.Config{DBPath: dir, Log: zerolog.Nop()}); err == nil {
		t.Fatal("a second server got the directory")
	}
}

// TestRestart finds everything in place after a restart.
func TestRestart(t *testing.T) {
	dir := t.TempDir()
	s := startServer(t, server.Config{DBPath: dir})
	_, c := dial(t, s)
	mustRoundTrip(t, c, command(`{"insert": "c", "documents": [{"_id": 1, "x": "a"}, {"_id": 2, "x": "b"}], "$db": "test"}`))
	mustRoundTrip(t, c, command(`{"createIndexes": "c", "indexes": [{"key": {"x": 1}, "name": "x_1", "unique": true}], "$db": "test"}`))
	if err := s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	_, c = dial(t, startServer(t, server.Config{DBPath: dir}))
	if n := mustRoundTrip(t, c, command(`{"count": "c", "query": {"x": "b"}, "$db": "test"}`)).Lookup("n").Int32(); n != 1 {
		t.Errorf("%d documents, want 1", n)
	}
	m, err := c.RoundTrip(command(`{"insert": "c", "documents": [{"_id": 3, "x": "b"}], "$db": "test"}`))
	if err != nil {
		t.Fatal(err)
	}
	if code := m.Body.Lookup("writeErrors").Doc().Index(0).Doc().Lookup("code").Int32(); code != 11000 {
		t.Errorf("answered %s", m.Body)
	}
}

// TestNoLeaks checks that a closed server leaves no goroutine behind but
// that of the store, which takes a second to notice.
func TestNoLeaks(t *testing.T) {
	before := goleak.IgnoreCurrent()
	s, err := server.New(server.Config{Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	_, c := dial(t, s)
	mustRoundTrip(t, c, command(`{"ping": 1, "$db": "admin"}`))
	if err := s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	goleak.VerifyNone(t, before, goleak.IgnoreAnyFunction("github.com/tidwall/buntdb.(*DB).backgroundManager"))
}
