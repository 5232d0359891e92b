package args

import (
	"encoding/binary"
	"iter"

	"github.com/duskdb/duskdb/value"
)

// DocList walks the documents of an argument like "documents" or "updates",
// which come in an array of the command or as a sequence behind it. A copy of
// it walks them once more. It takes no memory: most writes have one statement,
// and reading that should cost next to nothing.
type DocList struct {
	Sequence []byte     // documents one after the other
	Array    value.Iter // or else the elements of an array, all documents
	N        int        // how many there are in all
}

// Next returns the next document.
func (l *DocList) Next() (value.Doc, bool) {
	if b := l.Sequence; len(b) > 0 {
		n := binary.LittleEndian.Uint32(b)
		l.Sequence = b[n:]
		return value.Doc(b[:n:n]), true
	}
	if !l.Array.Next() {
		return nil, false
	}
	return l.Array.Value().Doc(), true
}

// All yields the documents with their numbers.
func (l DocList) All() iter.Seq2[int, value.Doc] {
	return func(yield func(int, value.Doc) bool) {
		for i := 0; ; i++ {
			if d, ok := l.Next(); !ok || !yield(i, d) {
				return
			}
		}
	}
}
