package mongoerr

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/duskdb/duskdb/value"
)

// Error is an error with a MongoDB code, as a client receives it.
type Error struct {
	Code    Code
	Message string   // errmsg of the reply
	Labels  []string // errorLabels of the reply, none if empty
	Extra   []Field  // further fields of the reply, in order
	cause   error
}

// Field is one additional field of an error reply, such as keyPattern.
type Field struct {
	Key   string
	Value value.Value
}

// MaxMessage is the longest message of an error in bytes, so that a reply has room for it
// whatever it quotes.
const MaxMessage = 64 << 10

// New returns an error with a code and a message.
func New(code Code, msg string) *Error { return &Error{Code: code, Message: bounded(msg)} }

// bounded returns a message, or the beginning of one that is too long.
func bounded(msg string) string {
	const mark = "..."
	if len(msg) <= MaxMessage {
		return msg
	}
	end := MaxMessage - len(mark)
	for end > 0 && !utf8.RuneStart(msg[end]) {
		end--
	}
	return msg[:end] + mark
}

// Newf makes an error with a formatted message. A %w verb makes its operand
// the cause.
func Newf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: bounded(err.Error()), cause: errors.Unwrap(err)}
}

// UnknownField is the error of mongod's argument parser (IDL) for an unknown
// field. path is its full path.
func UnknownField(path string) *Error {
	return New(IDLUnknownField, "BSON field '"+path+"' is an unknown field.")
}

// MissingField is the error of mongod's argument parser for a missing field.
func MissingField(path string) *Error {
	return New(IDLFailedToParse, "BSON field '"+path+"' is missing but a required field")
}

// DuplicateField is the error of mongod's argument parser for a repeated
// field.
func DuplicateField(path string) *Error {
	return New(IDLDuplicateField, "BSON field '"+path+"' is a duplicate field")
}

// Error returns the code's name and the message.
func (e *Error) Error() string { return e.Code.Name() + ": " + e.Message }

// Unwrap returns the cause, or nil. The cause is for logs; it is not sent to
// the client.
func (e *Error) Unwrap() error { return e.cause }

// HasLabel reports whether the error carries the label.
func (e *Error) HasLabel(label string) bool { return slices.Contains(e.Labels, label) }

// WithExtra returns a copy of the error with one more field for the reply.
func (e *Error) WithExtra(key string, v value.Value) *Error {
	c := *e
	c.Extra = append(slices.Clip(e.Extra), Field{key, v})
	return &c
}

// WithCause returns a copy of the error that wraps cause.
func (e *Error) WithCause(cause error) *Error {
	c := *e
	c.cause = cause
	return &c
}

// WithPrefix returns a copy whose message is preceded by "prefix :: caused
// by :: ", which is how MongoDB adds context to a message.
func (e *Error) WithPrefix(prefix string) *Error {
	c := *e
	c.Message = bounded(prefix + " :: caused by :: " + e.Message)
	return &c
}

// From turns any error into an *Error; nil stays nil. An *Error anywhere in
// the chain is taken as it is; a cancelled context becomes Interrupted, an
// exceeded deadline MaxTimeMSExpired, everything unknown InternalError.
func From(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return New(MaxTimeMSExpired, "operation exceeded time limit").WithCause(err)
	case errors.Is(err, context.Canceled):
		return New(Interrupted, "operation was interrupted").WithCause(err)
	}
	return New(InternalError, TextOf(err)).WithCause(err)
}

// TextOf is what a client gets to read of an error: an error that has words for clients keeps its
// own for the log.
func TextOf(err error) string {
	type worded interface {
		error
		ForClients() string
	}
	if w, ok := errors.AsType[worded](err); ok {
		return w.ForClients()
	}
	return err.Error()
}

// CodeOf returns the code that [From] gives to err; OK for nil.
func CodeOf(err error) Code {
	if err == nil {
		return OK
	}
	return From(err).Code
}

// Is reports whether err carries the code.
func Is(err error, code Code) bool { return err != nil && CodeOf(err) == code }

// Text returns the message with invalid UTF-8 replaced, because drivers cannot
// decode a reply with other bytes. A message may quote data that a client
// sent.
func (e *Error) Text() string { return strings.ToValidUTF8(e.Message, "\uFFFD") }

// AppendReply writes the fields of a failed command's reply: ok: 0, errmsg,
// code, codeName, errorLabels if there are any, and the extra fields.
func (e *Error) AppendReply(b *value.Builder) {
	b.Double("ok", 0)
	b.String("errmsg", e.Text())
	b.Int32("code", int32(e.Code))
	b.String("codeName", e.Code.Name())
	if len(e.Labels) > 0 {
		b.StartArray("errorLabels")
		for _, l := range e.Labels {
			b.String("", l)
		}
		b.End()
	}
	for _, f := range e.Extra {
		b.Append(f.Key, f.Value)
	}
}
