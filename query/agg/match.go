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

// hasText reports whether a filter contains $text at the top or under a
// logical operator.
func hasText(filter value.Doc) bool {
	for k, v := range filter.All() {
		switch k {
		case "$text":
			return true
		case "$and", "$or", "$nor":
			for e := range v.Doc().Values() {
				if e.Kind() == value.KindDocument && hasText(e.Doc()) {
					return true
				}
			}
		}
	}
	return false
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

// filterPaths reports the paths that a filter reads; false if they cannot be
// told ($where, $text, $jsonSchema at the top, …).
func filterPaths(filter value.Doc, add func(string)) bool {
	for k, v := range filter.All() {
		switch {
		case k == "$comment" || k == "$sampleRate" || k == "$alwaysTrue" || k == "$alwaysFalse":
		case k == "$and" || k == "$or" || k == "$nor":
			for e := range v.Doc().Values() {
				if e.Kind() != value.KindDocument || !filterPaths(e.Doc(), add) {
					return false
				}
			}
		case k == "$expr":
			if !expressionPaths(v, add) {
				return false
			}
		case k == "" || k[0] == '$':
			return false
		default:
			add(k)
		}
	}
	return true
}

// expressionPaths reports the paths an $expr reads. The expression was
// compiled before with its variables, so here unknown ones do not matter:
// an expression that does not compile alone is simply not analysed.
func expressionPaths(v value.Value, add func(string)) bool {
	e, err := expr.Compile(v, nil)
	if err != nil || e.Volatile() || len(e.Meta()) > 0 {
		return false
	}
	whole := false
	e.Deps(add, func() { whole = true })
	return !whole
}
