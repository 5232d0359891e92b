package value

import (
	"encoding/binary"
	"iter"
)

// Doc is a BSON document as its bytes: int32 length, elements, a zero byte.
// The methods trust the bytes; call [Validate] on untrusted input.
type Doc []byte

// EmptyDoc is {}.
var EmptyDoc = Doc{5, 0, 0, 0, 0}

// Len returns the number of elements; it walks the document.
func (d Doc) Len() (n int) {
	it := d.Iter()
	for it.Next() {
		n++
	}
	return n
}

// IsEmpty reports whether the document has no element.
func (d Doc) IsEmpty() bool { return len(d) <= 5 }

// Clone copies the bytes.
func (d Doc) Clone() Doc { return append(Doc(nil), d...) }

// Get finds the first element of that name and reports whether there is one.
func (d Doc) Get(key string) (Value, bool) {
	v := d.Lookup(key)
	return v, v.kind != Missing
}

// Has reports whether an element of that name exists.
func (d Doc) Has(key string) bool { return d.Lookup(key).kind != Missing }

// First returns the first element, or "" and Missing.
func (d Doc) First() (string, Value) {
	it := d.Iter()
	if !it.Next() {
		return "", Value{}
	}
	return it.Key(), it.Value()
}

// All yields name and value of each element in order. The names alias d.
func (d Doc) All() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		it := d.Iter()
		for it.Next() {
			if !yield(it.Key(), it.Value()) {
				return
			}
		}
	}
}

// Values yields the values in order: the elements of an array.
func (d Doc) Values() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		it := d.Iter()
		for it.Next() {
			if !yield(it.Value()) {
				return
			}
		}
	}
}

// Index returns the i-th element of an array, Missing past the end.
func (d Doc) Index(i int) Value {
	it := d.Iter()
	for ; it.Next(); i-- {
		if i == 0 {
			return it.Value()
		}
	}
	return Value{}
}

// ValueAt is the value of the element that begins at a byte of the document.
func (d Doc) ValueAt(at int) Value { return fromPayload(d.payloadAt(at)) }

// SizeAt returns the size of the element at a position, without its name.
func (d Doc) SizeAt(at int) int {
	_, payload := d.payloadAt(at)
	return 1 + len(payload)
}

func (d Doc) payloadAt(at int) (Kind, []byte) {
	k, n := Kind(d[at]), at+1
	for d[n] != 0 {
		n++
	}
	n++
	end := n + payloadSize(k, d[n:])
	return k, d[n:end:end]
}

// Iter starts a cursor over the elements; it does not allocate.
func (d Doc) Iter() Iter {
	if len(d) < 5 {
		return Iter{}
	}
	return Iter{rest: d[4 : len(d)-1]}
}

// Iter is a cursor over a document's elements:
//
//	it := d.Iter()
//	for it.Next() { it.Key(); it.Value() }
//
// It is declared before the loop and not in its clause, because Go copies a variable of the
// clause in each round, which takes as long as Next.
type Iter struct {
	rest    []byte // the elements not yet visited
	kind    Kind
	key     []byte
	payload []byte
	elem    []byte
}

// Next moves to the next element.
func (it *Iter) Next() bool {
	b := it.rest
	if len(b) == 0 {
		return false
	}
	it.kind = Kind(b[0])
	n := 1
	for b[n] != 0 {
		n++
	}
	it.key = b[1:n]
	n++
	size := payloadSize(it.kind, b[n:])
	it.payload = b[n : n+size : n+size]
	it.elem = b[: n+size : n+size]
	it.rest = b[n+size:]
	return true
}

// Key is the name of the element; it aliases the document.
func (it *Iter) Key() string { return bytesString(it.key) }

// KeyBytes is the name as bytes.
func (it *Iter) KeyBytes() []byte { return it.key }

// Kind is the type of the element.
func (it *Iter) Kind() Kind { return it.kind }

// Value is the value of the element; it aliases the document.
func (it *Iter) Value() Value { return fromPayload(it.kind, it.payload) }

// Element is the whole element (type, name, value) as bytes, ready to be
// appended to another document.
func (it *Iter) Element() []byte { return it.elem }

// Rest returns the elements not yet visited, as bytes.
func (it *Iter) Rest() []byte { return it.rest }

// payloadSize is the length in bytes of the value of type k at the start of
// b. b is trusted.
func payloadSize(k Kind, b []byte) int {
	if w := kinds[k].width; w >= 0 {
		return int(w)
	}
	switch k {
	case KindString, KindCode, KindSymbol:
		return 4 + int(binary.LittleEndian.Uint32(b))
	case KindDocument, KindArray, KindCodeScope:
		return int(binary.LittleEndian.Uint32(b))
	case KindBinary:
		return 5 + int(binary.LittleEndian.Uint32(b))
	case KindRegex:
		n := cstringLen(b) + 1
		return n + cstringLen(b[n:]) + 1
	case KindDBPointer:
		return 4 + int(binary.LittleEndian.Uint32(b)) + 12
	}
	return 0
}

// fromPayload reads the value of type k whose payload is exactly b.
func fromPayload(k Kind, b []byte) Value {
	v := Value{kind: k}
	switch k {
	case KindInt32:
		v.num = uint64(int64(int32(binary.LittleEndian.Uint32(b))))
	case KindDouble, KindInt64, KindDateTime, KindTimestamp:
		v.num = binary.LittleEndian.Uint64(b)
	case KindBool:
		v.num = uint64(b[0])
	case KindString, KindCode, KindSymbol:
		v.b = b[4 : len(b)-1]
	case KindBinary:
		v.sub = b[4]
		v.b = b[5:]
		if v.sub == 2 && len(v.b) >= 4 { // the old subtype repeats its length
			v.b = v.b[4:]
		}
	default:
		v.b = b
	}
	return v
}

// Size is the length in bytes of the whole document.
func (d Doc) Size() int { return len(d) }
