//go:build !race

// The race detector allocates memory, so the test does not run with it.

package commands_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/internal/engines"
)

// Allocations are part of the cost of hot commands. A change that lowers them lowers
// the ceiling; a change that raises the ceiling needs a reason.
func TestHotCommandsAllocate(t *testing.T) {
	harness.SkipHostile(t, "runs that are repeated allocate")
	if engines.ForTests() != engines.Default {
		t.Skip("the budgets are those of the default engine, which keeps the data in memory")
	}
	const runs = 2000
	for _, hot := range hotCommands {
		h := harness.New(t)
		fillTo(h, 2*runs)
		l := newHotLoop(h)
		for range 10 {
			if reply := l.run(hot.build); !reply.Lookup("ok").Truthy() || hot.name != "ping" && hot.name != "findOne" && hot.name != "findAndModify" && reply.Lookup("n").Int32() != 1 {
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
