package replication

import (
	"context"
	"time"

	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/transaction"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// stepDown makes the member a secondary for a time, and ends the operations that only a
// primary runs.
func stepDown(s *kernel.Service, period time.Duration, except *kernel.Operation) {
	l := &s.Leader
	l.Mu.Lock()
	defer l.Mu.Unlock()
	l.SteppedDown.Store(true)
	l.Changed.Signal()
	cause := mongoerr.New(mongoerr.InterruptedDueToReplStateChange, "operation was interrupted")
	s.Ops.Kill(cause, func(op *kernel.Operation) bool {
		cmd := s.Table[op.Name]
		return op != except && cmd != nil && cmd.Flags&(kernel.Writes|kernel.Reads) == kernel.Writes
	})
	for _, ss := range s.Sessions.List() {
		if t := ss.Txn.Load(); t != nil {
			transaction.KillStatements(s, ss, cause)
			transaction.AbortLater(s, ss, t)
		}
	}
	stepUpAfter(s, period)
}

// stepUpAfter makes the member elect itself when the period is over. The caller holds the
// lock.
func stepUpAfter(s *kernel.Service, period time.Duration) {
	l := &s.Leader
	l.StepDowns++
	round, over := l.StepDowns, s.Clock.NewTimer(period)
	go func() {
		defer over.Stop()
		select {
		case <-over.C():
		case <-s.Background.Done():
			return
		}
		if s.Writable(s.Background) != nil {
			return
		}
		l.Mu.Lock()
		defer l.Mu.Unlock()
		if l.StepDowns == round {
			stepUp(s)
		}
	}()
}

// stepUp makes the member primary, in a new term. The caller holds the lock.
func stepUp(s *kernel.Service) {
	l := &s.Leader
	l.StepDowns++
	l.Term.Add(1)
	if err := takeOffice(s); err != nil {
		s.Log.Warn().Err(err).Int64("term", l.Term.Load()).Msg("The election could not be stored")
	}
	l.SteppedDown.Store(false)
	l.Changed.Signal()
}

// freeze keeps a secondary from electing itself for a time. With 0 it elects itself at once.
func freeze(s *kernel.Service, ctx context.Context, period time.Duration) error {
	l := &s.Leader
	if err := s.Writable(ctx); err != nil {
		return err
	}
	l.Mu.Lock()
	defer l.Mu.Unlock()
	switch {
	case !l.SteppedDown.Load():
		return mongoerr.New(mongoerr.NotSecondary, "Cannot freeze node when primary or running for election, state: Primary")
	case period == 0:
		stepUp(s)
	default:
		stepUpAfter(s, period)
	}
	return nil
}

// CheckLeader refuses commands that a member cannot run after it has stepped down.
func CheckLeader(c *kernel.Call) error {
	if !c.Svc.Leader.SteppedDown.Load() {
		return nil
	}
	reads := c.Cmd.OnSecondary() == kernel.OptIn
	switch mode := c.Generic.ReadPref.Lookup("mode"); {
	case c.Cmd.OnSecondary() == kernel.Never, c.Cmd.Has(kernel.NeedsPrimary), reads && c.Cmd.Has(kernel.Writes) && endsInWrite(c.Body), c.Generic.Autocommit != nil:
		return mongoerr.New(mongoerr.NotWritablePrimary, "not primary")
	case reads && (mode.IsMissing() || mode.Str() == "primary"):
		return mongoerr.New(mongoerr.NotPrimaryNoSecondaryOk, "not primary and secondaryOk=false")
	}
	return nil
}

// endsInWrite reports whether the last stage of a pipeline writes.
func endsInWrite(body value.Doc) bool {
	last := ""
	for stage := range body.Lookup("pipeline").Doc().Values() {
		last, _ = stage.Doc().First()
	}
	return last == "$out" || last == "$merge"
}
