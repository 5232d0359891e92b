package group

import (
	"sort"
	"strings"

	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/accumulate"
	"github.com/duskdb/duskdb/query/agg/order"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// Accumulation is a compiled {field: {$op: argument}} of $group, $bucketAuto
// and $setWindowFields.
type Accumulation struct {
	field  string
	Op     string
	Arg    *expr.Expr    // evaluated for each document; nil if the accumulator takes no argument
	n      *expr.Expr    // evaluated for each group; nil if the accumulator takes no n
	SortBy order.Pattern // the order of $top and its relatives
	grows  bool          // its size must be watched
	build  func(n int64) accumulate.Accumulator
	args   value.Value // the arguments, for explain
	script *scripted   // $accumulator and $_internalJsReduce
}

// accumulatorParser compiles the argument of an accumulator.
type accumulatorParser func(p *stage.Parser, a *Accumulation, v value.Value) error

// accumulators is filled by init: please keep sorted.
var accumulators map[string]accumulatorParser

func init() {
	accumulators = map[string]accumulatorParser{
		"$_internalJsReduce": parseScriptReduce,
		"$accumulator":       parseScriptAccumulator,
		"$addToSet": unary(true, func(c value.Collator) accumulate.Accumulator {
			return accumulate.NewAddToSet(c, accumulate.MemoryLimit)
		}),
		"$avg":     unary(false, func(value.Collator) accumulate.Accumulator { return accumulate.NewAvg() }),
		"$bottom":  parseTopBottom,
		"$bottomN": parseTopBottom,
		"$concatArrays": unary(true, func(value.Collator) accumulate.Accumulator {
			return accumulate.NewConcatArrays(accumulate.MemoryLimit)
		}),
		"$count":        parseCountAccumulator,
		"$first":        unary(true, func(value.Collator) accumulate.Accumulator { return accumulate.NewFirst() }),
		"$firstN":       parseN,
		"$last":         unary(true, func(value.Collator) accumulate.Accumulator { return accumulate.NewLast() }),
		"$lastN":        parseN,
		"$max":          unary(true, func(c value.Collator) accumulate.Accumulator { return accumulate.NewMax(c) }),
		"$maxN":         parseN,
		"$median":       parsePercentile,
		"$mergeObjects": unary(true, func(value.Collator) accumulate.Accumulator { return accumulate.NewMergeObjects() }),
		"$min":          unary(true, func(c value.Collator) accumulate.Accumulator { return accumulate.NewMin(c) }),
		"$minN":         parseN,
		"$percentile":   parsePercentile,
		"$push":         unary(true, func(value.Collator) accumulate.Accumulator { return accumulate.NewPush(accumulate.MemoryLimit) }),
		"$setUnion": unary(true, func(c value.Collator) accumulate.Accumulator {
			return accumulate.NewSetUnion(c, accumulate.MemoryLimit)
		}),
		"$stdDevPop":  unary(false, func(value.Collator) accumulate.Accumulator { return accumulate.NewStdDev(false) }),
		"$stdDevSamp": unary(false, func(value.Collator) accumulate.Accumulator { return accumulate.NewStdDev(true) }),
		"$sum":        unary(false, func(value.Collator) accumulate.Accumulator { return accumulate.NewSum() }),
		"$top":        parseTopBottom,
		"$topN":       parseTopBottom,
	}
}

// since are the changes that have added accumulators.
var since = map[string]dialect.Change{
	"$concatArrays": dialect.ConcatArraysAccumulator,
	"$setUnion":     dialect.SetUnionAccumulator,
}

// Has reports whether a version of MongoDB has one of Accumulators.
func Has(d dialect.Dialect, op string) bool { return d.Has(since[op]) }

// Accumulators returns the names of the accumulators of $group, sorted, without the
// server's internal ones.
func Accumulators() []string {
	var names []string
	for name := range accumulators {
		if !strings.HasPrefix(name, "$_internal") {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}

// accumulation compiles one field of $group.
func accumulation(p *stage.Parser, field string, v value.Value) (*Accumulation, error) {
	switch {
	case strings.Contains(field, "."):
		return nil, mongoerr.Newf(40235, "The field name '%s' cannot contain '.'", field)
	case strings.HasPrefix(field, "$"):
		return nil, mongoerr.Newf(40236, "The field name '%s' cannot be an operator name", field)
	case v.Kind() != value.KindDocument:
		return nil, mongoerr.Newf(40234, "The field '%s' must be an accumulator object", field)
	}
	op, arg := v.Doc().First()
	switch {
	case !strings.HasPrefix(op, "$"):
		return nil, mongoerr.Newf(40234, "The field '%s' must be an accumulator object", field)
	case v.Doc().Len() != 1:
		return nil, mongoerr.Newf(40238, "The field '%s' must specify one accumulator", field)
	}
	parse := accumulators[op]
	switch {
	case arg.Kind() == value.KindArray:
		return nil, mongoerr.Newf(40237, "The %s accumulator is a unary operator", op)
	case parse == nil || !Has(p.Scope.Dialect(), op):
		return nil, mongoerr.Newf(15952, "unknown group operator '%s'", op)
	}
	a := &Accumulation{field: strings.Clone(field), Op: strings.Clone(op)}
	return a, parse(p, a, arg)
}

// ParseAccumulator compiles the argument of one of Accumulators.
func ParseAccumulator(p *stage.Parser, op string, arg value.Value) (*Accumulation, error) {
	a := &Accumulation{Op: op}
	return a, accumulators[op](p, a, arg)
}

// unary makes the parser of an accumulator with one expression.
func unary(grows bool, build func(value.Collator) accumulate.Accumulator) accumulatorParser {
	return func(p *stage.Parser, a *Accumulation, v value.Value) (err error) {
		a.grows = grows
		a.Arg, err = p.Expr(v)
		a.build = func(int64) accumulate.Accumulator { return build(p.Collation) }
		return err
	}
}

func parseCountAccumulator(_ *stage.Parser, a *Accumulation, v value.Value) error {
	if v.Kind() != value.KindDocument || !v.Doc().IsEmpty() {
		return mongoerr.New(mongoerr.TypeMismatch, "$count takes no arguments, i.e. $count:{}")
	}
	a.args = v
	a.build = func(int64) accumulate.Accumulator { return accumulate.NewCount() }
	return nil
}

// parseN compiles $firstN, $lastN, $minN and $maxN.
func parseN(p *stage.Parser, a *Accumulation, v value.Value) (err error) {
	if v.Kind() != value.KindDocument {
		code := mongoerr.Code(5787801)
		if a.Op == "$minN" || a.Op == "$maxN" {
			code = 5787900
		}
		return mongoerr.Newf(code, "specification must be an object; found %s: %s", a.Op, v)
	}
	for k, f := range v.Doc().All() {
		switch k {
		case "input":
			a.Arg, err = p.Expr(f)
		case "n":
			a.n, err = p.Expr(f)
		default:
			err = mongoerr.Newf(5787901, "Unknown argument for 'n' operator: %s", k)
		}
		if err != nil {
			return err
		}
	}
	switch {
	case a.n == nil:
		return mongoerr.New(5787906, "Missing value for 'n'")
	case a.Arg == nil:
		return mongoerr.New(5787907, "Missing value for 'input'")
	}
	a.grows = true
	switch a.Op {
	case "$firstN":
		a.build = func(n int64) accumulate.Accumulator { return accumulate.NewFirstN(n) }
	case "$lastN":
		a.build = func(n int64) accumulate.Accumulator { return accumulate.NewLastN(n) }
	case "$minN":
		a.build = func(n int64) accumulate.Accumulator { return accumulate.NewMinN(n, p.Collation) }
	default:
		a.build = func(n int64) accumulate.Accumulator { return accumulate.NewMaxN(n, p.Collation) }
	}
	a.args = value.Document(value.NewDoc("n", a.n.Value(), "input", a.Arg.Value()))
	return nil
}

// parseTopBottom compiles $top, $topN, $bottom and $bottomN.
func parseTopBottom(p *stage.Parser, a *Accumulation, v value.Value) (err error) {
	if v.Kind() != value.KindDocument {
		return mongoerr.Newf(5788001, "specification must be an object; found %s: %s", a.Op, v)
	}
	single := !strings.HasSuffix(a.Op, "N")
	for k, f := range v.Doc().All() {
		switch {
		case k == "n" && !single:
			a.n, err = p.Expr(f)
		case k == "output":
			a.Arg, err = p.Expr(f)
		case k == "sortBy":
			if f.Kind() != value.KindDocument {
				return mongoerr.Newf(10065, "invalid parameter: expected an object (sortBy)")
			}
			a.SortBy, err = order.ParsePattern(f.Doc())
		default:
			err = mongoerr.Newf(5788002, "Unknown argument to %s '%s'", a.Op, k)
		}
		if err != nil {
			return err
		}
	}
	switch {
	case a.n == nil && !single:
		return mongoerr.New(5788003, "Missing value for 'n'")
	case a.Arg == nil:
		return mongoerr.New(5788004, "Missing value for 'output'")
	case a.SortBy == nil:
		return mongoerr.New(5788005, "Missing value for 'sortBy'")
	}
	a.grows = true
	a.build = func(n int64) accumulate.Accumulator { return accumulate.NewTop(n, single) }
	if strings.HasPrefix(a.Op, "$bottom") {
		a.build = func(n int64) accumulate.Accumulator { return accumulate.NewBottom(n, single) }
	}
	b := value.NewBuilder()
	if !single {
		b.Append("n", a.n.Value())
	}
	a.args = value.Document(b.Append("output", a.Arg.Value()).Document("sortBy", a.SortBy.Doc()).Doc())
	return nil
}

// parsePercentile compiles $percentile and $median.
func parsePercentile(p *stage.Parser, a *Accumulation, v value.Value) (err error) {
	if v.Kind() != value.KindDocument {
		code := mongoerr.Code(7429703)
		if a.Op == "$median" {
			code = 7436100
		}
		return mongoerr.Newf(code, "specification must be an object; found %s: %s", a.Op, v)
	}
	var method, ps value.Value
	for k, f := range v.Doc().All() {
		switch {
		case k == "input":
			a.Arg, err = p.Expr(f)
		case k == "method":
			method = f
		case k == "p" && a.Op == "$percentile":
			ps = f
		default:
			err = stage.UnknownField(a.Op, k)
		}
		if err != nil {
			return err
		}
	}
	fractions := []float64{0.5}
	if a.Arg == nil {
		return stage.MissingField(a.Op, "input")
	}
	if a.Op == "$percentile" {
		if ps.IsMissing() {
			return stage.MissingField(a.Op, "p")
		}
		if fractions, err = percentiles(p, ps); err != nil {
			return err
		}
	}
	if err := checkMethod(a.Op, method); err != nil {
		return err
	}
	a.grows = true
	a.build = func(int64) accumulate.Accumulator { return accumulate.NewPercentile(fractions) }
	b := value.NewBuilder().Append("input", a.Arg.Value())
	if a.Op == "$median" {
		a.build = func(int64) accumulate.Accumulator { return accumulate.NewMedian() }
	} else {
		b.Append("p", doubles(fractions))
	}
	a.args = value.Document(b.String("method", "approximate").Doc())
	return nil
}

func checkMethod(op string, v value.Value) error {
	switch {
	case v.IsMissing():
		return stage.MissingField(op, "method")
	case v.Kind() != value.KindString:
		return stage.WrongType(op, "method", v, "string")
	case v.Str() != "approximate":
		return mongoerr.New(mongoerr.BadValue, "Currently only 'approximate' can be used as percentile 'method'.")
	}
	return nil
}

// percentiles evaluates the constant list p of $percentile.
func percentiles(p *stage.Parser, v value.Value) ([]float64, error) {
	e, err := p.Expr(v)
	if err != nil {
		return nil, err
	}
	c, ok := e.Const()
	if !ok {
		return nil, mongoerr.Newf(7750300, "The $percentile 'p' field must be an array of constant values, but found value: %s.", v.Compact())
	}
	const msg = "The $percentile 'p' field must be an array of numbers from [0.0, 1.0], but found: %s"
	if c.Kind() != value.KindArray || c.Doc().IsEmpty() {
		return nil, mongoerr.Newf(7750301, msg, c)
	}
	var out []float64
	for f := range c.Doc().Values() {
		if !f.IsNumber() {
			return nil, mongoerr.Newf(7750302, msg, f)
		}
		if x := f.AsDouble(); x >= 0 && x <= 1 {
			out = append(out, x)
			continue
		}
		return nil, mongoerr.Newf(7750303, msg, f)
	}
	return out, nil
}

func doubles(fs []float64) value.Value {
	vs := make([]value.Value, len(fs))
	for i, f := range fs {
		vs[i] = value.Double(f)
	}
	return value.NewArray(vs...)
}

// Spec is the accumulation as explain shows it.
func (a *Accumulation) Spec() value.Value {
	arg := a.args
	if arg.IsMissing() {
		arg = a.Arg.Value()
	}
	return value.Document(value.NewDoc(a.Op, arg))
}

// Deps notes what the stage reads.
func (a *Accumulation) Deps(d *stage.Deps) {
	if a.Arg != nil {
		a.Arg.Deps(d.Add, d.All)
	}
	a.SortBy.Deps(d)
}

// Start makes the state of a new group whose key is id.
func (a *Accumulation) Start(x *stage.Exec, id value.Value) (accumulate.Accumulator, error) {
	if a.script != nil {
		return a.script.start(x, id)
	}
	n := int64(1)
	if a.n != nil {
		root := value.EmptyDoc
		if id.Kind() == value.KindDocument {
			root = id.Doc()
		}
		v, err := a.n.Eval(x.Env, root)
		if err != nil {
			return nil, err
		}
		if n, err = expr.CheckN(v); err != nil {
			return nil, err
		}
	}
	acc := a.build(n)
	if l, ok := acc.(interface{ SetLimit(int) }); ok {
		l.SetLimit(x.Limits.OfAccumulator(a.Op))
	}
	return acc, nil
}

// feed adds a document to a state.
func (a *Accumulation) feed(x *stage.Exec, acc accumulate.Accumulator, d value.Doc, c value.Collator) error {
	if a.Arg == nil {
		return acc.Add(value.Value{})
	}
	v, err := a.Arg.Eval(x.Env, d)
	if err != nil {
		return err
	}
	if a.SortBy == nil {
		return acc.Add(v)
	}
	key, err := a.SortBy.AppendKey(nil, x.Env, d, c)
	if err != nil {
		return err
	}
	return acc.(*accumulate.Ranked).AddKeyed(key, v)
}
