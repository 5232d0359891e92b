package index

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/value"
)

// cells are the alternatives of one field, each with as many values as the
// field has parts in the key.
type cells []row

// productRows makes the entries of text, geo and wildcard indexes: each
// alternative of each field with each of the others.
func (s *Spec) productRows(d value.Doc, yield func(row)) (multikey plan.Multikey, err error) {
	lists := make([]cells, len(s.Fields))
	special := 0
	for i := range s.Fields {
		f := &s.Fields[i]
		many := false
		switch f.Kind {
		case Plain:
			var arrays plan.Multikey
			lists[i], arrays = s.plainCells(d, i)
			multikey |= arrays
			if arrays != 0 && s.Kind == Wildcard {
				err = mongoerr.Newf(7246301, "Field '%s' of a compound wildcard index contains an array, but only its wildcard field may", f.Path)
			}
			if arrays != 0 && s.Kind == Text {
				err = mongoerr.Newf(mongoerr.CannotBuildIndexKeys, "Field '%s' of text index contains an array in document: %s", f.Path, d)
			}
		case Wildcard:
			lists[i], many = s.wildcardCells(d, f)
		case Text:
			lists[i], many, err = s.textCells(d)
		case Geo2D:
			lists[i], many, err = s.planarCells(d, f)
		case Sphere:
			lists[i], many, err = s.sphereCells(d, f)
		}
		if err != nil {
			return 0, err
		}
		if many {
			multikey |= s.manyKeys(d, i)
		}
		if f.Kind != Plain && len(lists[i]) > 0 {
			special++
		}
	}
	if special == 0 && !s.keepsWithoutSpecial() {
		return 0, nil
	}
	for i := range lists {
		if len(lists[i]) == 0 {
			lists[i] = s.absent(&s.Fields[i])
		}
	}
	product(lists, nil, yield)
	return multikey, nil
}

// manyKeys returns the multikey bits for a special field with several
// alternatives.
func (s *Spec) manyKeys(d value.Doc, i int) (where plan.Multikey) {
	f := &s.places[i]
	if f.Kind == plan.Wildcard {
		return plan.Elsewhere
	}
	where = plan.ManyKeys
	if f.Kind == plan.Text {
		return where
	}
	// Of a geo field, arrays above the coordinates are noted.
	for n, part := range s.Fields[i].path.Parts() {
		v := d.Lookup(part)
		if v.Kind() == value.KindArray && (n+1 < s.Fields[i].path.Len() || v.Doc().Index(0).Doc() != nil) {
			return where | f.Place(n)
		}
		d = v.Doc()
	}
	return where
}

// keepsWithoutSpecial reports whether a document without a value for the
// special field has an entry: only in a compound wildcard index.
func (s *Spec) keepsWithoutSpecial() bool { return s.Kind == Wildcard && len(s.Fields) > 1 }

// absent returns the alternatives for a special field that is missing in a
// document.
func (s *Spec) absent(f *Field) cells {
	if f.Kind == Wildcard {
		return cells{{value.MinKey(), value.MinKey()}}
	}
	return cells{{value.Null()}}
}

func product(lists []cells, prefix row, yield func(row)) {
	if len(lists) == 0 {
		yield(append(row(nil), prefix...))
		return
	}
	for _, c := range lists[0] {
		product(lists[1:], append(prefix[:len(prefix):len(prefix)], c...), yield)
	}
}

// plainCells are the values of one ordinary field, as in an index on that
// field alone.
func (s *Spec) plainCells(d value.Doc, i int) (out cells, arrays plan.Multikey) {
	f := &s.Fields[i]
	x := &expansion{fields: s.places[i : i+1], yield: func(r row) { out = append(out, r) }}
	// One field alone cannot meet parallel arrays; an ambiguous position is
	// taken as missing.
	if err := x.visit(d, []fieldState{{rest: f.Path}}, 0); err != nil {
		return cells{{value.Null()}}, x.multikey
	}
	return out, x.multikey
}

// wildcardCells are the paths and values of all leaves below the field.
func (s *Spec) wildcardCells(d value.Doc, f *Field) (out cells, many bool) {
	w := &wildcardWalk{projection: s.projection}
	if f.Path == "" {
		w.document("", d)
	} else {
		w.descend("", d, f.path.Parts())
	}
	return w.out, w.many
}

type wildcardWalk struct {
	projection *projection
	out        cells
	many       bool
}

// descend finds the value at the root of the wildcard.
func (w *wildcardWalk) descend(path string, d value.Doc, parts []string) {
	v := d.Lookup(parts[0])
	path = joinPath(path, parts[0])
	if len(parts) == 1 {
		if !v.IsMissing() {
			w.value(path, v, false)
		}
		return
	}
	switch v.Kind() {
	case value.KindDocument:
		w.descend(path, v.Doc(), parts[1:])
	case value.KindArray:
		w.many = true
		for e := range v.Doc().Values() {
			if e.Kind() == value.KindDocument {
				w.descend(path, e.Doc(), parts[1:])
			}
		}
	}
}

func joinPath(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func (w *wildcardWalk) document(path string, d value.Doc) {
	for name, v := range d.All() {
		w.value(joinPath(path, name), v, false)
	}
}

// value adds the leaves at or below path. An array inside an array is a leaf
// itself.
func (w *wildcardWalk) value(path string, v value.Value, inArray bool) {
	if !w.projection.enters(path) {
		return
	}
	switch v.Kind() {
	case value.KindDocument:
		if v.Doc().IsEmpty() {
			w.leaf(path, v)
			return
		}
		w.document(path, v.Doc())
	case value.KindArray:
		if inArray {
			w.leaf(path, v)
			return
		}
		w.many = true
		if v.Doc().IsEmpty() {
			w.leaf(path, value.Undefined())
		}
		for e := range v.Doc().Values() {
			w.value(path, e, true)
		}
	default:
		w.leaf(path, v)
	}
}

func (w *wildcardWalk) leaf(path string, v value.Value) {
	if w.projection.takes(path) {
		w.out = append(w.out, row{value.String(path), v})
	}
}
