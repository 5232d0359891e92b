package flow

import (
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/value"
)

// Match is $match.
type Match struct {
	Filter  value.Doc
	Matcher *match.Matcher
	Text    bool // it holds a $text
}

func ParseMatch(p *stage.Parser, v value.Value) ([]stage.Stage, error) {
	if v.Kind() != value.KindDocument {
		return nil, mongoerr.New(15959, "the match filter must be an expression in an object")
	}
	if hasText(v.Doc()) && !p.First {
		return nil, TextNotFirst()
	}
	m, err := NewMatch(p, v.Doc())
	if err != nil {
		return nil, err
	}
	return []stage.Stage{m}, nil
}

func TextNotFirst() error {
	return mongoerr.New(17313, "$match with $text is only allowed as the first pipeline stage")
}

func NewMatch(p *stage.Parser, filter value.Doc) (*Match, error) {
	o := match.Options{Scope: p.Scope, Collation: p.Collation}
	text := hasText(filter)
	if text && p.Text != nil {
		o.Text = p.Text(p.DB, p.Coll)
	}
	m, err := match.Compile(filter, o)
	if err != nil {
		return nil, err
	}
	return &Match{Filter: filter, Matcher: m, Text: text}, nil
}

func (s *Match) Name() string { return "$match" }

func (s *Match) Spec() value.Value { return value.Document(s.Filter) }

func (s *Match) Open(x *stage.Exec, src stage.Iterator) (stage.Iterator, error) {
	return &matchIterator{x: x, m: s.Matcher, src: src}, nil
}

func (s *Match) Deps(d *stage.Deps) stage.Reach {
	if !FilterPaths(s.Filter, d.Add) {
		d.All()
	}
	return stage.SeesAll
}

func (s *Match) Effect() stage.Effect { return stage.Effect{} }

func (s *Match) Gives() (kinds []expr.MetaKind, all bool) {
	if s.Text {
		kinds = []expr.MetaKind{expr.MetaTextScore}
	}
	return kinds, false
}

type matchIterator struct {
	x   *stage.Exec
	m   *match.Matcher
	src stage.Iterator
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
