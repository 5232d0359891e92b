package exec

import (
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/value"
)

// keyDocs makes documents from index entries, with the fields whose values are in the
// keys. A covered query returns them in place of the records. For other queries the
// filter is applied to them before a record is fetched.
type keyDocs struct {
	desc   []bool
	read   []bool // whether the keys have the value of the field
	tree   []keyNode
	values []value.Value
	reader value.KeyReader
	doc    value.Builder
	arena  []byte
}

// keyNode is a field of the documents: one of the index, or one with fields
// below it.
type keyNode struct {
	name  string
	field int // position of the index field; -1: only a parent of fields
	below []keyNode
}

// keyArena is the size of the blocks in which documents are allocated.
const keyArena = 16 << 10

func newKeyDocs(p *plan.Plan) *keyDocs {
	x := p.Index
	k := &keyDocs{read: x.Readable(), desc: make([]bool, len(x.Fields)), values: make([]value.Value, len(x.Fields))}
	for i := range x.Fields {
		k.desc[i] = x.Fields[i].Desc
		if k.read[i] || i == p.Skip-1 { // distinct returns the elements of arrays
			k.tree = addKeyNode(k.tree, value.ParsePath(x.Fields[i].Path).Parts(), i)
		}
	}
	return k
}

// addKeyNode adds a field to the tree. A field below another field of the index is not
// added: the value of the outer field contains it.
func addKeyNode(list []keyNode, path []string, field int) []keyNode {
	at := -1
	for i := range list {
		if list[i].name == path[0] {
			at = i
		}
	}
	if at < 0 {
		at = len(list)
		list = append(list, keyNode{name: path[0], field: -1})
	}
	n := &list[at]
	if len(path) == 1 {
		n.field = field
	} else {
		n.below = addKeyNode(n.below, path[1:], field)
	}
	return list
}

// of makes the document of an entry; ok is false if the record must be read.
func (k *keyDocs) of(entry []byte) (d value.Doc, ok bool) {
	k.reader.Reset(entry, k.desc)
	for i := range k.values {
		if k.values[i], ok = k.reader.Next(k.desc[i]); !ok {
			return nil, false
		}
	}
	k.doc.Reset(k.doc.Bytes()[:0])
	k.append(k.tree)
	return k.keep(k.doc.Doc()), true
}

func (k *keyDocs) append(tree []keyNode) {
	for i := range tree {
		n := &tree[i]
		switch {
		case n.field >= 0:
			k.doc.Append(n.name, k.values[n.field])
		case k.any(n.below):
			k.doc.StartDocument(n.name)
			k.append(n.below)
			k.doc.End()
		}
	}
}

// any reports whether a field of the tree is there.
func (k *keyDocs) any(tree []keyNode) bool {
	for i := range tree {
		n := &tree[i]
		if n.field >= 0 && !k.values[n.field].IsMissing() || n.field < 0 && k.any(n.below) {
			return true
		}
	}
	return false
}

// keep copies a document to where it stays as it is.
func (k *keyDocs) keep(d value.Doc) value.Doc {
	if cap(k.arena)-len(k.arena) < len(d) {
		k.arena = make([]byte, 0, max(keyArena, len(d)))
	}
	start := len(k.arena)
	k.arena = append(k.arena, d...)
	return k.arena[start:len(k.arena):len(k.arena)]
}
