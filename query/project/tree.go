package project

import (
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/value"
)

// node is one level of the tree.
type node struct {
	fields   []field
	index    value.NameIndex // an index of the fields, if there are many
	computed bool            // something below is computed
	plain    int             // fields that are found in documents, not computed
}

// field is one name of a level. Exactly one of child, expr, elem is set, or
// none: then the field is included or excluded.
type field struct {
	name  string
	child *node
	expr  *expr.Expr
	elem  *match.Matcher // $elemMatch of find
	later bool           // kept even in an exclusion, for a later step ($slice)
}

func (f *field) isComputed() bool { return f.expr != nil || f.elem != nil }

// manyFields is the number of fields from which on a map is faster than a
// scan.
const manyFields = 12

func (n *node) find(name string) int {
	if len(n.fields) >= manyFields {
		return n.index.Find(name, n.name)
	}
	for i := range n.fields {
		if n.fields[i].name == name {
			return i
		}
	}
	return -1
}

// add adds a leaf or a level at the end of a path, and creates the levels on
// the way.
func (n *node) add(path string, f field) error {
	parts := strings.Split(path, ".")
	for i, part := range parts {
		at := n.find(part)
		if i == len(parts)-1 {
			if at >= 0 {
				return mongoerr.Newf(31250, "Path collision at %s", path)
			}
			f.name = part
			n.append(f)
			return nil
		}
		if at < 0 {
			at = len(n.fields)
			n.append(field{name: part, child: &node{}})
		}
		if n = n.fields[at].child; n == nil {
			return mongoerr.Newf(31249, "Path collision at %s remaining portion %s", path, strings.Join(parts[1:], "."))
		}
	}
	return nil
}

// append adds a new field.
func (n *node) append(f field) {
	n.fields = append(n.fields, f)
	switch {
	case len(n.fields) > manyFields:
		n.index.Add(f.name, len(n.fields)-1, n.name)
	case len(n.fields) == manyFields:
		n.number()
	}
}

func (n *node) name(i int) string { return n.fields[i].name }

// number builds the index of the fields.
func (n *node) number() {
	n.index.Reset()
	for i := range n.fields {
		n.index.Add(n.fields[i].name, i, n.name)
	}
}

// level finds the level at the end of a path; nil if it does not exist.
func (n *node) level(path string) *node {
	for part := range strings.SplitSeq(path, ".") {
		at := n.find(part)
		if at < 0 || n.fields[at].child == nil {
			return nil
		}
		n = n.fields[at].child
	}
	return n
}

func (n *node) remove(name string) {
	for i := range n.fields {
		if n.fields[i].name == name {
			n.fields = append(n.fields[:i], n.fields[i+1:]...)
			if len(n.fields) >= manyFields {
				n.number()
			}
			return
		}
	}
}

// seal prepares the finished tree for application.
func (n *node) seal() {
	for i := range n.fields {
		f := &n.fields[i]
		if f.child != nil {
			f.child.seal()
		}
		if f.isComputed() || f.child != nil && f.child.computed {
			n.computed = true
		}
		if !f.isComputed() {
			n.plain++
		}
	}
}

// each visits the leaves with their paths.
func (n *node) each(prefix string, visit func(path string, f *field)) {
	for i := range n.fields {
		f := &n.fields[i]
		if f.child != nil {
			f.child.each(prefix+f.name+".", visit)
		} else {
			visit(prefix+f.name, f)
		}
	}
}

func (n *node) expressions(visit func(e *expr.Expr)) {
	n.each("", func(_ string, f *field) {
		if f.expr != nil {
			visit(f.expr)
		}
	})
}
