package postgres

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands"
	"github.com/duskdb/duskdb/internal/engines"
	"github.com/duskdb/duskdb/internal/pgtest"
	"github.com/duskdb/duskdb/server"
	"github.com/duskdb/duskdb/storage/postgres"
	"github.com/duskdb/duskdb/value"
)

// wrong is the clock of a machine that was set wrongly.
type wrong struct {
	clock.Clock
	by time.Duration
}

func (c wrong) Now() time.Time { return c.Clock.Now().Add(c.by) }

// machine is a server on a machine whose clock is wrong.
type machine struct {
	*testing.T
	*server.Server
	conn *commands.Conn
}

// machines starts servers over one database, on machines whose clocks are wrong.
func machines(t *testing.T, config server.Config, off ...time.Duration) (list []machine) {
	t.Helper()
	for _, by := range off {
		srv, err := start(t, config, by)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, machine{t, srv, srv.Service().NewConn("127.0.0.1:1", "127.0.0.1:27017")})
	}
	return list
}

func start(t *testing.T, config server.Config, off time.Duration) (*server.Server, error) {
	t.Helper()
	engines.Link("postgres", engines.Implementation{Check: check, Restore: restore, Open: func(_ context.Context, o engines.Options) (engines.Opened, error) {
		e, err := postgres.Open(context.Background(), postgres.Options{URI: o.URI, Indexer: o.Indexer, Watched: watched, Logger: t.Logf, Clock: wrong{clock.System(), off}})
		return engines.Opened{Engine: e}, err
	}})
	defer engines.Link("postgres", engines.Implementation{Open: open, Check: check, Restore: restore})
	config.StorageEngine, config.Port, config.Log = "postgres", -1, zerolog.Nop()
	config.StorageURI = pgtest.With(pgtest.URI(t), "schema", pgtest.Schema(t.Name()))
	srv, err := server.New(config)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = srv.Close(context.Background()) })
	return srv, srv.Start()
}

func (m machine) run(db, command string) value.Doc {
	m.Helper()
	b := value.NewBuilder()
	it := value.MustJSON(command).Iter()
	out, _ := m.Service().Handle(context.Background(), m.conn, &commands.Request{Body: b.Raw(it.Rest()).String("$db", db).Doc()}, nil)
	reply := value.Doc(out)
	if !reply.Lookup("ok").Truthy() {
		m.Errorf("%s answered %s", command, reply)
	}
	return reply
}

// TestServersHaveOneTime: what servers write and remove by the time does not depend on the
// clocks of their machines.
func TestServersHaveOneTime(t *testing.T) {
	list := machines(t, server.Config{Parameters: map[string]string{"enableTestCommands": "true"}}, 7*time.Minute, -40*time.Minute)
	list[0].run("test", `{"create": "c", "documentTtl": {"default": 100, "exposeTs": true}}`)
	now := time.Now() // the database is on this machine
	for i, m := range list {
		m.run("test", fmt.Sprintf(`{"insert": "c", "documents": [{"_id": %d}]}`, i))
		m.run("test", fmt.Sprintf(`{"find": "c", "lsid": {"id": {"$uuid": "00000000-0000-4000-8000-00000000000%d"}}}`, i))
		m.run("admin", `{"refreshLogicalSessionCacheNow": 1}`)
	}
	instant := func(what string, at time.Time) {
		t.Helper()
		if d := at.Sub(now); d < -5*time.Second || d > 20*time.Second {
			t.Errorf("%s: off by %v", what, d)
		}
	}
	for i, m := range list {
		instant("the clock", m.Clock().Now())
		hello := m.run("admin", `{"hello": 1}`)
		instant("localTime", time.UnixMilli(hello.Lookup("localTime").DateTime()))
		found := m.run("test", `{"find": "c"}`).Lookup("cursor").Doc().Lookup("firstBatch").Doc()
		if found.Len() != len(list) {
			t.Errorf("server %d has %s", i, found)
		}
		for v := range found.Values() {
			instant("_ts", time.Unix(v.Doc().Lookup("_ts").SafeInt64(), 0))
		}
		for v := range m.run("config", `{"find": "system.sessions"}`).Lookup("cursor").Doc().Lookup("firstBatch").Doc().Values() {
			instant("lastUse", time.UnixMilli(v.Doc().Lookup("lastUse").DateTime()))
		}
	}
}

// TestServersHaveOneTestClock: the test clock of real servers is one, and a server without it
// does not start beside them.
func TestServersHaveOneTestClock(t *testing.T) {
	config := server.Config{TestClock: true, Parameters: map[string]string{"testClockStart": "2020-02-03T04:05:06Z"}}
	list := machines(t, config, 0, time.Hour)
	list[1].run("admin", `{"testClock": 1, "advanceSeconds": 54}`)
	for i, m := range list {
		if now := m.Clock().Now(); !now.Equal(time.Date(2020, 2, 3, 4, 6, 0, 0, time.UTC)) {
			t.Errorf("server %d: %v", i, now)
		}
	}
	if _, err := start(t, server.Config{}, 0); err == nil || !strings.Contains(err.Error(), "a server with a test clock runs there") {
		t.Errorf("a server without a test clock: %v", err)
	}
	later := machines(t, config, 0)[0]
	if now := later.Clock().Now(); !now.Equal(list[0].Clock().Now()) {
		t.Errorf("a server that starts later: %v", now)
	}
	later.run("admin", `{"testClock": 1, "freeze": false}`)
	a, b, c := list[0].Clock().NowMillis(), list[1].Clock().NowMillis(), later.Clock().NowMillis()
	if max(a, b, c)-min(a, b, c) > 500 { // the machine may be busy
		t.Errorf("running clocks show %d, %d and %d", a, b, c)
	}
}
