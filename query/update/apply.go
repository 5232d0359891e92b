package update

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/project/marks"
	"github.com/duskdb/duskdb/value"
)

// applier is the state of applying a tree to one document.
type applier struct {
	u        *Update
	env      *expr.Env
	doc      value.Doc // the document before the update
	dst      []byte    // the new document as far as it is written
	path     []string  // the path from the top to the current element
	key      string    // name of the current element, as it is written
	position string    // the position for the positional operator, "" without a match
	insert   bool
	changed  bool
	dollars  bool          // a top-level field that begins with $ was written
	moved    []value.Value // the source of each rename
	stopped  error         // reason of an interruption
	array    string        // name of the innermost array that holds the current element
	inArray  bool

	pathBuf [8]string
}

// appliers saves an allocation for each document.
var appliers = sync.Pool{New: func() any { return new(applier) }}

// tick is called for each step, and for n bytes that it copies. It fails once the operation
// was interrupted.
func (a *applier) tick(n int) error {
	if a.stopped == nil {
		a.stopped = a.env.Weigh(n)
	}
	return a.stopped
}

func (a *applier) release() {
	*a = applier{}
	appliers.Put(a)
}

// element is an element of the old document.
type element struct {
	key     string
	value   value.Value
	raw     []byte // type, name and payload
	inArray bool   // reports whether it is an element of an array
}

func (e element) kind() value.Kind { return e.value.Kind() }

// modify applies the operators.
func (u *Update) modify(env *expr.Env, d value.Doc, o ApplyOptions) (value.Doc, bool, error) {
	a := appliers.Get().(*applier)
	defer a.release()
	a.u, a.env, a.doc, a.insert = u, env, d, o.Insert
	a.path = a.pathBuf[:0]
	if o.Position >= 0 {
		a.position = strconv.Itoa(o.Position)
	}
	if err := a.findRenamed(); err != nil {
		return nil, false, err
	}
	if a.dst = o.Buf[:0]; o.Buf == nil {
		a.dst = make([]byte, 0, len(d)+u.grow)
	}
	a.dst = value.OpenDoc(a.dst)
	if err := a.object(u.root, d); err != nil {
		return nil, false, err
	}
	if !a.changed {
		return d, false, nil
	}
	a.close(0)
	if a.dollars {
		if err := checkDollars(value.Doc(a.dst)); err != nil {
			return nil, false, err
		}
	}
	return value.Doc(a.dst), true, nil
}

// object writes the elements of d, changed as n says, and those that n adds.
// If several children fail, the error is that of the first child, not of the
// first field in the document.
func (a *applier) object(n *object, d value.Doc) error {
	kids, err := a.kids(n)
	if err != nil {
		return err
	}
	parent := len(a.dst) - 4
	var seen marks.Set
	all := d[4 : len(d)-1]
	from := 0 // start of the run that is still to be copied
	left, failed := len(kids), len(kids)
	it := d.Iter()
	for left > 0 && it.Next() {
		i := n.lookup(kids, it.Key())
		if i < 0 || seen.Has(i) {
			continue
		}
		seen.Add(i, len(kids))
		left--
		end := len(all) - len(it.Rest())
		a.dst = append(a.dst, all[from:end-len(it.Element())]...)
		from = end
		e := element{key: it.Key(), value: it.Value(), raw: it.Element()}
		if problem := a.existing(kids[i].node, e); problem != nil && i < failed {
			err, failed = problem, i
		}
		if a.stopped != nil {
			return a.stopped
		}
	}
	a.dst = append(a.dst, all[from:]...)
	if left == 0 {
		return err
	}
	for i := range kids[:failed] {
		if !seen.Has(i) {
			if err := a.addField(kids[i], parent); err != nil {
				return err
			}
		}
	}
	return err
}

// lookup finds the child that changes the field of that name.
func (n *object) lookup(kids []child, name string) int {
	if n.positional != nil {
		return findChild(kids, name)
	}
	return n.place(name)
}

// kids returns the children of n for this document: the positional child is
// inserted at its position, or merged with the child of the same position.
func (a *applier) kids(n *object) ([]child, error) {
	if n.positional == nil {
		return n.children, nil
	}
	if a.position == "" {
		return nil, mongoerr.New(mongoerr.BadValue, "The positional operator did not find the match needed from the query.")
	}
	matched := []child{{name: a.position, node: n.positional}}
	return mergeChildren(n.children, matched, slices.Clip(a.path), func(name string) string { return name })
}

// existing applies n to an existing element, and writes it.
func (a *applier) existing(n node, e element) (err error) {
	if err := a.tick(0); err != nil {
		return err
	}
	a.path = append(a.path, e.key)
	switch n := n.(type) {
	case *leaf:
		err = a.modifyLeaf(n, e)
	case *object:
		switch e.kind() {
		case value.KindDocument:
			start := a.open(value.KindDocument, e.key)
			err = a.object(n, e.value.Doc())
			a.close(start)
		case value.KindArray:
			err = a.withinArray(e, func() error { return a.indexed(n, e) })
		default:
			err = a.blocked(n, e, nil)
			a.dst = append(a.dst, e.raw...)
		}
	case *elements:
		if e.kind() == value.KindArray {
			err = a.withinArray(e, func() error { return a.each(n, e) })
		} else {
			err = mongoerr.Newf(mongoerr.BadValue, "Cannot apply array updates to non-array element %s",
				elementString(e.key, e.value))
		}
	}
	a.path = a.path[:len(a.path)-1]
	return err
}

// modifyLeaf lets a modifier change an element.
func (a *applier) modifyLeaf(l *leaf, e element) error {
	a.key = e.key
	start := len(a.dst)
	out, err := l.update(a, e)
	if err != nil {
		return err
	}
	switch out {
	case unchanged:
		a.dst = append(a.dst, e.raw...)
		return nil
	case removed:
		if e.inArray {
			a.put(value.Null())
		}
	}
	a.changed = true
	if a.path[0] == "_id" {
		return a.immutable(a.dst[start:])
	}
	a.noteDollar()
	return nil
}

// immutable returns the error of a modifier that has changed the _id or a part
// of it.
func (a *applier) immutable(written []byte) error {
	d := make(value.Doc, 4, len(written)+5)
	d = append(append(d, written...), 0)
	binary.LittleEndian.PutUint32(d, uint32(len(d)))
	if id := d.Lookup("_id"); len(a.path) == 1 && id.Kind() == value.KindDocument {
		return mongoerr.Newf(mongoerr.ImmutableField, "Updating the path '_id' to %s would modify the immutable field '_id'", elementString("_id", id))
	}
	return mongoerr.Newf(mongoerr.ImmutableField, "Performing an update on the path '%s' would modify the immutable field '_id'", strings.Join(a.path, "."))
}

// noteDollar records that a top-level field that begins with $ was written.
// Documents of an upsert are checked as a whole.
func (a *applier) noteDollar() {
	if len(a.path) == 1 && strings.HasPrefix(a.path[0], "$") && !a.insert {
		a.dollars = true
	}
}

// addField adds a field to an existing object or array, whose length is at
// parent in dst.
func (a *applier) addField(k child, parent int) error {
	added, err := a.create(k.node, k.name)
	if err != nil || !added {
		return err
	}
	if len(a.path) > 0 && a.path[0] == "_id" {
		start := len(a.dst)
		a.dst = append(append(a.dst, a.dst[parent:]...), 0)
		d := value.Doc(a.dst[start:])
		binary.LittleEndian.PutUint32(d, uint32(len(d)))
		return mongoerr.Newf(mongoerr.ImmutableField, "Updating the path '%s' to %s would modify the immutable field '_id'",
			strings.Join(a.path, "."), elementString(a.path[len(a.path)-1], value.Document(d)))
	}
	if len(a.path) == 0 && strings.HasPrefix(k.name, "$") && !a.insert {
		a.dollars = true
	}
	return nil
}

// create adds the elements that n creates for a missing path; added reports
// whether it created any.
func (a *applier) create(n node, name string) (added bool, err error) {
	if err := a.tick(0); err != nil {
		return false, err
	}
	a.path = append(a.path, name)
	switch n := n.(type) {
	case *leaf:
		var p presence
		if p, err = n.absent(a); err == nil && p == creates {
			a.key = name
			err = n.create(a)
			added, a.changed = true, true
		}
	case *object:
		var kids []child
		if kids, err = a.kids(n); err != nil {
			break
		}
		before := len(a.dst)
		start := a.open(value.KindDocument, name)
		for i := 0; i < len(kids) && err == nil; i++ {
			var one bool
			one, err = a.create(kids[i].node, kids[i].name)
			added = added || one
		}
		if a.close(start); !added {
			a.dst = a.dst[:before]
		}
	case *elements:
		err = mongoerr.Newf(mongoerr.BadValue, "The path '%s' must exist in the document in order to apply array updates.",
			strings.Join(a.path, "."))
	}
	a.path = a.path[:len(a.path)-1]
	return added, err
}

// blocked handles a subtree below an element that cannot have such children: a
// scalar, or an array with a field name. rest is the path from the element.
func (a *applier) blocked(n node, e element, rest []string) error {
	switch n := n.(type) {
	case *object:
		kids, err := a.kids(n)
		for i := 0; i < len(kids) && err == nil; i++ {
			if err := a.tick(0); err != nil {
				return err
			}
			err = a.blocked(kids[i].node, e, append(rest[:len(rest):len(rest)], kids[i].name))
		}
		return err
	case *elements:
		return mongoerr.Newf(mongoerr.BadValue, "The path '%s.%s' must exist in the document in order to apply array updates.",
			strings.Join(a.path, "."), strings.Join(rest, "."))
	case *leaf:
		p, err := n.absent(a)
		switch {
		case err != nil:
			return err
		case p == creates:
			return mongoerr.Newf(mongoerr.PathNotViable, "Cannot create field '%s' in element {%s}",
				rest[0], elementString(e.key, e.value))
		case p == mustBeViable:
			return mongoerr.Newf(mongoerr.PathNotViable, "Cannot use the part (%s) of (%s.%s) to traverse the element ({%s})",
				rest[0], strings.Join(a.path, "."), strings.Join(rest, "."), elementString(e.key, e.value))
		}
	}
	return nil
}

// put writes the current element with a value.
func (a *applier) put(v value.Value) {
	a.head(v.Kind())
	a.dst = value.AppendPayload(a.dst, v)
}

// head writes type and name of the current element.
func (a *applier) head(k value.Kind) {
	a.dst = append(a.dst, byte(k))
	a.dst = append(a.dst, a.key...)
	a.dst = append(a.dst, 0)
}

// open starts an embedded document or array; close ends it.
func (a *applier) open(k value.Kind, key string) (start int) {
	a.key = key
	a.head(k)
	start = len(a.dst)
	a.dst = value.OpenDoc(a.dst)
	return start
}

func (a *applier) close(start int) {
	a.dst = value.CloseDoc(a.dst, start)
}
