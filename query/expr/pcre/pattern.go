package pcre

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dlclark/regexp2"
)

// ErrLimit ends a search that takes too long.
var ErrLimit = errors.New("match limit exceeded")

// Pattern is a compiled regular expression. It may be used by several
// goroutines.
type Pattern struct {
	linear   *regexp.Regexp // nil if it would differ from PCRE2
	captures int
	dollar   bool   // $ may match before a final newline
	empty    bool   // an empty match is possible
	expr     string // the expression for the linear engine
	cost     int    // the limit of what one character costs the linear engine
	looks    bool   // it depends on the character before the place where a search begins

	next     *regexp.Regexp // finds the first match behind the first character, if looks
	nextOnce sync.Once

	// The backtracking engine. Beside a linear one it is seldom needed and
	// compiled when it is; it is nil if it does not understand the pattern.
	source, options   string
	compiled, retried sync.Once
	back              *regexp2.Regexp // gives up soon
	long              *regexp2.Regexp // gives up after BacktrackLimit
}

// MaxPattern is the length of the longest pattern in bytes, as in mongod.
const MaxPattern = 16384

var errTooLong = errors.New("pattern string is longer than the limit set by the application")

// Compile reads a pattern with options among imsx. Errors have PCRE's words.
func Compile(pattern, options string) (*Pattern, error) {
	if len(pattern) > MaxPattern {
		return nil, errTooLong
	}
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
	size := instructions(tree)
	if size > maxInstructions {
		return
	}
	if p.linear, err = regexp.Compile(expr); err != nil {
		p.linear = nil
		return
	}
	p.captures, p.empty = p.linear.NumSubexp(), canBeEmpty(tree)
	p.expr, p.cost, p.looks = expr, size*(1+p.captures/8), looksBack(tree)
}

// maxInstructions is the size of the largest program that the linear engine runs. PCRE2
// does not compile such a pattern either if groups are repeated.
const maxInstructions = 64 << 10

// instructions returns about how many instructions the linear engine needs for an
// expression.
func instructions(re *syntax.Regexp) int {
	n := 1
	switch re.Op {
	case syntax.OpLiteral:
		n = len(re.Rune)
	case syntax.OpCharClass:
		n = 1 + len(re.Rune)/8
	}
	for _, sub := range re.Sub {
		n += instructions(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return n
}

// looksBack reports whether an expression depends on what is before a match.
func looksBack(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpBeginLine, syntax.OpBeginText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true
	}
	return slices.ContainsFunc(re.Sub, looksBack)
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
	p.compiled.Do(func() { p.back, err = p.compileWith(quickLimit) })
	return err
}

// compileWith compiles for the backtracking engine, with a limit for a match.
func (p *Pattern) compileWith(limit time.Duration) (*regexp2.Regexp, error) {
	flags := regexp2.RegexOptions(regexp2.RE2)
	for _, o := range p.options {
		flags |= backOptions[o]
	}
	re, err := regexp2.Compile(p.source, flags)
	if err == nil {
		re.MatchTimeout = limit
	}
	return re, err
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
