package ttl

import (
	"cmp"
	"errors"
	"slices"

	"github.com/duskdb/duskdb/storage"
)

// Remover prepares the removal of one expired record within the transaction that
// it belongs to: it makes the copy for the dead-letter collection. Then the sweep
// removes the record. The error is
// [ErrKept] if the record must stay, and [storage.ErrConflict] if an open
// transaction is in the way of the copy; in both cases nothing was changed. A
// Remover must not write to the collection of the record.
type Remover func(r storage.Record, e *Expired) error

// ErrKept is returned (or wrapped) by a [Remover] for a record that cannot be
// moved to the dead-letter collection. The record stays, and the sweep
// continues.
var ErrKept = errors.New("expired document kept")

// Removed counts removals.
type Removed struct {
	Documents int64 // documents or buckets
	Keys      int64 // their index keys
	Kept      int64 // documents that ErrKept was returned for
	Moved     int64 // those of Documents that were moved to the dead-letter collection

	MessagesDropped, MessagesDeadLettered, QueuesDropped int64
}

// Add adds the counts of o.
func (r *Removed) Add(o Removed) {
	r.Documents += o.Documents
	r.Keys += o.Keys
	r.Kept += o.Kept
	r.Moved += o.Moved
	r.MessagesDropped += o.MessagesDropped
	r.MessagesDeadLettered += o.MessagesDeadLettered
	r.QueuesDropped += o.QueuesDropped
}

// Any reports whether anything was removed.
func (r Removed) Any() bool {
	return r.Documents+r.MessagesDropped+r.MessagesDeadLettered+r.QueuesDropped > 0
}

// Sweep removes the due records of one expiry index, batch by batch.
type Sweep struct {
	Now int64 // the instant up to which records have expired
	All bool  // a record that an open transaction has written is an error

	Refused error // the first ErrKept of a Remover
	Lags    Lags  // the delays of the removals of the last batch
	position
}

// position is where a sweep is: after the last entry visited.
type position struct {
	which int  // number of the range
	began bool // key and id are set
	key   []byte
	id    storage.RecordID
	busy  bool // a record before it stays, as an open transaction has written it
}

// Clone returns a copy, to continue with if the transaction that used the original must
// run again.
func (s *Sweep) Clone() Sweep {
	c := *s
	c.key = slices.Clone(s.key) // the next batch writes over it
	return c
}

// Restart goes back to the beginning.
func (s *Sweep) Restart() { s.position = position{} }

// Busy reports whether records stay because an open transaction has written them.
func (s *Sweep) Busy() bool { return s.busy }

// batchBytes bounds the documents that a batch removes: until it ends they are in
// memory.
const batchBytes = 16 << 20

// Batch visits up to limit records of an expiry index of the rules, in one ranged delete
// for each range. done reports whether there are no more.
func (s *Sweep) Batch(coll storage.Collection, rules *Rules, l *ExpiryIndex, limit int, remove Remover) (r Removed, done bool, err error) {
	if rules.OnExpire != nil {
		defer func() { r.Moved = r.Documents }()
	}
	ranges, careful, err := l.ranges(coll, s.Now)
	if err != nil {
		return r, true, err
	}
	bytes := 0
	s.Lags = Lags{}
	for ; s.which < len(ranges); s.which, s.began = s.which+1, false {
		d := storage.RangeDelete{Index: l.Index, Keys: ranges[s.which], Limit: limit, Busy: !s.All}
		if s.began {
			d.Keys.AfterKey, d.Keys.AfterID = s.key, s.id
		}
		d.Pick = func(key []byte, rec storage.Record) (storage.Verdict, error) {
			if bytes >= batchBytes {
				return storage.Verdict{Do: storage.Stop}, nil
			}
			bytes += len(rec.Doc)
			if careful && !l.bucketExpired(rec.Doc, s.Now) {
				return storage.Verdict{Do: storage.Keep}, nil
			}
			return s.pick(l, key, rec, remove, &r)
		}
		out, err := coll.DeleteRange(&d)
		if err != nil {
			return Removed{}, true, err
		}
		s.busy = s.busy || out.Busy > 0
		r.Documents += int64(out.Removed)
		r.Keys += int64(out.Keys)
		if !out.Done {
			if out.Visited > 0 {
				s.key, s.id, s.began = append(s.key[:0], out.Key...), out.ID, true
			}
			return r, false, nil
		}
		if limit -= out.Visited; limit <= 0 {
			s.which, s.began = s.which+1, false
			return r, s.which == len(ranges), nil
		}
	}
	return r, true, nil
}

// pick prepares the removal of a record that has expired. What an open transaction
// has written stays, unless all must go; the next pass will find it.
func (s *Sweep) pick(l *ExpiryIndex, key []byte, rec storage.Record, remove Remover, r *Removed) (storage.Verdict, error) {
	at, _ := l.instant(key)
	x := &Expired{Policy: l.Policy, At: at, Removed: s.Now}
	if l.Policy == Index || l.Policy == PartialBucket {
		x.Index = l.Index
	}
	switch err := remove(rec, x); {
	case err == nil:
		s.Lags.Observe(s.Now - at)
		return storage.Verdict{Do: storage.Remove, Reason: x}, nil
	case errors.Is(err, ErrKept):
		r.Kept++
		s.Refused = cmp.Or(s.Refused, err)
		return storage.Verdict{Do: storage.Keep}, nil
	case errors.Is(err, storage.ErrConflict) && !s.All:
		s.busy = true
		return storage.Verdict{Do: storage.Keep}, nil
	default:
		return storage.Verdict{Do: storage.Keep}, err
	}
}

// ranges returns the ranges of keys to visit. careful reports whether each
// record must be checked by itself.
func (l *ExpiryIndex) ranges(coll storage.Collection, now int64) (r []storage.KeyRange, careful bool, err error) {
	if !l.buckets() {
		return list(l.due(now)), false, nil
	}
	if careful, err = l.extended(coll); err != nil {
		return nil, false, err
	}
	return l.bucketDue(now, careful), careful, nil
}
