package flow

import (
	"errors"
	"strings"

	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/project"
	"github.com/duskdb/duskdb/value"
)

// projectStage is $project, $unset and $addFields ($set).
type projectStage struct {
	stage  string // name in explain
	p      *project.Projection
	add    bool // $addFields
	source value.Doc
}

// ParseProject compiles $project.
func ParseProject(p *stage.Parser, v value.Value) ([]stage.Stage, error) {
	if v.Kind() != value.KindDocument {
		return nil, mongoerr.New(15969, "$project specification must be an object")
	}
	return projection(p, "$project", v.Doc(), project.Aggregate)
}

// ParseAddFields compiles $addFields.
func ParseAddFields(p *stage.Parser, v value.Value) ([]stage.Stage, error) {
	return addFields(p, "$addFields", v)
}

// ParseSet compiles $set.
func ParseSet(p *stage.Parser, v value.Value) ([]stage.Stage, error) { return addFields(p, "$set", v) }

func addFields(p *stage.Parser, name string, v value.Value) ([]stage.Stage, error) {
	if v.Kind() != value.KindDocument {
		return nil, mongoerr.Newf(40272, "%s specification stage must be an object, got %s", name, v.Kind())
	}
	return projection(p, name, v.Doc(), project.AddFields)
}

func projection(p *stage.Parser, name string, spec value.Doc, mode project.Mode) ([]stage.Stage, error) {
	proj, err := project.Compile(spec, project.Options{Mode: mode, Scope: p.Scope, Collation: p.Collation})
	if err != nil {
		if _, fold := errors.AsType[*expr.FoldError](err); !fold {
			return nil, stage.WithPrefix(err, "Invalid "+name)
		}
		return nil, err
	}
	return []stage.Stage{&projectStage{stage: name, p: proj, add: mode == project.AddFields, source: spec}}, nil
}

// ParseUnset makes $unset an exclusion.
func ParseUnset(p *stage.Parser, v value.Value) ([]stage.Stage, error) {
	const shape = "$unset specification must be a string or an array"
	var fields []value.Value
	switch v.Kind() {
	case value.KindString:
		fields = []value.Value{v}
	case value.KindArray:
		for e := range v.Doc().Values() {
			fields = append(fields, e)
		}
		if len(fields) == 0 {
			return nil, mongoerr.New(31119, "$unset specification must be a string or an array with at least one field")
		}
	default:
		return nil, mongoerr.New(31002, shape)
	}
	b := value.NewBuilder()
	if err := checkUnset(p.Scope.Dialect(), fields); err != nil {
		return nil, err
	}
	for _, f := range fields {
		if err := stage.CheckFieldPath(f.Str()); err != nil { // before it becomes a name
			return nil, mongoerr.From(err).WithPrefix("Invalid $unset")
		}
		b.Int32(f.Str(), 0)
	}
	stages, err := projection(p, "$unset", b.Doc(), project.Aggregate)
	if err != nil {
		return nil, err
	}
	stages[0].(*projectStage).stage = "$project"
	return stages, nil
}

// checkUnset refuses what can be no name of a field, whatever stands before it in the list.
func checkUnset(d dialect.Dialect, fields []value.Value) error {
	for _, f := range fields {
		if f.Kind() != value.KindString {
			return mongoerr.New(31120, "$unset specification must be a string or an array containing only string values")
		}
	}
	for _, f := range fields {
		if d.Has(dialect.NULInNames) && strings.IndexByte(f.Str(), 0) >= 0 {
			return mongoerr.New(9527900, "illegal embedded NUL byte")
		}
	}
	return nil
}

func (s *projectStage) Name() string { return s.stage }

// Spec returns the projection as explain shows it: true and false for fields,
// nested documents for dotted paths, and always with _id.
func (s *projectStage) Spec() value.Value {
	d := value.EmptyDoc
	id := s.source.Lookup("_id")
	if s.p.IsInclusion() && (id.IsMissing() || id.IsNumber() || id.Kind() == value.KindBool) {
		d = value.NewDoc("_id", value.Bool(id.IsMissing() || id.Truthy()))
	}
	s.p.Paths(func(path string) {
		if path != "_id" {
			d = stage.SetPath(d, strings.Split(path, "."), value.Bool(s.p.IsInclusion()))
		}
	}, func(path string, e *expr.Expr) {
		if e != nil {
			d = stage.SetPath(d, strings.Split(path, "."), e.Value())
		}
	})
	if !s.p.IsInclusion() && !s.add {
		d = stage.SetPath(d, []string{"_id"}, value.Bool(id.IsMissing() || id.Truthy()))
	}
	return value.Document(d)
}

func (s *projectStage) Metadata() []expr.MetaKind { return s.p.Meta() }

func (s *projectStage) Open(x *stage.Exec, src stage.Iterator) (stage.Iterator, error) {
	return stage.Transformed(x, s, src), nil
}

func (s *projectStage) Transform(x *stage.Exec, d value.Doc) (value.Doc, error) {
	return s.p.Apply(x.Env, nil, d)
}

func (s *projectStage) Deps(d *stage.Deps) stage.Reach {
	s.p.Paths(func(path string) {
		if s.p.IsInclusion() {
			d.Add(path)
		}
	}, func(path string, e *expr.Expr) {
		if e != nil {
			e.Deps(d.Add, d.All)
		}
		// A computed field within another field keeps the rest of that field.
		if top, _, nested := strings.Cut(path, "."); nested {
			d.Add(top)
		}
	})
	if s.p.IsInclusion() {
		return stage.SeesNone
	}
	return stage.SeesAll
}

func (s *projectStage) Effect() stage.Effect {
	e := stage.Effect{Renamed: map[string]string{}}
	s.p.Paths(func(path string) {
		if s.p.IsInclusion() {
			e.KeepOnly = append(e.KeepOnly, path)
		} else {
			e.Modified = append(e.Modified, path)
		}
	}, func(path string, ex *expr.Expr) {
		e.Modified = append(e.Modified, stage.TopField(path))
		if ex == nil {
			return
		}
		// Only a rename between top-level fields has the same effect on every
		// document: a dotted path collects the elements of arrays.
		if from, ok := ex.FieldPath(); ok && !strings.Contains(from, ".") && !strings.Contains(path, ".") {
			e.Renamed[path] = from
		}
	})
	if s.p.IsInclusion() && e.KeepOnly == nil {
		e.KeepOnly = []string{}
	}
	return e
}

func (*projectStage) OneForEach() bool { return true }
