package flow

import (
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/value"
)

// Unwind is $unwind.
type Unwind struct {
	Path     string
	parts    []string
	Preserve bool   // keep documents without elements
	Index    string // includeArrayIndex, "": none
	at       []string
	needed   map[string]bool // top-level fields that later stages need, nil: all
}

// ParseUnwind compiles $unwind.
func ParseUnwind(_ *stage.Parser, v value.Value) ([]stage.Stage, error) {
	s := &Unwind{}
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
	s.Path = strings.Clone(path.Str()[1:])
	s.parts = strings.Split(s.Path, ".")
	return []stage.Stage{s}, stage.CheckFieldPath(s.Path)
}

func (s *Unwind) parseOptions(d value.Doc) (path value.Value, err error) {
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
			s.Preserve = f.Bool()
		case "includeArrayIndex":
			if f.Kind() != value.KindString || f.Str() == "" {
				// sic: mongod
				return path, mongoerr.Newf(28810, "expected a non-empty string for the includeArrayIndex  option to $unwind stage, got %s", f.Kind())
			}
			if f.Str()[0] == '$' {
				return path, mongoerr.Newf(28822, "includeArrayIndex option to $unwind stage should not be prefixed with a '$': %s", f.Str())
			}
			s.Index = strings.Clone(f.Str())
			if err := stage.CheckFieldPath(s.Index); err != nil {
				return path, err
			}
			s.at = strings.Split(s.Index, ".")
		default:
			return path, mongoerr.Newf(28811, "unrecognized option to $unwind stage: %s", k)
		}
	}
	return path, nil
}

// Name is the name of the stage.
func (s *Unwind) Name() string { return "$unwind" }

// Spec is the stage as explain shows it.
func (s *Unwind) Spec() value.Value {
	b := value.NewBuilder().String("path", "$"+s.Path)
	if s.Preserve {
		b.Bool("preserveNullAndEmptyArrays", true)
	}
	if s.Index != "" {
		b.String("includeArrayIndex", s.Index)
	}
	return value.Document(b.Doc())
}

// Deps notes what the stage reads.
func (s *Unwind) Deps(d *stage.Deps) stage.Reach {
	d.Add(s.Path)
	return stage.SeesAll
}

// Effect says what the stage changes.
func (s *Unwind) Effect() stage.Effect {
	e := stage.Effect{Modified: []string{s.Path}}
	if s.Index != "" {
		e.Modified = append(e.Modified, stage.TopField(s.Index))
	}
	return e
}

// Needing returns the stage for later ones that need only the fields of d, nil: all.
func (s *Unwind) Needing(d *stage.Deps) *Unwind {
	if d == nil && s.needed == nil {
		return s
	}
	out := *s
	out.needed = nil
	if d != nil {
		out.needed = map[string]bool{s.parts[0]: true}
		for path := range d.Paths {
			out.needed[stage.TopField(path)] = true
		}
	}
	return &out
}

// trim removes the fields of a document that no later stage needs.
func (s *Unwind) trim(d value.Doc) value.Doc {
	if s.needed == nil {
		return d
	}
	var b value.Builder
	b.Reset(make([]byte, 0, 128))
	it := d.Iter()
	for it.Next() {
		if s.needed[it.Key()] {
			b.Raw(it.Element())
		}
	}
	return b.Doc()
}

// Open runs the stage.
func (s *Unwind) Open(x *stage.Exec, src stage.Iterator) (stage.Iterator, error) {
	return &unwindIterator{x: x, s: s, src: src, path: value.ParsePath(s.Path)}, nil
}

type unwindIterator struct {
	x     *stage.Exec
	s     *Unwind
	src   stage.Iterator
	path  value.Path
	doc   stage.Place // being unwound
	array value.Iter  // its elements to come
	open  bool
	n     int64
}

func (it *unwindIterator) Next() (value.Doc, error) {
	for {
		if it.open && it.array.Next() {
			it.n++
			d := it.doc.With(it.array.Value())
			return it.s.Indexed(d, value.Int64(it.n-1)), it.x.Tick()
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

// begin starts with a new document. If there is no array to unwind, it returns the
// document for the output.
func (it *unwindIterator) begin(d value.Doc) value.Doc {
	v := it.path.Get(d)
	switch {
	case v.Kind() == value.KindArray && !v.Doc().IsEmpty():
		it.doc, it.array, it.open, it.n = stage.NewPlace(it.s.trim(d), it.s.parts), v.Doc().Iter(), true, 0
		return nil
	case v.Kind() == value.KindArray:
		if !it.s.Preserve {
			return nil
		}
		return it.s.Indexed(stage.SetPath(d, it.s.parts, value.Value{}), value.Null())
	case v.IsNullish() && !it.s.Preserve:
		return nil
	}
	return it.s.Indexed(d, value.Null())
}

// Indexed sets the includeArrayIndex field.
func (s *Unwind) Indexed(d value.Doc, i value.Value) value.Doc {
	if s.Index == "" {
		return d
	}
	return stage.SetPath(d, s.at, i)
}

func (it *unwindIterator) Close() { it.src.Close() }
