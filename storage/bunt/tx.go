package bunt

import (
	"context"
	"slices"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// tx is a View, an Update or a snapshot transaction. It reads root; a
// writable one has a private fork of base in root and changes that.
type tx struct {
	e        *Engine
	ctx      context.Context
	base     *root
	root     *root
	writable bool
	done     bool
	changes  []*change
	touched  int // attempts to write
	scratch  *scratch
	handles  [keptHandles]collection // the first that were opened
	opened   int                     // how many of them

	snap    *snapshot // set in a snapshot transaction
	replays *snapshot // while one is committed
}

// newTx begins a writable transaction.
func (e *Engine) newTx(ctx context.Context, s *scratch) *tx {
	t := &tx{e: e, ctx: ctx, base: e.root.Load(), scratch: s}
	s.quotes = s.quotes[:0]
	t.root, t.writable = t.base.fork(), true
	return t
}

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
	if err := t.claimCollection(ns, c); err != nil {
		return nil, err
	}
	own := c.clone()
	t.changes = append(t.changes, own.change)
	t.root.set(own)
	return own, nil
}

// keptHandles is how many handles a transaction has room for; a writable one opens the
// collections of these only once. The updates of a group mostly write to the same collection
// and to the change log.
const keptHandles = 3

// Collection opens a collection.
func (t *tx) Collection(ns storage.Namespace) (storage.Collection, error) {
	if err := t.usable(false); err != nil {
		return nil, err
	}
	if t.writable {
		for i := range t.opened {
			if h := &t.handles[i]; h.ns == ns && h.current() {
				return h, nil
			}
		}
	}
	c := t.root.get(ns)
	if c == nil {
		return nil, storage.ErrNotFound
	}
	h := t.newHandle()
	*h = collection{tx: t, ns: ns, seen: c, sets: t.root.sets}
	return h, nil
}

// newHandle returns memory for a handle.
func (t *tx) newHandle() *collection {
	if t.opened == keptHandles {
		return new(collection)
	}
	t.opened++
	return &t.handles[t.opened-1]
}

// Collections lists the collections of a database, or all.
func (t *tx) Collections(db string) ([]*storage.Info, error) {
	if err := t.usable(false); err != nil {
		return nil, err
	}
	var infos []*storage.Info
	t.root.each(storage.Namespace{DB: db}, func(c *coll) bool {
		if db != "" && c.info.Namespace.DB != db {
			return false
		}
		infos = append(infos, c.info)
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
	for more := true; more; {
		more = false
		t.root.each(storage.Namespace{DB: from}, func(c *coll) bool {
			db := c.info.Namespace.DB
			more, from = each(db), db+"\x00" // names have no zero bytes
			return false
		})
	}
	return nil
}

// ops returns the operations of the transaction for the log. Those that quote others come
// after them.
func (t *tx) ops() []op {
	ops := t.scratch.ops[:0]
	for _, ch := range t.changes {
		if !ch.quoting {
			ops = ch.ops(ops)
		}
	}
	if len(t.scratch.quotes) > 0 {
		for _, ch := range t.changes {
			if ch.quoting {
				ops = ch.ops(ops)
			}
		}
		t.addQuotes(ops)
	}
	t.scratch.ops = ops
	return ops
}

// seal gives the clones their stamp and makes them immutable before they are
// published.
func (t *tx) seal(stamp uint64) {
	for _, ch := range t.changes {
		if ch.cur != nil {
			ch.cur.stamp = stamp
			ch.cur.seal()
		}
	}
}

// CommitStamp returns the next stamp to an Update. A stamp given to a snapshot
// transaction would not be in the order of the commits.
func (t *tx) CommitStamp(least uint64) (uint64, error) {
	if err := t.usable(false); err != nil {
		return 0, err
	}
	if !t.writable || t.snap != nil {
		return 0, storage.ErrReadOnly
	}
	return t.e.NextStamp(least), nil
}

func cloneSpec(s storage.IndexSpec) storage.IndexSpec {
	return storage.IndexSpec{Name: s.Name, Spec: slices.Clip(s.Spec.Clone())}
}

func cloneDoc(d value.Doc) value.Doc {
	if d == nil {
		return nil
	}
	return d.Clone()
}
