package kernel

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/serverdocs"
	"github.com/duskdb/duskdb/value"
)

// Servers over the same data have one time: that of the database, or that of the test clock,
// whose state is stored. A move on one server is a commit to ClockNamespace. Each server
// takes it with the news of the commit, or before its next command, and notes that it has;
// the move is acknowledged when all have. A server that starts takes what is stored.

// ClockNamespace has the state of the test clock. It must be among the collections whose
// commits other servers see at once.
var ClockNamespace = storage.Namespace{DB: "local", Coll: "testClock"}

// clockID is the _id of the state.
var clockID = value.String("clock")

// sharedClock is the part of this server in the common time.
type sharedClock struct {
	test  *clock.Manual // nil: the servers have no test clock
	stamp atomic.Uint64 // the stamp of ClockNamespace at the last read
	moves atomic.Int64  // number of moves that were taken, or are being taken
	busy  atomic.Int32  // moves of this server that it has not taken itself

	mu   sync.Mutex   // held while a state is taken
	name atomic.Value // string: under which this server is registered; nil: it is not
}

// OpenClock makes the clock the one of all servers over the data, unless it is this server's
// own. It fails if some of them have a test clock and others do not.
func (s *Service) OpenClock(ctx context.Context) error {
	if !s.Shared || !s.Options.CommonClock {
		return nil
	}
	x := &sharedClock{}
	if s.Options.TestClock {
		x.test, _ = s.Clock.(*clock.Manual)
	}
	s.common = x
	if err := s.registerClock(ctx); err != nil {
		return err
	}
	if x.test == nil {
		return s.forgetTestClock(ctx)
	}
	started := x.test.State()
	stored := clockState{}
	err := storage.Retry(ctx, s.Engine, func(tx storage.Tx) error {
		e, err := serverdocs.Find(tx, ClockNamespace, clockID)
		if err != nil {
			return err
		}
		if stored = readClockState(e.Doc); stored.moves > 0 {
			return nil
		}
		stored = clockState{started, 1}
		return e.Put(stored.doc(), started.At.UnixMilli())
	})
	if err != nil {
		return err
	}
	if err := s.takeClock(ctx, stored); err != nil {
		return err
	}
	s.StartedAt = s.Clock.Now()
	if s.Options.Parameters["testClockStart"] != "" && !stored.At.Equal(started.At) {
		s.Log.Warn().Time("now", s.StartedAt).Msg("testClockStart has no effect: the servers over these data have a test clock already")
	}
	return nil
}

// TakeClock makes the clock show what another server has set it to, if one has since the
// last call.
func (s *Service) TakeClock(ctx context.Context) error {
	x := s.common
	if x == nil || x.test == nil || x.busy.Load() > 0 { // a move of its own comes first, with the pass that is due
		return nil
	}
	stamp, err := s.Engine.Stamp(ClockNamespace)
	if err != nil || stamp == x.stamp.Load() {
		return err
	}
	var stored clockState
	err = s.Engine.View(ctx, func(tx storage.Tx) error {
		d, err := serverdocs.Get(tx, ClockNamespace, clockID)
		stored = readClockState(d)
		return err
	})
	if err != nil {
		return err
	}
	if stored.moves > x.moves.Load() { // else a command has moved it, and may be busy with what is due
		if err := s.takeClock(ctx, stored); err != nil {
			return err
		}
	}
	x.stamp.Store(stamp)
	return nil
}

// takeClock adopts a state unless it is older than the one that the clock has.
func (s *Service) takeClock(ctx context.Context, stored clockState) error {
	x := s.common
	x.mu.Lock()
	defer x.mu.Unlock()
	if stored.moves <= x.moves.Load() {
		return nil
	}
	x.moves.Store(stored.moves)
	adopt := func() error { x.test.Adopt(stored.State); return nil }
	if s.Monitor == nil {
		_ = adopt()
	} else if _, err := s.Monitor.Jump(adopt, false); err != nil { // the server that has moved it runs the pass
		return err
	}
	return s.noteClock(ctx)
}

// MoveClock moves the clock by move, on all servers over the data if it is theirs. move
// may run more than once, on a copy of the clock.
func (s *Service) MoveClock(ctx context.Context, move func(*clock.Manual) error) error {
	x := s.common
	if x == nil {
		return move(s.Clock.(*clock.Manual))
	}
	next, err := s.storeMove(ctx, move)
	if err != nil {
		return err
	}
	s.Changes.Signal()
	return errors.Join(s.TakeClock(ctx), s.awaitClocks(ctx, next.moves)) // another may have been made since
}

// storeMove stores a move, and takes it within the jump of the command.
func (s *Service) storeMove(ctx context.Context, move func(*clock.Manual) error) (next clockState, err error) {
	x := s.common
	x.busy.Add(1)
	defer x.busy.Add(-1)
	err = storage.Retry(ctx, s.Engine, func(tx storage.Tx) error {
		e, err := serverdocs.Find(tx, ClockNamespace, clockID)
		if err != nil {
			return err
		}
		copied, before := x.test.Copy(), readClockState(e.Doc)
		if before.moves > 0 {
			copied.Adopt(before.State)
		}
		if err := move(copied); err != nil {
			return err
		}
		next = clockState{copied.State(), before.moves + 1}
		return e.Put(next.doc(), copied.NowMillis())
	})
	if err != nil {
		return next, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if next.moves > x.moves.Load() {
		x.moves.Store(next.moves)
		x.test.Adopt(next.State)
	}
	return next, s.noteClock(ctx)
}

// forgetTestClock removes the state of a test clock that no server has any more.
func (s *Service) forgetTestClock(ctx context.Context) error {
	stored := false
	err := s.Engine.View(ctx, func(tx storage.Tx) (err error) {
		stored, err = serverdocs.Any(tx, ClockNamespace)
		return err
	})
	if err != nil || !stored {
		return err
	}
	return storage.Retry(ctx, s.Engine, func(tx storage.Tx) error {
		e, err := serverdocs.Find(tx, ClockNamespace, clockID)
		if err != nil {
			return err
		}
		return e.DeleteAndDrop()
	})
}

// clockState is a state as it is stored. moves counts the moves up to it, from 1.
type clockState struct {
	clock.State
	moves int64
}

func (c clockState) doc() value.Doc {
	b := value.NewBuilder().Append("_id", clockID).Int64("moves", c.moves).Bool("frozen", c.Frozen)
	instant := func(name string, t time.Time) {
		b.Date(name, t.UnixMilli()).Int32(name+"Nanos", int32(t.Nanosecond()%int(time.Millisecond)))
	}
	instant("at", c.At)
	instant("since", c.Since)
	return b.Doc()
}

// readClockState reads a state; nil is one without moves.
func readClockState(d value.Doc) clockState {
	instant := func(name string) time.Time {
		return time.UnixMilli(d.Lookup(name).DateTime()).Add(time.Duration(d.Lookup(name + "Nanos").SafeInt64()))
	}
	if d == nil {
		return clockState{}
	}
	return clockState{clock.State{Frozen: d.Lookup("frozen").Truthy(), At: instant("at"), Since: instant("since")}, d.Lookup("moves").SafeInt64()}
}
