package storage

import (
	"context"
	"errors"
	"time"

	"github.com/duskdb/duskdb/clock"
)

// Backoff is the pause between attempts to write what somebody else has
// written: it doubles from a millisecond to an eighth of a second.
type Backoff struct{ last time.Duration }

// Next returns the next pause.
func (b *Backoff) Next() time.Duration {
	b.last = min(max(2*b.last, time.Millisecond), 125*time.Millisecond)
	return b.last
}

// maxTries is how often Retry runs an Update. The pauses are a second
// together.
const maxTries = 15

// Retry runs an Update again after a conflict, with pauses, for writes that no
// client waits for in a transaction: the documents that a server keeps for
// itself. It returns ErrConflict if the conflict stays for about a second.
func Retry(ctx context.Context, e Engine, fn func(Tx) error) error {
	var pause Backoff
	for try := 1; ; try++ {
		err := e.Update(ctx, fn)
		if try == maxTries || !errors.Is(err, ErrConflict) {
			return err
		}
		select {
		case <-clock.System().After(pause.Next()):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
