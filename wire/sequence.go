package wire

import (
	"bytes"
	"iter"
	"unsafe"

	"github.com/duskdb/duskdb/value"
)

// Sequence is a kind-1 section: documents that stand for an array field of
// the body, as "documents" of insert. Its name and documents alias the
// message.
type Sequence struct {
	ID  string
	raw []byte // documents one after another, lengths checked
	n   int
}

// NewSequence makes a sequence for sending.
func NewSequence(id string, docs ...value.Doc) Sequence {
	s := Sequence{ID: id}
	for _, d := range docs {
		s.Append(d)
	}
	return s
}

// Append adds a document.
func (s *Sequence) Append(d value.Doc) {
	s.raw = append(s.raw, d...)
	s.n++
}

// Reset empties the sequence and keeps its memory.
func (s *Sequence) Reset() { s.raw, s.n = s.raw[:0], 0 }

// Len is the number of documents.
func (s Sequence) Len() int { return s.n }

// Bytes are the documents one after another.
func (s Sequence) Bytes() []byte { return s.raw }

// Docs yields the documents in order. They have not been validated but for
// their lengths.
func (s Sequence) Docs() iter.Seq[value.Doc] {
	return func(yield func(value.Doc) bool) {
		for b := s.raw; len(b) > 0; {
			n := int32At(b, 0)
			if !yield(value.Doc(b[:n:n])) {
				return
			}
			b = b[n:]
		}
	}
}

// parseSequence reads the sequence at the start of b (after the kind byte)
// and returns its length.
func parseSequence(b []byte) (s Sequence, size int, err error) {
	if len(b) < 4 {
		return s, 0, reject(CodeInvalidBSON, "document sequence is truncated: %d bytes left", len(b))
	}
	size = int(int32At(b, 0))
	if size < 5 || size > len(b) {
		return s, 0, reject(CodeInvalidBSON, "document sequence of %d bytes does not fit the %d bytes left", size, len(b))
	}
	rest := b[4:size]
	end := bytes.IndexByte(rest, 0)
	if end < 0 {
		return s, 0, reject(CodeInvalidBSON, "document sequence has no terminated name")
	}
	s.ID = stringView(rest[:end])
	s.raw = rest[end+1:]
	for rest = s.raw; len(rest) > 0; s.n++ {
		n, err := documentSize(rest)
		if err != nil {
			return s, 0, err
		}
		rest = rest[n:]
	}
	return s, size, nil
}

// stringView views b as a string without copying; it lives as long as the
// message does.
func stringView(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
