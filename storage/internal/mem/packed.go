package mem

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// entry is one index entry. Entries are ordered by key, then by id.
type entry struct {
	key string
	id  storage.RecordID
}

func entryLess(a, b entry) bool { return compareEntries(a, b) < 0 }

func compareEntries(a, b entry) int {
	if c := strings.Compare(a.key, b.key); c != 0 {
		return c
	}
	switch {
	case a.id < b.id:
		return -1
	case a.id > b.id:
		return 1
	}
	return 0
}

// packed is a short sorted list of entries. The keys are stored one after the
// other without their common prefix. So it takes little memory, and neither a
// search nor the garbage collector follows pointers in it.
type packed struct {
	prefix string
	keys   []byte
	slots  []slot
}

// slot is an entry of a packed list.
type slot struct {
	id   storage.RecordID
	off  uint32 // where the rest of its key begins
	head uint32 // the first bytes of that: most comparisons end here
}

func (p *packed) len() int { return len(p.slots) }

// rest returns the key of an entry after the prefix.
func (p *packed) rest(i int) []byte {
	end := len(p.keys)
	if i+1 < len(p.slots) {
		end = int(p.slots[i+1].off)
	}
	return p.keys[p.slots[i].off:end]
}

// keyTo writes the key of an entry over buf, whose first bytes must be the
// prefix.
func (p *packed) keyTo(buf []byte, i int) []byte {
	return append(buf[:len(p.prefix)], p.rest(i)...)
}

// at is an entry, valid until the list changes.
func (p *packed) at(i int) entry {
	return entry{p.prefix + stringView(p.rest(i)), p.slots[i].id}
}

func headOf(rest []byte) uint32 {
	if len(rest) >= 4 {
		return binary.BigEndian.Uint32(rest)
	}
	var h uint32
	for i, c := range rest {
		h |= uint32(c) << (24 - 8*i)
	}
	return h
}

// search returns the position of the first entry that is not before e.
func (p *packed) search(e entry) int {
	i, _ := p.find(e)
	return i
}

// find returns the position of the first entry that is not before e, and whether it is e.
func (p *packed) find(e entry) (i int, is bool) {
	if !strings.HasPrefix(e.key, p.prefix) {
		if e.key < p.prefix {
			return 0, false
		}
		return len(p.slots), false
	}
	rest := e.key[len(p.prefix):]
	return p.findRest(rest, headOf(value.StringView(rest)), e.id)
}

// findRest is find for a key without the prefix. It reads the stored keys only where the
// heads are equal: they are in another place in memory.
func (p *packed) findRest(rest string, head uint32, id storage.RecordID) (i int, is bool) {
	lo, hi := 0, len(p.slots)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		s := &p.slots[mid]
		less := s.head < head
		if s.head == head {
			c := cmp.Or(strings.Compare(stringView(p.rest(mid)), rest), cmp.Compare(s.id, id))
			if c == 0 {
				return mid, true
			}
			less = c < 0
		}
		if less {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, false
}

// behind reports whether the first entry comes after e.
func (p *packed) behind(e entry) bool {
	if !strings.HasPrefix(e.key, p.prefix) {
		return e.key < p.prefix
	}
	c := strings.Compare(stringView(p.rest(0)), e.key[len(p.prefix):])
	return c > 0 || c == 0 && p.slots[0].id > e.id
}

// is reports whether the entry at i has this key.
func (p *packed) is(i int, key string) bool {
	return i < len(p.slots) && strings.HasPrefix(key, p.prefix) && stringView(p.rest(i)) == key[len(p.prefix):]
}

// begins reports whether the key of the entry at i begins with key.
func (p *packed) begins(i int, key string) bool {
	if len(key) <= len(p.prefix) {
		return strings.HasPrefix(p.prefix, key)
	}
	return strings.HasPrefix(key, p.prefix) && strings.HasPrefix(stringView(p.rest(i)), key[len(p.prefix):])
}

// clone returns a copy with room for another entry.
func (p *packed) clone() packed {
	n, size := len(p.slots), len(p.keys)-p.gone()
	return p.copyWith(n+n/8+2, size+size/8+16)
}

// copyWith returns a copy with room for so many slots and bytes of keys in
// all, without the keys that are gone.
func (p *packed) copyWith(slots, keys int) packed {
	gone := p.gone()
	c := packed{prefix: p.prefix}
	c.slots = append(make([]slot, 0, slots), p.slots...)
	c.keys = append(make([]byte, 0, keys), p.keys[gone:]...)
	if gone > 0 {
		c.shift(0, -gone)
	}
	return c
}

// without returns a copy with room for another entry, without the entries at some
// positions.
func (p *packed) without(dead uint64) packed {
	if dead == 0 {
		return p.clone()
	}
	n, size := p.need(dead)
	c := packed{prefix: p.prefix, slots: make([]slot, 0, n+n/8+2), keys: make([]byte, 0, size+size/8+16)}
	c.take(p, dead)
	return c
}

// need returns how many slots and bytes of keys a list needs without the entries at some
// positions.
func (p *packed) need(dead uint64) (slots, keys int) {
	slots, keys = len(p.slots)-bits.OnesCount64(dead), len(p.keys)-p.gone()
	for ; dead != 0; dead &= dead - 1 {
		keys -= len(p.rest(bits.TrailingZeros64(dead)))
	}
	return slots, keys
}

// take appends the entries of another list, but not those at some positions. It returns them
// as a list of their own in the same memory, without room for others.
func (p *packed) take(from *packed, dead uint64) packed {
	first, start := len(p.slots), len(p.keys)
	for i, s := range from.slots {
		if dead>>i&1 == 0 {
			s.off = uint32(len(p.keys) - start)
			p.slots, p.keys = append(p.slots, s), append(p.keys, from.rest(i)...)
		}
	}
	return packed{prefix: from.prefix, keys: slices.Clip(p.keys[start:]), slots: slices.Clip(p.slots[first:])}
}

// gone returns the number of key bytes before the first entry, which belong to
// removed entries.
func (p *packed) gone() int {
	if len(p.slots) == 0 {
		return len(p.keys)
	}
	return int(p.slots[0].off)
}

// insert adds an entry at its place. The list must be the caller's own.
func (p *packed) insert(i int, e entry) {
	if p.gone() > len(p.keys)/2 {
		*p = p.clone()
	}
	if !strings.HasPrefix(e.key, p.prefix) {
		p.shorten(commonPrefix(p.prefix, e.key))
	}
	rest := value.StringView(e.key[len(p.prefix):])
	off := uint32(len(p.keys))
	if i < len(p.slots) {
		off = p.slots[i].off
	}
	p.keys = slices.Insert(p.keys, int(off), rest...)
	p.slots = slices.Insert(p.slots, i, slot{id: e.id, off: off, head: headOf(rest)})
	p.shift(i+1, len(rest))
}

// remove removes the entry at i. The key of a first entry stays in place:
// nothing is moved or written, because other versions may see it.
func (p *packed) remove(i int) {
	if i == 0 {
		p.slots = p.slots[1:]
		return
	}
	off, n := int(p.slots[i].off), len(p.rest(i))
	p.keys = slices.Delete(p.keys, off, off+n)
	p.slots = slices.Delete(p.slots, i, i+1)
	p.shift(i, -n)
}

// shift moves the offsets from i on.
func (p *packed) shift(i, by int) {
	for ; i < len(p.slots); i++ {
		p.slots[i].off += uint32(by)
	}
}

// shorten makes the shared prefix shorter.
func (p *packed) shorten(n int) {
	whole := pack(p.list(0, p.len()), p.prefix[:n])
	*p = whole.clone()
}

// list is the entries from i to k-1.
func (p *packed) list(i, k int) []entry {
	list := make([]entry, 0, k-i)
	keys := make([]byte, 0, len(p.keys)+(k-i)*len(p.prefix))
	for ; i < k; i++ {
		start := len(keys)
		keys = append(append(keys, p.prefix...), p.rest(i)...)
		list = append(list, entry{stringView(keys[start:]), p.slots[i].id})
	}
	return list
}

// slice is the entries from i to k-1, packed tightly.
func (p *packed) slice(i, k int) packed { return packTight(p.list(i, k)) }

// packTight packs sorted entries with the longest prefix.
func packTight(list []entry) packed {
	if len(list) == 0 {
		return packed{}
	}
	first, last := list[0].key, list[len(list)-1].key
	return pack(list, first[:commonPrefix(first, last)])
}

// pack packs sorted entries that share a prefix.
func pack(list []entry, prefix string) packed {
	size := 0
	for i := range list {
		size += len(list[i].key) - len(prefix)
	}
	p := packed{prefix: strings.Clone(prefix), keys: make([]byte, 0, size), slots: make([]slot, len(list))}
	for i := range list {
		rest := list[i].key[len(prefix):]
		p.slots[i] = slot{id: list[i].id, off: uint32(len(p.keys)), head: headOf(value.StringView(rest))}
		p.keys = append(p.keys, rest...)
	}
	return p
}

// commonPrefix returns the length of the common prefix of two keys.
func commonPrefix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// between returns the shortest entry after a and not after b.
func between(a, b entry) entry {
	if a.key == b.key {
		return entry{strings.Clone(b.key), b.id}
	}
	n := commonPrefix(a.key, b.key) + 1
	return entry{key: strings.Clone(b.key[:min(n, len(b.key))])}
}
