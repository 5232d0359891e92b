package bunt

import (
	"context"
	"strings"

	"github.com/duskdb/duskdb/storage"
)

var _ storage.Repacker = (*Engine)(nil)

// repackAtOnce is how many leaves are copied while writers wait: half a millisecond.
const repackAtOnce = 512

// Repack implements storage.Repacker. Every scattered change copies a leaf of an index,
// so after a load or many deletes the leaves in use lie between dead ones, and a page of
// the heap stays as long as one of its objects does. Repack copies those below a branch
// into one piece of memory, and the pages that they leave become free.
//
// It does nothing while there are snapshot transactions: their states keep the old leaves.
func (e *Engine) Repack(ctx context.Context) error {
	r := e.root.Load()
	if r == nil {
		return storage.ErrClosed
	}
	var all []*coll // without their present states, which become garbage on the way
	r.all(func(c *coll) { all = append(all, &coll{num: c.num, info: c.info}) })
	for _, c := range all {
		for _, spec := range c.info.Indexes {
			if err := e.repackIndex(ctx, c, spec.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

// repackIndex copies the leaves of an index, a part of them at a time.
func (e *Engine) repackIndex(ctx context.Context, of *coll, name string) error {
	from, more := entry{}, true
	for more {
		if err := e.lockWriter(ctx); err != nil {
			return err
		}
		from, more = e.repackPart(of, name, from)
		e.unlockWriter()
	}
	return nil
}

// repackPart copies leaves of an index from the one on to which an entry belongs, and
// publishes a state that has them. It returns where to go on. The caller holds the write
// lock.
func (e *Engine) repackPart(of *coll, name string, from entry) (next entry, more bool) {
	r := e.root.Load()
	now := r.find(of.info.Namespace, of)
	if now == nil || now.index(name) == nil || e.snapshots.Load() > 0 {
		return entry{}, false
	}
	tree, next, more := now.index(name).entries.repack(from, repackAtOnce)
	if tree == nil {
		return next, more
	}
	c := now.clone()
	c.index(name).entries = tree
	*c.change = change{}
	c.seal()
	r = r.fork()
	r.set(c)
	e.root.Store(r)
	return next, more
}

// repack returns a version in which leaves, from the one on to which an entry belongs, lie
// together; nil if they do already. It copies about as many as are asked for, and returns
// where to go on.
func (t *entries) repack(from entry, leaves int) (packed *entries, next entry, more bool) {
	if t.root == nil || t.root.children == nil {
		return nil, entry{}, false
	}
	r := repacking{t: t.fork(), left: leaves}
	r.t.root = r.branch(t.root, from)
	if r.t.root == t.root {
		return nil, r.next, r.more
	}
	return r.t, r.next, r.more
}

// repacking is a walk that copies leaves.
type repacking struct {
	t    *entries
	left int // leaves to look at
	next entry
	more bool
}

// branch copies what is below a branch and not before an entry.
func (r *repacking) branch(n *entryNode, from entry) *entryNode {
	if n.children[0].children == nil {
		r.left -= len(n.children)
		return r.leaves(n)
	}
	for i := n.childOf(from); i < len(n.children) && !r.more; i++ {
		if r.left <= 0 {
			sep := n.at(i - 1)
			r.next, r.more = entry{strings.Clone(sep.key), sep.id}, true
			break
		}
		if child := r.branch(n.children[i], from); child != n.children[i] {
			n = r.t.own(n)
			n.children[i] = child
		}
	}
	return n
}

// leaves copies the leaves below a branch, unless they lie together. Each branch has a piece
// of memory of its own: a piece stays as long as one of its leaves does, so small ones are
// freed sooner.
func (r *repacking) leaves(n *entryNode) *entryNode {
	slots, keys, loose := 0, 0, false
	for _, leaf := range n.children {
		n, size := leaf.need(leaf.dead)
		slots, keys, loose = slots+n, keys+size, loose || !leaf.together
	}
	if !loose {
		return n
	}
	n = r.t.own(n)
	p := packed{keys: make([]byte, 0, keys), slots: make([]slot, 0, slots)}
	nodes := make([]entryNode, len(n.children))
	for i, leaf := range n.children {
		nodes[i] = entryNode{stamp: r.t.stamp, together: true, packed: p.take(&leaf.packed, leaf.dead)}
		n.children[i] = &nodes[i]
	}
	return n
}
