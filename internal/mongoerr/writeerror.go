package mongoerr

import (
	"fmt"

	"github.com/duskdb/duskdb/value"
)

// WriteError is the failure of one statement of a batch of writes: one
// element of a reply's writeErrors.
type WriteError struct {
	Index      int // position of the statement in the batch
	Err        *Error
	KeyPattern value.Doc // key pattern of the index, for a duplicate key
	KeyValue   value.Doc // the key that exists already, for a duplicate key
	ErrInfo    value.Doc // the rules not satisfied, for a failed validation
}

// Names of the extra fields of an [Error] that become fields of a
// [WriteError].
const (
	FieldKeyPattern = "keyPattern"
	FieldKeyValue   = "keyValue"
	FieldErrInfo    = "errInfo"
)

// NewWriteError returns the write error of statement index for any error.
// Extra fields keyPattern, keyValue and errInfo of an [Error] become the
// fields of the same names.
func NewWriteError(index int, err error) *WriteError {
	w := &WriteError{Index: index, Err: From(err)}
	if w.Err == nil {
		return nil
	}
	for _, f := range w.Err.Extra {
		switch f.Key {
		case FieldKeyPattern:
			w.KeyPattern = f.Value.Doc()
		case FieldKeyValue:
			w.KeyValue = f.Value.Doc()
		case FieldErrInfo:
			w.ErrInfo = f.Value.Doc()
		}
	}
	return w
}

// Room bounds what the errors of one command quote, so that its reply has room for all of
// them. The zero value is ready to use.
type Room struct{ count, messages, extra int }

// Bounds of a [Room]. The messages are bounded as in mongod: of all errors but the first
// ones the message is empty once they have so many bytes together.
const (
	roomMessages = 1 << 20
	roomErrors   = 2
	roomExtra    = 8 << 20
)

// Admit returns an error as the reply shows it: without its message or its extra fields if
// there is no room for them.
func (r *Room) Admit(e *Error) *Error {
	extra := 0
	for _, f := range e.Extra {
		extra += len(f.Key) + len(f.Value.Bytes())
	}
	message := len(e.Message)
	if r.count >= roomErrors && r.messages >= roomMessages {
		message = 0
	}
	if r.extra+extra > roomExtra {
		extra = -1
	}
	r.count++
	r.messages += message
	r.extra += max(extra, 0)
	if message == len(e.Message) && extra >= 0 {
		return e
	}
	short := &Error{Code: e.Code, Message: e.Message[:message], Labels: e.Labels}
	if extra >= 0 {
		short.Extra = e.Extra
	}
	return short
}

// Error describes the failure with the statement's position.
func (w *WriteError) Error() string { return fmt.Sprintf("write %d: %v", w.Index, w.Err) }

// Unwrap returns the error without its position.
func (w *WriteError) Unwrap() error { return w.Err }

// AppendFields writes the fields of the error into an open document: index,
// code, errmsg and, where set, keyPattern, keyValue and errInfo, then whatever
// else the error carries.
func (w *WriteError) AppendFields(b *value.Builder) {
	b.Int32("index", int32(w.Index))
	b.Int32("code", int32(w.Err.Code))
	b.String("errmsg", w.Err.Text())
	appendDoc(b, FieldKeyPattern, w.KeyPattern)
	appendDoc(b, FieldKeyValue, w.KeyValue)
	appendDoc(b, FieldErrInfo, w.ErrInfo)
	for _, f := range w.Err.Extra {
		switch f.Key {
		case FieldKeyPattern, FieldKeyValue, FieldErrInfo: // see above
		default:
			b.Append(f.Key, f.Value)
		}
	}
}

// AppendWriteErrors writes the writeErrors array of a reply; nothing if
// there are no errors.
func AppendWriteErrors(b *value.Builder, errs []*WriteError) {
	if len(errs) == 0 {
		return
	}
	b.StartArray("writeErrors")
	for _, w := range errs {
		b.StartDocument("")
		w.AppendFields(b)
		b.End()
	}
	b.End()
}

func appendDoc(b *value.Builder, key string, d value.Doc) {
	if d != nil {
		b.Document(key, d)
	}
}
