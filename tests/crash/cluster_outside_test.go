//go:build unix

package crash

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/duskdb/duskdb/internal/pgtest"
	"github.com/duskdb/duskdb/internal/proc"
)

// outside is a load on a cluster whose database, machines and network fail, or are used by
// others. Each server reaches the database through a proxy of its own.
type outside struct {
	*bank
	db      *pgtest.Server
	proxies [3]*proxy
	most    atomic.Int64 // connections that were open at the same time
}

// The places for connections of each server, few enough that all are needed.
const (
	poolSize  = 4
	snapshots = 6
	bound     = poolSize + snapshots + 4
)

// fault is something that fails. It returns when it is over.
type fault struct {
	name string
	do   func(*outside)
}

// locks are what an operator and other users of the database do.
var locks = []fault{
	{"VACUUM FULL", operator("vacuum full duskdb.kv")},
	{"CLUSTER", operator("cluster duskdb.kv using kv_pkey")},
	{"REINDEX", operator("reindex table duskdb.kv")},
	{"ALTER TABLE", operator("alter table duskdb.kv alter column v set storage extended")},
	{"VACUUM FULL of the row of all commits", operator("vacuum full duskdb.head")},
	{"VACUUM FULL beside a server that has stopped", func(o *outside) {
		defer o.transactions()()
		o.signal(2, syscall.SIGSTOP)
		o.admin("vacuum full duskdb.kv")
		o.progress("the VACUUM, with two servers")
		o.signal(2, syscall.SIGCONT)
	}},
	{"a foreign transaction that locks a table", foreign("lock table duskdb.kv in access exclusive mode")},
	{"a foreign transaction that locks the row of all commits", foreign("select from duskdb.head for update")},
	{"a foreign transaction that holds back vacuum", foreign("select from duskdb.kv limit 1")},
	{"cancelled statements", func(o *outside) {
		for range 20 {
			o.admin("select pg_cancel_backend(pid) from pg_stat_activity where usename = 'duskdb'")
			proc.Pause(20 * time.Millisecond)
		}
	}},
	{"terminated connections", func(o *outside) {
		o.admin("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'duskdb'")
	}},
	{"all connections taken by others", (*outside).crowd},
}

// machines are what happens to the database, the servers and the network between them.
var machines = []fault{
	{"a restart", func(o *outside) { must(o, o.db.Restart()) }},
	{"a crash", func(o *outside) {
		o.db.Kill()
		must(o, o.db.Launch())
	}},
	{"a slow disk", func(o *outside) { // each flush of the log takes 100 ms more
		o.db.Set(o, "commit_siblings", "0")
		o.db.Set(o, "commit_delay", "100000")
		o.progress("the slow disk, while it is slow")
		o.db.Set(o, "commit_delay", "0")
	}},
	{"a disk that hangs", func(o *outside) { // no commit ends, as with a standby that is gone
		o.db.Set(o, "synchronous_standby_names", "nobody")
		proc.Pause(span(4*time.Second, 15*time.Second))
		o.db.Set(o, "synchronous_standby_names", "")
	}},
	{"a server that stops", func(o *outside) {
		o.signal(0, syscall.SIGSTOP)
		proc.Pause(span(4*time.Second, 15*time.Second))
		o.progress("the stop of a server, with two servers")
		o.signal(0, syscall.SIGCONT)
	}},
	{"a database that stops", func(o *outside) {
		must(o, o.db.Pause())
		proc.Pause(span(5*time.Second, 20*time.Second))
		must(o, o.db.Resume())
	}},
	{"requests to the database get lost", lossy(requests)},
	{"answers of the database get lost", lossy(answers)},
	{"everything between a server and the database gets lost", lossy(both)},
}

// span is how long something lasts in a short and in a long run.
func span(short, longer time.Duration) time.Duration {
	if long() {
		return longer
	}
	return short
}

// operator is a command that wants a table for itself, beside open transactions and snapshots.
func operator(sql string) func(*outside) {
	return func(o *outside) {
		defer o.transactions()()
		begun := time.Now()
		err := o.db.Exec(sql)
		for ; err != nil && strings.Contains(err.Error(), "40P01"); err = o.db.Exec(sql) {
			o.Logf("%s is tried again: %v", sql, err) // the database may end it or a commit
		}
		must(o, err)
		o.Logf("%s took %v", sql, time.Since(begun).Round(10*time.Millisecond))
	}
}

// foreign is a transaction of another user, which does something and is open for a while.
func foreign(sql string) func(*outside) {
	return func(o *outside) {
		c, err := o.stranger()
		must(o, err)
		defer func() { _ = c.Close(background) }()
		_, err = c.Exec(background, "begin; "+sql).ReadAll()
		must(o, err)
		proc.Pause(span(5*time.Second, 15*time.Second))
	}
}

// lossy is a network that loses what goes one way, or both, between a server and the database.
func lossy(way direction) func(*outside) {
	return func(o *outside) {
		p := o.proxies[1]
		p.lose(way)
		proc.Pause(span(4*time.Second, 15*time.Second))
		o.progress("the loss, with two servers")
		p.lose(neither)
	}
}

// crowd takes all connections that the database allows, also those that the servers lose.
func (o *outside) crowd() {
	var list []*pgconn.PgConn
	defer func() {
		for _, c := range list {
			_ = c.Close(background)
		}
	}()
	begun, ended := time.Now(), false
	for time.Since(begun) < span(3*time.Second, 15*time.Second) {
		if c, err := o.stranger(); err == nil {
			list = append(list, c)
			continue
		}
		if !ended { // the connections of the servers become the strangers'
			ended = true
			o.admin("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'duskdb'")
		}
		proc.Pause(20 * time.Millisecond)
	}
	o.Logf("strangers had %d connections", len(list))
}

// stranger is a connection of a user who has nothing to do with the servers.
func (o *outside) stranger() (*pgconn.PgConn, error) {
	return pgconn.Connect(background, strings.Replace(o.db.URI(""), "postgres@", "stranger@", 1))
}

// admin runs a statement as the operator of the database.
func (o *outside) admin(sql string) {
	o.Helper()
	must(o, o.db.Exec(sql))
}

// transactions opens a transaction and a snapshot on each server, which have read and wait for
// their clients until the end.
func (o *outside) transactions() (end func()) {
	o.Helper()
	var sessions []*mongo.Session
	for i := range o.addrs {
		client := o.only(i)
		for _, snapshot := range []bool{false, true} {
			s, err := client.StartSession(options.Session().SetSnapshot(snapshot))
			must(o, err)
			if !snapshot {
				must(o, s.StartTransaction())
			}
			eventually(o, "a transaction reads", func() bool {
				err := mongo.WithSession(background, s, func(ctx context.Context) error {
					return client.Database("load").Collection("accounts").FindOne(ctx, bson.M{"_id": 0}).Err()
				})
				if err != nil && !snapshot {
					_ = s.AbortTransaction(background)
					must(o, s.StartTransaction())
				}
				return err == nil
			})
			sessions = append(sessions, s)
		}
	}
	return func() {
		for _, s := range sessions {
			s.EndSession(background)
		}
	}
}

// count counts the servers' connections until the load stops.
func (o *outside) count() {
	o.wg.Go(func() {
		var c *pgconn.PgConn
		for o.ctx.Err() == nil {
			ctx, end := context.WithTimeout(o.ctx, time.Second)
			if c == nil || c.IsClosed() {
				c, _ = pgconn.Connect(ctx, o.db.URI(""))
			}
			if c != nil {
				r := c.ExecParams(ctx, "select count(*) from pg_stat_activity where usename = 'duskdb'", nil, nil, nil, nil).Read()
				n := int64(0)
				if r.Err == nil {
					_, _ = fmt.Sscan(string(r.Rows[0][0]), &n)
				}
				o.most.Store(max(o.most.Load(), n))
			}
			end()
			proc.Pause(20 * time.Millisecond)
		}
		if c != nil {
			_ = c.Close(background)
		}
	})
}

// TestClusterLocks and TestClusterMachines walk through what fails outside of the servers. The
// servers go on by themselves, nothing that was acknowledged is lost, nothing happens twice, and
// no server has more connections than it says.
func TestClusterLocks(t *testing.T) { walk(t, locks) }

func TestClusterMachines(t *testing.T) { walk(t, machines) }

func walk(t *testing.T, faults []fault) {
	needsCluster(t)
	t.Parallel()
	d, _ := crashTime(t)
	o := &outside{db: pgtest.Own(t, "-c", "max_connections=100")}
	o.db.Run(t, "create role duskdb login", "create role stranger login", "create schema duskdb authorization duskdb",
		"grant usage on schema duskdb to stranger", "alter default privileges for role duskdb in schema duskdb grant all on tables to stranger")
	c := clusterOver(t, "postgres://")
	for i := range o.proxies {
		o.proxies[i] = newProxy(t, o.db.Address())
		c.uris[i] = fmt.Sprintf("postgres://duskdb@%s/postgres?sslmode=disable&poolSize=%d&snapshots=%d", o.proxies[i].Addr(), poolSize, snapshots)
		c.start(i)
	}
	o.bank = newBank(c)
	o.run()
	o.count()
	o.progress("the start")
	for until := time.Now().Add(d); !t.Failed(); {
		for _, f := range faults {
			o.met.take()
			o.most.Store(0)
			begun := time.Now()
			f.do(o)
			lasted := time.Since(begun)
			took := o.progress(f.name)
			t.Logf("%-50s lasted %v, everybody went on %v later; %s; %d connections", f.name, lasted.Round(10*time.Millisecond), took.Round(10*time.Millisecond), o.met.take(), o.most.Load())
			if n := o.most.Load(); n > 3*bound {
				t.Errorf("%s: the servers had %d connections, and may have %d", f.name, n, 3*bound)
			}
		}
		if !long() || time.Now().After(until) {
			break
		}
	}
	o.end()
}
