package plan

import "bytes"

// Range is a piece of an index: Lo <= key < Hi, an empty bound is open.
// Prefix is the length of the part that all keys in the range share.
type Range struct {
	Lo, Hi []byte
	Prefix int
}

// Ranges are ranges of an index, in the order in which they are scanned.
type Ranges struct {
	list     []Range
	many     *keyList // the ranges instead of list, or nil
	reversed bool
}

// keyList are the ranges of many single values, or those between the values and beyond: their
// keys in order. Each is followed by the byte that ends the range of all that begin with it.
type keyList struct {
	keys  []byte
	ends  []uint32 // the end of each key in keys, with its additional byte
	gaps  bool
	whole Range // the range that all gaps lie in
}

// RangesOf makes ranges of a list, which must not be changed.
func RangesOf(list ...Range) Ranges { return Ranges{list: list} }

// Len is the number of ranges.
func (r *Ranges) Len() int {
	switch {
	case r.many == nil:
		return len(r.list)
	case r.many.gaps:
		return len(r.many.ends) + 1
	}
	return len(r.many.ends)
}

// At returns the i-th range.
func (r *Ranges) At(i int) Range {
	if r.reversed {
		i = r.Len() - 1 - i
	}
	if r.many == nil {
		return r.list[i]
	}
	return r.many.at(i)
}

func (l *keyList) at(i int) Range {
	if !l.gaps {
		key := l.closed(i)
		return Range{Lo: key[: len(key)-1 : len(key)-1], Hi: key, Prefix: len(key) - 1}
	}
	gap := l.whole
	if i > 0 {
		gap.Lo = l.closed(i - 1)
	}
	if i < len(l.ends) {
		key := l.closed(i)
		gap.Hi = key[: len(key)-1 : len(key)-1]
	}
	return gap
}

// closed returns the i-th key with its additional byte.
func (l *keyList) closed(i int) []byte {
	start := uint32(0)
	if i > 0 {
		start = l.ends[i-1]
	}
	return l.keys[start:l.ends[i]:l.ends[i]]
}

// backward returns the ranges for a backward scan.
func (r Ranges) backward() Ranges {
	r.reversed = !r.reversed
	return r
}

// Disjoint reports whether the ranges are in order, backwards if reverse is set, and do not
// overlap.
func (r *Ranges) Disjoint(reverse bool) bool {
	if r.many != nil {
		return r.reversed == reverse
	}
	for i := 1; i < r.Len(); i++ {
		a, b := r.At(i-1), r.At(i)
		if reverse {
			a, b = b, a
		}
		if len(a.Hi) == 0 || bytes.Compare(a.Hi, b.Lo) > 0 {
			return false
		}
	}
	return true
}

// behind returns a bound after all keys that begin with the given bytes; no
// component of a key begins with the byte ff. For the empty prefix there is no
// bound.
func behind(key []byte) []byte {
	if len(key) == 0 {
		return nil
	}
	return append(bytes.Clone(key), 0xff)
}

// justBehind is behind for a key whose memory nothing else uses.
func justBehind(key []byte) []byte {
	if len(key) == 0 || len(key) == cap(key) {
		return behind(key)
	}
	return append(key, 0xff)
}
