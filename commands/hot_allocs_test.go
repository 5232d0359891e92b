//go:build !race

// The race detector allocates, so what commands take is not counted beside it.

package commands_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
)

// The memory that hot commands take is part of their cost. Who lowers it
// lowers the ceiling; who has to raise it should know why.
func TestHotCommandsAllocate(t *testing.T) {
	const runs = 2000
	for _, hot := range hotCommands {
		h := harness.New(t)
		fillTo(h, 2*runs)
		l := newHotLoop(h)
		for range 10 {
			if reply := l.run(hot.build); !reply.Lookup("ok").Truthy() || hot.name != "ping" && hot.name != "findOne" && reply.Lookup("n").Int32() != 1 {
				t.Fatalf("%s: answered %s", hot.name, reply)
			}
		}
		if got := testing.AllocsPerRun(runs, func() { l.run(hot.build) }); got > hot.ceiling {
			t.Errorf("%s takes %v allocations, at most %v are expected", hot.name, got, hot.ceiling)
		} else {
			t.Logf("%s takes %v allocations", hot.name, got)
		}
	}
}
