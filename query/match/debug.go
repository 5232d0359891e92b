package match

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/duskdb/duskdb/value"
)

// DebugString returns the tree of the filter in its normal form, one line for
// each node, as mongod quotes it in the errors of its planner. Programs parse
// it: Parse Server reads the field that lacks a geo index from it.
func (m *Matcher) DebugString() string {
	w := treeWriter{}
	w.node(normalize(m.root), 0)
	return w.String()
}

// treeWriter writes one node per line, indented by four spaces for each level.
type treeWriter struct{ strings.Builder }

func (w *treeWriter) line(depth int, format string, args ...any) {
	for range depth {
		w.WriteString("    ")
	}
	fmt.Fprintf(w, format, args...)
	w.WriteByte('\n')
}

// node writes a logical node and the nodes below it.
func (w *treeWriter) node(n Node, depth int) {
	switch n := n.(type) {
	case *And:
		w.tree(depth, "$and", n.Nodes)
	case *Or:
		w.tree(depth, "$or", n.Nodes)
	case *Nor:
		w.tree(depth, "$nor", n.Nodes)
	case *Not:
		w.tree(depth, "$not", []Node{n.Node})
	case *ElemMatchObject:
		w.tree(depth, n.Path.String()+" $elemMatch (obj)", []Node{n.Node})
	case *ElemMatchValue:
		w.tree(depth, n.Path.String()+" $elemMatch (value)", n.Nodes)
	case *Constant:
		if n.Result {
			w.line(depth, "$alwaysTrue: 1")
		} else {
			w.line(depth, "$alwaysFalse: 1")
		}
	case *Expr:
		w.line(depth, "$expr %v", n.Expr.Value())
	case *Text:
		q := n.Query
		w.line(depth, "TEXT : query=%s, language=%s, caseSensitive=%s, diacriticSensitive=%s, tag=NULL",
			q.Search, q.Language, digit(q.CaseSensitive), digit(q.DiacriticSensitive))
	case Leaf:
		w.leaf(n, depth)
	default:
		w.line(depth, "%v", specificationOf(n))
	}
}

func (w *treeWriter) tree(depth int, head string, nodes []Node) {
	w.line(depth, "%s", head)
	for _, c := range nodes {
		w.node(c, depth+1)
	}
}

// leaf writes a leaf in mongod's notation, which differs by operator.
func (w *treeWriter) leaf(n Leaf, depth int) {
	path := n.FieldPath().String()
	switch n := n.(type) {
	case *Compare:
		w.line(depth, "%s %s %v", path, n.Op, n.Value)
	case *In:
		var list strings.Builder
		for v := range n.Values.All() {
			fmt.Fprintf(&list, "%v ", v)
		}
		for _, r := range n.Regexes {
			fmt.Fprintf(&list, "/%s/%s ", r.Pattern, r.Options)
		}
		w.line(depth, "%s $in [ %s]", path, list.String())
	case *Regex:
		w.line(depth, "%s regex /%s/%s", path, n.Pattern, n.Options)
	case *Mod:
		w.line(depth, "%s mod %d %% x == %d", path, n.Divisor, n.Remainder)
	case *Exists:
		w.line(depth, "%s exists", path)
	case *Size:
		w.line(depth, "%s $size : %d", path, n.N)
	case *Type:
		w.line(depth, "%s $type: %v", path, specificationOf(n).Lookup(path).Doc().Lookup("$type"))
	case *Bits:
		positions := make([]string, len(n.Positions))
		for i, p := range n.Positions {
			positions[i] = strconv.Itoa(int(p))
		}
		w.line(depth, "%s %s: [%s]", path, n.Op, strings.Join(positions, ", "))
	case *Geo:
		w.line(depth, "GEO raw = %v", specificationOf(n))
	case *Near:
		w.near(n, depth)
	default:
		w.line(depth, "%v", specificationOf(n))
	}
}

// near writes a number as a C++ stream does: six digits, and the greatest
// double where there is no limit.
func (w *treeWriter) near(n *Near, depth int) {
	farthest := "1.79769e+308"
	if !math.IsInf(n.Max, 1) {
		farthest = strconv.FormatFloat(n.Max, 'g', 6, 64)
	}
	w.line(depth, "GEONEAR  field=%s maxdist=%s isNearSphere=%s", n.Path.String(), farthest, digit(n.nearSphere))
}

// specificationOf returns the node as a filter.
func specificationOf(n Node) value.Doc {
	b := value.NewBuilder()
	n.appendTo(b)
	return b.Doc()
}

func digit(b bool) string {
	if b {
		return "1"
	}
	return "0"
}
