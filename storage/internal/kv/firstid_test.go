package kv

import (
	"testing"

	"github.com/duskdb/duskdb/storage"
)

// TestLeast: what a state knows about the beginning is used for it and for later states.
func TestLeast(t *testing.T) {
	var l firstID
	check := func(stamp uint64, id storage.RecordID, known bool) {
		t.Helper()
		if got, ok := l.at(stamp); got != id || ok != known {
			t.Errorf("state %d begins at %d, %v; want %d, %v", stamp, got, ok, id, known)
		}
	}
	check(0, 1, true)
	l.raise(10, 3)
	check(2, 1, false)
	check(3, 10, true)
	check(4, 10, true)
	l.raise(20, 2) // an older state is late
	l.raise(5, 6)
	check(6, 10, true)
	l.raise(30, 7)
	check(6, 1, false)
	check(8, 30, true)
}
