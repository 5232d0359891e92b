package wire

import (
	"errors"
	"io"
	"sync"
)

const (
	// keepCapacity is the largest buffer that an idle connection keeps.
	keepCapacity = 64 << 10
	// firstChunk is the memory allocated for a message before its bytes arrive.
	firstChunk = 64 << 10
	// growth limits the memory for a message to growth times the bytes received,
	// so that a wrong length cannot allocate much.
	growth = 4
)

// large is the shared pool of buffers above keepCapacity.
var large sync.Pool // of *[]byte

// scratch is a buffer that is reused from message to message.
type scratch struct {
	b     []byte
	first []byte // took the first part of the large message in b; kept for the next
}

// release returns a large buffer to the pool, so that an idle connection
// holds little memory.
func (s *scratch) release() {
	if cap(s.b) > keepCapacity {
		b := s.b[:0]
		large.Put(&b)
		s.b, s.first = s.first, nil
	}
}

// reserve makes room for n bytes, from the pool if possible; the content of
// the buffer is lost.
func (s *scratch) reserve(n int) {
	if n <= cap(s.b) {
		return
	}
	if n > keepCapacity && s.borrow(n) {
		return
	}
	s.b = make([]byte, 0, max(n, 512))
}

// borrow takes a buffer of at least n bytes from the pool, if it has one.
func (s *scratch) borrow(n int) bool {
	p, _ := large.Get().(*[]byte)
	if p == nil {
		return false
	}
	if cap(*p) < n {
		large.Put(p)
		return false
	}
	s.release()
	s.b = *p
	return true
}

// readFull reads n bytes from in. It allocates memory as bytes arrive, not by
// the announced length, and calls begun with the first bytes before it
// allocates more.
func (s *scratch) readFull(in io.Reader, n int, begun func(head []byte) error) ([]byte, error) {
	s.reserve(min(n, max(firstChunk, cap(s.b))))
	b := s.b[:min(n, max(firstChunk, cap(s.b)))]
	m, err := io.ReadFull(in, b)
	if err != nil {
		return nil, unexpected(err)
	}
	if err := begun(b); err != nil {
		return nil, err
	}
	if m < n && s.borrow(n) {
		s.first, b = b, append(s.b[:0], b...)
	}
	for s.b = b; len(b) < n; s.b = b {
		if len(b) == cap(b) {
			b = append(make([]byte, 0, min(n, growth*cap(b))), b...)
		}
		m, err := io.ReadFull(in, b[len(b):min(n, cap(b))])
		b = b[:len(b)+m]
		if err != nil {
			return nil, unexpected(err)
		}
	}
	return b, nil
}

// unexpected converts an end of input inside a message to io.ErrUnexpectedEOF.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Buffer is pooled memory to build messages in. Append to B.
type Buffer struct{ B []byte }

var buffers = sync.Pool{New: func() any { return &Buffer{B: make([]byte, 0, 4<<10)} }}

// maxPooledBuffer is the largest buffer to return to the pool, so that a huge
// reply does not stay in memory.
const maxPooledBuffer = 1 << 20

// GetBuffer takes an empty Buffer from the pool.
func GetBuffer() *Buffer { return buffers.Get().(*Buffer) }

// Put empties the buffer and returns it to the pool. Slices of it must no
// longer be used.
func (b *Buffer) Put() {
	if cap(b.B) > maxPooledBuffer {
		return
	}
	b.B = b.B[:0]
	buffers.Put(b)
}
