package ttl

import (
	"cmp"

	"github.com/duskdb/duskdb/storage"
)

// Purge removes the documents that have expired under the document policy of a
// collection, in several transactions if necessary. It runs before the policy changes, so
// that expired documents stay invisible, and before an index is built, so that they cannot
// violate it.
type Purge struct {
	sweep Sweep
	next  int // position in the rules' indexes
}

// NewPurge returns a Purge of the documents that have expired at an instant.
func NewPurge(now int64) *Purge { return &Purge{sweep: Sweep{Now: now, All: true}} }

// Clone returns a copy, to continue with if the transaction that used the original must
// run again.
func (p *Purge) Clone() *Purge { return &Purge{p.sweep.Clone(), p.next} }

// Refused returns the error for a document that could not be moved to the dead-letter
// collection and was kept; nil if there was no such document.
func (p *Purge) Refused() error { return p.sweep.Refused }

// Batch removes up to limit documents, under the rules that the collection has now, within
// the caller's transaction. done reports whether there are no more. A document that an
// open transaction has written is an error.
func (p *Purge) Batch(r *Rules, coll storage.Collection, limit int, remove Remover) (total Removed, done bool, err error) {
	if r == nil || r.Document == nil {
		return total, true, nil
	}
	for ; p.next < len(r.Indexes); p.next++ {
		if r.Indexes[p.next].Policy != Document {
			continue
		}
		left := limit - int(total.Documents+total.Kept)
		if left <= 0 {
			return total, false, nil
		}
		one, done, err := p.sweep.Batch(coll, r, &r.Indexes[p.next], left, remove)
		total.Add(one)
		if err != nil || !done {
			return total, err != nil, err
		}
		p.sweep.Restart()
	}
	return total, true, nil
}

// Purge removes everything that has expired under the document policy of the rules within
// the caller's transaction. It fails if a document cannot be removed.
func (r *Rules) Purge(coll storage.Collection, now int64, remove Remover) (total Removed, err error) {
	p := NewPurge(now)
	for done := false; !done && err == nil; {
		var one Removed
		one, done, err = p.Batch(r, coll, 1000, remove)
		total.Add(one)
	}
	return total, cmp.Or(err, p.Refused())
}
