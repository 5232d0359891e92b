package update

import (
	"encoding/binary"
	"strings"

	"github.com/duskdb/duskdb/value"
)

// Fields is an update of the plainest and commonest kind: $set and $inc of a
// few fields at the top level, with values that contain no others. It exists
// because such an update can be read and applied without memory, in a
// fraction of the time that compiling it takes. It does what the [Update]
// compiled from the same document does, or says that it cannot tell.
type Fields struct {
	fields [maxFields]plainField
	n      int
	// Changed are the elements that the last Apply has changed, as they are
	// now, in the order of the document.
	Changed []byte
}

// maxFields is how many fields an update may name to be plain.
const maxFields = 8

type plainField struct {
	name  string
	value value.Value
	inc   bool
	seen  bool // in the document at hand
}

// Outcome is what Fields made of a document.
type Outcome uint8

// The outcomes of [Fields.Apply].
const (
	Unclear   Outcome = iota // compile the update and apply that
	Unchanged                // the document is as the update wants it
	Modified
)

// Parse reads an update and reports whether it is plain. Names and values
// alias u.
func (f *Fields) Parse(u value.Doc) bool {
	f.n = 0
	for it := u.Iter(); it.Next(); {
		inc := it.Key() == "$inc"
		if !inc && it.Key() != "$set" || it.Kind() != value.KindDocument {
			return false
		}
		for field := it.Value().Doc().Iter(); field.Next(); {
			if !f.add(plainField{name: field.Key(), value: field.Value(), inc: inc}) {
				return false
			}
		}
	}
	return f.n > 0
}

func (f *Fields) add(x plainField) bool {
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

// oldBinary is the subtype that may be written in more than one way.
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

// Apply appends the new version of d to dst, if there is one. A field that is
// not there, or an $inc of what is no number, is for the compiled update.
func (f *Fields) Apply(dst []byte, d value.Doc) (value.Doc, Outcome) {
	f.Changed = f.Changed[:0]
	for i := range f.fields[:f.n] {
		f.fields[i].seen = false
	}
	start, left := len(dst), f.n
	all, copied := []byte(d), 0
	for it := d.Iter(); left > 0 && it.Next(); {
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
	switch {
	case left > 0:
		return nil, Unclear
	case copied == 0:
		return d, Unchanged
	}
	dst = append(dst, all[copied:]...)
	if len(dst)-start > MaxDocumentSize {
		return nil, Unclear
	}
	binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start))
	return value.Doc(dst[start:len(dst):len(dst)]), Modified
}

// apply returns the new value of a field, Missing if it has it already. ok is
// false where the operator fails.
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
