package agg

import (
	"sort"
	"strings"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/agg/accumulate"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// accumulation is a compiled {field: {$op: argument}} of $group, $bucketAuto
// and $setWindowFields.
type accumulation struct {
	field  string
	op     string
	arg    *expr.Expr  // evaluated for each document, nil: none
	n      *expr.Expr  // evaluated for each group, nil: none
	sortBy sortPattern // of $top and its relatives
	grows  bool        // its size must be watched
	build  func(n int64) accumulate.Accumulator
	args   value.Value // for explain
	script *scripted   // $accumulator and its relative
}

// accumulatorParser compiles the argument of an accumulator.
type accumulatorParser func(p *parser, a *accumulation, v value.Value) error

// accumulators is filled by init: please keep sorted.
var accumulators map[string]accumulatorParser

func init() {
	accumulators = map[string]accumulatorParser{
		"$_internalJsReduce": parseScriptReduce,
		"$accumulator":       parseScriptAccumulator,
		"$addToSet": unary(true, func(c value.Collator) accumulate.Accumulator {
			return accumulate.NewAddToSet(c, accumulate.MemoryLimit)
		}),
		"$avg":          unary(false, func(value.Collator) accumulate.Accumulator { return accumulate.NewAvg() }),
		"$bottom":       parseTopBottom,
		"$bottomN":      parseTopBottom,
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
		"$stdDevPop":    unary(false, func(value.Collator) accumulate.Accumulator { return accumulate.NewStdDev(false) }),
		"$stdDevSamp":   unary(false, func(value.Collator) accumulate.Accumulator { return accumulate.NewStdDev(true) }),
		"$sum":          unary(false, func(value.Collator) accumulate.Accumulator { return accumulate.NewSum() }),
		"$top":          parseTopBottom,
		"$topN":         parseTopBottom,
	}
}

// AccumulatorNames lists the accumulators of $group, sorted, without those that
// only the server uses.
func AccumulatorNames() []string {
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
func (p *parser) accumulation(field string, v value.Value) (*accumulation, error) {
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
	case parse == nil:
		return nil, mongoerr.Newf(15952, "unknown group operator '%s'", op)
	}
	a := &accumulation{field: strings.Clone(field), op: strings.Clone(op)}
	return a, parse(p, a, arg)
}

// accumulator compiles the argument of one of AccumulatorNames.
func (p *parser) accumulator(op string, arg value.Value) (*accumulation, error) {
	a := &accumulation{op: op}
	return a, accumulators[op](p, a, arg)
}

// unary makes the parser of an accumulator with one expression.
func unary(grows bool, build func(value.Collator) accumulate.Accumulator) accumulatorParser {
	return func(p *parser, a *accumulation, v value.Value) (err error) {
		a.grows = grows
		a.arg, err = p.expr(v)
		a.build = func(int64) accumulate.Accumulator { return build(p.Collation) }
		return err
	}
}

func parseCountAccumulator(_ *parser, a *accumulation, v value.Value) error {
	if v.Kind() != value.KindDocument || !v.Doc().IsEmpty() {
		return mongoerr.New(mongoerr.TypeMismatch, "$count takes no arguments, i.e. $count:{}")
	}
	a.args = v
	a.build = func(int64) accumulate.Accumulator { return accumulate.NewCount() }
	return nil
}

// parseN compiles $firstN, $lastN, $minN and $maxN.
func parseN(p *parser, a *accumulation, v value.Value) (err error) {
	if v.Kind() != value.KindDocument {
		code := mongoerr.Code(5787801)
		if a.op == "$minN" || a.op == "$maxN" {
			code = 5787900
		}
		return mongoerr.Newf(code, "specification must be an object; found %s: %s", a.op, v)
	}
	for k, f := range v.Doc().All() {
		switch k {
		case "input":
			a.arg, err = p.expr(f)
		case "n":
			a.n, err = p.expr(f)
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
	case a.arg == nil:
		return mongoerr.New(5787907, "Missing value for 'input'")
	}
	a.grows = true
	switch a.op {
	case "$firstN":
		a.build = func(n int64) accumulate.Accumulator { return accumulate.NewFirstN(n) }
	case "$lastN":
		a.build = func(n int64) accumulate.Accumulator { return accumulate.NewLastN(n) }
	case "$minN":
		a.build = func(n int64) accumulate.Accumulator { return accumulate.NewMinN(n, p.Collation) }
	default:
		a.build = func(n int64) accumulate.Accumulator { return accumulate.NewMaxN(n, p.Collation) }
	}
	a.args = value.Document(value.NewDoc("n", a.n.Value(), "input", a.arg.Value()))
	return nil
}

// parseTopBottom compiles $top, $topN, $bottom and $bottomN.
func parseTopBottom(p *parser, a *accumulation, v value.Value) (err error) {
	if v.Kind() != value.KindDocument {
		return mongoerr.Newf(5788001, "specification must be an object; found %s: %s", a.op, v)
	}
	single := !strings.HasSuffix(a.op, "N")
	for k, f := range v.Doc().All() {
		switch {
		case k == "n" && !single:
			a.n, err = p.expr(f)
		case k == "output":
			a.arg, err = p.expr(f)
		case k == "sortBy":
			if f.Kind() != value.KindDocument {
				return mongoerr.Newf(10065, "invalid parameter: expected an object (sortBy)")
			}
			a.sortBy, err = parseSortPattern(f.Doc())
		default:
			err = mongoerr.Newf(5788002, "Unknown argument to %s '%s'", a.op, k)
		}
		if err != nil {
			return err
		}
	}
	switch {
	case a.n == nil && !single:
		return mongoerr.New(5788003, "Missing value for 'n'")
	case a.arg == nil:
		return mongoerr.New(5788004, "Missing value for 'output'")
	case a.sortBy == nil:
		return mongoerr.New(5788005, "Missing value for 'sortBy'")
	}
	a.grows = true
	a.build = func(n int64) accumulate.Accumulator { return accumulate.NewTop(n, single) }
	if strings.HasPrefix(a.op, "$bottom") {
		a.build = func(n int64) accumulate.Accumulator { return accumulate.NewBottom(n, single) }
	}
	b := value.NewBuilder()
	if !single {
		b.Append("n", a.n.Value())
	}
	a.args = value.Document(b.Append("output", a.arg.Value()).Document("sortBy", a.sortBy.doc()).Doc())
	return nil
}

// parsePercentile compiles $percentile and $median.
func parsePercentile(p *parser, a *accumulation, v value.Value) (err error) {
	if v.Kind() != value.KindDocument {
		code := mongoerr.Code(7429703)
		if a.op == "$median" {
			code = 7436100
		}
		return mongoerr.Newf(code, "specification must be an object; found %s: %s", a.op, v)
	}
	var method, ps value.Value
	for k, f := range v.Doc().All() {
		switch {
		case k == "input":
			a.arg, err = p.expr(f)
		case k == "method":
			method = f
		case k == "p" && a.op == "$percentile":
			ps = f
		default:
			err = unknownField(a.op, k)
		}
		if err != nil {
			return err
		}
	}
	fractions := []float64{0.5}
	if a.arg == nil {
		return missingField(a.op, "input")
	}
	if a.op == "$percentile" {
		if ps.IsMissing() {
			return missingField(a.op, "p")
		}
		if fractions, err = p.percentiles(ps); err != nil {
			return err
		}
	}
	if err := checkMethod(a.op, method); err != nil {
		return err
	}
	a.grows = true
	a.build = func(int64) accumulate.Accumulator { return accumulate.NewPercentile(fractions) }
	b := value.NewBuilder().Append("input", a.arg.Value())
	if a.op == "$median" {
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
		return missingField(op, "method")
	case v.Kind() != value.KindString:
		return wrongType(op, "method", v, "string")
	case v.Str() != "approximate":
		return mongoerr.New(mongoerr.BadValue, "Currently only 'approximate' can be used as percentile 'method'.")
	}
	return nil
}

// percentiles evaluates the constant list p of $percentile.
func (p *parser) percentiles(v value.Value) ([]float64, error) {
	e, err := p.expr(v)
	if err != nil {
		return nil, err
	}
	c, ok := e.Const()
	if !ok {
		return nil, mongoerr.Newf(7750300, "The $percentile 'p' field must be an array of constant values, but found value: %s.", v)
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

// spec is the accumulation as explain shows it.
func (a *accumulation) spec() value.Value {
	arg := a.args
	if arg.IsMissing() {
		arg = a.arg.Value()
	}
	return value.Document(value.NewDoc(a.op, arg))
}

func (a *accumulation) deps(d *deps) {
	if a.arg != nil {
		a.arg.Deps(d.add, d.all)
	}
	a.sortBy.deps(d)
}

// start makes the state of a new group whose key is id.
func (a *accumulation) start(x *Exec, id value.Value) (accumulate.Accumulator, error) {
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
		l.SetLimit(x.Limits.of(a.op))
	}
	return acc, nil
}

// feed adds a document to a state.
func (a *accumulation) feed(x *Exec, acc accumulate.Accumulator, d value.Doc, c value.Collator) error {
	if a.arg == nil {
		return acc.Add(value.Value{})
	}
	v, err := a.arg.Eval(x.Env, d)
	if err != nil {
		return err
	}
	if a.sortBy == nil {
		return acc.Add(v)
	}
	key, err := a.sortBy.appendKey(nil, x.Env, d, c)
	if err != nil {
		return err
	}
	return acc.(*accumulate.Ranked).AddKeyed(key, v)
}
