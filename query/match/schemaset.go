package match

import (
	"cmp"
	"hash/maphash"
	"math"
	"slices"

	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// unorderedSet is the set of the values of a list, in which documents are equal regardless of
// the order of their fields. Of the values it has only the positions.
type unorderedSet struct {
	list value.Doc
	at   []hashed // ascending
}

// hashed is the hash of the value at a position in a list.
type hashed struct{ hash, at uint32 }

func (a hashed) compare(b hashed) int {
	return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.at, b.at))
}

var unorderedSeed = maphash.MakeSeed()

// newUnorderedSet makes the set of a list. It also returns the second of the first two equal
// values, or Missing.
func newUnorderedSet(list value.Doc, tick func(v value.Value) error) (s unorderedSet, twice value.Value, err error) {
	s = unorderedSet{list: list, at: make([]hashed, 0, list.Len())}
	it := list.Iter()
	for it.Next() {
		v := it.Value()
		if err := tick(v); err != nil {
			return s, twice, err
		}
		s.at = append(s.at, hashed{shortHash(v), uint32(len(list) - 1 - len(it.Rest()) - len(it.Element()))})
	}
	slices.SortFunc(s.at, hashed.compare)
	first := uint32(math.MaxUint32)
	for i := range s.at {
		if s.at[i].at < first && s.repeats(i) {
			first = s.at[i].at
			twice = list.ValueAt(int(first))
		}
	}
	return s, twice, nil
}

// repeats reports whether an earlier value equals the i-th.
func (s *unorderedSet) repeats(i int) bool {
	v := s.list.ValueAt(int(s.at[i].at))
	for j := i - 1; j >= 0 && s.at[j].hash == s.at[i].hash; j-- {
		if equalUnordered(s.list.ValueAt(int(s.at[j].at)), v) {
			return true
		}
	}
	return false
}

// has looks a value up. It may be called by several goroutines at once.
func (s *unorderedSet) has(v value.Value) bool {
	hash := shortHash(v)
	i, _ := slices.BinarySearchFunc(s.at, hashed{hash: hash}, hashed.compare)
	for ; i < len(s.at) && s.at[i].hash == hash; i++ {
		if equalUnordered(v, s.list.ValueAt(int(s.at[i].at))) {
			return true
		}
	}
	return false
}

func shortHash(v value.Value) uint32 {
	h := hashUnordered(v)
	return uint32(h ^ h>>32)
}

// hashUnordered returns a hash that is equal for values that equalUnordered
// finds equal.
func hashUnordered(v value.Value) (sum uint64) {
	if v.Kind() != value.KindDocument && v.Kind() != value.KindArray {
		var room [64]byte
		return maphash.Bytes(unorderedSeed, value.AppendKey(room[:0], v))
	}
	for name, e := range v.Doc().All() {
		sum += (maphash.String(unorderedSeed, name) | 1) * hashUnordered(e)
	}
	return sum + uint64(v.Kind())
}

// equalUnordered compares values, documents without regard to the order of
// fields.
func equalUnordered(a, b value.Value) bool {
	if a.Kind() != b.Kind() || a.Kind() != value.KindDocument && a.Kind() != value.KindArray {
		return value.Equal(a, b)
	}
	if a.Doc().Len() != b.Doc().Len() {
		return false
	}
	if a.Kind() == value.KindArray {
		return equalItems(a.Doc(), b.Doc())
	}
	find := fieldsOf(b.Doc(), a.Doc().Len())
	for name, v := range a.Doc().All() {
		other, ok := find(name)
		if !ok || !equalUnordered(v, other) {
			return false
		}
	}
	return true
}

// equalItems compares arrays of the same length.
func equalItems(a, b value.Doc) bool {
	it, other := a.Iter(), b.Iter()
	for it.Next() && other.Next() {
		if !equalUnordered(it.Value(), other.Value()) {
			return false
		}
	}
	return true
}

// duplicate finds a value that occurs twice in the list.
func duplicate(env *expr.Env, list value.Doc) (twice value.Value, found bool, err error) {
	_, twice, err = newUnorderedSet(list, func(v value.Value) error { return env.Weigh(len(v.Bytes())) })
	return twice, !twice.IsMissing(), err
}
