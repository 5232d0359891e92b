package update

import (
	"encoding/binary"
	"strings"

	"github.com/duskdb/duskdb/value"
)

// Fields is the fast path for the most common updates: $set and $inc of a few
// top-level fields with scalar values. Such an update can be parsed and
// applied without allocating, in a fraction of the time that compiling it
// takes. Fields gives the same result as the compiled [Update], or reports
// Unclear.
type Fields struct {
	fields [maxFields]plainField
	n      int
	// Changed are the elements that the last Apply has changed, as they are
	// now, in the order of the document; Added are those behind its end that
	// were not there.
	Changed, Added []byte
}

// maxFields is the largest number of fields of a plain update.
const maxFields = 8

type plainField struct {
	name  string
	value value.Value
	inc   bool
	seen  bool // reports whether the current document has the field
}

// Outcome is the result of applying Fields to a document.
type Outcome uint8

// The outcomes of [Fields.Apply].
const (
	Unclear   Outcome = iota // compile the update and apply that
	Unchanged                // the update does not change the document
	Modified
)

// Parse reads an update and reports whether it is plain. Names and values
// alias u.
func (f *Fields) Parse(u value.Doc) bool {
	f.n = 0
	it := u.Iter()
	for it.Next() {
		inc := it.Key() == "$inc"
		if !inc && it.Key() != "$set" || it.Kind() != value.KindDocument {
			return false
		}
		field := it.Value().Doc().Iter()
		for field.Next() {
			if !f.name(plainField{name: field.Key(), value: field.Value(), inc: inc}) {
				return false
			}
		}
	}
	return f.n > 0
}

func (f *Fields) name(x plainField) bool {
	switch k := x.value.Kind(); {
	case f.n == maxFields, k == value.KindBinary && oldBinary(x.value), x.name == "", x.name == "_id", x.name[0] == '$', strings.IndexByte(x.name, '.') >= 0,
		x.inc && !x.value.IsNumber(), k == value.KindDocument, k == value.KindArray, k == value.KindCodeScope:
		return false
	}
	if f.find(x.name) >= 0 {
		return false
	}
	f.fields[f.n] = x
	f.n++
	return true
}

// oldBinary reports whether a value is binary data of the old subtype, which
// has two encodings.
func oldBinary(v value.Value) bool {
	subtype, _ := v.Binary()
	return subtype == 2
}

func (f *Fields) find(name string) int {
	for i := range f.fields[:f.n] {
		if f.fields[i].name == name {
			return i
		}
	}
	return -1
}

// Apply appends the new version of d to dst, if d changes. It leaves an $inc of a
// value that is not a number to the compiled update.
func (f *Fields) Apply(dst []byte, d value.Doc) (value.Doc, Outcome) {
	f.Changed, f.Added = f.Changed[:0], f.Added[:0]
	for i := range f.fields[:f.n] {
		f.fields[i].seen = false
	}
	start, left := len(dst), f.n
	all, copied := []byte(d), 0
	it := d.Iter()
	for left > 0 && it.Next() {
		i := f.find(it.Key())
		if i < 0 || f.fields[i].seen {
			continue
		}
		x := &f.fields[i]
		x.seen = true
		left--
		result, ok := x.apply(it.Value())
		if !ok {
			return nil, Unclear
		}
		if result.IsMissing() {
			continue
		}
		end := len(all) - 1 - len(it.Rest())
		dst = append(dst, all[copied:end-len(it.Element())]...)
		copied = end
		at := len(dst)
		dst = value.Append(dst, x.name, result)
		f.Changed = append(f.Changed, dst[at:]...)
	}
	if copied == 0 && left == 0 {
		return d, Unchanged
	}
	dst = append(dst, all[copied:len(all)-1]...)
	f.add(left)
	dst = append(append(dst, f.Added...), 0)
	if len(dst)-start > MaxDocumentSize {
		return nil, Unclear
	}
	binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start))
	return value.Doc(dst[start:len(dst):len(dst)]), Modified
}

// add writes the n fields that the document does not have, in the order in
// which they are appended to it.
func (f *Fields) add(n int) {
	for ; n > 0; n-- {
		var next *plainField
		for i := range f.fields[:f.n] {
			if x := &f.fields[i]; !x.seen && (next == nil || comparePart(x.name, next.name) < 0) {
				next = x
			}
		}
		next.seen = true
		f.Added = value.Append(f.Added, next.name, next.value)
	}
}

// apply returns the new value of a field, Missing if it has it already. ok is
// false if the operator fails.
func (x *plainField) apply(old value.Value) (result value.Value, ok bool) {
	if !x.inc {
		if value.Identical(old, x.value) {
			return value.Value{}, true
		}
		return x.value, true
	}
	if !old.IsNumber() {
		return result, false
	}
	if result, ok = value.Add(old, x.value); !ok {
		return result, false
	}
	if result.Kind() == old.Kind() && value.Equal(result, old) && !result.IsNaN() {
		return value.Value{}, true
	}
	return result, true
}
