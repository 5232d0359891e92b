package expr

import (
	"strings"

	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// target is the target type of a conversion, with the format of binary data.
type target struct {
	kind    value.Kind
	subtype value.Value
	format  string // "" if none was given
	big     bool   // whether the bytes of a number are big-endian

	maxSubtype int32 // highest subtype that BSON defines
}

var paramsConvert = []param{{"input", mongoerr.FailedToParse}, {"to", mongoerr.FailedToParse}, {"format", 0},
	{"onError", 0}, {"onNull", 0}, {"byteOrder", 0}}

var addedConvert = map[string]dialect.Change{"byteOrder": dialect.ConvertNumbers}

// evalConvert evaluates $convert with its onNull and onError.
func evalConvert(c *call, env *Env) (value.Value, error) {
	to, err := c.args[1].eval(env)
	if err != nil {
		return value.Value{}, err
	}
	in, err := c.args[0].eval(env)
	if err != nil {
		return value.Value{}, err
	}
	format, err := c.arg(env, 2)
	if err != nil {
		return value.Value{}, err
	}
	order, err := c.arg(env, 5)
	if err != nil {
		return value.Value{}, err
	}
	t, null, err := parseTarget(to)
	if err != nil {
		return value.Value{}, err
	}
	if in.IsNullish() {
		return c.orNull(env, 4)
	}
	if null {
		return value.Null(), nil
	}
	if err := t.setFormat(format); err != nil {
		return value.Value{}, err
	}
	if err := t.setByteOrder(order); err != nil {
		return value.Value{}, err
	}
	out, err := convert(in, t, c.dialect)
	if err != nil {
		return c.onError(env, 3, err)
	}
	return out, nil
}

// parseTarget reads the 'to' of $convert: a type or {type, subtype}.
func parseTarget(to value.Value) (t target, null bool, err error) {
	t.subtype = value.Int32(0)
	if to.IsNullish() {
		return t, true, nil
	}
	if to.Kind() == value.KindDocument {
		if sub := to.Doc().Lookup("subtype"); !sub.IsMissing() { // other fields are ignored
			t.subtype = sub
		}
		if to = to.Doc().Lookup("type"); to.IsMissing() {
			return t, false, mongoerr.New(mongoerr.FailedToParse, "Missing 'type' parameter to $convert's 'to' argument")
		}
	}
	t.kind, err = targetKind(to)
	return t, false, err
}

// targetKind reads a type by its name or its number.
func targetKind(to value.Value) (value.Kind, error) {
	switch {
	case to.Kind() == value.KindString:
		if to.Str() == "missing" {
			return value.Missing, nil
		}
		k, ok := value.KindByAlias(to.Str())
		if !ok {
			return 0, mongoerr.Newf(mongoerr.BadValue, "Unknown type name: %s", to.Str())
		}
		return k, nil
	case !to.IsNumber():
		return 0, mongoerr.Newf(mongoerr.FailedToParse, "$convert's 'to' argument must be a string or number, but is %s", to.Kind())
	}
	n, ok := asInt32(to)
	if !ok {
		return 0, mongoerr.New(mongoerr.FailedToParse, "In $convert, numeric 'to' argument is not an integer")
	}
	k := value.Kind(byte(n))
	if n < -1 || n > 127 || n != 0 && !k.Valid() {
		return 0, mongoerr.Newf(mongoerr.FailedToParse, "In $convert, numeric value for 'to' does not correspond to a BSON type: %d", n)
	}
	return k, nil
}

func (t *target) setFormat(v value.Value) error {
	if v.IsNullish() {
		return nil
	}
	if v.Kind() != value.KindString {
		return mongoerr.Newf(4341114, "$convert requires that 'format' be a string, found: %s with value %s", v.Kind(), v.Compact())
	}
	switch t.format = v.Str(); t.format {
	case "auto", "base64", "base64url", "hex", "utf8", "uuid":
		return nil
	}
	return mongoerr.Newf(4341125, "Invalid 'format' argument for $convert: %s", v.Str())
}

func (t *target) setByteOrder(v value.Value) error {
	if v.IsNullish() {
		return nil
	}
	if v.Kind() != value.KindString {
		return mongoerr.Newf(9130001, "$convert requires that 'byteOrder' be a string, found: %s with value %s", v.Kind(), v.Compact())
	}
	t.big = v.Str() == "big"
	if !t.big && v.Str() != "little" {
		return mongoerr.Newf(9130002, "Invalid 'byteOrder' argument for $convert: %s", v.Str())
	}
	return nil
}

// convertTo returns the evaluation of $toInt and similar operators, which are
// $convert to a fixed type.
func convertTo(t target) func(c *call, env *Env) (value.Value, error) {
	if t.subtype.IsMissing() {
		t.subtype = value.Int32(0)
	}
	return func(c *call, env *Env) (value.Value, error) {
		v, err := c.args[0].eval(env)
		if err != nil || v.IsNullish() {
			return value.Null(), err
		}
		return convert(v, t, c.dialect)
	}
}

func parseConvertTo(p *parser, op *operator, v value.Value) (node, error) {
	args, err := p.positional(&operator{name: op.name, max: -1}, v)
	if err != nil {
		return nil, err
	}
	if len(args) != 1 {
		return nil, mongoerr.Newf(50723, "%s requires a single argument, got %d", op.name, len(args))
	}
	return p.finish(p.call(op, args...))
}

// conversion is one cell of the table of types.
type conversion func(v value.Value, t target) (value.Value, error)

// convert converts a value that is not null.
func convert(v value.Value, t target, d dialect.Dialect) (value.Value, error) {
	t.maxSubtype = 8
	if d.Has(dialect.Vectors) {
		t.maxSubtype = vectorSubtype
	}
	if t.kind == value.KindBool && v.Kind() != value.KindUndefined {
		return value.Bool(v.Truthy()), nil
	}
	if f := conversions[v.Kind()][t.kind]; f != nil {
		return f(v, t)
	}
	if f := numberBytes[v.Kind()][t.kind]; f != nil && d.Has(dialect.ConvertNumbers) {
		return f(v, t)
	}
	return value.Value{}, mongoerr.Newf(mongoerr.ConversionFailure,
		"Unsupported conversion from %s to %s in $convert with no onError value", v.Kind(), t.kind)
}

type row = map[value.Kind]conversion

// conversions is the table of conversions, by source and target type. All
// types convert to bool.
var conversions = map[value.Kind]row{
	value.KindDouble: {
		value.KindDouble: same, value.KindString: doubleToString, value.KindDateTime: numberToDate, value.KindInt32: toInt,
		value.KindInt64: toLong, value.KindDecimal: toDecimal,
	},
	value.KindString: {
		value.KindDouble: stringToDouble, value.KindString: same, value.KindBinary: stringToBinary, value.KindObjectID: stringToObjectID,
		value.KindDateTime: stringToDate, value.KindInt32: stringToInt, value.KindInt64: stringToLong, value.KindDecimal: stringToDecimal,
	},
	value.KindBinary:   {value.KindString: binaryToString, value.KindBinary: binaryToBinary},
	value.KindObjectID: {value.KindString: objectIDToString, value.KindObjectID: same, value.KindDateTime: instantToDate},
	value.KindBool: {
		value.KindDouble: boolToNumber(value.Double(0), value.Double(1)), value.KindString: boolToNumber(value.String("false"), value.String("true")),
		value.KindInt32: boolToNumber(value.Int32(0), value.Int32(1)), value.KindInt64: boolToNumber(value.Int64(0), value.Int64(1)),
		value.KindDecimal: boolToNumber(value.DecimalValue(value.DecimalZero), value.DecimalValue(value.DecimalFromInt64(1))),
	},
	value.KindDateTime: {
		value.KindDouble: dateToNumber, value.KindString: dateToString, value.KindDateTime: same, value.KindInt64: dateToNumber,
		value.KindDecimal: dateToNumber,
	},
	value.KindTimestamp: {value.KindDateTime: instantToDate},
	value.KindInt32: {
		value.KindDouble: toDouble, value.KindString: wholeToString, value.KindInt32: same, value.KindInt64: toLong,
		value.KindDecimal: toDecimal,
	},
	value.KindInt64: {
		value.KindDouble: toDouble, value.KindString: wholeToString, value.KindDateTime: numberToDate, value.KindInt32: toInt,
		value.KindInt64: same, value.KindDecimal: toDecimal,
	},
	value.KindDecimal: {
		value.KindDouble: decimalToDouble, value.KindString: wholeToString, value.KindDateTime: numberToDate, value.KindInt32: toInt,
		value.KindInt64: toLong, value.KindDecimal: same,
	},
}

func same(v value.Value, _ target) (value.Value, error) { return v, nil }

func failed(format string, args ...any) (value.Value, error) {
	return value.Value{}, mongoerr.Newf(mongoerr.ConversionFailure, format, args...)
}

func boolToNumber(no, yes value.Value) conversion {
	return func(v value.Value, _ target) (value.Value, error) {
		if v.Bool() {
			return yes, nil
		}
		return no, nil
	}
}

func objectIDToString(v value.Value, _ target) (value.Value, error) {
	return value.String(v.ObjectID().Hex()), nil
}

func stringToObjectID(v value.Value, _ target) (value.Value, error) {
	if id, ok := value.ParseOID(v.Str()); ok {
		return value.ObjectID(id), nil
	}
	if n := len(v.Str()); n != 24 {
		return failed("Failed to parse objectId '%s' in $convert with no onError value:"+
			" Invalid string length for parsing to OID, expected 24 but found %d", v.Str(), n)
	}
	wrong := strings.IndexFunc(v.Str(), func(r rune) bool { return !strings.ContainsRune("0123456789abcdefABCDEF", r) })
	return failed("Failed to parse objectId '%s' in $convert with no onError value: Invalid character found in hex string: %c", v.Str(), []rune(v.Str()[wrong:])[0])
}

func isHexNumber(s string) bool { return strings.HasPrefix(s, "0x") }
