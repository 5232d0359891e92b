//go:build unix

package crash

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/duskdb/duskdb/internal/pgtest"
	"github.com/duskdb/duskdb/internal/proc"
)

// afterwards is how soon clients must go on when the database takes writes again.
const afterwards = 15 * time.Second

// patroniLoad is a load on servers over a database that Patroni looks after, with what the
// clients have waited for.
type patroniLoad struct {
	*bank
	db     *pgtest.Patroni
	rnd    *rand.Rand
	names  []string                   // kinds of faults, in the order of the first round
	waited map[string][]time.Duration // longest waits of the clients, by fault
	on     map[string][]time.Duration // times between the database's first write and the last client's
}

// outage is a fault: what happens, how long at least until the clients are looked at, and
// what ends it when they have gone on.
type outage struct {
	name  string
	begin func() error
	lasts time.Duration
	end   func() error
}

// TestClusterPatroni has all that happens to a database under Patroni happen in turn: a planned
// switchover, and the ends of the primary, of a standby, of etcd, of Patroni and of a server.
// The configuration is the one of the documentation.
func TestClusterPatroni(t *testing.T) {
	needsCluster(t)
	if !long() {
		t.Skip("it installs Patroni, and takes minutes: runs with DUSKDB_CRASH_TIME")
	}
	// Not parallel: it has a limit of time, see afterwards.
	d, seed := crashTime(t)
	t.Logf("DUSKDB_CRASH_SEED=%d", seed)
	db := pgtest.StartPatroni(t, "../../docs/patroni/patroni.yml")
	l := &patroniLoad{
		bank: newBank(newCluster(t, db.URI())), db: db, rnd: rand.New(rand.NewPCG(seed, 5)),
		waited: map[string][]time.Duration{}, on: map[string][]time.Duration{},
	}
	l.rest.Store(int64(20 * time.Millisecond)) // the counters must not grow too large to be copied to the standby
	l.run()
	l.progress("the start")
	rounds := 0
	for until := time.Now().Add(d); rounds == 0 || time.Now().Before(until) && !t.Failed(); rounds++ {
		for _, o := range l.outages() {
			l.suffer(o)
		}
	}
	db.AwaitHealthy()
	l.progress("everything")
	l.end()
	t.Logf("%d rounds", rounds)
	for _, name := range l.names {
		t.Logf("%s: clients waited for %v (median), %v (longest); after the database took writes, for at most %v",
			name, percentile(l.waited[name], 50), percentile(l.waited[name], 100), percentile(l.on[name], 100))
	}
}

// suffer lets a fault happen, and waits until everybody goes on and all is whole again.
func (l *patroniLoad) suffer(o outage) {
	l.Helper()
	l.db.AwaitHealthy()
	l.waits.reset()
	begun := time.Now()
	l.do(o, o.begin)
	proc.Pause(o.lasts)
	l.waits.recount()
	l.db.Writable()
	writable := time.Now()
	eventually(l, "all clients go on after "+o.name, l.waits.all)
	on := time.Since(writable)
	if on > afterwards {
		l.Errorf("%s: the last client went on %v after the database took writes", o.name, on)
	}
	if _, known := l.waited[o.name]; !known {
		l.names = append(l.names, o.name)
	}
	list, client := l.waits.list()
	l.waited[o.name] = append(l.waited[o.name], list...)
	l.on[o.name] = append(l.on[o.name], on)
	l.Logf("%s: the database took writes after %v; clients waited for %v (median), %v (longest, client %d)",
		o.name, writable.Sub(begun).Round(time.Millisecond), percentile(list, 50), percentile(list, 100), client)
	if o.end != nil {
		l.do(o, o.end)
	}
}

func (l *patroniLoad) do(o outage, step func() error) {
	l.Helper()
	if err := step(); err != nil {
		l.Fatalf("%s: %v", o.name, err)
	}
}

// outages are those of one round.
func (l *patroniLoad) outages() []outage {
	var hit *pgtest.Member // whose machine is gone
	lost := func(which func() *pgtest.Member) func() error {
		return func() error {
			hit = which()
			hit.Kill()
			return hit.Crash()
		}
	}
	back := func() error { return hit.Start() }
	etcd, server := l.db.Etcd[l.rnd.IntN(len(l.db.Etcd))], l.rnd.IntN(len(l.servers))
	list := []outage{{name: "a planned switchover", begin: l.db.Switchover}}
	if d, _ := crashTime(l); d >= time.Minute {
		// Not before a switchover, which Patroni is slow to do soon afterwards.
		list = append(list, outage{name: "all etcd are away for 30 seconds", begin: l.withoutEtcd, lasts: 30 * time.Second, end: l.withEtcd})
	}
	return append(list, []outage{
		{name: "the machine of the primary ends", begin: lost(l.db.Leader), end: back},
		{name: "the primary ends, and its Patroni goes on", begin: func() error { return l.db.Leader().Crash() }},
		{name: "the machine of the synchronous standby ends", begin: lost(l.db.Synchronous), end: back},
		{name: "one of three etcd ends", begin: func() error { etcd.Kill(); return nil }, lasts: 6 * time.Second, end: etcd.Start},
		{name: "the Patroni of the primary is started again", begin: func() error {
			m := l.db.Leader()
			m.Kill()
			return m.Start()
		}, lasts: 2 * time.Second},
		{name: "a DuskDB server ends", begin: func() error { l.kill(server); return nil }, end: func() error { l.start(server); return nil }},
	}...)
}

func (l *patroniLoad) withoutEtcd() error {
	for _, e := range l.db.Etcd {
		e.Kill()
	}
	return nil
}

func (l *patroniLoad) withEtcd() error {
	for _, e := range l.db.Etcd {
		if err := e.Start(); err != nil {
			return err
		}
	}
	return nil
}
