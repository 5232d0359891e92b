package kv

import (
	"bytes"
	"context"
	"sync/atomic"

	"github.com/tidwall/btree"

	"github.com/duskdb/duskdb/storage"
)

// degree of the tree of collections. Small nodes make copies cheap.
const degree = 8

// state is a state after a commit: the collections, and a snapshot of the store
// that belongs to them. Those who read it hold it.
type state struct {
	root  *root
	snap  Snapshot
	place uint64 // in the sequence of states
	stamp uint64 // of the last commit that it contains
	refs  atomic.Int64
	// exact returns a collection with exact statistics; nil: all have them.
	exact func(ctx context.Context, c *coll) (*coll, error)
}

// newState makes a state that has one reference. exact may be nil.
func newState(r *root, snap Snapshot, exact func(context.Context, *coll) (*coll, error)) *state {
	s := &state{exact: exact}
	s.init(r, snap)
	return s
}

// init begins a state with one reference.
func (s *state) init(r *root, snap Snapshot) {
	s.root, s.snap = r, snap
	s.refs.Store(1)
}

// hold takes a reference. It returns false if the last one has been released.
func (s *state) hold() bool {
	for {
		n := s.refs.Load()
		if n == 0 {
			return false
		}
		if s.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

func (s *state) release() {
	if s.refs.Add(-1) == 0 {
		s.snap.Close()
	}
}

// root is one state of all collections. It is immutable once published; a
// writer works on a fork.
type root struct {
	colls *btree.BTreeG[catalogEntry]
}

// catalogEntry is a collection under its name.
type catalogEntry struct {
	ns   storage.Namespace
	coll *coll
}

// coll describes a collection in one state. It is immutable once published; a
// writer works on a clone, which it owns as long as change is set.
type coll struct {
	num     uint32 // prefix of its keys
	info    *storage.Info
	indexes []*index // in the order of info.Indexes
	count   int64
	size    int64
	lastID  storage.RecordID
	least   *least         // one for all states
	stamp   uint64         // of the commit that made this state; 0: as it was loaded
	noted   *storage.Noted // one for all states
	change  *change

	// Over a shared store:
	bare  bool  // the statistics may be older than those of the store
	entry int64 // the version of the catalog entry
	// building are the last of indexes, behind those of info.Indexes.
	building []building
}

// index describes the entries of one index in one state.
type index struct {
	num      uint32 // prefix of its entries, behind that of the collection
	maker    storage.Index
	entries  int64
	bytes    int64
	multikey storage.Multikey
	single   bool             // one row for each Order, see unique.go
	filled   storage.RecordID // up to which records have been added while it is being built
	// top is at least the key of each entry, or nil if that is not known: an Order
	// behind it is new. Only writers to unique indexes need it.
	top []byte
	// gaps are where a scan need not look.
	gaps atomic.Pointer[gaps]
}

// copyTo makes another index the same.
func (x *index) copyTo(y *index) {
	y.num, y.maker, y.single, y.top = x.num, x.maker, x.single, x.top
	y.entries, y.bytes, y.multikey, y.filled = x.entries, x.bytes, x.multikey, x.filled
	y.gaps.Store(x.gaps.Load())
}

// added counts an entry.
func (x *index) added(key []byte) {
	x.entries++
	x.bytes += int64(len(key)) + entryOverhead
	if x.top != nil && bytes.Compare(key, x.top) > 0 {
		x.top = bytes.Clone(key)
	}
}

// entryOverhead is the size that an entry counts beside its key.
const entryOverhead = 8

// change is what a transaction does to one collection.
type change struct {
	base    *coll // before; nil if the transaction made it
	cur     *coll // after; nil if it was dropped
	data    bool  // records have changed
	catalog bool  // the catalog entry must be written
	// made are the indexes that were built beside the transaction, whose marks go
	// with its commit, and dropped those whose entries go.
	made, dropped []uint32
}

func catalogLess(a, b catalogEntry) bool {
	if a.ns.DB != b.ns.DB {
		return a.ns.DB < b.ns.DB
	}
	return a.ns.Coll < b.ns.Coll
}

func newRoot() *root {
	return &root{colls: btree.NewBTreeGOptions(catalogLess, btree.Options{Degree: degree, NoLocks: true})}
}

// fork returns a copy-on-write copy of a published state. Copy gives the tree
// it copies a new identity too, which would be a race between two writers that
// fork the same tree; so it is called on a private header.
func (r *root) fork() *root {
	header := *r.colls
	return &root{colls: header.Copy()}
}

func (r *root) get(ns storage.Namespace) *coll {
	e, _ := r.colls.Get(catalogEntry{ns: ns})
	return e.coll
}

// find finds the latest state of base under its name, or under the name that a
// transaction has given it.
func (r *root) find(ns storage.Namespace, base *coll) *coll {
	for _, name := range []storage.Namespace{ns, base.info.Namespace} {
		if c := r.get(name); c != nil && c.num == base.num {
			return c
		}
	}
	return nil
}

func (r *root) set(c *coll) {
	r.colls.Set(catalogEntry{ns: c.info.Namespace, coll: c})
}

func (r *root) remove(ns storage.Namespace) {
	r.colls.Delete(catalogEntry{ns: ns})
}

// clone makes a private copy to be changed.
func (c *coll) clone(ch *change) *coll {
	d := *c
	d.change = ch
	d.indexes = make([]*index, len(c.indexes))
	all := make([]index, len(c.indexes))
	for i, x := range c.indexes {
		x.copyTo(&all[i])
		d.indexes[i] = &all[i]
	}
	return &d
}

// index finds an index by name.
func (c *coll) index(name string) *index {
	for i := range c.info.Indexes {
		if c.info.Indexes[i].Name == name {
			return c.indexes[i]
		}
	}
	return nil
}

// before is an index as it was before the transaction, or nil.
func (c *coll) before(x *index) *index {
	if c.change == nil || c.change.base == nil {
		return nil
	}
	for _, y := range c.change.base.indexes {
		if y.num == x.num {
			return y
		}
	}
	return nil
}
