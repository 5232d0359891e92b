// Package relaxed reads documents as people write them in a shell.
//
//	{a: 1, 'b.c': "x", _id: {$in: [long(5), nan]}, at: ISODate("2024-01-01T00:00:00Z")}
//
// Names need no quotes, strings may stand in single ones, and functions and words stand for
// the values for which extended JSON has long forms (see calls and words). What is inside a
// string stays as it is.
package relaxed

import (
	"strings"

	"github.com/duskdb/duskdb/value"
)

// calls are the functions: the arguments, without quotes, take the places of $1 and $2.
var calls = map[string]string{
	"ISODate":       `{"$date":"$1"}`,
	"NumberDecimal": `{"$numberDecimal":"$1"}`,
	"NumberLong":    `{"$numberLong":"$1"}`,
	"Double":        `{"$numberDouble":"$1"}`,
	"bin":           `{"$binary":{"subType":"$1","base64":"$2"}}`,
	"date":          `{"$date":"$1"}`,
	"dbl":           `{"$numberDouble":"$1"}`,
	"dec":           `{"$numberDecimal":"$1"}`,
	"long":          `{"$numberLong":"$1"}`,
	"ms":            `{"$date":{"$numberLong":"$1"}}`,
	"oid":           `{"$oid":"$1"}`,
	"re":            `{"$regularExpression":{"pattern":"$1","options":"$2"}}`,
	"ts":            `{"$timestamp":{"t":$1,"i":$2}}`,
}

// words are the values without an argument.
var words = map[string]string{
	"maxkey": `{"$maxKey":1}`,
	"minkey": `{"$minKey":1}`,
	"nan":    `{"$numberDouble":"NaN"}`,
	"undef":  `{"$undefined":true}`,
}

// Doc reads a document.
func Doc(text string) (value.Doc, error) { return value.ParseJSON(JSON(text)) }

// MustDoc reads a document that is known to be right.
func MustDoc(text string) value.Doc { return value.MustJSON(JSON(text)) }

// MustValue reads a value that is known to be right; the text missing is the missing value.
func MustValue(text string) value.Value {
	if text == "missing" {
		return value.Value{}
	}
	return MustDoc(`{v: ` + text + `}`).Lookup("v")
}

// JSON returns the text as extended JSON. It does not check it: what it does not know it
// copies.
func JSON(text string) string {
	s := scanner{rest: text}
	for s.rest != "" {
		s.token()
	}
	return s.out.String()
}

type scanner struct {
	rest string
	out  strings.Builder
}

// token converts the next token.
func (s *scanner) token() {
	switch c := s.rest[0]; {
	case c == '"' || c == '\'':
		s.out.WriteString(`"` + s.quoted() + `"`)
	case c >= '0' && c <= '9' || c == '-' || c == '+':
		s.out.WriteString(s.take(isNumeric))
	case isNameStart(c):
		s.word(s.take(isName))
	default:
		s.out.WriteByte(c)
		s.rest = s.rest[1:]
	}
}

// word converts a name, a function or a word.
func (s *scanner) word(name string) {
	after := strings.TrimLeft(s.rest, " \t\n")
	call, isCall := calls[name]
	switch {
	case strings.HasPrefix(after, ":"):
		s.out.WriteString(`"` + name + `"`)
	case isCall && strings.HasPrefix(after, "("):
		s.rest = after[1:]
		if args, ok := s.arguments(); ok {
			s.out.WriteString(strings.NewReplacer("$1", args[0], "$2", args[1]).Replace(call))
		}
	case words[name] != "":
		s.out.WriteString(words[name])
	default:
		s.out.WriteString(name)
	}
}

// arguments reads the arguments of a function; ok reports whether they end.
func (s *scanner) arguments() (args [2]string, ok bool) {
	for n := 0; s.rest != ""; {
		switch c := s.rest[0]; {
		case c == '"' || c == '\'':
			args[min(n, 1)] = s.quoted()
			continue
		case c == ')':
			s.rest = s.rest[1:]
			return args, true
		case c == ',':
			n++
		case c != ' ':
			args[min(n, 1)] += string(c)
		}
		s.rest = s.rest[1:]
	}
	return args, false
}

// quoted reads a string, and returns it with the escapes of JSON.
func (s *scanner) quoted() string {
	quote, text := s.rest[0], s.rest[1:]
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == quote:
			s.rest = text[i+1:]
			return b.String()
		case c == '\\' && i+1 < len(text):
			i++
			if text[i] != '\'' { // JSON has no such escape
				b.WriteByte('\\')
			}
			b.WriteByte(text[i])
		case c == '"':
			b.WriteString(`\"`)
		default:
			b.WriteByte(c)
		}
	}
	s.rest = ""
	return b.String()
}

// take reads all bytes of a kind.
func (s *scanner) take(is func(c byte) bool) string {
	n := 0
	for n < len(s.rest) && is(s.rest[n]) {
		n++
	}
	taken := s.rest[:n]
	s.rest = s.rest[n:]
	return taken
}

func isNumeric(c byte) bool {
	return c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'
}

func isNameStart(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$'
}

func isName(c byte) bool {
	return isNameStart(c) || c >= '0' && c <= '9' || c == '.' || c == '-' || c == '*'
}
