package kv

import (
	"context"
	"slices"
	"time"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/keydiff"
	"github.com/duskdb/duskdb/value"
)

// Tx is a View, an Update or a snapshot transaction. It reads Root; a writable one has a
// private fork of that of Start in Root, and changes it. It belongs to one goroutine.
type Tx struct {
	reader
	Common *Common
	Ctx    context.Context
	Start  *State // the state on which it began
	Root   *Root
	Done   bool
	first  collection // the handle of the first collection that is opened

	// Of an Update or a snapshot transaction:
	writable    bool
	touched     int32 // the number of attempts to write
	Changes     []*Change
	Scratch     *Scratch
	fork        Fork            // what the transaction has written in memory; nil: its writes are in the Overlay
	arena       arena           // memory for keys and rows
	written     []writtenRecord // records written in collections with an index that is being prepared
	overwritten []uint64        // hashes of the keys in the cache whose values change
	renewed     [][]byte        // keys of records that are updated
	quotes      []pendingQuote
	Txn         *Txn // the snapshot transaction that this is; nil: it is none
	Replays     *Txn // the snapshot transaction that this Update commits, or nil

	// Of an Update between Commit and Finish:
	after *State       // the state after the commit
	wait  func() error // waits until the writes are safe
	began time.Time    // when the commit began

	Cluster ClusterTx // nil if only this process uses the store
}

// Scratch is memory that writers reuse one after the other.
type Scratch struct {
	diffs  []keydiff.Change
	key    []byte
	keys   []byte // keys of the records of a commit in memory, one behind the other
	Writes WriteSet
}

// changes returns room for the key changes of a write.
func (s *Scratch) changes(n int) []keydiff.Change {
	if cap(s.diffs) < n {
		s.diffs = make([]keydiff.Change, n)
	}
	return s.diffs[:n]
}

// Release clears the buffers and drops large ones.
func (s *Scratch) Release() {
	clear(s.Writes.Writes)
	clear(s.Writes.Drops)
	s.Writes.Writes, s.Writes.Drops, s.Writes.Fresh = s.Writes.Writes[:0], s.Writes.Drops[:0], nil
	s.Writes.Quotes, s.Writes.Fork = s.Writes.Quotes[:0], nil
	s.keys = s.keys[:0]
	if cap(s.Writes.Writes) > 1<<12 {
		s.Writes, s.keys = WriteSet{}, nil
	}
}

// begin begins a transaction on the latest state. It must be ended.
func (e *Engine) begin(ctx context.Context) (*Tx, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	base, err := e.latest()
	if err != nil {
		return nil, err
	}
	return e.on(ctx, base), nil
}

// beginWrite begins an Update on the state after the last commit. The caller has
// the right to write.
func (e *Engine) beginWrite(ctx context.Context) (*Tx, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	base, err := e.lastWritten()
	if err != nil {
		return nil, err
	}
	return e.on(ctx, base).MakeWritable(&e.scratch), nil
}

// on makes a transaction on a state, and takes over the reference to it.
func (e *Engine) on(ctx context.Context, base *State) *Tx {
	t := new(Tx)
	e.beginOn(t, ctx, base)
	return t
}

// beginOn makes t a transaction on a state.
func (e *Engine) beginOn(t *Tx, ctx context.Context, base *State) {
	o := &e.common.Options
	t.Common, t.Ctx, t.Start, t.Root, t.Done = &e.common, ctx, base, base.root, false
	t.reader = reader{snap: base.snap, mem: base.mem, cache: e.common.cache, stamp: base.stamp, gapKeys: o.GapKeys}
}

// Init completes a transaction of a store that other servers use, too. It takes over the
// reference to the state.
func (t *Tx) Init(ctx context.Context, e *Common, base *State, cluster ClusterTx) {
	*t = Tx{Common: e, Ctx: ctx, Start: base, Root: base.root, reader: reader{snap: base.snap}, Cluster: cluster}
}

// MakeWritable makes a transaction writable.
func (t *Tx) MakeWritable(s *Scratch) *Tx {
	t.Root, t.writable, t.Scratch = t.Start.root.Fork(), true, s
	if t.mem != nil {
		t.fork = t.mem.Fork()
		t.mem = t.fork
	} else {
		t.Overlay = new(Overlay)
	}
	return t
}

// End makes the transaction unusable and releases the state that it read.
func (t *Tx) End() {
	if !t.Done {
		t.Done = true
		t.Start.release()
	}
}

// Touched is the number of attempts to write.
func (t *Tx) Touched() int { return int(t.touched) }

// usable returns the error if a transaction cannot be used, or, with write,
// cannot be written to.
func (t *Tx) usable(write bool) error {
	switch {
	case t.Done:
		return storage.ErrClosed
	case write && !t.writable:
		return storage.ErrReadOnly
	}
	if write {
		t.touched++
		if t.Cluster != nil {
			t.Cluster.Working()
		}
	}
	return nil
}

// Own returns the transaction's private clone of a collection.
func (t *Tx) Own(ns storage.Namespace) (*Coll, error) {
	if err := t.usable(true); err != nil {
		return nil, err
	}
	c := t.Root.Get(ns)
	if c == nil {
		return nil, storage.ErrNotFound
	}
	if c.Change != nil {
		return c, nil
	}
	c, err := t.exactly(c)
	if err != nil {
		return nil, err
	}
	if err := t.claimCollection(ns, c); err != nil {
		return nil, err
	}
	own := c.clone()
	own.Change.Before, own.Change.After = c, own
	own.Estimated = false
	t.Changes = append(t.Changes, own.Change)
	t.Root.Set(own)
	return own, nil
}

// exactly returns a collection with its exact statistics.
func (t *Tx) exactly(c *Coll) (*Coll, error) {
	if t.Cluster == nil || !c.Estimated {
		return c, nil
	}
	return t.Cluster.Exact(c)
}

// checkCatalog makes sure that the catalog is that of the state that will be read.
func (t *Tx) checkCatalog() error {
	if t.Cluster == nil {
		return nil
	}
	return t.Cluster.CheckCatalog()
}

// Collection opens a collection.
func (t *Tx) Collection(ns storage.Namespace) (storage.Collection, error) {
	if err := t.usable(false); err != nil {
		return nil, err
	}
	c := t.Root.Get(ns)
	if c == nil {
		if err := t.checkCatalog(); err != nil {
			return nil, err
		}
		return nil, storage.ErrNotFound
	}
	if t.first.tx == nil {
		t.first = collection{tx: t, ns: ns, seen: c}
		return &t.first, nil
	}
	return &collection{tx: t, ns: ns, seen: c}, nil
}

// Collections lists the collections of a database, or all.
func (t *Tx) Collections(db string) ([]*storage.Info, error) {
	if err := t.usable(false); err != nil {
		return nil, err
	}
	if err := t.checkCatalog(); err != nil {
		return nil, err
	}
	var infos []*storage.Info
	t.Root.Each(storage.Namespace{DB: db}, func(c *Coll) bool {
		if db != "" && c.Info.Namespace.DB != db {
			return false
		}
		infos = append(infos, c.Info)
		return true
	})
	return infos, nil
}

// Databases implements storage.Tx: it looks for the first collection behind all of the
// database before.
func (t *Tx) Databases(from string, each func(db string) bool) error {
	if err := t.usable(false); err != nil {
		return err
	}
	if err := t.checkCatalog(); err != nil {
		return err
	}
	for more := true; more; {
		more = false
		t.Root.Each(storage.Namespace{DB: from}, func(c *Coll) bool {
			db := c.Info.Namespace.DB
			more, from = each(db), db+"\x00" // names have no zero bytes
			return false
		})
	}
	return nil
}

// CommitStamp gives the next stamp to an Update. That of a snapshot transaction
// would not be in the order of the commits.
func (t *Tx) CommitStamp(min uint64) (uint64, error) {
	if err := t.usable(false); err != nil {
		return 0, err
	}
	if !t.writable || t.Txn != nil {
		return 0, storage.ErrReadOnly
	}
	return t.Common.Backend.NextStamp(t, min)
}

// number gives the number of a new collection or index.
func (t *Tx) number() uint32 { return t.Common.Backend.Number(t) }

func CloneSpec(s storage.IndexSpec) storage.IndexSpec {
	return storage.IndexSpec{Name: s.Name, Spec: slices.Clip(s.Spec.Clone())}
}

func cloneDoc(d value.Doc) value.Doc {
	if d == nil {
		return nil
	}
	return d.Clone()
}
