package transfer

import (
	"cmp"
	"fmt"

	"github.com/duskdb/duskdb/value"
)

// Source is a stream of documents.
type Source interface {
	// Next returns the next document and the line on which it begins. At the
	// end it returns io.EOF; a *LineError is about one document only, and
	// Next may be called again.
	Next() (value.Doc, int, error)
	// Unit is what Next counts: lines, or the documents of a file without lines.
	Unit() string
}

// The units of sources.
const (
	lines     = "line"
	documents = "document"
)

// LineError is the error of one document of a file.
type LineError struct {
	Line int    // number of the line or document, counted from 1
	Unit string // what Line counts; "": lines
	Err  error
	Stop bool // the import must stop
}

// Error names the line and the error.
func (e *LineError) Error() string {
	return fmt.Sprintf("%s %d: %v", cmp.Or(e.Unit, lines), e.Line, e.Err)
}

// Unwrap returns the error without the line.
func (e *LineError) Unwrap() error { return e.Err }
