package agg

import (
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/value"
)

// matchStage is $match.
type matchStage struct {
	filter  value.Doc
	matcher *match.Matcher
	text    bool // it holds a $text
}

func parseMatch(p *parser, v value.Value) ([]stage, error) {
	if v.Kind() != value.KindDocument {
		return nil, mongoerr.New(15959, "the match filter must be an expression in an object")
	}
	if hasText(v.Doc()) && !p.first {
		return nil, textNotFirst()
	}
	m, err := p.newMatch(v.Doc())
	if err != nil {
		return nil, err
	}
	return []stage{m}, nil
}

func textNotFirst() error {
	return mongoerr.New(17313, "$match with $text is only allowed as the first pipeline stage")
}

func (p *parser) newMatch(filter value.Doc) (*matchStage, error) {
	o := match.Options{Scope: p.Scope, Collation: p.Collation}
	text := hasText(filter)
	if text && p.Text != nil {
		o.Text = p.Text(p.DB, p.Coll)
	}
	m, err := match.Compile(filter, o)
	if err != nil {
		return nil, err
	}
	return &matchStage{filter: filter, matcher: m, text: text}, nil
}

func (s *matchStage) name() string      { return "$match" }
func (s *matchStage) spec() value.Value { return value.Document(s.filter) }

func (s *matchStage) open(x *Exec, src Iterator) (Iterator, error) {
	return &matchIterator{x: x, m: s.matcher, src: src}, nil
}

func (s *matchStage) deps(d *deps) reach {
	if !filterPaths(s.filter, d.add) {
		d.all()
	}
	return seesAll
}

func (s *matchStage) effect() effect { return effect{} }

func (s *matchStage) gives() (kinds []expr.MetaKind, all bool) {
	if s.text {
		kinds = []expr.MetaKind{expr.MetaTextScore}
	}
	return kinds, false
}

type matchIterator struct {
	x   *Exec
	m   *match.Matcher
	src Iterator
}

func (it *matchIterator) Next() (value.Doc, error) {
	for {
		d, err := it.src.Next()
		if d == nil || err != nil {
			return nil, err
		}
		ok, err := it.m.Match(it.x.Env, d)
		if err != nil {
			return nil, err
		}
		if ok {
			return d, nil
		}
	}
}

func (it *matchIterator) Close() { it.src.Close() }
