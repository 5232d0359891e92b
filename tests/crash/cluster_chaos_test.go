//go:build unix

package crash

import (
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/duskdb/duskdb/internal/pgtest"
	"github.com/duskdb/duskdb/internal/proc"
)

// TestClusterChaos does all of it at the same time: servers end and stop, the database
// crashes, and the network in between is cut, held up and torn.
func TestClusterChaos(t *testing.T) {
	needsCluster(t)
	if !long() {
		t.Skip("a long run has it")
	}
	t.Parallel()
	d, seed := crashTime(t)
	t.Logf("DUSKDB_CRASH_SEED=%d", seed)
	db := pgtest.Own(t)
	p := newProxy(t, db.Address())
	l := newBank(newCluster(t, db.URI(p.Addr().String())))
	l.run()
	l.progress("the start")
	until := time.Now().Add(d)
	var wg sync.WaitGroup
	repeat := func(n uint64, fn func(rnd *rand.Rand)) {
		rnd := rand.New(rand.NewPCG(seed, n))
		wg.Go(func() {
			for time.Now().Before(until) && !t.Failed() {
				proc.Pause(time.Duration(rnd.IntN(3000)) * time.Millisecond)
				fn(rnd)
			}
		})
	}
	for i := range l.servers {
		repeat(uint64(i), func(rnd *rand.Rand) {
			if rnd.IntN(2) == 0 {
				l.kill(i)
				l.start(i)
				return
			}
			l.signal(i, syscall.SIGSTOP)
			proc.Pause(time.Duration(rnd.IntN(12_000)) * time.Millisecond)
			l.signal(i, syscall.SIGCONT)
		})
	}
	repeat(10, func(*rand.Rand) {
		db.Kill()
		if err := db.Launch(); err != nil {
			t.Error(err)
		}
	})
	repeat(11, func(rnd *rand.Rand) {
		switch rnd.IntN(3) {
		case 0:
			p.cut()
		case 1:
			p.tear(1 + rnd.IntN(5))
		case 2:
			p.hold(true)
			proc.Pause(time.Duration(rnd.IntN(2000)) * time.Millisecond)
			p.hold(false)
		}
	})
	wg.Wait()
	l.progress("everything")
	l.end()
}
