package bsoncolumn

import (
	"encoding/binary"
	"errors"

	"github.com/duskdb/duskdb/value"
)

// The control bytes of interleaved parts.
const (
	interleavedOld   = 0xf0 // arrays are scalars
	interleaved      = 0xf1
	interleavedArray = 0xf2 // the reference document is an array
)

var (
	errColumn   = errors.New("damaged compressed column")
	errTooLarge = errors.New("a compressed column is too large when unpacked")
)

// Limit bounds what columns may become: together, if they share it.
type Limit struct {
	Rows  int // maximum number of rows of one column
	Bytes int // bytes that are left
}

// Decode reads a column, and calls add for the value of each row, in order; it is
// missing if the row has none.
func Decode(column []byte, limit *Limit, add func(row int, v value.Value)) error {
	d := decoder{b: column, limit: limit, add: add}
	for {
		if len(d.b) == 0 {
			return errColumn
		}
		control := d.b[0]
		switch {
		case control == 0:
			if len(d.b) != 1 {
				return errColumn
			}
			return nil
		case control >= interleavedOld && control <= interleavedArray:
			if err := d.interleaved(control); err != nil {
				return err
			}
		default:
			if err := d.plain(); err != nil {
				return err
			}
		}
	}
}

// decoder is the state of reading a column.
type decoder struct {
	b     []byte // what has not been read
	limit *Limit
	add   func(int, value.Value)
	row   int
	root  series // outside of interleaved parts
}

// emit passes a value on.
func (d *decoder) emit(v value.Value) error {
	if err := d.spend(16 + len(v.Bytes())); err != nil {
		return err
	}
	if d.row >= d.limit.Rows {
		return errTooLarge
	}
	d.add(d.row, v)
	d.row++
	return nil
}

// spend counts the work for a value of n bytes.
func (d *decoder) spend(n int) error {
	if d.limit.Bytes -= n; d.limit.Bytes < 0 {
		return errTooLarge
	}
	return nil
}

// plain reads a part that is not interleaved.
func (d *decoder) plain() error {
	v, isLiteral, err := d.control(&d.root)
	if err != nil {
		return err
	}
	if isLiteral {
		return d.emit(v)
	}
	for {
		v, more, err := d.root.next()
		if err != nil || !more {
			return err
		}
		if err := d.emit(v); err != nil {
			return err
		}
	}
}

// control reads a control byte with its literal or its words, which s will read.
func (d *decoder) control(s *series) (v value.Value, isLiteral bool, err error) {
	control := d.b[0]
	if k := value.Kind(control); control&0xe0 == 0 || k == value.KindMinKey || k == value.KindMaxKey {
		if !k.Valid() || len(d.b) < 2 || d.b[1] != 0 {
			return v, false, errColumn
		}
		n, err := value.ValidatePayload(k, d.b[2:])
		if err != nil {
			return v, false, err
		}
		v = value.Unmarshal(append([]byte{control}, d.b[2:2+n]...))
		d.b = d.b[2+n:]
		s.literal(v)
		return v, true, nil
	}
	size := 8 * (int(control&15) + 1)
	if len(d.b) <= 1+size {
		return v, false, errColumn
	}
	err = s.begin(control, d.b[1:1+size])
	d.b = d.b[1+size:]
	return v, false, err
}

// interleaved reads a part with documents, whose fields have series of their own.
func (d *decoder) interleaved(control byte) error {
	if len(d.b) < 6 {
		return errColumn
	}
	size := int64(binary.LittleEndian.Uint32(d.b[1:]))
	if size > int64(len(d.b)-1) {
		return errColumn
	}
	reference := value.Doc(d.b[1 : 1+size])
	if err := value.Validate(reference); err != nil {
		return err
	}
	d.b = d.b[1+size:]
	x := documents{d: d, arrays: control != interleavedOld}
	if x.gather(reference); len(x.fields) == 0 {
		return errColumn
	}
	kind := value.KindDocument
	if control == interleavedArray {
		kind = value.KindArray
	}
	d.root = series{}
	for {
		last, err := x.next(kind, reference)
		if errors.Is(err, errEnd) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := d.emit(last); err != nil {
			return err
		}
		d.root.last = last // what follows may repeat it
	}
}
