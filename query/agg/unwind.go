package agg

import (
	"strings"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// unwindStage is $unwind.
type unwindStage struct {
	path     string
	parts    []string
	preserve bool   // keep documents without elements
	index    string // includeArrayIndex, "": none
	at       []string
}

func parseUnwind(_ *parser, v value.Value) ([]stage, error) {
	s := &unwindStage{}
	path := v
	switch v.Kind() {
	case value.KindString:
	case value.KindDocument:
		var err error
		if path, err = s.parseOptions(v.Doc()); err != nil {
			return nil, err
		}
	default:
		return nil, mongoerr.Newf(15981, "expected either a string or an object as specification for $unwind stage, got %s", v.Kind())
	}
	switch {
	case path.IsMissing() || path.Str() == "":
		return nil, mongoerr.New(28812, "no path specified to $unwind stage")
	case strings.IndexByte(path.Str(), 0) >= 0:
		return nil, mongoerr.New(16419, "field path must not contain embedded null characters")
	case path.Str()[0] != '$':
		return nil, mongoerr.Newf(28818, "path option to $unwind stage should be prefixed with a '$': %s", path.Str())
	}
	s.path = strings.Clone(path.Str()[1:])
	s.parts = strings.Split(s.path, ".")
	return []stage{s}, checkFieldPath(s.path)
}

func (s *unwindStage) parseOptions(d value.Doc) (path value.Value, err error) {
	for k, f := range d.All() {
		switch k {
		case "path":
			if f.Kind() != value.KindString {
				return path, mongoerr.Newf(28808, "expected a string as the path for $unwind stage, got %s", f.Kind())
			}
			path = f
		case "preserveNullAndEmptyArrays":
			if f.Kind() != value.KindBool {
				return path, mongoerr.Newf(28809, "expected a boolean for the preserveNullAndEmptyArrays option to $unwind stage, got %s", f.Kind())
			}
			s.preserve = f.Bool()
		case "includeArrayIndex":
			if f.Kind() != value.KindString || f.Str() == "" {
				return path, mongoerr.Newf(28810, "expected a non-empty string for the includeArrayIndex  option to $unwind stage, got %s", f.Kind())
			}
			if f.Str()[0] == '$' {
				return path, mongoerr.Newf(28822, "includeArrayIndex option to $unwind stage should not be prefixed with a '$': %s", f.Str())
			}
			s.index = strings.Clone(f.Str())
			if err := checkFieldPath(s.index); err != nil {
				return path, err
			}
			s.at = strings.Split(s.index, ".")
		default:
			return path, mongoerr.Newf(28811, "unrecognized option to $unwind stage: %s", k)
		}
	}
	return path, nil
}

func (s *unwindStage) name() string { return "$unwind" }

func (s *unwindStage) spec() value.Value {
	b := value.NewBuilder().String("path", "$"+s.path)
	if s.preserve {
		b.Bool("preserveNullAndEmptyArrays", true)
	}
	if s.index != "" {
		b.String("includeArrayIndex", s.index)
	}
	return value.Document(b.Doc())
}

func (s *unwindStage) deps(d *deps) reach {
	d.add(s.path)
	return seesAll
}

func (s *unwindStage) effect() effect {
	e := effect{modified: []string{s.path}}
	if s.index != "" {
		e.modified = append(e.modified, written(s.index))
	}
	return e
}

func (s *unwindStage) open(x *Exec, src Iterator) (Iterator, error) {
	return &unwindIterator{x: x, s: s, src: src, path: value.ParsePath(s.path)}, nil
}

type unwindIterator struct {
	x     *Exec
	s     *unwindStage
	src   Iterator
	path  value.Path
	doc   place      // being unwound
	array value.Iter // its elements to come
	open  bool
	n     int64
}

func (it *unwindIterator) Next() (value.Doc, error) {
	for {
		if it.open && it.array.Next() {
			it.n++
			d := it.doc.with(it.array.Value())
			return it.s.indexed(d, value.Int64(it.n-1)), it.x.tick()
		}
		it.open = false
		d, err := it.src.Next()
		if d == nil || err != nil {
			return nil, err
		}
		if out := it.begin(d); out != nil {
			return out, nil
		}
	}
}

// begin takes a new document; it returns a document that stands for it if
// there is no array to unwind.
func (it *unwindIterator) begin(d value.Doc) value.Doc {
	v := it.path.Get(d)
	switch {
	case v.Kind() == value.KindArray && !v.Doc().IsEmpty():
		it.doc, it.array, it.open, it.n = newPlace(d, it.s.parts), v.Doc().Iter(), true, 0
		return nil
	case v.Kind() == value.KindArray:
		if !it.s.preserve {
			return nil
		}
		return it.s.indexed(setPath(d, it.s.parts, value.Value{}), value.Null())
	case v.IsNullish() && !it.s.preserve:
		return nil
	}
	return it.s.indexed(d, value.Null())
}

// indexed sets the includeArrayIndex field.
func (s *unwindStage) indexed(d value.Doc, i value.Value) value.Doc {
	if s.index == "" {
		return d
	}
	return setPath(d, s.at, i)
}

func (it *unwindIterator) Close() { it.src.Close() }
