// Package spill writes records that do not fit into memory to a temporary file, and
// merges them in order.
//
// A [Store] is written run by run: each [Store.Write] takes records that are
// already sorted by key. [Store.Merge] then returns the records of all runs in one
// order. Of records with equal keys those of earlier runs come first, so that a stable
// sort stays stable.
//
//	run      record…
//	record   uvarint key length, key, uvarint payload length, payload
//
// All runs of a store share one file. The file is unlinked as soon as it is open, so
// that a crash leaves nothing behind.
package spill

import (
	"bufio"
	"bytes"
	"container/heap"
	"encoding/binary"
	"errors"
	"io"
	"os"
)

// bufferSize is what each run reads ahead while merging.
const bufferSize = 64 << 10

// Store is one temporary file. Its zero value is ready; it belongs to one
// goroutine.
type Store struct {
	Dir  string // the directory of the files, "": the system's
	file *os.File
	size int64
	runs []span
}

type span struct{ from, to int64 }

// Runs is the number of runs written.
func (s *Store) Runs() int { return len(s.runs) }

// Size is the number of bytes written.
func (s *Store) Size() int64 { return s.size }

// Write writes a run of n records, which record gives in ascending order of
// their keys.
func (s *Store) Write(n int, record func(i int) (key, payload []byte)) error {
	if err := s.open(); err != nil {
		return err
	}
	w := bufio.NewWriterSize(s.file, bufferSize)
	start := s.size
	var head [binary.MaxVarintLen64]byte
	for i := range n {
		key, payload := record(i)
		for _, part := range [2][]byte{key, payload} {
			h := binary.PutUvarint(head[:], uint64(len(part)))
			if _, err := w.Write(head[:h]); err != nil {
				return err
			}
			if _, err := w.Write(part); err != nil {
				return err
			}
			s.size += int64(h + len(part))
		}
	}
	s.runs = append(s.runs, span{start, s.size})
	return w.Flush()
}

func (s *Store) open() error {
	if s.file != nil {
		return nil
	}
	f, err := os.CreateTemp(s.Dir, "spill-*.tmp")
	if err != nil {
		return err
	}
	// On systems that cannot remove an open file, Close removes it.
	_ = os.Remove(f.Name())
	s.file = f
	return nil
}

// Close removes the file. It may be called more than once.
func (s *Store) Close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if rm := os.Remove(s.file.Name()); rm != nil && !errors.Is(rm, os.ErrNotExist) {
		err = errors.Join(err, rm)
	}
	s.file = nil
	return err
}

// Merge returns the records of all runs in order of their keys.
func (s *Store) Merge() (*Merger, error) {
	m := &Merger{}
	for i, run := range s.runs {
		section := io.NewSectionReader(s.file, run.from, run.to-run.from)
		c := &cursor{r: bufio.NewReaderSize(section, bufferSize), run: i}
		ok, err := c.next()
		if err != nil {
			return nil, err
		}
		if ok {
			m.cursors = append(m.cursors, c)
		}
	}
	heap.Init(&m.cursors)
	return m, nil
}

// Merger gives the records of several runs in order.
type Merger struct{ cursors cursors }

// Next returns the next record; ok is false at the end. The slices are the
// caller's to keep.
func (m *Merger) Next() (key, payload []byte, ok bool, err error) {
	if len(m.cursors) == 0 {
		return nil, nil, false, nil
	}
	c := m.cursors[0]
	key, payload = c.key, c.payload
	more, err := c.next()
	if err != nil {
		return nil, nil, false, err
	}
	if more {
		heap.Fix(&m.cursors, 0)
	} else {
		heap.Pop(&m.cursors)
	}
	return key, payload, true, nil
}

// cursor reads one run.
type cursor struct {
	r            *bufio.Reader
	run          int
	key, payload []byte
}

func (c *cursor) next() (ok bool, err error) {
	if c.key, err = c.part(); err != nil {
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		return false, err
	}
	c.payload, err = c.part()
	return err == nil, err
}

func (c *cursor) part() ([]byte, error) {
	n, err := binary.ReadUvarint(c.r)
	if err != nil {
		return nil, err
	}
	b := make([]byte, n)
	_, err = io.ReadFull(c.r, b)
	return b, err
}

type cursors []*cursor

func (c cursors) Len() int { return len(c) }

func (c cursors) Less(i, j int) bool {
	if d := bytes.Compare(c[i].key, c[j].key); d != 0 {
		return d < 0
	}
	return c[i].run < c[j].run
}

func (c cursors) Swap(i, j int) { c[i], c[j] = c[j], c[i] }

func (c *cursors) Push(x any) { *c = append(*c, x.(*cursor)) }

func (c *cursors) Pop() any {
	old := *c
	last := old[len(old)-1]
	*c = old[:len(old)-1]
	return last
}
