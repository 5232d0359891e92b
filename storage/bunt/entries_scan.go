package bunt

import "github.com/duskdb/duskdb/storage"

// visitor takes entries in the order of a scan until it returns false. The
// key is valid only during the call.
type visitor func(key []byte, id storage.RecordID) bool

// entryWalk is a scan under way. The keys are written into one buffer.
type entryWalk struct {
	visit visitor
	buf   []byte
}

// Ascend yields the entries from one on.
func (t *entries) Ascend(from entry, visit visitor) {
	w := entryWalk{visit: visit}
	if t.root == nil || w.up(t.root, from) {
		w.listUp(&t.tail.packed, t.tail.search(from))
	}
}

// up yields the entries of a subtree from one on, in ascending order.
func (w *entryWalk) up(n *entryNode, from entry) bool {
	if n.children == nil {
		return w.listUp(&n.packed, n.search(from))
	}
	i := n.childOf(from)
	if !w.up(n.children[i], from) {
		return false
	}
	for _, child := range n.children[i+1:] {
		if !w.allUp(child) {
			return false
		}
	}
	return true
}

func (w *entryWalk) allUp(n *entryNode) bool {
	if n.children == nil {
		return w.listUp(&n.packed, 0)
	}
	for _, child := range n.children {
		if !w.allUp(child) {
			return false
		}
	}
	return true
}

func (w *entryWalk) listUp(p *packed, i int) bool {
	w.buf = append(w.buf[:0], p.prefix...)
	for ; i < p.len(); i++ {
		w.buf = p.keyTo(w.buf, i)
		if !w.visit(w.buf, p.slots[i].id) {
			return false
		}
	}
	return true
}

// Descend yields the entries down from one, which is among them.
func (t *entries) Descend(from entry, visit visitor) {
	from.id++
	w := entryWalk{visit: visit}
	if w.listDown(&t.tail.packed, t.tail.search(from)) && t.root != nil {
		w.down(t.root, from)
	}
}

// Reverse yields all entries backwards.
func (t *entries) Reverse(visit visitor) {
	w := entryWalk{visit: visit}
	if w.listDown(&t.tail.packed, t.tail.len()) && t.root != nil {
		w.allDown(t.root)
	}
}

// down yields the entries before an end.
func (w *entryWalk) down(n *entryNode, end entry) bool {
	if n.children == nil {
		return w.listDown(&n.packed, n.search(end))
	}
	i := n.childOf(end)
	if !w.down(n.children[i], end) {
		return false
	}
	for i--; i >= 0; i-- {
		if !w.allDown(n.children[i]) {
			return false
		}
	}
	return true
}

func (w *entryWalk) allDown(n *entryNode) bool {
	if n.children == nil {
		return w.listDown(&n.packed, n.len())
	}
	for i := len(n.children) - 1; i >= 0; i-- {
		if !w.allDown(n.children[i]) {
			return false
		}
	}
	return true
}

// listDown yields the entries before position end.
func (w *entryWalk) listDown(p *packed, end int) bool {
	w.buf = append(w.buf[:0], p.prefix...)
	for i := end - 1; i >= 0; i-- {
		w.buf = p.keyTo(w.buf, i)
		if !w.visit(w.buf, p.slots[i].id) {
			return false
		}
	}
	return true
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
	sep := entry{}
	if len(b.nodes) > 0 {
		sep = between(b.last, b.list[0])
	}
	b.nodes = append(b.nodes, &entryNode{packed: packTight(b.list)})
	b.seps = append(b.seps, sep)
	b.last = b.list[len(b.list)-1]
	b.list = b.list[:0]
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
