//go:build unix

package crash_tests

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/duskdb/duskdb/internal/pgtest"
)

// pace is the pause of a load's clients between operations: in a long run there is none
// to speak of.
func pace() time.Duration {
	if os.Getenv("DUSKDB_CRASH_TIME") != "" {
		return 2 * time.Millisecond
	}
	return 40 * time.Millisecond
}

// TestClusterKill ends servers without notice, and stops them for a while. Nothing that
// was acknowledged is lost, nothing happens twice, and the clients go on.
func TestClusterKill(t *testing.T) {
	needsCluster(t)
	t.Parallel()
	d, seed := crashTime(t)
	t.Logf("DUSKDB_CRASH_SEED=%d", seed)
	rnd := rand.New(rand.NewPCG(seed, 3))
	l := newBank(newCluster(t, pgtest.Own(t).URI("")), pace())
	l.run()
	l.progress("the start")
	kills, until := 0, time.Now().Add(d)
	for kills < 2 || time.Now().Before(until) && !t.Failed() {
		i := rnd.IntN(3)
		l.kill(i)
		kills++
		l.progress(fmt.Sprint("the end of server ", i))
		l.start(i)
	}
	l.end()
	t.Logf("%d kills", kills)
}

// TestClusterPause stops a server for longer than the others take it for alive. What it
// does afterwards does no harm.
func TestClusterPause(t *testing.T) {
	needsCluster(t)
	t.Parallel()
	l := newBank(newCluster(t, pgtest.Own(t).URI("")), pace())
	l.run()
	l.progress("the start")
	for i := range 3 {
		resumed := make(chan struct{})
		go func() {
			defer close(resumed)
			l.cluster.pause(i, 15*time.Second)
		}()
		l.progress(fmt.Sprintf("server %d stopped", i))
		<-resumed
		l.progress(fmt.Sprintf("server %d went on", i))
		if os.Getenv("DUSKDB_CRASH_TIME") == "" {
			break
		}
	}
	l.end()
}
