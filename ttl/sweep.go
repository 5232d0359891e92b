package ttl

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/duskdb/duskdb/storage"
)

// Remover removes one expired record within the transaction that it belongs
// to: it does the complete delete, and the copy to the dead-letter collection.
// It returns the number of index keys removed. The error is [ErrKept] if the
// record must stay, and [storage.ErrConflict] if an open transaction has
// written it; in both cases nothing was changed.
type Remover func(r storage.Record, e *Expired) (keys int, err error)

// ErrKept is returned (or wrapped) by a [Remover] for a record that cannot be
// moved to the dead-letter collection. The record stays, and the sweep
// continues.
var ErrKept = errors.New("expired document kept")

// Removed counts removals.
type Removed struct {
	Documents int64 // documents or buckets
	Keys      int64 // their index keys
	Kept      int64 // documents that ErrKept was returned for
	Moved     int64 // of Documents, those moved to the dead-letter collection

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

func (r Removed) any() bool {
	return r.Documents+r.MessagesDropped+r.MessagesDeadLettered+r.QueuesDropped > 0
}

// moving counts the removed documents as moved if the rules have onExpire.
func (r *Removed) moving(rules *Rules) {
	if rules.OnExpire != nil {
		r.Moved = r.Documents
	}
}

// sweep removes the due records of one expiry index, batch by batch.
type sweep struct {
	now int64
	all bool // a record that a transaction has written is an error

	refused error // the first ErrKept of a Remover
	position
}

// position is where a sweep is: after the last entry visited.
type position struct {
	which int  // range
	began bool // key and id are set
	key   []byte
	id    storage.RecordID
	busy  bool // records before it were left out, as a transaction has written them
}

// mark returns the position for resume.
func (s *sweep) mark() position {
	p := s.position
	p.key = slices.Clone(s.key) // the next run writes over it
	return p
}

// resume goes back to a position.
func (s *sweep) resume(p *position) {
	s.which, s.began, s.id, s.busy = p.which, p.began, p.id, p.busy
	s.key = append(s.key[:0], p.key...)
}

// entry is a key of an expiry index whose record may have expired.
type entry struct {
	id storage.RecordID
	at int64 // when it expires
}

// idle reports whether nothing in the index is due. It reads only the first
// entry.
func (s *sweep) idle(coll storage.Collection, l *ExpiryIndex) (bool, error) {
	at, ok, err := l.head(coll)
	if err != nil || !ok {
		return true, err
	}
	return at > s.now && (!l.buckets() || l.quiet(minus(at, l.After), s.now)), nil
}

// batch removes at most most records. done reports whether there are no more
// entries.
func (s *sweep) batch(coll storage.Collection, l *ExpiryIndex, most int, remove Remover) (r Removed, done bool, err error) {
	ranges, careful, err := l.ranges(coll, s.now)
	if err != nil {
		return r, true, err
	}
	entries, done, err := s.collect(coll, l, ranges, most)
	if err != nil {
		return r, true, err
	}
	at := make(map[storage.RecordID]int64, len(entries))
	ids := make([]storage.RecordID, 0, len(entries))
	for _, e := range entries {
		if _, known := at[e.id]; !known { // of several entries of a record the first counts
			at[e.id] = e.at
			ids = append(ids, e.id)
		}
	}
	err = storage.ReadMany(coll, ids, func(rec storage.Record) error {
		if careful && !l.bucketExpired(rec.Doc, s.now) {
			return nil
		}
		return s.remove(l, rec, at[rec.ID], remove, &r)
	})
	return r, done || err != nil, err
}

// remove removes a record that has expired, and counts it.
func (s *sweep) remove(l *ExpiryIndex, rec storage.Record, at int64, remove Remover, r *Removed) error {
	x := &Expired{Policy: l.Policy, At: at, Removed: s.now}
	if l.Policy == Index || l.Policy == PartialBucket {
		x.Index = l.Index
	}
	keys, err := remove(rec, x)
	switch {
	case errors.Is(err, ErrKept):
		r.Kept++
		s.refused = cmp.Or(s.refused, err)
	case errors.Is(err, storage.ErrConflict) && !s.all:
		s.busy = true
	case err != nil:
		return err
	default:
		r.Documents++
		r.Keys += int64(keys)
	}
	return nil
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

// collect reads the next entries of the index.
func (s *sweep) collect(coll storage.Collection, l *ExpiryIndex, ranges []storage.KeyRange, most int) (entries []entry, done bool, err error) {
	for ; s.which < len(ranges); s.which, s.began = s.which+1, false {
		r := ranges[s.which]
		if s.began {
			r.AfterKey, r.AfterID = s.key, s.id
		}
		err := coll.ScanIndex(l.Index, r, func(key []byte, id storage.RecordID) bool {
			at, _ := l.instant(key)
			entries = append(entries, entry{id, at})
			s.key, s.id, s.began = append(s.key[:0], key...), id, true
			return len(entries) < most
		})
		if err != nil {
			return nil, true, err
		}
		if len(entries) >= most {
			return entries, false, nil
		}
	}
	return entries, true, nil
}

// NextDue is the earliest instant at which a document of the collection
// expires, or has expired and is still stored: before it, all documents are
// visible. It reads only the first entry of each expiry index.
func (r *Rules) NextDue(coll storage.Collection) int64 {
	next := int64(math.MaxInt64)
	if r == nil {
		return next
	}
	for i := range r.Indexes {
		if r.Indexes[i].Policy != Document {
			continue
		}
		at, ok, err := r.Indexes[i].head(coll)
		if err != nil {
			return math.MinInt64
		}
		if ok && (r.Indexes[i].until == 0 || at <= r.Indexes[i].until) {
			next = min(next, at)
		}
	}
	return next
}
