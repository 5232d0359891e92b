// Package mongoerr holds the errors a client sees: codes, names, messages
// and labels exactly as MongoDB 8.0 gives them.
//
// Every layer that can tell a client what is wrong returns an [*Error]:
//
//	return mongoerr.Newf(mongoerr.TypeMismatch, "'%s' must be a number", name)
//
// The command layer turns whatever error arrives into an *Error with [From]
// and writes it with [Error.AppendReply], so a reply's {ok: 0, errmsg, code,
// codeName} is formed in one place. Failures of single statements of a batch
// are [WriteError] values in the writeErrors array.
//
// A [Code] knows its name and its categories. Categories, not lists of codes
// spread over the server, decide what is an interruption, what may be
// retried and which labels a reply carries (see [LabelsFor]).
//
// The package is for the rest of DuskDB: it may change with any version.
package mongoerr
