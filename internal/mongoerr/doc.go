// Package mongoerr implements the errors that clients receive: codes, names,
// messages and labels exactly as in MongoDB 8.0.
//
// Every layer returns errors for clients as an [*Error]:
//
//	return mongoerr.Newf(mongoerr.TypeMismatch, "'%s' must be a number", name)
//
// The command layer converts every error to an *Error with [From] and writes
// it with [Error.AppendReply], so the fields {ok: 0, errmsg, code, codeName}
// of a reply are written in one place. Failures of single statements of a
// batch are [WriteError] values in the writeErrors array.
//
// A [Code] has a name and categories. Categories, and not lists of codes in
// many places, determine which errors are interruptions, which may be retried
// and which labels a reply has (see [LabelsFor]).
//
// The package is for the rest of DuskDB: it may change with any version.
package mongoerr
