package index

import (
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/value"
)

// Keys of ordinary fields. All fields are resolved in parallel. If some of
// them meet an array, it must be the same array, and resolution continues for
// each of its elements.

// plainRows makes the entries of the fields without regard to their kind.
func (s *Spec) plainRows(d value.Doc, yield func(row)) (multikey plan.Multikey, err error) {
	n := len(s.Fields)
	x := &expansion{sparse: s.Sparse, yield: yield, fields: s.places}
	todo := make([]fieldState, n)
	for i := range s.Fields {
		todo[i].rest = s.Fields[i].Path
	}
	err = x.visit(d, todo, 0)
	return x.multikey, err
}

// expansion computes the entries of one document.
type expansion struct {
	sparse   bool
	multikey plan.Multikey
	fields   []plan.Field // the fields, for the places of arrays
	yield    func(row)
}

// fieldState is the state of resolving one field.
type fieldState struct {
	rest  string // the remaining path
	done  bool   // v is the final value
	v     value.Value
	fixed positional
}

// positional is the value of a numeric component in the array being expanded,
// which is the same for each of its elements.
type positional struct {
	found bool
	array bool // the position holds an array itself
	rest  string
	v     value.Value
	in    value.Doc // the array, for the message about an ambiguous name
}

// visit follows all fields into d. missing counts the fields without a value
// so far.
func (x *expansion) visit(d value.Doc, fields []fieldState, missing int) error {
	var array value.Value // the array to expand
	var arrayName string
	nested := false
	for i := range fields {
		f := &fields[i]
		if f.done {
			continue
		}
		name := f.rest
		v, inPosition, err := f.next(d)
		if err != nil {
			return err
		}
		nested = nested || inPosition
		switch {
		case v.IsMissing():
			f.v, f.done, f.rest = value.Null(), true, ""
			missing++
		case v.Kind() != value.KindArray:
			f.v, f.done, f.rest = v, true, ""
		case array.IsMissing():
			array, arrayName = v, lastName(name, f.rest)
			f.v = v
		case !sameBytes(array.Bytes(), v.Bytes()):
			return mongoerr.Newf(mongoerr.CannotIndexParallelArrays, "cannot index parallel arrays [%s] [%s]", lastName(name, f.rest), arrayName)
		default:
			f.v = v
		}
	}
	if array.IsMissing() {
		x.emit(fields, missing)
		return nil
	}
	for i := range fields {
		if !fields[i].done {
			x.note(i, fields[i].rest)
		}
	}
	return x.expand(array, fields, missing, nested)
}

// note records that the i-th field met an array, with the rest of its path.
func (x *expansion) note(i int, rest string) {
	f := &x.fields[i]
	n := strings.Count(f.Path, ".")
	if rest != "" {
		n -= strings.Count(rest, ".") + 1
	}
	x.multikey |= f.Place(n)
}

// expand continues in each element of an array. nested reports whether the
// array was reached through a position of another one: then a field that ends
// here is indexed as a whole.
func (x *expansion) expand(array value.Value, fields []fieldState, missing int, nested bool) error {
	waiting := make([]bool, len(fields))
	for i := range fields {
		waiting[i] = !fields[i].done
	}
	elements := array.Doc()
	if elements.IsEmpty() {
		return x.element(value.Undefined(), array, fields, waiting, missing, false)
	}
	for i := range fields {
		if f := &fields[i]; waiting[i] && f.rest != "" {
			f.fixed = position(elements, f.rest)
		}
	}
	for v := range elements.Values() {
		if err := x.element(v, array, fields, waiting, missing, nested); err != nil {
			return err
		}
	}
	return nil
}

// element continues all waiting fields in one element of an array.
func (x *expansion) element(v, array value.Value, fields []fieldState, waiting []bool, missing int, nested bool) error {
	next := append([]fieldState(nil), fields...)
	for i := range next {
		f := &next[i]
		if !waiting[i] {
			continue
		}
		if f.rest == "" {
			f.done = true
			if f.v = v; nested {
				f.v = array
			}
		}
	}
	if v.Kind() == value.KindDocument {
		return x.visit(v.Doc(), next, missing)
	}
	return x.visit(value.EmptyDoc, next, missing)
}

func (x *expansion) emit(fields []fieldState, missing int) {
	if x.sparse && missing == len(fields) {
		return
	}
	out := make(row, len(fields))
	for i := range fields {
		out[i] = fields[i].v
	}
	x.yield(out)
}

// next follows the field from d to its value or to the first array on the
// path. inPosition reports whether the value is inside an array at a numeric
// position.
func (f *fieldState) next(d value.Doc) (v value.Value, inPosition bool, err error) {
	fixed := f.fixed
	f.fixed = positional{}
	head, _, _ := strings.Cut(f.rest, ".")
	if d.Has(head) {
		if fixed.found {
			return value.Value{}, false, mongoerr.Newf(16746, "Ambiguous field name found in array (do not use numeric field names in embedded elements in an array), field: '%s' for array: %s", head, fixed.in)
		}
		v, f.rest = valueOrArray(d, f.rest)
		return v, false, nil
	}
	if !fixed.found {
		return value.Value{}, false, nil
	}
	f.rest = fixed.rest
	return fixed.v, fixed.array, nil
}

// position looks a path whose first component is a number up in an array.
func position(elements value.Doc, path string) positional {
	head, _, _ := strings.Cut(path, ".")
	at := value.ParsePath(head).ArrayIndex(0)
	if at < 0 {
		return positional{}
	}
	element := elements.Index(at)
	if element.IsMissing() {
		return positional{}
	}
	v, rest := valueOrArray(elements, path)
	return positional{found: true, array: element.Kind() == value.KindArray, rest: rest, v: v, in: elements}
}

// valueOrArray follows a path through documents to its end or to the first
// array, and returns the rest of the path.
func valueOrArray(d value.Doc, path string) (v value.Value, rest string) {
	for {
		head, tail, more := strings.Cut(path, ".")
		v = d.Lookup(head)
		if !more || v.Kind() == value.KindArray {
			return v, tail
		}
		if v.Kind() != value.KindDocument {
			return value.Value{}, ""
		}
		d, path = v.Doc(), tail
	}
}

// lastName is the last component of path that was walked before rest.
func lastName(path, rest string) string {
	walked := strings.TrimSuffix(strings.TrimSuffix(path, rest), ".")
	return walked[strings.LastIndexByte(walked, '.')+1:]
}

// sameBytes reports whether two views are of the same memory.
func sameBytes(a, b []byte) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
