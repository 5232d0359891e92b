package bsoncolumn

import (
	"encoding/binary"
	"errors"

	"github.com/duskdb/duskdb/value"
)

// errEnd is the end of an interleaved part.
var errEnd = errors.New("end")

// documents reads an interleaved part.
type documents struct {
	d      *decoder
	arrays bool      // arrays have fields of their own
	fields []*series // series of the scalars of the reference document, in its order
	at     int       // the next field
}

// nested reports whether a field of the reference document is no scalar.
func (x *documents) nested(k value.Kind) bool {
	return k == value.KindDocument || x.arrays && k == value.KindArray
}

// gather makes the series of the fields.
func (x *documents) gather(reference value.Doc) {
	for it := reference.Iter(); it.Next(); {
		if x.nested(it.Kind()) {
			x.gather(it.Value().Doc())
			continue
		}
		s := &series{}
		s.literal(it.Value())
		x.fields = append(x.fields, s)
	}
}

// next reads a document or array; it is missing if it has no field.
func (x *documents) next(kind value.Kind, reference value.Doc) (value.Value, error) {
	x.at = 0
	b, err := x.appendFields([]byte{byte(kind)}, reference)
	if err != nil || len(b) == 1 {
		return value.Value{}, err
	}
	return value.Unmarshal(b), nil
}

// appendFields appends a document with the fields of the reference document that the
// row has. Without any, it appends nothing, unless the reference is empty, too.
func (x *documents) appendFields(b []byte, reference value.Doc) ([]byte, error) {
	start := len(b)
	b = append(b, 0, 0, 0, 0)
	for it := reference.Iter(); it.Next(); {
		if err := x.d.spend(16); err != nil {
			return nil, err
		}
		before := len(b)
		if x.nested(it.Kind()) {
			b = append(append(append(b, byte(it.Kind())), it.KeyBytes()...), 0)
			head := len(b)
			var err error
			if b, err = x.appendFields(b, it.Value().Doc()); err != nil {
				return nil, err
			}
			if len(b) == head {
				b = b[:before]
			}
			continue
		}
		v, err := x.scalar()
		if err != nil {
			return nil, err
		}
		b = value.Append(b, it.Key(), v)
	}
	if len(b) == start+4 && !reference.IsEmpty() {
		return b[:start], nil
	}
	b = append(b, 0)
	binary.LittleEndian.PutUint32(b[start:], uint32(len(b)-start))
	return b, nil
}

// scalar reads the value of the next field.
func (x *documents) scalar() (value.Value, error) {
	s := x.fields[x.at]
	x.at++
	if v, more, err := s.next(); more || err != nil {
		return v, err
	}
	d := x.d
	if len(d.b) == 0 {
		return value.Value{}, errColumn
	}
	if d.b[0] == 0 {
		return value.Value{}, x.end()
	}
	v, isLiteral, err := d.control(s)
	if err != nil || isLiteral {
		return v, err
	}
	v, more, err := s.next()
	if err == nil && !more {
		err = errColumn
	}
	return v, err
}

// end reads the zero byte at the end, which stands before the first field of a row
// when no field has a further value.
func (x *documents) end() error {
	if x.at != 1 {
		return errColumn
	}
	for _, s := range x.fields {
		if !s.words.ended() {
			return errColumn
		}
	}
	x.d.b = x.d.b[1:]
	return errEnd
}
