package update

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// arithmetic is $inc and $mul.
type arithmetic struct {
	creator
	name    string
	operand value.Value
	apply   func(a, b value.Value) (value.Value, bool)
	initial value.Value // the result for a missing field
}

func compileInc(_ *compiler, path string, v value.Value) (modifier, error) {
	if !v.IsNumber() {
		return nil, notNumeric("increment", path, v)
	}
	return &arithmetic{name: "$inc", operand: v, apply: value.Add, initial: v}, nil
}

func compileMul(_ *compiler, path string, v value.Value) (modifier, error) {
	if !v.IsNumber() {
		return nil, notNumeric("multiply", path, v)
	}
	zero, _ := value.Mul(v, value.Int32(0))
	return &arithmetic{name: "$mul", operand: v, apply: value.Mul, initial: zero}, nil
}

func notNumeric(verb, path string, v value.Value) error {
	return mongoerr.Newf(mongoerr.TypeMismatch, "Cannot %s with non-numeric argument: {%s}", verb, elementString(path, v))
}

// update computes the new number, and reports an unchanged element if it is of the same type and
// equal: -0.0 stays when 0 is added.
func (m *arithmetic) update(a *applier, e element) (outcome, error) {
	if !e.value.IsNumber() {
		return 0, mongoerr.Newf(mongoerr.TypeMismatch, "Cannot apply %s to a value of non-numeric type. {%s} has the field '%s'"+
			" of non-numeric type %s", m.name, a.idString("no id"), a.name(), e.kind())
	}
	result, ok := m.apply(e.value, m.operand)
	if !ok {
		return 0, mongoerr.Newf(mongoerr.BadValue, "Failed to apply %s operations to current value (%s) for document {%s}",
			m.name, debugNumber(e.value), a.idString("no id"))
	}
	if result.Kind() == e.kind() && value.Equal(result, e.value) && !result.IsNaN() {
		return unchanged, nil
	}
	a.put(result)
	return replaced, a.checkDepth(0)
}

func (m *arithmetic) create(a *applier) error {
	a.put(m.initial)
	return a.checkDepth(0)
}

// debugNumber prints a number as mongod does where arithmetic fails.
func debugNumber(v value.Value) string {
	names := map[value.Kind]string{
		value.KindInt32: "(NumberInt)", value.KindInt64: "(NumberLong)",
		value.KindDouble: "(NumberDouble)", value.KindDecimal: "(NumberDecimal)",
	}
	return names[v.Kind()] + v.String()
}

// extremum is $min and $max.
type extremum struct {
	creator
	constant
	sign int // +1 for $max, -1 for $min
}

func compileMax(_ *compiler, _ string, v value.Value) (modifier, error) {
	return &extremum{constant: newConstant(v), sign: 1}, nil
}

func compileMin(_ *compiler, _ string, v value.Value) (modifier, error) {
	return &extremum{constant: newConstant(v), sign: -1}, nil
}

func (m *extremum) update(a *applier, e element) (outcome, error) {
	if value.CompareWith(m.value, e.value, a.u.opts.Collation)*m.sign <= 0 {
		return unchanged, nil
	}
	return replaced, a.putConstant(&m.constant)
}

func (m *extremum) create(a *applier) error { return a.putConstant(&m.constant) }

// bitwise is $bit: a list of operations, applied in order.
type bitwise struct {
	creator
	ops []bitOp
}

type bitOp struct {
	apply   func(a, b int64) int64
	operand value.Value
}

// bitOps are the operations of $bit. Please keep sorted.
var bitOps = map[string]func(a, b int64) int64{
	"and": func(a, b int64) int64 { return a & b },
	"or":  func(a, b int64) int64 { return a | b },
	"xor": func(a, b int64) int64 { return a ^ b },
}

// compileBit compiles $bit: a document of operations and, or, xor with whole
// numbers.
func compileBit(_ *compiler, _ string, v value.Value) (modifier, error) {
	if v.Kind() != value.KindDocument {
		return nil, mongoerr.Newf(mongoerr.BadValue, "The $bit modifier is not compatible with a %s. You must pass in an"+
			" embedded document: {$bit: {field: {and/or/xor: #}}", v.Kind())
	}
	m := &bitwise{}
	for name, operand := range v.Doc().All() {
		apply := bitOps[name]
		if apply == nil {
			return nil, mongoerr.Newf(mongoerr.BadValue, "The $bit modifier only supports 'and', 'or', and 'xor', not '%s'"+
				" which is an unknown operator: {%s}", name, elementString(name, operand))
		}
		if !isIntegral(operand) {
			return nil, mongoerr.Newf(mongoerr.BadValue, "The $bit modifier field must be an Integer(32/64 bit); a '%s'"+
				" is not supported here: {%s}", operand.Kind(), elementString(name, operand))
		}
		m.ops = append(m.ops, bitOp{apply, operand})
	}
	if len(m.ops) == 0 {
		return nil, mongoerr.New(mongoerr.BadValue,
			"You must pass in at least one bitwise operation. The format is: {$bit: {field: {and/or/xor: #}}")
	}
	return m, nil
}

func isIntegral(v value.Value) bool {
	return v.Kind() == value.KindInt32 || v.Kind() == value.KindInt64
}

func (m *bitwise) update(a *applier, e element) (outcome, error) {
	if !isIntegral(e.value) {
		// sic: mongod
		return 0, mongoerr.Newf(mongoerr.BadValue, "Cannot apply $bit to a value of non-integral type.%s has the field %s"+
			" of non-integer type %s", a.idString(noElement), a.name(), e.kind())
	}
	result := m.eval(e.value)
	if result == e.value.Int64() && m.kind(e.value) == e.kind() {
		return unchanged, nil
	}
	a.put(m.result(e.value))
	return replaced, a.checkDepth(0)
}

func (m *bitwise) create(a *applier) error {
	a.put(m.result(value.Int32(0)))
	return a.checkDepth(0)
}

func (m *bitwise) eval(v value.Value) int64 {
	n := v.Int64()
	for _, op := range m.ops {
		n = op.apply(n, op.operand.Int64())
	}
	return n
}

// kind is long if any operand is a long.
func (m *bitwise) kind(v value.Value) value.Kind {
	k := v.Kind()
	for _, op := range m.ops {
		if op.operand.Kind() == value.KindInt64 {
			k = value.KindInt64
		}
	}
	return k
}

func (m *bitwise) result(v value.Value) value.Value {
	if n := m.eval(v); m.kind(v) == value.KindInt64 {
		return value.Int64(n)
	} else {
		return value.Int32(int32(n))
	}
}
