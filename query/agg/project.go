package agg

import (
	"strings"

	"github.com/duskdb/duskdb/mongoerr"
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

func parseProject(p *parser, v value.Value) ([]stage, error) {
	if v.Kind() != value.KindDocument {
		return nil, mongoerr.New(15969, "$project specification must be an object")
	}
	return p.projection("$project", v.Doc(), project.Aggregate)
}

func parseAddFields(p *parser, v value.Value) ([]stage, error) { return p.addFields("$addFields", v) }
func parseSet(p *parser, v value.Value) ([]stage, error)       { return p.addFields("$set", v) }

func (p *parser) addFields(name string, v value.Value) ([]stage, error) {
	if v.Kind() != value.KindDocument {
		return nil, mongoerr.Newf(40272, "%s specification stage must be an object, got %s", name, v.Kind())
	}
	return p.projection(name, v.Doc(), project.AddFields)
}

func (p *parser) projection(name string, spec value.Doc, mode project.Mode) ([]stage, error) {
	proj, err := project.Compile(spec, project.Options{Mode: mode, Scope: p.Scope, Collation: p.Collation})
	if err != nil {
		if _, fold := err.(*expr.FoldError); !fold {
			return nil, withPrefix(err, "Invalid "+name)
		}
		return nil, err
	}
	return []stage{&projectStage{stage: name, p: proj, add: mode == project.AddFields, source: spec}}, nil
}

// parseUnset makes $unset an exclusion.
func parseUnset(p *parser, v value.Value) ([]stage, error) {
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
	for _, f := range fields {
		if f.Kind() != value.KindString {
			return nil, mongoerr.New(31120, "$unset specification must be a string or an array containing only string values")
		}
		if err := checkFieldPath(f.Str()); err != nil { // before it becomes a name
			return nil, mongoerr.From(err).WithPrefix("Invalid $unset")
		}
		b.Int32(f.Str(), 0)
	}
	stages, err := p.projection("$unset", b.Doc(), project.Aggregate)
	if err != nil {
		return nil, err
	}
	stages[0].(*projectStage).stage = "$project"
	return stages, nil
}

func (s *projectStage) name() string { return s.stage }

// spec spells the projection out as explain does: true and false for fields,
// dotted paths as nested documents, and what becomes of _id.
func (s *projectStage) spec() value.Value {
	d := value.EmptyDoc
	id := s.source.Lookup("_id")
	if s.p.IsInclusion() && (id.IsMissing() || id.IsNumber() || id.Kind() == value.KindBool) {
		d = value.NewDoc("_id", value.Bool(id.IsMissing() || id.Truthy()))
	}
	s.p.Paths(func(path string) {
		if path != "_id" {
			d = setPath(d, strings.Split(path, "."), value.Bool(s.p.IsInclusion()))
		}
	}, func(path string, e *expr.Expr) {
		if e != nil {
			d = setPath(d, strings.Split(path, "."), e.Value())
		}
	})
	if !s.p.IsInclusion() && !s.add {
		d = setPath(d, []string{"_id"}, value.Bool(id.IsMissing() || id.Truthy()))
	}
	return value.Document(d)
}

func (s *projectStage) metadata() []expr.MetaKind { return s.p.Meta() }

func (s *projectStage) open(x *Exec, src Iterator) (Iterator, error) {
	return transformed(x, s, src), nil
}

func (s *projectStage) transform(x *Exec, d value.Doc) (value.Doc, error) {
	return s.p.Apply(x.Env, nil, d)
}

func (s *projectStage) deps(d *deps) reach {
	s.p.Paths(func(path string) {
		if s.p.IsInclusion() {
			d.add(path)
		}
	}, func(path string, e *expr.Expr) {
		if e != nil {
			e.Deps(d.add, d.all)
		}
		// A computed field inside another keeps what that holds.
		if top, _, nested := strings.Cut(path, "."); nested {
			d.add(top)
		}
	})
	if s.p.IsInclusion() {
		return seesNone
	}
	return seesAll
}

func (s *projectStage) effect() effect {
	e := effect{renamed: map[string]string{}}
	s.p.Paths(func(path string) {
		if s.p.IsInclusion() {
			e.keepOnly = append(e.keepOnly, path)
		} else {
			e.modified = append(e.modified, path)
		}
	}, func(path string, ex *expr.Expr) {
		e.modified = append(e.modified, written(path))
		if ex == nil {
			return
		}
		// Only a rename between top-level fields is the same for every
		// document: a dotted path gathers the elements of arrays.
		if from, ok := ex.FieldPath(); ok && !strings.Contains(from, ".") && !strings.Contains(path, ".") {
			e.renamed[path] = from
		}
	})
	if s.p.IsInclusion() && e.keepOnly == nil {
		e.keepOnly = []string{}
	}
	return e
}

func (*projectStage) oneForEach() bool { return true }
