package kernel

import (
	"context"
	"errors"
	"time"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/serverdocs"
	"github.com/duskdb/duskdb/value"
)

// clockServers has a document for each server that has the common time, under its OwnerName:
// whether it has a test clock, and the last move of it that the server has taken.
var clockServers = storage.Namespace{DB: "local", Coll: "clockServers"}

// registerClock adds the server to the list, and removes those that have ended. It fails if
// one of the others has a test clock and this one has not, or the other way round.
func (s *Service) registerClock(ctx context.Context) error {
	if err := s.noteClock(ctx); err != nil { // first: of two servers that start, one sees the other
		return err
	}
	list, err := s.otherClocks(ctx)
	if err != nil {
		return err
	}
	differs := false
	for _, d := range list {
		name := d.Lookup("_id").Str()
		switch {
		case s.HasEnded(name):
			if err := s.removeClock(ctx, name); err != nil {
				return err
			}
		case d.Lookup("testClock").Truthy() != (s.common.test != nil):
			differs = true
		}
	}
	if !differs {
		return nil
	}
	err = errors.New("servers over the same data have one clock, but a server with a test clock runs there; start this one with enableTestClock (--test-clock), too, or wait until the other has ended (10 seconds, if it was killed)")
	if s.common.test != nil {
		err = errors.New("servers over the same data have one clock, but a server without a test clock runs there; start all with enableTestClock (--test-clock), or none")
	}
	return errors.Join(err, s.LeaveClock(ctx))
}

// noteClock stores what this server has taken. Once the server runs, its caller holds mu.
func (s *Service) noteClock(ctx context.Context) error {
	x, name := s.common, s.OwnerName()
	err := storage.Retry(ctx, s.Engine, func(tx storage.Tx) error {
		d := value.NewDoc("_id", value.String(name), "testClock", value.Bool(x.test != nil), "moves", value.Int64(x.moves.Load()))
		return serverdocs.Put(tx, clockServers, d, s.Clock.NowMillis())
	})
	if err != nil {
		return err
	}
	if before := x.registered(); before != "" && before != name { // the others believed that this server had ended
		err = s.removeClock(ctx, before)
	}
	x.name.Store(name)
	return err
}

// registered is the name under which this server is registered, "" if it is not.
func (x *sharedClock) registered() string {
	name, _ := x.name.Load().(string)
	return name
}

// LeaveClock removes the server from the list.
func (s *Service) LeaveClock(ctx context.Context) error {
	if s.common == nil || s.common.registered() == "" {
		return nil
	}
	return s.removeClock(ctx, s.common.registered())
}

func (s *Service) removeClock(ctx context.Context, name string) error {
	return storage.Retry(ctx, s.Engine, func(tx storage.Tx) error {
		e, err := serverdocs.Find(tx, clockServers, value.String(name))
		if err != nil {
			return err
		}
		return e.Delete()
	})
}

// otherClocks lists the other servers.
func (s *Service) otherClocks(ctx context.Context) (list []value.Doc, err error) {
	var all []value.Doc
	err = s.Engine.View(ctx, func(tx storage.Tx) (err error) {
		all, err = serverdocs.All(tx, clockServers)
		return err
	})
	own := s.common.registered()
	for _, d := range all {
		if d.Lookup("_id").Str() != own {
			list = append(list, d.Clone())
		}
	}
	return list, err
}

// clockPause is how often a move looks whether the others have taken it, if no news says so.
const clockPause = 100 * time.Millisecond

// awaitClocks waits until all servers that live have taken a move.
func (s *Service) awaitClocks(ctx context.Context, moves int64) error {
	for {
		news := s.Changes.Wait()
		list, err := s.otherClocks(ctx)
		if err != nil {
			return err
		}
		waiting := 0
		for _, d := range list {
			if d.Lookup("moves").SafeInt64() < moves && !s.HasEnded(d.Lookup("_id").Str()) {
				waiting++
			}
		}
		if waiting == 0 {
			return nil
		}
		select {
		case <-news:
		case <-s.Real.After(clockPause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
