package lookup

import (
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/flow"
	"github.com/duskdb/duskdb/query/agg/pipeline"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/value"
)

// graphLookupStage is $graphLookup: a breadth-first search over a collection whose
// documents refer to each other.
type graphLookupStage struct {
	db, from    string
	as          []string
	connectFrom string
	connectTo   string
	startWith   *expr.Expr
	restrict    value.Doc // nil: none
	depthField  string    // "": none
	maxDepth    int64     // -1: none
	p           *stage.Parser
	source      value.Doc
}

// ParseGraphLookup compiles $graphLookup.
func ParseGraphLookup(p *stage.Parser, v value.Value) ([]stage.Stage, error) {
	if v.Kind() != value.KindDocument {
		return nil, mongoerr.Newf(mongoerr.FailedToParse, "the $graphLookup stage specification must be an object, but found %s", v.Kind())
	}
	if err := checkGraphFrom(p.DB, v.Doc()); err != nil {
		return nil, err
	}
	sub, err := p.Sub("$graphLookup")
	if err != nil {
		return nil, err
	}
	s := &graphLookupStage{db: p.DB, maxDepth: -1, source: v.Doc()}
	as := ""
	for k, f := range v.Doc().All() {
		if k == "as" && f.Kind() == value.KindString {
			as = strings.Clone(f.Str())
			continue
		}
		if err := s.option(p, k, f); err != nil {
			return nil, err
		}
	}
	if s.from == "" || as == "" || s.startWith == nil || s.connectFrom == "" || s.connectTo == "" {
		return nil, mongoerr.New(40105, "$graphLookup requires 'from', 'as', 'startWith', 'connectFromField', and 'connectToField' to be specified.")
	}
	for _, path := range []string{as, s.connectFrom, s.connectTo} {
		if err := stage.CheckFieldPath(path); err != nil {
			return nil, err
		}
	}
	s.as = strings.Split(as, ".")
	sub.Coll = s.from
	s.p = sub
	return []stage.Stage{s}, nil
}

// checkGraphFrom checks the name of the collection. mongod checks it before anything
// else.
func checkGraphFrom(db string, d value.Doc) error {
	from, ok := d.Get("from")
	switch {
	case !ok:
		return mongoerr.Newf(mongoerr.FailedToParse, "missing 'from' option to $graphLookup stage specification: %s", d)
	case from.Kind() != value.KindString:
		return mongoerr.Newf(mongoerr.FailedToParse, "$graphLookup 'from' field must be a string, but found %s", from.Kind())
	case !stage.ValidTarget(db, from.Str()):
		return mongoerr.Newf(mongoerr.InvalidNamespace, "invalid $graphLookup namespace: %s.%s", db, from.Str())
	}
	return nil
}

func (s *graphLookupStage) option(p *stage.Parser, k string, f value.Value) (err error) {
	switch k {
	case "startWith":
		s.startWith, err = p.Expr(f)
		return err
	case "maxDepth":
		return s.parseMaxDepth(f)
	case "restrictSearchWithMatch":
		if f.Kind() != value.KindDocument {
			return mongoerr.Newf(40185, "restrictSearchWithMatch must be an object, found %s", f.Kind())
		}
		s.restrict = f.Doc()
		if _, err := match.Compile(s.restrict, match.Options{Scope: p.Scope, Collation: p.Collation}); err != nil {
			return stage.WithPrefix(err, "Failed to parse 'restrictSearchWithMatch' option to $graphLookup")
		}
		return nil
	}
	to := s.name(k)
	switch {
	case to == nil:
		return mongoerr.Newf(40104, "Unknown argument to $graphLookup: %s", k)
	case f.Kind() != value.KindString:
		return mongoerr.Newf(40103, "expected string as argument for %s, found: %s", k, f.Kind())
	}
	*to = strings.Clone(f.Str())
	if k == "depthField" {
		return stage.CheckFieldPath(s.depthField)
	}
	return nil
}

// name returns where the argument of that name is kept, nil if $graphLookup has no such
// argument.
func (s *graphLookupStage) name(argument string) *string {
	switch argument {
	case "as":
		return new(string) // the caller keeps it in parts
	case "connectFromField":
		return &s.connectFrom
	case "connectToField":
		return &s.connectTo
	case "depthField":
		return &s.depthField
	case "from":
		return &s.from
	}
	return nil
}

func (s *graphLookupStage) parseMaxDepth(f value.Value) error {
	if !f.IsNumber() {
		return mongoerr.Newf(40100, "maxDepth must be numeric, found type: %s", f.Kind())
	}
	s.maxDepth = f.SafeInt64()
	if s.maxDepth < 0 {
		return mongoerr.Newf(40101, "maxDepth requires a nonnegative argument, found: %d", s.maxDepth)
	}
	if _, ok := f.AsInt64(); !ok {
		return mongoerr.Newf(40102, "maxDepth could not be represented as a long long: %d", s.maxDepth)
	}
	return nil
}

func (s *graphLookupStage) Name() string { return "$graphLookup" }

func (s *graphLookupStage) Spec() value.Value { return value.Document(s.source) }

func (s *graphLookupStage) Involved() []string { return []string{s.db + "." + s.from} }

func (s *graphLookupStage) Deps(d *stage.Deps) stage.Reach {
	s.startWith.Deps(d.Add, d.All)
	if len(s.as) > 1 {
		d.Add(s.as[0])
	}
	return stage.SeesAll
}

func (s *graphLookupStage) Effect() stage.Effect {
	return stage.Effect{Modified: s.as[:1]}
}

func (*graphLookupStage) OneForEach() bool { return true }

func (s *graphLookupStage) Open(x *stage.Exec, src stage.Iterator) (stage.Iterator, error) {
	inner := x.Sub()
	return stage.Pull(src, func() (value.Doc, error) {
		d, err := src.Next()
		if d == nil || err != nil {
			return nil, err
		}
		v, err := s.startWith.Eval(x.Env, d)
		if err != nil {
			return nil, err
		}
		g := &graphSearch{x: inner, s: s, visited: map[string]struct{}{}, searched: map[string]struct{}{}}
		if err := g.search(v); err != nil {
			return nil, err
		}
		return stage.SetPath(d, s.as, value.NewArray(g.found...)), nil
	}), nil
}

// graphSearch is the search for one document.
type graphSearch struct {
	x        *stage.Exec
	s        *graphLookupStage
	visited  map[string]struct{} // _id of documents found
	searched map[string]struct{} // values that were searched for
	frontier []value.Value       // values to search for next
	found    []value.Value
	size     int64
	key      []byte
}

func (g *graphSearch) search(start value.Value) error {
	if start.Kind() == value.KindArray {
		for v := range start.Doc().Values() {
			g.ask(v)
		}
	} else if !start.IsMissing() {
		g.ask(start)
	}
	for depth := int64(0); len(g.frontier) > 0 && (g.s.maxDepth < 0 || depth <= g.s.maxDepth); depth++ {
		if err := g.step(depth); err != nil {
			return err
		}
	}
	return nil
}

// ask puts a value on the frontier unless it was searched for before.
func (g *graphSearch) ask(v value.Value) {
	g.key = value.AppendKeyWith(g.key[:0], v, g.s.p.Collation)
	if _, done := g.searched[string(g.key)]; done {
		return
	}
	g.searched[string(g.key)] = struct{}{}
	g.frontier = append(g.frontier, v)
	g.size += int64(len(g.key)+len(v.Bytes())) + 64
}

// step finds the documents that the frontier refers to.
func (g *graphSearch) step(depth int64) error {
	m, err := flow.NewMatch(g.s.p, g.filter())
	if err != nil {
		return err
	}
	g.frontier = nil
	p := pipeline.New([]stage.Stage{m}, &g.s.p.Options)
	docs, err := p.OpenOn(g.x, g.s.db, g.s.from)
	if err != nil {
		return err
	}
	defer docs.Close()
	for {
		d, err := docs.Next()
		if d == nil || err != nil {
			return err
		}
		if err := g.visit(d, depth); err != nil {
			return err
		}
	}
}

func (g *graphSearch) filter() value.Doc {
	var plain, regexes []value.Value
	for _, v := range g.frontier {
		if v.Kind() == value.KindRegex || v.Kind() == value.KindUndefined {
			regexes = append(regexes, value.Document(equals(g.s.connectTo, v)))
			continue
		}
		plain = append(plain, v)
	}
	f := value.NewDoc(g.s.connectTo, value.Document(value.NewDoc("$in", value.NewArray(plain...))))
	if len(regexes) > 0 {
		f = value.NewDoc("$or", value.NewArray(append(regexes, value.Document(f))...))
	}
	if g.s.restrict == nil {
		return f
	}
	return flow.Both(f, g.s.restrict)
}

func (g *graphSearch) visit(d value.Doc, depth int64) error {
	id, ok := d.Get("_id")
	if !ok {
		return mongoerr.Newf(40271, "Documents in the '%s.%s' namespace must contain an _id for de-duplication in $graphLookup", g.s.db, g.s.from)
	}
	g.key = value.AppendKey(g.key[:0], id)
	if _, seen := g.visited[string(g.key)]; seen {
		return nil
	}
	g.visited[string(g.key)] = struct{}{}
	out := d
	if g.s.depthField != "" {
		out = stage.SetPath(d, strings.Split(g.s.depthField, "."), value.Int64(depth))
	}
	g.found = append(g.found, value.Document(out))
	if g.size += int64(len(out)+len(g.key)) + 96; g.size > g.x.SortLimit() {
		return mongoerr.New(40099, "$graphLookup reached maximum memory consumption")
	}
	eachValue(d, strings.Split(g.s.connectFrom, "."), g.ask)
	return nil
}
