// Package ranged is the part of a ranged delete that engines have in common:
// what to remove, and the keys of it.
package ranged

import (
	"errors"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/keydiff"
)

// Picks are the records that a ranged delete removes, and their keys. Nothing is
// removed while they are collected, so an error leaves everything as it was.
type Picks struct {
	Records []storage.Record

	d     *storage.RangeDelete
	claim func(storage.RecordID) error
	met   map[storage.RecordID]struct{} // nil: each record comes once
	out   storage.RangeDeleted
	ended bool
	err   error
}

// New begins a delete. claim says whether a record may be removed. again says
// that a record may come more than once, as in an index over arrays.
func New(d *storage.RangeDelete, again bool, claim func(storage.RecordID) error) *Picks {
	p := &Picks{d: d, claim: claim}
	if again {
		p.met = map[storage.RecordID]struct{}{}
	}
	return p
}

// Visit asks about a record; a scan calls it until it returns false. key is nil
// without an index.
func (p *Picks) Visit(key []byte, r storage.Record) (more bool) {
	if p.met != nil {
		if _, again := p.met[r.ID]; again {
			return true
		}
		p.met[r.ID] = struct{}{}
	}
	var v storage.Verdict
	switch err := p.claim(r.ID); {
	case err == nil:
		v, p.err = p.d.Pick(key, r)
	case p.d.Busy && errors.Is(err, storage.ErrConflict):
		p.out.Busy++
	default:
		p.err = err
	}
	if p.ended = p.err != nil || v.Do == storage.Stop; p.ended {
		return false
	}
	if v.Do == storage.Remove {
		p.Records = append(p.Records, r)
	}
	p.out.Visited++
	p.out.Key, p.out.ID = append(p.out.Key[:0], key...), r.ID
	p.ended = p.d.Limit > 0 && p.out.Visited >= p.d.Limit
	return !p.ended
}

// End takes the error of the scan, and returns that of the visits before it.
func (p *Picks) End(err error) error {
	if p.err != nil {
		return p.err
	}
	return err
}

// Keys computes the keys of the records in an index, and counts them.
func (p *Picks) Keys(maker storage.Index) (Keys, error) {
	k := Keys{ends: make([]int, 0, len(p.Records)), all: make([][]byte, 0, len(p.Records))}
	for i := range p.Records {
		start := len(k.all)
		all, _, err := maker.Keys(k.all, p.Records[i])
		if err != nil {
			return Keys{}, err
		}
		k.all = all[:start+len(keydiff.Sorted(all[start:]))]
		k.ends = append(k.ends, len(k.all))
	}
	if !maker.Private() {
		p.out.Keys += len(k.all)
	}
	return k, nil
}

// Result is what the delete has done.
func (p *Picks) Result() storage.RangeDeleted {
	p.out.Removed, p.out.Done = len(p.Records), !p.ended
	return p.out
}

// Keys are the keys of the records in one index.
type Keys struct {
	all  [][]byte
	ends []int
}

// Each calls fn with each key and the number of its record.
func (k *Keys) Each(fn func(key []byte, record int)) {
	record := 0
	for i, key := range k.all {
		for i >= k.ends[record] {
			record++
		}
		fn(key, record)
	}
}
