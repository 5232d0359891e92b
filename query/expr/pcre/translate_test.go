package pcre

import (
	"regexp"
	"testing"

	"github.com/dlclark/regexp2"
)

// TestTranslate checks, in both engines, what PCRE's documentation (pcre2pattern,
// pcre2syntax) says about each pattern.
func TestTranslate(t *testing.T) {
	cases := []struct {
		pattern  string
		yes, nos []string
	}{
		{`a$`, []string{"a", "ba\n"}, []string{"a\n\n", "ab"}},
		{`a\Z`, []string{"a", "a\n"}, []string{"ab"}},
		{`^\s$`, []string{"\v", " ", "\n"}, []string{"x", "\u00a0"}},
		{`^[\s]$`, []string{"\v"}, []string{"x"}},
		{`^\h+$`, []string{" \t", "\u00a0\u1680\u2003\u3000"}, []string{"\n", "\u2028"}},
		{`^\H$`, []string{"a", "\n", "é"}, []string{" ", "\u00a0"}},
		{`^\v$`, []string{"\n", "\v", "\f", "\r", "\u0085", "\u2028"}, []string{" ", "v"}},
		{`^\V$`, []string{"a", " ", "é"}, []string{"\n", "\u2029"}},
		{`^[\h\d]+$`, []string{"1\u00a02"}, []string{"1\n2"}},
		{`^[\V]$`, []string{"a"}, []string{"\n"}},
		{`^[^\H]$`, []string{" "}, []string{"a"}},
		{`^\N+$`, []string{"a\r"}, []string{"a\nb"}},
		{`^\o{101}[\o{102}]$`, []string{"AB"}, []string{"o{101}B"}},
		{`^a\E++b\E$`, []string{"aab"}, []string{"aabE"}},
		{`(?<=\o{101}\N)b`, []string{"Axb"}, []string{"Ab"}},
		{`^\R$`, []string{"\r\n", "\u2028", "\n"}, []string{"ab"}},
		{`^\Qa.b[\E$`, []string{"a.b["}, []string{"axb["}},
		{`^[]a]+$`, []string{"]a"}, []string{"b"}},
		{`^\w\d$`, []string{"a1"}, []string{"é1", "a٣"}},
		{`(*UCP)^\w\d$`, []string{"a1", "é٣"}, []string{"-1"}},
		{`(*UCP)^[\w-]+$`, []string{"é-a_9"}, []string{"é a"}},
		{`(*UCP)^\W\D\S$`, []string{"-éa"}, []string{"éaa", "-1a", "-a\u2003"}},
		{`(*UCP)^\s$`, []string{"\u2003", "\u0085"}, []string{"a"}},
		{`(*UCP)\bé\b`, []string{"é", "a é."}, []string{"éa"}},
		{`(*UCP)a\Bé`, []string{"aé"}, []string{"a é"}},
		{`(*UCP)^[[:upper:]][[:lower:]]+$`, []string{"Éé"}, []string{"éé"}},
		{`^[[:upper:]]$`, []string{"E"}, []string{"É"}},
		{`^\p{Xan}\P{Xan}\p{Xwd}$`, []string{"é-_"}, []string{"---"}},
		{`^[^\p{Xan}]$`, []string{"-"}, []string{"é"}},
		{`(*UTF)(*NO_JIT)(*UCP)é`, []string{"é"}, []string{"e"}},
		{`a(*F)|b`, []string{"b"}, []string{"a"}},
		{`^a(*ACCEPT)b|^c`, []string{"a", "ab", "c"}, []string{"b"}},
		{`(*PRUNE:x)a`, []string{"ba"}, []string{"b"}},
		{`^foo\Kbar$`, []string{"foobar"}, []string{"bar"}},
		{`^a++b$`, []string{"aab"}, []string{"b", "aac"}},
		{`^a++a$`, nil, []string{"aa", "aaa"}},
		{`^é*+é$`, nil, []string{"éé"}},
		{`^(ab|c){2,3}+c$`, []string{"ababcc"}, []string{"abcc"}},
		{`^[a-c]?+b$`, []string{"ab", "bb"}, []string{"b"}},
		{`^a+?b$`, []string{"aab"}, []string{"b"}},
		{`^(?P<w>abc)-(?P=w)$`, []string{"abc-abc"}, []string{"abc-abd"}},
		{`^(a)(b)\g2\g{1}\g{-1}$`, []string{"abbab"}, []string{"abbaa"}},
		{`^(?<w>x)\k{w}\k'w'$`, []string{"xxx"}, []string{"xx"}},
		{`(?<=ab|c)d`, []string{"abd", "cd"}, []string{"bd"}},
		{`(?<=(?:ab|cd){2}[]x]\d)e`, []string{"abcd]1e"}, []string{"ab]1e"}},
		{`(?<!\bfoo)bar`, []string{"xbar", "xfoobar"}, []string{"foobar"}},
	}
	for _, c := range cases {
		tr, err := Translate(c.pattern, false)
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		back, err := regexp2.Compile(tr.Backtracking, regexp2.RE2)
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		match := map[string]func(string) bool{"backtracking": func(s string) bool { ok, _ := back.MatchString(s); return ok }}
		if tr.Linear {
			match["linear"] = regexp.MustCompile(tr.RE2).MatchString
		}
		for engine, matches := range match {
			for _, s := range c.yes {
				if !matches(s) {
					t.Errorf("%s: /%s/ does not match %q", engine, c.pattern, s)
				}
			}
			for _, s := range c.nos {
				if matches(s) {
					t.Errorf("%s: /%s/ matches %q", engine, c.pattern, s)
				}
			}
		}
	}
}

func TestUnknownVerbs(t *testing.T) {
	for _, pattern := range []string{"(*HUGO)a", "a(*COMMIT)b", "(a(*ACCEPT))b", "(*", "a(*F"} {
		if _, err := Translate(pattern, false); err == nil {
			t.Errorf("/%s/ is accepted", pattern)
		}
	}
}

// PCRE2 requires that each branch of a lookbehind has a fixed length.
func TestLookbehindOfVariableLength(t *testing.T) {
	for _, pattern := range []string{"(?<=a+)b", "(?<!a*)b", "(?<=a{1,2})b", "(?<=a(b|cd))e", `(?<=\R)a`, `(a)(?<=\1)b`, "x(?<=(?:ab?))c"} {
		if _, err := Translate(pattern, false); err == nil || err.Error() != "lookbehind assertion is not fixed length" {
			t.Errorf("/%s/: %v", pattern, err)
		}
	}
	for _, pattern := range []string{"(?<=a{2,2})b", "(?<=(?=x+)a)b", "(?<=(?i)a|bc)d", `(?<=\x41\x{42}\p{L}\Q(+\E)b`} {
		if _, err := Translate(pattern, false); err != nil {
			t.Errorf("/%s/: %v", pattern, err)
		}
	}
}

func FuzzTranslate(f *testing.F) {
	f.Add(`(*UCP)^\Qa.b\E[[:alpha:]\w](*F)|\p{Xan}$`, true)
	f.Add(`[]\`, false)
	f.Fuzz(func(t *testing.T, pattern string, multiline bool) {
		tr, err := Translate(pattern, multiline)
		if err == nil && len(tr.RE2) > 200*(len(pattern)+1) {
			t.Errorf("%q became %d bytes", pattern, len(tr.RE2))
		}
	})
}
