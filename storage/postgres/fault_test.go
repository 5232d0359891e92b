package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/internal/pgtest"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/postgres"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// at opens an engine over a database with a collection, for tests of faults.
func at(tb testing.TB, uri string, trips func()) *postgres.Engine {
	tb.Helper()
	e, err := postgres.Open(ctx, postgres.Options{URI: uri, Schema: pgtest.Schema(tb.TempDir()), Indexer: storagetest.Indexer{}, Logger: tb.Logf, Trips: trips})
	must(tb, err)
	tb.Cleanup(func() { _ = e.Close() })
	create(tb, e, ns, storagetest.UniqueSpec("_id"), storagetest.Spec("a"))
	return e
}

// insert inserts a document in an update that commits with those of others.
func insert(e storage.Sharer, id value.Value) error {
	return e.UpdateShared(ctx, func(tx storage.Tx) error {
		c, err := tx.Collection(ns)
		if err == nil {
			_, err = c.Insert(value.NewDoc("_id", id, "a", value.Int32(1)), 1)
		}
		return err
	})
}

// count counts the records, one by one.
func count(tb testing.TB, e storage.Engine) (n int) {
	tb.Helper()
	must(tb, e.View(ctx, func(tx storage.Tx) error {
		n = 0
		c, err := tx.Collection(ns)
		if err != nil {
			return err
		}
		return c.Scan(storage.Range{}, func(storage.Record) bool { n++; return true })
	}))
	return n
}

// TestConnectionsEnd: when the database ends connections again and again, what was
// acknowledged is there once, and nothing fails but with an error to be retried.
func TestConnectionsEnd(t *testing.T) {
	t.Parallel()
	uri := pgtest.Own(t, "-c", "fsync=off").URI("") // all its connections are ended
	e := at(t, uri, nil)
	admin, err := pgconn.Connect(ctx, uri)
	must(t, err)
	defer func() { _ = admin.Close(ctx) }()
	var done, away atomic.Int64
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 25 {
				switch err := insert(e, value.String(fmt.Sprint(w, "-", i))); {
				case err == nil:
					done.Add(1)
				case errors.Is(err, storage.ErrUnavailable):
					away.Add(1)
				default:
					t.Error(err)
				}
			}
		})
	}
	for range 6 {
		<-clock.System().After(40 * time.Millisecond)
		_, err := admin.Exec(ctx, "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'duskdb' and query not like '%vacuum%'").ReadAll()
		must(t, err)
	}
	wg.Wait()
	if n := count(t, e); int64(n) != done.Load() || away.Load() > 0 {
		t.Errorf("%d inserts were acknowledged, %d found the database away; %d records are there", done.Load(), away.Load(), n)
	}
}

// TestRestart: while the database is away reads and writes fail with an error to be
// retried; then they go on, without a restart of the server.
func TestRestart(t *testing.T) {
	t.Parallel()
	db := pgtest.Own(t)
	e := at(t, db.URI(""), nil)
	must(t, insert(e, value.Int32(1)))
	db.Kill()
	short, end := context.WithTimeout(ctx, 500*time.Millisecond)
	defer end()
	err := e.View(short, func(tx storage.Tx) error {
		c, err := tx.Collection(ns)
		if err == nil {
			_, err = c.Count()
		}
		return err
	})
	if !errors.Is(err, storage.ErrUnavailable) && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a read while the database is away: %v", err)
	}
	wrote := make(chan error, 1)
	go func() { wrote <- insert(e, value.Int32(2)) }() // waits for the database
	must(t, db.Launch())
	if err := <-wrote; err != nil && !errors.Is(err, storage.ErrUnavailable) {
		t.Error(err)
	} else if err != nil {
		must(t, insert(e, value.Int32(2)))
	}
	if n := count(t, e); n != 2 {
		t.Errorf("%d records after the restart", n)
	}
}

// proxy passes bytes between servers and the database. On request it loses
// the answer to a commit, and the connection with it, or everything without a word.
type proxy struct {
	net.Listener
	to   atomic.Value // string
	all  sync.Map     // net.Conn
	lose atomic.Int64 // how many answers to commits will be lost
	lost atomic.Int64

	swallows atomic.Bool // nothing gets through, and no connection ends

	apart atomic.Bool // the answers are those of a database whose trips are no transactions
}

func newProxy(tb testing.TB, to string) *proxy {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(tb, err)
	p := &proxy{Listener: l}
	p.to.Store(to)
	tb.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(c)
		}
	}()
	return p
}

// lead makes the proxy lead to another database, and ends all connections.
func (p *proxy) lead(to string) {
	p.to.Store(to)
	p.all.Range(func(c, _ any) bool { _ = c.(net.Conn).Close(); return true })
}

func (p *proxy) serve(client net.Conn) {
	defer func() { _ = client.Close() }()
	p.all.Store(client, nil)
	defer p.all.Delete(client)
	db, err := net.Dial("tcp", p.to.Load().(string))
	if err != nil {
		return
	}
	defer func() { _ = db.Close() }()
	go func() {
		defer func() { _ = db.Close() }()
		b := make([]byte, 64<<10)
		for {
			n, err := client.Read(b)
			if err != nil {
				return
			}
			if p.swallows.Load() {
				continue
			}
			if _, err := db.Write(b[:n]); err != nil {
				return
			}
		}
	}()
	b := make([]byte, 64<<10)
	for {
		n, err := db.Read(b)
		if err != nil {
			return
		}
		if p.swallows.Load() {
			continue
		}
		if p.apart.Load() {
			copy(b, bytes.ReplaceAll(b[:n], []byte("\x00\x00\x00\x05whole"), []byte("\x00\x00\x00\x05parts")))
		}
		if commits(b[:n]) && p.lose.Add(-1) >= 0 {
			p.lost.Add(1)
			return
		}
		if _, err := client.Write(b[:n]); err != nil {
			return
		}
	}
}

// commits reports whether an answer is that to a commit: of a transaction that was begun, or
// of a trip that writes a record and its two entries, and is a transaction of its own.
func commits(answer []byte) bool {
	return bytes.Contains(answer, []byte("COMMIT\x00")) ||
		bytes.Contains(answer, []byte("INSERT 0 3\x00")) && bytes.HasSuffix(answer, []byte("Z\x00\x00\x00\x05I"))
}

// TestLostAnswers: a commit whose answer is lost is neither lost nor repeated. Without the
// lock it begins a transaction only if the database needs that.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	db := pgtest.Own(t)
	for name, apart := range map[string]bool{"one transaction": false, "begun": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProxy(t, db.Address())
			p.apart.Store(apart)
			e := at(t, db.URI(p.Addr().String()), nil)
			for i := range int32(12) {
				p.lose.Store(int64(i % 2))
				must(t, insert(e, value.Int32(i)))
			}
			p.lose.Store(0)
			if n := count(t, e); n != 12 || p.lost.Load() < 5 {
				t.Errorf("%d records after 12 inserts, %d answers to commits were lost", n, p.lost.Load())
			}
		})
	}
}

// TestTrips: what single operations cost in round trips to the database.
func TestTrips(t *testing.T) {
	t.Parallel()
	var trips atomic.Int64
	e := at(t, pgtest.URI(t), func() { trips.Add(1) })
	for i := range int32(200) {
		must(t, insert(e, value.Int32(i)))
	}
	for _, tt := range []struct {
		name string
		max  int64
		do   func() error
	}{
		{"find by _id", 1, func() error {
			return e.View(ctx, func(tx storage.Tx) error {
				c, err := tx.Collection(ns)
				if err != nil {
					return err
				}
				_, ok, err := c.Find("_id", value.AppendKey(nil, value.Int32(7)))
				if !ok {
					t.Error("the record is not found")
				}
				return err
			})
		}},
		{"find of 100 by an index", 2, func() error {
			return e.View(ctx, func(tx storage.Tx) error {
				c, err := tx.Collection(ns)
				if err != nil {
					return err
				}
				n := 0
				return c.ScanRecords("a", storage.KeyRange{}, func([]byte, storage.Record) bool { n++; return n < 100 })
			})
		}},
		{"insert of one", 3, func() error { return insert(e, value.Int32(1000)) }},
		{"update of one by _id", 3, func() error {
			return e.UpdateShared(ctx, func(tx storage.Tx) error {
				c, err := tx.Collection(ns)
				if err != nil {
					return err
				}
				r, _, err := c.Find("_id", value.AppendKey(nil, value.Int32(9)))
				if err == nil {
					_, err = c.Update(r.ID, value.NewDoc("_id", value.Int32(9), "a", value.Int32(2)), 2)
				}
				return err
			})
		}},
		{"insert of 1,000", 4, func() error {
			return e.UpdateShared(ctx, func(tx storage.Tx) error {
				c, err := tx.Collection(ns)
				for i := int32(0); i < 1000 && err == nil; i++ {
					_, err = c.Insert(value.NewDoc("_id", value.Int32(5000-i), "a", value.Int32(i)), 3)
				}
				return err
			})
		}},
	} {
		lowest := int64(1 << 30) // a beat may come between
		for range 3 {
			before := trips.Load()
			if err := tt.do(); err != nil {
				var dup *storage.DuplicateKeyError
				if !errors.As(err, &dup) || lowest == 1<<30 {
					t.Fatalf("%s: %v", tt.name, err)
				}
				break
			}
			lowest = min(lowest, trips.Load()-before)
		}
		if lowest > tt.max {
			t.Errorf("%s: %d round trips, want at most %d", tt.name, lowest, tt.max)
		}
	}
	before, begun := trips.Load(), clock.System().Now()
	<-clock.System().After(3 * time.Second)
	idle := float64(trips.Load()-before) / clock.System().Now().Sub(begun).Seconds()
	if idle > 2 {
		t.Errorf("an idle server makes %.1f round trips a second", idle)
	}
}

// TestWaitsForDatabase: an engine is opened when the database is there; a password
// that is wrong, or a newer format, is an error at once.
func TestWaitsForDatabase(t *testing.T) {
	t.Parallel()
	db := pgtest.Own(t)
	options := postgres.Options{URI: db.URI(""), Schema: "own", Indexer: storagetest.Indexer{}, Logger: t.Logf, Version: "7.8.9"}
	db.Kill()
	opened := make(chan error, 1)
	go func() {
		e, err := postgres.Open(ctx, options)
		if err == nil {
			err = e.Close()
		}
		opened <- err
	}()
	<-clock.System().After(100 * time.Millisecond)
	must(t, db.Launch())
	must(t, <-opened)
	admin, err := pgconn.Connect(ctx, options.URI)
	must(t, err)
	defer func() { _ = admin.Close(ctx) }()
	_, err = admin.Exec(ctx, "update own.meta set format = 99").ReadAll()
	must(t, err)
	var newer *storage.NewerFormatError
	if _, err := postgres.Open(ctx, options); !errors.As(err, &newer) || newer.Version != "7.8.9" || newer.Format != 99 {
		t.Errorf("tables of a newer format: %v", err)
	}
	options.URI = pgtest.With(options.URI, "poolSize", "none")
	if _, err := postgres.Open(ctx, options); err == nil {
		t.Error("a pool of none is accepted")
	}
}

// TestScanTrips: a scan reads ahead, about a thousand records at a time.
func TestScanTrips(t *testing.T) {
	t.Parallel()
	e := at(t, pgtest.URI(t), nil)
	const n = 10_000
	must(t, e.UpdateShared(ctx, func(tx storage.Tx) error {
		c, err := tx.Collection(ns)
		for i := int32(0); i < n && err == nil; i++ {
			_, err = c.Insert(value.NewDoc("_id", value.Int32(i), "a", value.Int32(i)), 3)
		}
		return err
	}))
	before := tripsOf(t, e, "read")
	if got := count(t, e); got != n {
		t.Errorf("%d of %d records", got, n)
	}
	if got := tripsOf(t, e, "read") - before; got > n/1000+4 { // the first pages are small
		t.Errorf("a scan of %d records made %d round trips", n, got)
	}
}
