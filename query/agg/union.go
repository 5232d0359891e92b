package agg

import (
	"strings"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// unionStage is $unionWith: the documents of another pipeline behind those
// of this one.
type unionStage struct {
	db, coll string // coll "": the pipeline makes its documents itself
	sub      *Pipeline
	p        *parser // of the sub-pipeline, for a $match moved into it
	source   value.Value
	moved    value.Doc // filter of that $match, nil: none
}

func parseUnionWith(p *parser, v value.Value) ([]stage, error) {
	s := &unionStage{db: p.DB, source: v}
	stages := value.EmptyDoc
	switch v.Kind() {
	case value.KindString:
		s.coll = strings.Clone(v.Str())
	case value.KindDocument:
		for k, f := range v.Doc().All() {
			switch k {
			case "coll":
				coll, err := stringField("$unionWith", "coll", f)
				if err != nil {
					return nil, err
				}
				s.coll = coll
			case "pipeline":
				if f.Kind() != value.KindArray {
					return nil, wrongType("$unionWith", "pipeline", f, "array")
				}
				stages = f.Doc()
			default:
				return nil, unknownField("$unionWith", k)
			}
		}
	default:
		return nil, mongoerr.Newf(mongoerr.FailedToParse, "the $unionWith stage specification must be an object or string, but found %s", v.Kind())
	}
	if s.coll == "" && !startsWithDocuments(stages) {
		return nil, mongoerr.New(mongoerr.FailedToParse, "$unionWith stage without explicit collection must have a pipeline with $documents as first stage")
	}
	sub, err := p.sub("$unionWith")
	if err != nil {
		return nil, err
	}
	sub.Coll = s.coll
	s.p = sub
	s.sub, err = sub.compile(stages)
	return []stage{s}, err
}

func (s *unionStage) name() string { return "$unionWith" }

func (s *unionStage) spec() value.Value {
	if s.moved == nil {
		return s.source
	}
	b := value.NewBuilder()
	if s.coll != "" {
		b.String("coll", s.coll)
	}
	b.StartArray("pipeline")
	for _, st := range s.sub.compiled() {
		b.StartDocument("").Append(st.name(), st.spec()).End()
	}
	return value.Document(b.Doc())
}

// The other pipeline gives whole documents, but what this stage needs of its
// own input is decided by the stages behind it.
func (s *unionStage) deps(*deps) reach { return seesAll }
func (s *unionStage) effect() effect   { return effect{opaque: true} }

func (s *unionStage) involved() []string {
	out := s.sub.Namespaces()
	if s.coll != "" {
		out = append(out, s.db+"."+s.coll)
	}
	return out
}

func (s *unionStage) open(x *Exec, src Iterator) (Iterator, error) {
	return &unionIterator{x: x, s: s, src: src}, nil
}

type unionIterator struct {
	x     *Exec
	s     *unionStage
	src   Iterator
	inner *Exec
	other Iterator
}

func (it *unionIterator) Next() (value.Doc, error) {
	if it.other == nil {
		d, err := it.src.Next()
		if d != nil || err != nil {
			return d, err
		}
		it.src.Close()
		it.inner = it.x.sub()
		if it.other, err = it.s.sub.openOn(it.inner, it.s.db, it.s.coll); err != nil {
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
