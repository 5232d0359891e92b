package timeseries

import (
	"encoding/binary"
	"errors"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// A compressed bucket has control.version 2, and its data is binary of the
// user-defined subtype: one byte for the format, then a zstd frame. In format
// 1 the frame contains
//
//	number of rows, number of columns
//	per column:
//	  length of the name, name
//	  flags: 1 every row has a value, 2 all values are of one type
//	  unless flag 1: a bit per row, lowest first, that reports whether it has
//	  type of all values, or one per value
//	  the values
//
// with numbers as unsigned varints. Values of one type have an encoding that
// depends on the type: dates, timestamps, ints and longs are differences
// (dates and longs: differences of differences) in zigzag varints, doubles are
// split by bytes (first the lowest bytes of all values), ObjectIds are
// unchanged. Other values, and those of mixed types, are written as their
// length and their bytes in BSON.

const (
	dataSubtype = 0x80
	dataFormat  = 1
)

const (
	flagDense   = 1
	flagUniform = 2
)

// maxData is the largest size of a decompressed frame.
const maxData = 64 << 20

var encoder = sync.OnceValue(func() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(256<<10), zstd.WithEncoderCRC(false))
	if err != nil {
		panic(err) // the options are constants
	}
	return e
})

var decoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxData))
	if err != nil {
		panic(err)
	}
	return d
})

// Compress returns the compressed form of a bucket; the bucket itself if
// that would not be smaller.
func Compress(bucket value.Doc) value.Doc {
	data := bucket.Lookup("data")
	if data.Kind() != value.KindDocument {
		return bucket
	}
	columns := encodeColumns(data.Doc())
	if columns == nil {
		return bucket
	}
	packed := encoder().EncodeAll(columns, []byte{dataFormat})
	if len(packed) >= len(data.Doc()) {
		return bucket
	}
	return withData(bucket, versionCompressed, value.Binary(dataSubtype, packed))
}

// Expand returns the plain form of a bucket: what readers of
// system.buckets.<name> see.
func Expand(bucket value.Doc) (value.Doc, error) {
	if bucket.Lookup("data").Kind() != value.KindBinary {
		return bucket, nil
	}
	data, err := columnData(bucket)
	if err != nil {
		return nil, err
	}
	return withData(bucket, versionPlain, value.Document(data)), nil
}

// withData replaces data and control.version.
func withData(bucket value.Doc, version int32, data value.Value) value.Doc {
	b := value.NewBuilder()
	for it := bucket.Iter(); it.Next(); {
		switch it.Key() {
		case "data":
			b.Append("data", data)
		case "control":
			b.StartDocument("control")
			for c := it.Value().Doc().Iter(); c.Next(); {
				if c.Key() == "version" {
					b.Int32("version", version)
				} else {
					b.Raw(c.Element())
				}
			}
			b.End()
		default:
			b.Raw(it.Element())
		}
	}
	return b.Doc()
}

var errData = errors.New("damaged column data")

// columnData returns the columns of a bucket as a document of documents.
func columnData(bucket value.Doc) (value.Doc, error) { return someColumns(bucket, nil) }

// someColumns is columnData for the columns in only, nil for all; it may
// return others, too.
func someColumns(bucket value.Doc, only map[string]bool) (value.Doc, error) {
	v := bucket.Lookup("data")
	switch v.Kind() {
	case value.KindDocument:
		return v.Doc(), nil
	case value.KindBinary:
		_, b := v.Binary()
		if len(b) == 0 || b[0] != dataFormat {
			return nil, mongoerr.New(mongoerr.BadValue, "unknown format of time-series bucket data")
		}
		plain, err := decoder().DecodeAll(b[1:], nil)
		if err != nil {
			return nil, mongoerr.Newf(mongoerr.BadValue, "time-series bucket: %w", err)
		}
		d, err := decodeColumns(plain, only)
		if err != nil {
			return nil, mongoerr.Newf(mongoerr.BadValue, "time-series bucket: %w", err)
		}
		return d, nil
	}
	return value.EmptyDoc, nil
}

// maxRows is the largest number of rows of a stored bucket.
const maxRows = 1 << 20

// encodeColumns writes the columns of a plain bucket; nil if another server
// wrote the bucket.
func encodeColumns(data value.Doc) []byte {
	n, columns := 0, 0
	for _, v := range data.All() {
		if v.Kind() != value.KindDocument {
			continue
		}
		columns++
		for c := newCursor("", v.Doc()); c.row >= 0; c.step() {
			if c.row >= maxRows {
				return nil
			}
			n = max(n, c.row+1)
		}
	}
	dst := make([]byte, 0, len(data)/2)
	dst = binary.AppendUvarint(dst, uint64(n))
	dst = binary.AppendUvarint(dst, uint64(columns))
	for name, v := range data.All() {
		if v.Kind() == value.KindDocument {
			dst = encodeColumn(dst, n, name, v.Doc())
		}
	}
	return dst
}

// encodeColumn writes the name, the flags, the types and the values of one
// column of n rows.
func encodeColumn(dst []byte, n int, name string, elements value.Doc) []byte {
	values := make([]value.Value, 0, n)
	present := make([]byte, (n+7)/8)
	uniform := true
	next := 0
	for c := newCursor(name, elements); c.row >= 0; c.step() {
		if c.row < next {
			continue // not in order: readers do not see it
		}
		next = c.row + 1
		present[c.row/8] |= 1 << (c.row % 8)
		values = append(values, c.it.Value())
		uniform = uniform && values[0].Kind() == c.it.Kind()
	}
	var flags byte
	if len(values) == n {
		flags |= flagDense
	}
	if uniform && len(values) > 0 {
		flags |= flagUniform
	}
	dst = binary.AppendUvarint(dst, uint64(len(name)))
	dst = append(append(dst, name...), flags)
	if flags&flagDense == 0 {
		dst = append(dst, present...)
	}
	if flags&flagUniform != 0 {
		dst = append(dst, byte(values[0].Kind()))
		return encodeUniform(dst, values)
	}
	for _, v := range values {
		dst = append(dst, byte(v.Kind()))
	}
	return encodeAny(dst, values)
}

// encodeUniform writes values of one type in the encoding of the type.
func encodeUniform(dst []byte, values []value.Value) []byte {
	switch values[0].Kind() {
	case value.KindDateTime, value.KindInt64, value.KindTimestamp:
		var last, step uint64
		for _, v := range values {
			x := binary.LittleEndian.Uint64(value.AppendPayload(make([]byte, 0, 8), v))
			dst = binary.AppendVarint(dst, int64(x-last-step))
			last, step = x, x-last
		}
		return dst
	case value.KindInt32:
		var last int32
		for _, v := range values {
			dst = binary.AppendVarint(dst, int64(v.Int32()-last))
			last = v.Int32()
		}
		return dst
	case value.KindDouble:
		start, n := len(dst), len(values)
		dst = append(dst, make([]byte, 8*n)...)
		var b [8]byte
		for i, v := range values {
			for k, x := range value.AppendPayload(b[:0], v) {
				dst[start+k*n+i] = x
			}
		}
		return dst
	case value.KindObjectID:
		for _, v := range values {
			dst = value.AppendPayload(dst, v)
		}
		return dst
	}
	return encodeAny(dst, values)
}

func encodeAny(dst []byte, values []value.Value) []byte {
	var b []byte
	for _, v := range values {
		b = value.AppendPayload(b[:0], v)
		dst = binary.AppendUvarint(dst, uint64(len(b)))
		dst = append(dst, b...)
	}
	return dst
}
