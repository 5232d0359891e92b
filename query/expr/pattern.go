package expr

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2"

	"github.com/duskdb/duskdb/query/expr/pcre"
)

// pattern is a regular expression of PCRE's kind. RE2 runs it, in time linear
// to the input, wherever it gives the same answer; a backtracking engine does
// where the pattern looks around or refers back, where a $ meets a final
// newline, and where empty matches have to be found one after the other.
type pattern struct {
	linear   *regexp.Regexp  // nil: not expressible
	back     *regexp2.Regexp // nil: not expressible
	captures int
	dollar   bool // $ may match before a final newline
	empty    bool // an empty match is possible
}

// backtrackLimit ends a search that explodes.
const backtrackLimit = 5 * time.Second

var errNoPattern = errors.New("pattern is not valid")

func compilePattern(expr, options string) (*pattern, error) {
	multiline := strings.Contains(options, "m")
	t, err := pcre.Translate(expr, multiline)
	if err != nil {
		return nil, err
	}
	p := &pattern{dollar: !multiline && strings.Contains(expr, "$")}
	if t.Linear && !strings.Contains(options, "x") {
		p.compileLinear(t.RE2, options)
	}
	err = p.compileBack(t.Backtracking, options)
	if p.linear == nil && p.back == nil {
		return nil, err
	}
	if t.Resets {
		p.captures--
	}
	return p, nil
}

func (p *pattern) compileLinear(expr, options string) {
	flags := ""
	for _, o := range options {
		if strings.ContainsRune("ims", o) {
			flags += string(o)
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

func (p *pattern) compileBack(expr, options string) error {
	flags := regexp2.RegexOptions(regexp2.RE2)
	for _, o := range options {
		switch o {
		case 'i':
			flags |= regexp2.IgnoreCase
		case 'm':
			flags |= regexp2.Multiline
		case 's':
			flags |= regexp2.Singleline
		case 'x':
			flags |= regexp2.IgnorePatternWhitespace
		}
	}
	expr = strings.ReplaceAll(expr, "(?P<", "(?<")
	re, err := regexp2.Compile(expr, flags)
	if err != nil {
		return err
	}
	re.MatchTimeout = backtrackLimit
	p.back = re
	if p.linear == nil {
		p.captures, p.empty = len(re.GetGroupNumbers())-1, true
	}
	return nil
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

// find returns the first match as pairs of byte offsets (the whole, then each
// group; -1 for a group that took no part), nil if there is none.
func (p *pattern) find(s string) ([]int, error) {
	if p.useLinear(s) {
		return p.linear.FindStringSubmatchIndex(s), nil
	}
	all, err := p.search(s, 1, nil)
	if len(all) == 0 {
		return nil, err
	}
	return all[0], err
}

func (p *pattern) useLinear(s string) bool {
	return p.linear != nil && (p.back == nil || !p.dollar || !strings.HasSuffix(s, "\n"))
}

func (p *pattern) matches(s string) (bool, error) {
	if p.useLinear(s) {
		return p.linear.MatchString(s), nil
	}
	return p.back.MatchString(s)
}

// findAll returns all matches that do not overlap. After an empty match the
// search goes on one character further; at the end of a string that is not
// empty none is found.
func (p *pattern) findAll(s string, env *Env) ([][]int, error) {
	if p.useLinear(s) && !p.empty {
		return p.linear.FindAllStringSubmatchIndex(s, -1), nil
	}
	if p.back == nil {
		return p.linear.FindAllStringSubmatchIndex(s, -1), nil
	}
	return p.search(s, -1, env.ask)
}

// search runs the backtracking engine, which counts in characters.
func (p *pattern) search(s string, limit int, goOn func() error) (all [][]int, err error) {
	if p.back == nil {
		return nil, errNoPattern
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
		m, err := p.back.FindRunesMatchStartingAt(runes, at)
		if err != nil || m == nil {
			return all, err
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

func (p *pattern) offsets(m *regexp2.Match, offsets []int) []int {
	out := make([]int, 0, 2*p.captures+2)
	for _, g := range m.Groups() {
		if g.Name == pcre.ResetGroup {
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

// runeCount is the number of code points.
func runeCount(s string) int { return utf8.RuneCountInString(s) }
