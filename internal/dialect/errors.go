package dialect

import "github.com/duskdb/duskdb/internal/mongoerr"

// Errors of expressions that are about the types of arguments.
var (
	SplitSeparator = changed(Error{
		Since:  "8.2",
		Before: Text{40086, "$split requires an expression that evaluates to a string as a second argument, found: %s"},
		Now:    Text{10503900, "$split requires an expression that evaluates to a string as a second argument, found: %s"},
	})
	ReplaceInput       = replaceError(51746, 10503904, "input")
	ReplaceFind        = replaceError(51745, 10503901, "find")
	ReplaceReplacement = replaceError(51744, 10503902, "replacement")

	// sic: mongod writes no space before "requires", but for $indexOfArray since 8.2.
	IndexOfIntegral      = unchanged(40096, "%srequires an integral %s, found a value of type: %s, with value: %s")
	IndexOfNegative      = unchanged(40097, "%s requires a nonnegative %s, found: %s")
	IndexOfArrayIntegral = changed(Error{
		Since:  "8.2",
		Before: IndexOfIntegral.Before,
		Now:    Text{9711600, "%s requires an integral %s, found a value of type: %s, with value: %s"},
	})
	IndexOfArrayNegative = changed(Error{
		Since:  "8.2",
		Before: IndexOfNegative.Before,
		Now:    Text{9711601, "%s requires a nonnegative %s, found: %s"},
	})

	DateAddUnit = changed(Error{
		Since:  "8.2",
		Before: Text{5166404, "%[1]s expects string defining the time unit"},
		Now:    Text{5439013, "%s requires 'unit' to be a string, but got %s"},
	})
	DateDiffDate  = unchanged(5166307, "%s requires '%s' to be a date, but got %s")
	DateTruncDate = changed(Error{
		Since:  "8.2",
		Before: Text{5439012, "%s requires '%s' to be a date, but got %s"},
		Now:    DateDiffDate.Now,
	})
	MetaUnknown = changed(Error{
		Since:  "8.2",
		Before: Text{17308, "Unsupported argument to $meta: %s"},
		Now:    Text{17308, "Unsupported $meta field: %s"},
	})
)

// Errors of the options of stages.
var (
	CurrentOpObject = changed(Error{
		Since:  "8.2",
		Before: Text{mongoerr.FailedToParse, "$currentOp options must be specified in an object, but found: %s"},
		Now:    Text{mongoerr.TypeMismatch, "$currentOp options must be specified in an object, but found: %s"},
	})
	CurrentOpUnknown = changed(Error{
		Since:  "8.2",
		Before: Text{mongoerr.FailedToParse, "Unrecognized option '%s' in $currentOp stage."},
		Now:    Text{mongoerr.IDLUnknownField, "BSON field '$currentOp.%s' is an unknown field."},
	})
	CurrentOpType = changed(Error{
		Since:  "8.2",
		Before: Text{mongoerr.FailedToParse, "The '%s' parameter of the $currentOp stage must be a boolean value, but found: %s"},
		Now:    Text{mongoerr.TypeMismatch, "BSON field '$currentOp.%s' is the wrong type '%s', expected type 'bool'"},
	})
)

// errors are the errors that have changed.
var errors []*Error

// Errors returns the errors that have changed, in the order of their declaration.
func Errors() []*Error { return errors }

// changed makes an error that has changed.
func changed(e Error) *Error {
	errors = append(errors, &e)
	return &e
}

// unchanged is an error that is the same in all versions.
func unchanged(code mongoerr.Code, text string) *Error {
	t := Text{code, text}
	return &Error{Before: t, Now: t}
}

func replaceError(before, now mongoerr.Code, argument string) *Error {
	text := "%s requires that '" + argument + "' be a string, found: %s"
	return changed(Error{Since: "8.2", Before: Text{before, text}, Now: Text{now, text}})
}
