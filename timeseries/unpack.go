package timeseries

import "github.com/duskdb/duskdb/value"

// Unpacker yields the measurements of buckets as documents: the time, the
// meta value, then the other fields in the order of the columns. The
// documents stay valid; the Unpacker is used for one bucket after another.
// It belongs to one goroutine.
type Unpacker struct {
	o       *Options
	only    map[string]bool // columns to yield; nil: all
	columns []cursor
	time    cursor
	meta    value.Value
	row     int
	arena   []byte
	last    int // size of the last document
}

// cursor is a position in a column: an element, or the end.
type cursor struct {
	name string
	it   value.Iter
	row  int // row of the element it stands on, -1 at the end
}

func newCursor(name string, elements value.Doc) cursor {
	c := cursor{name: name, it: elements.Iter()}
	c.step()
	return c
}

func (c *cursor) step() {
	if !c.it.Next() {
		c.row = -1
		return
	}
	n := 0
	for _, digit := range c.it.KeyBytes() {
		n = n*10 + int(digit-'0')
	}
	c.row = n
}

// appendTo appends the element under the name of the column.
func (c *cursor) appendTo(dst []byte) []byte {
	element := c.it.Element()
	dst = append(append(append(dst, element[0]), c.name...), 0)
	return append(dst, element[len(c.it.KeyBytes())+2:]...)
}

// NewUnpacker returns an Unpacker for the buckets of a collection.
func NewUnpacker(o *Options) *Unpacker { return &Unpacker{o: o, last: 256} }

// Only makes the Unpacker yield no other fields than these top-level ones; nil
// stands for all of them. The time is always included.
func (u *Unpacker) Only(fields []string) {
	if u.only = nil; fields == nil {
		return
	}
	u.only = map[string]bool{u.o.TimeField: true}
	for _, name := range fields {
		u.only[name] = true
	}
}

// Reset begins with a bucket.
func (u *Unpacker) Reset(bucket value.Doc) error {
	data, err := someColumns(bucket, u.only)
	if err != nil {
		return err
	}
	u.columns, u.row, u.meta = u.columns[:0], 0, bucket.Lookup("meta")
	if u.only != nil && !u.only[u.o.MetaField] {
		u.meta = value.Value{}
	}
	u.time = cursor{row: -1}
	for name, v := range data.All() {
		switch {
		case v.Kind() != value.KindDocument:
		case name == u.o.TimeField:
			u.time = newCursor(name, v.Doc())
		case u.only != nil && !u.only[name]:
		default:
			u.columns = append(u.columns, newCursor(name, v.Doc()))
		}
	}
	return nil
}

// arenaSize is the size of the memory blocks for documents.
const arenaSize = 32 << 10

// Next returns the next measurement; ok is false at the end of the bucket.
func (u *Unpacker) Next() (d value.Doc, ok bool) {
	if u.time.row < 0 {
		return nil, false
	}
	if cap(u.arena)-len(u.arena) < u.last+u.last/4+32 {
		u.arena = make([]byte, 0, max(arenaSize, 2*u.last))
	}
	start := len(u.arena)
	row := u.time.row
	b := value.OpenDoc(u.arena)
	b = u.time.appendTo(b)
	u.time.step()
	if u.o.MetaField != "" && !u.meta.IsMissing() {
		b = value.Append(b, u.o.MetaField, u.meta)
	}
	for i := range u.columns {
		c := &u.columns[i]
		for c.row >= 0 && c.row < row {
			c.step()
		}
		if c.row == row {
			b = c.appendTo(b)
			c.step()
		}
	}
	b = value.CloseDoc(b, start)
	u.arena = b
	u.last = len(b) - start
	u.row++
	return value.Doc(b[start:len(b):len(b)]), true
}

// Unpack returns all measurements of a bucket.
func Unpack(o *Options, bucket value.Doc) ([]value.Doc, error) {
	u := NewUnpacker(o)
	if err := u.Reset(bucket); err != nil {
		return nil, err
	}
	var out []value.Doc
	for d, ok := u.Next(); ok; d, ok = u.Next() {
		out = append(out, d)
	}
	return out, nil
}

// Filter removes from a bucket the measurements for which drop returns true.
// rest is the bucket to store instead, nil if none are left, and the bucket
// itself if none were removed.
func Filter(o *Options, bucket value.Doc, c value.Collator, drop func(value.Doc) (bool, error)) (rest value.Doc, removed int, err error) {
	u := NewUnpacker(o)
	if err := u.Reset(bucket); err != nil {
		return nil, 0, err
	}
	h := readHeader(o, bucket)
	b := NewBucket(o, floorDiv(h.minimum, 1000), bucket.Lookup("meta"), c)
	b.id, b.minimum, b.closed = bucket.Lookup("_id").ObjectID(), h.minimum, h.closed
	for d, ok := u.Next(); ok; d, ok = u.Next() {
		gone, err := drop(d)
		if err != nil {
			return nil, 0, err
		}
		if gone {
			removed++
			continue
		}
		b.Append(d)
	}
	switch {
	case removed == 0:
		return bucket, 0, nil
	case b.count == 0:
		return nil, removed, nil
	case h.version == versionCompressed:
		return Compress(b.Doc()), removed, nil
	}
	return b.Doc(), removed, nil
}
