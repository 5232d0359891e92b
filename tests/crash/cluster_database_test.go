//go:build unix

package crash

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/duskdb/duskdb/internal/pgtest"
	"github.com/duskdb/duskdb/internal/proc"
)

// TestClusterDatabase does to the database, and to the network before it, what happens
// to them: a crash, an interruption, delays, connections that end in the middle of a
// statement. No server needs a restart.
func TestClusterDatabase(t *testing.T) {
	needsCluster(t)
	t.Parallel()
	d, seed := crashTime(t)
	t.Logf("DUSKDB_CRASH_SEED=%d", seed)
	rnd := rand.New(rand.NewPCG(seed, 4))
	db := pgtest.Own(t)
	p := newProxy(t, db.Address())
	away := 300 * time.Millisecond
	if long() {
		away = 10 * time.Second
	}
	l := newBank(newCluster(t, db.URI(p.Addr().String())))
	l.run()
	l.progress("the start")
	faults := []struct {
		name string
		do   func()
	}{
		{"a crash of the database", func() {
			db.Kill()
			if err := db.Launch(); err != nil {
				t.Fatal(err)
			}
		}},
		{"the database refused connections", func() {
			p.refuse(true)
			proc.Pause(away)
			p.refuse(false)
		}},
		{"nothing got through to the database", func() {
			p.hold(true)
			proc.Pause(away)
			p.hold(false)
		}},
		{"nothing got through, and the connections ended", func() {
			p.hold(true)
			proc.Pause(away)
			p.cut()
			p.hold(false)
		}},
		{"all connections ended", p.cut},
		{"connections ended in the middle of statements", func() {
			for range 20 {
				p.tear(1 + rnd.IntN(3))
				proc.Pause(time.Duration(rnd.IntN(50)) * time.Millisecond)
			}
			p.tear(0)
		}},
		{"the database is slow", func() {
			p.slow(20 * time.Millisecond)
			l.progress("the network was slow")
			p.slow(0)
		}},
	}
	rounds := 0
	for until := time.Now().Add(d); rounds == 0 || time.Now().Before(until) && !t.Failed(); rounds++ {
		for _, f := range faults {
			f.do()
			l.progress(f.name)
		}
	}
	l.end()
}
