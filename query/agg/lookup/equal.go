package lookup

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/duskdb/duskdb/query/agg/flow"
	"github.com/duskdb/duskdb/query/agg/pipeline"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/value"
)

// slot is the equality of a $lookup, compiled once. It holds the place in the filter
// where each run sets the value to compare with. It belongs to one run.
type slot struct {
	src *lookupSource
	eq  *match.Compare
	// prepared is the host's plan for the request. It is nil before the plan was
	// requested, and if the host does not prepare requests.
	prepared  stage.Prepared
	requested bool
	operand   *expr.Expr // gives the value, from variables alone; nil: the value of localField
	steady    bool       // an input has the same value each time

	// Without an index, see runScanned.
	opened   int // number of times the collection was opened
	table    *hashTable
	tooLarge bool // reports whether the documents are too many for a table
	key      []byte
}

// fits reports whether a slot can hold v: a scalar that a filter compares as it is.
func fits(v value.Value) bool {
	switch v.Kind() {
	case value.KindInt32, value.KindInt64, value.KindDouble, value.KindDecimal:
		return !v.IsNaN()
	case value.KindString, value.KindDateTime, value.KindObjectID, value.KindBool, value.KindTimestamp, value.KindBinary:
		return true
	}
	return false
}

// only returns the value of a path if it is a single scalar and the path meets no
// array.
func only(d value.Doc, path value.Path) (v value.Value, ok bool) {
	v, plain := stage.PlainPath(d, path.Parts())
	return v, plain && fits(v)
}

// newSlot compiles the equality of a $lookup in front of its pipeline. It returns nil
// if the filter has no place for a value.
func newSlot(s *lookupStage) (*slot, error) {
	mark := unusedID(s.sub.Stages())
	m, err := flow.NewMatch(s.p, equals(s.foreign, mark))
	if err != nil {
		return nil, err
	}
	stages := joinStages(s.p, m, s.sub.Stages())
	first, ok := stages[0].(*flow.Match)
	if !ok {
		return nil, nil
	}
	eq := findEquality(first.Matcher.Root(), s.foreign, mark)
	if eq == nil {
		return nil, nil
	}
	return &slot{src: newLookupSource(s.part(stages)), eq: eq, steady: true}, nil
}

// unusedID returns a value that does not occur in the filter at the head of the
// stages. A condition with this value can be found again after both are compiled into
// one filter.
func unusedID(stages []stage.Stage) value.Value {
	var id value.OID
	if len(stages) > 0 {
		if first, ok := stages[0].(*flow.Match); ok {
			for n := uint32(1); bytes.Contains(first.Filter, id[:]); n++ {
				binary.BigEndian.PutUint32(id[8:], n)
			}
		}
	}
	return value.ObjectID(id)
}

// newExprSlot looks for {$expr: {$eq: ["$path", <variables>]}} in the $match
// at the head of a sub-pipeline. If the variables evaluate to a scalar, all documents
// that match the condition also match {path: scalar}, for which an index can be used.
// It returns nil if there is no such condition.
func newExprSlot(s *lookupStage) (*slot, error) {
	if len(s.sub.Stages()) == 0 {
		return nil, nil
	}
	first, ok := s.sub.Stages()[0].(*flow.Match)
	if !ok || first.Text {
		return nil, nil
	}
	path, operand := demandedEquality(first.Matcher.Root())
	if operand == nil {
		return nil, nil
	}
	joined := *s
	joined.foreign = path
	sl, err := newSlot(&joined)
	if sl != nil {
		sl.operand = operand
		sl.steady = !slices.ContainsFunc(s.let.Exprs(), (*expr.Expr).Volatile)
	}
	return sl, err
}

// demandedEquality finds an equality that every matching document must satisfy,
// between a field and an expression of variables alone.
func demandedEquality(n match.Node) (path string, operand *expr.Expr) {
	switch n := n.(type) {
	case *match.And:
		for _, child := range n.Nodes {
			if path, operand = demandedEquality(child); operand != nil {
				return path, operand
			}
		}
	case *match.Expr:
		return equalityWithin(n.Expr)
	}
	return "", nil
}

func equalityWithin(e *expr.Expr) (path string, operand *expr.Expr) {
	name, args, ok := e.Call()
	switch {
	case !ok:
	case name == "$and":
		for _, arg := range args {
			if path, operand = equalityWithin(arg); operand != nil {
				return path, operand
			}
		}
	case name == "$eq" && len(args) == 2:
		for i, arg := range args {
			other := args[1-i]
			if path, ok := arg.FieldPath(); ok && !hasPosition(path) && ofVariables(other) {
				return path, other
			}
		}
	}
	return "", nil
}

// ofVariables reports whether an expression has the same value for all
// documents.
func ofVariables(e *expr.Expr) bool {
	fixed := !e.Volatile() && len(e.Meta()) == 0
	e.Deps(func(string) { fixed = false }, func() { fixed = false })
	return fixed
}

// hasPosition reports whether a path has a part that a filter might take for
// a position in an array.
func hasPosition(path string) bool {
	for part := range strings.SplitSeq(path, ".") {
		if part == "" || part[0] >= '0' && part[0] <= '9' {
			return true
		}
	}
	return false
}

func findEquality(n match.Node, path string, mark value.Value) *match.Compare {
	switch n := n.(type) {
	case *match.And:
		for _, child := range n.Nodes {
			if eq := findEquality(child, path, mark); eq != nil {
				return eq
			}
		}
	case *match.Compare:
		if n.Op == match.OpEq && n.Path.String() == path && value.Equal(n.Value, mark) {
			return n
		}
	}
	return nil
}

// joinStages puts the equality in front of the user's stages, but behind
// $documents, and joins it with a $match at their head.
func joinStages(p *stage.Parser, m *flow.Match, stages []stage.Stage) []stage.Stage {
	if len(stages) == 0 {
		return []stage.Stage{m}
	}
	if pipeline.IsSource(stages[0]) {
		return append([]stage.Stage{stages[0], m}, stages[1:]...)
	}
	if first, ok := stages[0].(*flow.Match); ok {
		if joined, err := flow.NewMatch(p, flow.Both(m.Filter, first.Filter)); err == nil {
			return append([]stage.Stage{joined}, stages[1:]...)
		}
	}
	return append([]stage.Stage{m}, stages...)
}

// equalityFilter asks for the documents whose foreign field equals any of
// the values at the local path.
func equalityFilter(local value.Path, foreign string, d value.Doc) value.Doc {
	var values []value.Value
	plain := true
	eachValue(d, local.Parts(), func(v value.Value) {
		if k := v.Kind(); k == value.KindRegex || k == value.KindUndefined {
			plain = false
		}
		values = append(values, v)
	})
	if len(values) == 0 {
		values = []value.Value{value.Null()}
	}
	if len(values) == 1 {
		return equals(foreign, values[0])
	}
	if plain {
		in := value.Document(value.NewDoc("$in", value.NewArray(values...)))
		return value.NewDoc(foreign, in)
	}
	// Not $in: it would match regular expressions instead of comparing them.
	branches := make([]value.Value, len(values))
	for i, v := range values {
		branches[i] = value.Document(equals(foreign, v))
	}
	return value.NewDoc("$or", value.NewArray(branches...))
}

// equals asks for equality with v; undefined equals only itself.
func equals(path string, v value.Value) value.Doc {
	op, arg := "$eq", v
	if v.Kind() == value.KindUndefined {
		op, arg = "$type", value.Int32(int32(value.KindUndefined))
	}
	return value.NewDoc(path, value.Document(value.NewDoc(op, arg)))
}

// eachValue yields the values at a path, going through arrays on the way
// and into an array at its end.
func eachValue(d value.Doc, parts []string, yield func(value.Value)) {
	v := d.Lookup(parts[0])
	rest := parts[1:]
	switch {
	case len(rest) == 0 && v.Kind() == value.KindArray:
		for e := range v.Doc().Values() {
			yield(e)
		}
	case len(rest) == 0:
		if !v.IsMissing() {
			yield(v)
		}
	case v.Kind() == value.KindDocument:
		eachValue(v.Doc(), rest, yield)
	case v.Kind() == value.KindArray:
		eachElement(v.Doc(), rest, yield)
	}
}

// eachElement follows the rest of the path inside an array: to the element at the
// position that a number names, and into each element that is a document.
func eachElement(array value.Doc, parts []string, yield func(value.Value)) {
	if i := value.ParsePath(strings.Join(parts, ".")).ArrayIndex(0); i >= 0 {
		v := array.Index(i)
		switch {
		case len(parts) == 1 && v.Kind() == value.KindArray:
			for e := range v.Doc().Values() {
				yield(e)
			}
		case len(parts) == 1 && !v.IsMissing():
			yield(v)
		case len(parts) > 1 && v.Kind() == value.KindDocument:
			eachValue(v.Doc(), parts[1:], yield)
		}
	}
	for e := range array.Values() {
		if e.Kind() == value.KindDocument {
			eachValue(e.Doc(), parts, yield)
		}
	}
}
