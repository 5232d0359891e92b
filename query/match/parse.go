package match

import (
	"slices"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// element is one name and value of a filter.
type element struct {
	name string
	v    value.Value
}

// String prints the element as mongod does in messages: $size: -1.
func (e element) String() string { return e.name + ": " + e.v.String() }

// fieldParser parses an operator under a path: {path: {$op: e}}. context is
// the whole operator document, for operators that depend on each other ($regex
// and $options).
type fieldParser func(p *parser, path value.Path, context value.Doc, e element) (Node, error)

// topParser parses an operator in the place of a path: {$op: e}. A nil node
// without an error adds nothing.
type topParser func(p *parser, e element, nested bool) (Node, error)

// fieldOperators and topOperators map names to parsers. They are filled in
// init because $not, $elemMatch and $and refer back to them.
var (
	fieldOperators map[string]fieldParser
	topOperators   map[string]topParser
)

// init fills the tables of operators.
func init() {
	fieldOperators = map[string]fieldParser{
		"$all":           parseAll,
		"$bitsAllClear":  parseBits(BitsAllClear),
		"$bitsAllSet":    parseBits(BitsAllSet),
		"$bitsAnyClear":  parseBits(BitsAnyClear),
		"$bitsAnySet":    parseBits(BitsAnySet),
		"$elemMatch":     parseElemMatch,
		"$eq":            parseCompare(OpEq),
		"$exists":        parseExists,
		"$geoIntersects": parseGeo(false),
		"$geoNear":       parseLateNear,
		"$geoWithin":     parseGeo(true),
		"$gt":            parseCompare(OpGt),
		"$gte":           parseCompare(OpGte),
		"$in":            parseIn,
		"$lt":            parseCompare(OpLt),
		"$lte":           parseCompare(OpLte),
		"$mod":           parseMod,
		"$ne":            parseNe,
		"$near":          parseLateNear,
		"$nearSphere":    parseLateNear,
		"$nin":           parseNin,
		"$not":           parseNot,
		"$options":       parseOptions,
		"$regex":         parseRegex,
		"$size":          parseSize,
		"$type":          parseType,
		"$where":         parseFieldWhere,
		"$within":        parseGeo(true),
	}
	topOperators = map[string]topParser{
		"$alwaysFalse": parseConstant(false),
		"$alwaysTrue":  parseConstant(true),
		"$and":         parseList(func(nodes []Node) Node { return &And{Nodes: nodes} }),
		"$comment":     parseComment,
		"$db":          parseDBRef,
		"$expr":        parseExpr,
		"$id":          parseDBRef,
		"$jsonSchema":  parseSchemaOperator,
		"$nor":         parseList(func(nodes []Node) Node { return &Nor{Nodes: nodes} }),
		"$or":          parseList(func(nodes []Node) Node { return &Or{Nodes: nodes} }),
		"$ref":         parseDBRef,
		"$sampleRate":  parseSampleRate,
		"$text":        parseText,
		"$where":       parseWhere,
	}
}

type parser struct {
	o Options
	// written is set if leaves are to know how the client wrote them.
	written bool
	last    value.Path // the one parsed last, which many conditions may share
}

// path parses a path.
func (p *parser) path(dotted string) value.Path {
	if p.last == (value.Path{}) || p.last.String() != dotted {
		p.last = value.ParsePath(dotted)
	}
	return p.last
}

// filter parses a whole filter document. nested is set if the document is not
// the whole filter but part of one ($elemMatch).
func (p *parser) filter(d value.Doc, nested bool) (Node, error) {
	and := &And{}
	it := d.Iter()
	for it.Next() {
		e := element{it.Key(), it.Value()}
		var n Node
		var err error
		if e.name != "" && e.name[0] == '$' {
			n, err = p.top(e, nested)
		} else {
			n, err = p.field(e)
		}
		if err != nil {
			return nil, err
		}
		if n != nil {
			and.Nodes = append(and.Nodes, n)
		}
	}
	scriptsLast(and.Nodes)
	return simplify(and), nil
}

// scriptsLast moves $where after its siblings, so that it runs only on
// documents that match these.
func scriptsLast(nodes []Node) {
	slices.SortStableFunc(nodes, func(a, b Node) int {
		_, x := a.(*Where)
		_, y := b.(*Where)
		switch {
		case x == y:
			return 0
		case x:
			return 1
		}
		return -1
	})
}

// simplify unwraps an And of one.
func simplify(and *And) Node {
	if len(and.Nodes) == 1 {
		return and.Nodes[0]
	}
	return and
}

func (p *parser) top(e element, nested bool) (Node, error) {
	parse, ok := topOperators[e.name]
	if ok {
		return parse(p, e, nested)
	}
	if e.name == "$not" {
		return nil, mongoerr.New(mongoerr.BadValue,
			"unknown top level operator: $not. If you are trying to negate an entire expression, use $nor.")
	}
	return nil, mongoerr.Newf(mongoerr.BadValue, "unknown top level operator: %s. If you have a field name that "+
		"starts with a '$' symbol, consider using $getField or $setField.", e.name)
}

// field parses path: value, path: /regex/ and path: {$op: …}.
func (p *parser) field(e element) (Node, error) {
	path := p.path(e.name)
	switch {
	case IsCondition(e.v):
		and := &And{}
		if err := p.operators(and, path, e.v.Doc()); err != nil {
			return nil, err
		}
		return simplify(and), nil
	case e.v.Kind() == value.KindRegex:
		pattern, options := e.v.Regex()
		return p.implicit(e)(regexNode(newRegex(path, pattern, options)))
	}
	return p.implicit(e)(p.compare(OpEq, path, e.v))
}

// implicit marks a leaf as written in the form {path: value}.
func (p *parser) implicit(e element) func(Node, error) (Node, error) {
	return func(n Node, err error) (Node, error) {
		if err == nil {
			p.remember(n, element{v: e.v})
		}
		return n, err
	}
}

// operators parses the operators of one path into and.
func (p *parser) operators(and *And, path value.Path, d value.Doc) error {
	if isNear(d) {
		n, err := p.near(path, d)
		if err == nil {
			and.Nodes = append(and.Nodes, n)
		}
		return err
	}
	it := d.Iter()
	for it.Next() {
		e := element{it.Key(), it.Value()}
		parse, ok := fieldOperators[e.name]
		if !ok {
			return mongoerr.Newf(mongoerr.BadValue, "unknown operator: %s", e.name)
		}
		n, err := parse(p, path, d, e)
		if err != nil {
			return err
		}
		if n != nil {
			p.remember(n, e)
			and.Nodes = append(and.Nodes, n)
		}
	}
	return nil
}

// remember stores the original operator in its leaf.
func (p *parser) remember(n Node, e element) {
	if !p.written {
		return
	}
	if negation, ok := n.(*Not); ok && negation.Op != "" {
		n = negation.Node
	}
	if l, ok := n.(Leaf); ok {
		l.setOrigin(e)
	}
}

// IsCondition reports whether a field's value in a filter is made of operators: a DBRef is a
// value that the field must equal.
func IsCondition(v value.Value) bool { return isOperatorDoc(v, false) }

// isOperatorDoc reports whether v is {$op: …}: a document whose first name
// starts with $ and which is not a DBRef. A DBRef has $ref and $id; if
// incomplete is set, one of $ref, $id and $db is enough.
func isOperatorDoc(v value.Value, incomplete bool) bool {
	if v.Kind() != value.KindDocument {
		return false
	}
	name, _ := v.Doc().First()
	if name == "" || name[0] != '$' {
		return false
	}
	return !isDBRef(v.Doc(), incomplete)
}

func isDBRef(d value.Doc, incomplete bool) bool {
	ref, id := d.Has("$ref"), d.Has("$id")
	if incomplete {
		return ref || id || d.Has("$db")
	}
	return ref && id
}

// parseList returns the parser of $and, $or or $nor: a non-empty array of
// filters.
func parseList(build func([]Node) Node) topParser {
	return func(p *parser, e element, nested bool) (Node, error) {
		if e.v.Kind() != value.KindArray {
			return nil, mongoerr.Newf(mongoerr.BadValue, "%s must be an array", e.name)
		}
		if e.v.Doc().IsEmpty() {
			return nil, mongoerr.New(mongoerr.BadValue, "$and/$or/$nor must be a nonempty array")
		}
		nodes := make([]Node, 0, e.v.Doc().Len())
		for v := range e.v.Doc().Values() {
			if v.Kind() != value.KindDocument {
				return nil, mongoerr.New(mongoerr.BadValue, "$or/$and/$nor entries need to be full objects")
			}
			n, err := p.filter(v.Doc(), nested)
			if err != nil {
				return nil, err
			}
			nodes = append(nodes, n)
		}
		return build(nodes), nil
	}
}

// parseNot parses $not: a document of operators or a regular expression.
func parseNot(p *parser, path value.Path, _ value.Doc, e element) (Node, error) {
	switch {
	case e.v.Kind() == value.KindRegex:
		pattern, options := e.v.Regex()
		return not("")(regexNode(newRegex(path, pattern, options)))
	case e.v.Kind() != value.KindDocument:
		return nil, mongoerr.New(mongoerr.BadValue, "$not needs a regex or a document")
	case e.v.Doc().IsEmpty():
		return nil, mongoerr.New(mongoerr.BadValue, "$not cannot be empty")
	}
	and := &And{}
	if err := p.operators(and, path, e.v.Doc()); err != nil {
		return nil, err
	}
	return &Not{Node: simplify(and)}, nil
}

func parseConstant(result bool) topParser {
	return func(_ *parser, e element, _ bool) (Node, error) {
		n, err := integer(e)
		if err != nil {
			return nil, err
		}
		if n != 1 {
			return nil, mongoerr.Newf(mongoerr.FailedToParse, "%s must be an integer value of 1", e.name)
		}
		return &Constant{result}, nil
	}
}

// parseComment accepts any value and adds no condition.
func parseComment(*parser, element, bool) (Node, error) { return nil, nil }

// parseDBRef parses $ref, $id and $db as field names in a filter on DBRefs.
func parseDBRef(p *parser, e element, _ bool) (Node, error) {
	n := &Compare{leafPath: leafPath{Path: value.ParsePath(e.name)}, Op: OpEq, Value: e.v}
	if e.name == "$id" {
		n.Collation = p.o.Collation
	}
	return n, nil
}
