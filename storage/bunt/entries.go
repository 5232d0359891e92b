package bunt

import (
	"slices"
	"strings"
	"sync/atomic"

	"github.com/duskdb/duskdb/value"
)

// entries is the set of entries of an index: a B+ tree of packed lists.
//
// As with records, versions share nodes, a node is changed in place by the
// version whose stamp it bears and copied by any other, and the last leaf,
// the tail, stands outside of the tree: keys that grow, as most identifiers
// do, are appended to it behind the end that other versions see.
type entries struct {
	stamp uint64
	root  *entryNode // nil if all entries are in the tail
	n     int
	tail  entryTail // behind all entries of the tree
}

// entryNode is a leaf with its entries, or a branch with its kids and the
// separators between them: kid i has the entries that are not before
// separator i-1 and before separator i.
type entryNode struct {
	stamp  uint64
	shared bool // packed belongs to others, though the node does not
	packed
	kids []*entryNode
}

// entryTail is a version's view of a list that others append to as well.
type entryTail struct {
	packed
	stamp uint64
	used  *atomic.Int64 // slots that somebody has claimed
}

// Sizes of nodes: small ones make copies cheap, large ones look-ups.
const (
	leafSize   = 48
	branchSize = 32
	leafFill   = 40 // of what is filled in order
	branchFill = 28
)

func newEntries() *entries { return &entries{stamp: newStamp()} }

// fork returns another version, to be changed by itself. The tree must not
// be changed any more.
func (t *entries) fork() *entries {
	f := *t
	f.stamp = newStamp()
	return &f
}

// freeze returns the tree as it is now, while t may change.
func (t *entries) freeze() *entries {
	f := *t
	t.stamp = newStamp()
	return &f
}

// Len is the number of entries.
func (t *entries) Len() int { return t.n }

// kidOf is the position of the kid where e belongs.
func (n *entryNode) kidOf(e entry) int {
	e.id++ // behind an equal separator
	return n.search(e)
}

// inTail tells that an entry belongs in the tail.
func (t *entries) inTail(e entry) bool {
	return t.tail.len() > 0 && !t.tail.behind(e)
}

func (p *packed) same(i int, e entry) bool { return p.is(i, e.key) && p.slots[i].id == e.id }

// Add adds an entry; false if it is there already.
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

// before reports whether all entries of a tree are before e.
func (n *entryNode) before(e entry) bool {
	for n.kids != nil {
		n = n.kids[len(n.kids)-1]
	}
	return n.search(e) == n.len() // never equal: who asks adds
}

// last is the greatest entry of a tree.
func (n *entryNode) last() entry {
	for n.kids != nil {
		n = n.kids[len(n.kids)-1]
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
		t.root = &entryNode{stamp: t.stamp, packed: packTight([]entry{sep}), kids: []*entryNode{left, right}}
	}
	return added
}

// own returns a node that may be changed. The separators of a branch are
// shared on: whoever changes them makes new ones.
func (t *entries) own(n *entryNode) *entryNode {
	if n.stamp == t.stamp {
		if n.shared {
			n.packed, n.shared = n.clone(), false
		}
		return n
	}
	c := &entryNode{stamp: t.stamp}
	if n.kids == nil {
		c.packed = n.clone()
	} else {
		c.packed, c.kids = n.packed, slices.Clone(n.kids)
	}
	return c
}

// behead returns a leaf without its first entry. As that is what goes when
// records expire, the others stay where they are.
func (t *entries) behead(n *entryNode) *entryNode {
	if n.stamp != t.stamp {
		n = &entryNode{stamp: t.stamp, shared: true, packed: n.packed}
	}
	n.packed.remove(0)
	return n
}

// insert adds an entry below a node. If the node has become too large, right
// is its second half, which begins at sep.
func (t *entries) insert(n *entryNode, e entry) (own, right *entryNode, sep entry, added bool) {
	if n.kids == nil {
		i := n.search(e)
		if n.same(i, e) {
			return n, nil, sep, false
		}
		n = t.own(n)
		n.packed.insert(i, e)
		if n.len() > leafSize {
			right, sep = t.splitLeaf(n)
		}
		return n, right, sep, true
	}
	i := n.kidOf(e)
	kid, half, halfSep, added := t.insert(n.kids[i], e)
	if !added {
		return n, nil, sep, false
	}
	n = t.own(n)
	n.kids[i] = kid
	if half != nil {
		right, sep = t.addKid(n, i, halfSep, half, len(n.kids)/2)
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

// addKid puts a kid behind the one at i. A branch that is full is split at
// kid number at.
func (t *entries) addKid(n *entryNode, i int, sep entry, kid *entryNode, at int) (right *entryNode, up entry) {
	n.packed = n.clone()
	n.packed.insert(i, sep)
	n.kids = slices.Insert(n.kids, i+1, kid)
	if len(n.kids) <= branchSize {
		return nil, up
	}
	up = n.at(at - 1)
	up.key = strings.Clone(up.key)
	right = &entryNode{stamp: t.stamp, packed: n.slice(at, n.len()), kids: slices.Clone(n.kids[at:])}
	n.packed, n.kids = n.slice(0, at-1), slices.Clone(n.kids[:at])
	return right, up
}

// Delete removes an entry; false if it is not there.
func (t *entries) Delete(e entry) bool {
	var removed bool
	if t.inTail(e) {
		removed = t.removeFromTail(e)
	} else if t.root != nil {
		t.root, removed = t.remove(t.root, e)
		for t.root != nil && len(t.root.kids) == 1 {
			t.root = t.root.kids[0]
		}
	}
	if removed {
		t.n--
	}
	return removed
}

// remove takes an entry out below a node; left is nil if nothing is left.
func (t *entries) remove(n *entryNode, e entry) (left *entryNode, removed bool) {
	if n.kids == nil {
		i := n.search(e)
		if !n.same(i, e) {
			return n, false
		}
		switch {
		case n.len() == 1:
			return nil, true
		case i == 0:
			return t.behead(n), true
		}
		n = t.own(n)
		n.packed.remove(i)
		return n, true
	}
	i := n.kidOf(e)
	kid, removed := t.remove(n.kids[i], e)
	if !removed {
		return n, false
	}
	n = t.own(n)
	n.kids[i] = kid
	switch {
	case kid == nil:
		n.dropKid(i, max(i-1, 0))
	case kid.small():
		t.join(n, max(i-1, 0))
	}
	if len(n.kids) == 0 {
		return nil, true
	}
	return n, true
}

// dropKid removes a kid and one of the separators beside it.
func (n *entryNode) dropKid(kid, sep int) {
	n.kids = slices.Delete(n.kids, kid, kid+1)
	if n.len() > 0 {
		n.packed = n.clone()
		n.packed.remove(sep)
	}
}

func (n *entryNode) small() bool {
	if n.kids == nil {
		return n.len() < leafSize/4
	}
	return len(n.kids) < branchSize/4
}

// join makes one node of the kids at i and i+1, if there are two and one can
// hold both.
func (t *entries) join(n *entryNode, i int) {
	if i+1 >= len(n.kids) {
		return
	}
	a, b := n.kids[i], n.kids[i+1]
	if a.kids == nil && a.len()+b.len() > leafSize*3/4 || len(a.kids)+len(b.kids) > branchSize*3/4 {
		return
	}
	joined := &entryNode{stamp: t.stamp}
	list := a.list(0, a.len())
	if a.kids != nil {
		joined.kids = slices.Concat(a.kids, b.kids)
		list = append(list, n.at(i))
	}
	joined.packed = packTight(append(list, b.list(0, b.len())...))
	n.kids[i] = joined
	n.dropKid(i+1, i)
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
	i := x.search(e)
	if x.same(i, e) {
		return false
	}
	if i == x.len() && x.append(e) {
		return true
	}
	t.ownTail()
	x.packed.insert(i, e)
	x.used.Store(int64(x.len()))
	return true
}

// append adds an entry at the end in place, if there is room behind it that
// nobody has claimed.
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

// ownTail makes the tail the version's own, with room for more.
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
	i := x.search(e)
	if !x.same(i, e) {
		return false
	}
	t.ownTail()
	x.packed.remove(i)
	x.used.Store(int64(x.len()))
	if x.len() == 0 {
		*x = entryTail{}
	}
	return true
}

// flush makes most of the tail a leaf of the tree. A few entries stay, so
// that keys that come a little late find their place among them.
func (t *entries) flush() {
	leaf := &entryNode{stamp: t.stamp, packed: t.tail.slice(0, leafFill)}
	rest := t.tail.slice(leafFill, t.tail.len())
	t.tail = entryTail{packed: rest}
	t.linkRight(leaf)
}

// linkRight hangs a leaf behind the last one.
func (t *entries) linkRight(leaf *entryNode) {
	if t.root == nil {
		t.root = leaf
		return
	}
	sep := between(t.root.last(), leaf.at(0))
	left, right, up := t.appendLeaf(t.root, leaf, sep)
	t.root = left
	if right != nil {
		t.root = &entryNode{stamp: t.stamp, packed: packTight([]entry{up}), kids: []*entryNode{left, right}}
	}
}

func (t *entries) appendLeaf(n, leaf *entryNode, sep entry) (own, right *entryNode, up entry) {
	if n.kids == nil {
		return n, leaf, sep
	}
	last := len(n.kids) - 1
	kid, half, halfSep := t.appendLeaf(n.kids[last], leaf, sep)
	n = t.own(n)
	n.kids[last] = kid
	if half != nil {
		right, up = t.addKid(n, last, halfSep, half, branchFill)
	}
	return n, right, up
}

// seek finds the first entry that is not before e: its place in a list, nil
// if there is none.
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

func (n *entryNode) seek(e entry) (p *packed, i int) {
	var next *entryNode // behind n
	for n.kids != nil {
		i := n.kidOf(e)
		if i+1 < len(n.kids) {
			next = n.kids[i+1]
		}
		n = n.kids[i]
	}
	if i := n.search(e); i < n.len() {
		return &n.packed, i
	}
	if next == nil {
		return nil, 0
	}
	for next.kids != nil {
		next = next.kids[0]
	}
	return &next.packed, 0
}
