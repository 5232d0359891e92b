package commands

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// The one member of the set is its primary, unless it is told to step down:
// then it is a secondary, which reads and does not write, until its time is
// over and it elects itself again, in a new term. That lets people see what
// their clients do meanwhile.
//
// The time is that of the server's clock: a test that moves it ends a period
// of minutes at once.

// leadership tells whether the member is primary, and of what.
type leadership struct {
	aside     atomic.Bool               // it has stepped down
	term      atomic.Int64              // of the last election
	elected   atomic.Uint64             // timestamp of the entry that it made
	electedAt atomic.Int64              // milliseconds
	config    atomic.Pointer[setConfig] // nil without a set
	changed   *broadcast                // signalled when something of that changes: the topology's version
	mu        sync.Mutex                // held while something changes
	before    bool                      // there has been an election
	round     int                       // of waiting for the end; a later one makes it void
}

// stepDown ends what only a primary does, for a time.
func (s *Service) stepDown(period time.Duration, except *operation) {
	l := &s.leader
	l.mu.Lock()
	defer l.mu.Unlock()
	l.aside.Store(true)
	l.changed.signal()
	cause := mongoerr.New(mongoerr.InterruptedDueToReplStateChange, "operation was interrupted")
	s.ops.kill(cause, func(op *operation) bool {
		cmd := s.table[op.name]
		return op != except && cmd != nil && cmd.flags&(writes|reads) == writes
	})
	for _, ss := range s.sessions.list() {
		if t := ss.txn.Load(); t != nil {
			s.killStatements(ss, cause)
			s.abortLater(ss, t)
		}
	}
	s.stepUpAfter(period)
}

// stepUpAfter has the member elect itself once the time is over. The caller
// holds the lock.
func (s *Service) stepUpAfter(period time.Duration) {
	l := &s.leader
	l.round++
	round, over := l.round, s.clock.NewTimer(period)
	go func() {
		defer over.Stop()
		select {
		case <-over.C():
		case <-s.background.Done():
			return
		}
		if s.writable(s.background) != nil {
			return
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.round == round {
			s.stepUp()
		}
	}()
}

// stepUp makes the member primary, in a new term. The caller holds the lock.
func (s *Service) stepUp() {
	l := &s.leader
	l.round++
	l.term.Add(1)
	if err := s.takeOffice(); err != nil {
		s.log.Warn().Err(err).Int64("term", l.term.Load()).Msg("The election could not be written down")
	}
	l.aside.Store(false)
	l.changed.signal()
}

// freeze keeps a secondary from electing itself for a time, or for 0 lets it
// do so at once.
func (s *Service) freeze(ctx context.Context, period time.Duration) error {
	l := &s.leader
	if err := s.writable(ctx); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case !l.aside.Load():
		return mongoerr.New(mongoerr.NotSecondary, "Cannot freeze node when primary or running for election, state: Primary")
	case period == 0:
		s.stepUp()
	default:
		s.stepUpAfter(period)
	}
	return nil
}

// readOnSecondaries are the commands that a secondary answers only to who
// says so by its read preference. Other commands that write nothing are about
// the server itself, and always answered.
var readOnSecondaries = map[string]bool{
	"aggregate": true, "collStats": true, "count": true, "dataSize": true, "dbStats": true, "distinct": true, "explain": true, "find": true,
	"listCollections": true, "listDatabases": true, "listIndexes": true,
}

// checkLeader refuses what a member cannot do that has stepped down.
func (c *Call) checkLeader() error {
	if !c.svc.leader.aside.Load() {
		return nil
	}
	reads := readOnSecondaries[c.cmd.name]
	switch mode := c.generic.readPref.Lookup("mode"); {
	case c.cmd.flags&writes != 0 && !reads, c.cmd.name == "runExpirationPass", c.cmd.name == "aggregate" && endsInWrite(c.Body), c.generic.autocommit != nil:
		return mongoerr.New(mongoerr.NotWritablePrimary, "not primary")
	case reads && (mode.IsMissing() || mode.Str() == "primary"):
		return mongoerr.New(mongoerr.NotPrimaryNoSecondaryOk, "not primary and secondaryOk=false")
	}
	return nil
}

// endsInWrite tells whether the last stage of an aggregate writes.
func endsInWrite(body value.Doc) bool {
	last := ""
	for stage := range body.Lookup("pipeline").Doc().Values() {
		last, _ = stage.Doc().First()
	}
	return last == "$out" || last == "$merge"
}
