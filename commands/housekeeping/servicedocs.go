package housekeeping

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/session"
	"github.com/duskdb/duskdb/query/index"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/serverdocs"
	"github.com/duskdb/duskdb/value"
)

// sessionsEvery is how often the collection of sessions is brought up to date.
const sessionsEvery = 5 * time.Minute

// KeepSessions stores the sessions that were used since the last call, and removes those
// that have ended. The sessions of other servers stay.
func KeepSessions(s *kernel.Service, ctx context.Context) error {
	now := s.Clock.NowMillis()
	kept, all := map[string]session.StoredUse{}, map[string]value.Doc{}
	real, wall := s.Real.Now(), s.WallNow()
	for _, one := range s.Sessions.List() {
		used := s.Sessions.LastUse(one)
		d := SessionDoc(one.Key, wall.Add(used.Sub(real))) // by the clock that the servers have in common
		key := string(sessionIndexKey(d))
		if before, ok := s.Sessions.StoredUses[key]; ok && before.Used.Equal(used) {
			d = before.Doc
		}
		kept[key], all[key] = session.StoredUse{Used: used, Doc: d}, d
	}
	err := storage.Retry(ctx, s.Engine, func(tx storage.Tx) error {
		coll, err := openSessionsHome(tx)
		if err != nil {
			return err
		}
		live := maps.Clone(all)
		var stored []storage.Record
		if err := coll.Scan(storage.Range{}, func(r storage.Record) bool { stored = append(stored, r); return true }); err != nil {
			return err
		}
		for _, r := range stored {
			key := string(sessionIndexKey(r.Doc))
			if err := keepSession(s, coll, r, key, live[key], now); err != nil {
				return err
			}
			delete(live, key)
		}
		for _, key := range slices.Sorted(maps.Keys(live)) {
			if _, err := coll.Insert(live[key], now); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		s.Sessions.StoredUses = kept
	}
	return err
}

// keepSession brings a stored session up to date. d is nil if this server does not have the
// session: then it has ended, or it belongs to another server.
func keepSession(s *kernel.Service, coll storage.Collection, r storage.Record, key string, d value.Doc, now int64) (err error) {
	kept, own := s.Sessions.StoredUses[key]
	switch {
	case d == nil && own && s.Shared && string(kept.Doc) != string(r.Doc): // another server has used it since
	case d == nil && (own || !s.Shared):
		_, err = coll.Delete(r.ID)
	case d == nil || string(d) == string(r.Doc):
	case s.Shared && r.Doc.Lookup("lastUse").DateTime() > d.Lookup("lastUse").DateTime(): // another server has used it since
	default:
		_, err = coll.Update(r.ID, d, now)
	}
	return err
}

// openSessionsHome opens the collection of sessions. Its TTL index removes the sessions of
// a server that was not started again.
func openSessionsHome(tx storage.Tx) (storage.Collection, error) {
	lastUse, err := index.Load(value.NewDoc("v", value.Int32(2), "key", value.Document(value.NewDoc("lastUse", value.Int32(1))),
		"name", value.String("lsidTTLIndex"), "expireAfterSeconds", value.Int32(int32(session.Timeout/time.Second))))
	if err != nil {
		return nil, err
	}
	return serverdocs.Open(tx, session.Home, lastUse.Stored())
}

func sessionIndexKey(d value.Doc) []byte { return value.AppendKey(nil, d.Lookup("_id")) }

// SessionDoc returns the document of a session in config.system.sessions. Its _id has a
// digest of the user.
func SessionDoc(key session.Key, lastUse time.Time) value.Doc {
	b := value.NewBuilder().Document("_id", key.Record().Doc()).Date("lastUse", lastUse.UnixMilli())
	if user := key.UserName(); user != "" {
		b.String("user", user)
	}
	return b.Doc()
}
