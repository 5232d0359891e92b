package console

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/clock"
)

// A large request waits for memory until others have given it back; a small one does not.
func TestLargeBodiesWait(t *testing.T) {
	c := New(Options{Clock: clock.System()})
	defer c.Close()
	read := func(ctx context.Context, size int, length int64) (int, func(), error) {
		r := httptest.NewRequest("POST", "/api/command", strings.NewReader(strings.Repeat("x", size)))
		r.ContentLength = length
		text, free, err := c.read(r.WithContext(ctx), maxBody)
		return len(text), free, err
	}
	if err := c.bodies.Acquire(t.Context(), maxMemory); err != nil {
		t.Fatal(err)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if n, _, err := read(gone, smallBody-1, smallBody-1); n != smallBody-1 || err != nil {
		t.Errorf("a small one: %d, %v", n, err)
	}
	if _, _, err := read(gone, smallBody+1, smallBody+1); !errors.Is(err, errBusy) {
		t.Errorf("without memory: %v", err)
	}
	c.bodies.Release(maxMemory)
	for _, length := range []int64{maxBody, -1} {
		n, free, err := read(t.Context(), maxBody, length)
		if n != maxBody || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
		if c.bodies.TryAcquire(maxMemory - maxBody*bodyMemory + 1) {
			t.Error("it takes no memory")
		}
		free()
		if !c.bodies.TryAcquire(maxMemory) {
			t.Fatal("the memory was not given back")
		}
		c.bodies.Release(maxMemory)
	}
}
