package window

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/group"
	"github.com/duskdb/duskdb/query/agg/order"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// scaler is $minMaxScaler: where a value stands between the smallest and the largest of its
// window, as a number between two others.
type scaler struct {
	smallest, largest *windowFunction // $min and $max over the same window
	low               value.Value     // result for the smallest
	scaled            *expr.Expr      // result, of a document with the fields v, min and max
}

// parseMinMaxScaler compiles {$minMaxScaler: {input: …, min: 0, max: 1}}.
func parseMinMaxScaler(p *stage.Parser, f *windowFunction, arg value.Value, _ order.Pattern) error {
	const name = "$minMaxScaler"
	if arg.Kind() != value.KindDocument {
		return mongoerr.Newf(mongoerr.FailedToParse, "%s must have exactly one argument that is an object", name)
	}
	input, bounds := value.Value{}, map[string]value.Value{"min": value.Int32(0), "max": value.Int32(1)}
	for k, v := range arg.Doc().All() {
		switch k {
		case "input":
			input = v
		case "min", "max":
			n, constant, err := p.Constant(v)
			if err != nil {
				return err
			}
			if !constant || !n.IsNumber() {
				return mongoerr.Newf(mongoerr.FailedToParse, "'%s' of %s must be a constant number", k, name)
			}
			bounds[k] = n
		default:
			return mongoerr.Newf(mongoerr.FailedToParse, "%s got unexpected argument: %s", name, k)
		}
	}
	if input.IsMissing() {
		return mongoerr.Newf(mongoerr.FailedToParse, "%s requires an 'input' expression", name)
	}
	if bounds["min"].AsDouble() >= bounds["max"].AsDouble() {
		return mongoerr.Newf(mongoerr.FailedToParse, "'min' of %s must be less than 'max'", name)
	}
	return f.scale(p, input, bounds["min"], bounds["max"])
}

// scale compiles the parts of $minMaxScaler.
func (f *windowFunction) scale(p *stage.Parser, input, low, high value.Value) (err error) {
	s := &scaler{low: low}
	f.eval, f.scaler = evalMinMaxScaler, s
	if f.arg, err = p.Expr(input); err != nil {
		return err
	}
	s.smallest, s.largest = &windowFunction{op: "$min", bounds: f.bounds}, &windowFunction{op: "$max", bounds: f.bounds}
	for _, part := range []*windowFunction{s.smallest, s.largest} {
		if part.acc, err = group.ParseAccumulator(p, part.op, input); err != nil {
			return err
		}
	}
	of := func(op string, args ...value.Value) value.Value {
		return value.Document(value.NewDoc(op, value.NewArray(args...)))
	}
	v, least, most := value.String("$v"), value.String("$min"), value.String("$max")
	s.scaled, err = p.Expr(of("$add", of("$multiply", of("$divide", of("$subtract", v, least), of("$subtract", most, least)), of("$subtract", high, low)), low))
	return err
}

func evalMinMaxScaler(f *windowFunction, pt *windowPartition) windowResult {
	s := f.scaler
	smallest, largest := evalAccumulator(s.smallest, pt), evalAccumulator(s.largest, pt)
	return func(i int) (value.Value, error) {
		v, err := pt.value(f.arg, i)
		if err != nil {
			return value.Value{}, err
		}
		if !v.IsNumber() {
			return value.Value{}, mongoerr.Newf(10487000, "'input' argument to $minMaxScaler must evaluate to a numeric type, got: %s", v.Kind())
		}
		least, err := smallest(i)
		if err != nil {
			return value.Value{}, err
		}
		most, err := largest(i)
		if err != nil {
			return value.Value{}, err
		}
		if value.Compare(least, most) == 0 {
			return s.low, nil
		}
		return s.scaled.Eval(pt.x.Env, value.NewDoc("v", v, "min", least, "max", most))
	}
}
