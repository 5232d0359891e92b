package queue

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// step is one operation of a client on a queue.
type step struct {
	kind   string // send, receive, complete, abandon
	number int64  // message that the operation got or worked on; 0: the queue was empty
	lost   bool   // the lock was lost
}

// queueState is the queue as the linearizability checker knows it.
type queueState struct {
	ready  []int64 // in order
	locked map[int64]bool
}

// sequential is the model of a queue with one operation after the other: a receive
// returns the first message that is not locked.
var sequential = porcupine.Model{
	Init: func() any { return queueState{} },
	Step: func(state, _, output any) (bool, any) {
		s, o := state.(queueState), output.(step)
		next := queueState{slices.Clone(s.ready), maps.Clone(s.locked)}
		if next.locked == nil {
			next.locked = map[int64]bool{}
		}
		switch o.kind {
		case "send":
			next.ready = append(next.ready, o.number)
			slices.Sort(next.ready)
			return true, next
		case "receive":
			if o.number == 0 || len(s.ready) == 0 {
				return o.number == 0 && len(s.ready) == 0, s
			}
			next.ready = next.ready[1:]
			next.locked[o.number] = true
			return s.ready[0] == o.number, next
		}
		if o.lost || !s.locked[o.number] {
			return false, s
		}
		delete(next.locked, o.number)
		if o.kind == "abandon" {
			next.ready = append(next.ready, o.number)
			slices.Sort(next.ready)
		}
		return true, next
	},
	Equal: func(a, b any) bool {
		x, y := a.(queueState), b.(queueState)
		return slices.Equal(x.ready, y.ready) && maps.Equal(x.locked, y.locked)
	},
	DescribeOperation: func(_, output any) string { return fmt.Sprintf("%+v", output) },
}

// The results of concurrent operations of many clients are possible for some order in
// which they run one after the other.
func TestLinearizable(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{"maxDeliveryCount": 1000000}`)
	const clients, steps = 6, 60
	var mu sync.Mutex
	var history []porcupine.Operation
	var instant atomic.Int64
	var wg sync.WaitGroup
	for client := range clients {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(client), 1))
			c := &consumer{e: e, id: client}
			for range steps {
				from := instant.Add(1)
				o, err := c.step(r)
				to := instant.Add(1)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				history = append(history, porcupine.Operation{ClientId: client, Output: o, Call: from, Return: to})
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	switch porcupine.CheckOperationsTimeout(sequential, history, 30*time.Second) {
	case porcupine.Illegal:
		t.Error("the history is not linearizable")
	case porcupine.Unknown:
		t.Log("no verdict within the time")
	}
}

// consumer is a client that sends, receives one message at a time, and
// completes or abandons it.
type consumer struct {
	e    *env
	id   int
	n    int
	held value.Doc
}

func (c *consumer) step(r *rand.Rand) (step, error) {
	switch {
	case c.held != nil:
		number, done := mq(c.held, "sequenceNumber").Int64(), "complete"
		var err error
		if r.IntN(3) == 0 {
			done = "abandon"
			_, err = c.e.broker.Abandon(c.e.ctx, c.e.store, Lock{ref("q"), tokenOf(c.held)}, nil, t0)
		} else {
			err = c.e.broker.Complete(c.e.ctx, c.e.store, Lock{ref("q"), tokenOf(c.held)}, t0)
		}
		c.held = nil
		if mongoerr.Is(err, mongoerr.MessageLockLost) {
			return step{done, number, true}, nil
		}
		return step{done, number, false}, err
	case r.IntN(2) == 0:
		c.n++
		d := value.NewDoc("_id", value.String(fmt.Sprint(c.id, "-", c.n)))
		numbers, err := c.e.broker.Send(c.e.ctx, c.e.store, ref("q"), []value.Doc{d}, t0)
		if err != nil {
			return step{}, err
		}
		return step{"send", numbers[0], false}, nil
	}
	docs, err := c.e.broker.Receive(c.e.ctx, c.e.store, Request{Ref: ref("q"), Max: 1}, t0)
	if err != nil || len(docs) == 0 {
		return step{"receive", 0, false}, err
	}
	c.held = docs[0]
	return step{"receive", mq(c.held, "sequenceNumber").Int64(), false}, nil
}

// Many consumers, locks that lapse because the clock moves, a sweep beside
// them: a message that was completed is never seen again, no lock overlaps
// another on the same message, and every message is completed once.
func TestOneHolderAtATime(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{"lockDuration": 1, "maxDeliveryCount": 1000000}`)
	const messages, consumers = 300, 8
	for i := range messages {
		e.send("q", fmt.Sprintf(`{"_id": %d}`, i))
	}
	type holding struct{ from, until int64 }
	var mu sync.Mutex
	holdings, completed := map[int64][]holding{}, map[int64]int{}
	left := func() int { mu.Lock(); defer mu.Unlock(); return messages - len(completed) }
	var wg sync.WaitGroup
	var still sync.RWMutex // the clock does not move within a receive
	for i := range consumers {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), 2))
			for left() > 0 {
				still.RLock()
				now := e.now()
				docs, err := e.broker.Receive(e.ctx, e.store, Request{Ref: ref("q"), Max: 1 + r.IntN(3)}, now)
				still.RUnlock()
				if err != nil {
					t.Error(err)
					return
				}
				for _, d := range docs {
					n := mq(d, "sequenceNumber").Int64()
					mu.Lock()
					holdings[n] = append(holdings[n], holding{now, mq(d, "lockedUntilUtc").DateTime()})
					mu.Unlock()
					if r.IntN(4) == 0 {
						continue // forgotten: the lock will lapse
					}
					err := e.broker.Complete(e.ctx, e.store, Lock{ref("q"), tokenOf(d)}, e.now())
					if err == nil {
						mu.Lock()
						completed[n]++
						mu.Unlock()
					} else if !mongoerr.Is(err, mongoerr.MessageLockLost) {
						t.Error(err)
					}
				}
			}
		})
	}
	for left() > 0 {
		still.Lock()
		_ = e.clock.Advance(300 * time.Millisecond)
		still.Unlock()
		e.sweep()
	}
	wg.Wait()
	for n, list := range holdings {
		if completed[n] != 1 {
			t.Errorf("message %d was completed %d times", n, completed[n])
		}
		slices.SortFunc(list, func(a, b holding) int { return int(a.from - b.from) })
		for i := 1; i < len(list); i++ {
			if list[i].from < list[i-1].until {
				t.Errorf("message %d was held twice: %+v", n, list[i-1:i+1])
			}
		}
	}
	if st := e.stats("q"); st.Active+st.Locked != 0 {
		t.Errorf("left: %+v", st)
	}
}
