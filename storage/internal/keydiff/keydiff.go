// Package keydiff computes how a write changes the keys of an index.
package keydiff

import (
	"bytes"
	"slices"

	"github.com/duskdb/duskdb/storage"
)

// Change is the change of a write to one index.
type Change struct {
	Add, Remove [][]byte
	Keys        [][]byte // all of the new record, in order; of one that keeps its keys perhaps nil
	Multikey    storage.Multikey

	added, removed [][]byte // buffers for both, reused by the next write
}

// Compute sets the key changes of an index for a record that turns from old to
// new; either may be empty (ID 0). They are valid until the next call.
func (d *Change) Compute(maker storage.Index, old, new storage.Record) (err error) {
	d.Add, d.Remove, d.Keys, d.Multikey = nil, nil, nil, 0
	if old.ID != 0 && new.ID != 0 {
		if k, ok := maker.(storage.KeyKeeper); ok && k.KeepsKeys(old, new) {
			return nil
		}
	}
	if new.ID != 0 {
		if d.Add, d.Multikey, err = maker.Keys(d.added[:0], new); err != nil {
			return err
		}
		d.added = d.Add
	}
	if old.ID != 0 {
		if d.Remove, _, err = maker.Keys(d.removed[:0], old); err != nil {
			return err
		}
		d.removed = d.Remove
	}
	d.normalize()
	return nil
}

// normalize removes the keys that are in both lists.
func (d *Change) normalize() {
	if len(d.Add) == 1 && len(d.Remove) == 1 { // the usual case
		if d.Keys = d.Add; bytes.Equal(d.Add[0], d.Remove[0]) {
			d.Add, d.Remove = nil, nil
		}
		return
	}
	d.Add, d.Remove = Sorted(d.Add), Sorted(d.Remove)
	d.Keys = d.Add
	if len(d.Add) == 0 || len(d.Remove) == 0 {
		return
	}
	add, remove := d.Add, d.Remove
	has := func(keys [][]byte, k []byte) bool {
		_, ok := slices.BinarySearchFunc(keys, k, bytes.Compare)
		return ok
	}
	d.Add = slices.DeleteFunc(slices.Clone(add), func(k []byte) bool { return has(remove, k) })
	d.Remove = slices.DeleteFunc(slices.Clone(remove), func(k []byte) bool { return has(add, k) })
}

// Sorted sorts keys and removes duplicates.
func Sorted(keys [][]byte) [][]byte {
	if len(keys) < 2 {
		return keys
	}
	slices.SortFunc(keys, bytes.Compare)
	return slices.CompactFunc(keys, bytes.Equal)
}
