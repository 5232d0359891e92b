package queue

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/duskdb/duskdb/value"
)

// Workers that accept sessions, receive, abandon, complete and release in any order process
// the messages of each session once and in their order, while others are sent.
func TestSessionsConcurrently(t *testing.T) {
	const workers, sessions, each = 4, 12, 25
	e := newEnv(t)
	e.create("q", `{"requiresSession": true, "maxDeliveryCount": 1000}`)
	var mu sync.Mutex
	done := map[string][]int32{}
	finished := func() bool {
		mu.Lock()
		defer mu.Unlock()
		n := 0
		for _, list := range done {
			n += len(list)
		}
		return n >= sessions*each
	}
	work := func(rnd *rand.Rand) error {
		s, ok, err := e.broker.AcceptSession(e.ctx, e.store, Accept{Ref: ref("q")}, e.now())
		if err != nil || !ok {
			return err
		}
		for range rnd.IntN(4) + 1 {
			docs, err := e.receiveIn(s, 1+rnd.IntN(3))
			if err != nil {
				return err
			}
			for i, d := range docs {
				if rnd.IntN(10) == 0 { // this one and those behind it come again
					for _, d := range docs[i:] {
						if _, err := e.broker.Abandon(e.ctx, e.store, Lock{ref("q"), tokenOf(d)}, nil, e.now()); err != nil {
							return err
						}
					}
					break
				}
				if err := e.complete("q", d); err != nil {
					return err
				}
				mu.Lock()
				done[s.ID] = append(done[s.ID], d.Lookup("n").Int32())
				mu.Unlock()
			}
		}
		return e.broker.ReleaseSession(e.ctx, e.store, e.lock(s), e.now())
	}
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() {
			for rnd := rand.New(rand.NewPCG(1, uint64(i))); !finished() && !t.Failed(); {
				if err := work(rnd); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for n := range each {
		for i := range sessions {
			mq := value.NewDoc("sessionId", value.String(fmt.Sprint(i)))
			_, err := e.broker.Send(e.ctx, e.store, ref("q"), []value.Doc{value.NewDoc("_id", value.String(fmt.Sprint(i, "-", n)), "n", value.Int32(int32(n)), Field, value.Document(mq))}, e.now())
			if err != nil {
				t.Error(err)
			}
		}
	}
	wg.Wait()
	for id, list := range done {
		if len(list) != each || !slices.IsSorted(list) {
			t.Errorf("session %s: %v", id, list)
		}
	}
}

// A receiver that waits for a session gets one as soon as there is a message, also on a
// clock that stands.
func TestAcceptWaitsForMessage(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{"requiresSession": true}`)
	got := make(chan Accepted, 1)
	go func() {
		s, _, _ := e.broker.AcceptSession(e.ctx, e.store, Accept{Ref: ref("q"), Wait: MaxWait}, e.now())
		got <- s
	}()
	for e.waitersFor("q") == 0 {
		runtime.Gosched()
	}
	e.send("q", `{"_id": 1, "_mq": {"sessionId": "a"}}`)
	if s := <-got; s.ID != "a" {
		t.Errorf("accepted %q", s.ID)
	}
}
