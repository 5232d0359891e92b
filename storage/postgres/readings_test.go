package postgres_test

import (
	"testing"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
)

// TestReadings: what a server tells of a session and a snapshot all others hear, in its order, and it
// does not hear it itself.
func TestReadings(t *testing.T) {
	t.Parallel()
	list := servers(t, 3)
	const n = 500 // more than one notification has room for
	heard := [3]chan storage.Reading{}
	for i, e := range list {
		heard[i] = make(chan storage.Reading, n)
		e.HearReadings(func(r storage.Reading) { heard[i] <- r })
	}
	told := func(i int) storage.Reading {
		return storage.Reading{Reader: 1<<64 - 1 - uint64(i), Number: 7<<32 | uint64(i), Left: i%2 > 0}
	}
	for i := range n {
		list[0].TellReading(told(i))
	}
	for _, c := range heard[1:] {
		for i := range n {
			select {
			case r := <-c:
				if r != told(i) {
					t.Fatalf("heard %+v, want %+v", r, told(i))
				}
			case <-clock.System().After(time.Minute):
				t.Fatalf("heard %d of %d", i, n)
			}
		}
	}
	if len(heard[0]) > 0 {
		t.Errorf("a server has heard itself: %+v", <-heard[0])
	}
}

// What a server tells of a session and a snapshot does not wait for its next heartbeat, nor does it
// make the one that hears it write one.
func TestReadingsBetweenHeartbeats(t *testing.T) {
	t.Parallel()
	list := servers(t, 2)
	heard := make(chan storage.Reading)
	list[1].HearReadings(func(r storage.Reading) { heard <- r })
	beats := func() (n int64) {
		for _, e := range list {
			stats, err := e.ClusterStats(ctx)
			must(t, err)
			for _, trips := range stats.Trips {
				if trips.Kind == "heartbeat" {
					n += trips.Count
				}
			}
		}
		return n
	}
	const n = 20
	before := beats()
	for i := range uint64(n) {
		list[0].TellReading(storage.Reading{Reader: i})
		select {
		case <-heard:
		case <-clock.System().After(time.Minute):
			t.Fatalf("heard %d of %d", i, n)
		}
	}
	if got := beats() - before; got >= n { // one a second for each
		t.Errorf("%d heartbeats for %d readings", got, n)
	}
}
