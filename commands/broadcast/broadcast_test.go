package broadcast_test

import (
	"sync"
	"testing"

	"github.com/duskdb/duskdb/commands/broadcast"
)

func closed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

// A channel taken before a signal is closed by it, one taken after is not.
func TestWait(t *testing.T) {
	t.Parallel()
	b := broadcast.New()
	first, second := b.Wait(), b.Wait()
	if closed(first) {
		t.Error("closed before any signal")
	}
	b.Signal()
	if !closed(first) || !closed(second) {
		t.Error("a signal does not wake all who wait")
	}
	if closed(b.Wait()) {
		t.Error("a signal wakes those who wait later")
	}
}

// After misses no signal since the count was taken.
func TestAfter(t *testing.T) {
	t.Parallel()
	b := broadcast.New()
	n := b.Count()
	if n != 0 {
		t.Errorf("%d signals of a new broadcast", n)
	}
	ch := b.After(n)
	if closed(ch) {
		t.Error("closed before any signal")
	}
	b.Signal()
	if b.Count() != n+1 {
		t.Errorf("count %d after a signal", b.Count())
	}
	if !closed(ch) || !closed(b.After(n)) {
		t.Error("a signal after the count was missed")
	}
	if closed(b.After(b.Count())) {
		t.Error("closed without a further signal")
	}
}

// Whatever the order, each of many waiters is woken.
func TestSignalWakesAll(t *testing.T) {
	t.Parallel()
	b := broadcast.New()
	n := b.Count()
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() { <-b.After(n) })
	}
	b.Signal()
	wg.Wait()
}
