package order

import (
	"bytes"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// Sorting by arrays. A document sorts by the least of the keys that an index
// on the pattern would have for it. Each array on a path contributes its elements; paths
// through the same array use the same element at a time. Two different arrays would
// need every combination of their elements, which is refused.

// arrayKeys enumerates the keys of one document.
type arrayKeys struct {
	pattern Pattern
	c       value.Collator
	best    []byte
}

// keyCursor is the position in a document up to which one path of the pattern has been
// followed.
type keyCursor struct {
	v    value.Value // the value at the current part of the path
	rest []string    // components still to follow
	done bool        // v is the key's value
}

func (s Pattern) appendArrayKey(dst []byte, env *expr.Env, d value.Doc, c value.Collator) ([]byte, error) {
	k := &arrayKeys{pattern: s, c: c}
	cursors := make([]keyCursor, len(s))
	for i := range s {
		if s[i].Meta {
			cursors[i] = keyCursor{v: s[i].metadata(env), done: true}
			continue
		}
		cursors[i] = keyCursor{v: value.Document(d), rest: s[i].P.Parts()}
	}
	if err := k.expand(cursors); err != nil {
		return nil, err
	}
	return append(dst, k.best...), nil
}

// expand follows all cursors to the next array and tries each of its elements.
func (k *arrayKeys) expand(cursors []keyCursor) error {
	var array value.Value
	at := -1 // the first cursor that is at an array
	for i := range cursors {
		k.follow(&cursors[i])
		if cursors[i].done {
			continue
		}
		if at < 0 {
			at, array = i, cursors[i].v
		} else if !sameArray(array, cursors[i].v) {
			return mongoerr.New(mongoerr.BadValue, "cannot sort with keys that are parallel arrays")
		}
	}
	if at < 0 {
		k.offer(cursors)
		return nil
	}
	return k.elements(cursors, array)
}

// elements tries each element of the array that the open cursors are at.
func (k *arrayKeys) elements(cursors []keyCursor, array value.Value) error {
	next := make([]keyCursor, len(cursors))
	try := func(e value.Value, position int) error {
		copy(next, cursors)
		for i := range next {
			if next[i].done {
				continue
			}
			var err error
			if next[i], err = enter(next[i], e, position); err != nil {
				return err
			}
		}
		return k.expand(next)
	}
	if array.Doc().IsEmpty() {
		return try(value.Undefined(), -1)
	}
	n := 0
	for e := range array.Doc().Values() {
		if err := try(e, n); err != nil {
			return err
		}
		n++
	}
	return nil
}

// enter moves a cursor from an array to one of its elements. If the path has a number
// there, the cursor moves to the element at that position instead.
func enter(c keyCursor, e value.Value, position int) (keyCursor, error) {
	if len(c.rest) == 0 {
		return keyCursor{v: e, done: true}, nil
	}
	var at value.Value
	if p := value.ParsePath(c.rest[0]).ArrayIndex(0); p >= 0 && position >= 0 {
		at = c.v.Doc().Index(p)
	}
	named := e.Kind() == value.KindDocument && e.Doc().Has(c.rest[0])
	switch {
	case named && !at.IsMissing():
		return c, mongoerr.Newf(16746, "Ambiguous field name found in array (do not use numeric field names in embedded elements in an array), field: '%s' for array: %s", c.rest[0], c.v.Doc())
	case named:
		return keyCursor{v: e, rest: c.rest}, nil
	case at.IsMissing():
		return keyCursor{v: value.Null(), done: true}, nil
	}
	return keyCursor{v: at, rest: c.rest[1:], done: len(c.rest) == 1}, nil
}

// follow moves a cursor through documents until it is done or stands at an
// array.
func (k *arrayKeys) follow(c *keyCursor) {
	for !c.done {
		switch {
		case c.v.Kind() == value.KindArray:
			return
		case len(c.rest) == 0:
			c.done = true
		case c.v.Kind() != value.KindDocument:
			c.v, c.done = value.Null(), true
		default:
			v := c.v.Doc().Lookup(c.rest[0])
			if v.IsMissing() {
				v, c.done = value.Null(), true
			}
			c.v, c.rest = v, c.rest[1:]
		}
	}
}

// sameArray reports whether two values are the same bytes in memory: the
// same array of the document.
func sameArray(a, b value.Value) bool {
	x, y := a.Bytes(), b.Bytes()
	return len(x) == len(y) && len(x) > 0 && &x[0] == &y[0]
}

// offer keeps the key of the finished cursors if it is the least so far.
func (k *arrayKeys) offer(cursors []keyCursor) {
	var key []byte
	for i, c := range cursors {
		key = appendPart(key, c.v, k.pattern[i].Desc, k.c)
	}
	if k.best == nil || bytes.Compare(key, k.best) < 0 {
		k.best = key
	}
}
