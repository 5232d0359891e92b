package expr

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// zip is a compiled $zip.
type zip struct {
	inputs, defaults []node
	longest          bool
}

// parseZip compiles $zip: inputs, useLongestLength and defaults.
func parseZip(p *parser, _ *operator, v value.Value) (node, error) {
	if v.Kind() != value.KindDocument {
		return nil, mongoerr.Newf(34460, "$zip only supports an object as an argument, found %s", v.Kind())
	}
	z := &zip{}
	for name, e := range v.Doc().All() {
		var err error
		switch name {
		case "inputs":
			z.inputs, err = p.list(e, 34461, name)
		case "defaults":
			z.defaults, err = p.list(e, 34462, name)
		case "useLongestLength":
			if e.Kind() != value.KindBool {
				// sic: mongod names the type of the whole argument
				return nil, mongoerr.Newf(34463, "useLongestLength must be a bool, found %s", v.Kind())
			}
			z.longest = e.Bool()
		default:
			return nil, mongoerr.Newf(34464, "$zip found an unknown argument: %s", name)
		}
		if err != nil {
			return nil, err
		}
	}
	switch {
	case len(z.inputs) == 0:
		return nil, mongoerr.New(34465, "$zip requires at least one input array")
	case len(z.defaults) > 0 && !z.longest:
		return nil, mongoerr.New(34466, "cannot specify defaults unless useLongestLength is true")
	case len(z.defaults) > 0 && len(z.defaults) != len(z.inputs):
		return nil, mongoerr.New(34467, "defaults and inputs must have the same length")
	}
	if allConstant(z.inputs) && allConstant(z.defaults) {
		return p.fold(z), nil
	}
	return z, nil
}

func (p *parser) list(v value.Value, code mongoerr.Code, name string) (out []node, err error) {
	if v.Kind() != value.KindArray {
		return nil, mongoerr.Newf(code, "%s must be an array of expressions, found %s", name, v.Kind())
	}
	for e := range v.Doc().Values() {
		n, err := p.operand(e)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}

// eval builds one array for each position, up to the shortest input, or the
// longest with defaults.
func (z *zip) eval(env *Env) (value.Value, error) {
	columns, null, err := arraysOf(z.inputs, env, func(v value.Value) error {
		return mongoerr.Newf(34468, "$zip found a non-array expression in input: %s", v.Compact())
	})
	if null || err != nil {
		return value.Null(), err
	}
	shortest, longest := 1<<31, 0
	for _, c := range columns {
		n := c.Doc().Len()
		shortest, longest = min(shortest, n), max(longest, n)
	}
	defaults := make([]value.Value, len(z.inputs))
	if shortest != longest {
		for i, n := range z.defaults {
			if defaults[i], err = n.eval(env); err != nil {
				return value.Value{}, err
			}
		}
	}
	rows := shortest
	if z.longest {
		rows = longest
	}
	out := arrayBuilder{env: env, op: "$zip"}
	row, elements := make([]value.Value, len(columns)), make([]value.Iter, len(columns))
	for i, c := range columns {
		elements[i] = c.Doc().Iter()
	}
	for range rows {
		if err := env.tick(); err != nil {
			return value.Value{}, err
		}
		for i := range columns {
			row[i] = defaults[i]
			if elements[i].Next() {
				row[i] = elements[i].Value()
			}
		}
		out.Append(value.NewArray(row...))
		if err := out.check(); err != nil {
			return value.Value{}, err
		}
	}
	return out.Value(), nil
}

func (z *zip) deps(d *depSink) {
	depsAll(z.inputs, d)
	depsAll(z.defaults, d)
}

func (z *zip) serial() value.Value {
	b := value.NewBuilder()
	b.Append("inputs", serialAll(z.inputs))
	if len(z.defaults) > 0 {
		b.Append("defaults", serialAll(z.defaults))
	}
	b.Bool("useLongestLength", z.longest)
	return value.Document(value.NewDoc("$zip", value.Document(b.Doc())))
}
