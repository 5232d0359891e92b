package stage

import (
	"encoding/binary"

	"github.com/duskdb/duskdb/value"
)

// Place is a document without the value of one field. It sets the field many times, as
// SetPath does, but without reading the document each time. It does not keep the old
// value, which may be a large array that is unwound.
type Place struct {
	before, behind []byte // what precedes and follows the field; before ends with its type and name
	kind           int    // position of the type in before
	lengths        []int  // positions in before of the lengths of the documents around the field
}

// NewPlace returns the place at a path. It adds the path to the document if it is
// missing.
func NewPlace(d value.Doc, parts []string) Place {
	var b value.Builder
	b.Reset(make([]byte, 0, min(len(d), 512)+16))
	appendSet(&b, d, parts, value.Null()) // null takes no bytes
	d = b.Doc()
	p := Place{}
	at := 0
	for _, name := range parts {
		p.lengths = append(p.lengths, at)
		at += 4
		inner := d[p.lengths[len(p.lengths)-1]:].Iter()
		for inner.Next() && inner.Key() != name {
			at += len(inner.Element())
		}
		p.kind = at
		at += 1 + len(name) + 1
	}
	p.before, p.behind = d[:at], d[at:]
	return p
}

// With returns the document with v as the value of the field. v must not be Missing.
func (p *Place) With(v value.Value) value.Doc {
	out := make([]byte, 0, len(p.before)+16+len(v.Bytes())+len(p.behind))
	out = value.AppendPayload(append(out, p.before...), v)
	n := len(out) - len(p.before)
	out = append(out, p.behind...)
	out[p.kind] = byte(v.Kind())
	for _, at := range p.lengths {
		binary.LittleEndian.PutUint32(out[at:], binary.LittleEndian.Uint32(out[at:])+uint32(n))
	}
	return out
}
