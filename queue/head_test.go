package queue

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// meter is a Store that counts the calls made while the write lock is held.
type meter struct {
	Store
	writes, reads int
}

func (s *meter) Update(ctx context.Context, fn func(storage.Tx, *Changes) error) error {
	return s.Store.Update(ctx, func(tx storage.Tx, c *Changes) error { return fn(&meteredTx{tx, s}, c) })
}

type meteredTx struct {
	storage.Tx
	s *meter
}

func (t *meteredTx) Collection(ns storage.Namespace) (storage.Collection, error) {
	c, err := t.Tx.Collection(ns)
	if err != nil || ns.Coll == stateName {
		return c, err
	}
	return &meteredColl{c, t.s}, nil
}

type meteredColl struct {
	storage.Collection
	s *meter
}

func (c *meteredColl) Insert(d value.Doc, ts int64) (storage.RecordID, error) {
	c.s.writes++
	return c.Collection.Insert(d, ts)
}

func (c *meteredColl) Update(id storage.RecordID, d value.Doc, ts int64) (storage.Written, error) {
	c.s.writes++
	return c.Collection.Update(id, d, ts)
}

func (c *meteredColl) Delete(id storage.RecordID) (storage.Written, error) {
	c.s.writes++
	return c.Collection.Delete(id)
}

func (c *meteredColl) Get(id storage.RecordID) (storage.Record, bool, error) {
	c.s.reads++
	return c.Collection.Get(id)
}

func (c *meteredColl) ScanIndex(name string, r storage.KeyRange, fn func([]byte, storage.RecordID) bool) error {
	return c.Collection.ScanIndex(name, r, func(key []byte, id storage.RecordID) bool {
		c.s.reads++
		return fn(key, id)
	})
}

func (c *meteredColl) ScanRecords(name string, r storage.KeyRange, fn func([]byte, storage.Record) bool) error {
	return c.Collection.ScanRecords(name, r, func(key []byte, r storage.Record) bool {
		c.s.reads += 2 // the entry and its record
		return fn(key, r)
	})
}

// sendMany sends messages without a time to live of their own.
func (e *env) sendMany(first, n int, schedule int64) {
	e.t.Helper()
	docs := make([]value.Doc, n)
	for i := range docs {
		b := value.NewBuilder().Int32("_id", int32(first+i))
		if schedule != 0 {
			b.Document(Field, value.NewDoc("scheduledEnqueueTimeUtc", value.DateTime(schedule)))
		}
		docs[i] = b.Doc()
	}
	_, err := e.broker.Send(e.ctx, e.store, ref("q"), docs, e.now())
	e.must(err)
}

// A command processes a limited share of the due messages, however many there are, and
// its counts are still correct.
func TestCommandsDoAShare(t *testing.T) {
	const n = 20 * dueShare
	// A message is read once by its entry and once by itself, written once or,
	// as it moves to another queue, twice; a scheduled one may expire as well.
	const most = 4*dueShare + 20
	for _, dead := range []bool{false, true} {
		e := newEnv(t)
		e.create("q", fmt.Sprintf(`{"defaultMessageTimeToLive": 10, "deadLetteringOnMessageExpiration": %v}`, dead))
		e.sendMany(0, n, 0)
		e.at(5)
		e.sendMany(n, 3, 0)
		e.at(10)
		s := &meter{Store: e.store}
		left := int64(n)
		within := func(command string) {
			t.Helper()
			if s.writes > most || s.reads > most {
				t.Errorf("dead=%v: %s wrote %d and read %d times", dead, command, s.writes, s.reads)
			}
			s.writes, s.reads = 0, 0
			st := e.stats("q")
			if got := st.ExpiredPending; got < left-dueShare || got > left {
				t.Errorf("dead=%v: %d left after %s, were %d", dead, got, command, left)
			}
			if left = st.ExpiredPending; dead && st.DeadLettered != n-left {
				t.Errorf("%d dead letters, %d left", st.DeadLettered, left)
			}
		}
		for i := range int64(3) {
			docs, err := e.broker.Receive(e.ctx, s, Request{Ref: ref("q"), Max: 1}, e.now())
			e.must(err)
			if len(docs) != 1 || mq(docs[0], "sequenceNumber").Int64() != n+1+i {
				t.Fatalf("received %v", docs)
			}
			within("a receive")
			if got, want := e.stats("q"), (2 - i); got.Active != want || got.Locked != i+1 {
				t.Errorf("%+v, want %d active", got, want)
			}
		}
		docs, err := e.broker.Receive(e.ctx, s, Request{Ref: ref("q"), Max: 1}, e.now())
		if e.must(err); len(docs) != 0 {
			t.Errorf("received %v", docs)
		}
		within("an empty receive")
		if _, err = e.broker.Receive(e.ctx, s, Request{Ref: ref("q"), Numbers: []int64{1}}, e.now()); err == nil {
			t.Error("received an expired message")
		}
		within("a receive by number")
		_, err = e.broker.Send(e.ctx, s, ref("q"), []value.Doc{value.NewDoc("_id", value.Int32(-1))}, e.now())
		e.must(err)
		within("a send")
		if want := int64(n - 5*dueShare); left != want {
			t.Errorf("%d left, want %d", left, want)
		}
		removed := e.sweep()
		if got := removed.MessagesDropped + removed.MessagesDeadLettered; got != left {
			t.Errorf("the sweep removed %d of %d", got, left)
		}
	}
}

// Messages that become due at the same time are activated by share, also those of a
// command that sends many.
func TestScheduledByShare(t *testing.T) {
	const n = 10 * dueShare
	e := newEnv(t)
	e.create("q", `{}`)
	e.sendMany(0, n, t0+10_000)
	e.at(10)
	s := &meter{Store: e.store}
	e.must(s.Update(e.ctx, func(tx storage.Tx, changes *Changes) error {
		for i := range 50 {
			if _, err := e.broker.Insert(tx, changes, ns("q"), value.NewDoc("_id", value.Int32(int32(n+i))), e.now()); err != nil {
				return err
			}
		}
		return nil
	}))
	if s.writes != dueShare+50 {
		t.Errorf("%d writes", s.writes)
	}
	if st := e.stats("q"); st.Active != n+50 || st.Scheduled != 0 {
		t.Errorf("%+v", st)
	}
	for i := range n + 50 {
		expectMQ(t, e.one("q"), fmt.Sprintf(`{"sequenceNumber": {"$numberLong": "%d"}}`, n+1+i))
	}
	e.none("q")
}

// A backlog of the queue does not delay receivers of dead letters.
func TestDeadLettersBesideBacklog(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{"lockDuration": 20}`)
	e.send("q", `{"_id": "dead"}`)
	e.must(e.broker.DeadLetter(e.ctx, e.store, Lock{ref("q"), tokenOf(e.one("q"))}, "", "", e.now()))
	e.one(dlq)
	for i := range 3 * dueShare {
		e.sendFor(i, 10)
	}
	e.at(20)
	if d := e.one(dlq); d.Lookup("_id").Str() != "dead" {
		t.Errorf("received %v", d)
	}
}

// A waiting receiver continues while messages are left to process that may make a message
// receivable.
func TestWaitBehindBacklog(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{}`)
	for i := range 3 * dueShare {
		e.send("q", fmt.Sprintf(`{"_id": %d, "_mq": {"timeToLive": 1, "scheduledEnqueueTimeUtc": {"$date": %d}}}`, i, t0+10_000))
	}
	e.send("q", fmt.Sprintf(`{"_id": "last", "_mq": {"scheduledEnqueueTimeUtc": {"$date": %d}}}`, t0+10_001))
	e.at(20)
	docs, err := e.broker.Receive(e.ctx, e.store, Request{Ref: ref("q"), Max: 1, Wait: MaxWait}, e.now())
	e.must(err)
	expectMQ(t, docs[0], fmt.Sprintf(`{"sequenceNumber": {"$numberLong": "%d"}}`, 6*dueShare+2))
}

// A lock that lapses below the head releases its message at once.
func TestLapseBelowFront(t *testing.T) {
	e := newEnv(t)
	e.broker.share = 2
	e.create("q", `{"lockDuration": 10}`)
	e.send("q", `{"_id": "first"}`)
	e.one("q")
	for i := range 6 {
		e.sendFor(i, 5)
	}
	e.send("q", `{"_id": "last"}`)
	e.at(6)
	expectMQ(t, e.one("q"), `{"sequenceNumber": {"$numberLong": "8"}}`)
	e.at(10)
	expectMQ(t, e.one("q"), `{"sequenceNumber": {"$numberLong": "1"}, "deliveryCount": 2}`)
	e.none("q")
}

// A message that has expired for one command may not have expired for another command
// that began earlier.
func TestFrontHasAnInstant(t *testing.T) {
	e := newEnv(t)
	e.broker.share = 0
	e.create("q", `{}`)
	for i := range 3 {
		e.sendFor(i, 10)
	}
	e.at(10)
	e.none("q")
	docs, err := e.broker.Receive(e.ctx, e.store, Request{Ref: ref("q"), Max: 5}, t0+9_999)
	if e.must(err); len(docs) != 3 {
		t.Errorf("received %v", docs)
	}
}

// With the smallest share, expired messages are skipped until they are removed, in
// whatever order they expire: a receive returns the first one that has not expired.
func TestModelOfShare(t *testing.T) {
	type one struct {
		number, expires int64
		held            bool
		token           [16]byte
	}
	rapid.Check(t, func(r *rapid.T) {
		e := newEnv(t)
		defer func() { _ = e.engine.Close() }()
		e.broker.share = rapid.IntRange(1, 3).Draw(r, "share")
		e.create("q", `{"lockDuration": 300, "maxDeliveryCount": 1000}`)
		var list []*one
		next, seconds := int64(1), 0.0
		alive := func(x *one) bool { return !x.held && x.expires > e.now() }
		r.Repeat(map[string]func(*rapid.T){
			"send": func(r *rapid.T) {
				for range rapid.IntRange(1, 8).Draw(r, "messages") {
					ttl := rapid.IntRange(1, 20).Draw(r, "ttl")
					e.sendFor(int(next), float64(ttl))
					list = append(list, &one{number: next, expires: e.now() + int64(ttl)*1000})
					next++
				}
			},
			"receive": func(r *rapid.T) {
				n := rapid.IntRange(1, 3).Draw(r, "most")
				docs := e.receive("q", n)
				for i, d := range docs {
					at := slices.IndexFunc(list, alive)
					if at < 0 || list[at].number != mq(d, "sequenceNumber").Int64() {
						r.Fatalf("message %d of %v is not the first", i, docs)
					}
					list[at].held, list[at].token = true, tokenOf(d)
				}
				if len(docs) == 0 && slices.ContainsFunc(list, alive) {
					r.Fatal("received nothing")
				}
			},
			"abandon": func(r *rapid.T) {
				var held []*one
				for _, x := range list {
					if x.held {
						held = append(held, x)
					}
				}
				if len(held) == 0 {
					r.Skip("nothing is held")
				}
				x := rapid.SampledFrom(held).Draw(r, "message")
				_, err := e.broker.Abandon(e.ctx, e.store, Lock{ref("q"), x.token}, nil, e.now())
				e.must(err)
				x.held = false
			},
			"clock": func(r *rapid.T) {
				if seconds < 290 { // no lock lapses
					seconds += float64(rapid.IntRange(1, 8).Draw(r, "seconds"))
					e.at(seconds)
				}
			},
			"": func(r *rapid.T) {
				var want Stats
				for _, x := range list {
					switch {
					case x.held:
						want.Locked++
					case alive(x):
						want.Active++
					}
				}
				if st := e.stats("q"); st.Active != want.Active || st.Locked != want.Locked {
					r.Fatalf("%+v, want %+v", st, want)
				}
			},
		})
	})
}

// BenchmarkReceiveBehindBacklog measures the receiving and completing of a message after
// many that have expired.
func BenchmarkReceiveBehindBacklog(b *testing.B) {
	e := newEnv(b)
	e.broker.share = 0 // what is measured is how the backlog is passed
	e.create("q", `{"defaultMessageTimeToLive": 10}`)
	e.fill(100_000)
	e.at(10)
	for i := 0; b.Loop(); i++ {
		d := value.NewDoc("_id", value.Int64(int64(1<<20+i)))
		if _, err := e.broker.Send(e.ctx, e.store, ref("q"), []value.Doc{d}, e.now()); err != nil {
			b.Fatal(err)
		}
		e.must(e.complete("q", e.one("q")))
	}
}
