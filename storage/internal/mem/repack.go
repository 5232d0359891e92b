package mem

import (
	"slices"
	"strings"

	"github.com/duskdb/duskdb/storage/internal/kv"
)

// Repack implements kv.Fork.
func (f *Fork) Repack(from kv.Place, lists int) (next kv.Place, more, changed bool) {
	f.base.colls.Each(from.Num, func(num uint32, c *collection) bool {
		for _, x := range c.byNumber() {
			at := entry{}
			if num == from.Num && x.num < from.Index {
				continue
			} else if num == from.Num && x.num == from.Index {
				at = entry{string(from.Key), from.ID}
			}
			t, to, rest := x.entries.repack(at, lists)
			if t != nil {
				y := f.own(num).find(x.num)
				y.entries, y.forked, changed = t, true, true
			}
			if rest {
				next, more = kv.Place{Num: num, Index: x.num, Key: []byte(to.key), ID: to.id}, true
				return false
			}
			if lists -= x.entries.leaves(); lists <= 0 {
				next, more = kv.Place{Num: num, Index: x.num + 1}, true
				return false
			}
		}
		return true
	})
	return next, more, changed
}

// byNumber are the indexes in the order of their numbers.
func (c *collection) byNumber() []index {
	return slices.SortedFunc(slices.Values(c.indexes), func(a, b index) int { return int(int64(a.num) - int64(b.num)) })
}

// leaves is about how many leaves a tree has.
func (t *entries) leaves() int { return t.n/leafFill + 1 }

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
