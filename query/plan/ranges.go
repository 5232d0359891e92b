package plan

import (
	"bytes"
	"slices"

	"github.com/duskdb/duskdb/value"
)

// maxRanges limits the product of the points of several fields; the matcher
// then checks the fields after them.
const maxRanges = 10_000

// keyer converts intervals to key bytes.
type keyer struct {
	c value.Collator
}

// part is one component of a key: its intervals, and whether it descends.
type part struct {
	set  Intervals
	desc bool
	raw  bool // paths of wildcard keys and terms are never collated
}

// ranges returns the ranges of the keys whose components lie in the parts. It
// ignores the components after the first one that is not a list of points;
// used is the number of components used.
func (k keyer) ranges(parts []part) (out []Range, used int) {
	var first [1][]byte
	prefixes := first[:]
	for n, p := range parts {
		if len(p.set) == 0 {
			return nil, n + 1
		}
		if p.set.isAll() {
			return k.close(prefixes, Intervals{}, p), n
		}
		count := len(prefixes) * len(p.set)
		if count > maxRanges && len(prefixes) > 1 {
			return k.close(prefixes, Intervals{}, p), n
		}
		if !p.set.isPoints() {
			return k.close(prefixes, p.set, p), n + 1
		}
		prefixes = k.extend(prefixes, p)
	}
	return k.close(prefixes, Intervals{}, part{}), len(parts)
}

// extend appends each point of a part to each prefix. Many keys share memory, in which each has
// room for the byte of its behind.
func (k keyer) extend(prefixes [][]byte, p part) [][]byte {
	out := make([][]byte, 0, len(prefixes)*len(p.set))
	var room []byte
	for _, prefix := range prefixes {
		for i := range p.set {
			j := i
			if p.desc {
				j = len(p.set) - 1 - i
			}
			if cap(room)-len(room) < len(prefix)+typicalKey {
				room = make([]byte, 0, min(cap(out)-len(out), sharedKeys)*(len(prefix)+typicalKey))
			}
			start := len(room)
			key := k.append(append(room[start:], prefix...), p.set[j].Lo, p)
			if start+len(key) <= cap(room) { // else it has memory of its own
				end := min(start+len(key)+1, cap(room))
				room, key = room[:end], key[:len(key):end-start]
			}
			out = append(out, key)
		}
	}
	return out
}

const (
	typicalKey = 24  // bytes of a component
	sharedKeys = 256 // that share memory
)

// close returns the ranges of each prefix: the whole prefix, or the intervals
// of one more part.
func (k keyer) close(prefixes [][]byte, set Intervals, p part) []Range {
	out := make([]Range, 0, len(prefixes)*max(len(set), 1))
	for _, prefix := range prefixes {
		if len(set) == 0 {
			out = append(out, Range{Lo: prefix, Hi: justBehind(prefix), Prefix: len(prefix)})
			continue
		}
		for i := range set {
			j := i
			if p.desc {
				j = len(set) - 1 - i
			}
			out = append(out, k.interval(prefix, set[j], p))
		}
	}
	return out
}

// interval converts one interval after a prefix to a range of keys.
func (k keyer) interval(prefix []byte, i Interval, p part) Range {
	lo, hi := i.Lo, i.Hi
	loInc, hiInc := i.LoInc, i.HiInc
	if p.desc {
		lo, hi, loInc, hiInc = hi, lo, hiInc, loInc
	}
	r := Range{Prefix: len(prefix)}
	r.Lo = k.append(bytes.Clone(prefix), lo, p)
	if !loInc {
		r.Lo = behind(r.Lo)
	}
	r.Hi = k.append(bytes.Clone(prefix), hi, p)
	if hiInc {
		r.Hi = behind(r.Hi)
	}
	return r
}

func (k keyer) append(dst []byte, v value.Value, p part) []byte {
	c := k.c
	if p.raw {
		c = nil
	}
	if p.desc {
		return value.AppendKeyDesc(dst, v, c)
	}
	return value.AppendKeyWith(dst, v, c)
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

// reverse reverses the ranges for a backward scan.
func reverse(rs []Range) []Range {
	rs = slices.Clone(rs)
	slices.Reverse(rs)
	return rs
}

// disjoint reports whether the ranges are in order and do not overlap.
func disjoint(rs []Range) bool {
	for i := 1; i < len(rs); i++ {
		if len(rs[i-1].Hi) == 0 || bytes.Compare(rs[i-1].Hi, rs[i].Lo) > 0 {
			return false
		}
	}
	return true
}
