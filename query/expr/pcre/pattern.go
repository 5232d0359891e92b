package pcre

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"time"

	"github.com/dlclark/regexp2"
)

// BacktrackLimit bounds one match by the backtracking engine.
const BacktrackLimit = time.Second

// ErrLimit ends a match that takes too long.
var ErrLimit = errors.New("match limit exceeded")

// Pattern is a compiled regular expression. It may be used by several
// goroutines.
type Pattern struct {
	linear   *regexp.Regexp // nil if it would differ from PCRE2
	captures int
	dollar   bool // $ may match before a final newline
	empty    bool // an empty match is possible

	// The backtracking engine. Beside a linear one it is seldom needed and
	// compiled when it is; it is nil if it does not understand the pattern.
	source, options string
	compiled        sync.Once
	back            *regexp2.Regexp
}

// Compile reads a pattern with options among imsx. Errors have PCRE's words.
func Compile(pattern, options string) (*Pattern, error) {
	multiline := strings.Contains(options, "m")
	t, err := Translate(pattern, multiline)
	if err != nil {
		return nil, err
	}
	p := &Pattern{
		dollar: !multiline && strings.Contains(pattern, "$"),
		source: t.Backtracking, options: options,
	}
	if t.Linear && !strings.Contains(options, "x") {
		p.compileLinear(t.RE2)
	}
	if p.linear == nil {
		if err := p.compileBack(); err != nil {
			return nil, reason(err)
		}
		p.captures, p.empty = len(p.back.GetGroupNumbers())-1, true
	}
	if t.Resets {
		p.captures--
	}
	return p, nil
}

// compileLinear compiles the pattern for Go's engine if that supports it.
func (p *Pattern) compileLinear(expr string) {
	flags := ""
	for _, f := range []string{"i", "m", "s"} {
		if strings.Contains(p.options, f) {
			flags += f
		}
	}
	if flags != "" {
		expr = "(?" + flags + ")" + expr
	}
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return
	}
	if p.linear, err = regexp.Compile(expr); err != nil {
		p.linear = nil
		return
	}
	p.captures, p.empty = p.linear.NumSubexp(), canBeEmpty(tree)
}

// backOptions are the backtracking engine's flags for PCRE's options.
var backOptions = map[rune]regexp2.RegexOptions{
	'i': regexp2.IgnoreCase,
	'm': regexp2.Multiline,
	's': regexp2.Singleline,
	'x': regexp2.IgnorePatternWhitespace,
}

// compileBack compiles for the backtracking engine, once.
func (p *Pattern) compileBack() (err error) {
	p.compiled.Do(func() {
		flags := regexp2.RegexOptions(regexp2.RE2)
		for _, o := range p.options {
			flags |= backOptions[o]
		}
		var re *regexp2.Regexp
		if re, err = regexp2.Compile(p.source, flags); err == nil {
			re.MatchTimeout = BacktrackLimit
			p.back = re
		}
	})
	return err
}

// backtracking returns the pattern for the backtracking engine, nil if that
// does not support it.
func (p *Pattern) backtracking() *regexp2.Regexp {
	_ = p.compileBack() // of a pattern without a linear engine this was Compile's error
	return p.back
}

// canBeEmpty reports whether a pattern can match the empty string somewhere.
func canBeEmpty(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune) == 0
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL, syntax.OpNoMatch:
		return false
	case syntax.OpPlus, syntax.OpCapture:
		return canBeEmpty(re.Sub[0])
	case syntax.OpRepeat:
		return re.Min == 0 || canBeEmpty(re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if !canBeEmpty(sub) {
				return false
			}
		}
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			if canBeEmpty(sub) {
				return true
			}
		}
		return false
	}
	return true
}

// Match reports whether the text contains a match.
func (p *Pattern) Match(s string) (bool, error) {
	if p.linear != nil {
		return p.linear.MatchString(s), nil
	}
	ok, err := p.back.MatchString(s)
	if err != nil { // the engine has no other error
		return false, ErrLimit
	}
	return ok, nil
}

// Find returns the first match as pairs of byte offsets (the whole, then each
// group; -1 for a group that took no part), or nil.
func (p *Pattern) Find(s string) ([]int, error) {
	if p.linear != nil && !p.beforeNewline(s) {
		return p.linear.FindStringSubmatchIndex(s), nil
	}
	all, err := p.search(s, 1, nil)
	if len(all) == 0 {
		return nil, err
	}
	return all[0], err
}

// FindAll returns all matches that do not overlap. After an empty match the
// search continues one character further; there is no empty match at the end
// of a non-empty text. Between matches it calls goOn, whose error ends the
// search.
func (p *Pattern) FindAll(s string, goOn func() error) ([][]int, error) {
	if p.linear != nil && !p.beforeNewline(s) && !p.empty {
		return p.linear.FindAllStringSubmatchIndex(s, -1), nil
	}
	return p.search(s, -1, goOn)
}

// beforeNewline reports whether a $ may match before a final newline of the
// text, which the linear engine would include in the match.
func (p *Pattern) beforeNewline(s string) bool { return p.dollar && strings.HasSuffix(s, "\n") }

// search runs the backtracking engine, which counts in characters.
func (p *Pattern) search(s string, limit int, goOn func() error) (all [][]int, err error) {
	back := p.backtracking()
	if back == nil {
		return p.linear.FindAllStringSubmatchIndex(s, limit), nil
	}
	runes := []rune(s)
	offsets := make([]int, 0, len(runes)+1)
	for i := range s {
		offsets = append(offsets, i)
	}
	offsets = append(offsets, len(s))
	for at := 0; len(all) != limit; {
		if goOn != nil {
			if err := goOn(); err != nil {
				return nil, err
			}
		}
		m, err := back.FindRunesMatchStartingAt(runes, at)
		if err != nil {
			return all, ErrLimit
		}
		if m == nil {
			return all, nil
		}
		all = append(all, p.offsets(m, offsets))
		at = m.Index + m.Length
		if m.Length == 0 {
			at++
		}
		if at >= len(runes) {
			return all, nil
		}
	}
	return all, nil
}

// offsets converts the positions of a match from characters to bytes.
func (p *Pattern) offsets(m *regexp2.Match, offsets []int) []int {
	out := make([]int, 0, 2*p.captures+2)
	for _, g := range m.Groups() {
		if g.Name == ResetGroup {
			if len(g.Captures) > 0 {
				out[0] = offsets[g.Index]
			}
			continue
		}
		if len(g.Captures) == 0 {
			out = append(out, -1, -1)
			continue
		}
		out = append(out, offsets[g.Index], offsets[g.Index+g.Length])
	}
	return out
}

// reasons maps the engine's errors to PCRE2's messages.
var reasons = []struct{ engine, pcre string }{
	{"missing closing )", "missing closing parenthesis"},
	{"unexpected )", "unmatched closing parenthesis"},
	{"unterminated [] set", "missing terminating ] for character class"},
	{"missing argument to repetition", "quantifier does not follow a repeatable item"},
	{"nested quantifier", "quantifier does not follow a repeatable item"},
	{"illegal \\ at end", `\ at end of pattern`},
	{"range in reverse order", "range out of order in character class"},
	{"invalid repeat count", "numbers out of order in {} quantifier"},
	{"invalid group name", "subpattern name expected"},
	{"reference to undefined group", "reference to non-existent subpattern"},
	{"unrecognized grouping construct", "unrecognized character after (? or (?-"},
	{"unrecognized escape sequence", `unrecognized character follows \`},
}

func reason(err error) error {
	for _, r := range reasons {
		if strings.Contains(err.Error(), r.engine) {
			return errors.New(r.pcre)
		}
	}
	return errors.New(strings.TrimPrefix(err.Error(), "error parsing regexp: "))
}
