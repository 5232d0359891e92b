package growth

import (
	"context"
	"encoding/binary"
	"runtime"
	"strconv"
	"testing"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/internal/commandtest"
	duskdb "github.com/duskdb/duskdb/server"
	"github.com/duskdb/duskdb/value"
)

// subject is something that clients make under ever new names, use, and remove again.
type subject struct {
	name     string
	lifetime func(s *commandtest.Server, send sender, name string, i int)
	share    int // percent of the normal number of subjects, 0: 100
}

// sender sends a command that must succeed.
type sender func(db string, fields ...any)

var subjects = []subject{
	{name: "collections", lifetime: func(_ *commandtest.Server, send sender, name string, _ int) {
		send("test", "createIndexes", name, "indexes", array("key", document("v", 1), "name", "v"))
		send("test", "insert", name, "documents", array("v", 1))
		send("test", "find", name, "filter", document("v", 1))
		send("test", "drop", name)
	}, share: 50},
	{name: "renamed collections", lifetime: func(_ *commandtest.Server, send sender, name string, _ int) {
		send("test", "insert", name, "documents", array("v", 1))
		send("admin", "renameCollection", "test."+name, "to", "test.target", "dropTarget", true)
		send("test", "find", "target")
	}, share: 50},
	{name: "databases", lifetime: func(_ *commandtest.Server, send sender, name string, _ int) {
		send(name, "insert", "c", "documents", array("v", 1))
		send(name, "profile", 0, "slowms", 100_000, "filter", document("op", "query"))
		send(name, "aggregate", 1, "pipeline", array("$documents", value.NewArray()), "cursor", value.EmptyDoc)
		send(name, "dropDatabase", 1)
	}, share: 50},
	{name: "absent collections", lifetime: func(_ *commandtest.Server, send sender, name string, _ int) {
		send("test", "find", name)
		send(name, "count", name)
		send(name, "profile", -1)
	}},
	{name: "users", lifetime: func(_ *commandtest.Server, send sender, name string, _ int) {
		send("$external", "createUser", name, "roles", value.NewArray())
		send("$external", "dropUser", name)
	}},
	{name: "sessions", lifetime: func(_ *commandtest.Server, send sender, _ string, i int) {
		lsid := document("id", lsidOf(i))
		send("test", "insert", "kept", "documents", array("_id", i%100), "lsid", lsid, "txnNumber", value.Int64(1), "ordered", i%2 == 0)
		send("admin", "endSessions", array("id", lsidOf(i)))
	}, share: 50},
	{name: "queues", lifetime: func(_ *commandtest.Server, send sender, name string, _ int) {
		send("test", "create", name, "messageQueue", value.EmptyDoc)
		send("test", "mqSend", name, "messages", array("v", 1))
		send("test", "mqReceive", name, "mode", "receiveAndDelete")
		send("test", "drop", name)
	}, share: 25},
	{name: "cursors", lifetime: func(s *commandtest.Server, send sender, name string, _ int) {
		reply := s.Send("test", document("find", "two", "batchSize", 1, "comment", name))
		send("test", "killCursors", "two", "cursors", value.NewArray(reply.Lookup("cursor").Doc().Lookup("id")))
	}},
}

// lsidOf is the id of a session.
func lsidOf(i int) value.Value {
	return value.Binary(4, binary.BigEndian.AppendUint64(make([]byte, 8, 16), uint64(i)))
}

// document is a document of names and values, in turns.
func document(fields ...any) value.Doc {
	for i, v := range fields {
		switch v := v.(type) {
		case int:
			fields[i] = value.Int32(int32(v))
		case bool:
			fields[i] = value.Bool(v)
		case value.Doc:
			fields[i] = value.Document(v)
		case string:
			if i%2 == 1 {
				fields[i] = value.String(v)
			}
		}
	}
	return value.NewDoc(fields...)
}

// array is an array of one document.
func array(fields ...any) value.Value { return value.NewArray(value.Document(document(fields...))) }

// liveHeap is the memory that is in use after a collection of garbage.
func liveHeap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// reports are what monitoring reads again and again: the bytes that each allocates.
func reports(s *commandtest.Server) map[string]int64 {
	cost := map[string]int64{}
	measure := func(name string, read func()) {
		least := int64(-1)
		for range 3 {
			before := allocated{}.now()
			read()
			if n := (allocated{}).now() - before; least < 0 || n < least {
				least = n
			}
		}
		cost[name] = least
	}
	for _, name := range []string{"top", "serverStatus", "expirationStats", "currentOp"} {
		measure(name, func() { s.Send("admin", document(name, 1)) })
	}
	measure("/metrics", func() { s.Service.Snapshot() })
	return cost
}

// What may stay of all subjects that are gone, in bytes: caches of a bounded size fill up.
const (
	perSubject = 50
	inAll      = 1 << 20
)

// withoutLog is a server with data on disk and without a change log, which would grow.
func withoutLog(t *testing.T) *commandtest.Server {
	t.Helper()
	srv, err := duskdb.New(duskdb.Config{DBPath: t.TempDir(), Port: -1, Log: zerolog.Nop(), OplogSizeMB: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := srv.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return (&commandtest.Server{TB: t, Service: srv.Service()}).Another(t)
}

// TestGone makes, uses and removes many subjects: neither memory nor the cost of reading the
// state of the server grows with the number of those that are gone.
func TestGone(t *testing.T) {
	if testing.Short() {
		t.Skip("thousands of each subject")
	}
	const n = 20_000
	for _, subject := range subjects {
		t.Run(subject.name, func(t *testing.T) {
			n := n
			if subject.share > 0 {
				n = n * subject.share / 100
			}
			s := withoutLog(t)
			send := func(db string, fields ...any) {
				t.Helper()
				if reply := s.Send(db, document(fields...)); !reply.Lookup("ok").Truthy() {
					t.Fatalf("%v answered %s", fields, reply)
				}
			}
			send("test", "insert", "two", "documents", value.NewArray(value.Document(value.EmptyDoc), value.Document(value.EmptyDoc)))
			send("test", "insert", "target", "documents", array("v", 1))
			live := func(from, to int) {
				for i := from; i < to; i++ {
					subject.lifetime(s, send, "n"+strconv.Itoa(i), i)
				}
			}
			live(0, 100)
			heap, cost := liveHeap(), reports(s)
			live(100, 100+n)
			grown := liveHeap() - heap
			t.Logf("%d bytes stay", grown)
			if grown > int64(n*perSubject)+inAll {
				t.Errorf("%d bytes stay of %d that are gone: %d of each", grown, n, grown/int64(n))
			}
			for name, now := range reports(s) {
				if now > 2*cost[name]+64<<10 {
					t.Errorf("%s allocates %d bytes, before %d", name, now, cost[name])
				}
			}
		})
	}
}
