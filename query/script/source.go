package script

import (
	"regexp"
	"strings"
	"sync"

	"github.com/duskdb/duskdb/query/script/engine"
)

// Function is the source of a function in a form that can be evaluated. It is
// immutable and may be shared.
type Function struct {
	text string
	wrap engine.Wrap
}

// Compiled when JavaScript is first used: every start of the server would wait for them.
var (
	functionHead = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(async\s+)?function\b`) })
	arrowHead    = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(async\s*)?(\([^()]*\)|[\p{L}_$][\p{L}\p{N}_$]*)\s*=>`)
	})
)

// parser reports the error of a source that is not well-formed.
type parser interface{ Parses(text string) error }

// normalize converts a client's source to a function. The source is a
// function, an expression, or the body of a function, which returns its last
// expression unless it has a return statement.
func normalize(p parser, source string) (string, error) {
	s := strings.TrimRight(trimComments(strings.TrimSpace(source)), "; \t\r\n")
	if arrowHead().MatchString(s) || functionHead().MatchString(s) && (parses(p, s) || p.Parses(s) != nil) {
		return s, nil
	}
	if f := "function() { return (" + s + "\n) }"; parses(p, f) {
		return "function() { return " + s + "\n }", nil
	}
	whole := "function() { " + s + "\n }"
	if err := p.Parses("(" + whole + ")"); err != nil {
		return "", err
	}
	if p.Parses(s) != nil { // a return of its own
		return whole, nil
	}
	return lastReturned(p, s, whole), nil
}

func parses(p parser, function string) bool { return p.Parses("("+function+")") == nil }

const (
	// maxStatements limits the statement ends that are tried.
	maxStatements = 64
	// maxParsed limits the bytes that are parsed for that.
	maxParsed = 4 << 20
)

// lastReturned adds a return before the last statement of s if that is an
// expression; otherwise it returns whole.
func lastReturned(p parser, s, whole string) string {
	end := len(s)
	for range min(maxStatements, maxParsed/(len(s)+1)) {
		at := strings.LastIndexAny(s[:end], ";}\n")
		if at < 0 {
			break
		}
		head, tail := s[:at+1], strings.TrimSpace(s[at+1:])
		if tail != "" && parses(p, "function() { "+head+"\n }") && parses(p, "function() { return ("+tail+"\n) }") {
			return "function() { " + head + " return " + tail + "\n }"
		}
		end = at
	}
	return whole
}

// trimComments removes comments in front of a source.
func trimComments(s string) string {
	for {
		switch {
		case strings.HasPrefix(s, "//"):
			_, s, _ = strings.Cut(s, "\n")
		case strings.HasPrefix(s, "/*"):
			_, rest, ok := strings.Cut(s[2:], "*/")
			if !ok {
				return s
			}
			s = rest
		default:
			return s
		}
		s = strings.TrimSpace(s)
	}
}

var _ parser = (*engine.Scope)(nil)
