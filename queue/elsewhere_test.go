package queue

import (
	"errors"
	"testing"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
)

// What is kept in memory of a queue that another server has dropped is forgotten, and its
// receivers look again.
func TestForgetsWhatIsDroppedElsewhere(t *testing.T) {
	c := clock.NewManual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	b := NewBroker(c, c, &ttl.Metrics{})
	ns := storage.Namespace{DB: "db", Coll: "q"}
	q := b.queue([16]byte{1})
	b.queue([16]byte{2}) // nobody has waited for it
	q.elsewhere.await(ns)
	receiver := q.main.join()
	stamps := func(n uint64, err error) func(storage.Namespace) (uint64, error) {
		return func(storage.Namespace) (uint64, error) { return n, err }
	}
	for i, step := range []struct {
		stamp uint64
		err   error
		wakes bool
		left  int
	}{{7, nil, true, 2}, {7, nil, false, 2}, {0, errors.New("cannot be read"), true, 2}, {8, nil, true, 2}, {0, nil, true, 1}, {0, nil, false, 1}} {
		b.ChangedElsewhere(stamps(step.stamp, step.err))
		woken := false
		select {
		case <-receiver.ch:
			woken = true
		default:
		}
		if woken != step.wakes || len(b.queues) != step.left {
			t.Errorf("step %d: woken: %v, %d queues are known, want %v, %d", i, woken, len(b.queues), step.wakes, step.left)
		}
	}
}
