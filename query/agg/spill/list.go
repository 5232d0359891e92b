package spill

import (
	"io"
)

// List is a list of records in a temporary file, read by their position. Its
// zero value is ready; it belongs to one goroutine.
type List struct {
	Dir    string // the directory of the file, "": the system's
	store  Store
	ends   []int64 // the ends of the records
	window []byte  // part of the file that was read last
	at     int64   // the start of the window in the file
	buf    []byte  // records that are not written yet
}

// Len is the number of records.
func (l *List) Len() int { return len(l.ends) }

// Size is the number of bytes.
func (l *List) Size() int64 {
	if len(l.ends) == 0 {
		return 0
	}
	return l.ends[len(l.ends)-1]
}

// Add appends a record.
func (l *List) Add(record []byte) error {
	l.store.Dir = l.Dir
	if err := l.store.open(); err != nil {
		return err
	}
	l.ends = append(l.ends, l.Size()+int64(len(record)))
	if l.buf = append(l.buf, record...); len(l.buf) < bufferSize {
		return nil
	}
	return l.flush()
}

func (l *List) flush() error {
	if len(l.buf) == 0 {
		return nil
	}
	_, err := l.store.file.WriteAt(l.buf, l.Size()-int64(len(l.buf)))
	l.buf = l.buf[:0]
	return err
}

// Get returns a copy of the i-th record. Reading in order is cheap.
func (l *List) Get(i int) ([]byte, error) {
	if err := l.flush(); err != nil {
		return nil, err
	}
	from, to := int64(0), l.ends[i]
	if i > 0 {
		from = l.ends[i-1]
	}
	record := make([]byte, to-from)
	if from < l.at || to > l.at+int64(len(l.window)) {
		if err := l.read(from, to); err != nil {
			return nil, err
		}
	}
	copy(record, l.window[from-l.at:])
	return record, nil
}

// randomSize is what Get reads of a record that does not follow the one before.
const randomSize = 4 << 10

// read fills the window with at least the bytes between two positions, and with more
// if they follow what was read before.
func (l *List) read(from, to int64) error {
	ahead := int64(randomSize)
	if end := l.at + int64(len(l.window)); from <= end && to > end {
		ahead = bufferSize
	}
	n := min(max(to-from, ahead), l.Size()-from)
	if int64(cap(l.window)) < n {
		l.window = make([]byte, n)
	}
	l.window, l.at = l.window[:n], from
	_, err := io.ReadFull(io.NewSectionReader(l.store.file, from, n), l.window)
	return err
}

// Close removes the file. It may be called more than once.
func (l *List) Close() error { return l.store.Close() }
