package value

import "encoding/binary"

// ArrayBuilder writes an array value by value, without knowing in advance
// how many there are. Its zero value is ready.
type ArrayBuilder struct {
	buf []byte
	n   int
}

// Append adds an element; a Missing value becomes null, because an array has
// no holes.
func (a *ArrayBuilder) Append(v Value) {
	if v.kind == Missing {
		v = Null()
	}
	a.open()
	a.buf = append(a.buf, byte(v.kind))
	a.buf = append(AppendIndex(a.buf, a.n), 0)
	a.buf = AppendPayload(a.buf, v)
	a.n++
}

// Grow makes room for an array of about n bytes.
func (a *ArrayBuilder) Grow(size int) {
	if a.buf == nil {
		a.buf = make([]byte, 4, size+64)
	}
}

// Len is the number of elements so far.
func (a *ArrayBuilder) Len() int { return a.n }

// Size is the number of bytes so far.
func (a *ArrayBuilder) Size() int { return len(a.buf) + 1 }

// Value closes the array and returns it. The builder must not be used
// afterwards.
func (a *ArrayBuilder) Value() Value {
	a.open()
	a.buf = append(a.buf, 0)
	binary.LittleEndian.PutUint32(a.buf, uint32(len(a.buf)))
	return Array(a.buf)
}

func (a *ArrayBuilder) open() {
	if a.buf == nil {
		a.buf = make([]byte, 4, 64)
	}
}

// ArrayNames returns how many bytes the names of the first n elements of an
// array take.
func ArrayNames(n int) int {
	size := 2 * n // a digit and the zero byte
	for first := 10; first < n; first *= 10 {
		size += n - first
	}
	return size
}
