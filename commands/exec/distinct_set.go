package exec

import (
	"crypto/sha256"
	"slices"

	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// DistinctSet collects the distinct values behind a path; of equal ones, the
// first that was seen.
type DistinctSet struct {
	path     value.Path     // the path of the field
	collator value.Collator // decides which strings are equal; nil: bytes do
	values   []value.Value
	bytes    int // approximate size of the values, for the limit of the reply

	small map[string]struct{}            // keys of the values so far
	large map[[sha256.Size]byte]struct{} // the hashes of long keys; nil before the first
	key   []byte
}

// longKey is the length of a key, in bytes, of which the set keeps only the hash.
const longKey = 256

// NewDistinctSet returns an empty set of the values at a path.
func NewDistinctSet(path string, c value.Collator) *DistinctSet {
	return &DistinctSet{path: value.ParsePath(path), collator: c, small: map[string]struct{}{}}
}

// Add adds the values of a document: of an array, its elements. It fails with 17217 if the
// values are too large for a reply, and may wait for the memory of a large document.
func (s *DistinctSet) Add(c *kernel.Call, d value.Doc) error {
	if len(d) > kernel.LargeReply {
		if err := c.Claim(int64(2 * len(d))); err != nil { // a key and the reply
			return err
		}
	}
	s.path.Walk(d, func(v value.Value) bool {
		if v.Kind() == value.KindArray {
			for e := range v.Doc().Values() {
				s.addValue(e)
			}
			return false
		}
		s.addValue(v)
		return false
	})
	if s.bytes > kernel.MaxDocumentBytes {
		return mongoerr.New(17217, "distinct too big, 16mb cap")
	}
	return nil
}

// Bytes is about the size of the values.
func (s *DistinctSet) Bytes() int { return s.bytes }

// Sorted are the values in ascending order.
func (s *DistinctSet) Sorted() []value.Value {
	slices.SortFunc(s.values, func(a, b value.Value) int { return value.CompareWith(a, b, s.collator) })
	return s.values
}

func (s *DistinctSet) addValue(v value.Value) {
	if v.IsMissing() || !s.note(v) {
		return
	}
	s.values = append(s.values, v)
	s.bytes += len(v.Bytes()) + 16
}

// note reports whether a value is new.
func (s *DistinctSet) note(v value.Value) bool {
	s.key = value.AppendKeyWith(s.key[:0], v, s.collator)
	if len(s.key) < longKey {
		if _, known := s.small[string(s.key)]; known {
			return false
		}
		s.small[string(s.key)] = struct{}{}
		return true
	}
	hash := sha256.Sum256(s.key)
	if len(s.key) > kernel.LargeReply {
		s.key = nil
	}
	if _, known := s.large[hash]; known {
		return false
	}
	if s.large == nil {
		s.large = map[[sha256.Size]byte]struct{}{}
	}
	s.large[hash] = struct{}{}
	return true
}
