package kernel

import (
	"context"

	"github.com/duskdb/duskdb/internal/mongoerr"
)

// WaitUnlocked blocks a command that writes while fsync holds the lock.
func (c *Call) WaitUnlocked() error { return c.Svc.Writable(c.Ctx) }

// Writable waits while fsync holds the lock that stops all writes, or returns why ctx
// has ended.
func (s *Service) Writable(ctx context.Context) error {
	l := s.Fsync
	for l.Held() {
		released := l.Released.Wait()
		if !l.Held() {
			return nil
		}
		select {
		case <-released:
		case <-ctx.Done():
			return mongoerr.From(context.Cause(ctx))
		}
	}
	return nil
}
