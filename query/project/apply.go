package project

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/project/marks"
	"github.com/duskdb/duskdb/value"
)

// applier is the state of applying a projection to one document.
type applier struct {
	env  *expr.Env
	doc  value.Doc // the document for expressions
	kind kind
	dst  []byte
	base int // the start of the result in dst
}

// document writes the elements of d, projected by n.
func (a *applier) document(n *node, d value.Doc) error {
	if a.kind == inclusion {
		return a.includeFrom(n, d)
	}
	var done marks.Set
	all, from := d[4:len(d)-1], 0 // from: start of the run that is still to be copied
	left := len(n.fields)
	it := d.Iter()
	for left > 0 && it.Next() {
		i := n.find(it.Key())
		if i < 0 || done.Has(i) {
			continue
		}
		end := len(all) - len(it.Rest())
		a.dst = append(a.dst, all[from:end-len(it.Element())]...)
		from = end
		done.Add(i, len(n.fields))
		left--
		if err := a.change(&n.fields[i], &it); err != nil {
			return err
		}
	}
	a.dst = append(a.dst, all[from:]...)
	return a.computeRest(n, &done)
}

// includeFrom is document for inclusions.
func (a *applier) includeFrom(n *node, d value.Doc) error {
	var done marks.Set
	left := n.plain
	it := d.Iter()
	for left > 0 && it.Next() {
		i := n.find(it.Key())
		if i < 0 || done.Has(i) || n.fields[i].isComputed() {
			continue
		}
		done.Add(i, len(n.fields))
		left--
		f := &n.fields[i]
		if f.child == nil {
			a.dst = append(a.dst, it.Element()...)
			continue
		}
		if err := a.change(f, &it); err != nil {
			return err
		}
	}
	return a.computeRest(n, &done)
}

// change writes the projection of an existing field.
func (a *applier) change(f *field, it *value.Iter) error {
	if err := a.env.Tick(); err != nil {
		return err
	}
	switch {
	case f.isComputed():
		return a.compute(f)
	case f.child != nil:
		_, err := a.value(f.child, it.Key(), it.Value(), it.Element())
		return err
	case f.later:
		a.dst = append(a.dst, it.Element()...)
	}
	return nil // otherwise excluded
}

// computeRest appends the computed fields that were not written yet.
func (a *applier) computeRest(n *node, done *marks.Set) error {
	if !n.computed {
		return nil
	}
	for i := range n.fields {
		f := &n.fields[i]
		if done.Has(i) {
			continue
		}
		if err := a.env.Tick(); err != nil {
			return err
		}
		var err error
		switch {
		case f.isComputed():
			err = a.compute(f)
		case f.child != nil && f.child.computed:
			err = a.fresh(f.child, f.name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// compute writes a computed field; it writes nothing if the value is missing.
func (a *applier) compute(f *field) error {
	if f.elem != nil {
		return a.elemMatch(f)
	}
	v, err := f.expr.Eval(a.env, a.doc)
	if err == nil {
		err = expr.CheckDepth(v, value.MaxDepth)
	}
	if err != nil {
		return err
	}
	a.dst = value.Append(a.dst, f.name, v)
	return a.checkGrowth()
}

// elemMatch writes the first element of an array that matches.
func (a *applier) elemMatch(f *field) error {
	ok, position, err := f.elem.MatchWithPosition(a.env, a.doc)
	if err != nil || !ok || position < 0 {
		return err
	}
	one := a.doc.Lookup(f.name).Doc().Index(position)
	if one.IsMissing() {
		return nil
	}
	a.head(value.KindArray, f.name)
	start := a.open()
	a.indexed(0, one)
	a.close(start)
	return nil
}

// value writes an element, projected by n; kept is false if it is dropped.
func (a *applier) value(n *node, key string, v value.Value, raw []byte) (kept bool, err error) {
	switch v.Kind() {
	case value.KindDocument:
		a.head(value.KindDocument, key)
		start := a.open()
		err = a.document(n, v.Doc())
		a.close(start)
		return true, err
	case value.KindArray:
		a.head(value.KindArray, key)
		return true, a.array(n, v.Doc())
	}
	switch {
	case n.computed:
		return true, a.fresh(n, key)
	case a.kind == inclusion:
		return false, nil
	}
	a.dst = append(a.dst, raw...)
	return true, nil
}

// maxGrowth limits the size of a result, because a computed field may be
// written for each of many array elements.
const maxGrowth = 64 << 20

func (a *applier) checkGrowth() error {
	if n := len(a.dst) - a.base; n > maxGrowth {
		return mongoerr.Newf(13548, "BufBuilder attempted to grow() to %d bytes, past the 64MB limit.", n)
	}
	return nil
}

// array projects every element by n; dropped elements leave no gap.
func (a *applier) array(n *node, arr value.Doc) error {
	start := a.open()
	i := 0
	var index [20]byte
	it := arr.Iter()
	for it.Next() {
		key := it.Key()
		if a.kind == inclusion {
			key = string(value.AppendIndex(index[:0], i))
		}
		if err := a.env.Tick(); err != nil {
			return err
		}
		kept, err := a.value(n, key, it.Value(), it.Element())
		if err != nil {
			return err
		}
		if kept {
			i++
		}
		if err := a.checkGrowth(); err != nil {
			return err
		}
	}
	a.close(start)
	return nil
}

// fresh writes a document that has only the computed fields of n.
func (a *applier) fresh(n *node, key string) error {
	a.head(value.KindDocument, key)
	start := a.open()
	var none marks.Set
	err := a.computeRest(n, &none)
	a.close(start)
	return err
}

// indexed writes an array element.
func (a *applier) indexed(i int, v value.Value) {
	a.dst = append(a.dst, byte(v.Kind()))
	a.dst = append(value.AppendIndex(a.dst, i), 0)
	a.dst = value.AppendPayload(a.dst, v)
}

func (a *applier) head(k value.Kind, key string) {
	a.dst = append(a.dst, byte(k))
	a.dst = append(a.dst, key...)
	a.dst = append(a.dst, 0)
}

func (a *applier) open() (start int) {
	start = len(a.dst)
	a.dst = value.OpenDoc(a.dst)
	return start
}

func (a *applier) close(start int) {
	a.dst = value.CloseDoc(a.dst, start)
}
