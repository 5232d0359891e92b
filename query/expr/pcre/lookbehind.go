package pcre

import (
	"strconv"
	"strings"
)

// ruler measures parts of a pattern in characters.
type ruler struct {
	in string
	i  int
}

// fixedBranches reads up to the parenthesis that ends a lookbehind, and
// reports whether each of its branches is of one length. The branches of
// groups within must be of the same length, too.
func (r *ruler) fixedBranches() bool {
	for {
		if _, ok := r.branch(); !ok {
			return false
		}
		if r.i >= len(r.in) || r.in[r.i] == ')' {
			return true
		}
		r.i++ // the bar
	}
}

// branch measures up to the next bar or closing parenthesis.
func (r *ruler) branch() (length int, ok bool) {
	for r.i < len(r.in) && r.in[r.i] != '|' && r.in[r.i] != ')' {
		n, ok := r.atom()
		if !ok {
			return 0, false
		}
		times, ok := r.times()
		if !ok {
			return 0, false
		}
		length += n * times
	}
	return length, true
}

// times parses a quantifier: only {n} has a fixed length.
func (r *ruler) times() (int, bool) {
	if r.i == len(r.in) {
		return 1, true
	}
	n := quantifier(r.in[r.i:])
	if n == 0 {
		return 1, true
	}
	low, high, ranged := strings.Cut(strings.Trim(r.in[r.i:r.i+n], "{}"), ",")
	r.i += n
	if r.i < len(r.in) && (r.in[r.i] == '?' || r.in[r.i] == '+') {
		r.i++
	}
	times, err := strconv.Atoi(low)
	return times, err == nil && (!ranged || low == high)
}

// atom measures one atom: a character, a class, an escape or a group.
func (r *ruler) atom() (length int, ok bool) {
	switch c := r.in[r.i]; c {
	case '\\':
		return r.escape()
	case '[':
		r.class()
		return 1, true
	case '(':
		return r.group()
	case '^', '$':
		r.i++
		return 0, true
	}
	for r.i++; r.i < len(r.in) && r.in[r.i]&0xc0 == 0x80; r.i++ { // the rest of the character
	}
	return 1, true
}

// escape measures an escape; ok is false for escapes without a fixed length.
func (r *ruler) escape() (length int, ok bool) {
	r.i++
	if r.i == len(r.in) {
		return 0, true
	}
	c := r.in[r.i]
	r.i++
	switch {
	case strings.IndexByte("bBAZzGKE", c) >= 0:
		return 0, true
	case c == 'R' || c == 'X' || c == 'g' || c == 'k' || c >= '1' && c <= '9':
		return 0, false
	case c == 'Q':
		text, _, closed := strings.Cut(r.in[r.i:], `\E`)
		r.i += len(text)
		if closed {
			r.i += len(`\E`)
		}
		return len([]rune(text)), true
	case (c == 'p' || c == 'P' || c == 'x' || c == 'o') && strings.HasPrefix(r.in[r.i:], "{"):
		_, rest, _ := strings.Cut(r.in[r.i:], "}")
		r.i = len(r.in) - len(rest)
	case c == 'x':
		for n := 0; n < 2 && r.i < len(r.in) && strings.IndexByte("0123456789abcdefABCDEF", r.in[r.i]) >= 0; n++ {
			r.i++
		}
	}
	return 1, true
}

// class skips [...].
func (r *ruler) class() {
	for first := true; ; first = false {
		r.i++
		if first && r.i < len(r.in) && r.in[r.i] == '^' {
			r.i++
		}
		switch {
		case r.i >= len(r.in):
			return
		case r.in[r.i] == '\\':
			r.i++
		case strings.HasPrefix(r.in[r.i:], "[:"):
			if end := strings.Index(r.in[r.i:], ":]"); end > 0 {
				r.i += end + 1
			}
		case r.in[r.i] == ']' && !first:
			r.i++
			return
		}
	}
}

// group measures a group. Lookaround, options and comments have length 0.
func (r *ruler) group() (length int, ok bool) {
	rest := r.in[r.i:]
	empty := false
	for _, prefix := range []string{"(?=", "(?!", "(?<=", "(?<!", "(?#"} {
		empty = empty || strings.HasPrefix(rest, prefix)
	}
	r.i++
	if strings.HasPrefix(rest, "(?") {
		if end := strings.IndexAny(rest, ":>=!#)"); end > 0 {
			r.i += end
			if rest[end] == ')' { // options
				return 0, true
			}
		}
	}
	length, ok = -1, true
	for {
		n, fixed := r.branch()
		ok = ok && fixed && (length < 0 || n == length)
		length = n
		if !ok && !empty {
			return 0, false
		}
		if r.i >= len(r.in) || r.in[r.i] == ')' {
			break
		}
		r.i++
	}
	r.i++
	if empty {
		return 0, true
	}
	return length, ok
}
