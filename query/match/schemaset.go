package match

import (
	"hash/maphash"

	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// unorderedSet is a set of values in which documents are equal regardless of
// the order of their fields. Its zero value is empty.
type unorderedSet struct {
	byHash map[uint64][]value.Value
}

var unorderedSeed = maphash.MakeSeed()

// add adds a value. It returns false if the set has it already.
func (s *unorderedSet) add(v value.Value) bool {
	if s.has(v) {
		return false
	}
	if s.byHash == nil {
		s.byHash = map[uint64][]value.Value{}
	}
	h := hashUnordered(v)
	s.byHash[h] = append(s.byHash[h], v)
	return true
}

// has looks a value up. It may be called by several goroutines at once.
func (s *unorderedSet) has(v value.Value) bool {
	for _, other := range s.byHash[hashUnordered(v)] {
		if equalUnordered(v, other) {
			return true
		}
	}
	return false
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
	var seen unorderedSet
	for v := range list.Values() {
		if err := env.Weigh(len(v.Bytes())); err != nil {
			return value.Value{}, false, err
		}
		if !seen.add(v) {
			return v, true, nil
		}
	}
	return value.Value{}, false, nil
}
