//go:build unix

package crash

import (
	"fmt"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/duskdb/duskdb/internal/pgtest"
	"github.com/duskdb/duskdb/internal/proc"
)

// long reports whether tests may take their time.
func long() bool { return os.Getenv("DUSKDB_CRASH_TIME") != "" }

// TestClusterKill ends servers without notice, and stops them for a while. Nothing that
// was acknowledged is lost, nothing happens twice, and the clients go on.
func TestClusterKill(t *testing.T) {
	needsCluster(t)
	t.Parallel()
	d, seed := crashTime(t)
	t.Logf("DUSKDB_CRASH_SEED=%d", seed)
	rnd := rand.New(rand.NewPCG(seed, 3))
	l := newBank(newCluster(t, pgtest.URI(t)))
	l.run()
	l.progress("the start")
	kills := 0
	for until := time.Now().Add(d); kills == 0 || long() && time.Now().Before(until) && !t.Failed(); kills++ {
		i := rnd.IntN(3)
		l.kill(i)
		l.progress(fmt.Sprint("the end of server ", i))
		if long() { // it waits until the others take its predecessor for dead
			l.start(i)
		}
	}
	l.end()
	t.Logf("%d kills", kills)
}

// TestClusterPause stops a server for longer than the others take it for alive. What it
// does afterwards does no harm.
func TestClusterPause(t *testing.T) {
	needsCluster(t)
	t.Parallel()
	l := newBank(newCluster(t, pgtest.URI(t)))
	l.run()
	l.progress("the start")
	for i := range 3 {
		stopped := time.Now()
		l.signal(i, syscall.SIGSTOP)
		l.progress(fmt.Sprintf("server %d stopped", i))
		l.calm(true)
		proc.Pause(15*time.Second - time.Since(stopped))
		l.signal(i, syscall.SIGCONT)
		l.calm(false)
		l.progress(fmt.Sprintf("server %d went on", i))
		if !long() {
			break
		}
	}
	l.end()
}
