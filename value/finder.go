package value

import (
	"encoding/binary"
	"math/bits"
)

// Finder finds the first field of each of several names, in one pass over each of many
// documents:
//
//	for f.Reset(d); ; {
//		i, v := f.Next()
//		if i < 0 { break } // f.Left() has the names that d lacks
//	}
//
// The documents of a collection mostly have the same fields in the same order. A Finder
// remembers the types and names that it has read; of the next document it only compares
// them, and looks for names again from where they differ.
type Finder struct {
	names []string
	steps []step

	d    Doc
	at   int    // the start of the next element
	next int    // its step; beyond steps: it was not learned
	left uint64 // the names not found yet, as bits
	slow int    // the number of documents to read without learning, since they differ
	lost int    // the number of recent documents that differed
}

// step is an element as documents before had it.
type step struct {
	word, mask uint64 // the type and the first seven bytes of the name and the zero byte behind
	rest       string // the rest of the name with the zero byte, if it is longer
	head       int    // bytes in front of the payload
	fixed      int    // bytes of the payload, without those that a length counts; -1: to be found out
	counted    bool   // the payload begins with the length of what follows
	kind       Kind
	name       int8 // the number of the name, -1: none
}

const (
	// MaxNames is how many names a Finder can look for.
	MaxNames = 64
	maxSteps = 64 // that a Finder learns
)

// NewFinder makes a Finder for names, at most MaxNames of them and all different.
func NewFinder(names ...string) Finder { return Finder{names: names} }

// Reset begins the pass over a document.
func (f *Finder) Reset(d Doc) {
	f.d, f.at, f.next, f.left = d, 4, 0, 1<<len(f.names)-1
	if f.lost > 0 {
		f.lost--
	}
	if f.slow > 0 {
		f.slow--
		f.next = maxSteps
	}
}

// Left is the set of names that were not found yet, as bits.
func (f *Finder) Left() uint64 { return f.left }

// Next goes on to the next field that is looked for. It returns the number of its name and
// its value, or -1 at the end.
func (f *Finder) Next() (int, Value) {
	if f.left == 0 {
		return -1, Value{}
	}
	d, at, next := f.d, f.at, f.next
	for next < len(f.steps) && at+1 < len(d) {
		s := &f.steps[next]
		if (d.wordAt(at)^s.word)&s.mask != 0 || s.rest != "" && !d.continues(at+8, s.rest) {
			break
		}
		at += s.head
		size := s.fixed
		switch {
		case s.counted:
			size += int(binary.LittleEndian.Uint32(d[at:]))
		case size < 0:
			size = payloadSize(s.kind, d[at:])
		}
		next++
		if s.name >= 0 {
			f.at, f.next = at+size, next
			f.left &^= 1 << s.name
			return int(s.name), fromPayload(s.kind, d[at:at+size:at+size])
		}
		at += size
	}
	f.at, f.next = at, next
	return f.search()
}

// wordAt is eight bytes of the document; those behind its end are zero.
func (d Doc) wordAt(at int) uint64 {
	if at+8 <= len(d) {
		return binary.LittleEndian.Uint64(d[at:])
	}
	return d.lastWord(at)
}

func (d Doc) lastWord(at int) uint64 {
	var word [8]byte
	copy(word[:], d[at:])
	return binary.LittleEndian.Uint64(word[:])
}

// Read sets each of out to the value of the field with the name of that number, and those
// that d lacks to Missing.
func (f *Finder) Read(d Doc, out []Value) {
	f.Reset(d)
	at, next, left := f.at, f.next, f.left
	for next < len(f.steps) && left != 0 && at+1 < len(d) {
		s := &f.steps[next]
		if (d.wordAt(at)^s.word)&s.mask != 0 || s.rest != "" && !d.continues(at+8, s.rest) {
			break
		}
		at += s.head
		size := s.fixed
		switch {
		case s.counted:
			size += int(binary.LittleEndian.Uint32(d[at:]))
		case size < 0:
			size = payloadSize(s.kind, d[at:])
		}
		next++
		if s.name >= 0 {
			left &^= 1 << s.name
			out[s.name] = fromPayload(s.kind, d[at:at+size:at+size])
		}
		at += size
	}
	f.at, f.next, f.left = at, next, left
	for f.left != 0 {
		i, v := f.search()
		if i < 0 {
			break
		}
		out[i] = v
	}
	for left := f.left; left != 0; left &= left - 1 {
		out[bits.TrailingZeros64(left)] = Value{}
	}
}

// continues reports whether text stands at a position.
func (d Doc) continues(at int, text string) bool {
	end := at + len(text)
	return end <= len(d) && string(d[at:end]) == text
}

// search is Next for elements that differ from those of the document before, or that no
// document before had. It learns them.
func (f *Finder) search() (int, Value) {
	if len(f.d) <= f.at+1 {
		return -1, Value{}
	}
	if f.next < len(f.steps) {
		f.steps = f.steps[:f.next]
		if f.lost += 4; f.lost > 64 {
			f.slow, f.lost, f.next = 128, 0, maxSteps
		}
	}
	it := Iter{rest: f.d[f.at : len(f.d)-1]}
	for it.Next() {
		name := -1
		for left := f.left; left != 0; left &= left - 1 {
			if i := bits.TrailingZeros64(left); f.names[i] == it.Key() {
				name = i
				break
			}
		}
		f.at += len(it.elem)
		if f.next == len(f.steps) && f.next < maxSteps {
			f.learn(&it, name)
			f.next++
		}
		if name >= 0 {
			f.left &^= 1 << name
			return name, it.Value()
		}
	}
	return -1, Value{}
}

// learn remembers an element.
func (f *Finder) learn(it *Iter, name int) {
	var first [8]byte
	head := it.elem[:len(it.elem)-len(it.payload)]
	n := copy(first[:], head)
	s := step{word: binary.LittleEndian.Uint64(first[:]), mask: ^uint64(0), head: len(head), fixed: int(kinds[it.kind].width), kind: it.kind, name: int8(name)}
	if n < 8 {
		s.mask = 1<<(8*n) - 1
	}
	s.rest = string(head[n:])
	switch it.kind {
	case KindString, KindCode, KindSymbol:
		s.counted, s.fixed = true, 4
	case KindDocument, KindArray, KindCodeScope:
		s.counted, s.fixed = true, 0
	case KindBinary:
		s.counted, s.fixed = true, 5
	case KindDBPointer:
		s.counted, s.fixed = true, 16
	}
	f.steps = append(f.steps, s)
}
