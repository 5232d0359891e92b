package postgres

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"testing"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
)

// counted is a pool whose connections lead nowhere, and the number of those that were opened.
func counted(size, beyond int) (p *pool, opened func() int) {
	var mu sync.Mutex
	n := 0
	p = newPool(size, beyond, func(context.Context) (*conn, error) {
		mu.Lock()
		defer mu.Unlock()
		n++
		here, there := net.Pipe()
		_ = there.Close()
		return &conn{net: here, status: 'I'}, nil
	})
	p.metrics = &metrics{}
	return p, func() int {
		mu.Lock()
		defer mu.Unlock()
		return n
	}
}

// got takes a connection from a pool.
func got(t *testing.T, l lease, err error) lease {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// queued waits until so many wait for a place.
func queued(p *pool, n int) {
	for {
		p.mu.Lock()
		have := len(p.waiting)
		p.mu.Unlock()
		if have == n {
			return
		}
		<-clock.System().After(1)
	}
}

// TestPoolIsFair: those who wait get connections in the order in which they came, also if they
// wait for longer than maxWait.
func TestPoolIsFair(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	p, opened := counted(1, 0)
	l, err := p.get(ctx)
	first := got(t, l, err)
	const n = 8
	order := make(chan int, n)
	for i := range n {
		go func() {
			l, err := p.get(ctx)
			order <- i
			if err == nil {
				p.put(l)
			}
		}()
		queued(p, i+1)
	}
	<-clock.System().After(maxWait + maxWait/2)
	leaving, leave := context.WithCancel(ctx)
	gone := make(chan error, 1)
	go func() {
		_, err := p.get(leaving)
		gone <- err
	}()
	queued(p, n+1)
	leave()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("somebody who does not wait any more: %v", err)
	}
	p.put(first)
	var list []int
	for range n {
		list = append(list, <-order)
	}
	if !slices.IsSorted(list) || opened() != 1 {
		t.Errorf("connections were given in the order %v; %d were opened", list, opened())
	}
}

// TestPoolPlaces: snapshots have places of their own. A read that has waited takes one, which it
// leaves to a snapshot; there are no more connections than places.
func TestPoolPlaces(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	p, opened := counted(1, 2)
	l, err := p.get(ctx)
	read := got(t, l, err)
	l, err = p.get(ctx)
	late := got(t, l, err)
	if late.place != further {
		t.Error("a read that has waited has no place beyond those for reads")
	}
	l, err = p.hold(ctx)
	held := got(t, l, err)
	waiting := make(chan lease, 1)
	go func() {
		l, err := p.hold(ctx)
		if err != nil {
			t.Error(err)
		}
		waiting <- l
	}()
	queued(p, 1)
	if _, err := p.hold(ctx); !errors.Is(err, storage.ErrManySnapshots) {
		t.Errorf("a snapshot too many: %v", err)
	}
	p.put(late)
	second := <-waiting
	if n := opened(); n != 3 {
		t.Errorf("%d connections were opened for 3 places", n)
	}
	second.broken = errBusy
	for _, l := range []lease{second, held, read} {
		p.put(l)
	}
	p.drop()
	for {
		p.mu.Lock()
		used, idle, holders := p.used+p.usedBeyond, len(p.idle), p.holders
		p.mu.Unlock()
		if used == 0 {
			if idle != 0 || holders != 0 {
				t.Errorf("%d connections are idle, %d snapshots held", idle, holders)
			}
			return
		}
		<-clock.System().After(1)
	}
}
