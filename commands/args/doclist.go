package args

import (
	"encoding/binary"
	"iter"

	"github.com/duskdb/duskdb/value"
)

// DocList iterates over the documents of an argument like "documents" or "updates",
// which come in an array of the command or in a document sequence behind it. A copy
// iterates again from where it was taken. It allocates nothing: most writes have one
// statement, and reading that should cost next to nothing.
type DocList struct {
	Sequence []byte     // encoded documents, one after the other
	Array    value.Iter // used without a sequence: the elements of an array, all documents
	N        int        // number of documents in all
}

// Next returns the next document, and false after the last.
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

// All yields the remaining documents, numbered from 0.
func (l DocList) All() iter.Seq2[int, value.Doc] {
	return func(yield func(int, value.Doc) bool) {
		for i := 0; ; i++ {
			if d, ok := l.Next(); !ok || !yield(i, d) {
				return
			}
		}
	}
}
