package kv

import (
	"bytes"
	"context"
	"sync/atomic"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/recent"
)

// State is a state after a commit: the collections, and a snapshot of the store
// that belongs to them. Those who read it hold it.
type State struct {
	root  *Root
	snap  Snapshot
	mem   Resident     // the snapshot, if it is in memory; otherwise nil
	place uint64       // the place in the sequence of states
	stamp uint64       // the stamp of the last commit that the state contains
	refs  atomic.Int64 // the number of those who hold the state
	// exact returns a collection with exact statistics; nil: all have them.
	exact func(ctx context.Context, c *Coll) (*Coll, error)
}

// NewState makes a state that has one reference. exact may be nil.
func NewState(r *Root, snap Snapshot, exact func(context.Context, *Coll) (*Coll, error)) *State {
	s := &State{exact: exact}
	s.Init(r, snap)
	return s
}

// Init begins a state with one reference.
func (s *State) Init(r *Root, snap Snapshot) {
	s.root, s.snap = r, snap
	s.refs.Store(1)
}

// hold takes a reference. It returns false if the last one has been released.
func (s *State) hold() bool {
	if s.mem != nil { // it needs no closing
		return true
	}
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

func (s *State) release() {
	if s.mem == nil && s.refs.Add(-1) == 0 {
		s.snap.Close()
	}
}

// reader reads the state.
func (s *State) reader() reader { return reader{snap: s.snap, mem: s.mem} }

// Root is one state of all collections. It is immutable once published; a
// writer works on a fork.
type Root struct {
	names recent.Map[storage.Namespace, Coll]
}

// Coll describes a collection in one state. It is immutable once published; a
// writer works on a clone, which it owns as long as change is set.
type Coll struct {
	Num     uint32 // the prefix of its keys
	Info    *storage.Info
	Indexes []*Index         // those of Info.Indexes in their order, then those of Building
	count   int64            // the number of records
	size    int64            // the sum of the lengths of the documents
	LastID  storage.RecordID // the id of the newest record ever
	Stamp   uint64           // the stamp of the commit that made this state; 0: it was loaded
	Change  *Change          // what the transaction that owns this clone does; nil if it is published

	// Shared by all states of the collection; they have locks of their own:
	firstID *firstID
	noted   *storage.Noted

	// Only if other servers use the store:
	Estimated    bool            // the statistics may be older than those of the store
	EntryVersion int64           // the version of the catalog entry
	Building     []BuildingIndex // the indexes that are being built
}

// Index describes the entries of one index in one state.
type Index struct {
	Num         uint32 // the prefix of its entries, behind that of the collection
	Maker       storage.Index
	Entries     int64
	bytes       int64 // the size of the entries
	Multikey    storage.Multikey
	rowPerOrder bool             // there is one row for each Order, see unique.go
	FilledTo    storage.RecordID // the last record that was added, while the index is being built
	// MaxKey is not below the key of any entry, or nil if that is not known: an Order
	// behind it is new. Only writers to unique indexes need it.
	MaxKey []byte
	gaps   atomic.Pointer[gaps] // ranges that a scan can skip; readers add some
}

// copyTo makes another index the same.
func (x *Index) copyTo(y *Index) {
	y.Num, y.Maker, y.rowPerOrder, y.MaxKey = x.Num, x.Maker, x.rowPerOrder, x.MaxKey
	y.Entries, y.bytes, y.Multikey, y.FilledTo = x.Entries, x.bytes, x.Multikey, x.FilledTo
	y.gaps.Store(x.gaps.Load())
}

// added counts an entry.
func (x *Index) added(key []byte) {
	x.Entries++
	x.bytes += int64(len(key)) + entryOverhead
	if x.MaxKey != nil && bytes.Compare(key, x.MaxKey) > 0 {
		x.MaxKey = bytes.Clone(key)
	}
}

// entryOverhead is the size that an entry counts beside its key.
const entryOverhead = 8

// Change is what a transaction does to one collection.
type Change struct {
	Before      *Coll // before; nil if the transaction made it
	After       *Coll // after; nil if it was dropped
	Records     bool  // records have changed
	Description bool  // the catalog entry must be written
	// made are the indexes that were built beside the transaction, whose marks go
	// with its commit, and dropped those whose entries go.
	made, dropped []uint32
	// Of a store in memory:
	written []storage.RecordID   // the records that the transaction has written
	few     [16]storage.RecordID // where written begins: a group has about ten small updates
	first   int                  // the position of the first of them among the writes of the commit
}

// touch notes that a record was written.
func (ch *Change) touch(id storage.RecordID) {
	if ch.written == nil {
		ch.written = ch.few[:0]
	}
	ch.written = append(ch.written, id)
}

func namespaceLess(a, b storage.Namespace) bool {
	if a.DB != b.DB {
		return a.DB < b.DB
	}
	return a.Coll < b.Coll
}

func NewRoot() *Root { return &Root{names: recent.New[storage.Namespace, Coll](namespaceLess)} }

// Fork returns a copy-on-write copy of a published state.
func (r *Root) Fork() *Root { return &Root{names: r.names.Fork()} }

// Get returns the collection of a name, or nil.
func (r *Root) Get(ns storage.Namespace) *Coll { return r.names.Get(ns) }

// Each calls fn with the collections from a name on, in the order of their names, until it
// returns false.
func (r *Root) Each(from storage.Namespace, fn func(*Coll) bool) {
	r.names.Each(from, func(_ storage.Namespace, c *Coll) bool { return fn(c) })
}

// All calls fn with all collections, in the order of their names, until it returns false.
func (r *Root) All(fn func(*Coll) bool) { r.Each(storage.Namespace{}, fn) }

// find finds the latest state of base under its name, or under the name that a
// transaction has given it.
func (r *Root) find(ns storage.Namespace, base *Coll) *Coll {
	for _, name := range []storage.Namespace{ns, base.Info.Namespace} {
		if c := r.Get(name); c != nil && c.Num == base.Num {
			return c
		}
	}
	return nil
}

func (r *Root) Set(c *Coll) {
	r.names.Set(c.Info.Namespace, c)
}

func (r *Root) Remove(ns storage.Namespace) {
	r.names.Delete(ns)
}

// clone makes a private copy to be changed.
func (c *Coll) clone() *Coll {
	d := &cloned{coll: *c}
	d.coll.Indexes = d.few[:0]
	if len(c.Indexes) > len(d.few) {
		d.coll.Indexes = make([]*Index, 0, len(c.Indexes))
	}
	for i, x := range c.Indexes {
		y := &d.first
		if i > 0 {
			y = new(Index)
		}
		x.copyTo(y)
		d.coll.Indexes = append(d.coll.Indexes, y)
	}
	d.coll.Change = &d.change
	return &d.coll
}

// cloned is a collection with its parts in one piece of memory. That includes the change,
// which is cleared when it is of no use any more: it must not keep the former state.
type cloned struct {
	coll   Coll
	first  Index
	few    [2]*Index
	change Change
}

// Index finds an index by name.
func (c *Coll) Index(name string) *Index {
	for i := range c.Info.Indexes {
		if c.Info.Indexes[i].Name == name {
			return c.Indexes[i]
		}
	}
	return nil
}

// IndexBefore is an index as it was before the transaction, or nil.
func (c *Coll) IndexBefore(x *Index) *Index {
	if c.Change == nil || c.Change.Before == nil {
		return nil
	}
	for _, y := range c.Change.Before.Indexes {
		if y.Num == x.Num {
			return y
		}
	}
	return nil
}
