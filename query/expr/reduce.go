package expr

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// reduce is a compiled $reduce.
type reduce struct {
	input, initial, body node
	this, acc            int
}

// parseReduce compiles $reduce, whose body sees $$value and $$this.
func parseReduce(p *parser, op *operator, v value.Value) (node, error) {
	f, err := op.fields(v)
	if err != nil {
		return nil, err
	}
	r := &reduce{}
	if r.input, err = p.operand(f[0]); err != nil {
		return nil, err
	}
	if r.initial, err = p.operand(f[1]); err != nil {
		return nil, err
	}
	var slots []int
	if r.body, slots, err = p.inner(f[2], "this", "value"); err != nil {
		return nil, err
	}
	r.this, r.acc = slots[0], slots[1]
	return r, nil
}

// eval folds the elements of the input from the initial value on.
func (r *reduce) eval(env *Env) (value.Value, error) {
	in, err := r.input.eval(env)
	switch {
	case err != nil:
		return value.Value{}, err
	case in.IsNullish():
		return value.Null(), nil
	case in.Kind() != value.KindArray:
		return value.Value{}, mongoerr.Newf(40080, "$reduce requires that 'input' be an array, found: %s", in.Compact())
	}
	before, limit := env.held, env.mapBytes()
	acc, err := r.initial.eval(env)
	if err != nil {
		return value.Value{}, err
	}
	this, saved := env.Get(r.this), env.Get(r.acc)
	defer func() { env.Set(r.this, this); env.Set(r.acc, saved) }()
	it := in.Doc().Iter()
	for it.Next() {
		if err := env.tick(); err != nil {
			return value.Value{}, err
		}
		env.Set(r.this, it.Value())
		env.Set(r.acc, acc)
		if acc, err = r.body.eval(env); err != nil {
			return value.Value{}, err
		}
		acc = env.release(before, acc)
		if err := checkMapped("$reduce", valueBytes+len(acc.Bytes()), limit); err != nil {
			return value.Value{}, err
		}
		if err := checkSize(len(acc.Bytes())); err != nil {
			return value.Value{}, err
		}
	}
	return acc, nil
}

func (r *reduce) deps(d *depSink) {
	r.input.deps(d)
	r.initial.deps(d)
	r.body.deps(d.hiding(r.this, r.acc))
}

func (r *reduce) serial() value.Value {
	return value.Document(value.NewDoc("$reduce", value.Document(value.NewDoc(
		"input", r.input.serial(), "initialValue", r.initial.serial(), "in", r.body.serial()))))
}
