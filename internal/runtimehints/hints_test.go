package runtimehints

import (
	"runtime/metrics"
	"testing"
)

// goroutinesCreated is how many goroutines the process has begun.
func goroutinesCreated() uint64 {
	s := []metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// Without hints nothing is begun, and with a single processor nothing either.
func TestOff(t *testing.T) {
	defer func(o, n bool) { off, one = o, n }(off, one)
	const times = 1000
	for _, c := range []struct{ off, one, begins bool }{{false, false, true}, {true, false, false}, {false, true, false}} {
		off, one = c.off, c.one
		before := goroutinesCreated()
		for range times {
			WatchNetwork()
			Yield()
		}
		if n := goroutinesCreated() - before; (n >= times) != c.begins || Off() != c.off {
			t.Errorf("%+v: %d goroutines", c, n)
		}
	}
}
