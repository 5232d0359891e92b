package expr

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr/pcre"
	"github.com/duskdb/duskdb/value"
)

// compiled is a constant regular expression; nil: the regex was null.
type compiled struct{ *pcre.Pattern }

// prepareRegex compiles a constant regex once.
func prepareRegex(c *call) (any, error) {
	regex, ok := c.args[1].(constant)
	if !ok {
		return nil, nil
	}
	options := constant{}
	if c.given(2) {
		if options, ok = c.args[2].(constant); !ok {
			return nil, nil
		}
	}
	p, err := regexFrom(c, regex.v, options.v)
	if err != nil {
		return nil, &FoldError{mongoerr.From(err)}
	}
	return &compiled{p}, nil
}

// regexFrom compiles the arguments regex and options; nil for a null regex.
func regexFrom(c *call, regex, options value.Value) (*pcre.Pattern, error) {
	op := c.op.name
	if k := regex.Kind(); !regex.IsNullish() && k != value.KindString && k != value.KindRegex {
		return nil, mongoerr.Newf(51105, "%s needs 'regex' to be of type string or regex", op)
	}
	if !options.IsNullish() && options.Kind() != value.KindString {
		return nil, mongoerr.Newf(51106, "%s needs 'options' to be of type string", op)
	}
	expr, flags := regex.Str(), options.Str()
	if regex.Kind() == value.KindRegex {
		var own string
		if expr, own = regex.Regex(); own != "" {
			if !options.IsNullish() {
				return nil, mongoerr.Newf(51107, "%s: found regex option(s) specified in both 'regex' and 'option' fields", op)
			}
			flags = own
		}
	}
	if strings.IndexByte(expr, 0) >= 0 {
		return nil, mongoerr.Newf(51109, "%s: regular expression cannot contain an embedded null byte", op)
	}
	if strings.IndexByte(flags, 0) >= 0 {
		return nil, mongoerr.Newf(51110, "%s: regular expression options cannot contain an embedded null byte", op)
	}
	if regex.IsNullish() {
		return nil, nil
	}
	if i := strings.IndexFunc(flags, func(r rune) bool { return !strings.ContainsRune("imsxu", r) }); i >= 0 {
		return nil, mongoerr.Newf(51108, "%s invalid flag in regex options: %c", op, []rune(flags[i:])[0])
	}
	p, err := pcre.Compile(expr, flags)
	if err != nil {
		return nil, mongoerr.Newf(51111, "Invalid Regex in %s: %s", op, err)
	}
	return p, nil
}

// regexArgs evaluates the arguments; p is nil if the input or the regex is
// null.
func regexArgs(c *call, env *Env) (s string, p *pcre.Pattern, err error) {
	in, err := c.args[0].eval(env)
	if err != nil {
		return "", nil, err
	}
	if prepared, ok := c.data.(*compiled); ok {
		p = prepared.Pattern
	} else {
		regex, err := c.args[1].eval(env)
		if err != nil {
			return "", nil, err
		}
		options, err := c.arg(env, 2)
		if err != nil {
			return "", nil, err
		}
		if p, err = regexFrom(c, regex, options); err != nil {
			return "", nil, err
		}
	}
	if in.IsNullish() {
		return "", nil, nil
	}
	if in.Kind() != value.KindString {
		return "", nil, mongoerr.Newf(51104, "%s needs 'input' to be of type string", c.op.name)
	}
	return in.Str(), p, nil
}

// regexFailed is the error of a search, which was interrupted unless it took too long.
func regexFailed(c *call, err error) error {
	if !errors.Is(err, pcre.ErrLimit) {
		return err
	}
	return mongoerr.Newf(51156, "Error occurred while executing the regular expression in %s. Result code: %s", c.op.name, err)
}

func evalRegexMatch(c *call, env *Env) (value.Value, error) {
	s, p, err := regexArgs(c, env)
	if p == nil || err != nil {
		return value.Bool(false), err
	}
	ok, err := p.Match(s, env.Interrupt)
	if err != nil {
		return value.Value{}, regexFailed(c, err)
	}
	return value.Bool(ok), nil
}

func evalRegexFind(c *call, env *Env) (value.Value, error) {
	s, p, err := regexArgs(c, env)
	if p == nil || err != nil {
		return value.Null(), err
	}
	m, err := p.Find(s, env.Interrupt)
	switch {
	case err != nil:
		return value.Value{}, regexFailed(c, err)
	case m == nil:
		return value.Null(), nil
	}
	return matchDoc(s, m, utf8.RuneCountInString(s[:m[0]])), nil
}

// evalRegexFindAll evaluates $regexFindAll, and counts code points from match
// to match.
func evalRegexFindAll(c *call, env *Env) (value.Value, error) {
	s, p, err := regexArgs(c, env)
	if p == nil || err != nil {
		return value.NewArray(), err
	}
	all, err := p.FindAll(s, env.Interrupt)
	if err != nil {
		return value.Value{}, regexFailed(c, err)
	}
	var out value.ArrayBuilder
	at, index := 0, 0
	for _, m := range all {
		if err := env.tick(); err != nil {
			return value.Value{}, err
		}
		index += utf8.RuneCountInString(s[at:m[0]])
		at = m[0]
		out.Append(matchDoc(s, m, index))
		if out.Size() > 64<<20 {
			return value.Value{}, mongoerr.Newf(51151, "%s: the size of buffer to store output exceeded the 64MB limit", c.op.name)
		}
	}
	return out.Value(), nil
}

// matchDoc is {match, idx (in code points), captures}.
func matchDoc(s string, m []int, index int) value.Value {
	var captures value.ArrayBuilder
	for i := 2; i+1 < len(m); i += 2 {
		if m[i] < 0 {
			captures.Append(value.Null())
		} else {
			captures.Append(value.String(s[m[i]:m[i+1]]))
		}
	}
	return value.Document(value.NewDoc("match", value.String(s[m[0]:m[1]]), "idx", value.Int32(int32(index)), "captures", captures.Value()))
}
