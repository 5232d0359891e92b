package oplog

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/duskdb/duskdb/value"
)

// Updates are logged as the difference between two versions of a document,
// in mongod's format $v: 2:
//
//	{d: {gone: false}, u: {changed: value}, i: {new: value}, sSub: {…}}
//
// d, u and i are fields deleted, updated and inserted; s<name> is the
// difference of an embedded document, or of an array:
//
//	{a: true, l: new length, u<index>: value, s<index>: {…}}
//
// A differ makes it in one pass over the bytes of both versions.

// differ compares two versions of a document.
type differ struct {
	// touched are the paths that the update names. A changed field is logged as a
	// whole if the update names it, or names nothing inside it, as in mongod. nil: the
	// update may have changed any path.
	touched []string
	paths   *PathTree // the touched paths as a tree
	path    []byte
}

// AppendDiff appends to b the fields that describe how old became new. touched are the paths
// that the update names; nil: it may have changed any.
func AppendDiff(b *value.Builder, old, new value.Doc, touched []string) {
	x := differ{touched: touched}
	x.diff(b, old, new)
}

// diff is [AppendDiff] at the present path.
func (x *differ) diff(b *value.Builder, old, new value.Doc) {
	var inserted, updated, sub fields
	var gone []string
	o, n := old.Iter(), new.Iter()
	moreOld, moreNew := o.Next(), n.Next()
	for moreOld && moreNew {
		if !bytes.Equal(o.KeyBytes(), n.KeyBytes()) {
			gone = append(gone, o.Key())
			moreOld = o.Next()
			continue
		}
		if !bytes.Equal(o.Element(), n.Element()) {
			x.changed(&updated, &sub, o.Key(), n.Key(), o.Value(), n.Value())
		}
		moreOld, moreNew = o.Next(), n.Next()
	}
	for ; moreOld; moreOld = o.Next() {
		gone = append(gone, o.Key())
	}
	came := map[string]bool(nil)
	for ; moreNew; moreNew = n.Next() {
		inserted.raw(n.Element())
		if len(gone) > 0 {
			if came == nil {
				came = map[string]bool{}
			}
			came[n.Key()] = true
		}
	}
	if came != nil {
		gone = slices.DeleteFunc(gone, func(name string) bool { return came[name] })
	}
	if len(gone) > 0 {
		b.StartDocument("d")
		for _, name := range gone {
			b.Bool(name, false)
		}
		b.End()
	}
	updated.appendAs(b, "u")
	inserted.appendAs(b, "i")
	b.Raw(sub.elements)
}

// fields are elements of a document. The empty value allocates nothing.
type fields struct{ elements []byte }

func (f *fields) raw(element []byte) { f.elements = append(f.elements, element...) }

func (f *fields) append(name string, v value.Value) { f.elements = value.Append(f.elements, name, v) }

func (f *fields) appendAs(b *value.Builder, name string) {
	if len(f.elements) > 0 {
		b.StartDocument(name).Raw(f.elements).End()
	}
}

// changed logs a field whose value has changed: as a whole, or as the difference of its
// contents.
func (x *differ) changed(updated, sub *fields, name, newName string, old, new value.Value) {
	mark := len(x.path)
	if mark > 0 {
		x.path = append(x.path, '.')
	}
	x.path = append(x.path, name...)
	if d := x.nested(old, new); d != nil && (x.touched != nil || len(d) < len(new.Bytes())) {
		sub.append("s"+newName, value.Document(d))
	} else {
		updated.append(newName, new)
	}
	x.path = x.path[:mark]
}

// nested is the difference of two embedded documents or arrays; nil if the
// new one is to be logged whole.
func (x *differ) nested(old, new value.Value) value.Doc {
	if old.Kind() != new.Kind() || new.Kind() != value.KindDocument && new.Kind() != value.KindArray {
		return nil
	}
	below, itself := x.where()
	if !below && !itself {
		return nil
	}
	var b value.Builder
	b.Reset(nil)
	switch {
	case new.Kind() == value.KindDocument && below:
		x.diff(&b, old.Doc(), new.Doc())
	case new.Kind() == value.KindArray && (below || itself):
		if !x.diffArrays(&b, old.Doc(), new.Doc(), itself && !below) {
			return nil
		}
	default:
		return nil
	}
	return b.Doc()
}

// where reports whether a touched path goes below the present path, and whether one is
// equal to it.
func (x *differ) where() (below, itself bool) {
	if x.touched == nil {
		return true, false
	}
	if x.paths == nil {
		x.paths = NewPathTree(x.touched)
	}
	return x.paths.At(string(x.path))
}

// PathTree is the paths of an update as a tree of their parts.
type PathTree struct {
	next map[string]*PathTree // the children by name
	any  []*PathTree          // positional parts, which fit any
	ends bool
}

// NewPathTree returns the tree of paths.
func NewPathTree(paths []string) *PathTree {
	top := &PathTree{}
	for _, p := range paths {
		w := top
		for part := range strings.SplitSeq(p, ".") {
			w = w.step(part)
		}
		w.ends = true
	}
	return top
}

// step returns the child for one more part of a path. It adds the child if it is missing.
func (w *PathTree) step(part string) *PathTree {
	if strings.HasPrefix(part, "$") {
		if len(w.any) == 0 {
			w.any = []*PathTree{{}}
		}
		return w.any[0]
	}
	if w.next == nil {
		w.next = map[string]*PathTree{}
	}
	if w.next[part] == nil {
		w.next[part] = &PathTree{}
	}
	return w.next[part]
}

// At reports whether a path goes below the path here, and whether one is equal to it.
func (w *PathTree) At(here string) (below, itself bool) {
	part, rest, more := strings.Cut(here, ".")
	for _, next := range append(w.any[:len(w.any):len(w.any)], w.next[part]) {
		switch {
		case next == nil:
		case more:
			b, i := next.At(rest)
			below, itself = below || b, itself || i
		default:
			below = below || next.next != nil || next.any != nil
			itself = itself || next.ends
		}
	}
	return below, itself
}

// diffArrays compares arrays position by position. With appendOnly it only
// takes arrays that have grown, as $push does.
func (x *differ) diffArrays(b *value.Builder, old, new value.Doc, appendOnly bool) bool {
	b.Bool("a", true)
	o, n := old.Iter(), new.Iter()
	length, shorter := 0, 0
	var updated, sub fields
	for {
		moreOld, moreNew := o.Next(), n.Next()
		if !moreNew {
			for ; moreOld; moreOld = o.Next() {
				shorter++
			}
			break
		}
		name := strconv.Itoa(length)
		length++
		if !moreOld {
			updated.append("u"+name, n.Value())
			continue
		}
		if bytes.Equal(o.Element(), n.Element()) {
			continue
		}
		if appendOnly {
			return false
		}
		x.changedAt(&updated, &sub, name, o.Value(), n.Value())
	}
	if shorter > 0 {
		if appendOnly {
			return false
		}
		b.Int32("l", int32(length))
	}
	b.Raw(updated.elements).Raw(sub.elements)
	return true
}

// changedAt is changed for a position of an array.
func (x *differ) changedAt(updated, sub *fields, position string, old, new value.Value) {
	var whole fields
	x.changed(&whole, sub, position, position, old, new)
	if len(whole.elements) > 0 {
		updated.append("u"+position, new)
	}
}

// ApplyDiff returns the new version of a document.
func ApplyDiff(old, diff value.Doc) value.Doc {
	deleted, updated := diff.Lookup("d").Doc(), diff.Lookup("u").Doc()
	inserted := diff.Lookup("i").Doc()
	b := value.NewBuilder()
	for it := old.Iter(); it.Next(); {
		name := it.Key()
		switch {
		case deleted.Has(name) || inserted.Has(name):
		case updated.Has(name):
			b.Append(name, updated.Lookup(name))
		default:
			b.Append(name, applySub(diff, name, it.Value()))
		}
	}
	it := inserted.Iter()
	if inserted != nil {
		b.Raw(it.Rest())
	}
	return b.Doc()
}

func applySub(diff value.Doc, name string, v value.Value) value.Value {
	sub := diff.Lookup("s" + name).Doc()
	switch {
	case sub == nil:
		return v
	case sub.Lookup("a").Truthy():
		return applyArrayDiff(v.Doc(), sub)
	}
	return value.Document(ApplyDiff(v.Doc(), sub))
}

func applyArrayDiff(old, diff value.Doc) value.Value {
	var out []value.Value
	for v := range old.Values() {
		out = append(out, v)
	}
	if l, ok := diff.Get("l"); ok && int(l.SafeInt64()) < len(out) {
		out = out[:l.SafeInt64()]
	}
	for key, v := range diff.All() {
		if len(key) < 2 || key[0] != 'u' && key[0] != 's' {
			continue
		}
		i, err := strconv.Atoi(key[1:])
		if err != nil || i < 0 {
			continue
		}
		for i >= len(out) {
			out = append(out, value.Null())
		}
		if key[0] == 'u' {
			out[i] = v
		} else {
			out[i] = applySub(diff, key[1:], out[i])
		}
	}
	return value.NewArray(out...)
}
