package kernel

import (
	"context"
	"time"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
)

// conflictWait is the wait of a write for the transaction that has locked what
// it writes. The end of a transaction on this server, and news from others,
// wake it. What nobody reports, it finds by trying again now and then.
type conflictWait struct {
	pause storage.Backoff
	until time.Time // zero: not waited yet
}

// next waits until it makes sense to try again, and returns nil; or the reason
// not to. ended is the count of ended transactions before the attempt that
// failed with err.
//
// A transaction lives no longer than transactionLifetimeLimitSeconds, so
// neither does a wait for one: who waits longer is unlucky again and again, and
// gets the conflict.
func (w *conflictWait) next(c *Call, ended int64, err error) error {
	now := c.Svc.Real.Now()
	if w.until.IsZero() {
		w.until = now.Add(conflictGrace + time.Duration(c.Svc.Params.Int("transactionLifetimeLimitSeconds"))*time.Second)
	}
	left := w.until.Sub(now)
	if left <= 0 {
		return Translate(storage.Namespace{}, err)
	}
	timer := c.Svc.Real.NewTimer(min(left, w.pause.Next()))
	defer timer.Stop()
	select {
	case <-c.Svc.Sessions.TxnEnded.After(ended):
	case <-timer.C():
	case <-c.Ctx.Done():
		return mongoerr.From(context.Cause(c.Ctx))
	}
	return nil
}

// conflictGrace is the time that ending a transaction takes whose lifetime is
// over: the server looks once a second.
const conflictGrace = 5 * time.Second
