package timeseries

import (
	"strings"

	"github.com/duskdb/duskdb/value"
)

// Limits of a bucket.
const (
	MaxCount = 1000       // measurements
	MaxSize  = 125 * 1024 // bytes
	minCount = 10         // large measurements may exceed MaxSize up to this count …
	hardSize = 12 << 20   // … but not this size
	maxSize  = 16 << 20   // of any document
)

// Versions of buckets.
const (
	versionPlain      = 1
	versionCompressed = 2
)

// Bucket is a bucket under construction: columns to which measurements are
// appended. It belongs to one goroutine.
type Bucket struct {
	o       *Options
	c       value.Collator
	id      value.OID
	minimum int64 // milliseconds
	meta    value.Value
	count   int
	closed  bool
	columns []column
	numbers map[string]int // the columns by name; nil up to fewColumns
	size    int            // size of the document, approximately
	counted int            // the part of size that is minima and maxima
}

// column is one field of the measurements.
type column struct {
	name     string
	body     []byte // elements, named by the number of their measurement
	rows     int    // number of the last element, plus 1
	min, max extreme
}

// NewBucket returns an empty bucket for measurements from an instant on. The
// minimum is in seconds. c is the collection's collation, nil for simple.
func NewBucket(o *Options, minimum int64, meta value.Value, c value.Collator) *Bucket {
	return &Bucket{o: o, c: c, id: bucketID(minimum), minimum: minimum * 1000, meta: meta, size: 128 + len(meta.Bytes())}
}

// bucketID makes an id that begins with the low 32 bits of the seconds.
func bucketID(seconds int64) value.OID {
	id := value.NewOID(0)
	id[0], id[1], id[2], id[3] = byte(seconds>>24), byte(seconds>>16), byte(seconds>>8), byte(seconds)
	return id
}

// OpenBucket reopens a stored bucket.
func OpenBucket(o *Options, d value.Doc, c value.Collator) (*Bucket, error) {
	h := readHeader(o, d)
	data, err := columnData(d)
	if err != nil {
		return nil, err
	}
	b := &Bucket{o: o, c: c, id: d.Lookup("_id").ObjectID(), minimum: h.minimum, meta: d.Lookup("meta"), closed: h.closed}
	b.size = 128 + len(b.meta.Bytes()) + len(data)
	for name, v := range data.All() {
		if v.Kind() != value.KindDocument {
			continue
		}
		body := v.Doc()[4 : len(v.Doc())-1]
		col := b.addColumn(name)
		col.body = append(make([]byte, 0, len(body)+len(body)/8+64), body...)
		col.min.v, col.max.v = h.min.Lookup(name), h.max.Lookup(name)
		b.counted += len(col.min.v.Bytes()) + len(col.max.v.Bytes())
		b.size += 2*len(name) + 20
	}
	b.size += b.counted
	if b.count = h.count; b.count <= 0 { // a bucket that another server wrote
		b.count = rows(data, o.TimeField)
	}
	return b, nil
}

func (b *Bucket) addColumn(name string) *column {
	b.columns = append(b.columns, column{name: name, min: extreme{c: b.c}, max: extreme{c: b.c, greatest: true}})
	if b.numbers != nil {
		b.numbers[name] = len(b.columns) - 1
	}
	return &b.columns[len(b.columns)-1]
}

// fewColumns is up to how many columns a search goes through them.
const fewColumns = 64

// column finds the column of a field. Measurements tend to have their fields
// in the same order, so the search begins at the likely place.
func (b *Bucket) column(name string, likely int) (c *column, i int) {
	if likely < len(b.columns) && b.columns[likely].name == name {
		return &b.columns[likely], likely
	}
	if len(b.columns) > fewColumns {
		return b.columnOfMany(name)
	}
	for i := range b.columns {
		if b.columns[i].name == name {
			return &b.columns[i], i
		}
	}
	return nil, -1
}

// columnOfMany finds a column by the numbers of all, which it collects the first time.
func (b *Bucket) columnOfMany(name string) (c *column, i int) {
	if b.numbers == nil {
		b.numbers = make(map[string]int, 2*len(b.columns))
		for i := range b.columns {
			b.numbers[b.columns[i].name] = i
		}
	}
	if i, ok := b.numbers[name]; ok {
		return &b.columns[i], i
	}
	return nil, -1
}

// Fits reports whether a measurement has room in the bucket and the types of
// its fields agree. It does not check its time and meta value.
func (b *Bucket) Fits(d value.Doc) bool {
	if b.closed || b.count >= MaxCount || !b.takes(d) {
		return false
	}
	size := b.size + len(d)
	return size <= MaxSize || b.count < minCount && size-b.counted+b.extremes(d) <= hardSize
}

// extremes is how much the minima and maxima take at most with one more measurement: with
// few large ones, that is more than the measurements themselves.
func (b *Bucket) extremes(d value.Doc) (size int) {
	for i := range b.columns {
		size += len(b.columns[i].min.v.Bytes()) + len(b.columns[i].max.v.Bytes())
	}
	likely := 0
	for name, v := range d.All() {
		n := len(v.Bytes())
		col, i := b.column(name, likely)
		likely = i + 1
		switch {
		case name == b.o.MetaField:
		case col == nil, v.Kind() == value.KindDocument, v.Kind() == value.KindArray: // merged part by part
			size += 2 * n
		default:
			size += max(n-len(col.min.v.Bytes()), 0) + max(n-len(col.max.v.Bytes()), 0)
		}
	}
	return size
}

// Append adds a measurement.
func (b *Bucket) Append(d value.Doc) {
	likely := 0
	for it := d.Iter(); it.Next(); {
		name := it.Key()
		if name == b.o.MetaField && name != "" {
			continue
		}
		col, i := b.column(name, likely)
		if col == nil {
			col, i = b.addColumn(strings.Clone(name)), len(b.columns)-1
			b.size += 3*len(name) + 30
		}
		likely = i + 1
		if col.rows > b.count {
			continue // the measurement has the field twice
		}
		col.rows = b.count + 1
		v := it.Value()
		before := len(col.body)
		col.body = appendElement(col.body, b.count, v)
		b.size += len(col.body) - before
		if name == b.o.TimeField {
			if col.min.v.IsMissing() {
				col.min.v = value.DateTime(b.minimum)
			}
		} else {
			col.min.add(v)
		}
		col.max.add(v)
	}
	b.count++
}

// appendElement appends the element "<i>": v.
func appendElement(dst []byte, i int, v value.Value) []byte {
	dst = append(dst, byte(v.Kind()))
	dst = append(value.AppendIndex(dst, i), 0)
	return value.AppendPayload(dst, v)
}

// Doc returns the bucket as it is stored, uncompressed.
func (b *Bucket) Doc() value.Doc {
	var w value.Builder
	w.Reset(make([]byte, 0, b.size+b.size/16+256))
	w.Append("_id", value.ObjectID(b.id))
	w.StartDocument("control").Int32("version", versionPlain)
	w.StartDocument("min")
	for i := range b.columns {
		w.Append(b.columns[i].name, b.columns[i].min.v)
	}
	w.End().StartDocument("max")
	for i := range b.columns {
		w.Append(b.columns[i].name, b.columns[i].max.v)
	}
	w.End()
	if b.closed {
		w.Bool("closed", true)
	}
	w.Int32("count", int32(b.count)).End()
	w.Append("meta", b.meta)
	w.StartDocument("data")
	for i := range b.columns {
		w.StartDocument(b.columns[i].name).Raw(b.columns[i].body).End()
	}
	return w.End().Doc()
}

// Close closes the bucket for further measurements.
func (b *Bucket) Close() { b.closed = true }

// header is the content of control.
type header struct {
	version  int32
	closed   bool
	count    int   // -1: unknown
	minimum  int64 // milliseconds
	min, max value.Doc
}

// readHeader reads the control values of a bucket.
func readHeader(o *Options, d value.Doc) header {
	h := header{count: -1}
	for name, v := range d.Lookup("control").Doc().All() {
		switch name {
		case "version":
			h.version = int32(v.SafeInt64())
		case "min":
			h.min = v.Doc()
		case "max":
			h.max = v.Doc()
		case "closed":
			h.closed = v.Truthy()
		case "count":
			h.count = int(v.SafeInt64())
		}
	}
	if t := h.min.Lookup(o.TimeField); t.Kind() == value.KindDateTime {
		h.minimum = t.DateTime()
	}
	return h
}

// rows counts the measurements: each has a time.
func rows(data value.Doc, timeField string) int {
	v := data.Lookup(timeField)
	if v.Kind() != value.KindDocument {
		return 0
	}
	return v.Doc().Len()
}

// Count returns the number of measurements in a stored bucket, from its
// control values if they contain it.
func Count(o *Options, d value.Doc) (int, error) {
	if h := readHeader(o, d); h.count >= 0 {
		return h.count, nil
	}
	data, err := columnData(d)
	if err != nil {
		return 0, err
	}
	return rows(data, o.TimeField), nil
}
