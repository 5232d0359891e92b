package transfer

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/duskdb/duskdb/value"
)

// tree is a document under construction, in the order of its fields.
type tree struct {
	names  []string
	leafs  []value.Value
	below  []*tree        // nil: a leaf
	arrays bool           // names that are numbers make arrays
	array  bool           // this is one
	all    bool           // no field is left out: the elements of arrays are in order
	places map[string]int // positions of the names, once there are many
}

// few is the number of names up to which they are searched one by one.
const few = 16

// place returns the position of a name, -1 for an unknown one.
func (t *tree) place(name string) int {
	if len(t.names) <= few {
		return slices.Index(t.names, name)
	}
	if t.places == nil {
		t.places = make(map[string]int, 2*len(t.names))
		for i, n := range t.names {
			t.places[n] = i
		}
	}
	if i, ok := t.places[name]; ok {
		return i
	}
	return -1
}

// set puts a value at a dotted path.
func (t *tree) set(path string, v value.Value) error {
	if strings.Count(path, ".") > value.MaxDepth {
		return value.ErrDepth
	}
	return t.put(path, v)
}

// put is set with a path that is not too long.
func (t *tree) put(path string, v value.Value) error {
	name, rest, nested := strings.Cut(path, ".")
	at := t.place(name)
	if at >= 0 && (!nested || t.below[at] == nil) {
		return errors.New("another column sets the same field")
	}
	if at < 0 {
		at = len(t.names)
		if t.places != nil {
			t.places[name] = at
		}
		t.names, t.leafs, t.below = append(t.names, name), append(t.leafs, v), append(t.below, nil)
		if nested {
			t.below[at] = &tree{arrays: t.arrays, all: t.all}
		}
	}
	if !nested {
		return nil
	}
	below := t.below[at]
	next, _, _ := strings.Cut(rest, ".")
	if err := below.element(next); err != nil {
		return err
	}
	return below.put(rest, v)
}

// element checks the name of a field that may be an array element: the
// elements must be in order.
func (t *tree) element(name string) error {
	n, err := strconv.Atoi(name)
	number := t.arrays && err == nil
	if len(t.names) == 0 {
		t.array = number
	}
	if number != t.array {
		return errors.New("a field cannot be an array and a document")
	}
	if last := len(t.names) - 1; number && t.all && n != last+1 && (n != last || last < 0) {
		return errors.New("the elements of an array must be numbered from 0, in order")
	}
	return nil
}

// doc builds the document or array of the tree.
func (t *tree) doc() value.Doc {
	b := value.NewBuilder()
	for i, name := range t.names {
		if t.array {
			name = strconv.Itoa(i)
		}
		switch below := t.below[i]; {
		case below == nil:
			b.Append(name, t.leafs[i])
		case below.array:
			b.Append(name, value.Array(below.doc()))
		default:
			b.Document(name, below.doc())
		}
	}
	return b.Doc()
}
