package agg

import "github.com/duskdb/duskdb/value"

// transformer is a stage that gives exactly one document for each.
type transformer interface {
	stage
	transform(x *Exec, d value.Doc) (value.Doc, error)
}

// transformed runs a transformer over src.
func transformed(x *Exec, t transformer, src Iterator) Iterator {
	return &transformIterator{x: x, t: t, src: src}
}

type transformIterator struct {
	x   *Exec
	t   transformer
	src Iterator
}

func (it *transformIterator) Next() (value.Doc, error) {
	d, err := it.src.Next()
	if d == nil || err != nil {
		return nil, err
	}
	return it.t.transform(it.x, d)
}

func (it *transformIterator) Close() { it.src.Close() }
