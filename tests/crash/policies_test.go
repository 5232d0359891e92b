package crash

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/duskdb/duskdb/internal/proc"
	"github.com/duskdb/duskdb/value"
)

// aging is a collection whose documents expire by one of the policies and
// are moved to another collection. Each document has a number and an instant
// to which the seconds of the policy are added.
type aging struct {
	name    string
	seconds int64 // seconds of the policy, as acknowledged
	asked   int64 // differs from seconds while a change was not answered
	docs    map[int64]int64
	gone    map[int64]bool // moved, for certain
	unsure  map[int64]int64
}

func (a *aging) dead() string { return a.name + ".dead" }

// due reports whether a document has expired.
func (a *aging) due(id, now int64) bool { return a.docs[id]+a.seconds*1000 <= now }

// policiesWorker is the only worker that moves the clock. It writes to collections with
// all policies, changes the policies, and runs passes.
type policiesWorker struct {
	rnd  *rand.Rand
	now  int64
	next int64
	last int64 // _id of the clustered collection
	all  []*aging
	acks map[string]int
	err  error
}

func newPoliciesWorker(seed uint64, now int64) *policiesWorker {
	w := &policiesWorker{rnd: rand.New(rand.NewPCG(seed, 3)), now: now, acks: map[string]int{}}
	for _, name := range []string{"ttl", "clustered", "series", "document"} {
		w.all = append(w.all, &aging{name: name, seconds: 10, asked: 10, docs: map[int64]int64{}, gone: map[int64]bool{}, unsure: map[int64]int64{}})
	}
	return w
}

func sub(fields ...any) value.Value { return value.Document(value.NewDoc(fields...)) }

// create makes the collections.
func (w *policiesWorker) create(tb testing.TB, c *client) {
	tb.Helper()
	seconds := value.Int32(10)
	for _, a := range w.all {
		command := []any{"create", value.String(a.name), "onExpire", sub("deadLetterTo", value.String(a.dead()))}
		switch a.name {
		case "clustered":
			command = append(command, "clusteredIndex", sub("key", sub("_id", value.Int32(1)), "unique", value.Bool(true)), "expireAfterSeconds", seconds)
		case "series":
			command = append(command, "timeseries", sub("timeField", value.String("at"), "bucketMaxSpanSeconds", value.Int32(1), "bucketRoundingSeconds", value.Int32(1)), "expireAfterSeconds", seconds)
		case "document":
			command = append(command, "documentTtl", sub("default", seconds, "exposeTs", value.Bool(true)))
		}
		c.must(tb, command...)
	}
	c.must(tb, "createIndexes", value.String("ttl"), "indexes", value.NewArray(
		sub("name", value.String("at"), "key", sub("at", value.Int32(1)), "expireAfterSeconds", seconds)))
}

// work runs until the server is killed.
func (w *policiesWorker) work(addr string) {
	c, err := dial(addr)
	if err != nil {
		return
	}
	defer c.Close()
	for err == nil {
		a := w.all[w.rnd.IntN(len(w.all))]
		switch n := w.rnd.IntN(10); {
		case n < 5:
			err = w.insert(c, a)
		case n < 6:
			err = w.refresh(c)
		case n < 7:
			err = w.change(c, a)
		default:
			err = w.pass(c)
		}
	}
	if errors.Is(err, errRefused) {
		w.err = err
	}
}

// insert adds documents, each in its own second.
func (w *policiesWorker) insert(c *client, a *aging) error {
	var docs []value.Value
	added := map[int64]int64{}
	for range 1 + w.rnd.IntN(60) {
		w.next++
		at := w.now - w.now%1000 + int64(w.rnd.IntN(8))*1000 // measurements at the start of their bucket
		d := value.NewDoc("_id", value.Int64(w.next), "n", value.Int64(w.next), "at", value.DateTime(at))
		switch a.name {
		case "clustered":
			w.last = max(w.now, w.last+1) // unique, and not far ahead of the clock
			at = w.last
			d = value.NewDoc("_id", value.DateTime(at), "n", value.Int64(w.next))
		case "series":
			at += 1000 // the span
		case "document":
			at = w.now - w.now%1000
		}
		added[w.next] = at
		a.unsure[w.next] = at
		docs = append(docs, value.Document(d))
	}
	_, err := c.run("insert", value.String(a.name), "documents", value.NewArray(docs...))
	if err != nil {
		return err
	}
	for id, at := range added {
		a.docs[id] = at
		delete(a.unsure, id)
	}
	w.acks["insert"]++
	return nil
}

// refresh updates a document, which restarts its time to live if it has not expired.
func (w *policiesWorker) refresh(c *client) error {
	a := w.all[3]
	for id, at := range a.docs {
		w.acks["update"]++
		a.unsure[id] = w.now - w.now%1000
		reply, err := c.run("update", value.String(a.name), "updates", value.NewArray(sub("q", sub("_id", value.Int64(id)), "u", sub("$inc", sub("v", value.Int32(1))))))
		if err != nil {
			return err
		}
		delete(a.unsure, id)
		if alive := !a.due(id, w.now); alive != (reply.Lookup("n").SafeInt64() == 1) {
			return fmt.Errorf("%w: update at %d of %d, written at %d: %s", errRefused, w.now, id, at, reply)
		} else if alive {
			a.docs[id] = w.now - w.now%1000
		}
		return nil
	}
	return nil
}

// change changes when documents expire. Documents that have expired under the old setting
// of document TTL are removed.
func (w *policiesWorker) change(c *client, a *aging) error {
	a.asked = int64(5 + w.rnd.IntN(20))
	command := []any{"collMod", value.String(a.name)}
	switch a.name {
	case "ttl":
		command = append(command, "index", sub("name", value.String("at"), "expireAfterSeconds", value.Int64(a.asked)))
	case "document":
		command = append(command, "documentTtl", sub("default", value.Int64(a.asked)))
	default:
		command = append(command, "expireAfterSeconds", value.Int64(a.asked))
	}
	if _, err := c.run(command...); err != nil {
		return err
	}
	if a.name == "document" {
		a.expire(w.now)
	}
	a.seconds = a.asked
	w.acks["collMod"]++
	return nil
}

// expire records that the due documents have been moved.
func (a *aging) expire(now int64) {
	for id := range a.docs {
		if a.due(id, now) {
			a.gone[id] = true
			delete(a.docs, id)
		}
	}
}

// pass moves the clock and runs a pass.
func (w *policiesWorker) pass(c *client) error {
	w.now += int64(w.rnd.IntN(4000))
	if _, err := c.run("testClock", value.Int32(1), "set", value.DateTime(w.now), "runDuePasses", value.Bool(false), "$db", value.String("admin")); err != nil {
		return err
	}
	if _, err := c.run("runExpirationPass", value.Int32(1), "$db", value.String("admin")); err != nil {
		return err
	}
	for _, a := range w.all {
		a.expire(w.now)
	}
	w.acks["pass"]++
	return nil
}

// check checks the data after a crash, and again after a pass. The server was started at
// the time of the clock before the crash.
func (w *policiesWorker) check(tb testing.TB, c *client) {
	tb.Helper()
	if w.err != nil {
		tb.Fatal(w.err)
	}
	for _, a := range w.all {
		w.adopt(tb, c, a)
		w.compare(tb, c, a, false)
	}
	c.must(tb, "runExpirationPass", value.Int32(1), "$db", value.String("admin"))
	for _, a := range w.all {
		a.expire(w.now)
		w.compare(tb, c, a, true)
		r := c.must(tb, "validate", value.String(a.name), "full", value.Bool(true))
		if !r.Lookup("valid").Truthy() {
			tb.Errorf("%s is not valid: %s", a.name, r)
		}
		if len(a.gone) > 3000 { // begin anew
			c.must(tb, "delete", value.String(a.dead()), "deletes", value.NewArray(sub("q", value.Document(value.EmptyDoc), "limit", value.Int32(0))))
			clear(a.gone)
		}
	}
}

// adopt reads the setting: the acknowledged one, or the requested one.
func (w *policiesWorker) adopt(tb testing.TB, c *client, a *aging) {
	tb.Helper()
	var got int64
	if a.name == "ttl" {
		for v := range c.must(tb, "listIndexes", value.String("ttl")).Lookup("cursor").Doc().Lookup("firstBatch").Doc().Values() {
			got += v.Doc().Lookup("expireAfterSeconds").SafeInt64()
		}
	} else {
		o := c.must(tb, "listCollections", value.Int32(1), "filter", sub("name", value.String(a.name))).
			Lookup("cursor").Doc().Lookup("firstBatch").Doc().Index(0).Doc().Lookup("options").Doc()
		got = o.Lookup("expireAfterSeconds").SafeInt64() + o.Lookup("documentTtl").Doc().Lookup("default").SafeInt64()
		if to := o.Lookup("onExpire").Doc().Lookup("deadLetterTo").Str(); to != a.dead() {
			tb.Errorf("%s: deadLetterTo is %q", a.name, to)
		}
	}
	if got != a.seconds && got != a.asked {
		tb.Errorf("%s: documents expire after %d s, want %d or %d", a.name, got, a.seconds, a.asked)
	}
	if got != a.seconds && a.name == "document" {
		a.expire(w.now)
	}
	a.seconds, a.asked = got, got
}

// compare looks for each document in both collections. Without a pass, one
// that is due may be in either, but not in both.
func (w *policiesWorker) compare(tb testing.TB, c *client, a *aging, passed bool) {
	tb.Helper()
	here, moved := map[int64]int64{}, map[int64]bool{}
	for _, d := range c.all(tb, a.name) {
		here[d.Lookup("n").Int64()] = d.Lookup("_ts").Int64() * 1000
	}
	for _, d := range c.all(tb, a.dead()) {
		id := d.Lookup("n").Int64()
		if _, both := here[id]; both || moved[id] {
			tb.Errorf("%s: document %d was moved and is there, or was moved twice", a.name, id)
		}
		moved[id] = true
	}
	for id, at := range a.unsure { // what was not answered has happened or not
		ts, ok := here[id]
		_, known := a.docs[id]
		if ok && (a.name != "document" || ts == at) || !known && moved[id] {
			a.docs[id] = at
		}
	}
	clear(a.unsure)
	for id, at := range a.docs {
		ts, ok := here[id]
		due := a.due(id, w.now)
		hidden := due && a.name == "document"
		switch {
		case !ok && !moved[id] && (!hidden || passed):
			tb.Errorf("%s: document %d of %d is lost at %d", a.name, id, at, w.now)
		case ok && hidden:
			tb.Errorf("%s: document %d of %d has expired and is seen at %d", a.name, id, at, w.now)
		case moved[id] && !due:
			tb.Errorf("%s: document %d of %d has not expired and was moved at %d", a.name, id, at, w.now)
		case ok && a.name == "document" && ts != at:
			tb.Errorf("%s: _ts of document %d is %d, want %d", a.name, id, ts, at)
		}
	}
	for id := range a.gone {
		if _, ok := here[id]; ok || !moved[id] {
			tb.Errorf("%s: document %d had expired: it is there: %v, it was moved: %v", a.name, id, ok, moved[id])
		}
	}
	if passed && len(here) != len(a.docs) {
		tb.Errorf("%s: %d documents are left, want %d", a.name, len(here), len(a.docs))
	}
}

// TestKillPolicies kills the server while documents expire by every policy
// and are moved elsewhere: each is in one place, none is lost, and policies
// and last writes are as they were acknowledged.
func TestKillPolicies(t *testing.T) {
	d, seed := crashTime(t)
	t.Logf("DUSKDB_CRASH_SEED=%d", seed)
	rnd := rand.New(rand.NewPCG(seed, 2))
	dir := t.TempDir()
	w := newPoliciesWorker(seed, expiryStart)
	rounds, moved := 0, 0
	killed := "" // what the server said before it was killed
	for until := time.Now().Add(d); time.Now().Before(until) && !t.Failed(); rounds++ {
		p := start(t, dir, "--setParameter", "testClockStart="+time.UnixMilli(w.now).UTC().Format("2006-01-02T15:04:05.000Z"))
		c, err := dial(p.Addr())
		if err != nil {
			t.Fatal(err)
		}
		if rounds == 0 {
			w.create(t, c)
		} else {
			w.check(t, c)
		}
		if t.Failed() {
			t.Logf("the server before the crash:\n%s\nand after it:\n%s", killed, p.Stderr.String())
		}
		for _, a := range w.all {
			moved += len(a.gone)
		}
		_ = c.Close()
		noise := newWorker(0, seed+uint64(rounds))
		noise.next = int64(rounds) * 1_000_000
		var wg sync.WaitGroup
		wg.Go(func() { w.work(p.Addr()) })
		wg.Go(func() { noise.work(p.Addr()) })
		wg.Go(func() { compact(p.Addr(), "ttl") })
		proc.Pause(time.Duration(20+rnd.IntN(300)) * time.Millisecond)
		p.Kill()
		wg.Wait()
		killed = p.Stderr.String()
	}
	t.Logf("%d crashes; acknowledged: %v; %d documents were looked for where they had been moved", rounds, w.acks, moved)
}
