package update

import (
	"cmp"
	"strconv"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// maxPadding limits the nulls that an update adds between the end of an array
// and the position that it writes.
const maxPadding = 1500000

// withinArray writes an array whose elements fn writes.
func (a *applier) withinArray(e element, fn func() error) error {
	outer, was := a.array, a.inArray
	a.array, a.inArray = e.key, true
	start := a.open(value.KindArray, e.key)
	err := fn()
	a.close(start)
	a.array, a.inArray = outer, was
	return err
}

// indexed applies an object node to an array: its children are positions.
func (a *applier) indexed(n *object, e element) error {
	kids, err := a.kids(n)
	if err != nil {
		return err
	}
	positions := make([]child, 0, len(kids))
	ascending, last := true, -1
	for _, k := range kids {
		i, ok := arrayIndex(k.name)
		if !ok {
			if err = a.blocked(k.node, e, []string{k.name}); err != nil {
				break // but earlier children may fail, too
			}
			continue
		}
		positions = append(positions, k)
		ascending = ascending && i > last
		last = i
	}
	apply := a.oneByOne
	if ascending {
		apply = a.positions
	}
	return cmp.Or(apply(positions, e.value.Doc()), err)
}

// positions applies children in ascending order to the elements of arr, in
// one pass.
func (a *applier) positions(kids []child, arr value.Doc) error {
	all := arr[4 : len(arr)-1]
	n, from := 0, 0
	it := arr.Iter()
	for len(kids) > 0 && it.Next() {
		if i, _ := arrayIndex(kids[0].name); i == n {
			end := len(all) - len(it.Rest())
			a.dst = append(a.dst, all[from:end-len(it.Element())]...)
			from = end
			e := element{key: it.Key(), value: it.Value(), raw: it.Element(), inArray: true}
			if err := a.existing(kids[0].node, e); err != nil {
				return err
			}
			kids = kids[1:]
		}
		n++
	}
	a.dst = append(a.dst, all[from:]...)
	for _, k := range kids {
		var err error
		if n, err = a.extend(k, n); err != nil {
			return err
		}
	}
	return nil
}

// oneByOne is positions for children that are not in ascending order or
// address the same element ("1" and "01"): each is applied to the result of
// the previous one.
func (a *applier) oneByOne(kids []child, arr value.Doc) error {
	outer := a.dst
	for i := range kids {
		if err := a.tick(len(arr)); err != nil {
			a.dst = outer
			return err
		}
		a.dst = value.OpenDoc(make([]byte, 0, len(arr)+64))
		if err := a.positions(kids[i:i+1], arr); err != nil {
			a.dst = outer
			return err
		}
		a.close(0)
		arr = a.dst
	}
	a.dst = append(outer, arr[4:len(arr)-1]...)
	return nil
}

// extend writes a position at or after the end of an array of n elements, with
// nulls in between. It returns the new number of elements.
func (a *applier) extend(k child, n int) (int, error) {
	i, _ := arrayIndex(k.name)
	if !a.willCreate(k.node) {
		_, err := a.create(k.node, k.name)
		return n, err
	}
	if i-n > maxPadding {
		return n, mongoerr.Newf(mongoerr.CannotBackfillArray, "can't backfill more than %d elements", maxPadding)
	}
	for ; n < i; n++ {
		a.dst = append(a.dst, byte(value.KindNull))
		a.dst = append(value.AppendIndex(a.dst, n), 0)
	}
	if err := tooLarge(len(a.dst)); err != nil {
		return n, err
	}
	_, err := a.create(k.node, strconv.Itoa(i))
	return n + 1, err
}

// willCreate reports whether create would add anything for n.
func (a *applier) willCreate(n node) bool {
	switch n := n.(type) {
	case *leaf:
		p, err := n.absent(a)
		return err != nil || p == creates
	case *object:
		for _, k := range n.children {
			if a.willCreate(k.node) {
				return true
			}
		}
		return n.positional != nil && a.willCreate(n.positional)
	}
	return false
}

// each applies the children of an elements node to every element they choose.
func (a *applier) each(n *elements, e element) error {
	it := e.value.Doc().Iter()
	for it.Next() {
		one := element{key: it.Key(), value: it.Value(), raw: it.Element(), inArray: true}
		chosen, err := a.choose(n, one)
		if err != nil {
			return err
		}
		if chosen == nil {
			a.dst = append(a.dst, one.raw...)
			continue
		}
		if err := a.existing(chosen, one); err != nil {
			return err
		}
		if err := tooLarge(len(a.dst)); err != nil {
			return err
		}
	}
	return nil
}

// choose merges the children whose filter matches the element.
func (a *applier) choose(n *elements, e element) (chosen node, err error) {
	for i := range n.children {
		k := &n.children[i]
		if k.filter != nil {
			ok, err := k.filter.match(a.env, e.value)
			if err != nil {
				return nil, err
			}
			if !ok {
				continue
			}
		}
		if chosen == nil {
			chosen = k.node
			continue
		}
		at := append(a.path[:len(a.path):len(a.path)], e.key)
		if chosen, err = merge(chosen, k.node, at); err != nil {
			return nil, err
		}
	}
	return chosen, nil
}
