package ttl

import (
	"cmp"
	"slices"

	"github.com/duskdb/duskdb/storage"
)

// Settlement removes the documents that have expired under the document policy
// of a collection, in several transactions if necessary. It runs before the
// policy changes, so that expired documents stay invisible, and before an
// index is built, so that they cannot violate it.
type Settlement struct {
	now  int64
	next int
	s    sweep
}

// NewSettlement returns a Settlement of the documents that have expired at an
// instant.
func NewSettlement(now int64) *Settlement {
	return &Settlement{now: now, s: sweep{now: now, all: true}}
}

// Clone returns a copy, to continue with if the transaction that used the
// original must run again.
func (t *Settlement) Clone() *Settlement {
	c := *t
	c.s.key = slices.Clone(t.s.key)
	return &c
}

// Refused returns the error for a document that could not be moved to the
// dead-letter collection and was kept; nil if there was no such document.
func (t *Settlement) Refused() error { return t.s.refused }

// Batch removes up to limit documents, under the rules that the collection
// has now, within the caller's transaction. done reports whether there are no
// more. A document that an open transaction has written is an error.
func (t *Settlement) Batch(r *Rules, coll storage.Collection, limit int, remove Remover) (total Removed, done bool, err error) {
	if r == nil || r.Document == nil {
		return total, true, nil
	}
	for ; t.next < len(r.Indexes); t.next++ {
		if r.Indexes[t.next].Policy != Document {
			continue
		}
		if left := limit - int(total.Documents+total.Kept); left > 0 {
			one, done, err := t.s.batch(coll, &r.Indexes[t.next], left, remove)
			one.moving(r)
			total.Add(one)
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
// rules within the caller's transaction. It fails if a document cannot be
// removed.
func (r *Rules) Settle(coll storage.Collection, now int64, remove Remover) (total Removed, err error) {
	t := NewSettlement(now)
	for done := false; !done && err == nil; {
		var one Removed
		one, done, err = t.Batch(r, coll, 1000, remove)
		total.Add(one)
	}
	return total, cmp.Or(err, t.Refused())
}
