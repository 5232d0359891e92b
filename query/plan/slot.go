package plan

import (
	"bytes"

	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/value"
)

// Slot is the place of an equality's value in a plan that scans the index
// entries with this value, so that the plan can be reused for other values.
type Slot struct{ x *Index }

// Slot returns the place of an equality's value; nil if the plan depends on
// the value in another way than by its one range.
func (p *Plan) Slot(q *Query, eq *match.Compare) *Slot {
	if p.Type != ByID && p.Type != IndexScan || p.Ranges.Len() != 1 {
		return nil
	}
	x := p.Index
	if x.Partial != nil || x.Fields[0].Kind != Plain || x.Fields[0].Path != eq.Path.String() || !bytes.Equal(x.CollationDoc, q.Collation) {
		return nil
	}
	s := &Slot{x}
	is := p.Ranges.At(0)
	if r := s.Range(eq.Value); !bytes.Equal(r.Lo, is.Lo) || !bytes.Equal(r.Hi, is.Hi) {
		return nil
	}
	return s
}

// Range returns the range of entries for a scalar.
func (s *Slot) Range(v value.Value) Range {
	f := &s.x.Fields[0]
	key := keyer{s.x.Collation}.append(make([]byte, 0, 32), v, &part{desc: f.Desc})
	return Range{Lo: key, Hi: behind(key), Prefix: len(key)}
}

// Repeats reports whether a record may occur more than once in a range.
func (s *Slot) Repeats() bool { return len(s.x.Fields) > 1 }
