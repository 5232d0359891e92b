package value

import (
	"encoding/binary"
	"slices"
	"strconv"
)

// Append appends the element key: v to an open document. A Missing value
// appends nothing.
func Append(dst []byte, key string, v Value) []byte {
	if v.kind == Missing {
		return dst
	}
	dst = append(dst, byte(v.kind))
	dst = append(dst, key...)
	dst = append(dst, 0)
	return AppendPayload(dst, v)
}

// AppendPayload appends the bytes of the value itself, without type and
// name.
func AppendPayload(dst []byte, v Value) []byte {
	switch v.kind {
	case KindInt32:
		return binary.LittleEndian.AppendUint32(dst, uint32(v.num))
	case KindDouble, KindInt64, KindDateTime, KindTimestamp:
		return binary.LittleEndian.AppendUint64(dst, v.num)
	case KindBool:
		return append(dst, byte(v.num))
	case KindString, KindCode, KindSymbol:
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(v.b)+1))
		dst = append(dst, v.b...)
		return append(dst, 0)
	case KindBinary:
		n := len(v.b)
		if v.sub == 2 {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(n+4))
			dst = append(dst, 2)
			dst = binary.LittleEndian.AppendUint32(dst, uint32(n))
			return append(dst, v.b...)
		}
		dst = binary.LittleEndian.AppendUint32(dst, uint32(n))
		dst = append(dst, v.sub)
		return append(dst, v.b...)
	}
	return append(dst, v.b...)
}

// Marshal appends v's type byte and payload: a self-contained encoding that
// [Unmarshal] reads back.
func Marshal(dst []byte, v Value) []byte {
	return AppendPayload(append(dst, byte(v.kind)), v)
}

// Unmarshal reads the result of Marshal.
func Unmarshal(b []byte) Value {
	if len(b) == 0 {
		return Value{}
	}
	return fromPayload(Kind(b[0]), b[1:])
}

// Builder writes a document by appending. Its zero value is ready:
//
//	var b value.Builder
//	b.Reset(nil)
//	b.String("name", "x")
//	b.StartArray("list"); b.Int32("0", 1); b.End()
//	d := b.Doc()
//
// Sub-documents and arrays nest; inside an array the key is ignored and the
// running index is written instead.
type Builder struct {
	buf    []byte
	levels []level
}

type level struct {
	start int
	array bool
	next  int
}

// NewBuilder starts a document in new memory.
func NewBuilder() *Builder {
	b := &Builder{buf: make([]byte, 0, 256), levels: make([]level, 0, 4)}
	b.Reset(b.buf)
	return b
}

// Reset starts a new document at the end of dst.
func (b *Builder) Reset(dst []byte) {
	b.levels = append(b.levels[:0], level{start: len(dst)})
	b.buf = OpenDoc(dst)
}

// Forget drops the reference to the document's memory. Call Reset to use the
// builder again.
func (b *Builder) Forget() { b.buf, b.levels = nil, b.levels[:0] }

// Append writes key: v; nothing if v is Missing.
func (b *Builder) Append(key string, v Value) *Builder {
	if v.kind == Missing {
		return b
	}
	b.head(v.kind, key)
	b.buf = AppendPayload(b.buf, v)
	return b
}

// Joined appends an array whose elements, with their names, are in parts one after
// the other. There must be nothing to append to an array that encloses it.
func (b *Builder) Joined(key string, parts ...[]byte) *Builder {
	size := len(key) + 16
	for _, p := range parts {
		size += len(p)
	}
	b.buf = slices.Grow(b.buf, size)
	b.StartArray(key)
	for _, p := range parts {
		b.Raw(p)
	}
	return b.End()
}

// Raw appends whole elements (as from [Iter.Element]) unchanged. It must not
// be used inside an array.
func (b *Builder) Raw(elements []byte) *Builder {
	b.buf = append(b.buf, elements...)
	return b
}

// The typed shorthands of Append.

// Int32 writes an int.
func (b *Builder) Int32(key string, v int32) *Builder { return b.Append(key, Int32(v)) }

// Int64 writes a long.
func (b *Builder) Int64(key string, v int64) *Builder { return b.Append(key, Int64(v)) }

// Double writes a double.
func (b *Builder) Double(key string, v float64) *Builder { return b.Append(key, Double(v)) }

// Bool writes a bool.
func (b *Builder) Bool(key string, v bool) *Builder { return b.Append(key, Bool(v)) }

// String writes a string.
func (b *Builder) String(key, v string) *Builder { return b.Append(key, String(v)) }

// Date writes a date in milliseconds since the epoch.
func (b *Builder) Date(key string, ms int64) *Builder { return b.Append(key, DateTime(ms)) }

// Null writes a null.
func (b *Builder) Null(key string) *Builder { return b.Append(key, Null()) }

// Document writes an embedded document.
func (b *Builder) Document(key string, d Doc) *Builder { return b.Append(key, Document(d)) }

// Array writes an array.
func (b *Builder) Array(key string, d Doc) *Builder { return b.Append(key, Array(d)) }

// StartDocument opens an embedded document, to be closed by End.
func (b *Builder) StartDocument(key string) *Builder { return b.open(KindDocument, key) }

// StartArray opens an array, to be closed by End.
func (b *Builder) StartArray(key string) *Builder { return b.open(KindArray, key) }

// End closes what StartDocument or StartArray opened last.
func (b *Builder) End() *Builder {
	last := len(b.levels) - 1
	b.close(b.levels[last].start)
	b.levels = b.levels[:last]
	return b
}

// Doc closes everything that is open and returns the document.
func (b *Builder) Doc() Doc {
	for len(b.levels) > 1 {
		b.End()
	}
	if len(b.levels) == 1 {
		b.close(b.levels[0].start)
		start := b.levels[0].start
		b.levels = b.levels[:0]
		return Doc(b.buf[start:len(b.buf):len(b.buf)])
	}
	return nil
}

// Bytes returns the whole buffer, including the bytes before the document.
func (b *Builder) Bytes() []byte { return b.buf }

// Grow makes room for n further bytes.
func (b *Builder) Grow(n int) { b.buf = slices.Grow(b.buf, n) }

// Len is the number of bytes of the document written so far.
func (b *Builder) Len() int {
	if len(b.levels) == 0 {
		return 0
	}
	return len(b.buf) - b.levels[0].start
}

func (b *Builder) open(k Kind, key string) *Builder {
	b.head(k, key)
	b.levels = append(b.levels, level{start: len(b.buf), array: k == KindArray})
	b.buf = OpenDoc(b.buf)
	return b
}

func (b *Builder) close(start int) { b.buf = CloseDoc(b.buf, start) }

// OpenDoc appends the space for a document's length to dst. Append its
// elements after it, and call CloseDoc.
func OpenDoc(dst []byte) []byte { return append(dst, 0, 0, 0, 0) }

// CloseDoc ends the document that OpenDoc began at dst[start].
func CloseDoc(dst []byte, start int) []byte {
	dst = append(dst, 0)
	binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start))
	return dst
}

func (b *Builder) head(k Kind, key string) {
	b.buf = append(b.buf, byte(k))
	l := &b.levels[len(b.levels)-1]
	if l.array {
		b.buf = AppendIndex(b.buf, l.next)
		l.next++
	} else {
		b.buf = append(b.buf, key...)
	}
	b.buf = append(b.buf, 0)
}

// AppendIndex appends an array index in decimal.
func AppendIndex(dst []byte, i int) []byte {
	if i < 10 {
		return append(dst, byte('0'+i))
	}
	return strconv.AppendInt(dst, int64(i), 10)
}

// NewArray makes an array value of the given elements.
func NewArray(vs ...Value) Value {
	var b Builder
	b.Reset(make([]byte, 0, 16+16*len(vs)))
	b.levels[0].array = true
	for _, v := range vs {
		if v.kind == Missing {
			v = Null()
		}
		b.Append("", v)
	}
	return Array(b.Doc())
}

// NewDoc makes a document of alternating names (string) and Values.
func NewDoc(pairs ...any) Doc {
	b := NewBuilder()
	for i := 0; i+1 < len(pairs); i += 2 {
		b.Append(pairs[i].(string), pairs[i+1].(Value))
	}
	return b.Doc()
}
