package window

import (
	"math"
	"sort"
	"strings"

	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/group"
	"github.com/duskdb/duskdb/query/agg/order"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// windowFunction is a compiled window operator.
type windowFunction struct {
	op      string
	bounds  windowBounds
	arg     *expr.Expr          // evaluated for each document, nil: none
	acc     *group.Accumulation // the accumulator behind operators that are accumulators too
	unit    dateUnit            // the unit of $derivative and $integral
	by      int64               // the distance of $shift
	missing value.Value         // default of $shift
	alpha   value.Decimal       // the factor of $expMovingAvg
	scaler  *scaler             // what $minMaxScaler does; nil: another operator
	eval    windowEval
	args    value.Value // the arguments, for explain
}

// windowParser compiles a window operator; d is the whole {$op: …, window: …}.
type windowParser func(p *stage.Parser, f *windowFunction, arg value.Value, sortBy order.Pattern) error

// windowDef is one line of the table of window operators.
type windowDef struct {
	parse  windowParser
	window bool // takes a window
}

// windowFunctions is filled by init: please keep sorted.
var windowFunctions map[string]windowDef

func init() {
	windowFunctions = map[string]windowDef{
		"$covariancePop":  {parsePlain(evalCovariance), true},
		"$covarianceSamp": {parsePlain(evalCovariance), true},
		"$denseRank":      {parseRank, false},
		"$derivative":     {parseSlope(evalDerivative), true},
		"$documentNumber": {parseRank, false},
		"$expMovingAvg":   {parseExpMovingAvg, false},
		"$first":          {parsePlain(evalFirstLast), true},
		"$integral":       {parseSlope(evalIntegral), true},
		"$last":           {parsePlain(evalFirstLast), true},
		"$linearFill":     {parseLinearFill, false},
		"$locf":           {parsePlain(evalLocf), false},
		"$minMaxScaler":   {parseMinMaxScaler, true},
		"$rank":           {parseRank, false},
		"$shift":          {parseShift, false},
	}
	for _, name := range group.Accumulators() {
		if _, own := windowFunctions[name]; own || name == "$accumulator" || name == "$mergeObjects" {
			continue
		}
		windowFunctions[name] = windowDef{parseWindowAccumulator, true}
	}
}

// Operators lists the supported operators of $setWindowFields, sorted.
func Operators() []string {
	var names []string
	for name := range windowFunctions {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// function compiles {$op: argument, window: {…}}.
func function(p *stage.Parser, d value.Doc, sortBy order.Pattern) (*windowFunction, error) {
	op := ""
	for k := range d.All() {
		if !strings.HasPrefix(k, "$") {
			continue
		}
		if _, ok := windowFunctions[k]; !ok || !group.Has(p.Scope.Dialect(), k) || k == "$minMaxScaler" && !p.Scope.Dialect().Has(dialect.ScoreFusion) {
			return nil, mongoerr.Newf(mongoerr.FailedToParse, "Unrecognized window function, %s", k)
		}
		op = strings.Clone(k)
		break
	}
	if op == "" {
		msg := "Expected a $-prefixed window function"
		if first, _ := d.First(); first != "" {
			msg += ", " + first
		}
		return nil, mongoerr.New(mongoerr.FailedToParse, msg)
	}
	f := &windowFunction{op: op}
	def := windowFunctions[op]
	if err := windowArguments(p, f, def, d, sortBy); err != nil {
		return nil, err
	}
	return f, def.parse(p, f, d.Lookup(op), sortBy)
}

// windowArguments checks the other fields beside the operator and reads the
// window.
func windowArguments(p *stage.Parser, f *windowFunction, def windowDef, d value.Doc, sortBy order.Pattern) (err error) {
	seen := 0
	for k, v := range d.All() {
		switch {
		case k != f.op && (f.op == "$rank" || f.op == "$denseRank" || f.op == "$documentNumber"):
			return mongoerr.New(5371601, "Rank style window functions take no other arguments")
		case k == f.op:
			if seen++; seen > 1 {
				return mongoerr.New(mongoerr.FailedToParse, "Cannot specify two functions in window function spec")
			}
		case windowFunctions[k].parse != nil:
			return mongoerr.New(mongoerr.FailedToParse, "Cannot specify two functions in window function spec")
		case k != "window":
			return unknownWindowArgument(f.op, k)
		case def.window:
			if f.bounds, err = parseBounds(p, v, sortBy); err != nil {
				return err
			}
		case f.op == "$expMovingAvg":
			return mongoerr.New(mongoerr.FailedToParse, "$expMovingAvg must have exactly one argument that is an object")
		case f.op == "$shift":
			return mongoerr.New(mongoerr.FailedToParse, "'window' field is not allowed in '$shift'")
		default:
			return mongoerr.Newf(mongoerr.FailedToParse, "'window' field is not allowed in %s", f.op)
		}
	}
	return nil
}

// unknownWindowArgument returns the error for an unknown field beside the
// operator.
func unknownWindowArgument(op, field string) error {
	switch op {
	case "$bottom", "$bottomN", "$derivative", "$first", "$firstN", "$integral", "$last", "$lastN", "$maxN", "$median", "$minN", "$percentile", "$top", "$topN":
		return mongoerr.Newf(mongoerr.FailedToParse, "%s got unexpected argument: %s", op, field)
	}
	return mongoerr.Newf(mongoerr.FailedToParse, "Window function found an unknown argument: %s", field)
}

// parsePlain compiles operators with one expression.
func parsePlain(eval windowEval) windowParser {
	return func(p *stage.Parser, f *windowFunction, arg value.Value, _ order.Pattern) (err error) {
		f.eval = eval
		f.arg, err = p.Expr(arg)
		return err
	}
}

// parseWindowAccumulator compiles an accumulator of $group.
func parseWindowAccumulator(p *stage.Parser, f *windowFunction, arg value.Value, _ order.Pattern) (err error) {
	f.eval = evalAccumulator
	f.acc, err = group.ParseAccumulator(p, f.op, arg)
	return err
}

func parseRank(_ *stage.Parser, f *windowFunction, arg value.Value, sortBy order.Pattern) error {
	if arg.Kind() != value.KindDocument || !arg.Doc().IsEmpty() {
		return mongoerr.Newf(5371603, "%s must be specified with '{}' as the value", f.op)
	}
	if len(sortBy) != 1 {
		return mongoerr.Newf(5371602, "%s must be specified with a top level sortBy expression with exactly one element", f.op)
	}
	f.args = arg
	f.eval = evalRank
	return nil
}

func parseLinearFill(p *stage.Parser, f *windowFunction, arg value.Value, sortBy order.Pattern) (err error) {
	f.eval = evalLinearFill
	if f.arg, err = p.Expr(arg); err != nil {
		return err
	}
	if len(sortBy) != 1 {
		return mongoerr.Newf(605001, "%s must be specified with a top level sortBy expression with exactly one element", f.op)
	}
	return nil
}

// parseSlope compiles $derivative and $integral: {input, unit}.
func parseSlope(eval windowEval) windowParser {
	return func(p *stage.Parser, f *windowFunction, arg value.Value, sortBy order.Pattern) error {
		f.eval = eval
		fail := func(format string, args ...any) error { return mongoerr.Newf(mongoerr.FailedToParse, format, args...) }
		switch {
		case sortBy == nil:
			return fail("%s requires a sortBy", f.op)
		case len(sortBy) != 1:
			return fail("%s requires a non-compound sortBy", f.op)
		case sortBy[0].Meta:
			return fail("%s requires a non-expression sortBy", f.op)
		case arg.Kind() != value.KindDocument:
			return fail("%s expects an object, but got a %s: %s: %s", f.op, arg.Kind(), f.op, arg)
		}
		if err := f.slopeArguments(p, arg.Doc()); err != nil {
			return err
		}
		switch {
		case f.arg == nil:
			return fail("%s requires an 'input' expression", f.op)
		case f.op == "$derivative" && !f.bounds.given:
			return fail("$derivative requires explicit window bounds")
		}
		b := value.NewBuilder().Append("input", f.arg.Value())
		if f.unit.name != "" {
			b.String("unit", f.unit.name)
		}
		f.args = value.Document(b.Doc())
		return nil
	}
}

func (f *windowFunction) slopeArguments(p *stage.Parser, d value.Doc) (err error) {
	for k, v := range d.All() {
		switch k {
		case "input":
			f.arg, err = p.Expr(v)
		case "unit":
			if v.Kind() != value.KindString {
				return mongoerr.Newf(mongoerr.FailedToParse, "unit' must be a string, but got %s", v.Kind())
			}
			if f.unit, err = parseDateUnit(v.Str()); err == nil && f.unit.months > 0 {
				return mongoerr.New(5490710, "unit must be 'week' or smaller")
			}
		default:
			err = mongoerr.Newf(mongoerr.FailedToParse, "%s got unexpected argument: %s", f.op, k)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func parseExpMovingAvg(p *stage.Parser, f *windowFunction, arg value.Value, sortBy order.Pattern) (err error) {
	f.eval = evalExpMovingAvg
	fail := func(format string, args ...any) error { return mongoerr.Newf(mongoerr.FailedToParse, format, args...) }
	const shape = "$expMovingAvg sub object must have exactly two fields: An 'input' field, and either an 'N' field or an 'alpha' field"
	switch {
	case arg.Kind() != value.KindDocument:
		return fail("$expMovingAvg must have exactly one argument that is an object")
	case arg.Doc().Len() != 2 || !arg.Doc().Has("input"):
		return fail(shape)
	case sortBy == nil:
		return fail("$expMovingAvg requires an explicit 'sortBy'")
	}
	if f.arg, err = p.Expr(arg.Doc().Lookup("input")); err != nil {
		return err
	}
	b := value.NewBuilder()
	if n, ok := arg.Doc().Get("N"); ok {
		if f.alpha, err = alphaOfN(n); err != nil {
			return err
		}
		b.Int64("N", n.SafeInt64())
	} else if alpha, ok := arg.Doc().Get("alpha"); ok {
		if !alpha.IsNumber() {
			return fail("'alpha' must be a number")
		}
		if x := alpha.AsDouble(); !(x > 0 && x < 1) {
			return fail("'alpha' must be between 0 and 1 (exclusive), found alpha: %s", alpha)
		}
		f.alpha = alpha.AsDecimal()
		b.Append("alpha", value.DecimalValue(f.alpha))
	} else {
		return fail("Got unrecognized field in $expMovingAvg" + shape)
	}
	f.args = value.Document(b.Append("input", f.arg.Value()).Doc())
	return nil
}

// alphaOfN returns 2 / (N + 1).
func alphaOfN(v value.Value) (value.Decimal, error) {
	fail := func(format string, args ...any) (value.Decimal, error) {
		return value.Decimal{}, mongoerr.Newf(mongoerr.FailedToParse, format, args...)
	}
	switch {
	case !v.IsNumber():
		return fail("'N' field must be an integer, but found type %s", v.Kind())
	case v.AsDouble() != math.Floor(v.AsDouble()):
		return fail("'N' field must be an integer, but found  N: %s. To use a non-integer, use the 'alpha' argument instead", v)
	case v.SafeInt64() <= 0:
		return fail("'N' must be greater than zero. Got %d", v.SafeInt64())
	}
	n, _ := value.Add(value.DecimalValue(value.DecimalFromInt64(v.SafeInt64())), value.Int32(1))
	alpha, _ := quotient(value.DecimalValue(value.DecimalFromInt64(2)), n)
	return alpha.Decimal(), nil
}

func parseShift(p *stage.Parser, f *windowFunction, arg value.Value, sortBy order.Pattern) (err error) {
	f.eval, f.missing = evalShift, value.Null()
	fail := func(format string, args ...any) error { return mongoerr.Newf(mongoerr.FailedToParse, format, args...) }
	if arg.Kind() != value.KindDocument {
		return fail("Argument to $shift must be an object")
	}
	by := value.Value{}
	for k, v := range arg.Doc().All() {
		switch k {
		case "output":
			f.arg, err = p.Expr(v)
		case "by":
			by = v
		case "default":
			c, ok, cerr := p.Constant(v)
			if cerr == nil && !ok {
				cerr = fail("'$shift:default' expression must yield a constant value.")
			}
			f.missing, err = c, cerr
		default:
			err = fail("Unknown argument in $shift")
		}
		if err != nil {
			return err
		}
	}
	n, whole := by.AsInt64()
	switch {
	case sortBy == nil:
		return fail("'$shift' requires a sortBy")
	case by.IsMissing():
		return fail("'$shift' requires 'by' as an integer value.")
	case f.arg == nil:
		return fail("'$shift' requires an 'output' expression.")
	case !whole || n != int64(int32(n)):
		return fail("'$shift:by' field must be an integer, but found by: %s", by)
	}
	f.by = n
	f.args = value.Document(value.NewBuilder().Int32("by", int32(n)).Append("output", f.arg.Value()).Append("default", f.missing).Doc())
	return nil
}

// spec returns the function as explain shows it.
func (f *windowFunction) spec() value.Value {
	b := value.NewBuilder()
	switch {
	case f.acc != nil:
		op, arg := f.acc.Spec().Doc().First()
		b.Append(op, arg)
	case !f.args.IsMissing():
		b.Append(f.op, f.args)
	default:
		b.Append(f.op, f.arg.Value())
	}
	if windowFunctions[f.op].window {
		b.Append("window", f.bounds.spec())
	}
	return value.Document(b.Doc())
}

func (f *windowFunction) deps(d *stage.Deps) {
	if f.arg != nil {
		f.arg.Deps(d.Add, d.All)
	}
	if f.acc != nil {
		f.acc.Deps(d)
	}
}
