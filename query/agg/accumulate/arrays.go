package accumulate

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// ConcatArrays is $concatArrays: an array of the elements of all arrays, in order.
type ConcatArrays struct{ Push }

// NewConcatArrays makes a $concatArrays that may grow to limit bytes.
func NewConcatArrays(limit int) *ConcatArrays {
	return &ConcatArrays{Push{name: "$concatArrays", limit: limit}}
}

// Add appends the elements of an array.
func (c *ConcatArrays) Add(v value.Value) error { return eachElement(c.name, v, c.Push.Add) }

// SetUnion is $setUnion: an array of the distinct elements of all arrays, in order of
// arrival.
type SetUnion struct{ AddToSet }

// NewSetUnion makes a $setUnion that may grow to limit bytes.
func NewSetUnion(c value.Collator, limit int) *SetUnion {
	return &SetUnion{AddToSet{name: "$setUnion", collator: c, limit: limit}}
}

// Add adds the elements of an array.
func (s *SetUnion) Add(v value.Value) error { return eachElement(s.name, v, s.AddToSet.Add) }

// eachElement calls add with the elements of an array. A missing value has none.
func eachElement(name string, v value.Value, add func(value.Value) error) error {
	switch v.Kind() {
	case value.Missing:
		return nil
	case value.KindArray:
		for e := range v.Doc().Values() {
			if err := add(e); err != nil {
				return err
			}
		}
		return nil
	}
	return mongoerr.Newf(mongoerr.TypeMismatch, "%s requires array inputs, but input %s is of type %s", name, v.Compact(), v.Kind())
}
