package mem

import "github.com/duskdb/duskdb/storage"

// recordScan is a scan of the records that index entries lead to.
//
// The records of successive entries lie anywhere in memory. Reading one by one would wait for
// the memory for each. Therefore some are looked up, and then touched, before the first of them
// is used: the processor does such loads at the same time.
type recordScan struct {
	records *records
	reverse bool
	fn      func(key []byte, r storage.Record) bool
	ahead   int // how many records are looked up together next
	buf     []byte
	one     [1]string // the room of found at first
	found   []string  // "": there is no such record
	touched byte      // keeps the loads of touch in the program
}

const (
	mostAhead  = 32  // records that are looked up together
	touchBytes = 512 // of a record, at most
	cacheLine  = 64
)

func newRecordScan(t *records, reverse bool, fn func(key []byte, r storage.Record) bool) *recordScan {
	s := &recordScan{records: t, reverse: reverse, fn: fn, ahead: 1}
	s.found = s.one[:0]
	return s
}

// part implements partVisitor.
func (s *recordScan) part(p *packed, i, end int) bool {
	s.buf = append(s.buf[:0], p.prefix...)
	for i < end {
		n := min(s.ahead, end-i)
		first, step := i, 1
		if s.reverse {
			first, step = end-1, -1
			end -= n
		} else {
			i += n
		}
		s.lookUp(p, first, step, n)
		for k, stored := range s.found {
			at := first + k*step
			if s.buf = p.keyTo(s.buf, at); stored != "" && !s.fn(s.buf, record(p.slots[at].id, stored)) {
				return false
			}
		}
		s.ahead = min(4*s.ahead, mostAhead) // a caller may want only a few
	}
	return true
}

// lookUp finds the records of n entries.
func (s *recordScan) lookUp(p *packed, at, step, n int) {
	if n > 1 && cap(s.found) < n {
		s.found = make([]string, 0, mostAhead)
	}
	s.found = s.found[:0]
	for range n {
		stored, _ := s.records.Get(p.slots[at].id)
		s.found = append(s.found, stored)
		at += step
	}
	if n > 1 {
		s.touch()
	}
}

// touch reads something of each cache line at the beginning of the records.
func (s *recordScan) touch() {
	sum := byte(0)
	for _, stored := range s.found {
		for i := 0; i < min(len(stored), touchBytes); i += cacheLine {
			sum += stored[i]
		}
	}
	s.touched = sum
}
