package linear

import (
	"testing"

	"github.com/anishathalye/porcupine"
)

// A history is judged by what the clients saw, also if they overlapped.
func TestSequential(t *testing.T) {
	op := func(kind Kind, value, result, call, end int64) porcupine.Operation {
		return porcupine.Operation{Input: Operation{Kind: kind, Value: value}, Output: result, Call: call, Return: end}
	}
	for name, tt := range map[string]struct {
		history []porcupine.Operation
		want    bool
	}{
		"one after the other": {[]porcupine.Operation{op(Write, 5, 5, 1, 2), op(Add, 2, 7, 3, 4), op(Read, 0, 7, 5, 6)}, true},
		"an old value":        {[]porcupine.Operation{op(Write, 5, 5, 1, 2), op(Add, 2, 7, 3, 4), op(Read, 0, 5, 5, 6)}, false},
		"an overlapping read": {[]porcupine.Operation{op(Write, 5, 5, 1, 4), op(Read, 0, 0, 2, 3)}, true},
		"a lost increment":    {[]porcupine.Operation{op(Add, 1, 1, 1, 4), op(Add, 1, 1, 2, 3)}, false},
	} {
		if got := porcupine.CheckOperations(sequential, tt.history); got != tt.want {
			t.Errorf("%s: linearizable is %v", name, got)
		}
	}
}
