package pcre

import (
	"errors"
	"strings"
)

var errVerb = errors.New("(*VERB) not recognized or malformed")

// settings are the verbs at the start of a pattern that have no effect:
// strings are always UTF-8, and the features that the others switch off do not
// exist.
var settings = map[string]bool{
	"UTF": true, "UTF8": true, "UCP": true, "LF": true, "BSR_UNICODE": true,
	"NO_AUTO_POSSESS": true, "NO_DOTSTAR_ANCHOR": true, "NO_JIT": true, "NO_START_OPT": true,
}

// stops are the verbs that limit backtracking. At the start of a pattern they
// have no effect.
var stops = map[string]bool{"COMMIT": true, "PRUNE": true, "SKIP": true, "THEN": true}

// start reads the verbs in front of a pattern.
func (s *scanner) start() {
	for {
		name, end := s.verbName()
		base, _, _ := strings.Cut(name, ":")
		switch {
		case settings[name]:
			s.unicode = s.unicode || name == "UCP"
		case stops[base]:
		default:
			return
		}
		s.i = end
	}
}

// verbName returns the name of the verb at the current position and its end;
// "" if there is no verb.
func (s *scanner) verbName() (string, int) {
	rest, ok := strings.CutPrefix(s.in[s.i:], "(*")
	if !ok {
		return "", s.i
	}
	name, _, ok := strings.Cut(rest, ")")
	if !ok {
		return "", s.i
	}
	return name, s.i + len("(*") + len(name) + len(")")
}

// verb translates a verb within a pattern: (*FAIL) and (*ACCEPT). The verbs
// that limit backtracking cannot be translated and are refused.
func (s *scanner) verb() {
	name, end := s.verbName()
	switch {
	case name == "FAIL" || name == "F":
		s.re2.WriteString(`[^\x00-\x{10FFFF}]`)
		s.back.WriteString(`(?!)`)
		s.i = end
	case name == "ACCEPT" && s.depth == 0:
		s.i = end
		s.skipAlternative()
	default:
		s.err = errVerb
	}
}

// skipAlternative skips the unreachable rest of an alternative after
// (*ACCEPT).
func (s *scanner) skipAlternative() {
	rest := scanner{in: s.in, i: s.i, unicode: s.unicode}
	for rest.i < len(rest.in) && rest.err == nil && (rest.in[rest.i] != '|' || rest.depth > 0 || rest.inClass) {
		rest.next()
	}
	s.i, s.err = rest.i, rest.err
}

// posixUnicode are the classes of [[:name:]] under (*UCP).
var posixUnicode = map[string]string{
	"alpha": `\p{L}`, "lower": `\p{Ll}`, "upper": `\p{Lu}`, "alnum": `\p{L}\p{N}`, "digit": `\p{Nd}`,
	"word": `\p{L}\p{N}_`, "space": unicodeSpace, "blank": `\p{Zs}\t`, "cntrl": `\p{Cc}`,
	"punct": `\p{P}$+<=>^` + "`" + `|~`,
	"graph": `\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}`, "print": `\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Zs}`,
}

const unicodeSpace = `\p{Z}\t\n\x0b\f\r\x85`

// posixClass writes [:name:], and reports whether there was one.
func (s *scanner) posixClass() bool {
	rest, ok := strings.CutPrefix(s.in[s.i:], "[:")
	if !ok {
		return false
	}
	name, _, ok := strings.Cut(rest, ":]")
	class, known := posixUnicode[name]
	if !ok || !known {
		return false
	}
	s.i += len("[:") + len(name) + len(":]")
	s.both(class)
	return true
}

// unicodeEscape writes an escape whose meaning is wider under (*UCP), and
// reports whether it was one.
func (s *scanner) unicodeEscape(c byte) bool {
	const word = `\p{L}\p{N}_`
	class := map[byte]string{'w': word, 'W': word, 'd': `\p{Nd}`, 'D': `\p{Nd}`, 's': unicodeSpace, 'S': unicodeSpace}[c]
	switch {
	case c == 'b' && !s.inClass:
		s.back.WriteString(`(?:(?<=[` + word + `])(?![` + word + `])|(?<![` + word + `])(?=[` + word + `]))`)
		s.linear = false
	case c == 'B' && !s.inClass:
		s.back.WriteString(`(?:(?<=[` + word + `])(?=[` + word + `])|(?<![` + word + `])(?![` + word + `]))`)
		s.linear = false
	case class == "":
		return false
	case c >= 'a' && s.inClass:
		s.both(class)
	case c >= 'a':
		s.both(`[` + class + `]`)
	case !s.inClass:
		s.both(`[^` + class + `]`)
	default:
		return false
	}
	return true
}

// properties are PCRE's own names among \p{…}.
var properties = map[string]string{
	"Xan": `\p{L}\p{N}`, "Xwd": `\p{L}\p{N}_`, "Xsp": unicodeSpace, "Xps": unicodeSpace,
}

// property writes \p{X…} or \P{X…}, and reports whether it was one.
func (s *scanner) property(c byte) bool {
	rest, ok := strings.CutPrefix(s.in[s.i:], "{")
	if !ok {
		return false
	}
	name, _, _ := strings.Cut(rest, "}")
	class, known := properties[name]
	if !known || s.inClass && c == 'P' {
		return false
	}
	s.i += len(name) + len("{}")
	switch {
	case s.inClass:
		s.both(class)
	case c == 'P':
		s.both(`[^` + class + `]`)
	default:
		s.both(`[` + class + `]`)
	}
	return true
}
