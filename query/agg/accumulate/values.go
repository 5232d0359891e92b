package accumulate

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// MemoryLimit is how many bytes an accumulator may hold whose size grows with its input
// (internalQueryMaxPushBytes and similar parameters).
const MemoryLimit = 100 << 20

// First is $first: the value of the first document.
type First struct {
	seen bool
	v    value.Value
}

// NewFirst makes a $first.
func NewFirst() *First { return &First{} }

// Add takes the first value and ignores the rest.
func (f *First) Add(v value.Value) error {
	if !f.seen {
		f.seen, f.v = true, v.Clone()
	}
	return nil
}

// Result is the first value, Missing if that document had none.
func (f *First) Result() value.Value { return f.v }

// Size is the memory held.
func (f *First) Size() int { return overhead + valueSize(f.v) }

// Partial is the state for Merge.
func (f *First) Partial() value.Value { return boxed(f.seen, f.v) }

// Merge takes over the other's first value if this one has seen no document.
func (f *First) Merge(p value.Value) error {
	if v, ok := unboxed(p); ok {
		return f.Add(v)
	}
	return nil
}

// Last is $last: the value of the last document.
type Last struct {
	seen bool
	v    value.Value
}

// NewLast makes a $last.
func NewLast() *Last { return &Last{} }

// Add replaces the value.
func (l *Last) Add(v value.Value) error { l.seen, l.v = true, v.Clone(); return nil }

// Result is the last value, Missing if that document had none.
func (l *Last) Result() value.Value { return l.v }

// Size is the memory held.
func (l *Last) Size() int { return overhead + valueSize(l.v) }

// Partial is the state for Merge.
func (l *Last) Partial() value.Value { return boxed(l.seen, l.v) }

// Merge takes over the other's last value.
func (l *Last) Merge(p value.Value) error {
	if v, ok := unboxed(p); ok {
		return l.Add(v)
	}
	return nil
}

// boxed keeps "nothing seen" and "seen, but missing" apart.
func boxed(seen bool, v value.Value) value.Value {
	if !seen {
		return value.Null()
	}
	return value.Document(value.NewDoc("v", v))
}

func unboxed(p value.Value) (value.Value, bool) {
	if p.Kind() != value.KindDocument {
		return value.Value{}, false
	}
	return p.Doc().Lookup("v"), true
}

// Extreme is $min and $max. Null and missing values are ignored.
type Extreme struct {
	sign     int
	collator value.Collator
	v        value.Value
}

// NewMin makes a $min.
func NewMin(c value.Collator) *Extreme { return &Extreme{sign: 1, collator: c} }

// NewMax makes a $max.
func NewMax(c value.Collator) *Extreme { return &Extreme{sign: -1, collator: c} }

// Add keeps v if it is less ($min) or greater ($max) than all values before.
func (e *Extreme) Add(v value.Value) error {
	if v.IsNullish() {
		return nil
	}
	if e.v.IsMissing() || value.CompareWith(v, e.v, e.collator)*e.sign < 0 {
		e.v = v.Clone()
	}
	return nil
}

// Result is the extreme, null if there was no value.
func (e *Extreme) Result() value.Value {
	if e.v.IsMissing() {
		return value.Null()
	}
	return e.v
}

// Size is the memory held.
func (e *Extreme) Size() int { return overhead + valueSize(e.v) }

// Partial is the state for Merge.
func (e *Extreme) Partial() value.Value { return e.Result() }

// Merge adds the other's extreme.
func (e *Extreme) Merge(p value.Value) error { return e.Add(p) }

// Push is $push: an array of all values; missing ones are left out.
type Push struct {
	name  string   // name of the accumulator, for errors
	parts [][]byte // the parts of the encoded array; all but the last are full
	n     int
	size  int // the bytes of the parts
	room  int // their capacities
	limit int
}

// The parts double up to maxPart. A long array is never copied to grow.
const (
	minPart = 64
	maxPart = 1 << 20
)

// NewPush makes a $push that may grow to limit bytes.
func NewPush(limit int) *Push { return &Push{name: "$push", limit: limit} }

// SetLimit changes how many bytes it may grow to.
func (p *Push) SetLimit(n int) { p.limit = n }

// Add appends v.
func (p *Push) Add(v value.Value) error {
	if v.IsMissing() {
		return nil
	}
	part := p.part(len(v.Bytes()) + 32) // at most: type, name, length and a number
	before := len(*part)
	e := append(*part, byte(v.Kind()))
	e = append(value.AppendIndex(e, p.n), 0)
	*part = value.AppendPayload(e, v)
	p.n++
	p.size += len(*part) - before
	if p.size > p.limit {
		return tooMuch(p.name, p.size, p.limit)
	}
	return nil
}

// part returns the last part, which has room for n more bytes.
func (p *Push) part(n int) *[]byte {
	last := len(p.parts) - 1
	if last < 0 || cap(p.parts[last])-len(p.parts[last]) < n {
		c := max(min(p.room, maxPart), minPart, n)
		p.parts = append(p.parts, make([]byte, 0, c))
		p.room += c
		last++
	}
	return &p.parts[last]
}

// AppendTo appends the array to a document.
func (p *Push) AppendTo(b *value.Builder, name string) { b.Joined(name, p.parts...) }

// Result is the array.
func (p *Push) Result() value.Value {
	doc := value.OpenDoc(make([]byte, 0, 5+p.size))
	for _, part := range p.parts {
		doc = append(doc, part...)
	}
	return value.Array(value.CloseDoc(doc, 0))
}

// Size is the memory held.
func (p *Push) Size() int { return overhead + p.room }

// Partial is the state for Merge.
func (p *Push) Partial() value.Value { return p.Result() }

// Merge appends the other's values.
func (p *Push) Merge(partial value.Value) error { return addAll(p, partial) }

func addAll(a Accumulator, array value.Value) error {
	for v := range array.Doc().Values() {
		if err := a.Add(v); err != nil {
			return err
		}
	}
	return nil
}

// AddToSet is $addToSet: an array of the distinct values in order of
// arrival; missing ones are left out.
type AddToSet struct {
	name     string // name of the accumulator, for errors
	collator value.Collator
	seen     map[string]struct{}
	values   []value.Value
	key      []byte
	size     int
	limit    int
}

// NewAddToSet makes an $addToSet that may grow to limit bytes.
func NewAddToSet(c value.Collator, limit int) *AddToSet {
	return &AddToSet{name: "$addToSet", collator: c, limit: limit}
}

// SetLimit changes how many bytes it may grow to.
func (s *AddToSet) SetLimit(n int) { s.limit = n }

// Add adds v unless the set has an equal value.
func (s *AddToSet) Add(v value.Value) error {
	if v.IsMissing() {
		return nil
	}
	s.key = value.AppendKeyWith(s.key[:0], v, s.collator)
	if _, dup := s.seen[string(s.key)]; dup {
		return nil
	}
	if s.seen == nil {
		s.seen = map[string]struct{}{}
	}
	s.seen[string(s.key)] = struct{}{}
	s.values = append(s.values, v.Clone())
	s.size += valueSize(v) + len(s.key) + 32
	if s.size > s.limit {
		return tooMuch(s.name, s.size, s.limit)
	}
	return nil
}

// Result is the array of distinct values.
func (s *AddToSet) Result() value.Value { return value.NewArray(s.values...) }

// Size is the memory held.
func (s *AddToSet) Size() int { return overhead + s.size }

// Partial is the state for Merge.
func (s *AddToSet) Partial() value.Value { return s.Result() }

// Merge adds the other's values.
func (s *AddToSet) Merge(p value.Value) error { return addAll(s, p) }

func tooMuch(name string, used, limit int) error {
	return mongoerr.Newf(mongoerr.ExceededMemoryLimit,
		"%s used too much memory and cannot spill to disk. Used: %d bytes. Memory limit: %d bytes", name, used, limit)
}

// MergeObjects is $mergeObjects: later fields replace earlier ones of the
// same name in place.
type MergeObjects struct {
	names  []string
	values []value.Value
	at     map[string]int // the places in names
	size   int
}

// NewMergeObjects makes a $mergeObjects.
func NewMergeObjects() *MergeObjects { return &MergeObjects{} }

// Add merges an object; nullish values are ignored.
func (m *MergeObjects) Add(v value.Value) error {
	if v.IsNullish() {
		return nil
	}
	if v.Kind() != value.KindDocument {
		return mongoerr.Newf(40400, "$mergeObjects requires object inputs, but input %s is of type %s", v.Compact(), v.Kind())
	}
	if m.at == nil {
		m.at = map[string]int{}
	}
	d := v.Doc().Clone()
	for name, e := range d.All() {
		i, known := m.at[name]
		if known {
			m.size += valueSize(e) - valueSize(m.values[i])
			m.values[i] = e
			continue
		}
		m.at[name] = len(m.names)
		m.names, m.values = append(m.names, name), append(m.values, e)
		m.size += 2*len(name) + valueSize(e) + 48
	}
	return nil
}

// Result is the merged object.
func (m *MergeObjects) Result() value.Value {
	var b value.Builder
	b.Reset(make([]byte, 0, 64))
	for i, name := range m.names {
		b.Append(name, m.values[i])
	}
	return value.Document(b.Doc())
}

// Size is the memory held.
func (m *MergeObjects) Size() int { return overhead + m.size }

// Partial is the state for Merge.
func (m *MergeObjects) Partial() value.Value { return m.Result() }

// Merge merges the other's object.
func (m *MergeObjects) Merge(p value.Value) error { return m.Add(p) }
