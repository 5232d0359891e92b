package dialect

import "github.com/duskdb/duskdb/internal/mongoerr"

// Errors of commands.
var (
	AggregateNumber = recoded("8.1", mongoerr.FailedToParse, mongoerr.BadValue,
		"Invalid command format: the 'aggregate' field must specify a collection name or 1")
	InsertTooLarge = recoded("8.1", mongoerr.BadValue, mongoerr.BSONObjectTooLarge,
		"object to insert too large. size in bytes: %d, max size: %d")
	NoErrorAndLog = changed(Error{
		Since:  "8.1",
		Before: Text{mongoerr.BadValue, "Enumeration value 'errorAndLog' for field 'validationAction' is not a valid value."},
		Now:    Text{mongoerr.InvalidOptions, "Validation action 'errorAndLog' is not supported with current FCV"},
	})
	RenameNUL = changed(Error{
		Since:  "8.1",
		Before: Text{mongoerr.BadValue, "The 'to' field for $rename cannot contain an embedded null byte"},
		Now:    Text{9867600, "Field path cannot contain embedded null bytes"},
	})

	// What $merge says of values that identify no document.
	MergeOnNull = changed(Error{
		Since:  "8.1",
		Before: Text{51132, "$merge write error: 'on' field '%s' cannot be missing, null, undefined or an array"},
		Now:    Text{51132, "$merge write error: 'on' field '%s' cannot be missing, null or undefined if supporting index is sparse"},
	})
	MergeOnNestedArray = changed(Error{
		Since:  "8.1",
		Before: MergeOnNull.Before,
		Now:    Text{51185, "$merge write error: 'on' field '%s' is an array"},
	})
)

// recoded is an error of which only the code has changed.
func recoded(since string, before, now mongoerr.Code, text string) *Error {
	return changed(Error{Since: since, Before: Text{before, text}, Now: Text{now, text}})
}
