package ttl

import (
	"cmp"
	"slices"

	"github.com/duskdb/duskdb/storage"
)

// Settlement removes what has expired under the document policy of a
// collection, in as many transactions as it takes: before the policy changes,
// so that what has expired stays gone, or before something is built of all
// documents, so that it is in nobody's way.
type Settlement struct {
	now  int64
	lane int
	s    sweep
}

// NewSettlement settles what has expired at an instant.
func NewSettlement(now int64) *Settlement {
	return &Settlement{now: now, s: sweep{now: now, all: true}}
}

// Clone is a copy to go on with, should the transaction that used the
// original have to be run again.
func (t *Settlement) Clone() *Settlement {
	c := *t
	c.s.key = slices.Clone(t.s.key)
	return &c
}

// Refused is why some document could not be moved to where dead letters go, and
// was kept; nil if none was.
func (t *Settlement) Refused() error { return t.s.refused }

// Batch removes at most most documents, under the rules that the collection has
// now, within the caller's transaction. done tells that there are no more. A
// document that an open transaction holds is an error.
func (t *Settlement) Batch(r *Rules, coll storage.Collection, most int, remove Remover) (total Removed, done bool, err error) {
	if r == nil || r.Document == nil {
		return total, true, nil
	}
	for ; t.lane < len(r.Lanes); t.lane++ {
		if r.Lanes[t.lane].Policy != Document {
			continue
		}
		if left := most - int(total.Documents+total.Kept); left > 0 {
			one, done, err := t.s.batch(coll, &r.Lanes[t.lane], left, remove)
			one.moving(r)
			total.add(one)
			if err != nil {
				return total, true, err
			}
			if !done {
				return total, false, nil
			}
		} else {
			return total, false, nil
		}
		t.s = sweep{now: t.now, all: true, refused: t.s.refused}
	}
	return total, true, nil
}

// Settle removes everything that has expired under the document policy of the
// rules within the caller's transaction. It fails if something must be kept.
func (r *Rules) Settle(coll storage.Collection, now int64, remove Remover) (total Removed, err error) {
	t := NewSettlement(now)
	for done := false; !done && err == nil; {
		var one Removed
		one, done, err = t.Batch(r, coll, 1000, remove)
		total.add(one)
	}
	return total, cmp.Or(err, t.Refused())
}
