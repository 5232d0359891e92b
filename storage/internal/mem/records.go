package mem

import (
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/duskdb/duskdb/storage"
)

// records maps the ids of a collection to stored values. Ids are numbers that
// grow, so it is a radix tree: each level of nodes uses radixBits of the id.
// Keys are neither stored nor compared, and a node has room only for the
// children that exist.
//
// Versions of a tree share nodes. A node may be changed in place by the
// version whose stamp it bears, and is copied by any other. Appended records
// go to the tail, a last leaf outside of the tree. They are written in place,
// beyond the end that other versions see, so an insert copies nothing.
type records struct {
	stamp  uint64 // stamp of the nodes that are this version's own
	root   *recordNode
	height uint             // levels of branches above the leaves
	n      int              // records
	high   storage.RecordID // the highest id ever set

	tail      *recordTail
	tailFirst storage.RecordID // id of the first record in the tail
	tailLen   int
}

// recordNode is a branch with children, or a leaf with values: one for each
// bit that is set, in the order of the bits.
type recordNode struct {
	stamp    uint64
	bits     uint32
	children []*recordNode
	vals     []string
}

// recordTail is shared by the versions of a tree. A slot belongs to the
// version that claimed it first.
type recordTail struct {
	used atomic.Int64
	vals []string
}

const (
	radixBits = 5
	radixSize = 1 << radixBits
	radixMask = radixSize - 1
)

// stamps hands out stamps; none is given twice.
var stamps atomic.Uint64

func newStamp() uint64 { return stamps.Add(1) }

func newRecords() *records { return &records{stamp: newStamp()} }

// fork returns a new version of the tree that may be changed. The old one must
// not be changed any more.
func (t *records) fork() *records {
	f := t.forked()
	return &f
}

func (t *records) forked() records {
	f := *t
	f.stamp = newStamp()
	return f
}

// freeze returns an immutable version of the present tree; t may still change.
func (t *records) freeze() *records {
	f := *t
	t.stamp = newStamp()
	return &f
}

// Len is the number of records.
func (t *records) Len() int { return t.n }

// slot finds the position of an id within a node; ok reports whether the slot
// is in use.
func (n *recordNode) slot(id storage.RecordID, shift uint) (pos int, bit uint32, ok bool) {
	bit = 1 << (uint64(id) >> shift & radixMask)
	return bits.OnesCount32(n.bits & (bit - 1)), bit, n.bits&bit != 0
}

// beyond reports whether an id needs a higher tree.
func (t *records) beyond(id storage.RecordID) bool {
	shift := (t.height + 1) * radixBits
	return shift < 64 && uint64(id)>>shift != 0
}

// Get reads a record.
func (t *records) Get(id storage.RecordID) (string, bool) {
	if i := uint64(id - t.tailFirst); i < uint64(t.tailLen) {
		return t.tail.vals[i], true
	}
	n := t.root
	if n == nil || t.beyond(id) {
		return "", false
	}
	for shift := t.height * radixBits; ; shift -= radixBits {
		pos, _, ok := n.slot(id, shift)
		if !ok {
			return "", false
		}
		if shift == 0 {
			return n.vals[pos], true
		}
		n = n.children[pos]
	}
}

// Max is the record with the highest id.
func (t *records) Max() (id storage.RecordID, stored string, ok bool) {
	t.Descend(1<<63-1, func(i storage.RecordID, s string) bool {
		id, stored, ok = i, s, true
		return false
	})
	return id, stored, ok
}

// Set stores a record and returns the old value.
func (t *records) Set(id storage.RecordID, v string) (old string, replaced bool) {
	if id > t.high {
		t.high = id
		t.n++
		t.push(id, v)
		return "", false
	}
	if uint64(id-t.tailFirst) < uint64(t.tailLen) {
		t.flush()
	}
	old, replaced = t.set(id, v)
	if !replaced {
		t.n++
	}
	return old, replaced
}

// push appends a record whose id is higher than all others.
func (t *records) push(id storage.RecordID, v string) {
	i := t.tailLen
	if i > 0 && (id != t.tailFirst+storage.RecordID(i) || id&radixMask == 0) {
		t.flush()
		i = 0
	}
	if i == 0 {
		t.tailFirst = id
	}
	if t.tail == nil || i == len(t.tail.vals) || !t.tail.used.CompareAndSwap(int64(i), int64(i+1)) {
		t.moveTail(i)
	}
	t.tail.vals[i] = v
	t.tailLen = i + 1
}

// moveTail gives the version a tail of its own, with its i records and room
// for more, and claims the next slot.
func (t *records) moveTail(i int) {
	room := radixSize - int(t.tailFirst&radixMask)
	if t.n < radixSize { // in a small collection it grows slowly
		room = min(room, max(4, 2*i))
	}
	next := &recordTail{vals: make([]string, room)}
	if i > 0 {
		copy(next.vals, t.tail.vals[:i])
	}
	next.used.Store(int64(i + 1))
	t.tail = next
}

// flush moves the tail into the tree as a leaf.
func (t *records) flush() {
	if t.tailLen == 0 {
		return
	}
	first, vals := t.tailFirst, t.tail.vals[:t.tailLen:t.tailLen]
	if len(vals) < len(t.tail.vals)/4*3 {
		vals = slices.Clone(vals)
	}
	t.tail, t.tailLen, t.tailFirst = nil, 0, 0
	if t.adopt(first, vals) {
		return
	}
	for i, v := range vals {
		t.set(first+storage.RecordID(i), v)
	}
}

// adopt inserts a leaf with successive records into the tree, unless its place
// is taken.
func (t *records) adopt(first storage.RecordID, vals []string) bool {
	t.grow(first)
	leaf := &recordNode{vals: vals, bits: (1<<len(vals) - 1) << (first & radixMask)}
	if t.height == 0 {
		if t.root.bits != 0 {
			return false
		}
		t.root = leaf
		return true
	}
	n := t.ownRoot()
	for shift := t.height * radixBits; ; shift -= radixBits {
		pos, bit, ok := n.slot(first, shift)
		if shift == radixBits {
			if ok {
				return false
			}
			n.children = slices.Insert(n.children, pos, leaf)
			n.bits |= bit
			return true
		}
		n = t.child(n, pos, bit, ok)
	}
}

// grow makes the tree high enough for an id.
func (t *records) grow(id storage.RecordID) {
	if t.root == nil {
		t.root, t.height = &recordNode{stamp: t.stamp}, 0
	}
	for t.beyond(id) {
		if t.root.bits != 0 {
			t.root = &recordNode{stamp: t.stamp, bits: 1, children: []*recordNode{t.root}}
		}
		t.height++
	}
}

// own returns a node that may be changed.
func (t *records) own(n *recordNode) *recordNode {
	if n.stamp == t.stamp {
		return n
	}
	return &recordNode{stamp: t.stamp, bits: n.bits, children: slices.Clone(n.children), vals: slices.Clone(n.vals)}
}

func (t *records) ownRoot() *recordNode {
	t.root = t.own(t.root)
	return t.root
}

// child returns a child that may be changed, of a branch that may be changed.
// It creates the child if it is missing.
func (t *records) child(n *recordNode, pos int, bit uint32, ok bool) *recordNode {
	if !ok {
		k := &recordNode{stamp: t.stamp}
		n.children = slices.Insert(n.children, pos, k)
		n.bits |= bit
		return k
	}
	k := t.own(n.children[pos])
	n.children[pos] = k
	return k
}

// set stores a record in the tree.
func (t *records) set(id storage.RecordID, v string) (old string, replaced bool) {
	t.grow(id)
	n := t.ownRoot()
	for shift := t.height * radixBits; ; shift -= radixBits {
		pos, bit, ok := n.slot(id, shift)
		switch {
		case shift > 0:
			n = t.child(n, pos, bit, ok)
		case ok:
			old, n.vals[pos] = n.vals[pos], v
			return old, true
		default:
			n.vals = slices.Insert(n.vals, pos, v)
			n.bits |= bit
			return "", false
		}
	}
}

// Delete removes a record and returns its value.
func (t *records) Delete(id storage.RecordID) (old string, ok bool) {
	if uint64(id-t.tailFirst) < uint64(t.tailLen) {
		t.flush()
	} else if _, ok := t.Get(id); !ok {
		return "", false
	}
	t.root, old = t.remove(t.root, id, t.height*radixBits)
	t.n--
	return old, true
}

// remove removes an existing record from a node; left is nil if the node is
// then empty.
func (t *records) remove(n *recordNode, id storage.RecordID, shift uint) (left *recordNode, old string) {
	n = t.own(n)
	pos, bit, _ := n.slot(id, shift)
	if shift == 0 {
		old = n.vals[pos]
		n.vals = slices.Delete(n.vals, pos, pos+1)
	} else {
		var child *recordNode
		if child, old = t.remove(n.children[pos], id, shift-radixBits); child != nil {
			n.children[pos] = child
			return n, old
		}
		n.children = slices.Delete(n.children, pos, pos+1)
	}
	if n.bits &^= bit; n.bits == 0 {
		return nil, old
	}
	return n, old
}

// Scan yields all records in order until fn returns false.
func (t *records) Scan(fn func(storage.RecordID, string) bool) { t.Ascend(0, fn) }

// Ascend yields the records from an id on.
func (t *records) Ascend(from storage.RecordID, fn func(storage.RecordID, string) bool) {
	from = max(from, 0)
	if t.root != nil && !t.beyond(from) && !t.root.ascend(0, t.height*radixBits, from, fn) {
		return
	}
	if t.tailLen == 0 {
		return
	}
	i := max(0, from-t.tailFirst)
	for ; i < storage.RecordID(t.tailLen); i++ {
		if !fn(t.tailFirst+i, t.tail.vals[i]) {
			return
		}
	}
}

// ascend walks a node whose ids begin at base.
func (n *recordNode) ascend(base storage.RecordID, shift uint, from storage.RecordID, fn func(storage.RecordID, string) bool) bool {
	left := n.bits
	for pos := 0; left != 0; pos++ {
		id := base + storage.RecordID(bits.TrailingZeros32(left))<<shift
		left &= left - 1
		if id+1<<shift-1 < from {
			continue
		}
		if shift == 0 {
			if !fn(id, n.vals[pos]) {
				return false
			}
		} else if !n.children[pos].ascend(id, shift-radixBits, from, fn) {
			return false
		}
	}
	return true
}

// Descend yields the records down from an id.
func (t *records) Descend(from storage.RecordID, fn func(storage.RecordID, string) bool) {
	for i := min(int64(t.tailLen)-1, int64(from-t.tailFirst)); i >= 0; i-- {
		if !fn(t.tailFirst+storage.RecordID(i), t.tail.vals[i]) {
			return
		}
	}
	if t.root != nil {
		t.root.descend(0, t.height*radixBits, from, fn)
	}
}

// descend walks a node, whose ids begin at base, in descending order.
func (n *recordNode) descend(base storage.RecordID, shift uint, from storage.RecordID, fn func(storage.RecordID, string) bool) bool {
	left := n.bits
	for pos := bits.OnesCount32(left) - 1; left != 0; pos-- {
		top := 31 - bits.LeadingZeros32(left)
		id := base + storage.RecordID(top)<<shift
		left &^= 1 << top
		if id > from {
			continue
		}
		if shift == 0 {
			if !fn(id, n.vals[pos]) {
				return false
			}
		} else if !n.children[pos].descend(id, shift-radixBits, from, fn) {
			return false
		}
	}
	return true
}
