package expr

import (
	"math"
	"slices"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// percentile is a compiled $percentile or $median over an array. Because all
// numbers are known, both methods of the accumulators give the exact discrete
// percentile.
type percentile struct {
	op    *operator
	input node
	p     node // nil for $median
}

// parsePercentile compiles $percentile and $median: input, method and, for
// $percentile, p.
func parsePercentile(p *parser, op *operator, v value.Value) (node, error) {
	if v.Kind() != value.KindDocument {
		return nil, mongoerr.Newf(op.style.object, "specification must be an object; found %s: %s", op.name, v)
	}
	f, err := op.fields(v)
	if err != nil {
		return nil, err
	}
	n := &percentile{op: op}
	if n.input, err = p.operand(f[0]); err != nil {
		return nil, err
	}
	if op.name == "$percentile" {
		if n.p, err = p.operand(f[1]); err != nil {
			return nil, err
		}
		if err := n.checkP(); err != nil {
			return nil, err
		}
	}
	if err := CheckPercentileMethod(op.name, f[len(f)-1]); err != nil {
		return nil, err
	}
	if allConstant([]node{n.input, n.p}) {
		return p.fold(n), nil
	}
	return n, nil
}

// CheckPercentileMethod checks the method of $percentile and $median.
func CheckPercentileMethod(op string, v value.Value) error {
	if v.Kind() != value.KindString {
		return mongoerr.Newf(mongoerr.TypeMismatch, "BSON field '%s.method' is the wrong type '%s', expected type 'string'", op, v.Kind())
	}
	if v.Str() != "approximate" {
		return mongoerr.New(mongoerr.BadValue, "Currently only 'approximate' can be used as a percentile 'method'.")
	}
	return nil
}

// checkP refuses fractions that depend on the document, and checks constant
// ones.
func (n *percentile) checkP() error {
	if (&Expr{n.p}).usesDocument() {
		return mongoerr.Newf(7750300, "The $percentile 'p' field must be an array of constant values, but found value: %s.", n.p.serial().Compact())
	}
	if c, ok := n.p.(constant); ok {
		_, err := CheckPercentiles(c.v)
		return err
	}
	return nil
}

// CheckPercentiles reads the 'p' of $percentile.
func CheckPercentiles(v value.Value) ([]float64, error) {
	if v.Kind() != value.KindArray || v.Doc().IsEmpty() {
		return nil, mongoerr.Newf(7750301, "The $percentile 'p' field must be an array of numbers from [0.0, 1.0], but found: %s", v.Compact())
	}
	var ps []float64
	for e := range v.Doc().Values() {
		if !e.IsNumber() {
			return nil, mongoerr.Newf(7750302, "The $percentile 'p' field must be an array of numbers from [0.0, 1.0], but found: %s", v.Compact())
		}
		f := e.AsDouble()
		if !(f >= 0 && f <= 1) {
			return nil, mongoerr.Newf(7750303, "The $percentile 'p' field must be an array of numbers from [0.0, 1.0], but found: %s", e.Compact())
		}
		ps = append(ps, f)
	}
	return ps, nil
}

// eval sorts the numbers of the input and returns one percentile for each
// fraction, null without numbers.
func (n *percentile) eval(env *Env) (value.Value, error) {
	ps := []float64{0.5}
	if n.p != nil {
		v, err := n.p.eval(env)
		if err != nil {
			return value.Value{}, err
		}
		if ps, err = CheckPercentiles(v); err != nil {
			return value.Value{}, err
		}
	}
	in, err := n.input.eval(env)
	if err != nil {
		return value.Value{}, err
	}
	numbers, err := sortedNumbers(env, in)
	if err != nil {
		return value.Value{}, err
	}
	results := make([]value.Value, len(ps))
	for i, p := range ps {
		results[i] = discrete(numbers, p)
	}
	if n.p == nil {
		return results[0], nil
	}
	return value.NewArray(results...), nil
}

// sortedNumbers are the numbers of an array, or the number itself.
func sortedNumbers(env *Env, in value.Value) (numbers []float64, err error) {
	add := func(v value.Value) {
		if v.IsNumber() && !v.IsNaN() {
			numbers = append(numbers, v.AsDouble())
		}
	}
	if in.Kind() != value.KindArray {
		add(in)
		return numbers, nil
	}
	for e := range in.Doc().Values() {
		if err := env.tick(); err != nil {
			return nil, err
		}
		add(e)
	}
	slices.Sort(numbers) // 8 million take half a second
	return numbers, nil
}

// discrete returns the smallest number that is not exceeded by at least the
// fraction p of the numbers.
func discrete(sorted []float64, p float64) value.Value {
	n := len(sorted)
	if n == 0 {
		return value.Null()
	}
	rank := n - 1
	if p < 1 {
		rank = max(0, int(math.Ceil(float64(n)*p))-1)
	}
	return value.Double(sorted[rank])
}

func (n *percentile) deps(d *depSink) { depsAll([]node{n.input, n.p}, d) }

func (n *percentile) serial() value.Value {
	b := value.NewBuilder()
	b.Append("input", n.input.serial())
	if n.p != nil {
		b.Append("p", n.p.serial())
	}
	b.String("method", "approximate")
	return value.Document(value.NewDoc(n.op.name, value.Document(b.Doc())))
}
