package pebble

import "encoding/binary"

// edits are what the edits of a manifest say about the log.
type edits struct {
	firstLog uint64 // what is in earlier logs is in tables
	lastKey  uint64 // no key of a table has a greater sequence number
}

// The fields that an edit begins with.
const (
	editComparer = 1
	editFirstLog = 2
	editNextFile = 3
	editLastKey  = 4
	editPrevLog  = 9
)

// readEdits reads a manifest.
func readEdits(b []byte) (e edits) {
	readRecords(b, 0, e.read)
	return e
}

// read reads the beginning of an edit, up to its tables.
func (e *edits) read(head []byte) {
	f := fields(head)
	for {
		switch tag := f.number(); tag {
		case editComparer:
			f.bytes()
		case editFirstLog:
			e.firstLog = f.number()
		case editLastKey:
			e.lastKey = f.number()
		case editNextFile, editPrevLog:
			f.number()
		default:
			return
		}
	}
}

// fields is the rest of an encoded edit.
type fields []byte

// number reads a number, 0 at the end.
func (f *fields) number() uint64 {
	v, n := binary.Uvarint(*f)
	if n <= 0 {
		*f = nil
		return 0
	}
	*f = (*f)[n:]
	return v
}

// bytes reads a string of bytes.
func (f *fields) bytes() []byte {
	n := min(f.number(), uint64(len(*f)))
	b := (*f)[:n]
	*f = (*f)[n:]
	return b
}
