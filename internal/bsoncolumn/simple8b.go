package bsoncolumn

import "encoding/binary"

// slot is a number of up to 128 bits, or a missing value.
type slot struct {
	hi, lo  uint64
	missing bool
}

// layout is how a word of Simple-8b is divided: after the selectors follow slots,
// each with the number of zero bits that are left out at its low end, in units, and
// the other bits.
type layout struct {
	slots      int
	zeroBits   uint // bits for the number of zeros
	unit       uint // zeros that one of them stands for
	bits       uint // size of the slot, with the bits for the zeros
	selectors  uint // bits before the first slot
	repeatsAll bool // a run of the last slot of the word before
}

// repeats is the unit of the length of a run.
const repeats = 120

// baseBits are the bits of a slot by selector.
var baseBits = [16]uint{0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 30, 60, 0}

// sevenBits and eightBits are the bits of a slot by the second selector, without
// those for the zeros.
var (
	sevenBits = [16]uint{0, 2, 3, 4, 5, 7, 10, 14, 24, 52}
	eightBits = [16]uint{0, 4, 5, 7, 10, 14, 24, 52, 4, 6, 9, 13, 23, 51}
)

// firstLarge is the first of the second selectors after 8 that has five bits for
// the zeros instead of four.
const firstLarge = 8

// layoutOf reads the selectors of a word; ok is false if they are invalid.
func layoutOf(word uint64) (l layout, ok bool) {
	selector, second := word&15, word>>4&15
	if selector == 15 {
		return layout{slots: int(second+1) * repeats, repeatsAll: true}, true
	}
	l = layout{bits: baseBits[selector], selectors: 4}
	if selector == 7 || selector == 8 {
		l.selectors = 8
	}
	switch {
	case second == 0:
	case selector == 7:
		l.zeroBits, l.unit, l.bits = 4, 1, sevenBits[second]
	case selector == 8 && second < firstLarge:
		l.zeroBits, l.unit, l.bits = 4, 4, eightBits[second]
	case selector == 8:
		l.zeroBits, l.unit, l.bits = 5, 4, eightBits[second]
	}
	if l.bits == 0 {
		return l, false
	}
	l.bits += l.zeroBits
	l.slots = int((64 - l.selectors) / l.bits)
	return l, true
}

// words reads the slots of a sequence of words.
type words struct {
	rest []byte // words that have not been begun
	word uint64 // what is left of the word, from its next slot on
	layout
	left int  // slots of the word
	last slot // before the first one: zero
}

// next reads a slot; more is false at the end.
func (w *words) next(wide bool) (s slot, more bool, err error) {
	if w.left == 0 {
		if len(w.rest) == 0 {
			return slot{}, false, nil
		}
		var ok bool
		w.word = binary.LittleEndian.Uint64(w.rest)
		w.rest = w.rest[8:]
		if w.layout, ok = layoutOf(w.word); !ok {
			return slot{}, false, errColumn
		}
		w.word >>= w.selectors
		w.left = w.slots
	}
	w.left--
	if !w.repeatsAll {
		mask := uint64(1)<<w.bits - 1
		raw := w.word & mask
		w.word >>= w.bits
		w.last = slot{missing: raw == mask}
		if raw != mask {
			zeros := uint(raw&(1<<w.zeroBits-1)) * w.unit
			w.last = shifted(raw>>w.zeroBits, zeros, wide)
		}
	}
	return w.last, true, nil
}

// ended reports whether there is no further slot.
func (w *words) ended() bool { return w.left == 0 && len(w.rest) == 0 }

// shifted is a number with zero bits at its low end.
func shifted(n uint64, zeros uint, wide bool) slot {
	if !wide {
		return slot{lo: n << (zeros % 64)}
	}
	if zeros >= 64 {
		return slot{hi: n << (zeros - 64)}
	}
	return slot{hi: n >> (64 - zeros), lo: n << zeros}
}

// difference is the signed number that the slot stands for: its lowest bit is the sign.
func (s slot) difference() (hi, lo uint64) {
	sign := -(s.lo & 1)
	return s.hi>>1 ^ sign, (s.lo>>1 | s.hi<<63) ^ sign
}
