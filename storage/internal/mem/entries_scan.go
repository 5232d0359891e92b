package mem

import (
	"math/bits"

	"github.com/duskdb/duskdb/storage"
)

// visitor takes entries in the order of a scan until it returns false. The
// key is valid only during the call.
type visitor func(key []byte, id storage.RecordID) bool

// partVisitor takes the entries of a list from position i on and before
// position end, until it returns false.
type partVisitor func(p *packed, i, end int) bool

// entryRange is a range of entries: from is its first, and end, if it has one, is behind its last.
type entryRange struct {
	from, end entry
	ends      bool
}

// entryWalk is a scan under way.
type entryWalk struct {
	entryRange
	visit partVisitor
}

// each yields the entries of a range, backwards if reverse is true.
func (t *entries) each(r entryRange, reverse bool, visit visitor) {
	var buf []byte
	t.parts(r, reverse, func(p *packed, i, end int) bool {
		buf = append(buf[:0], p.prefix...)
		first, step := i, 1
		if reverse {
			first, step = end-1, -1
		}
		for n := end - i; n > 0; n-- {
			buf = p.keyTo(buf, first)
			if !visit(buf, p.slots[first].id) {
				return false
			}
			first += step
		}
		return true
	})
}

// parts yields the parts of the lists that are within a range, the last one
// first if reverse is true.
func (t *entries) parts(r entryRange, reverse bool, visit partVisitor) {
	w := entryWalk{entryRange: r, visit: visit}
	if reverse {
		if w.listDown(&t.tail.packed, 0, true) && t.root != nil {
			w.down(t.root, true)
		}
	} else if t.root == nil || w.up(t.root, true) {
		w.listUp(&t.tail.packed, 0, true)
	}
}

// up yields what a subtree has of the range. It looks for the beginning if that
// may be in the subtree.
func (w *entryWalk) up(n *entryNode, begins bool) bool {
	if n.children == nil {
		return w.listUp(&n.packed, n.dead, begins)
	}
	i := 0
	if begins {
		i = n.childOf(w.from)
	}
	for k, child := range n.children[i:] {
		if !w.up(child, begins && k == 0) {
			return false
		}
	}
	return true
}

// listUp is up for a list, of which some positions are dead.
func (w *entryWalk) listUp(p *packed, dead uint64, begins bool) bool {
	i, end := 0, p.len()
	if begins {
		i = p.search(w.from)
	}
	if w.ends {
		end = p.search(w.end)
	}
	for dead>>i != 0 && i < end { // the entries before the next dead one
		until := min(i+bits.TrailingZeros64(dead>>i), end)
		if i < until && !w.visit(p, i, until) {
			return false
		}
		i = until + 1
	}
	return (i >= end || w.visit(p, i, end)) && end == p.len()
}

// down is up for a walk backwards: ends reports whether the end of the range may be in the
// subtree.
func (w *entryWalk) down(n *entryNode, ends bool) bool {
	if n.children == nil {
		return w.listDown(&n.packed, n.dead, ends)
	}
	i := len(n.children) - 1
	if ends && w.ends {
		i = n.childOf(w.end)
	}
	for k := i; k >= 0; k-- {
		if !w.down(n.children[k], ends && k == i) {
			return false
		}
	}
	return true
}

// listDown is down for a list, of which some positions are dead.
func (w *entryWalk) listDown(p *packed, dead uint64, ends bool) bool {
	i, end := p.search(w.from), p.len()
	if ends && w.ends {
		end = p.search(w.end)
	}
	more := i == 0
	for dead>>i != 0 && i < end { // the entries behind the last dead one
		from := max(bits.Len64(dead&(1<<end-1)), i)
		if from < end && !w.visit(p, from, end) {
			return false
		}
		end = from - 1
	}
	return (i >= end || w.visit(p, i, end)) && more
}

// entryBuilder makes a tree of entries that come in order.
type entryBuilder struct {
	list  []entry
	nodes []*entryNode
	seps  []entry // seps[i] is the separator before node i; the first is unused
	last  entry
	n     int
}

// add takes the next entry, whose key must not change.
func (b *entryBuilder) add(e entry) {
	if len(b.list) == leafFill {
		b.cut()
	}
	b.list = append(b.list, e)
	b.n++
}

// cut makes a leaf of the collected entries.
func (b *entryBuilder) cut() {
	b.n -= len(b.list)
	b.leaf(b.list)
	b.list = b.list[:0]
}

// leaf takes the next entries as a leaf of their own.
func (b *entryBuilder) leaf(list []entry) {
	sep := entry{}
	if len(b.nodes) > 0 {
		sep = between(b.last, list[0])
	}
	b.nodes = append(b.nodes, &entryNode{packed: packTight(list)})
	b.seps = append(b.seps, sep)
	b.last = list[len(list)-1]
	b.n += len(list)
}

// join appends what another builder has built of entries that come after these.
// Both have cut their last leaf.
func (b *entryBuilder) join(next *entryBuilder, first entry) {
	if len(b.nodes) > 0 {
		next.seps[0] = between(b.last, first)
	}
	b.nodes, b.seps = append(b.nodes, next.nodes...), append(b.seps, next.seps...)
	b.last, b.n = next.last, b.n+next.n
}

// tree returns the tree.
func (b *entryBuilder) tree() *entries {
	if len(b.list) > 0 {
		b.cut()
	}
	for len(b.nodes) > 1 {
		b.raise()
	}
	t := newEntries()
	t.n = b.n
	if len(b.nodes) > 0 {
		t.root = b.nodes[0]
	}
	return t
}

// raise makes the next level of branches.
func (b *entryBuilder) raise() {
	var nodes []*entryNode
	var seps []entry
	for i := 0; i < len(b.nodes); i += branchFill {
		end := min(i+branchFill, len(b.nodes))
		nodes = append(nodes, &entryNode{packed: packTight(b.seps[i+1 : end]), children: append([]*entryNode(nil), b.nodes[i:end]...)})
		seps = append(seps, b.seps[i])
	}
	b.nodes, b.seps = nodes, seps
}
