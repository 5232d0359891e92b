package queue

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/index"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/bunt"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/ttl/monitor"
	"github.com/duskdb/duskdb/value"
)

// t0 is the instant at which the tests begin.
const t0 int64 = 1767225600000

// indexer is what the server opens its engine with, without metadata.
type indexer struct{ index.Indexer }

func (indexer) Attach(*storage.Info) any { return nil }

// env is a server with one database.
type env struct {
	t       testing.TB
	ctx     context.Context
	engine  storage.Engine
	store   Store
	clock   *clock.Manual
	broker  *Broker
	metrics ttl.Metrics
	monitor *monitor.Monitor
}

func newEnv(t testing.TB) *env { return newEnvAt(t, bunt.Memory) }

func newEnvAt(t testing.TB, path string) *env {
	t.Helper()
	e := &env{t: t, ctx: t.Context(), clock: clock.NewManual(time.UnixMilli(t0).UTC())}
	e.open(path)
	t.Cleanup(func() { _ = e.engine.Close() })
	return e
}

func (e *env) open(path string) {
	e.t.Helper()
	engine, err := bunt.Open(bunt.Options{Path: path, Indexer: indexer{}})
	if err != nil {
		e.t.Fatal(err)
	}
	e.engine = engine
	e.broker = NewBroker(e.clock, e.clock, &e.metrics)
	e.store = engineStore{engine, e.broker}
	e.monitor = monitor.New(&host{e}, monitor.Options{Clock: e.clock, Real: e.clock})
}

// engineStore runs the transactions of a broker by themselves.
type engineStore struct {
	storage.Engine
	broker *Broker
}

func (s engineStore) Update(ctx context.Context, fn func(storage.Tx, *Changes) error) error {
	changes := s.broker.Changes()
	err := s.Engine.Update(ctx, func(tx storage.Tx) error {
		changes.Begin()
		return fn(tx, changes)
	})
	if err == nil {
		changes.Committed()
	}
	return err
}

func (engineStore) InTransaction() bool { return false }

// host is the server as the monitor sees it: it has nothing but queues.
type host struct{ e *env }

func (h *host) Collections(ctx context.Context, _ *monitor.Schedule, _ int64) (l monitor.Listing, err error) {
	err = h.e.engine.View(ctx, func(tx storage.Tx) error {
		infos, err := tx.Collections("")
		l.Queues = h.e.broker.Targets(infos, h.e.store)
		return err
	})
	return l, err
}

func (h *host) View(context.Context, *monitor.Collection, func(storage.Collection, *ttl.Rules) error) error {
	return monitor.ErrGone
}
func (h *host) Update(context.Context, *monitor.Collection, func(storage.Collection, *ttl.Rules, ttl.Remover) error) error {
	return monitor.ErrGone
}
func (h *host) Parameters() monitor.Parameters {
	return monitor.Parameters{Enabled: true, SleepSecs: 60, BatchDeletes: true, SubPassTargetSecs: 60, DeleteTargetMS: 1000, DeleteTargetDocs: 50000}
}
func (h *host) Locked() bool          { return false }
func (h *host) ActiveOperations() int { return 0 }
func (h *host) Operations() int64     { return 0 }

func (e *env) now() int64 { return e.clock.NowMillis() }

// at moves the clock to so many seconds after t0.
func (e *env) at(seconds float64) {
	e.t.Helper()
	if err := e.clock.Set(time.UnixMilli(t0 + int64(seconds*1000))); err != nil {
		e.t.Fatal(err)
	}
}

func (e *env) must(err error) {
	e.t.Helper()
	if err != nil {
		e.t.Fatal(err)
	}
}

// fails expects an error of a code with a fragment of its text.
func (e *env) fails(err error, code mongoerr.Code, fragment string) {
	e.t.Helper()
	if mongoerr.CodeOf(err) != code || err != nil && !strings.Contains(err.Error(), fragment) {
		e.t.Errorf("error %v, want %d %q", err, code, fragment)
	}
}

func ns(name string) storage.Namespace { return storage.Namespace{DB: "db", Coll: name} }

func ref(name string) Ref {
	r, err := ParseRef("db", name, "")
	if err != nil {
		panic(err)
	}
	return r
}

const dlq = "q/$deadletterqueue"

func (e *env) create(name, options string) {
	e.t.Helper()
	e.must(e.tryCreate(name, options))
}

func (e *env) tryCreate(name, options string) error { return e.tryCreateAs(Queue, name, options) }

// createAs creates a queue, topic or subscription.
func (e *env) createAs(kind Kind, name, options string) {
	e.t.Helper()
	e.must(e.tryCreateAs(kind, name, options))
}

func (e *env) tryCreateAs(kind Kind, name, options string) error {
	c, err := ParseConfig("create", kind, value.Document(value.MustJSON(options)))
	if err != nil {
		return err
	}
	return e.store.Update(e.ctx, func(tx storage.Tx, changes *Changes) error {
		main, dead := ns(name), ns(DeadLetterName(name))
		if _, err := tx.Create(main, WithOption(value.EmptyDoc, &c), append([]storage.IndexSpec{IDIndex()}, Indexes(&c)...)); err != nil {
			return err
		}
		if kind != Topic {
			if _, err := tx.Create(dead, DeadLetterOptions(name), append([]storage.IndexSpec{IDIndex()}, DeadLetterIndexes()...)); err != nil {
				return err
			}
		}
		return e.broker.Begin(tx, changes, main, e.now())
	})
}

func (e *env) send(name string, docs ...string) []int64 {
	e.t.Helper()
	numbers, err := e.trySend(name, docs...)
	e.must(err)
	return numbers
}

func (e *env) trySend(name string, docs ...string) ([]int64, error) {
	var list []value.Doc
	for _, d := range docs {
		list = append(list, value.MustJSON(d))
	}
	return e.broker.Send(e.ctx, e.store, ref(name), list, e.now())
}

// sendFor sends a message with a time to live in seconds.
func (e *env) sendFor(id int, seconds float64) int64 {
	e.t.Helper()
	d := value.NewDoc("_id", value.Int32(int32(id)), Field, value.Document(value.NewDoc("timeToLive", value.Double(seconds))))
	numbers, err := e.broker.Send(e.ctx, e.store, ref("q"), []value.Doc{d}, e.now())
	e.must(err)
	return numbers[0]
}

func (e *env) receive(name string, n int) []value.Doc {
	e.t.Helper()
	docs, err := e.broker.Receive(e.ctx, e.store, Request{Ref: ref(name), Max: n}, e.now())
	e.must(err)
	return docs
}

// one receives exactly one message.
func (e *env) one(name string) value.Doc {
	e.t.Helper()
	docs := e.receive(name, 1)
	if len(docs) != 1 {
		e.t.Fatalf("received %d messages from %s at %+d", len(docs), name, e.now()-t0)
	}
	return docs[0]
}

func (e *env) none(name string) {
	e.t.Helper()
	if docs := e.receive(name, 1); len(docs) != 0 {
		e.t.Fatalf("received %v", docs)
	}
}

func (e *env) number(name string, n int64) (value.Doc, error) {
	docs, err := e.broker.Receive(e.ctx, e.store, Request{Ref: ref(name), Numbers: []int64{n}}, e.now())
	if err != nil {
		return nil, err
	}
	return docs[0], nil
}

func (e *env) peek(name string) []value.Doc {
	e.t.Helper()
	docs, err := e.broker.Browse(e.ctx, e.store, Browse{Ref: ref(name), Max: 1000}, e.now())
	e.must(err)
	return docs
}

func (e *env) count(name string, want int) {
	e.t.Helper()
	if got := e.peek(name); len(got) != want {
		e.t.Fatalf("%d messages in %s, want %d: %v", len(got), name, want, got)
	}
}

func (e *env) complete(name string, d value.Doc) error {
	return e.broker.Complete(e.ctx, e.store, Lock{ref(name), tokenOf(d)}, e.now())
}

func (e *env) abandon(name string, d value.Doc) string {
	e.t.Helper()
	out, err := e.broker.Abandon(e.ctx, e.store, Lock{ref(name), tokenOf(d)}, nil, e.now())
	e.must(err)
	return out
}

func (e *env) deferIt(name string, d value.Doc) string {
	e.t.Helper()
	_, out, err := e.broker.Defer(e.ctx, e.store, Lock{ref(name), tokenOf(d)}, e.now())
	e.must(err)
	return out
}

func (e *env) stats(name string) Stats {
	e.t.Helper()
	st, err := e.broker.Stats(e.ctx, e.store, ref(name), e.now())
	e.must(err)
	return st
}

// sweep runs a pass of the monitor.
func (e *env) sweep() ttl.Removed {
	e.t.Helper()
	r, err := e.monitor.RunPass(e.ctx, ttl.All)
	e.must(err)
	if r.Errors != 0 {
		e.t.Fatalf("%d errors in a pass", r.Errors)
	}
	return r.Of(ttl.Message).Removed
}

func tokenOf(d value.Doc) (t [16]byte) {
	_, b := mq(d, "lockToken").Binary()
	copy(t[:], b)
	return t
}

func mq(d value.Doc, name string) value.Value { return d.Lookup(Field).Doc().Lookup(name) }

// expectMQ compares fields of _mq, given as relaxed JSON.
func expectMQ(t testing.TB, d value.Doc, want string) {
	t.Helper()
	b := value.NewBuilder()
	for name := range value.MustJSON(want).All() {
		b.Append(name, mq(d, name))
	}
	if diff := cmp.Diff(value.MustJSON(want).String(), b.Doc().String()); diff != "" {
		t.Errorf("%s: -want +got:\n%s", Field, diff)
	}
}

func exists(e *env, name string) bool {
	found := true
	e.must(e.engine.View(e.ctx, func(tx storage.Tx) error {
		_, err := tx.Collection(ns(name))
		if errors.Is(err, storage.ErrNotFound) {
			found, err = false, nil
		}
		return err
	}))
	return found
}
