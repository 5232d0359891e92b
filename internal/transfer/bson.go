package transfer

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/duskdb/duskdb/value"
)

// bsonSource reads documents one after another, as mongodump writes them.
type bsonSource struct {
	in *bufio.Reader
	n  int
}

// NewBSON returns a source of the documents of a .bson file. Their "lines" are
// their numbers.
func NewBSON(r io.Reader) Source { return &bsonSource{in: bufio.NewReaderSize(r, 1<<16)} }

// Unit implements Source.
func (s *bsonSource) Unit() string { return documents }

// Next reads one document.
func (s *bsonSource) Next() (value.Doc, int, error) {
	s.n++
	doc, err := readDoc(s.in)
	if errors.Is(err, io.EOF) {
		return nil, s.n, io.EOF
	}
	if errors.Is(err, errInvalid) {
		err = &LineError{Line: s.n, Unit: documents, Err: err}
	} else if err != nil {
		err = fmt.Errorf("document %d: %w", s.n, err)
	}
	return doc, s.n, err
}

// errInvalid is the error for a document with a valid length and invalid
// elements.
var errInvalid = errors.New("invalid BSON")

// readDoc reads one document; io.EOF at the end.
func readDoc(in io.Reader) (value.Doc, error) {
	var head [4]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("the file ends within a length")
		}
		return nil, err
	}
	return readBody(in, head)
}

// readBody reads a document whose length has been read.
func readBody(in io.Reader, head [4]byte) (value.Doc, error) {
	size := int(int32(binary.LittleEndian.Uint32(head[:])))
	if size < 5 || size > maxDocument+16<<10 {
		return nil, fmt.Errorf("invalid length of %d bytes", size)
	}
	doc := make(value.Doc, size)
	copy(doc, head[:])
	if _, err := io.ReadFull(in, doc[4:]); err != nil {
		return nil, errors.New("the file ends within a document")
	}
	if err := value.Validate(doc); err != nil {
		return nil, fmt.Errorf("%w: %w", errInvalid, err)
	}
	return doc, nil
}
