// Package linear is for tests of concurrent clients: it checks that they saw a set of
// numbers as if there were one server that does one thing after the other.
package linear

import (
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// Kind is what an operation does.
type Kind string

// The kinds of operations. The result of each is the number afterwards.
const (
	Read  Kind = "read"
	Write Kind = "write"
	Add   Kind = "add"
)

// Operation is what a client does with one number. The numbers are independent and start
// at 0.
type Operation struct {
	Number int // which one
	Kind   Kind
	Value  int64 // value to write or to add
}

// Random returns an operation on one of some numbers.
func Random(rnd *rand.Rand, numbers int) Operation {
	return Operation{rnd.IntN(numbers), []Kind{Read, Write, Add}[rnd.IntN(3)], rnd.Int64N(1000)}
}

// sequential is what a single client sees.
var sequential = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byNumber := map[int][]porcupine.Operation{}
		for _, op := range history {
			n := op.Input.(Operation).Number
			byNumber[n] = append(byNumber[n], op)
		}
		return slices.Collect(maps.Values(byNumber))
	},
	Init: func() any { return int64(0) },
	Step: func(state, input, output any) (bool, any) {
		switch in := input.(Operation); in.Kind {
		case Write:
			return true, in.Value
		case Add:
			return output == state.(int64)+in.Value, output
		}
		return output == state, state
	},
}

// History records the operations of all clients. The zero value is empty.
type History struct {
	tick atomic.Int64
	mu   sync.Mutex
	list []porcupine.Operation
}

// Do runs an operation of a client and records its result. What fails may have happened or
// not, so the caller ends the test.
func (h *History) Do(client int, in Operation, run func(Operation) (int64, error)) error {
	called := h.tick.Add(1)
	out, err := run(in)
	if err != nil {
		return err
	}
	op := porcupine.Operation{ClientId: client, Input: in, Call: called, Output: out, Return: h.tick.Add(1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = append(h.list, op)
	return nil
}

// Check fails the test if no order of the operations explains what the clients saw. An
// answer that takes more than 20 seconds is left out.
func (h *History) Check(t testing.TB) {
	t.Helper()
	if res := porcupine.CheckOperationsTimeout(sequential, h.list, 20*time.Second); res == porcupine.Illegal {
		t.Error("the history is not linearizable")
	}
	t.Logf("%d operations", len(h.list))
}
