package match

import (
	"fmt"
	"strings"

	"github.com/duskdb/duskdb/value"
)

// DebugString returns the tree of the filter in its normal form, one line for
// each node, as mongod quotes it in the errors of its planner. Programs parse
// it: Parse Server reads the field that lacks a geo index from it.
func (m *Matcher) DebugString() string {
	w := &treeWriter{}
	normalize(m.root).debug(w, 0)
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

func (w *treeWriter) tree(depth int, head string, nodes []Node) {
	w.line(depth, "%s", head)
	for _, c := range nodes {
		c.debug(w, depth+1)
	}
}

// other writes a node for which mongod has no notation of its own.
func (w *treeWriter) other(n Node, depth int) { w.line(depth, "%v", specificationOf(n)) }

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
