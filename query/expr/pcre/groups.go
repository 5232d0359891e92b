package pcre

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
)

var errDefine = errors.New("groups that are only defined are not supported")

var errLookbehind = errors.New("lookbehind assertion is not fixed length")

var counted = regexp.MustCompile(`^\{\d+(,\d*)?\}`)

// quantifier returns the length of the quantifier at the beginning of rest, without the
// ? or + that makes it lazy or possessive; 0 if rest does not begin with a quantifier.
func quantifier(rest string) int {
	switch rest[0] {
	case '*', '+', '?':
		return 1
	case '{':
		return len(counted.FindString(rest))
	}
	return 0
}

// begin records that an atom begins at an offset of the output, unless it is
// within a class.
func (s *scanner) begin(at int) {
	if !s.inClass {
		s.atom = at
	}
}

// close makes the group that ends here the atom that a quantifier repeats.
func (s *scanner) close() {
	s.atom = -1
	if n := len(s.open); n > 0 {
		s.atom, s.open = s.open[n-1], s.open[:n-1]
	}
}

// quantify copies a quantifier. A possessive quantifier is written as an
// atomic group.
func (s *scanner) quantify() {
	n := quantifier(s.in[s.i:])
	text := s.in[s.i : s.i+n]
	s.i += n
	if s.i < len(s.in) && s.in[s.i] == '?' {
		text += "?"
		s.i++
	}
	s.both(text)
	if s.atom < 0 || s.i == len(s.in) || s.in[s.i] != '+' || strings.HasSuffix(text, "?") && len(text) > 1 {
		return
	}
	s.i++
	repeated := string(s.back.Bytes()[s.atom:])
	s.back.Truncate(s.atom)
	s.back.WriteString("(?>" + repeated + ")")
	s.linear = false
}

// special translates a ( that needs more than copying, and reports whether it
// did. It checks lookbehinds without translating them.
func (s *scanner) special() bool {
	rest := s.in[s.i:]
	switch {
	case strings.HasPrefix(rest, "(*"):
		s.verb()
		return true
	case strings.HasPrefix(rest, "(?(DEFINE)"):
		s.err = errDefine
	case strings.HasPrefix(rest, "(?P="):
		name, _, ok := strings.Cut(rest[len("(?P="):], ")")
		if !ok {
			return false
		}
		at := s.back.Len()
		s.i += len("(?P=") + len(name) + len(")")
		s.refer(name)
		s.atom = at
		return true
	case strings.HasPrefix(rest, "(?<=") || strings.HasPrefix(rest, "(?<!"):
		s.linear = false
		body := ruler{in: rest, i: len("(?<=")}
		if !body.fixedBranches() {
			s.err = errLookbehind
		}
	}
	return false
}

// refer writes a reference to a group by name or number.
func (s *scanner) refer(group string) {
	s.back.WriteString(`\k<` + group + ">")
	s.linear = false
}

// reference translates the text after \g or \k: {name}, {-1}, <name>, 'name',
// or a number. It reports whether it was a reference.
func (s *scanner) reference(c byte) bool {
	rest := s.in[s.i:]
	name := ""
	for _, p := range []string{"{}", "<>", "''"} {
		inner, ok := strings.CutPrefix(rest, p[:1])
		if text, _, closed := strings.Cut(inner, p[1:]); ok && closed && (c == 'k' || p == "{}") {
			name = text
			s.i += len(text) + 2
			break
		}
	}
	if digits := len(rest) - len(strings.TrimLeft(rest, "0123456789")); name == "" && c == 'g' && digits > 0 {
		name = rest[:digits]
		s.i += digits
	}
	if name == "" {
		return false
	}
	if back, err := strconv.Atoi(name); err == nil && back < 0 {
		name = strconv.Itoa(captures(s.in[:s.i]) + 1 + back)
	}
	s.refer(name)
	return true
}

// captures counts the capturing groups that begin in a pattern.
func captures(pattern string) (n int) {
	inClass := false
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\':
			i++
		case inClass:
			inClass = c != ']'
		case c == '[':
			inClass = true
		case c == '(' && capturing(pattern[i:]):
			n++
		}
	}
	return n
}

func capturing(group string) bool {
	rest, special := strings.CutPrefix(group, "(?")
	if !special {
		return !strings.HasPrefix(group, "(*")
	}
	if strings.HasPrefix(rest, "P<") || strings.HasPrefix(rest, "'") {
		return true
	}
	return strings.HasPrefix(rest, "<") && !strings.HasPrefix(rest, "<=") && !strings.HasPrefix(rest, "<!")
}
