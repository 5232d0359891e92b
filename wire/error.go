package wire

import (
	"errors"
	"fmt"
)

// The MongoDB error codes that parsing a message can give.
const (
	CodeInternalError            = 1
	CodeBadValue                 = 2
	CodeOverflow                 = 15
	CodeProtocolError            = 17
	CodeInvalidBSON              = 22
	CodeIllegalOpMsgFlag         = 223
	CodeTooManyDocumentSequences = 257
	CodeChecksumMismatch         = 288
	CodeBSONObjectTooLarge       = 10334
	CodeMultipleBodies           = 40430
	CodeDuplicateSequence        = 40431
	CodeUnknownSectionKind       = 40432
	CodeDuplicateField           = 40433
	CodeMissingBody              = 40587
	CodeUnsupportedOpCode        = 5745702
)

// Error is a message that breaks the protocol.
type Error struct {
	Code    int32
	Message string
	// Fatal reports whether the connection must be closed, because mongod closes
	// it or because the next message cannot be found. After an error that is
	// not fatal the frame has been consumed and the peer gets a reply.
	Fatal bool
}

// Error is the message text, as MongoDB words it.
func (e *Error) Error() string { return e.Message }

// IsFatal reports whether err ends the connection: everything does but an
// [Error] that says otherwise.
func IsFatal(err error) bool {
	var e *Error
	return !errors.As(err, &e) || e.Fatal
}

// ErrHTTP is returned by a Reader when a browser or another HTTP client is at
// the other end. [HTTPReply] is the polite answer before closing.
var ErrHTTP = errors.New("HTTP request on the MongoDB port")

const httpText = "It looks like you are trying to access MongoDB over HTTP on the native driver port.\r\n"

// HTTPReply is what mongod answers to an HTTP GET.
var HTTPReply = fmt.Sprintf("HTTP/1.0 200 OK\r\nConnection: close\r\n"+
	"Content-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s", len(httpText), httpText)

// reject makes an error the peer gets an answer to.
func reject(code int32, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// fatal makes an error that ends the connection.
func fatal(code int32, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Fatal: true}
}
