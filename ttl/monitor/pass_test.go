package monitor

import (
	"github.com/duskdb/duskdb/ttl/internal/ttltest"

	"github.com/duskdb/duskdb/ttl"

	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// t0 is the instant at which the cases of the specification begin.
var t0 = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// at is t0 and some seconds, as a date in JSON.
func at(seconds float64) string {
	return fmt.Sprintf(`{"$date":{"$numberLong":"%d"}}`, t0.UnixMilli()+int64(seconds*1000))
}

func newTestMonitor(h Host) (*Monitor, *clock.Manual) {
	c := clock.NewManual(t0)
	return New(h, Options{Clock: c, Real: c, Batch: 100}), c
}

func mustPass(t *testing.T, m *Monitor) Result {
	t.Helper()
	r, err := m.RunPass(context.Background(), ttl.All)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Which documents a pass removes, by index and instant.
func TestDeletable(t *testing.T) {
	const x10 = `{"key":{"x":1},"name":"x_1","expireAfterSeconds":10}`
	tests := []struct {
		name, index string
		docs        []string
		now         float64
		left        string
	}{
		{"a millisecond early", x10, []string{`{"_id":1,"x":` + at(0) + `}`}, 9.999, "1 "},
		{"inclusive", x10, []string{`{"_id":1,"x":` + at(0) + `}`}, 10, ""},
		{"absolute", `{"key":{"x":1},"name":"x_1","expireAfterSeconds":0}`,
			[]string{`{"_id":1,"x":` + at(100) + `}`, `{"_id":2,"x":` + at(101) + `}`}, 100, "2 "},
		{"earliest of an array", x10, []string{`{"_id":1,"x":[` + at(50) + `,` + at(0) + `,"s"]}`}, 10, ""},
		{"array too early", x10, []string{`{"_id":1,"x":[` + at(50) + `,` + at(1) + `,"s"]}`}, 10, "1 "},
		{"no dates", x10, []string{
			`{"_id":1,"x":"2026"}`, `{"_id":2,"x":5}`, `{"_id":3,"x":{"$timestamp":{"t":1,"i":1}}}`,
			`{"_id":4,"x":[]}`, `{"_id":5,"x":null}`, `{"_id":6}`, `{"_id":7,"x":{"y":` + at(0) + `}}`,
			`{"_id":8,"x":{"$oid":"000000000000000000000000"}}`, `{"_id":9,"x":true}`,
		}, 1e6, "1 2 3 4 5 6 7 8 9 "},
		{"before 1970", x10, []string{`{"_id":1,"x":{"$date":{"$numberLong":"-86400000"}}}`}, 0, ""},
		{"descending", `{"key":{"x":-1},"name":"x_-1","expireAfterSeconds":10}`,
			[]string{`{"_id":1,"x":` + at(0) + `}`, `{"_id":2,"x":` + at(0.001) + `}`, `{"_id":3,"x":5}`, `{"_id":4,"x":{"$maxKey":1}}`, `{"_id":5,"x":null}`}, 10, "2 3 4 5 "},
		{"dotted", `{"key":{"a.b":1},"name":"a.b_1","expireAfterSeconds":0}`,
			[]string{`{"_id":1,"a":{"b":` + at(0) + `}}`, `{"_id":2,"a":[{"b":1},{"b":` + at(0) + `}]}`, `{"_id":3,"a":` + at(0) + `}`}, 0, "3 "},
		{"hidden", `{"key":{"x":1},"name":"x_1","expireAfterSeconds":10,"hidden":true}`, []string{`{"_id":1,"x":` + at(0) + `}`}, 10, ""},
		{"longest", `{"key":{"x":1},"name":"x_1","expireAfterSeconds":2147483647}`, []string{`{"_id":1,"x":` + at(0) + `}`}, 2147483646, "1 "},
		{"not a TTL index", `{"key":{"x":1},"name":"x_1"}`, []string{`{"_id":1,"x":` + at(0) + `}`}, 10, "1 "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newHost(t)
			c := h.create(t, "c", `{}`, nil, tt.index)
			c.Put(0, tt.docs...)
			m, clk := newTestMonitor(h)
			_ = clk.Set(t0.Add(time.Duration(tt.now * float64(time.Second))))
			mustPass(t, m)
			if got := c.IDs(); got != tt.left {
				t.Errorf("left %q, want %q", got, tt.left)
			}
			if n := m.Metrics().Passes.Load(); n != 1 {
				t.Errorf("%d passes", n)
			}
		})
	}
}

func TestClusteredPass(t *testing.T) {
	h := newHost(t)
	c := h.create(t, "c", `{"clusteredIndex":{"v":2,"key":{"_id":1}},"expireAfterSeconds":{"$numberLong":"10"}}`, nil,
		`{"key":{"_id":1},"name":"_id_","clustered":true,"unique":true}`)
	c.Put(0, `{"_id":`+at(0)+`}`, `{"_id":"a"}`, `{"_id":{"$date":{"$numberLong":"-86400000"}}}`, `{"_id":`+at(0.001)+`}`, `{"_id":{"$date":{"$numberLong":"0"}}}`)
	m, clk := newTestMonitor(h)
	_ = clk.Advance(10 * time.Second)
	if r := mustPass(t, m); r.Of(ttl.Clustered).Documents != 2 || c.Count() != 3 {
		t.Errorf("%d removed, left %s", r.Of(ttl.Clustered).Documents, c.IDs())
	}
}

func TestDocumentPass(t *testing.T) {
	for _, tt := range []struct {
		policy string
		now    int64
		left   string
	}{
		{`1000`, 999, "1 2 3 4 "},
		{`1000`, 1000, "2 3 "},
		{`1000`, 2000, "2 "},
		{`-1`, 1000, "1 2 3 4 "},
		{`-1`, 2000, "1 2 4 "},
		{``, 1e9, "1 2 3 4 "},
	} {
		h := newHost(t)
		options := `{}`
		if tt.policy != "" {
			options = `{"documentTtl":{"default":` + tt.policy + `,"invalid":"ignore","exposeTs":false}}`
		}
		c := h.create(t, "c", options, ttl.DocumentIndexes())
		c.Put(t0.UnixMilli(), `{"_id":1}`, `{"_id":2,"ttl":-1}`, `{"_id":3,"ttl":2000}`, `{"_id":4,"ttl":"x"}`)
		m, clk := newTestMonitor(h)
		_ = clk.Advance(time.Duration(tt.now) * time.Second)
		mustPass(t, m)
		if got := c.IDs(); got != tt.left {
			t.Errorf("default %s at %d: left %q, want %q", tt.policy, tt.now, got, tt.left)
		}
		if m.Metrics().DeletedDocuments.Load() != 0 {
			t.Error("document TTL is counted under metrics.ttl")
		}
	}
}

func TestPurgeYields(t *testing.T) {
	h := newHost(t)
	c := h.create(t, "c", `{"documentTtl":{"default":10}}`, ttl.DocumentIndexes())
	c.Put(t0.UnixMilli(), `{"_id":1}`)
	m, clk := newTestMonitor(h)
	_ = clk.Advance(time.Minute)
	for _, busy := range []struct {
		threshold int64
		active    int
	}{{0, 0}, {3, 3}} {
		h.params.PurgeThreshold, h.active = busy.threshold, busy.active
		if r := mustPass(t, m); !r.Deferred || c.Count() != 1 {
			t.Errorf("%+v: purged", busy)
		}
	}
	c.View(func(coll storage.Collection) error {
		n, err := rulesOf(coll.Info()).PendingPurge(coll, clk.NowMillis())
		if n != 1 {
			t.Errorf("pending %d", n)
		}
		return err
	})
	if n := m.Metrics().DeferredPasses.Load(); n != 2 {
		t.Errorf("%d deferred passes", n)
	}
	h.params.PurgeThreshold = 64
	if r := mustPass(t, m); r.Deferred || c.Count() != 0 || m.Metrics().Purged.Load() != 1 {
		t.Error("not purged")
	}
}

func TestLimits(t *testing.T) {
	fill := func(h *testHost, name string, n int) *ttltest.Coll {
		c := h.create(t, name, `{}`, nil, `{"key":{"x":1},"name":"x_1","expireAfterSeconds":0}`)
		for i := range n {
			c.Put(0, fmt.Sprintf(`{"_id":%d,"x":%s}`, i, at(0)))
		}
		return c
	}
	t.Run("documents per visit", func(t *testing.T) {
		h := newHost(t)
		h.params.DeleteTargetDocs = 50
		a, b := fill(h, "a", 120), fill(h, "b", 60)
		var order []string
		h.onUpdate = func() { order = append(order, fmt.Sprintf("%d/%d", a.Count(), b.Count())) }
		m, _ := newTestMonitor(h)
		r := mustPass(t, m)
		want := "120/60 70/60 70/10 20/10 20/0" // round robin
		if got := strings.Join(order, " "); a.Count()+b.Count() != 0 || got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if r.SubPasses != 1 || r.Of(ttl.Index).Documents != 180 || r.Of(ttl.Index).Keys != 180 || h.largest > 50 {
			t.Errorf("%+v, largest transaction %d", r, h.largest)
		}
	})
	t.Run("sub-passes of no length", func(t *testing.T) {
		h := newHost(t)
		h.params.DeleteTargetDocs, h.params.SubPassTargetSecs = 50, 0
		c := fill(h, "a", 120)
		m, _ := newTestMonitor(h)
		if r := mustPass(t, m); r.SubPasses != 3 || c.Count() != 0 || m.Metrics().SubPasses.Load() != 3 {
			t.Errorf("%d sub-passes, %d left", r.SubPasses, c.Count())
		}
	})
	t.Run("time", func(t *testing.T) {
		h := newHost(t)
		c := fill(h, "a", 1000)
		m, clk := newTestMonitor(h)
		h.onUpdate = func() { _ = clk.Advance(600 * time.Millisecond) }
		mustPass(t, m)
		if visits := 1 + h.views; c.Count() != 0 || visits < 5 { // two transactions each
			t.Errorf("%d left after %d visits", c.Count(), visits)
		}
	})
	t.Run("no batches", func(t *testing.T) {
		h := newHost(t)
		h.params.BatchDeletes, h.params.DeleteTargetDocs = false, 10
		c := fill(h, "a", 250)
		m, _ := newTestMonitor(h)
		if mustPass(t, m); c.Count() != 0 || h.views != 0 || h.largest > 100 {
			t.Errorf("%d left, %d visits, %d in a transaction", c.Count(), 1+h.views, h.largest)
		}
	})
}

func TestSkippedIndexes(t *testing.T) {
	h := newHost(t)
	c := h.create(t, "c", `{}`, nil, `{"key":{"x":"hashed"},"name":"x_hashed","expireAfterSeconds":0}`)
	c.Put(0, `{"_id":1,"x":`+at(-5)+`}`)
	m, _ := newTestMonitor(h)
	mustPass(t, m)
	if m.Metrics().InvalidTTLIndexSkips.Load() != 1 || c.Count() != 1 {
		t.Error("a hashed index is to be skipped and counted")
	}
}

// What another writer holds for a moment is removed in the same pass, what it holds for
// longer is left to the next one. A document that is kept is counted once.
func TestConflictsDuringPass(t *testing.T) {
	busy := fmt.Errorf("busy: %w", storage.ErrConflict)
	for name, tt := range map[string]struct {
		updates int            // number of updates that have a conflict
		records int            // removals that have one
		id      func(int) bool // ids of the records that always have one
		left    int
	}{
		"an update":             {updates: 1},
		"updates":               {updates: 3},
		"too many updates":      {updates: 1000, left: 150},
		"a record":              {records: 1},
		"records":               {records: 320},
		"too many records":      {records: 100000, left: 150},
		"some records for long": {id: func(i int) bool { return i%50 == 0 }, left: 3},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t)
			c := h.create(t, "c", `{}`, nil, `{"key":{"x":1},"name":"x_1","expireAfterSeconds":0}`)
			for i := range 150 {
				c.Put(0, fmt.Sprintf(`{"_id":%d,"x":%s}`, i, at(0)))
			}
			c.Put(0, fmt.Sprintf(`{"_id":"kept","x":%s}`, at(0)))
			h.conflicts = tt.updates
			records := tt.records
			h.refuse = func(d value.Doc) error {
				switch id := d.Lookup("_id"); {
				case id.Kind() == value.KindString:
					return ttl.ErrKept
				case records > 0:
					records--
					return busy
				case tt.id != nil && tt.id(int(id.SafeInt64())):
					return busy
				}
				return nil
			}
			m := New(h, Options{Clock: clock.NewManual(t0), Batch: 100})
			r := mustPass(t, m)
			if left := c.Count() - 1; left != tt.left || r.Errors != 0 || r.Of(ttl.Index).Documents != int64(150-left) {
				t.Errorf("%+v, %d left, want %d", r, left, tt.left)
			}
			if kept := m.Metrics().Kept.Load(); kept != 1 && tt.updates < 1000 {
				t.Errorf("%d kept", kept)
			}
		})
	}
}

// A visit goes on where the one before it has stopped, and does not see again what that has
// kept.
func TestVisitsGoOn(t *testing.T) {
	h := newHost(t)
	c := h.create(t, "c", `{}`, nil, `{"key":{"x":1},"name":"x_1","expireAfterSeconds":0}`)
	for i := range 500 {
		c.Put(0, fmt.Sprintf(`{"_id":%d,"x":%s}`, i, at(0)))
	}
	h.params.DeleteTargetDocs = 100
	asked := 0
	h.refuse = func(d value.Doc) error {
		if asked++; d.Lookup("_id").SafeInt64()%150 == 0 {
			return ttl.ErrKept
		}
		return nil
	}
	m := New(h, Options{Clock: clock.NewManual(t0), Batch: 40})
	r := mustPass(t, m)
	if got := c.IDs(); got != "0 150 300 450 " || r.Of(ttl.Index).Documents != 496 {
		t.Errorf("%+v, left %q", r, got)
	}
	if asked != 500 {
		t.Errorf("visited %d documents, want each once", asked)
	}
	if kept := m.Metrics().Kept.Load(); kept != 4 {
		t.Errorf("%d kept", kept)
	}
}

// Drops and renames between two batches, a changed option, a bad target.
func TestChangesDuringPass(t *testing.T) {
	setup := func() (*testHost, *ttltest.Coll, *Monitor) {
		h := newHost(t)
		c := h.create(t, "c", `{}`, nil, `{"key":{"x":1},"name":"x_1","expireAfterSeconds":0}`)
		for i := range 150 {
			c.Put(0, fmt.Sprintf(`{"_id":%d,"x":%s}`, i, at(0)))
		}
		m, _ := newTestMonitor(h)
		return h, c, m
	}
	second := func(f func()) func() {
		n := 0
		return func() {
			if n++; n == 2 {
				f()
			}
		}
	}
	t.Run("drop", func(t *testing.T) {
		h, c, m := setup()
		left := 0
		h.onUpdate = second(func() { left = c.Count(); c.Drop() })
		if r := mustPass(t, m); r.Errors != 0 || left != 50 {
			t.Errorf("%d errors, %d left", r.Errors, left)
		}
	})
	t.Run("drop index", func(t *testing.T) {
		h, c, m := setup()
		h.onUpdate = second(func() { c.DropIndex("x_1") })
		if r := mustPass(t, m); r.Errors != 0 || c.Count() != 50 {
			t.Errorf("%d errors, %d left", r.Errors, c.Count())
		}
	})
	t.Run("rename", func(t *testing.T) {
		h, c, m := setup()
		h.onUpdate = second(func() { c.Rename("other") })
		if r := mustPass(t, m); r.Errors != 0 || c.Count() != 0 {
			t.Errorf("%d errors, %d left", r.Errors, c.Count())
		}
	})
	t.Run("longer", func(t *testing.T) {
		h, c, m := setup()
		h.onUpdate = second(func() { c.SetIndex(`{"key":{"x":1},"name":"x_1","expireAfterSeconds":9}`) })
		if mustPass(t, m); c.Count() != 50 {
			t.Errorf("%d left", c.Count())
		}
	})
	t.Run("error on one target", func(t *testing.T) {
		h, c, m := setup()
		d := h.create(t, "d", `{}`, nil, `{"key":{"x":1},"name":"x_1","expireAfterSeconds":0}`)
		d.Put(0, `{"_id":"d","x":`+at(0)+`}`)
		h.refuse = func(doc value.Doc) error {
			if doc.Lookup("_id").IsNumber() {
				return errors.New("disk full")
			}
			return nil
		}
		if r := mustPass(t, m); r.Errors != 1 || c.Count() != 150 || d.Count() != 0 {
			t.Errorf("%d errors, %d and %d left", r.Errors, c.Count(), d.Count())
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		h, c, m := setup()
		ctx, cancel := context.WithCancel(context.Background())
		h.onUpdate = cancel
		if _, err := m.RunPass(ctx, ttl.All); !errors.Is(err, context.Canceled) || c.Count() == 0 {
			t.Error("went on")
		}
	})
}

func TestDeadLetters(t *testing.T) {
	h := newHost(t)
	c := h.create(t, "c", `{"onExpire":{"deadLetterTo":"gone"}}`, nil, `{"key":{"x":1},"name":"x_1","expireAfterSeconds":10}`)
	for i := range 250 {
		c.Put(0, fmt.Sprintf(`{"_id":%d,"x":%s,"_expired":1}`, i, at(0)))
	}
	h.refuse = func(d value.Doc) error {
		if d.Lookup("_id").Int32()%100 == 0 {
			return fmt.Errorf("document is invalid: %w", ttl.ErrKept)
		}
		return nil
	}
	m, clk := newTestMonitor(h)
	_ = clk.Advance(15 * time.Second)
	r := mustPass(t, m)
	if got := c.IDs(); got != "0 100 200 " || r.Of(ttl.Index).Kept != 3 || r.SubPasses != 1 {
		t.Errorf("left %q, kept %d", got, r.Of(ttl.Index).Kept)
	}
	want := fmt.Sprintf(`{ _id: 1, x: new Date(%d), _expired: { reason: "TTLExpiredException", policy: "ttl", index: "x_1", source: "db.c", expiredAt: new Date(%d), removedAt: new Date(%d) } }`,
		t0.UnixMilli(), t0.UnixMilli()+10000, t0.UnixMilli()+15000)
	if len(h.letters) != 247 || h.letters[0].String() != want {
		t.Errorf("%d letters, the first is\n%s, want\n%s", len(h.letters), h.letters[0], want)
	}
}

type fakeTarget struct {
	ttl.Removed
	visits int
	during func() // called by each visit, unless nil
}

func (f *fakeTarget) UUID() (id [16]byte) { return id }

func (f *fakeTarget) Policy() ttl.Policy           { return ttl.Message }
func (f *fakeTarget) Namespace() storage.Namespace { return storage.Namespace{} }
func (f *fakeTarget) String() string               { return "db.q" }
func (f *fakeTarget) Sweep(_ context.Context, v *Visit) error {
	f.visits++
	if f.during != nil {
		f.during()
	}
	v.Batch()
	v.Count(f.Removed)
	v.Yield()
	f.Removed = ttl.Removed{}
	return nil
}

// Visiting is the target that a pass is at, and nothing outside a pass.
func TestVisiting(t *testing.T) {
	h := newHost(t)
	m, c := newTestMonitor(h)
	q := &fakeTarget{}
	q.during = func() {
		if v := m.Visiting(); v == nil || v.Target != Target(q) || !v.Since.Equal(c.Now()) {
			t.Errorf("during the visit: %+v", v)
		}
	}
	h.targets = []Target{q}
	mustPass(t, m)
	if v := m.Visiting(); v != nil || q.visits != 1 {
		t.Errorf("after %d visits: %+v", q.visits, v)
	}
}

func TestOtherTargetsAndReply(t *testing.T) {
	h := newHost(t)
	c := h.create(t, "c", `{}`, nil, `{"key":{"x":1},"name":"x_1","expireAfterSeconds":0}`)
	c.Put(0, `{"_id":1,"x":`+at(0)+`}`)
	q := &fakeTarget{Removed: ttl.Removed{MessagesDropped: 2, MessagesDeadLettered: 3, QueuesDropped: 1}}
	h.targets = []Target{q}
	m, _ := newTestMonitor(h)
	wanted, err := ttl.ParseTargets("runExpirationPass", []string{"messageQueue"})
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.RunPass(context.Background(), wanted)
	if err != nil || q.visits != 1 || c.Count() != 1 {
		t.Errorf("%v: %d visits, %d left", err, q.visits, c.Count())
	}
	b := value.NewBuilder()
	r.Append(b)
	if got := b.Doc().JSON(); got != `{"deleted":{"ttl":0,"clustered":0,"timeseriesBuckets":0,"documentTtl":0,"messagesDropped":2,"messagesDeadLettered":3,"queuesDropped":1},"subPasses":1}` {
		t.Error(got)
	}
	if _, err := ttl.ParseTargets("runExpirationPass", []string{"all"}); err == nil {
		t.Error("an unknown target is accepted")
	}
}

// Passes count each removal once, by its policy, with the time since it expired.
func TestPassesCountLags(t *testing.T) {
	h, c := newHost(t), clock.NewManual(t0)
	m := New(h, Options{Clock: c})
	docs := h.create(t, "c", `{}`, nil, `{"key":{"x":1},"name":"x_1","expireAfterSeconds":0}`)
	docs.Put(0, `{"_id":1,"x":`+at(-45)+`}`, `{"_id":2,"x":`+at(-3)+`}`, `{"_id":3,"x":`+at(60)+`}`)
	mustPass(t, m)
	mustPass(t, m)
	l := m.Metrics().LagOf(ttl.Index)
	if l.Total() != 2 || l.Millis != 48_000 || l.Quantile(0.5) != 5000 || l.Quantile(1) != 50_000 {
		t.Errorf("%d removals, %d ms, quantiles %v and %v", l.Total(), l.Millis, l.Quantile(0.5), l.Quantile(1))
	}
	for p := range ttl.NumPolicies {
		if l := m.Metrics().LagOf(p); p != ttl.Index && l.Total() != 0 {
			t.Errorf("%d removals of %s", l.Total(), p)
		}
	}
}
