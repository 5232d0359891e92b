package storage_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/duskdb/duskdb/storage"
)

// busy is an engine whose Update has so many conflicts.
type busy struct {
	storage.Engine
	conflicts, runs int
}

func (e *busy) Update(_ context.Context, fn func(storage.Tx) error) error {
	if e.runs++; e.runs <= e.conflicts {
		return storage.ErrConflict
	}
	return fn(nil)
}

// TestRetry: an Update runs until it has no conflict; other errors, and the end
// of the context, end it.
func TestRetry(t *testing.T) {
	other := errors.New("other")
	for _, tt := range []struct {
		name            string
		conflicts, runs int
		err             error
	}{
		{"no conflict", 0, 1, nil},
		{"some conflicts", 3, 4, nil},
		{"another error", 2, 3, other},
	} {
		e := &busy{conflicts: tt.conflicts}
		err := storage.Retry(t.Context(), e, func(storage.Tx) error { return tt.err })
		if !errors.Is(err, tt.err) || e.runs != tt.runs {
			t.Errorf("%s: %v after %d runs", tt.name, err, e.runs)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := storage.Retry(ctx, &busy{conflicts: 9}, func(storage.Tx) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestBackoff: pauses double and are bounded.
func TestBackoff(t *testing.T) {
	var b storage.Backoff
	for i, want := range []time.Duration{1, 2, 4, 8, 16, 32, 64, 125, 125} {
		if got := b.Next(); got != want*time.Millisecond {
			t.Errorf("pause %d is %v", i, got)
		}
	}
}
