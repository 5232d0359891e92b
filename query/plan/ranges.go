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

// extend appends each point of a part to each prefix.
func (k keyer) extend(prefixes [][]byte, p part) [][]byte {
	out := make([][]byte, 0, len(prefixes)*len(p.set))
	for _, prefix := range prefixes {
		for i := range p.set {
			j := i
			if p.desc {
				j = len(p.set) - 1 - i
			}
			key := append(make([]byte, 0, len(prefix)+24), prefix...)
			out = append(out, k.append(key, p.set[j].Lo, p))
		}
	}
	return out
}

// close returns the ranges of each prefix: the whole prefix, or the intervals
// of one more part.
func (k keyer) close(prefixes [][]byte, set Intervals, p part) []Range {
	out := make([]Range, 0, len(prefixes)*max(len(set), 1))
	for _, prefix := range prefixes {
		if len(set) == 0 {
			out = append(out, Range{Lo: prefix, Hi: behind(prefix), Prefix: len(prefix)})
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
