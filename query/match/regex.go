package match

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/expr/pcre"
	"github.com/duskdb/duskdb/value"
)

// Regex is $regex or a regular expression literal. It matches strings and
// symbols, and regular expressions that are the same.
type Regex struct {
	leafPath
	Pattern, Options string

	find    finder
	literal bool // find searches plain strings
}

// finder reports whether a string contains a match. The environment, which may be nil, can
// interrupt it.
type finder func(env *expr.Env, s string) (bool, error)

func (n *Regex) rank() int { return rankRegex }

func (n *Regex) shape() uint64 { return leafShape("$regex"+n.Options, n) }

func (n *Regex) explain(x *explainer, inverted bool) { x.leaf(leafOperator(n), n, inverted) }

func (n *Regex) reasons() reasons {
	return reasons{failed: "regular expression did not match", matched: "regular expression did match"}
}

func (n *Regex) debug(w *treeWriter, depth int) {
	w.line(depth, "%s regex /%s/%s", n.Path.String(), n.Pattern, n.Options)
}

func (n *Regex) cheap() bool { return n.literal }

func (n *Regex) match(env *expr.Env, d value.Doc, pos *int) (bool, error) {
	return n.walk(n, env, d, pos)
}

func (n *Regex) matchValue(env *expr.Env, v value.Value, _ *int) (bool, error) {
	switch v.Kind() {
	case value.KindString, value.KindSymbol:
		if err := env.Weigh(len(v.Bytes())); err != nil {
			return false, err
		}
		return n.find(env, v.Str())
	case value.KindRegex:
		pattern, options := v.Regex()
		return pattern == n.Pattern && options == n.Options, nil
	}
	return false, nil
}

func (n *Regex) appendTo(b *value.Builder) { appendLeaf(b, n) }

func (n *Regex) appendOperator(b *value.Builder) {
	b.String("$regex", n.Pattern)
	if n.Options != "" {
		b.String("$options", n.Options)
	}
}

// Prefix returns the string that every match begins with, and whether every
// string with this prefix matches. It is "" for patterns not anchored at the
// start and for those that ignore case: what the planner can turn into a range
// of an index.
func (n *Regex) Prefix() (prefix string, exact bool) {
	rest, extended, ok := n.anchored()
	if !ok {
		return "", false
	}
	var b strings.Builder
	last := 0 // where the last character begins
	for rest != "" {
		text, size := literal(rest, extended)
		if size == 0 {
			break
		}
		if text != "" {
			last = b.Len() + lastRune(text)
			b.WriteString(text)
		}
		rest = rest[size:]
	}
	if strings.Contains(rest, "|") {
		return "", false
	}
	if rest != "" && strings.ContainsRune("*?{", rune(rest[0])) {
		return b.String()[:last], false // the last character may be absent
	}
	return b.String(), rest == "" || rest == ".*"
}

// anchored returns what follows the ^ or \A of a pattern that can have a
// prefix, and whether blanks and comments are to be skipped.
func (n *Regex) anchored() (rest string, extended, ok bool) {
	rest, ok = strings.CutPrefix(n.Pattern, `\A`)
	everyLine := false
	if !ok {
		rest, ok = strings.CutPrefix(n.Pattern, "^")
		everyLine = true
	}
	for _, o := range n.Options {
		switch {
		case o == 's', o == 'm' && !everyLine:
		case o == 'x':
			extended = true
		default:
			return "", false, false
		}
	}
	return rest, extended, ok
}

// literal reads what stands for itself at the start of a pattern: a character,
// one behind a backslash, or \Q…\E. The size is 0 if the pattern does not
// begin with a literal.
func literal(pattern string, extended bool) (text string, size int) {
	if quoted, ok := strings.CutPrefix(pattern, `\Q`); ok {
		text, _, ended := strings.Cut(quoted, `\E`)
		if !ended {
			return text, len(pattern)
		}
		return text, len(`\Q`) + len(text) + len(`\E`)
	}
	c, width := utf8.DecodeRuneInString(pattern)
	switch {
	case c == '\\':
		escaped, width := utf8.DecodeRuneInString(pattern[1:])
		if width == 0 || escaped < 0x80 && (unicode.IsLetter(escaped) || unicode.IsDigit(escaped)) {
			return "", 0
		}
		return pattern[1 : 1+width], 1 + width
	case extended && c < 0x80 && unicode.IsSpace(c):
		return "", width
	case c == '#' && !extended:
		return "#", width
	case strings.ContainsRune(pcre.MetaCharacters, c):
		return "", 0
	}
	return pattern[:width], width
}

func lastRune(s string) int {
	_, width := utf8.DecodeLastRuneInString(s)
	return len(s) - width
}

// newRegex checks the pattern and the options and compiles them.
func newRegex(path value.Path, pattern, options string) (*Regex, error) {
	if strings.IndexByte(pattern, 0) >= 0 {
		return nil, mongoerr.New(mongoerr.BadValue, "Regular expression cannot contain an embedded null byte")
	}
	for _, c := range options {
		if !strings.ContainsRune("imsxu", c) {
			return nil, mongoerr.Newf(51108, "invalid flag in regex options: %c", c)
		}
	}
	find, literal, err := compileRegex(pattern, options)
	if err != nil {
		return nil, err
	}
	return &Regex{leafPath{Path: path}, pattern, options, find, literal}, nil
}

// regexNode turns a *Regex and an error into a Node and an error.
func regexNode(n *Regex, err error) (Node, error) {
	if err != nil {
		return nil, err
	}
	return n, nil
}

// compileRegex chooses the fastest way to PCRE's result: plain string search, in which
// case literal is true, or an engine of package pcre.
func compileRegex(pattern, options string) (find finder, literal bool, err error) {
	if find := literalFinder(pattern, options); find != nil && len(pattern) <= pcre.MaxPattern {
		return find, true, nil
	}
	p, err := pcre.Compile(pattern, options)
	if err != nil {
		return nil, false, mongoerr.Newf(51091, "Regular expression is invalid: %s", err)
	}
	return func(env *expr.Env, s string) (bool, error) {
		var ask func() error
		if env != nil {
			ask = env.Interrupt
		}
		ok, err := p.Match(s, ask)
		if errors.Is(err, pcre.ErrLimit) {
			return false, mongoerr.Newf(51156, "Error occurred while executing regular expression: %s", err)
		}
		return ok, err
	}, false, nil
}

// literalFinder serves patterns without any special character, with or without ^ in front
// and $ behind. Like PCRE's, this $ also matches before a newline at the end.
func literalFinder(pattern, options string) finder {
	if options != "" && options != "s" {
		return nil
	}
	text, atStart := strings.CutPrefix(pattern, "^")
	text, atEnd := strings.CutSuffix(text, "$")
	switch {
	case strings.ContainsAny(text, pcre.MetaCharacters):
		return nil
	case atStart && atEnd:
		return func(_ *expr.Env, s string) (bool, error) {
			return s == text || strings.TrimSuffix(s, "\n") == text, nil
		}
	case atStart:
		return func(_ *expr.Env, s string) (bool, error) { return strings.HasPrefix(s, text), nil }
	case atEnd:
		return func(_ *expr.Env, s string) (bool, error) {
			return strings.HasSuffix(s, text) || strings.HasSuffix(strings.TrimSuffix(s, "\n"), text), nil
		}
	}
	return func(_ *expr.Env, s string) (bool, error) { return strings.Contains(s, text), nil }
}

// parseRegex reads $regex together with its $options, wherever they stand.
func parseRegex(_ *parser, path value.Path, context value.Doc, _ element) (Node, error) {
	var pattern, options string
	for name, v := range context.All() {
		switch name {
		case "$regex":
			switch v.Kind() {
			case value.KindString:
				pattern = v.Str()
			case value.KindRegex:
				var own string
				if pattern, own = v.Regex(); own != "" {
					if options != "" {
						return nil, mongoerr.New(51074, "options set in both $regex and $options")
					}
					options = own
				}
			default:
				return nil, mongoerr.New(mongoerr.BadValue, "$regex has to be a string")
			}
		case "$options":
			if v.Kind() != value.KindString {
				return nil, mongoerr.New(mongoerr.BadValue, "$options has to be a string")
			}
			if options != "" {
				return nil, mongoerr.New(51075, "options set in both $regex and $options")
			}
			options = v.Str()
		}
	}
	return regexNode(newRegex(path, pattern, options))
}

// parseOptions only checks that there is a $regex, which reads the options.
func parseOptions(_ *parser, _ value.Path, context value.Doc, _ element) (Node, error) {
	if !context.Has("$regex") {
		return nil, mongoerr.New(mongoerr.BadValue, "$options needs a $regex")
	}
	return nil, nil
}
