// Package marks remembers which of a document's wanted fields were met, so
// that a name which stands twice in a document counts once and fields that
// were not met can be added. Most specifications have few fields: then a Set
// is one word and takes no memory.
package marks

// Set is a set of numbers from 0 to n-1. The zero value is empty.
type Set struct {
	few  uint64
	many []bool
}

// Has reports whether i is in the set.
func (s *Set) Has(i int) bool {
	if s.many != nil {
		return s.many[i]
	}
	return i < 64 && s.few&(1<<i) != 0
}

// Add puts i, which is below n, into the set; n is the same in every call.
func (s *Set) Add(i, n int) {
	if n <= 64 {
		s.few |= 1 << i
		return
	}
	if s.many == nil {
		s.many = make([]bool, n)
	}
	s.many[i] = true
}
