package pcre

import (
	"strings"
	"time"

	"github.com/dlclark/regexp2"

	"github.com/duskdb/duskdb/clock"
)

// SearchLimit bounds a search for all matches, the time between them not counted.
const SearchLimit = 10 * time.Second

// Match reports whether the text contains a match. The error of ask, which is called at
// intervals unless it is nil, ends this and the other searches.
func (p *Pattern) Match(s string, ask func() error) (bool, error) {
	if p.linear != nil {
		return p.matchLinear(s, ask)
	}
	if ask != nil {
		if err := ask(); err != nil {
			return false, err
		}
	}
	if ok, err := p.back.MatchString(s); err == nil { // the engine has no other error than its limit
		return ok, nil
	}
	return attemptLong(ask, func() (bool, error) { return p.longPattern().MatchString(s) })
}

// Find returns the first match as pairs of byte offsets (the whole, then each
// group; -1 for a group that took no part), or nil.
func (p *Pattern) Find(s string, ask func() error) ([]int, error) {
	all, err := p.search(s, 1, ask)
	if len(all) == 0 {
		return nil, err
	}
	return all[0], err
}

// FindAll returns all matches that do not overlap. After an empty match the
// search continues one character further; there is no empty match at the end
// of a non-empty text.
func (p *Pattern) FindAll(s string, ask func() error) ([][]int, error) {
	return p.search(s, -1, ask)
}

// search finds up to limit matches, or all if limit is negative.
func (p *Pattern) search(s string, limit int, ask func() error) ([][]int, error) {
	if p.linear != nil && !p.beforeNewline(s) && (limit == 1 || !p.empty) {
		return p.searchLinear(s, limit, ask)
	}
	if p.backtracking() == nil {
		return p.searchLinear(s, limit, ask)
	}
	return p.searchBack(s, limit, ask)
}

// beforeNewline reports whether a $ may match before a final newline of the
// text, which the linear engine would include in the match.
func (p *Pattern) beforeNewline(s string) bool { return p.dollar && strings.HasSuffix(s, "\n") }

// stopwatch adds up the time of searches for one match.
type stopwatch struct{ spent time.Duration }

// time runs a search for one match, or fails if those before it took too long. It asks
// whether to go on before that.
func (w *stopwatch) time(ask func() error, find func() error) error {
	if ask != nil {
		if err := ask(); err != nil {
			return err
		}
	}
	if w.spent > SearchLimit {
		return ErrLimit
	}
	began := clock.System().Now()
	err := find()
	w.spent += clock.System().Now().Sub(began)
	return err
}

// searchBack runs the backtracking engine, which counts in characters.
func (p *Pattern) searchBack(s string, limit int, ask func() error) (all [][]int, err error) {
	runes := []rune(s)
	offsets := make([]int, 0, len(runes)+1)
	for i := range s {
		offsets = append(offsets, i)
	}
	offsets = append(offsets, len(s))
	var watch stopwatch
	for at := 0; len(all) != limit; {
		var m *regexp2.Match
		err := watch.time(ask, func() (err error) {
			m, err = p.findBack(runes, at, ask)
			return err
		})
		if m == nil || err != nil {
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

// offsets converts the positions of a match from characters to bytes.
func (p *Pattern) offsets(m *regexp2.Match, offsets []int) []int {
	out := make([]int, 0, 2*p.captures+2)
	for _, g := range m.Groups() {
		if g.Name == ResetGroup {
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
