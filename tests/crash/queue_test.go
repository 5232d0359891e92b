package crash

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/duskdb/duskdb/internal/proc"
	"github.com/duskdb/duskdb/value"
)

// TestKillQueues kills the server while queues are in use. Afterwards each
// queue with one client is exactly as it was acknowledged: messages, locks,
// schedules, delivery counts, sequence numbers, idle clock; and from the
// queue with many clients nothing is lost, and nothing comes back.
func TestKillQueues(t *testing.T) {
	d, seed := crashTime(t)
	t.Logf("DUSKDB_CRASH_SEED=%d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	dir := t.TempDir()
	workers := make([]*queueWorker, 4)
	for i := range workers {
		workers[i] = newQueueWorker(i, seed)
	}
	crowd := &crowd{}
	now, rounds := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), 0
	for until := time.Now().Add(d); time.Now().Before(until) && !t.Failed(); rounds++ {
		p := start(t, dir, "--setParameter", "testClockStart="+now.Format("2006-01-02T15:04:05.000Z"))
		c, err := dial(p.Addr())
		if err != nil {
			t.Fatal(err)
		}
		if rounds == 0 {
			crowd.create(t, c)
		} else {
			c.must(t, "runExpirationPass", value.Int32(1), "$db", value.String("admin"))
		}
		for _, w := range workers {
			if rounds == 0 {
				w.create(t, c, now.UnixMilli())
			} else {
				w.check(t, c, now.UnixMilli())
			}
		}
		crowd.check(t, c)
		for _, coll := range []string{"q0", "q0.deadletterqueue", "crowd"} {
			if r := c.must(t, "validate", value.String(coll), "full", value.Bool(true)); !r.Lookup("valid").Truthy() {
				t.Errorf("%s is not valid: %s", coll, r)
			}
		}
		_ = c.Close()
		loadQueues(t, p, workers, crowd, time.Duration(20+rnd.IntN(300))*time.Millisecond)
		now = now.Add(time.Duration(rnd.IntN(90_000)) * time.Millisecond)
		if rnd.IntN(8) == 0 {
			now = now.Add(2 * time.Hour)
		}
	}
	acks := map[string]int{}
	for _, w := range workers {
		for name, n := range w.acks {
			acks[name] += n
		}
	}
	t.Logf("%d crashes; acknowledged: %v; in the crowd %d sent, %d completed", rounds, acks, len(crowd.sent), len(crowd.done))
}

// loadQueues lets all clients work until the server is killed.
func loadQueues(tb testing.TB, p *proc.Server, workers []*queueWorker, crowd *crowd, d time.Duration) {
	tb.Helper()
	var wg sync.WaitGroup
	for _, w := range workers {
		wg.Go(func() { w.work(p.Addr()) })
	}
	for i := range 3 {
		wg.Go(func() { crowd.sender(p.Addr(), i) })
		wg.Go(func() { crowd.receiver(p.Addr(), i == 0) })
	}
	wg.Go(func() { compact(p.Addr(), "q0") })
	proc.Pause(d)
	p.Kill()
	wg.Wait()
	for _, w := range workers {
		if w.err != nil {
			tb.Fatalf("%v\n%s", w.err, p.Stderr.String())
		}
	}
}

// crowd are many clients of one queue. true means that the operation was acknowledged,
// false that the client sent it and got no reply.
type crowd struct {
	next       atomic.Int64
	mu         sync.Mutex
	sent, done map[int64]bool
	err        error
}

func (w *crowd) create(tb testing.TB, c *client) {
	tb.Helper()
	w.sent, w.done = map[int64]bool{}, map[int64]bool{}
	c.must(tb, "create", value.String("crowd"), "messageQueue", value.Document(value.NewDoc("maxDeliveryCount", value.Int32(2))))
}

func (w *crowd) note(m map[int64]bool, id int64, acknowledged bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	m[id] = acknowledged
}

// failed reports whether a client has to stop, and whether the server refused.
func (w *crowd) failed(err error) bool {
	if errors.Is(err, errRefused) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.err = err
	}
	return err != nil
}

func (w *crowd) sender(addr string, i int) {
	c, err := dial(addr)
	if err != nil {
		return
	}
	defer c.Close()
	for {
		id := w.next.Add(1)
		w.note(w.sent, id, false)
		d := value.NewArray(value.Document(value.NewDoc("_id", value.Int64(id))))
		if i == 0 {
			_, err = c.run("mqSend", value.String("crowd"), "messages", d)
		} else {
			_, err = c.run("insert", value.String("crowd"), "documents", d)
		}
		if w.failed(err) {
			return
		}
		w.note(w.sent, id, true)
	}
}

// receiver waits for messages and completes them, or has the server remove
// them at once.
func (w *crowd) receiver(addr string, remove bool) {
	c, err := dial(addr)
	if err != nil {
		return
	}
	defer c.Close()
	mode := map[bool]string{true: "receiveAndDelete", false: "peekLock"}[remove]
	for {
		reply, err := c.run("mqReceive", value.String("crowd"), "mode", value.String(mode), "maxWaitTimeMS", value.Int32(1000))
		if w.failed(err) {
			return
		}
		for v := range reply.Lookup("messages").Doc().Values() {
			id := v.Doc().Lookup("_id").Int64()
			if !remove {
				w.note(w.done, id, false)
				if _, err := c.run("mqComplete", value.String("crowd"), "lockToken", v.Doc().Lookup("_mq").Doc().Lookup("lockToken").Clone()); w.failed(err) {
					return
				}
			}
			w.note(w.done, id, true)
		}
	}
}

// check checks that each sent message exists once unless it was completed. A reply with a
// removed message can be lost with the connection, at most one for each crash.
func (w *crowd) check(tb testing.TB, c *client) {
	tb.Helper()
	if w.err != nil {
		tb.Fatal(w.err)
	}
	there := map[int64]int{}
	for _, coll := range []string{"crowd", "crowd.deadletterqueue"} {
		for _, d := range c.all(tb, coll) {
			there[d.Lookup("_id").Int64()]++
		}
	}
	lost := 0
	for id, acknowledged := range w.sent {
		done, asked := w.done[id]
		switch n := there[id]; {
		case n > 1:
			tb.Errorf("message %d is there %d times", id, n)
		case n == 1 && done:
			tb.Errorf("message %d was completed and is there", id)
		case n == 0 && acknowledged && !asked:
			lost++
			delete(w.sent, id) // counted now
		case n == 0:
			delete(w.sent, id)
			delete(w.done, id)
		}
		delete(there, id)
	}
	if lost > 1 {
		tb.Errorf("%d messages were lost", lost)
	}
	for id := range maps.Keys(there) {
		tb.Error(fmt.Errorf("message %d was not sent", id))
	}
}
