package transfer

import (
	"fmt"

	"github.com/duskdb/duskdb/value"
)

// Source is a stream of documents.
type Source interface {
	// Next returns the next document and the line on which it begins. At the
	// end it returns io.EOF; a *LineError is about one document only, and
	// Next may be called again.
	Next() (value.Doc, int, error)
}

// LineError is the error of one document of a file.
type LineError struct {
	Line int // counted from 1; of a BSON file: the number of the document
	Unit string
	Err  error
	Stop bool // the import must stop
}

// Error names the line and the error.
func (e *LineError) Error() string {
	unit := e.Unit
	if unit == "" {
		unit = "line"
	}
	return fmt.Sprintf("%s %d: %v", unit, e.Line, e.Err)
}

// Unwrap returns the error without the line.
func (e *LineError) Unwrap() error { return e.Err }
