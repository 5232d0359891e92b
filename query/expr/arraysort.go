package expr

import (
	"strings"

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
	before := env.held
	v, err := z.rows(env)
	return env.release(before, v), err
}

func (z *zip) rows(env *Env) (value.Value, error) {
	columns, null, err := z.columns(env)
	if null || err != nil {
		return value.Null(), err
	}
	shortest, longest := 1<<31, 0
	for _, c := range columns {
		n := c.Len()
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
		elements[i] = c.Iter()
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

// columns evaluates the inputs; null reports whether one of them is null.
func (z *zip) columns(env *Env) (columns []value.Doc, null bool, err error) {
	for _, n := range z.inputs {
		v, err := n.eval(env)
		switch {
		case err != nil:
			return nil, false, err
		case v.IsNullish():
			return nil, true, nil
		case v.Kind() != value.KindArray:
			return nil, false, mongoerr.Newf(34468, "$zip found a non-array expression in input: %s", v.Compact())
		}
		columns = append(columns, v.Doc())
	}
	return columns, false, nil
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

// sortArray is a compiled $sortArray. Without keys it orders whole values.
type sortArray struct {
	input node
	spec  value.Value
	keys  []sortKey
	whole int // direction
}

type sortKey struct {
	path []string
	dir  int
}

// parseSortArray compiles $sortArray: input and sortBy, which is a direction
// or a sort pattern.
func parseSortArray(p *parser, _ *operator, v value.Value) (node, error) {
	if v.Kind() != value.KindDocument {
		return nil, mongoerr.Newf(2942500, "$sortArray requires an object as an argument, found: %s", v.Kind())
	}
	f, err := fields(v, func(name string) error {
		return mongoerr.Newf(2942501, "$sortArray found an unknown argument: %s", name)
	}, "input", "sortBy")
	switch {
	case err != nil:
		return nil, err
	case f[0].IsMissing():
		return nil, mongoerr.New(2942502, "$sortArray requires 'input' to be specified")
	case f[1].IsMissing():
		return nil, mongoerr.New(2942503, "$sortArray requires 'sortBy' to be specified")
	}
	s := &sortArray{spec: f[1]}
	if s.input, err = p.operand(f[0]); err != nil {
		return nil, err
	}
	if f[1].Kind() == value.KindDocument {
		s.keys, err = sortKeys(f[1].Doc())
	} else {
		s.whole, err = direction(f[1])
	}
	if err != nil {
		return nil, sortByError(f[1], err)
	}
	if _, ok := s.input.(constant); ok {
		return p.fold(s), nil
	}
	return s, nil
}

// sortByError is the error of a 'sortBy', which depends on its form.
func sortByError(by value.Value, err error) error {
	switch e := mongoerr.From(err); {
	case by.Kind() == value.KindDocument:
		return mongoerr.Newf(2942505, "%s: %s", e.Code.Name(), e.Message)
	case by.IsNumber():
		return mongoerr.New(2942506, "The $sort element value must be either 1 or -1")
	}
	return mongoerr.New(2942507, "The $sort is invalid: use 1/-1 to sort the whole element, or {field:1/-1} to sort embedded fields")
}

// sortKeys reads the sort pattern of $sortArray.
func sortKeys(spec value.Doc) (keys []sortKey, err error) {
	if spec.IsEmpty() {
		return nil, mongoerr.New(mongoerr.BadValue, "The sort pattern is empty when it should be a set of fields.")
	}
	for name, v := range spec.All() {
		dir, err := direction(v)
		if err != nil {
			return nil, err
		}
		if name == "" {
			return nil, mongoerr.New(mongoerr.BadValue, "The sort field cannot be empty")
		}
		if strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".") || strings.Contains(name, "..") {
			return nil, mongoerr.Newf(mongoerr.BadValue, "The sort field is a dotted field but has an empty part: %s", name)
		}
		keys = append(keys, sortKey{strings.Split(name, "."), dir})
	}
	return keys, nil
}

func direction(v value.Value) (int, error) {
	if n, ok := v.AsInt64(); ok && (n == 1 || n == -1) {
		return int(n), nil
	}
	return 0, mongoerr.New(mongoerr.BadValue, "The sort element value must be either 1 or -1")
}

// eval sorts the elements of the input, by whole values or by keys.
func (s *sortArray) eval(env *Env) (value.Value, error) {
	before := env.held
	v, err := s.sorted(env)
	return env.release(before, v), err
}

func (s *sortArray) sorted(env *Env) (value.Value, error) {
	v, null, err := ofKind(s.input, env, value.KindArray, 2942504, "The input argument to $sortArray must be an array, but was of type: %s")
	if null || err != nil {
		return value.Null(), err
	}
	l, err := listOf(env, "$sortArray", v)
	if err != nil {
		return value.Value{}, err
	}
	err = l.sort(func(a, b value.Value) int {
		if s.keys == nil {
			return s.whole * env.compare(a, b)
		}
		for _, k := range s.keys {
			if d := env.compare(k.of(a), k.of(b)); d != 0 {
				return k.dir * d
			}
		}
		return 0
	})
	if err != nil {
		return value.Value{}, err
	}
	return l.array(l.len())
}

// of returns the value that an element is ordered by: the value at the path,
// where arrays are entered by position only; null if there is no such value.
func (k sortKey) of(elem value.Value) value.Value {
	if elem.Kind() != value.KindDocument {
		return value.Null()
	}
	for _, name := range k.path {
		if elem.Kind() != value.KindDocument && elem.Kind() != value.KindArray {
			return value.Null()
		}
		if elem = elem.Doc().Lookup(name); elem.IsMissing() {
			return value.Null()
		}
	}
	return elem
}

func (s *sortArray) deps(d *depSink) { s.input.deps(d) }

func (s *sortArray) serial() value.Value {
	return value.Document(value.NewDoc("$sortArray", value.Document(value.NewDoc("input", s.input.serial(), "sortBy", s.spec))))
}

func evalFirstN(c *call, env *Env) (value.Value, error) {
	n, a, err := nOf(c, env)
	if err != nil {
		return value.Value{}, err
	}
	return sliceOf(env, a, 0, n)
}

func evalLastN(c *call, env *Env) (value.Value, error) {
	n, a, err := nOf(c, env)
	if err != nil {
		return value.Value{}, err
	}
	size := a.Doc().Len()
	return sliceOf(env, a, max(0, size-n), size)
}

func evalMinN(c *call, env *Env) (value.Value, error) { return extremes(c, env, 1) }

func evalMaxN(c *call, env *Env) (value.Value, error) { return extremes(c, env, -1) }

// extremes evaluates $minN and $maxN: the first n elements in one direction,
// without null and missing values.
func extremes(c *call, env *Env, dir int) (value.Value, error) {
	n, a, err := nOf(c, env)
	if err != nil {
		return value.Value{}, err
	}
	l, err := listOf(env, c.op.name, a)
	if err == nil {
		err = l.keep(func(v value.Value) bool { return !v.IsNullish() })
	}
	if err == nil {
		err = l.sort(func(x, y value.Value) int { return dir * env.compare(x, y) })
	}
	if err != nil {
		return value.Value{}, err
	}
	return l.array(n)
}

// nOf evaluates the arguments of $firstN and similar operators.
func nOf(c *call, env *Env) (n int, a value.Value, err error) {
	v, err := c.args[0].eval(env)
	if err != nil {
		return 0, a, err
	}
	size, err := CheckN(v)
	if err != nil {
		return 0, a, err
	}
	if a, err = c.args[1].eval(env); err != nil {
		return 0, a, err
	}
	if a.Kind() != value.KindArray {
		return 0, a, mongoerr.New(5788200, "Input must be an array")
	}
	return int(min(size, 1<<31)), a, nil
}

// CheckN checks the n of $firstN, $topN and the like.
func CheckN(v value.Value) (int64, error) {
	if !v.IsNumber() {
		return 0, mongoerr.Newf(5787902, "Value for 'n' must be of integral type, but found %s", v.Compact())
	}
	n, ok := v.AsInt64()
	if !ok {
		return 0, mongoerr.Newf(5787903, "Value for 'n' must be of integral type, but found %s", v.Compact())
	}
	if n <= 0 {
		return 0, mongoerr.Newf(5787908, "'n' must be greater than 0, found %d", n)
	}
	return n, nil
}
