package expr

import (
	"strings"
	"unicode/utf8"

	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

func evalConcat(c *call, env *Env) (value.Value, error) {
	var out strings.Builder
	for _, n := range c.args {
		v, null, err := ofKind(n, env, value.KindString, 16702, "$concat only supports strings, not %s")
		if null || err != nil {
			return value.Null(), err
		}
		if err := checkString(out.Len() + len(v.Str())); err != nil {
			return value.Value{}, err
		}
		out.WriteString(v.Str())
	}
	return value.String(out.String()), nil
}

// maxStringBytes is the length that every string of an expression must be
// below.
const maxStringBytes = 16 << 20

// checkString fails for a string of n bytes that is too long.
func checkString(n int) error {
	if n >= maxStringBytes {
		return mongoerr.New(16493, "Tried to create string longer than 16MB")
	}
	return nil
}

// text implements the implicit conversion of string operators: null and
// missing become the empty string.
func text(v value.Value) (string, error) {
	switch v.Kind() {
	case value.KindString, value.KindSymbol, value.KindCode:
		return v.Str(), nil
	case value.Missing, value.KindNull, value.KindUndefined:
		return "", nil
	case value.KindDouble:
		return value.ShortDouble(v.Double()), nil // not as $toString does
	case value.KindInt32, value.KindInt64, value.KindDecimal:
		return v.String(), nil
	case value.KindDateTime:
		return formatISO(v.DateTime())
	case value.KindTimestamp:
		return timestampText(v), nil
	}
	return "", cannotConvert(v, "String")
}

func textArg(c *call, env *Env, i int) (string, error) {
	v, err := c.args[i].eval(env)
	if err != nil {
		return "", err
	}
	return text(v)
}

// caseOf is the evaluation of $toLower and $toUpper, for the ASCII letters from low to high.
func caseOf(low, high byte) func(*call, *Env) (value.Value, error) {
	return func(c *call, env *Env) (value.Value, error) {
		s, err := textArg(c, env, 0)
		if err != nil {
			return value.Value{}, err
		}
		return value.String(mapASCII(s, low, high)), nil
	}
}

var (
	evalToLower = caseOf('A', 'Z')
	evalToUpper = caseOf('a', 'z')
)

// mapASCII changes the case of the ASCII letters from low to high.
func mapASCII(s string, low, high byte) string {
	for i := range len(s) {
		if s[i] >= low && s[i] <= high {
			b := []byte(s)
			for j := i; j < len(b); j++ {
				if b[j] >= low && b[j] <= high {
					b[j] ^= 0x20
				}
			}
			return string(b)
		}
	}
	return s
}

func evalStrcasecmp(c *call, env *Env) (value.Value, error) {
	a, err := textArg(c, env, 0)
	if err != nil {
		return value.Value{}, err
	}
	b, err := textArg(c, env, 1)
	if err != nil {
		return value.Value{}, err
	}
	return value.Int32(int32(strings.Compare(mapASCII(a, 'a', 'z'), mapASCII(b, 'a', 'z')))), nil
}

// lengthBy is the evaluation of $strLenBytes and $strLenCP.
func lengthBy(code mongoerr.Code, length func(s []byte) int) func(*call, *Env) (value.Value, error) {
	return func(c *call, env *Env) (value.Value, error) {
		v, err := c.args[0].eval(env)
		if err != nil {
			return value.Value{}, err
		}
		if v.Kind() != value.KindString {
			return value.Value{}, mongoerr.Newf(code, "%s requires a string argument, found: %s", c.op.name, v.Kind())
		}
		return value.Int32(int32(length(v.Bytes()))), nil
	}
}

var (
	evalStrLenBytes = lengthBy(34473, func(s []byte) int { return len(s) })
	evalStrLenCP    = lengthBy(34471, utf8.RuneCount)
)

func isContinuation(b byte) bool { return b&0xc0 == 0x80 }

// evalSubstrBytes evaluates $substrBytes; the range must not begin or end
// within a code point.
func evalSubstrBytes(c *call, env *Env) (value.Value, error) {
	s, err := textArg(c, env, 0)
	if err != nil {
		return value.Value{}, err
	}
	from, err := c.args[1].eval(env)
	if err != nil {
		return value.Value{}, err
	}
	size, err := c.args[2].eval(env)
	switch {
	case err != nil:
		return value.Value{}, err
	case !from.IsNumber():
		return value.Value{}, mongoerr.Newf(16034, "%s:  starting index must be a numeric type (is BSON type %s)", c.op.name, from.Kind())
	case !size.IsNumber():
		return value.Value{}, mongoerr.Newf(16035, "%s:  length must be a numeric type (is BSON type %s)", c.op.name, size.Kind())
	}
	start, err := toLongCut(from)
	if err != nil {
		return value.Value{}, err
	}
	n, err := toLongCut(size)
	if err != nil {
		return value.Value{}, err
	}
	if start < 0 {
		return value.Value{}, mongoerr.Newf(50752, "%s:  starting index must be non-negative (got: %d)", c.op.name, start)
	}
	total := int64(len(s))
	if n < 0 || n > total {
		n = total
	}
	if start < total && isContinuation(s[start]) {
		return value.Value{}, mongoerr.Newf(28656, "%s:  Invalid range, starting index is a UTF-8 continuation byte.", c.op.name)
	}
	if start < total && start+n < total && isContinuation(s[start+n]) {
		return value.Value{}, mongoerr.Newf(28657, "%s:  Invalid range, ending index is in the middle of a UTF-8 character.", c.op.name)
	}
	if start >= total {
		return value.String(""), nil
	}
	return value.String(s[start:min(total, start+n)]), nil
}

// evalSubstrCP evaluates $substrCP by code points.
func evalSubstrCP(c *call, env *Env) (value.Value, error) {
	s, err := textArg(c, env, 0)
	if err != nil {
		return value.Value{}, err
	}
	start, err := codePoints(c, env, 1, 34450, "starting index")
	if err != nil {
		return value.Value{}, err
	}
	n, err := codePoints(c, env, 2, 34452, "length")
	switch {
	case err != nil:
		return value.Value{}, err
	case n < 0:
		return value.Value{}, mongoerr.Newf(34454, "%s: length must be a nonnegative integer.", c.op.name)
	case start < 0:
		return value.Value{}, mongoerr.Newf(34455, "%s: the starting index must be nonnegative integer.", c.op.name)
	}
	s = s[byteOffset(s, start):]
	return value.String(s[:byteOffset(s, n)]), nil
}

// byteOffset returns the offset of the n-th code point, or the length of s.
func byteOffset(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

func codePoints(c *call, env *Env, i int, code mongoerr.Code, what string) (int, error) {
	v, err := c.args[i].eval(env)
	if err != nil {
		return 0, err
	}
	if !v.IsNumber() {
		return 0, mongoerr.Newf(code, "%s: %s must be a numeric type (is BSON type %s)", c.op.name, what, v.Kind())
	}
	n, ok := asInt32(v)
	if !ok {
		return 0, mongoerr.Newf(code+1, "%s: %s cannot be represented as a 32-bit integral value: %s", c.op.name, what, v.Compact())
	}
	return int(n), nil
}

func evalIndexOfBytes(c *call, env *Env) (value.Value, error) {
	s, token, null, err := searchStrings(c, env, 40091)
	if null || err != nil {
		return value.Null(), err
	}
	start, end, err := searchBounds(c, env, dialect.IndexOfIntegral, dialect.IndexOfNegative)
	if err != nil {
		return value.Value{}, err
	}
	return value.Int32(int32(find(s, token, start, min(end, len(s))))), nil
}

// find returns the offset of token in s[start:end].
func find(s, token string, start, end int) int {
	if start > len(s) || end < start {
		return -1
	}
	i := strings.Index(s[start:end], token)
	if i < 0 {
		return -1
	}
	return start + i
}

// evalIndexOfCP evaluates $indexOfCP within the optional bounds, in code
// points.
func evalIndexOfCP(c *call, env *Env) (value.Value, error) {
	s, token, null, err := searchStrings(c, env, 40093)
	if null || err != nil {
		return value.Null(), err
	}
	start, end, err := searchBounds(c, env, dialect.IndexOfIntegral, dialect.IndexOfNegative)
	if err != nil {
		return value.Value{}, err
	}
	if token == "" && s == "" {
		return value.Int32(0), nil
	}
	// The end limits the beginning of an occurrence, not its end.
	from := byteOffset(s, start)
	i := find(s, token, from, len(s))
	if start > end || i < 0 || from == len(s) && start > 0 {
		return value.Int32(-1), nil
	}
	if at := start + utf8.RuneCountInString(s[from:i]); at < end {
		return value.Int32(int32(at)), nil
	}
	return value.Int32(-1), nil
}

// searchStrings evaluates the string and the token of an $indexOf operator;
// null reports whether the string is null.
func searchStrings(c *call, env *Env, code mongoerr.Code) (s, token string, null bool, err error) {
	a, err := c.args[0].eval(env)
	switch {
	case err != nil:
		return "", "", false, err
	case a.IsNullish():
		return "", "", true, nil
	case a.Kind() != value.KindString:
		return "", "", false, mongoerr.Newf(code, "%s requires a string as the first argument, found: %s", c.op.name, a.Kind())
	}
	b, err := c.args[1].eval(env)
	if err == nil && b.Kind() != value.KindString {
		err = mongoerr.Newf(code+1, "%s requires a string as the second argument, found: %s", c.op.name, b.Kind())
	}
	return a.Str(), b.Str(), false, err
}

// evalSplit evaluates $split; the separator must not be empty.
func evalSplit(c *call, env *Env) (value.Value, error) {
	s, sep, err := two(c, env)
	switch {
	case err != nil:
		return value.Value{}, err
	case s.IsNullish() || sep.IsNullish():
		return value.Null(), nil
	case s.Kind() != value.KindString:
		return value.Value{}, mongoerr.Newf(40085, "$split requires an expression that evaluates to a string as a first argument, found: %s", s.Kind())
	case sep.Kind() != value.KindString:
		return value.Value{}, c.dialect.Error(dialect.SplitSeparator, sep.Kind())
	case sep.Str() == "":
		return value.Value{}, mongoerr.New(40087, "$split requires a non-empty separator")
	}
	var out value.ArrayBuilder
	for part := range strings.SplitSeq(s.Str(), sep.Str()) {
		if err := env.tick(); err != nil {
			return value.Value{}, err
		}
		out.Append(value.String(part))
		if err := checkSize(out.Size()); err != nil {
			return value.Value{}, err
		}
	}
	return out.Value(), nil
}

func evalReplaceOne(c *call, env *Env) (value.Value, error) { return replace(c, env, 1) }

func evalReplaceAll(c *call, env *Env) (value.Value, error) { return replace(c, env, -1) }

// replace evaluates $replaceOne (n = 1) and $replaceAll (n < 0).
func replace(c *call, env *Env, n int) (value.Value, error) {
	var args [3]value.Value
	null := false
	for i, wrong := range []*dialect.Error{dialect.ReplaceInput, dialect.ReplaceFind, dialect.ReplaceReplacement} {
		v, err := c.args[i].eval(env)
		if err != nil {
			return value.Value{}, err
		}
		if !v.IsNullish() && v.Kind() != value.KindString {
			return value.Value{}, c.dialect.Error(wrong, c.op.name, v.Compact())
		}
		args[i], null = v, null || v.IsNullish()
	}
	if null {
		return value.Null(), nil
	}
	in, find, by := args[0].Str(), args[1].Str(), args[2].Str()
	times := strings.Count(in, find)
	if n >= 0 {
		times = min(times, n)
	}
	if err := checkString(len(in) + times*(len(by)-len(find))); err != nil {
		return value.Value{}, err
	}
	return value.String(strings.Replace(in, find, by, n)), nil
}

// whitespace is what $trim removes by default.
const whitespace = "\x00\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"

// evalTrim evaluates $trim, $ltrim and $rtrim, with the given characters or
// white space.
func evalTrim(c *call, env *Env) (value.Value, error) {
	in, err := c.args[0].eval(env)
	switch {
	case err != nil:
		return value.Value{}, err
	case in.IsNullish():
		return value.Null(), nil
	case in.Kind() != value.KindString:
		return value.Value{}, mongoerr.Newf(50699, "%s requires its input to be a string, got %s (of type %s) instead.", c.op.name, in, in.Kind())
	}
	chars := whitespace
	if c.given(1) {
		v, err := c.args[1].eval(env)
		switch {
		case err != nil:
			return value.Value{}, err
		case v.IsNullish():
			return value.Null(), nil
		case v.Kind() != value.KindString:
			return value.Value{}, mongoerr.Newf(50700, "%s requires 'chars' to be a string, got %s (of type %s) instead.", c.op.name, v, v.Kind())
		}
		chars = v.Str()
	}
	s := in.Str()
	if c.op.name != "$rtrim" {
		s = strings.TrimLeft(s, chars)
	}
	if c.op.name != "$ltrim" {
		s = strings.TrimRight(s, chars)
	}
	return value.String(s), nil
}
