package postgres_test

import (
	"testing"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/internal/pgtest"
	"github.com/duskdb/duskdb/storage/postgres"
	"github.com/duskdb/duskdb/storage/storagetest"
)

// wrong is the clock of a machine that was set wrongly.
type wrong struct {
	clock.Clock
	by time.Duration
}

func (c wrong) Now() time.Time { return c.Clock.Now().Add(c.by) }

// TestTimeOfTheDatabase: servers on machines whose clocks are minutes apart have the same
// time, that of the database.
func TestTimeOfTheDatabase(t *testing.T) {
	schema := pgtest.Schema(t.TempDir())
	var clocks []clock.Clock
	for _, by := range []time.Duration{0, 7 * time.Minute, -3 * time.Hour} {
		e, err := postgres.Open(ctx, postgres.Options{URI: pgtest.URI(t), Schema: schema, Indexer: storagetest.Indexer{}, Clock: wrong{clock.System(), by}, Logger: t.Logf})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = e.Close() })
		clocks = append(clocks, e.Clock())
	}
	const slack = 250 * time.Millisecond // the machine may be busy
	for round := range 3 {
		for i, c := range clocks {
			before := time.Now() // the database is on this machine
			now := c.Now()
			after := time.Now()
			if now.Before(before.Add(-slack)) || now.After(after.Add(slack)) {
				t.Errorf("round %d: server %d has %v, the database %v", round, i, now, before)
			}
			if millis := c.NowMillis(); millis < now.UnixMilli() || millis > now.Add(slack).UnixMilli() {
				t.Errorf("round %d: server %d has %v and %d", round, i, now, millis)
			}
		}
		<-clock.System().After(400 * time.Millisecond) // beats in between
	}
}

// BenchmarkClock is the cost of the time beside that of the system's clock.
func BenchmarkClock(b *testing.B) {
	e := open(b, b.TempDir(), storagetest.Indexer{}).(*postgres.Engine)
	b.Cleanup(func() { _ = e.Close() })
	for name, c := range map[string]clock.Clock{"database": e.Clock(), "system": clock.System()} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				c.NowMillis()
			}
		})
	}
}
