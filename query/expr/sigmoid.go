package expr

import "github.com/duskdb/duskdb/value"

// parseSigmoid compiles {$sigmoid: x} to what it stands for, 1 / (1 + e^-x), so that types,
// errors and rounding are those of the operators in it, as in mongod. x is one operand: an
// array is not a list of arguments.
func parseSigmoid(p *parser, _ *operator, v value.Value) (node, error) {
	one := value.Int32(1)
	apply := func(name string, args ...value.Value) value.Value {
		var list value.ArrayBuilder
		for _, a := range args {
			list.Append(a)
		}
		return value.Document(value.NewDoc(name, list.Value()))
	}
	return p.operand(apply("$divide", one, apply("$add", one, apply("$exp", apply("$multiply", value.Int32(-1), v)))))
}
