package expr

import (
	"slices"
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// param is a named argument; missing is the error code if it is required, else
// 0.
type param struct {
	name    string
	missing mongoerr.Code
}

// style defines the error messages of an operator for its named arguments. In
// the texts OP stands for the operator, ARG for the name of an argument, VALUE for what was
// found, TYPE for its type. Each operator of MongoDB has its own codes, but there are only
// few wordings.
type style struct {
	object, unknown                 mongoerr.Code
	objectMsg, unknownMsg, lacksMsg string
}

const (
	onlyObject    = "OP only supports an object as its argument"
	onlyObjectFor = "OP only supports an object as an argument, found: TYPE"
	needsObject   = "OP requires an object as an argument, found: TYPE"
	expectsNamed  = "OP expects an object of named arguments but found: TYPE"

	unrecognizedArg   = "Unrecognized argument to OP: ARG"
	unrecognizedParam = "Unrecognized parameter to OP: ARG"
	foundUnknown      = "OP found an unknown argument: ARG"

	missingParam = "Missing 'ARG' parameter to OP"
	needsArg     = "OP requires 'ARG' to be specified"
	needsParam   = "OP requires 'ARG' parameter"

	fieldUnknown = "BSON field 'OP.ARG' is an unknown field."
	fieldMissing = "BSON field 'OP.ARG' is missing but a required field"
)

// fields returns the named arguments uncompiled, in the order of the parameters.
func (op *operator) fields(v value.Value) ([]value.Value, error) {
	if v.Kind() != value.KindDocument {
		return nil, op.notObject(v)
	}
	out := make([]value.Value, len(op.params))
	for name, e := range v.Doc().All() {
		i := op.param(name)
		if i < 0 {
			return nil, op.unknownParam(name)
		}
		out[i] = e
	}
	for i, q := range op.params {
		if q.missing != 0 && out[i].IsMissing() {
			return nil, op.missingParam(q)
		}
	}
	return out, nil
}

// param is the place of a parameter, -1 for another name.
func (op *operator) param(name string) int {
	return slices.IndexFunc(op.params, func(q param) bool { return q.name == name })
}

func (op *operator) text(msg, arg, found string) string {
	return strings.NewReplacer("OP", op.name, "ARG", arg, "TYPE", found).Replace(msg)
}

func (op *operator) notObject(v value.Value) error {
	texts := strings.NewReplacer("OP", op.name, "VALUE", v.String(), "TYPE", v.Kind().String())
	return mongoerr.New(op.style.object, texts.Replace(op.style.objectMsg))
}

func (op *operator) unknownParam(name string) error {
	return mongoerr.New(op.style.unknown, op.text(op.style.unknownMsg, name, ""))
}

func (op *operator) missingParam(q param) error {
	return mongoerr.New(q.missing, op.text(op.style.lacksMsg, q.name, ""))
}

// The styles, by operator.
var (
	styleConvert = &style{mongoerr.FailedToParse, mongoerr.FailedToParse, expectsNamed, foundUnknown, missingParam}

	// sic: mongod
	styleDateAdd = &style{5166400, 5166401, "OP expects an object as its argument.found type: TYPE",
		"Unrecognized argument to OP: ARG. Expected arguments are startDate, unit, amount, and optionally timezone.",
		"OP requires startDate, unit, and amount to be present"}
	styleDatePart       = &style{0, 40535, "", `unrecognized option to OP: "ARG"`, ""}
	styleDateDiff       = &style{5166301, 5166302, onlyObject, unrecognizedArg, missingParam}
	styleDateFromParts  = &style{40519, 40518, onlyObject, unrecognizedArg, missingParam}
	styleDateFromString = &style{40540, 40541, onlyObjectFor, unrecognizedArg, missingParam}
	styleDateToParts    = &style{40524, 40520, onlyObject, unrecognizedArg, missingParam}
	styleDateToString   = &style{18629, 18534, onlyObject, unrecognizedArg, missingParam}
	styleDateTrunc      = &style{5439007, 5439008, onlyObject, unrecognizedArg, missingParam}

	styleFilter     = &style{28646, 28647, onlyObject, unrecognizedParam, missingParam}
	styleGetField   = &style{0, 3041701, "", foundUnknown, needsArg}
	styleLet        = &style{16874, 16875, onlyObject, unrecognizedParam, missingParam}
	styleMap        = &style{16878, 16879, onlyObject, unrecognizedParam, missingParam}
	styleMedian     = &style{7436100, mongoerr.IDLUnknownField, "", fieldUnknown, fieldMissing}
	stylePercentile = &style{7429703, mongoerr.IDLUnknownField, "", fieldUnknown, fieldMissing}
	styleReduce     = &style{40075, 40076, needsObject, foundUnknown, needsArg}
	styleSortArray  = &style{2942500, 2942501, needsObject, foundUnknown, needsArg}

	styleFirstN = &style{5787801, 5787901, "specification must be an object; found OP: VALUE",
		"Unknown argument for 'n' operator: ARG", "Missing value for 'ARG'"}
	styleMinN = &style{5787900, 5787901, "specification must be an object; found OP: VALUE",
		"Unknown argument for 'n' operator: ARG", "Missing value for 'ARG'"}

	styleRegex    = &style{51103, 31024, expectsNamed, foundUnknown, needsParam}
	styleReplace  = &style{51751, 51750, needsObject, foundUnknown, needsArg}
	styleSetField = &style{4161100, 4161101, onlyObject, foundUnknown, needsArg}
	styleTrim     = &style{50696, 50694, "OP only supports an object as an argument, found TYPE", foundUnknown,
		"OP requires an 'ARG' field"}
)
