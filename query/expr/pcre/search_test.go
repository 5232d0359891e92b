package pcre

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var errStop = errors.New("stop")

// after returns a function that fails when it is called for the n-th time.
func after(n int) (ask func() error, asked *int) {
	asked = new(int)
	return func() error {
		if *asked++; *asked >= n {
			return errStop
		}
		return nil
	}, asked
}

// bombs are searches that would take minutes or longer: many matches of which each reads to
// the end of the text, a large program on a long text, and backtracking.
var bombs = []struct{ name, pattern, text string }{
	{"linear, many matches", "(a*)(a*)(a*)b|a", strings.Repeat("a", 300_000)},
	{"linear, behind a border", `(a*)(a*)(a*)b|\Ba`, strings.Repeat("a", 300_000)},
	{"linear, empty matches", `(?:(a*)(a*)(a*)b|a)??`, strings.Repeat("a", 300_000)},
	{"linear, large program", strings.Repeat("(?:a?a?a?a?){200}", 40) + "b", strings.Repeat("a", 4<<20)},
	{"backtracking, many matches", "(?=a)(?:(a*)(a*)(a*)b|a)", strings.Repeat("a", 300_000)},
	{"backtracking, one match", `^(?:a|a(?=a)|aa?)+\z(?!x)b`, strings.Repeat("a", 200)},
}

// TestSearchesStop: a search that takes long asks whether to go on, and ends with the error of
// what it asks.
func TestSearchesStop(t *testing.T) {
	for _, b := range bombs {
		p := compile(t, b.pattern, "")
		searches := map[string]func(ask func() error) error{
			"FindAll": func(ask func() error) error { _, err := p.FindAll(b.text, ask); return err },
			"Find":    func(ask func() error) error { _, err := p.Find(b.text, ask); return err },
			"Match":   func(ask func() error) error { _, err := p.Match(b.text, ask); return err },
		}
		if strings.HasPrefix(b.name, "linear, ") && b.name != "linear, large program" {
			delete(searches, "Find") // at once, or as one of the many matches
			delete(searches, "Match")
		}
		for name, search := range searches {
			ask, asked := after(3)
			if err := search(ask); !errors.Is(err, errStop) || *asked != 3 {
				t.Errorf("%s, %s: %v after %d questions", b.name, name, err, *asked)
			}
		}
	}
}

// TestStepwise: what is found one after the other, in a text that is read bit by bit, is what
// Go's engine finds.
func TestStepwise(t *testing.T) {
	patterns := []string{"a", "ab|b", "(a)|(b)?c", `\bé`, `^a|b$`, `(?i)a\B`, `(a*)(b*)c|a`, `\Aab|ba`, "(?m:^b)", "b$", "[^a]", `a\z|b`, "(?s:.)b"}
	goOn := func() error { return nil }
	rapid.Check(t, func(t *rapid.T) {
		p, err := Compile(rapid.SampledFrom(patterns).Draw(t, "pattern"), rapid.SampledFrom([]string{"", "i", "m", "s"}).Draw(t, "options"))
		if err != nil || p.linear == nil {
			t.Skip()
		}
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "é", "\n", "\xff", " "}), 0, 12).Draw(t, "text"), "")
		want := p.linear.FindAllStringSubmatchIndex(s, -1)
		p.cost = maxStep + 1 // so that nothing is found at once
		got, err := p.searchLinear(s, -1, goOn)
		if err != nil || !slices.EqualFunc(got, want, slices.Equal) {
			t.Fatalf("%s in %q: %v, %v, want %v", p.expr, s, got, err, want)
		}
		if ok, err := p.matchLinear(s, goOn); err != nil || ok != p.linear.MatchString(s) {
			t.Fatalf("%s in %q: %v, %v", p.expr, s, ok, err)
		}
	})
}

// TestLargeProgram: a short pattern cannot make a large program.
func TestLargeProgram(t *testing.T) {
	if p := compile(t, "(?:(?:abcdefghijklmnop){200}xyz){40}", ""); p.linear != nil {
		t.Error("100,000 instructions are compiled")
	}
	if p := compile(t, "(?:abcdefghijklmnop){1000}", ""); p.linear == nil {
		t.Error("20,000 instructions are too many")
	}
}

// TestLimit: a match that takes too many steps fails with PCRE's message, which pcre2api
// quotes, whether the operation can be interrupted or not.
func TestLimit(t *testing.T) {
	if testing.Short() {
		t.Skip("takes two seconds")
	}
	p := compile(t, `^(?:a|a(?=a)|aa?)+\z(?!x)b`, "")
	for _, ask := range []func() error{nil, func() error { return nil }} {
		if _, err := p.Match(strings.Repeat("a", 200), ask); !errors.Is(err, ErrLimit) {
			t.Fatal(err)
		}
	}
}
