package mem

import (
	"math/bits"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/duskdb/duskdb/value"
)

// entries is the set of entries of an index: a B+ tree of packed lists.
//
// As with records, versions share nodes, a node is changed in place by the
// version whose stamp it bears and copied by any other, and the last leaf, the
// tail, stands outside of the tree: keys that grow, as most identifiers do,
// are appended to it beyond the end that other versions see.
//
// A removal copies no list: the version gets a node of its own with the list of the other
// one, in which it marks the entry as dead. Scattered removals, of which each batch of
// expired documents has one per leaf, take two thirds of the time of those that copy.
type entries struct {
	stamp uint64
	root  *entryNode // nil if all entries are in the tail
	n     int
	tail  entryTail // behind all entries of the tree
}

// entryNode is a leaf with its entries, or a branch with its children and the
// separators between them: child i has the entries from separator i-1 on and
// before separator i.
type entryNode struct {
	stamp    uint64
	shared   bool // packed is shared with other versions, though the node is not
	together bool // a leaf lies together with its neighbours, see repack
	packed
	dead     uint64 // in a leaf, the positions of entries that are removed, though the list has them
	children []*entryNode
}

// entryTail is a version's view of a list that others append to as well.
type entryTail struct {
	packed
	stamp uint64
	used  *atomic.Int64 // slots that some version has claimed
}

// Sizes of nodes: small ones make copies cheap, large ones look-ups.
const (
	leafSize   = 48 // at most the bits of dead
	branchSize = 32
	leafFill   = 40 // of leaves that are filled in order
	branchFill = 28
)

func newEntries() *entries { return &entries{stamp: newStamp()} }

// fork returns a new version that may be changed. The old one must not be
// changed any more.
func (t *entries) fork() *entries {
	f := *t
	f.stamp = newStamp()
	return &f
}

// freeze returns an immutable version of the present tree; t may still change.
func (t *entries) freeze() *entries {
	f := *t
	t.stamp = newStamp()
	return &f
}

// Len is the number of entries.
func (t *entries) Len() int { return t.n }

// childOf returns the position of the child where e belongs.
func (n *entryNode) childOf(e entry) int {
	e.id++ // behind an equal separator
	return n.search(e)
}

// inTail reports whether an entry belongs in the tail.
func (t *entries) inTail(e entry) bool {
	return t.tail.len() > 0 && !t.tail.behind(e)
}

// Add adds an entry. It returns false if the entry exists already.
func (t *entries) Add(e entry) bool {
	added := true
	switch {
	case t.inTail(e):
		added = t.addToTail(e)
	case t.root == nil && t.tail.len() == 0, t.tail.len() == 0 && t.root.before(e):
		t.addToTail(e)
	default:
		added = t.addToTree(e)
	}
	if added {
		t.n++
	}
	return added
}

// before reports whether all entries of a tree are before e, also those that are gone.
func (n *entryNode) before(e entry) bool {
	for n.children != nil {
		n = n.children[len(n.children)-1]
	}
	return n.search(e) == n.len() // never equal: the caller adds e
}

// last is the greatest entry of a tree; it may be gone.
func (n *entryNode) last() entry {
	for n.children != nil {
		n = n.children[len(n.children)-1]
	}
	return n.at(n.len() - 1)
}

func (t *entries) addToTree(e entry) bool {
	if t.root == nil {
		t.root = &entryNode{stamp: t.stamp}
	}
	left, right, sep, added := t.insert(t.root, e)
	t.root = left
	if right != nil {
		t.root = &entryNode{stamp: t.stamp, packed: packTight([]entry{sep}), children: []*entryNode{left, right}}
	}
	return added
}

// own returns a node that may be changed. The separators of a branch stay
// shared: a function that changes them makes a copy.
func (t *entries) own(n *entryNode) *entryNode {
	if n.stamp == t.stamp {
		if n.shared {
			n.packed, n.shared, n.dead = n.without(n.dead), false, 0
		}
		return n
	}
	c := &entryNode{stamp: t.stamp}
	if n.children == nil {
		c.packed = n.without(n.dead)
	} else {
		c.packed, c.children = n.packed, slices.Clone(n.children)
	}
	return c
}

// drop returns a leaf, which has others, without the entry at i. A list that other versions
// see is not copied for that: the entry is marked as gone, which is all that expiry and
// deletes do to most leaves, until half of the list is gone.
func (t *entries) drop(n *entryNode, i int) *entryNode {
	if n.stamp == t.stamp && !n.shared {
		n.remove(i)
		return n
	}
	if n.stamp != t.stamp {
		n = &entryNode{stamp: t.stamp, shared: true, packed: n.packed, dead: n.dead}
	}
	n.dead |= 1 << i
	first := bits.TrailingZeros64(^n.dead)
	n.slots, n.dead = n.slots[first:], n.dead>>first
	if n.live() <= n.len()/2 {
		return t.own(n)
	}
	return n
}

// live is the number of entries of a leaf that are not gone.
func (n *entryNode) live() int { return n.len() - bits.OnesCount64(n.dead) }

// find returns the position of the first entry of a leaf that is not before e, and whether it
// is e, and not gone.
func (n *entryNode) find(e entry) (i int, has bool) {
	i, has = n.packed.find(e)
	return i, has && n.dead>>i&1 == 0
}

// next returns the position of the first entry of a leaf from i on that is not gone.
func (n *entryNode) next(i int) int { return min(i+bits.TrailingZeros64(^(n.dead>>i)), n.len()) }

// insert adds an entry below a node. If the node has become too large, right
// is its second half, which begins at sep.
func (t *entries) insert(n *entryNode, e entry) (own, right *entryNode, sep entry, added bool) {
	if n.children == nil {
		i, has := n.find(e)
		if has {
			return n, nil, sep, false
		}
		if n.dead != 0 {
			n = t.own(n)
			i = n.search(e)
		}
		n = t.own(n)
		n.insert(i, e)
		if n.len() > leafSize {
			right, sep = t.splitLeaf(n)
		}
		return n, right, sep, true
	}
	i := n.childOf(e)
	child, half, halfSep, added := t.insert(n.children[i], e)
	if !added {
		return n, nil, sep, false
	}
	n = t.own(n)
	n.children[i] = child
	if half != nil {
		right, sep = t.addChild(n, i, halfSep, half, len(n.children)/2)
	}
	return n, right, sep, true
}

func (t *entries) splitLeaf(n *entryNode) (right *entryNode, sep entry) {
	half := n.len() / 2
	sep = between(n.at(half-1), n.at(half))
	right = &entryNode{stamp: t.stamp, packed: n.slice(half, n.len())}
	n.packed = n.slice(0, half)
	return right, sep
}

// addChild adds a child after the one at i. A full branch is split at child
// number at.
func (t *entries) addChild(n *entryNode, i int, sep entry, child *entryNode, at int) (right *entryNode, up entry) {
	n.packed = n.clone()
	n.insert(i, sep)
	n.children = slices.Insert(n.children, i+1, child)
	if len(n.children) <= branchSize {
		return nil, up
	}
	up = n.at(at - 1)
	up.key = strings.Clone(up.key)
	right = &entryNode{stamp: t.stamp, packed: n.slice(at, n.len()), children: slices.Clone(n.children[at:])}
	n.packed, n.children = n.slice(0, at-1), slices.Clone(n.children[:at])
	return right, up
}

// Delete removes an entry. It returns false if there is no such entry.
func (t *entries) Delete(e entry) bool {
	var removed bool
	if t.inTail(e) {
		removed = t.removeFromTail(e)
	} else if t.root != nil {
		t.root, removed = t.remove(t.root, e)
		for t.root != nil && len(t.root.children) == 1 {
			t.root = t.root.children[0]
		}
	}
	if removed {
		t.n--
	}
	return removed
}

// remove removes an entry below a node; left is nil if the node is then empty.
func (t *entries) remove(n *entryNode, e entry) (left *entryNode, removed bool) {
	if n.children == nil {
		i, has := n.find(e)
		if !has {
			return n, false
		}
		if n.live() == 1 {
			return nil, true
		}
		return t.drop(n, i), true
	}
	i := n.childOf(e)
	child, removed := t.remove(n.children[i], e)
	if !removed {
		return n, false
	}
	n = t.own(n)
	n.children[i] = child
	switch {
	case child == nil:
		n.dropChild(i, max(i-1, 0))
	case child.small():
		t.join(n, max(i-1, 0))
	}
	if len(n.children) == 0 {
		return nil, true
	}
	return n, true
}

// dropChild removes a child and one of the separators beside it.
func (n *entryNode) dropChild(child, sep int) {
	n.children = slices.Delete(n.children, child, child+1)
	if n.len() > 0 {
		n.packed = n.clone()
		n.remove(sep)
	}
}

func (n *entryNode) small() bool {
	if n.children == nil {
		return n.live() < leafSize/4
	}
	return len(n.children) < branchSize/4
}

// join merges the children at i and i+1 into one node, if both exist and fit.
func (t *entries) join(n *entryNode, i int) {
	if i+1 >= len(n.children) {
		return
	}
	a, b := n.children[i], n.children[i+1]
	if a.children == nil && a.live()+b.live() > leafSize*3/4 || len(a.children)+len(b.children) > branchSize*3/4 {
		return
	}
	joined := &entryNode{stamp: t.stamp}
	list := a.all()
	if a.children != nil {
		joined.children = slices.Concat(a.children, b.children)
		list = append(list, n.at(i))
	}
	joined.packed = packTight(append(list, b.all()...))
	n.children[i] = joined
	n.dropChild(i+1, i)
}

// all is the entries of a leaf, or the separators of a branch.
func (n *entryNode) all() []entry {
	list := n.list(0, n.len())
	for i := len(list) - 1; n.dead != 0 && i >= 0; i-- {
		if n.dead>>i&1 != 0 {
			list = slices.Delete(list, i, i+1)
		}
	}
	return list
}

// addToTail adds an entry that is behind all of the tree.
func (t *entries) addToTail(e entry) bool {
	x := &t.tail
	if x.len() >= leafSize {
		t.flush()
		if !t.inTail(e) {
			return t.addToTree(e)
		}
	}
	i, there := x.find(e)
	if there {
		return false
	}
	if i == x.len() && x.append(e) {
		return true
	}
	t.ownTail()
	x.insert(i, e)
	x.used.Store(int64(x.len()))
	return true
}

// append adds an entry at the end in place, if there is free room that no
// other version has claimed.
func (x *entryTail) append(e entry) bool {
	n, more := len(x.slots), len(e.key)-len(x.prefix)
	if n == cap(x.slots) || more < 0 || e.key[:len(x.prefix)] != x.prefix || len(x.keys)+more > cap(x.keys) ||
		!x.used.CompareAndSwap(int64(n), int64(n+1)) {
		return false
	}
	rest := e.key[len(x.prefix):]
	x.slots = append(x.slots, slot{id: e.id, off: uint32(len(x.keys)), head: headOf(value.StringView(rest))})
	x.keys = append(x.keys, rest...)
	return true
}

// ownTail gives the version its own copy of the tail, with room for more
// entries.
func (t *entries) ownTail() {
	x := &t.tail
	if x.stamp == t.stamp {
		return
	}
	n := x.len()
	room := min(leafSize, max(4, 2*n))
	x.packed = x.copyWith(room, ((len(x.keys)-x.gone())/max(n, 1)+2)*room)
	x.stamp, x.used = t.stamp, new(atomic.Int64)
	x.used.Store(int64(n))
}

func (t *entries) removeFromTail(e entry) bool {
	x := &t.tail
	i, there := x.find(e)
	if !there {
		return false
	}
	t.ownTail()
	x.remove(i)
	x.used.Store(int64(x.len()))
	if x.len() == 0 {
		*x = entryTail{}
	}
	return true
}

// flush moves most of the tail into a new leaf of the tree. A few entries
// stay, so that keys that arrive slightly out of order still belong in the
// tail.
func (t *entries) flush() {
	leaf := &entryNode{stamp: t.stamp, packed: t.tail.slice(0, leafFill)}
	rest := t.tail.slice(leafFill, t.tail.len())
	t.tail = entryTail{packed: rest}
	t.linkRight(leaf)
}

// linkRight adds a leaf after the last one.
func (t *entries) linkRight(leaf *entryNode) {
	if t.root == nil {
		t.root = leaf
		return
	}
	sep := between(t.root.last(), leaf.at(0))
	left, right, up := t.appendLeaf(t.root, leaf, sep)
	t.root = left
	if right != nil {
		t.root = &entryNode{stamp: t.stamp, packed: packTight([]entry{up}), children: []*entryNode{left, right}}
	}
}

func (t *entries) appendLeaf(n, leaf *entryNode, sep entry) (own, right *entryNode, up entry) {
	if n.children == nil {
		return n, leaf, sep
	}
	last := len(n.children) - 1
	child, half, halfSep := t.appendLeaf(n.children[last], leaf, sep)
	n = t.own(n)
	n.children[last] = child
	if half != nil {
		right, up = t.addChild(n, last, halfSep, half, branchFill)
	}
	return n, right, up
}

// seek finds the first entry that is not before e: its list and its position
// there; nil if there is no such entry.
func (t *entries) seek(e entry) (p *packed, i int) {
	if t.tail.len() > 0 && !t.tail.behind(e) {
		p, i = &t.tail.packed, t.tail.search(e)
	} else {
		if t.root != nil {
			p, i = t.root.seek(e)
		}
		if p == nil {
			p, i = &t.tail.packed, 0
		}
	}
	if i == p.len() {
		return nil, 0
	}
	return p, i
}

// seek descends to the leaf of e, and goes to the next leaf if e is after its
// last entry.
func (n *entryNode) seek(e entry) (p *packed, i int) {
	var next *entryNode // behind n
	for n.children != nil {
		i := n.childOf(e)
		if i+1 < len(n.children) {
			next = n.children[i+1]
		}
		n = n.children[i]
	}
	if i := n.next(n.search(e)); i < n.len() {
		return &n.packed, i
	}
	if next == nil {
		return nil, 0
	}
	for next.children != nil {
		next = next.children[0]
	}
	return &next.packed, next.next(0)
}
