package pcre

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
)

var (
	errEscape = errors.New(`escape sequence is not supported`)
	errOctal  = errors.New(`non-octal character in \o{} (closing brace missing?)`)
)

// Translation is a PCRE pattern in the syntax of the two engines.
type Translation struct {
	RE2, Backtracking string
	Linear            bool // RE2 gives PCRE's answer
	// Resets: the pattern has \K, and a match begins where the group
	// [ResetGroup] of Backtracking was, if that took part.
	Resets bool
}

// ResetGroup is the name of the empty group that stands for \K.
const ResetGroup = "matchStart"

// MetaCharacters are the characters with a special meaning.
const MetaCharacters = `\.+*?()|[]{}^$#`

// Translate rewrites the syntax that differs in PCRE: $ and \Z also match
// before a final newline, \s includes the vertical tab, \h, \v, \N and \R
// exist, and (*VERB)s.
func Translate(pattern string, multiline bool) (Translation, error) {
	s := scanner{in: pattern, multiline: multiline, linear: true, atom: -1}
	s.start()
	for s.i < len(s.in) && s.err == nil {
		s.next()
	}
	return Translation{s.re2.String(), s.back.String(), s.linear, s.resets}, s.err
}

type scanner struct {
	in        string
	i         int
	depth     int // the depth of the groups
	inClass   bool
	multiline bool
	unicode   bool // (*UCP): \w, \d and others include all Unicode letters
	err       error
	linear    bool
	resets    bool
	re2, back bytes.Buffer
	atom      int   // offset in back of the atom that a quantifier would repeat, or -1
	open      []int // offsets in back of the open groups
}

// maxNested is how deep groups may be nested, as in PCRE2: each lookbehind is measured with
// all that it contains.
const maxNested = 250

var errNested = errors.New("parentheses are too deeply nested")

func (s *scanner) both(text string) {
	s.re2.WriteString(text)
	s.back.WriteString(text)
}

// next translates the next token of the pattern for both engines.
func (s *scanner) next() {
	c := s.in[s.i]
	at := s.back.Len()
	switch {
	case c == '\\' && s.i+1 < len(s.in):
		s.escape(s.in[s.i+1])
		if s.back.Len() > at { // an empty \Q\E cannot be repeated
			s.begin(at)
		}
		return
	case s.inClass:
		if c == '[' && s.unicode && s.posixClass() {
			return
		}
		s.inClass = c != ']'
	case c == '[':
		s.openClass()
		s.atom = at
		return
	case c == '$' && !s.multiline:
		s.i++
		s.endOfText()
		return
	case c == '(':
		if s.special() {
			return
		}
		if s.depth++; s.depth > maxNested {
			s.err = errNested
		}
		s.open = append(s.open, at)
		s.atom = -1
	case c == ')':
		s.depth--
		s.close()
	case quantifier(s.in[s.i:]) > 0:
		s.quantify()
		return
	case c == '|':
		s.atom = -1
	default:
		if utf8.RuneStart(c) {
			s.atom = at
		}
	}
	s.both(s.in[s.i : s.i+1])
	s.i++
}

// openClass copies [ and the characters directly after it, where a ] is a
// literal and [:alpha:] does not end the class.
func (s *scanner) openClass() {
	end := s.i + 1
	if end < len(s.in) && s.in[end] == '^' {
		end++
	}
	if end < len(s.in) && s.in[end] == ']' {
		end++
	}
	s.both(s.in[s.i:end])
	s.i, s.inClass = end, true
}

// endOfText writes PCRE's $: before a final newline, or at the end.
func (s *scanner) endOfText() {
	s.back.WriteString(`(?=\n?\z)`)
	s.re2.WriteString(`(?:\n?\z)`)
	// Consuming the newline is equivalent to a lookahead only at the end of the
	// pattern.
	if s.i < len(s.in) && s.in[s.i] != '|' && s.in[s.i] != ')' {
		s.linear = false
	}
}

// blanks are the classes of horizontal and vertical white space, and their
// complements. The linear engine does not support a negated class within
// another.
var blanks = map[byte]string{
	'h': `\t \x{A0}\x{1680}\x{180E}\x{2000}-\x{200A}\x{202F}\x{205F}\x{3000}`,
	'H': `\x00-\x08\x0A-\x1F\x21-\x{9F}\x{A1}-\x{167F}\x{1681}-\x{180D}\x{180F}-\x{1FFF}\x{200B}-\x{202E}` +
		`\x{2030}-\x{205E}\x{2060}-\x{2FFF}\x{3001}-\x{10FFFF}`,
	'v': `\n-\r\x{85}\x{2028}\x{2029}`,
	'V': `\x00-\x09\x0E-\x{84}\x{86}-\x{2027}\x{202A}-\x{10FFFF}`,
}

const newlines = `\r\n|\n|\x0b|\f|\r|\x{85}|\x{2028}|\x{2029}`

// escape translates an escape sequence.
func (s *scanner) escape(c byte) {
	s.i += 2
	if s.unicode && s.unicodeEscape(c) {
		return
	}
	switch {
	case (c == 'p' || c == 'P') && s.property(c):
	case c == 'Q':
		s.quoted()
	case c == 's' && s.inClass:
		s.both(`\s\x0B`)
	case c == 's':
		s.both(`[\s\x0B]`)
	case c == 'S' && !s.inClass:
		s.both(`[^\s\x0B]`)
	case blanks[c] != "" && s.inClass:
		s.both(blanks[c])
	case blanks[c] != "":
		s.both(`[` + blanks[c] + `]`)
	case c == 'N' && !s.inClass && !strings.HasPrefix(s.in[s.i:], "{"):
		s.both(`[^\n]`)
	case c == 'o' && strings.HasPrefix(s.in[s.i:], "{"):
		s.octal()
	case c == 'X' || c == 'C':
		s.err = errEscape
	case c == 'E': // without \Q, PCRE ignores it
	case c == 'R' && !s.inClass:
		s.re2.WriteString("(?:" + newlines + ")")
		s.back.WriteString(`(?>\r\n|\n|\x0b|\f|\r|\u0085|\u2028|\u2029)`)
	case c == 'Z' && !s.inClass:
		s.endOfText()
	case c == 'K' && !s.inClass:
		s.back.WriteString("(?<" + ResetGroup + ">)")
		s.linear, s.resets = false, true
	case (c == 'g' || c == 'k') && !s.inClass && s.reference(c):
	default:
		s.both(s.in[s.i-2 : s.i])
	}
}

// octal writes the character of \o{…}.
func (s *scanner) octal() {
	digits, _, ended := strings.Cut(s.in[s.i+len("{"):], "}")
	r, err := strconv.ParseUint(digits, 8, 21)
	if !ended || err != nil {
		s.err = errOctal
		return
	}
	s.i += len(digits) + len("{}")
	s.both(`\x{` + strconv.FormatUint(r, 16) + `}`)
}

// quoted copies \Q…\E with every special character escaped.
func (s *scanner) quoted() {
	text, rest, found := strings.Cut(s.in[s.i:], `\E`)
	s.i = len(s.in)
	if found {
		s.i -= len(rest)
	}
	for _, r := range text {
		if strings.ContainsRune(MetaCharacters+"-", r) {
			s.both(`\`)
		}
		s.both(string(r))
	}
}
