package timeseries

import (
	"encoding/binary"

	"github.com/duskdb/duskdb/value"
)

// reader decodes the output of encodeColumns. After an error all further reads
// return zero values.
type reader struct {
	b      []byte
	failed bool
}

func (r *reader) bytes(n int) []byte {
	if r.failed || n < 0 || n > len(r.b) {
		r.failed = true
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) byte() byte {
	if b := r.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.failed = true
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) varint() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		r.failed = true
		return 0
	}
	r.b = r.b[n:]
	return v
}

// size reads a number that cannot be above limit.
func (r *reader) size(limit int) int {
	v := r.uvarint()
	if v > uint64(limit) {
		r.failed = true
		return 0
	}
	return int(v)
}

// decodeColumns converts the bytes of a frame to the data of a plain bucket.
// If only is not nil, it includes only the columns in it.
func decodeColumns(b []byte, only map[string]bool) (value.Doc, error) {
	r := &reader{b: b}
	n, columns := r.size(maxRows), r.size(maxRows)
	var w value.Builder
	w.Reset(make([]byte, 0, 3*len(b)))
	for range columns {
		r.column(&w, n, only)
		if r.failed {
			return nil, errData
		}
	}
	d := w.Doc()
	if len(d) > maxData {
		return nil, errData
	}
	// The values are validated here, so that later code need not.
	if err := value.Validate(d); err != nil {
		return nil, err
	}
	return d, nil
}

// column decodes one column of n rows and writes it if it is in only.
func (r *reader) column(w *value.Builder, n int, only map[string]bool) {
	name := r.bytes(r.size(len(r.b)))
	wanted := only == nil || only[string(name)]
	flags := r.byte()
	var present []byte
	count := n
	if flags&flagDense == 0 {
		present = r.bytes((n + 7) / 8)
		count = ones(present, n)
	}
	kinds := r.kinds(flags, count)
	if r.failed {
		return
	}
	next := r.values(flags, kinds, count)
	if !wanted {
		r.skip(flags, kinds, count, next)
		return
	}
	w.StartDocument(string(name))
	var element []byte
	for row := range n {
		if present != nil && present[row/8]>>(row%8)&1 == 0 {
			continue
		}
		kind := kinds[0]
		if flags&flagUniform == 0 {
			kinds = kinds[1:]
		}
		element = append(element[:0], kind)
		element = append(value.AppendIndex(element, row), 0)
		element = next(element)
		if r.failed {
			break
		}
		w.Raw(element)
	}
	w.End()
}

// skip skips the values of a column.
func (r *reader) skip(flags byte, kinds []byte, count int, next func([]byte) []byte) {
	if flags&flagUniform != 0 && value.Kind(kinds[0]) == value.KindDouble {
		return // they have been read already, all at once
	}
	var element []byte
	for i := 0; i < count && !r.failed; i++ {
		element = next(element[:0])
	}
}

func ones(bits []byte, n int) (count int) {
	for i := range n {
		if i/8 < len(bits) {
			count += int(bits[i/8] >> (i % 8) & 1)
		}
	}
	return count
}

// kinds reads the types of the values: one, if they share it.
func (r *reader) kinds(flags byte, count int) []byte {
	if flags&flagUniform != 0 {
		return r.bytes(1)
	}
	return r.bytes(count)
}

// values returns a function that appends the bytes of one value after the
// other.
func (r *reader) values(flags byte, kinds []byte, count int) func(dst []byte) []byte {
	if flags&flagUniform != 0 {
		switch value.Kind(kinds[0]) {
		case value.KindDateTime, value.KindInt64, value.KindTimestamp:
			var last, step uint64
			return func(dst []byte) []byte {
				step += uint64(r.varint())
				last += step
				return binary.LittleEndian.AppendUint64(dst, last)
			}
		case value.KindInt32:
			var last int32
			return func(dst []byte) []byte {
				last += int32(r.varint())
				return binary.LittleEndian.AppendUint32(dst, uint32(last))
			}
		case value.KindDouble:
			planes, i := r.bytes(8*count), 0
			return func(dst []byte) []byte {
				for k := range 8 {
					if !r.failed {
						dst = append(dst, planes[k*count+i])
					}
				}
				i++
				return dst
			}
		case value.KindObjectID:
			return func(dst []byte) []byte { return append(dst, r.bytes(12)...) }
		}
	}
	return func(dst []byte) []byte { return append(dst, r.bytes(r.size(len(r.b)))...) }
}
