package crud

import (
	"context"
	"errors"
	"time"

	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/serverdocs"
	"github.com/duskdb/duskdb/value"
)

// What kills sessions on one server does so on all others over the same data: the command
// stores what it kills, and each of them finds that with the news of the commit.

// kills has the requests, for a while.
var kills = storage.Namespace{DB: "local", Coll: "$kills"}

// killsKept is how long a request is kept: longer than a server that lives needs to see it.
const killsKept = time.Minute

// killElsewhere asks the other servers to kill sessions.
func killElsewhere(c *kernel.Call, f killFilter) error {
	s := c.Svc
	if !s.Shared {
		return nil
	}
	now := s.WallNow().UnixMilli()
	request := value.NewDoc("_id", value.ObjectID(value.NewOID(now)), "at", value.DateTime(now), "from", value.String(s.OwnerName()), "filter", value.Document(f.doc()))
	err := storage.Retry(c.Ctx, s.Engine, func(tx storage.Tx) error {
		coll, err := serverdocs.Open(tx, kills)
		if err != nil {
			return err
		}
		var old []storage.RecordID
		err = coll.Scan(storage.Range{}, func(r storage.Record) bool {
			if r.Doc.Lookup("at").DateTime() >= now-killsKept.Milliseconds() {
				return false
			}
			old = append(old, r.ID)
			return true
		})
		for _, id := range old {
			if err == nil {
				_, err = coll.Delete(id)
			}
		}
		if err == nil {
			_, err = coll.Insert(request, s.Clock.NowMillis())
		}
		return err
	})
	s.Changes.Signal()
	return kernel.Translate(kills, err)
}

// FollowKills makes the server do what commands on other servers kill from now on.
func FollowKills(s *kernel.Service) error {
	if !s.Shared {
		return nil
	}
	var stamp uint64
	last, err := lastKill(s)
	if err != nil {
		return err
	}
	s.OnNews = func(ctx context.Context) error { // by one goroutine
		now, err := s.Engine.Stamp(kills)
		if err != nil || now == stamp {
			return err
		}
		requests, upTo, err := killsAfter(s, ctx, last)
		if err != nil {
			return err
		}
		own := s.OwnerName()
		for _, r := range requests {
			if r.Lookup("from").Str() == own {
				continue
			}
			match, merr := readKillFilter(r.Lookup("filter").Doc()).match(s, ctx)
			if merr == nil {
				merr = killHere(s, ctx, 0, match)
			}
			err = errors.Join(err, merr)
		}
		stamp, last = now, upTo
		return err
	}
	return nil
}

// lastKill returns the id of the newest request.
func lastKill(s *kernel.Service) (last storage.RecordID, err error) {
	err = s.Engine.View(s.Background, func(tx storage.Tx) error {
		coll, err := tx.Collection(kills)
		if err == nil {
			last, err = coll.LastID()
		}
		if errors.Is(err, storage.ErrNotFound) {
			return nil
		}
		return err
	})
	return last, err
}

// killsAfter returns the requests behind one.
func killsAfter(s *kernel.Service, ctx context.Context, last storage.RecordID) (requests []value.Doc, upTo storage.RecordID, err error) {
	err = s.Engine.View(ctx, func(tx storage.Tx) error {
		requests, upTo = nil, last
		coll, err := tx.Collection(kills)
		if errors.Is(err, storage.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		return coll.Scan(storage.Range{After: last}, func(r storage.Record) bool {
			requests, upTo = append(requests, r.Doc.Clone()), r.ID
			return true
		})
	})
	return requests, upTo, err
}
