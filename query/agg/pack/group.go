package pack

import (
	"github.com/duskdb/duskdb/query/agg/accumulate"
	"github.com/duskdb/duskdb/query/agg/group"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/value"
)

// packedGroup is a $group over packs. A pack is not unpacked if all its documents belong
// to one group and its summary has what the accumulators need.
type packedGroup struct {
	s    *group.Stage
	key  *packKey
	from []packedValue // the source of each field of the $group
}

// packedValue computes the input of an accumulator from the summary of a pack: the value
// of an expression that is the same for all documents, added once or once for each
// document, or the least or greatest value.
type packedValue struct {
	same   *packKey
	repeat bool // repeats the value for each document; same may be nil
	path   *value.Path
	most   bool
}

// repeater is an accumulator that takes the same value many times at once.
type repeater interface {
	AddTimes(v value.Value, n int64) error
}

// onceIsEnough are the accumulators that a repeated value does not change.
var onceIsEnough = map[string]bool{"$min": true, "$max": true, "$first": true, "$last": true, "$addToSet": true}

// groupPacks returns nil if the summaries of packs are not enough for the $group.
func groupPacks(s *group.Stage, shared, time string) *packedGroup {
	g := &packedGroup{s: s, key: newPackKey(s.By, shared, time)}
	if g.key == nil {
		return nil
	}
	for _, a := range s.Fields {
		v, ok := fieldOfPacks(a, shared, time)
		if !ok {
			return nil
		}
		g.from = append(g.from, v)
	}
	return g
}

// fieldOfPacks returns how one field of a $group is computed from summaries.
func fieldOfPacks(a *group.Accumulation, shared, time string) (v packedValue, ok bool) {
	if a.Op == "$count" {
		return packedValue{repeat: true}, true
	}
	if a.Arg == nil || a.SortBy != nil {
		return v, false
	}
	if k := newPackKey(a.Arg, shared, time); k != nil && !k.timed {
		c, constant := a.Arg.Const()
		repeat := a.Op == "$sum" && constant && !floating(c)
		return packedValue{same: k, repeat: repeat}, repeat || onceIsEnough[a.Op]
	}
	path, plain := a.Arg.FieldPath()
	if !plain || a.Op != "$min" && a.Op != "$max" {
		return v, false
	}
	if path == time && a.Op == "$min" {
		return v, false // packs know it only roughly
	}
	p := value.ParsePath(path)
	return packedValue{path: &p, most: a.Op == "$max"}, true
}

// floating reports whether the order of additions matters.
func floating(v value.Value) bool {
	return v.Kind() == value.KindDouble || v.Kind() == value.KindDecimal
}

func (pg *packedGroup) Replaces() int { return 1 }

func (pg *packedGroup) AppendSpec(*value.Builder) bool { return false }

func (pg *packedGroup) Open(x *stage.Exec, src stage.Packs) stage.Iterator {
	return stage.Lazy(src, func() (stage.Iterator, error) {
		g := pg.s.Begin(x)
		for {
			if err := x.Tick(); err != nil {
				return nil, g.Failed(err)
			}
			p, err := src.NextPack()
			if err != nil {
				return nil, g.Failed(err)
			}
			if p == nil {
				src.Close()
				return g.Finish()
			}
			told, err := pg.add(x, g, p)
			if err == nil && !told {
				err = g.AddAll(p.Docs())
			}
			if err != nil {
				return nil, g.Failed(err)
			}
		}
	})
}

// add adds a pack from its summary. It returns false if the pack must be unpacked.
func (pg *packedGroup) add(x *stage.Exec, g *group.Run, p stage.Pack) (told bool, err error) {
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
	return true, g.AddEach(id, func(i int, acc accumulate.Accumulator) error {
		if pg.from[i].repeat {
			return addTimes(acc, values[i], n)
		}
		return acc.Add(values[i])
	})
}

// value returns the value from the summary of a pack.
func (f *packedValue) value(x *stage.Exec, p stage.Pack) (v value.Value, ok bool, err error) {
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
