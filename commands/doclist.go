package commands

import (
	"encoding/binary"
	"iter"
	"strconv"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// docList walks the documents of an argument like "documents" or "updates",
// which come in an array of the command or as a sequence behind it. A copy of
// it walks them once more. It takes no memory: most writes have one statement,
// and reading that should cost next to nothing.
type docList struct {
	sequence []byte     // documents one after the other
	array    value.Iter // or else the elements of an array, all documents
	n        int        // how many there are in all
}

// next returns the next document.
func (l *docList) next() (value.Doc, bool) {
	if b := l.sequence; len(b) > 0 {
		n := binary.LittleEndian.Uint32(b)
		l.sequence = b[n:]
		return value.Doc(b[:n:n]), true
	}
	if !l.array.Next() {
		return nil, false
	}
	return l.array.Value().Doc(), true
}

// all yields the documents with their numbers.
func (l docList) all() iter.Seq2[int, value.Doc] {
	return func(yield func(int, value.Doc) bool) {
		for i := 0; ; i++ {
			if d, ok := l.next(); !ok || !yield(i, d) {
				return
			}
		}
	}
}

// list returns the documents of an argument from its sequence, or from the
// array that the command has.
func (c *Call) list(name string, inBody array) (l docList, err error) {
	for i := range c.sequences {
		if s := &c.sequences[i]; s.ID == name {
			return docList{sequence: s.Docs, n: s.Len}, nil
		}
	}
	if inBody == nil {
		return l, mongoerr.Newf(40414, "BSON field '%s.%s' is missing but a required field", c.cmd.name, name)
	}
	l.array = value.Doc(inBody).Iter()
	for it := l.array; it.Next(); l.n++ {
		if it.Kind() != value.KindDocument {
			return l, wrongType(c.cmd.name, name+"."+strconv.Itoa(l.n), it.Value(), "object")
		}
	}
	return l, nil
}

// batch is list for the statements of a write, of which there is a least and
// a greatest number.
func (c *Call) batch(name string, inBody array) (docList, error) {
	l, err := c.list(name, inBody)
	if err == nil && (l.n < 1 || l.n > MaxWriteBatch) {
		err = mongoerr.Newf(mongoerr.InvalidLength, "Write batch sizes must be between 1 and %d. Got %d operations.", MaxWriteBatch, l.n)
	}
	return l, err
}
