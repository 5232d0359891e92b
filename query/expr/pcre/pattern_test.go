package pcre

import (
	"slices"
	"strings"
	"testing"
)

func compile(t *testing.T, pattern, options string) *Pattern {
	t.Helper()
	p, err := Compile(pattern, options)
	if err != nil {
		t.Fatalf("/%s/%s: %v", pattern, options, err)
	}
	return p
}

// TestFindAll: the positions are those of @- and @+ in Perl's while (/…/g), except that
// $regexFindAll does not search at the end of a text that is not empty. A pattern that
// both engines can run has the same positions in both.
func TestFindAll(t *testing.T) {
	cases := []struct {
		pattern, options, text string
		want                   [][]int
	}{
		{"a(b)?", "", "abxa", [][]int{{0, 2, 1, 2}, {3, 4, -1, -1}}},
		{"É", "i", "xé", [][]int{{1, 3}}},
		{"a$", "", "a\na\n", [][]int{{2, 3}}},
		{"a$", "m", "a\na\n", [][]int{{0, 1}, {2, 3}}},
		{"^b.c", "ms", "a\nb\nc", [][]int{{2, 5}}},
		{"a # the first\n b", "x", "ab", [][]int{{0, 2}}},
		{"(?<=a)b", "", "bab", [][]int{{2, 3}}},
		{`(a|b)\1`, "", "abbaa", [][]int{{1, 3, 1, 2}, {3, 5, 3, 4}}},
		{`a\Kb`, "", "éab", [][]int{{3, 4}}},
		{"x*", "", "axb", [][]int{{0, 0}, {1, 2}, {2, 2}}},
	}
	for _, c := range cases {
		p := compile(t, c.pattern, c.options)
		got, err := p.FindAll(c.text, nil)
		if err != nil || !slices.EqualFunc(got, c.want, slices.Equal) {
			t.Errorf("/%s/%s in %q: %v, %v, want %v", c.pattern, c.options, c.text, got, err, c.want)
		}
		first, err := p.Find(c.text, nil)
		if err != nil || !slices.Equal(first, c.want[0]) {
			t.Errorf("/%s/%s in %q: first %v, %v, want %v", c.pattern, c.options, c.text, first, err, c.want[0])
		}
		if ok, err := p.Match(c.text, nil); !ok || err != nil {
			t.Errorf("/%s/%s in %q: no match, %v", c.pattern, c.options, c.text, err)
		}
		if p.linear == nil || p.backtracking() == nil {
			continue
		}
		p.linear = nil
		if again, err := p.FindAll(c.text, nil); err != nil || !slices.EqualFunc(again, got, slices.Equal) {
			t.Errorf("/%s/%s in %q: backtracking finds %v, %v", c.pattern, c.options, c.text, again, err)
		}
	}
}

func TestFindNothing(t *testing.T) {
	for _, pattern := range []string{"b", "b$", "(?=b)b"} {
		p := compile(t, pattern, "")
		if m, err := p.Find("a\n", nil); m != nil || err != nil {
			t.Errorf("/%s/: %v, %v", pattern, m, err)
		}
		if all, err := p.FindAll("a\n", nil); len(all) != 0 || err != nil {
			t.Errorf("/%s/: %v, %v", pattern, all, err)
		}
	}
}

// TestCompileErrors: the texts are those of pcre2_get_error_message.
func TestCompileErrors(t *testing.T) {
	for pattern, want := range map[string]string{
		"(":           "missing closing parenthesis",
		"a)":          "unmatched closing parenthesis",
		"[a":          "missing terminating ] for character class",
		"*":           "quantifier does not follow a repeatable item",
		"[b-a]":       "range out of order in character class",
		"a{2,1}":      "numbers out of order in {} quantifier",
		`(a)\2`:       "reference to non-existent subpattern",
		"(?y)":        "unrecognized character after (? or (?-",
		"(?<=a|bc*)d": "lookbehind assertion is not fixed length",
		`\o{9}`:       `non-octal character in \o{} (closing brace missing?)`,
		`a\`:          `\ at end of pattern`,
	} {
		if _, err := Compile(pattern, ""); err == nil || err.Error() != want {
			t.Errorf("/%s/: %v, want %s", pattern, err, want)
		}
	}
}

// TestRefused: features of PCRE2 that no engine here has are refused, and not read as
// something else. The package comment lists them.
func TestRefused(t *testing.T) {
	for _, pattern := range []string{
		"(?R)?a", "(a)(?1)", "(?<n>a)(?&n)", "(?P<n>a)(?P>n)", "(?(DEFINE)(?<x>a))b", "(?|(a)|(b))", "a(?C)b", "a(?C1)b",
		"(?J)(?<n>a)|(?<n>b)", "(?^i)A", "a(*COMMIT)b", "a(*SKIP)b", "(a(*ACCEPT))b", `^\X$`, `^\C$`, `\p{L&}`, "[[:<:]]a",
	} {
		if _, err := Compile(pattern, ""); err == nil {
			t.Errorf("/%s/ is accepted", pattern)
		}
	}
}

// Groups of any kind may be nested as deep as in PCRE2.
func TestNested(t *testing.T) {
	for _, open := range []string{"(", "(?:", "(?=", "(?<=", "(?>", "(?i:", "(a|"} {
		for n, want := range map[int]bool{maxNested: true, maxNested + 1: false, 2500: false} {
			_, err := Compile(strings.Repeat(open, n)+"a"+strings.Repeat(")", n), "")
			if (err == nil) != want || !want && err.Error() != "parentheses are too deeply nested" {
				t.Errorf("%d times %s: %v", n, open, err)
			}
		}
		if _, err := Compile(strings.Repeat(open+"a)", 300), ""); err != nil {
			t.Errorf("%s beside each other: %v", open, err)
		}
	}
}
