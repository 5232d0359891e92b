//go:build unix

package crash

import (
	"strings"
	"testing"
	"time"

	"github.com/duskdb/duskdb/internal/pgtest"
	"github.com/duskdb/duskdb/internal/proc"
)

// furtherFailovers follow in a long run.
const furtherFailovers = 3

// TestClusterFailover kills the primary database and promotes its synchronous standby,
// which the servers reach by a URI that names both, or behind a proxy that leads there.
// The old primary returns as a standby.
func TestClusterFailover(t *testing.T) {
	needsCluster(t)
	t.Parallel()
	for _, way := range []string{"URI of several hosts", "proxy"} {
		t.Run(way, func(t *testing.T) {
			if way == "proxy" && !long() {
				t.Skip("one way is enough for a short run")
			}
			t.Parallel()
			first := pgtest.Own(t)
			second := first.Standby(t)
			uri, moved := pgtest.URIs(first, second), func(*pgtest.Server) {}
			if way == "proxy" {
				p := newProxy(t, first.Address())
				uri, moved = first.URI(p.Addr().String()), func(to *pgtest.Server) { p.lead(to.Address()) }
			}
			l := newBank(newCluster(t, uri))
			l.run()
			l.progress("the start")
			begun := time.Now()
			failOver(t, first, second)
			promoted := time.Since(begun)
			moved(second)
			took := l.progress("the failover")
			t.Logf("failover: the standby was promoted after %v, all clients went on %v later", promoted.Round(time.Millisecond), took.Round(time.Millisecond))
			if err := first.Follow(second); err != nil {
				t.Fatal(err)
			}
			if err := first.Launch(); err != nil {
				t.Fatal(err)
			}
			moved(first) // by mistake: nothing may be read or written there
			proc.Pause(500 * time.Millisecond)
			moved(second)
			// Those who connect anew meet the old primary first.
			if err := second.Exec("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'duskdb'"); err != nil {
				t.Fatal(err)
			}
			l.progress("the old primary returned")
			for primary, n := second, 0; way == "proxy" && n < furtherFailovers; n++ {
				next := primary.Standby(t)
				l.progress("a further standby")
				failOver(t, primary, next)
				moved(next)
				l.progress("a further failover")
				primary = next
			}
			l.end()
		})
	}
}

// failOver kills a primary and promotes its standby.
func failOver(t *testing.T, from, to *pgtest.Server) {
	t.Helper()
	if err := from.Crash(); err != nil {
		t.Fatal(err)
	}
	if err := to.Promote(); err != nil {
		t.Fatal(err)
	}
}

// TestClusterSilentPrimary: the machine of the primary database loses its power, so that its
// address, the first one of the URI, is silent from then on. The synchronous standby is promoted.
func TestClusterSilentPrimary(t *testing.T) {
	needsCluster(t)
	t.Parallel()
	first := pgtest.Own(t)
	second := first.Standby(t)
	p := newProxy(t, first.Address())
	l := newBank(newCluster(t, strings.Replace(pgtest.URIs(first, second), first.Address(), p.Addr().String(), 1)))
	l.run()
	l.progress("the start")
	p.vanish()
	if err := second.Promote(); err != nil {
		t.Fatal(err)
	}
	l.progress("the primary became silent")
	l.kill(0)
	l.start(0)
	l.progress("a server started anew")
	l.end()
}
