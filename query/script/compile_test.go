//go:build unix

package script

import "testing"

// To compile a function is not to run it, and what runs of its text at the first call
// is interrupted as the function is.
func TestCompileRunsNothing(t *testing.T) {
	s := newStopper(t)
	for _, source := range []string{
		`function() { print("ran") }()`, `function f() { print("ran"); return f } (1)`, `async function() { print("ran") }()`,
		`() => (print("ran"), 1)`, `(print("ran"), function() {})`, `print("ran")`, `x => x, print("ran")`,
	} {
		if _, err := s.engine.Compile(source, nil); err != nil {
			t.Errorf("%s: %v", source, err)
		}
		if s.begun.Load() {
			t.Fatal(source, "ran")
		}
	}
	s.text("a call", `function() { print("begin"); for (;;) {} }()`)
}
