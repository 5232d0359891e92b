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

// A transaction of two updates and the commit, likewise.
func TestTransactionAllocates(t *testing.T) {
	harness.SkipHostile(t, "runs that are repeated allocate")
	if engines.ForTests() != engines.Default {
		t.Skip("the budget is that of the default engine, which keeps the data in memory")
	}
	const ceiling = 69
	h := harness.New(t)
	fillTo(h, harness.BenchDocs)
	l := newHotLoop(h)
	if reply := l.transaction(); !reply.Lookup("ok").Truthy() {
		t.Fatalf("answered %s", reply)
	}
	if got := testing.AllocsPerRun(2000, func() { l.transaction() }); got > ceiling {
		t.Errorf("a transaction takes %v allocations, at most %v are expected", got, ceiling)
	} else {
		t.Logf("a transaction takes %v allocations", got)
	}
}
