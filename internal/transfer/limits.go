package transfer

import (
	"fmt"

	"github.com/duskdb/duskdb/value"
)

// Limits of what is read from a file. Each is checked before memory or time is spent
// beyond it.
const (
	// maxDocument is the largest document that a server accepts. Its text may be
	// longer, up to a limit.
	maxDocument = 16 << 20
	maxText     = 8 * maxDocument
	// maxLine is the longest record of CSV or TSV, with its line breaks.
	maxLine = 2 * maxDocument
	// maxColumns is the largest number of fields of a record.
	maxColumns = 100000
	// maxElements is the largest number of commas in the text of a document, outside of
	// strings. An array that fits into a document has fewer than two million elements.
	maxElements = 5 << 19
	// maxString is the longest string in it: base64 of what a document can have.
	maxString = maxDocument / 2 * 3
)

var (
	errDepth    = fmt.Errorf("the document is nested deeper than %d levels", value.MaxDepth)
	errString   = fmt.Errorf("the document has a string of more than %d bytes", maxString)
	errElements = fmt.Errorf("the document has more than %d elements", maxElements)
)

// checkJSON refuses text with more than a document can have, before a parser reads it.
func checkJSON(text []byte) error {
	n := nesting{}
	for _, c := range text {
		if err := n.step(c); err != nil {
			return err
		}
	}
	return nil
}

// nesting follows the brackets and commas of JSON.
type nesting struct {
	depth, elements int
	quoted, escaped bool
	length          int // length of the string; what an escape stands for counts, not its text
}

// step reads the next byte.
func (n *nesting) step(c byte) error {
	switch {
	case n.quoted && n.escaped:
		n.escaped = false
		if c == 'u' { // four digits follow
			n.length -= 4
		}
		return n.char()
	case n.quoted && c == '\\':
		n.escaped = true
	case c == '"':
		n.quoted, n.length = !n.quoted, 0
	case n.quoted:
		return n.char()
	case c == '{' || c == '[':
		if n.depth++; n.depth > value.MaxDepth {
			return errDepth
		}
	case c == '}' || c == ']':
		n.depth--
	case c == ',':
		if n.elements++; n.elements > maxElements {
			return errElements
		}
	}
	return nil
}

// errTooLong ends an import: where the next record begins is not known.
var errTooLong = fmt.Errorf("the line has more than %d bytes", maxLine)

// char counts a character of a string.
func (n *nesting) char() error {
	if n.length++; n.length > maxString {
		return errString
	}
	return nil
}

var errTooManyColumns = fmt.Errorf("the line has more than %d columns", maxColumns)
