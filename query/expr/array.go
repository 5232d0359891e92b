package expr

import (
	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// elements lists the elements of an array.
func elements(v value.Value) []value.Value {
	out := make([]value.Value, 0, 8)
	it := v.Doc().Iter()
	for it.Next() {
		out = append(out, it.Value())
	}
	return out
}

func evalArrayElemAt(c *call, env *Env) (value.Value, error) {
	a, i, err := two(c, env)
	if err != nil {
		return value.Value{}, err
	}
	return elemAt(c, a, i)
}

func evalFirst(c *call, env *Env) (value.Value, error) {
	a, err := c.args[0].eval(env)
	if err != nil {
		return value.Value{}, err
	}
	return elemAt(c, a, value.Int32(0))
}

func evalLast(c *call, env *Env) (value.Value, error) {
	a, err := c.args[0].eval(env)
	if err != nil {
		return value.Value{}, err
	}
	return elemAt(c, a, value.Int32(-1))
}

// elemAt returns the element at an index, which counts from the end if it is
// negative; Missing if it is out of bounds.
func elemAt(c *call, a, index value.Value) (value.Value, error) {
	if a.IsNullish() || index.IsNullish() {
		return value.Null(), nil
	}
	if a.Kind() != value.KindArray {
		which := "first argument"
		if len(c.args) == 1 {
			which = "argument"
		}
		return value.Value{}, mongoerr.Newf(28689, "%s's %s must be an array, but is %s", c.op.name, which, a.Kind())
	}
	if !index.IsNumber() {
		return value.Value{}, mongoerr.Newf(28690, "%s's second argument must be a numeric value, but is %s", c.op.name, index.Kind())
	}
	i, ok := asInt32(index)
	if !ok {
		return value.Value{}, mongoerr.Newf(28691, "%s's second argument must be representable as a 32-bit integer: %s",
			c.op.name, value.ShortDouble(index.AsDouble()))
	}
	n := int(i)
	if n < 0 {
		if n += a.Doc().Len(); n < 0 {
			return value.Value{}, nil
		}
	}
	return a.Doc().Index(n), nil
}

// evalConcatArrays evaluates $concatArrays: null if an argument is null.
func evalConcatArrays(c *call, env *Env) (value.Value, error) {
	var arrays []value.Doc
	size := 0
	for _, n := range c.args {
		v, null, err := ofKind(n, env, value.KindArray, 28664, "$concatArrays only supports arrays, not %s")
		if null || err != nil {
			return value.Null(), err
		}
		arrays = append(arrays, v.Doc())
		size += len(v.Doc())
	}
	out := arrayBuilder{env: env, op: "$concatArrays"}
	if size >= smallValue {
		size = joined(arrays...)
		if err := checkSize(size); err != nil {
			return value.Value{}, err
		}
		if err := out.reserve(size); err != nil {
			return value.Value{}, err
		}
	}
	for _, d := range arrays {
		it := d.Iter()
		for it.Next() {
			if err := env.tick(); err != nil {
				return value.Value{}, err
			}
			out.Append(it.Value())
		}
	}
	return out.Value(), nil
}

// evalIn evaluates $in, by binary search if the array is a constant.
func evalIn(c *call, env *Env) (value.Value, error) {
	if list, ok := c.data.(*constantList); ok && list.orders(env) {
		v, err := c.args[0].eval(env)
		if err != nil {
			return value.Value{}, err
		}
		return value.Bool(!v.IsMissing() && list.has(v)), nil
	}
	v, a, err := two(c, env)
	if err != nil {
		return value.Value{}, err
	}
	if a.Kind() != value.KindArray {
		return value.Value{}, mongoerr.Newf(40081, "$in requires an array as a second argument, found: %s", a.Kind())
	}
	it := a.Doc().Iter()
	for it.Next() {
		if err := env.tick(); err != nil {
			return value.Value{}, err
		}
		if compareValues(env, v, it.Value()) == 0 {
			return value.Bool(true), nil
		}
	}
	return value.Bool(false), nil
}

// evalIndexOfArray evaluates $indexOfArray within the optional bounds.
func evalIndexOfArray(c *call, env *Env) (value.Value, error) {
	a, null, err := ofKind(c.args[0], env, value.KindArray, 40090, "$indexOfArray requires an array as a first argument, found: %s")
	if null || err != nil {
		return value.Null(), err
	}
	target, err := c.args[1].eval(env)
	if err != nil {
		return value.Value{}, err
	}
	start, end, err := searchBounds(c, env, dialect.IndexOfArrayIntegral, dialect.IndexOfArrayNegative)
	if err != nil {
		return value.Value{}, err
	}
	i := 0
	it := a.Doc().Iter()
	for ; it.Next() && i < end; i++ {
		if err := env.tick(); err != nil {
			return value.Value{}, err
		}
		if i >= start && compareValues(env, it.Value(), target) == 0 {
			return value.Int32(int32(i)), nil
		}
	}
	return value.Int32(-1), nil
}

// searchBounds evaluates the optional start and end of the $indexOf family, which must be
// integral and not negative.
func searchBounds(c *call, env *Env, integral, negative *dialect.Error) (start, end int, err error) {
	bound := func(i int, what string) (int, error) {
		v, err := c.args[i].eval(env)
		if err != nil {
			return 0, err
		}
		n, ok := asInt32(v)
		if !ok {
			return 0, c.dialect.Error(integral, c.op.name, what, v.Kind(), v.Compact())
		}
		if n < 0 {
			return 0, c.dialect.Error(negative, c.op.name, what, v)
		}
		return int(n), nil
	}
	end = 1 << 31
	if len(c.args) > 2 {
		if start, err = bound(2, "starting index"); err != nil {
			return 0, 0, err
		}
	}
	if len(c.args) > 3 {
		end, err = bound(3, "ending index")
	}
	return start, end, err
}

var evalIsArray = ofOne(func(v value.Value) value.Value { return value.Bool(v.Kind() == value.KindArray) })

// evalRange evaluates $range; its arguments must be whole 32-bit numbers and
// the step not zero.
func evalRange(c *call, env *Env) (value.Value, error) {
	start, err := rangeBound(c, env, 0)
	if err != nil {
		return value.Value{}, err
	}
	end, err := rangeBound(c, env, 1)
	if err != nil {
		return value.Value{}, err
	}
	step := int64(1)
	if len(c.args) == 3 {
		if step, err = rangeBound(c, env, 2); err != nil {
			return value.Value{}, err
		}
		if step == 0 {
			return value.Value{}, mongoerr.New(34449, "$range requires a non-zero step value")
		}
	}
	steps := (end - start) / step
	if limit := env.rangeBytes(); steps >= 0 && 24+(steps+1)*valueBytes >= limit {
		return value.Value{}, mongoerr.Newf(mongoerr.ExceededMemoryLimit,
			"$range would use too much memory (%d bytes) and cannot spill to disk. Memory limit: %d bytes", 24+(steps+1)*valueBytes, limit)
	}
	out := arrayBuilder{env: env, op: "$range"}
	if n := int(steps + 1); steps > 0 {
		if err := out.reserve(emptyDoc + 5*n + value.ArrayNames(n)); err != nil { // 5: type and number
			return value.Value{}, err
		}
	}
	for i := start; step > 0 && i < end || step < 0 && i > end; i += step {
		if err := env.tick(); err != nil {
			return value.Value{}, err
		}
		out.Append(value.Int32(int32(i)))
	}
	return out.Value(), nil
}

// rangeBounds are the errors for the arguments of $range.
var rangeBounds = [...]struct {
	code                 mongoerr.Code
	what, article, colon string
}{
	{34443, "starting value", "a", ": "},
	{34445, "ending value", "an", ": "},
	{34447, "step value", "a", ":"}, // sic: mongod
}

func rangeBound(c *call, env *Env, i int) (int64, error) {
	b := rangeBounds[i]
	v, err := c.args[i].eval(env)
	if err != nil {
		return 0, err
	}
	if !v.IsNumber() {
		return 0, mongoerr.Newf(b.code, "$range requires a numeric %s, found value of type%s%s", b.what, b.colon, v.Kind())
	}
	n, ok := asInt32(v)
	if !ok {
		return 0, mongoerr.Newf(b.code+1, "$range requires %s %s that can be represented as a 32-bit integer, found value: %s", b.article, b.what, v.Compact())
	}
	return int64(n), nil
}

func evalReverseArray(c *call, env *Env) (value.Value, error) {
	v, null, err := ofKind(c.args[0], env, value.KindArray, 34435, "The argument to $reverseArray must be an array, but was of type: %s")
	if null || err != nil {
		return value.Null(), err
	}
	l, err := listOf(env, c.op.name, v)
	if err != nil {
		return value.Value{}, err
	}
	l.reverse()
	return l.array(l.len())
}

func evalSize(c *call, env *Env) (value.Value, error) {
	v, err := c.args[0].eval(env)
	if err != nil {
		return value.Value{}, err
	}
	if v.Kind() != value.KindArray {
		return value.Value{}, mongoerr.Newf(17124, "The argument to $size must be an array, but was of type: %s", v.Kind())
	}
	return value.Int32(int32(v.Doc().Len())), nil
}

// evalSlice evaluates $slice with [array, n] or [array, position, n].
func evalSlice(c *call, env *Env) (value.Value, error) {
	a, n, err := two(c, env)
	switch {
	case err != nil:
		return value.Value{}, err
	case a.IsNullish() || n.IsNullish():
		return value.Null(), nil
	case a.Kind() != value.KindArray:
		return value.Value{}, mongoerr.Newf(28724, "First argument to $slice must be an array, but is of type: %s", a.Kind())
	}
	first, err := sliceArg(n, 28725, "Second")
	if err != nil {
		return value.Value{}, err
	}
	size := a.Doc().Len()
	start, count := 0, first
	switch {
	case len(c.args) == 3:
		m, err := c.args[2].eval(env)
		if err != nil {
			return value.Value{}, err
		}
		if m.IsNullish() {
			return value.Null(), nil
		}
		if count, err = sliceArg(m, 28727, "Third"); err != nil {
			return value.Value{}, err
		}
		if count <= 0 {
			return value.Value{}, mongoerr.Newf(28729, "Third argument to $slice must be positive: %s", m)
		}
		start = first
		if start < 0 {
			start = max(0, size+start)
		}
	case first < 0:
		start, count = max(0, size+first), size
	}
	return sliceOf(env, a, start, count)
}

func sliceOf(env *Env, a value.Value, start, count int) (value.Value, error) {
	out := arrayBuilder{env: env, op: "$slice"}
	i := 0
	it := a.Doc().Iter()
	for ; it.Next() && i-start < count; i++ {
		if err := env.tick(); err != nil {
			return value.Value{}, err
		}
		if i < start {
			continue
		}
		if i == start {
			if err := out.reserve(min(len(it.Rest())+len(it.Element())+emptyDoc, 64*count)); err != nil {
				return value.Value{}, err
			}
		}
		out.Append(it.Value())
		if err := out.grown(); err != nil {
			return value.Value{}, err
		}
	}
	return out.Value(), nil
}

func sliceArg(v value.Value, code mongoerr.Code, which string) (int, error) {
	if !v.IsNumber() {
		if which == "Second" {
			return 0, mongoerr.Newf(code, "Second argument to $slice must be a numeric value, but is of type: %s", v.Kind())
		}
		return 0, mongoerr.Newf(code, "Third argument to $slice must be numeric, but is of type: %s", v.Kind())
	}
	n, ok := asInt32(v)
	if !ok {
		return 0, mongoerr.Newf(code+1, "%s argument to $slice can't be represented as a 32-bit integer: %s", which, value.ShortDouble(v.AsDouble()))
	}
	return int(n), nil
}
