package stage

import (
	"github.com/duskdb/duskdb/value"
)

// Transformer is a stage that returns exactly one document for each input document.
type Transformer interface {
	Stage
	Transform(x *Exec, d value.Doc) (value.Doc, error)
}

// Transformed runs a transformer over src.
func Transformed(x *Exec, t Transformer, src Iterator) Iterator {
	return &transformIterator{x: x, t: t, src: src}
}

type transformIterator struct {
	x   *Exec
	t   Transformer
	src Iterator
}

func (it *transformIterator) Next() (value.Doc, error) {
	d, err := it.src.Next()
	if d == nil || err != nil {
		return nil, err
	}
	return it.t.Transform(it.x, d)
}

func (it *transformIterator) Close() { it.src.Close() }
