package value

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Extended JSON, for tests, logs, error messages, files and the web console; never on a hot
// path. json_write.go has the way back.

// maxTextDepth is the largest nesting depth of JSON text. Values such as {"$date":
// {"$numberLong": "1"}} are nested deeper in JSON than in BSON.
const maxTextDepth = MaxDepth + 4

// ParseJSON reads a document from (canonical or relaxed) extended JSON. Nothing may follow
// the document.
func ParseJSON(s string) (Doc, error) {
	if err := checkText(s); err != nil {
		return nil, err
	}
	var raw bson.Raw
	if err := bson.UnmarshalExtJSON([]byte(s), false, &raw); err != nil {
		return nil, errors.New(Cut(err.Error(), maxErrorText))
	}
	if err := Validate(raw); err != nil {
		return nil, err
	}
	return Doc(raw), nil
}

// maxErrorText is the length of the text of an error, which may repeat its input.
const maxErrorText = 300

// Cut shortens text that a client has chosen to at most limit bytes, and says so.
func Cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return fmt.Sprintf("%s… (%d bytes)", s[:limit], len(s))
}

// checkText checks, before the recursive parser sees it, that s is one object and how deep
// it is.
func checkText(s string) error {
	rest := strings.TrimLeft(s, " \t\r\n")
	if rest == "" || rest[0] != '{' {
		return errors.New("expected a document, which begins with {")
	}
	depth, quoted := 0, false
	for i := 0; i < len(rest); i++ {
		switch c := rest[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > maxTextDepth {
				return ErrDepth
			}
		case c == '}' || c == ']':
			if depth--; depth > 0 {
				continue
			}
			if after := strings.TrimLeft(rest[i+1:], " \t\r\n"); after != "" {
				return fmt.Errorf("%q after the end of the document", Cut(after, 20))
			}
			return nil
		}
	}
	return errors.New("the document is incomplete")
}

// MustJSON is ParseJSON for literals in tests and tables: it panics on bad
// input.
func MustJSON(s string) Doc {
	d, err := ParseJSON(s)
	if err != nil {
		panic("value.MustJSON: " + err.Error() + " in " + s)
	}
	return d
}
