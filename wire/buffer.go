package wire

import (
	"io"
	"sync"
)

const (
	// keepCapacity is what a connection may hold on to while it is idle.
	keepCapacity = 64 << 10
	// firstChunk is how much a message may claim before it has sent a byte.
	firstChunk = 64 << 10
	// growth limits what a liar wins: he gets growth times what he sends.
	growth = 4
)

// large lends buffers above keepCapacity to whoever is busy.
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

// forget leaves the buffer to whoever still holds slices of it.
func (s *scratch) forget() { s.b, s.first = s.first, nil }

// reserve makes room for n bytes, borrowing where it can; what was in the
// buffer is lost.
func (s *scratch) reserve(n int) {
	if n <= cap(s.b) {
		return
	}
	if n > keepCapacity && s.borrow(n) {
		return
	}
	s.b = make([]byte, 0, max(n, 512))
}

// borrow takes a pooled buffer of at least n bytes if there is one at hand.
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

// readFull reads n bytes from in. Memory is taken as bytes arrive, not as
// they are announced; begun is shown the first of them before more than that
// is taken.
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

// unexpected turns an end of input inside a message into what it is.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Buffer is pooled memory to build messages in. Append to B.
type Buffer struct{ B []byte }

var buffers = sync.Pool{New: func() any { return &Buffer{B: make([]byte, 0, 4<<10)} }}

// maxPooledBuffer keeps one huge reply from staying in memory for ever.
const maxPooledBuffer = 1 << 20

// GetBuffer takes an empty Buffer from the pool.
func GetBuffer() *Buffer { return buffers.Get().(*Buffer) }

// Put empties the buffer and returns it to the pool. Nobody may hold slices
// of it.
func (b *Buffer) Put() {
	if cap(b.B) > maxPooledBuffer {
		return
	}
	b.B = b.B[:0]
	buffers.Put(b)
}
