package match

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

func TestRegex(t *testing.T) {
	cases := []struct {
		pattern, options string
		yes, nos         []string
	}{
		{"abc", "", []string{"abc", "xabcx"}, []string{"ABC", ""}},
		{"^abc", "", []string{"abcd"}, []string{"xabc"}},
		{"^ABC", "i", []string{"abc", "Abcd"}, []string{"xabc"}},
		{"^S", "m", []string{"a\nS"}, []string{"a\ns"}},
		{"m.*line", "s", []string{"m\nline"}, nil},
		{"m.*line", "", []string{"m line"}, []string{"m\nline"}},
		{"abc #category code\n123 #item number", "x", []string{"abc123"}, []string{"abc 123"}},
		{"789$", "", []string{"789", "789\n"}, []string{"7890", "789\n\n"}},
		{"789$", "m", []string{"789\nx"}, []string{"7890"}},
		{"^789$", "", []string{"789", "789\n"}, []string{"7890", "789\n\n", "x789"}},
		{"$", "", []string{"", "x\n"}, nil},
		{"(?i)a(?-i)cme", "", []string{"Acme", "acme"}, []string{"aCME"}},
		{"a(?=b)", "", []string{"ab"}, []string{"ac"}},
		{"a(?!b)", "", []string{"ac"}, []string{"ab"}},
		{"(?<=x)y", "", []string{"xy"}, []string{"y"}},
		{`(a)\1`, "", []string{"aa"}, []string{"ab"}},
		{`^\s$`, "", []string{"\v", " "}, []string{"x"}},
		{`^\d+\w*$`, "", []string{"12ab"}, []string{"x", "١"}},
		{`\Qa.b\E$`, "", []string{"a.b"}, []string{"axb"}},
		{`^[^]]x`, "", []string{"ax"}, []string{"]x"}},
		{`^[[:alpha:]]+$`, "", []string{"abc"}, []string{"a1"}},
		{`a$\n`, "", []string{"a\n"}, []string{"a"}},
		{"ü", "iu", []string{"Ü"}, nil},
		{"", "", []string{"", "x"}, nil},
	}
	for _, c := range cases {
		r, err := newRegex(value.ParsePath("a"), c.pattern, c.options)
		if err != nil {
			t.Errorf("/%s/%s: %v", c.pattern, c.options, err)
			continue
		}
		for _, s := range c.yes {
			if ok, err := r.find(nil, s); !ok || err != nil {
				t.Errorf("/%s/%s does not match %q (%v)", c.pattern, c.options, s, err)
			}
		}
		for _, s := range c.nos {
			if ok, _ := r.find(nil, s); ok {
				t.Errorf("/%s/%s matches %q", c.pattern, c.options, s)
			}
		}
	}
}

func TestRegexOperator(t *testing.T) {
	runCases(t, []matchCase{
		{`{a: {$regex: "^x", $options: "i"}}`, []string{`{a: "X"}`, `{a: [1, "xy"]}`}, []string{`{a: 1}`, `{}`}},
		{`{a: {$options: "i", $regex: "^x"}}`, []string{`{a: "X"}`}, nil},
		{`{a: {$regex: {"$regularExpression": {pattern: "^x", options: "i"}}}}`, []string{`{a: "X"}`}, nil},
		{`{a: {$regex: "^x", $ne: "xa"}}`, []string{`{a: "xb"}`}, []string{`{a: "xa"}`}},
		{`{a: {"$regularExpression": {pattern: "^x", options: ""}}}`,
			[]string{`{a: "x"}`, `{a: {"$regularExpression": {pattern: "^x", options: ""}}}`},
			[]string{`{a: {"$regularExpression": {pattern: "^x", options: "i"}}}`}},
		{`{a: {$in: [{"$regularExpression": {pattern: "^x", options: ""}}, 5]}}`, []string{`{a: "xy"}`, `{a: 5}`}, []string{`{a: "y"}`}},
		{`{a: {$eq: {"$regularExpression": {pattern: "^x", options: ""}}}}`, []string{`{a: {"$regularExpression": {pattern: "^x", options: ""}}}`}, []string{`{a: "x"}`}},
	})
	refused(t, `{a: {$regex: 1}}`, mongoerr.BadValue, "$regex has to be a string")
	refused(t, `{a: {$regex: "a", $options: 1}}`, mongoerr.BadValue, "$options has to be a string")
	refused(t, `{a: {$options: "i"}}`, mongoerr.BadValue, "$options needs a $regex")
	refused(t, `{a: {$regex: "a", $options: "g"}}`, 51108, "invalid flag in regex options: g")
	refused(t, `{a: {$regex: {"$regularExpression": {pattern: "x", options: "i"}}, $options: "m"}}`, 51075, "options set in both $regex and $options")
	refused(t, `{a: {$options: "m", $regex: {"$regularExpression": {pattern: "x", options: "i"}}}}`, 51074, "options set in both $regex and $options")
	refused(t, `{a: {$regex: "a\u0000b"}}`, mongoerr.BadValue, "Regular expression cannot contain an embedded null byte")
	refused(t, `{a: {$regex: "ab", $options: "\u0000i"}}`, 51108, "invalid flag in regex options: \x00")
	for _, filter := range []string{`{a: {$regex: "LONG"}}`, `{a: {$in: [{"$regularExpression": {pattern: "LONG", options: ""}}]}}`, `{$jsonSchema: {properties: {a: {pattern: "LONG"}}}}`, `{a: {$not: {$regex: "LONG"}}}`} {
		compile(t, strings.ReplaceAll(filter, "LONG", "^"+strings.Repeat("y", 16383)))
		for _, head := range []string{"^", "y", "(?:y)"} {
			refused(t, strings.ReplaceAll(filter, "LONG", head+strings.Repeat("y", 16384)), 51091, "Regular expression is invalid: pattern string is longer than the limit set by the application")
		}
	}
	refused(t, `{a: {$regex: "a+(*COMMIT)b"}}`, 51091, "Regular expression is invalid: (*VERB) not recognized or malformed")
	refused(t, `{a: {$regex: "(*HUGO)b"}}`, 51091, "Regular expression is invalid: (*VERB) not recognized or malformed")
	refused(t, `{a: {$regex: "("}}`, 51091, "Regular expression is invalid: missing closing parenthesis")
	refused(t, `{a: {$regex: "["}}`, 51091, "Regular expression is invalid: missing terminating ] for character class")
	refused(t, `{a: {$regex: "*a"}}`, 51091, "Regular expression is invalid: quantifier does not follow a repeatable item")
	refused(t, `{a: {$regex: "a)"}}`, 51091, "Regular expression is invalid: unmatched closing parenthesis")
}

// TestRegexGivesUp runs a pattern that backtracks without end.
func TestRegexGivesUp(t *testing.T) {
	m := compile(t, `{a: {$regex: "(?!z)^(a+)+$"}}`)
	_, err := m.Match(expr.NewEnv(0), value.NewDoc("a", value.String(strings.Repeat("a", 60)+"!")))
	if mongoerr.CodeOf(err) != 51156 {
		t.Errorf("got %v", err)
	}
}

func TestRegexPrefix(t *testing.T) {
	cases := []struct {
		pattern, options, prefix string
		exact                    bool
	}{
		{"^abc", "", "abc", true},
		{"^abc.*", "", "abc", true},
		{`\Aabc`, "", "abc", true},
		{"^abc.", "", "abc", false},
		{"^abc*", "", "ab", false},
		{"^abcé?", "", "abc", false},
		{"^abc|def", "", "", false},
		{"abc", "", "", false},
		{"^abc", "i", "", false},
		// jstests/core/query/regex/regex6.js.
		{`^\/`, "", "/", true},
		{`^é`, "", "é", true},
		{`^\é`, "", "é", true},
		{`^\.`, "", ".", true},
		{`^.`, "", "", false},
		{`^\Qblah\E`, "", "blah", true},
		{`^\Q[\Ewi\Qth]some?s\Eym`, "", "[with]some?sym", true},
		{`^\Qa|b`, "", "a|b", true},
		{`^\Qab\E*`, "", "a", false},
		{`^a\|b`, "", "a|b", true},
		{`^ab[|]`, "", "", false},
		{`^a\d`, "", "a", false},
		{`^abc`, "m", "", false},
		{`\Aabc`, "m", "abc", true},
		{"^a b c #d", "x", "abc", false},
		{`^a\ b`, "x", "a b", true},
		{"^a#b", "", "a#b", true},
	}
	for _, c := range cases {
		r, err := newRegex(value.ParsePath("a"), c.pattern, c.options)
		if err != nil {
			t.Fatal(err)
		}
		if prefix, exact := r.Prefix(); prefix != c.prefix || exact != c.exact {
			t.Errorf("/%s/%s: %q, %v; want %q, %v", c.pattern, c.options, prefix, exact, c.prefix, c.exact)
		}
	}
}

func FuzzRegex(f *testing.F) {
	f.Add(`^a(?=b)[[:alpha:]]+\Q.\E$`, "im", "ab\n")
	f.Add(`(?<n>x)\k<n>(?>a|b){2,3}`, "sx", "xxab")
	f.Fuzz(func(t *testing.T, pattern, options, s string) {
		if len(pattern) > 40 || len(s) > 40 {
			return
		}
		r, err := newRegex(value.ParsePath("a"), pattern, options)
		if err != nil {
			return
		}
		ok, err := r.find(nil, s)
		if prefix, _ := r.Prefix(); ok && err == nil && !strings.HasPrefix(s, prefix) {
			t.Errorf("/%s/%s matches %q without its prefix %q", pattern, options, s, prefix)
		}
	})
}
