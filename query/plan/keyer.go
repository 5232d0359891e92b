package plan

import (
	"bytes"

	"github.com/duskdb/duskdb/value"
)

// maxRanges limits the product of the points of several fields; the matcher
// then checks the fields after them.
const maxRanges = 10_000

// maxKeys limits the bytes of keys in one list.
const maxKeys = 1 << 30

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

// at returns the i-th interval in the order of the keys.
func (p *part) at(i int) Interval {
	if p.desc {
		i = p.set.Len() - 1 - i
	}
	return p.set.At(i)
}

// ranges returns the ranges of the keys whose components lie in the parts. It
// ignores the components after the first one that is not a list of points;
// used is the number of components used.
func (k keyer) ranges(parts []part) (out Ranges, used int) {
	var first [1][]byte
	prefixes := first[:]
	for n := range parts {
		p := &parts[n]
		if p.set.Len() == 0 {
			return Ranges{}, n + 1
		}
		if p.set.isAll() {
			return closed(prefixes), n
		}
		if p.set.gaps || n == len(parts)-1 || parts[n+1].set.isAll() {
			if many := k.list(prefixes, p); many != nil {
				return Ranges{many: many}, n + 1
			}
		}
		count := len(prefixes) * p.set.Len()
		if count > maxRanges && len(prefixes) > 1 {
			return closed(prefixes), n
		}
		if !p.set.isPoints() {
			return k.close(prefixes, p), n + 1
		}
		prefixes = k.extend(prefixes, p)
	}
	return closed(prefixes), len(parts)
}

// list returns the ranges of the last part that bounds the keys after one prefix, if its
// intervals are those of many points; otherwise nil.
func (k keyer) list(prefixes [][]byte, p *part) *keyList {
	points := p.set.points
	if points == nil || len(prefixes) != 1 {
		return nil
	}
	size, room := 0, []byte(nil)
	for v := range points.All() { // a list that grows needs twice its memory
		room = k.append(room[:0], v, p)
		size += len(prefixes[0]) + len(room) + 1
	}
	if size > maxKeys {
		return nil
	}
	l := &keyList{keys: make([]byte, 0, size), ends: make([]uint32, points.Len()), gaps: p.set.gaps}
	for i := range l.ends {
		at := i
		if p.desc {
			at = len(l.ends) - 1 - i
		}
		l.keys = append(k.append(append(l.keys, prefixes[0]...), points.At(at), p), 0xff)
		l.ends[i] = uint32(len(l.keys))
	}
	if l.gaps {
		l.whole = k.interval(prefixes[0], all.At(0), p)
	}
	return l
}

// extend appends each point of a part to each prefix.
func (k keyer) extend(prefixes [][]byte, p *part) [][]byte {
	n := p.set.Len()
	out := make([][]byte, 0, len(prefixes)*n)
	for _, prefix := range prefixes {
		for i := range n {
			key := make([]byte, len(prefix), len(prefix)+typicalKey)
			copy(key, prefix)
			out = append(out, k.append(key, p.at(i).Lo, p))
		}
	}
	return out
}

// typicalKey is how many bytes a component of a key has at most as a rule, with the byte of
// its end.
const typicalKey = 24

// closed returns the ranges of all keys with the prefixes.
func closed(prefixes [][]byte) Ranges {
	out := make([]Range, len(prefixes))
	for i, prefix := range prefixes {
		out[i] = Range{Lo: prefix, Hi: justBehind(prefix), Prefix: len(prefix)}
	}
	return Ranges{list: out}
}

// close returns the ranges of the intervals of one more part behind each prefix.
func (k keyer) close(prefixes [][]byte, p *part) Ranges {
	out := make([]Range, 0, len(prefixes)*p.set.Len())
	for _, prefix := range prefixes {
		for i := range p.set.Len() {
			out = append(out, k.interval(prefix, p.at(i), p))
		}
	}
	return Ranges{list: out}
}

// interval converts one interval after a prefix to a range of keys.
func (k keyer) interval(prefix []byte, i Interval, p *part) Range {
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

func (k keyer) append(dst []byte, v value.Value, p *part) []byte {
	c := k.c
	if p.raw {
		c = nil
	}
	if p.desc {
		return value.AppendKeyDesc(dst, v, c)
	}
	return value.AppendKeyWith(dst, v, c)
}
