package lookup

import (
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/pipeline"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// unionStage is $unionWith: it appends the documents of another pipeline to those of
// this one.
type unionStage struct {
	db, coll string // coll "": the pipeline makes its documents itself
	sub      *pipeline.Pipeline
	p        *stage.Parser // the parser of the sub-pipeline, for a $match moved into it
	source   value.Value   // specification; missing: the stage is part of another one
	moved    value.Doc     // filter of that $match, nil: none
}

// ParseUnionWith compiles $unionWith.
func ParseUnionWith(p *stage.Parser, v value.Value) ([]stage.Stage, error) {
	s := &unionStage{db: p.DB, source: v}
	stages := value.EmptyDoc
	switch v.Kind() {
	case value.KindString:
		s.coll = strings.Clone(v.Str())
	case value.KindDocument:
		for k, f := range v.Doc().All() {
			switch k {
			case "coll":
				coll, err := stage.StringField("$unionWith", "coll", f)
				if err != nil {
					return nil, err
				}
				s.coll = coll
			case "pipeline":
				if f.Kind() != value.KindArray {
					return nil, stage.WrongType("$unionWith", "pipeline", f, "array")
				}
				stages = f.Doc()
			default:
				return nil, stage.UnknownField("$unionWith", k)
			}
		}
	default:
		return nil, mongoerr.Newf(mongoerr.FailedToParse, "the $unionWith stage specification must be an object or string, but found %s", v.Kind())
	}
	if s.coll == "" && !startsWithDocuments(stages) {
		return nil, mongoerr.New(mongoerr.FailedToParse, "$unionWith stage without explicit collection must have a pipeline with $documents as first stage")
	}
	sub, err := p.Sub("$unionWith")
	if err != nil {
		return nil, err
	}
	sub.Coll = s.coll
	s.p = sub
	s.sub, err = pipeline.Compile(sub, stages)
	return []stage.Stage{s}, err
}

// NewUnion makes a $unionWith of a pipeline over the collection of its parser.
func NewUnion(p *stage.Parser, sub *pipeline.Pipeline) stage.Stage {
	return &unionStage{db: p.DB, coll: p.Coll, sub: sub, p: p}
}

func (s *unionStage) Name() string { return "$unionWith" }

func (s *unionStage) Spec() value.Value {
	if s.moved == nil && !s.source.IsMissing() {
		return s.source
	}
	b := value.NewBuilder()
	if s.coll != "" {
		b.String("coll", s.coll)
	}
	b.StartArray("pipeline")
	for _, st := range s.sub.Stages() {
		b.StartDocument("").Append(st.Name(), st.Spec()).End()
	}
	return value.Document(b.Doc())
}

// Deps implements stage.Stage. The stages behind this one decide which fields of the
// input are needed.
func (s *unionStage) Deps(*stage.Deps) stage.Reach { return stage.SeesAll }

func (s *unionStage) Effect() stage.Effect { return stage.Effect{Opaque: true} }

func (s *unionStage) Involved() []string {
	out := s.sub.Namespaces()
	if s.coll != "" {
		out = append(out, s.db+"."+s.coll)
	}
	return out
}

func (s *unionStage) Open(x *stage.Exec, src stage.Iterator) (stage.Iterator, error) {
	return &unionIterator{x: x, s: s, src: src}, nil
}

type unionIterator struct {
	x     *stage.Exec
	s     *unionStage
	src   stage.Iterator
	inner *stage.Exec
	other stage.Iterator
}

func (it *unionIterator) Next() (value.Doc, error) {
	if it.other == nil {
		d, err := it.src.Next()
		if d != nil || err != nil {
			return d, err
		}
		it.src.Close()
		it.inner = it.x.Sub()
		if it.other, err = it.s.sub.OpenOn(it.inner, it.s.db, it.s.coll); err != nil {
			return nil, err
		}
	}
	d, err := it.other.Next()
	it.x.Env.Meta = it.inner.Env.Meta
	if d == nil {
		it.x.Env.Meta = expr.Meta{}
	}
	return d, err
}

func (it *unionIterator) Close() {
	it.src.Close()
	if it.other != nil {
		it.other.Close()
	}
}
