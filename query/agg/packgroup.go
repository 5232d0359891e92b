package agg

import (
	"github.com/duskdb/duskdb/query/agg/accumulate"
	"github.com/duskdb/duskdb/value"
)

// packedGroup is a $group over packs. A pack whose documents all belong to
// one group, and that tells what the accumulators make of them, is not opened.
type packedGroup struct {
	s    *groupStage
	key  *packKey
	from []packedValue // by field of the $group
}

// packedValue gives an accumulator what a pack tells: the value of an
// expression that is the same for all documents, once or for each of them, or
// an extreme.
type packedValue struct {
	same   *packKey
	repeat bool // for each document; same may be nil
	path   *value.Path
	most   bool
}

// repeater is an accumulator that takes the same value many times at once.
type repeater interface {
	AddTimes(v value.Value, n int64) error
}

// onceIsEnough are the accumulators that a repeated value does not change.
var onceIsEnough = map[string]bool{"$min": true, "$max": true, "$first": true, "$last": true, "$addToSet": true}

// groupPacks returns nil if packs tell too little for the $group.
func groupPacks(s *groupStage, shared, time string) *packedGroup {
	g := &packedGroup{s: s, key: newPackKey(s.by, shared, time)}
	if g.key == nil {
		return nil
	}
	for _, a := range s.fields {
		v, ok := fieldOfPacks(a, shared, time)
		if !ok {
			return nil
		}
		g.from = append(g.from, v)
	}
	return g
}

// fieldOfPacks is what packs tell for one field of a $group.
func fieldOfPacks(a *accumulation, shared, time string) (v packedValue, ok bool) {
	if a.op == "$count" {
		return packedValue{repeat: true}, true
	}
	if a.arg == nil || a.sortBy != nil {
		return v, false
	}
	if k := newPackKey(a.arg, shared, time); k != nil && !k.timed {
		c, constant := a.arg.Const()
		repeat := a.op == "$sum" && constant && !floating(c)
		return packedValue{same: k, repeat: repeat}, repeat || onceIsEnough[a.op]
	}
	path, plain := a.arg.FieldPath()
	if !plain || a.op != "$min" && a.op != "$max" {
		return v, false
	}
	if path == time && a.op == "$min" {
		return v, false // packs know it roughly
	}
	p := value.ParsePath(path)
	return packedValue{path: &p, most: a.op == "$max"}, true
}

// floating reports whether the order of additions matters.
func floating(v value.Value) bool {
	return v.Kind() == value.KindDouble || v.Kind() == value.KindDecimal
}

func (pg *packedGroup) replaces() int                  { return 1 }
func (pg *packedGroup) appendSpec(*value.Builder) bool { return false }

func (pg *packedGroup) open(x *Exec, src Packs) Iterator {
	return lazy(src, func() (Iterator, error) {
		g := pg.s.begin(x)
		for {
			if err := x.tick(); err != nil {
				return nil, g.failed(err)
			}
			p, err := src.NextPack()
			if err != nil {
				return nil, g.failed(err)
			}
			if p == nil {
				src.Close()
				return g.finish()
			}
			told, err := pg.add(x, g, p)
			if err == nil && !told {
				err = g.addAll(p.Docs())
			}
			if err != nil {
				return nil, g.failed(err)
			}
		}
	})
}

// add adds a pack without opening it; false if that cannot be.
func (pg *packedGroup) add(x *Exec, g *grouping, p Pack) (told bool, err error) {
	if !p.Whole() {
		return false, nil
	}
	n, err := p.Count()
	if err != nil || n == 0 {
		return false, err
	}
	values := make([]value.Value, len(pg.from))
	for i, f := range pg.from {
		if values[i], told, err = f.value(x, p); err != nil || !told {
			return false, err
		}
	}
	id, told, err := pg.key.value(x, p)
	if err != nil || !told {
		return false, err
	}
	return true, g.addEach(id, func(i int, acc accumulate.Accumulator) error {
		if pg.from[i].repeat {
			return addTimes(acc, values[i], n)
		}
		return acc.Add(values[i])
	})
}

// value is what the pack tells.
func (f *packedValue) value(x *Exec, p Pack) (v value.Value, ok bool, err error) {
	switch {
	case f.same != nil:
		return f.same.value(x, p)
	case f.path != nil:
		v, ok = p.Extreme(*f.path, f.most)
		return v, ok, nil
	}
	return v, true, nil
}

func addTimes(acc accumulate.Accumulator, v value.Value, n int64) error {
	if r, ok := acc.(repeater); ok {
		return r.AddTimes(v, n)
	}
	for range n {
		if err := acc.Add(v); err != nil {
			return err
		}
	}
	return nil
}
