package kv

import (
	"context"
	"slices"
	"time"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/keydiff"
	"github.com/duskdb/duskdb/value"
)

// tx is a View, an Update or a snapshot transaction. It reads root; a writable
// one has a private fork of the base's in root and changes that.
type tx struct {
	reader
	e        *core
	ctx      context.Context
	base     *state
	root     *root
	writable bool
	done     bool
	touched  int32 // attempts to write
	changes  []*change
	scratch  *scratch
	arena    arena
	written  []writtenRecord // in collections with an index that is being prepared
	stale    []uint64        // hashes of keys of the cache whose values change
	renewed  [][]byte        // keys of records that are updated
	after    *state          // after the commit, until that has settled
	wait     func() error    // until the writes are safe
	began    time.Time       // of the commit

	cluster clusterTx // set if other servers use the store, too
	snap    *snapshot // set in a snapshot transaction
	replays *snapshot // set in the Update that commits one
}

// scratch is memory that writers reuse one after the other.
type scratch struct {
	diffs []keydiff.Change
	key   []byte
	set   WriteSet
}

// changes returns room for the key changes of a write.
func (s *scratch) changes(n int) []keydiff.Change {
	if cap(s.diffs) < n {
		s.diffs = make([]keydiff.Change, n)
	}
	return s.diffs[:n]
}

// release clears the buffers and drops large ones.
func (s *scratch) release() {
	clear(s.set.Writes)
	clear(s.set.Drops)
	s.set.Writes, s.set.Drops, s.set.Fresh = s.set.Writes[:0], s.set.Drops[:0], nil
	if cap(s.set.Writes) > 1<<12 {
		s.set = WriteSet{}
	}
}

// begin begins a transaction on the latest state. It must be ended.
func (e *Engine) begin(ctx context.Context) (*tx, error) {
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
func (e *Engine) beginWrite(ctx context.Context) (*tx, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	base, err := e.last()
	if err != nil {
		return nil, err
	}
	return e.on(ctx, base).write(&e.scratch), nil
}

// on makes a transaction on a state, and takes over the reference to it.
func (e *Engine) on(ctx context.Context, base *state) *tx {
	return &tx{e: &e.common, ctx: ctx, base: base, root: base.root, reader: reader{snap: base.snap, hot: e.common.hot, stamp: base.stamp, far: e.common.opts.Far}}
}

// on completes a transaction of a store that other servers use, too. It takes over the
// reference to the state.
func (t *tx) on(ctx context.Context, e *core, base *state, cluster clusterTx) {
	*t = tx{e: e, ctx: ctx, base: base, root: base.root, reader: reader{snap: base.snap}, cluster: cluster}
}

// write makes a transaction writable.
func (t *tx) write(s *scratch) *tx {
	t.root, t.writable, t.scratch = t.base.root.fork(), true, s
	t.over = new(overlay)
	return t
}

// End makes the transaction unusable and releases the state that it read.
func (t *tx) End() {
	if !t.done {
		t.done = true
		t.base.release()
	}
}

// Touched is the number of attempts to write.
func (t *tx) Touched() int { return int(t.touched) }

// usable returns the error if a transaction cannot be used, or, with write,
// cannot be written to.
func (t *tx) usable(write bool) error {
	switch {
	case t.done:
		return storage.ErrClosed
	case write && !t.writable:
		return storage.ErrReadOnly
	}
	if write {
		t.touched++
		if t.cluster != nil {
			t.cluster.Working()
		}
	}
	return nil
}

// own returns the transaction's private clone of a collection.
func (t *tx) own(ns storage.Namespace) (*coll, error) {
	if err := t.usable(true); err != nil {
		return nil, err
	}
	c := t.root.get(ns)
	if c == nil {
		return nil, storage.ErrNotFound
	}
	if c.change != nil {
		return c, nil
	}
	c, err := t.exactly(c)
	if err != nil {
		return nil, err
	}
	if err := t.claimCollection(ns, c); err != nil {
		return nil, err
	}
	ch := &change{base: c}
	ch.cur = c.clone(ch)
	ch.cur.bare = false
	t.changes = append(t.changes, ch)
	t.root.set(ch.cur)
	return ch.cur, nil
}

// exactly returns a collection with its exact statistics.
func (t *tx) exactly(c *coll) (*coll, error) {
	if t.cluster == nil || !c.bare {
		return c, nil
	}
	return t.cluster.Exact(c)
}

// checkCatalog makes sure that the catalog is that of the state that will be read.
func (t *tx) checkCatalog() error {
	if t.cluster == nil {
		return nil
	}
	return t.cluster.CheckCatalog()
}

// Collection opens a collection.
func (t *tx) Collection(ns storage.Namespace) (storage.Collection, error) {
	if err := t.usable(false); err != nil {
		return nil, err
	}
	c := t.root.get(ns)
	if c == nil {
		if err := t.checkCatalog(); err != nil {
			return nil, err
		}
		return nil, storage.ErrNotFound
	}
	return &collection{tx: t, ns: ns, seen: c}, nil
}

// Collections lists the collections of a database, or all.
func (t *tx) Collections(db string) ([]*storage.Info, error) {
	if err := t.usable(false); err != nil {
		return nil, err
	}
	if err := t.checkCatalog(); err != nil {
		return nil, err
	}
	var infos []*storage.Info
	t.root.colls.Ascend(catalogEntry{ns: storage.Namespace{DB: db}}, func(e catalogEntry) bool {
		if db != "" && e.ns.DB != db {
			return false
		}
		infos = append(infos, e.coll.info)
		return true
	})
	return infos, nil
}

// Databases implements storage.Tx: it looks for the first collection behind all of the
// database before.
func (t *tx) Databases(from string, each func(db string) bool) error {
	if err := t.usable(false); err != nil {
		return err
	}
	if err := t.checkCatalog(); err != nil {
		return err
	}
	for more := true; more; {
		more = false
		t.root.colls.Ascend(catalogEntry{ns: storage.Namespace{DB: from}}, func(e catalogEntry) bool {
			more, from = each(e.ns.DB), e.ns.DB+"\x00" // names have no zero bytes
			return false
		})
	}
	return nil
}

// CommitStamp gives the next stamp to an Update. That of a snapshot transaction
// would not be in the order of the commits.
func (t *tx) CommitStamp(least uint64) (uint64, error) {
	if err := t.usable(false); err != nil {
		return 0, err
	}
	if !t.writable || t.snap != nil {
		return 0, storage.ErrReadOnly
	}
	return t.e.host.NextStamp(t, least)
}

// number gives the number of a new collection or index.
func (t *tx) number() uint32 { return t.e.host.Number(t) }

func cloneSpec(s storage.IndexSpec) storage.IndexSpec {
	return storage.IndexSpec{Name: s.Name, Spec: slices.Clip(s.Spec.Clone())}
}

func cloneDoc(d value.Doc) value.Doc {
	if d == nil {
		return nil
	}
	return d.Clone()
}
