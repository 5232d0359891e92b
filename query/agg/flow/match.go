package flow

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
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

// ParseMatch compiles $match.
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

// TextNotFirst is the error for a $text in a $match that is not the first stage.
func TextNotFirst() error {
	return mongoerr.New(17313, "$match with $text is only allowed as the first pipeline stage")
}

// NewMatch makes a $match of a filter.
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

// Name is the name of the stage.
func (s *Match) Name() string { return "$match" }

// Spec is the stage as explain shows it.
func (s *Match) Spec() value.Value { return value.Document(s.Filter) }

// Open runs the stage.
func (s *Match) Open(x *stage.Exec, src stage.Iterator) (stage.Iterator, error) {
	return &matchIterator{x: x, m: s.Matcher, src: src}, nil
}

// Deps notes what the stage reads.
func (s *Match) Deps(d *stage.Deps) stage.Reach {
	if !FilterPaths(s.Filter, d.Add) {
		d.All()
	}
	return stage.SeesAll
}

// Effect says what the stage changes.
func (s *Match) Effect() stage.Effect { return stage.Effect{} }

// Gives lists the metadata that the documents may have.
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
