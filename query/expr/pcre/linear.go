package pcre

import (
	"io"
	"regexp"
	"unicode/utf8"
)

// The linear engine cannot be interrupted, and takes time in proportion to the length of the
// text and the size of the program. So it gets a text that may take it long rune by rune,
// from a reader that ends early if the search is to end.

const (
	// maxStep is what a search may cost without being interrupted: about 5 ms.
	maxStep = 512 << 10
	// minStep is what it may cost without asking before.
	minStep = 4 << 10
	// readStep is what it may cost until the reader asks again.
	readStep = 128 << 10
)

// reader reads a text for a search that may be interrupted.
type reader struct {
	rest  string
	every int // the number of characters between two interrupt checks
	left  int
	ask   func() error
	err   error
}

// ReadRune implements io.RuneReader. At the end, and after an error, there is nothing more
// to read.
func (r *reader) ReadRune() (rune, int, error) {
	if r.left--; r.left < 0 {
		r.left = r.every
		r.err = r.ask()
	}
	if r.rest == "" || r.err != nil {
		return 0, 0, io.EOF
	}
	c, size := utf8.DecodeRuneInString(r.rest)
	r.rest = r.rest[size:]
	return c, size, nil
}

// reading asks whether to go on, and returns a reader of a text that may take long; nil for
// others.
func (p *Pattern) reading(s string, ask func() error) (*reader, error) {
	if ask == nil || len(s) <= minStep/p.cost {
		return nil, nil
	}
	if err := ask(); err != nil || len(s) <= maxStep/p.cost {
		return nil, err
	}
	return &reader{rest: s, every: readStep / p.cost, ask: ask}, nil
}

func (p *Pattern) matchLinear(s string, ask func() error) (bool, error) {
	r, err := p.reading(s, ask)
	if err != nil {
		return false, err
	}
	if r == nil {
		return p.linear.MatchString(s), nil
	}
	ok := p.linear.MatchReader(r)
	return ok, r.err
}

// findLinear is the first match of the program re in a text.
func (p *Pattern) findLinear(re *regexp.Regexp, s string, ask func() error) ([]int, error) {
	r, err := p.reading(s, ask)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return re.FindStringSubmatchIndex(s), nil
	}
	m := re.FindReaderSubmatchIndex(r)
	return m, r.err
}

// searchLinear finds up to limit matches. If there may be many and each may take long, it
// looks for one after the other.
func (p *Pattern) searchLinear(s string, limit int, ask func() error) (all [][]int, err error) {
	if len(s) <= maxStep/p.cost/max(len(s), 1) {
		return p.linear.FindAllStringSubmatchIndex(s, limit), nil
	}
	var watch stopwatch
	for at, end := 0, -1; len(all) != limit && at < max(len(s), 1); {
		var m []int
		err := watch.time(ask, func() (err error) {
			m, err = p.findFrom(s, at, ask)
			return err
		})
		if m == nil || err != nil {
			return all, err
		}
		if m[0] != m[1] || m[0] != end { // an empty match may not follow another match
			all = append(all, m)
		}
		at, end = m[1], m[1]
		if m[0] == m[1] {
			_, size := utf8.DecodeRuneInString(s[at:])
			at += max(size, 1)
		}
	}
	return all, nil
}

// findFrom finds the first match at or behind a position where a match has ended.
func (p *Pattern) findFrom(s string, at int, ask func() error) ([]int, error) {
	if at == 0 || !p.looks {
		m, err := p.findLinear(p.linear, s[at:], ask)
		return moved(m, at), err
	}
	_, before := utf8.DecodeLastRuneInString(s[:at])
	m, err := p.findLinear(p.following(), s[at-before:], ask)
	if m == nil || err != nil {
		return nil, err
	}
	return moved(m[2:], at-before), nil
}

// following is the program that finds the first match, as its first group, behind the first
// character of a text: it sees that character, as \b needs it.
func (p *Pattern) following() *regexp.Regexp {
	p.nextOnce.Do(func() { p.next = regexp.MustCompile(`\A(?s:.)(?s:.*?)(` + p.expr + `)`) })
	return p.next
}

// moved adds a distance to the offsets of a match.
func moved(m []int, by int) []int {
	for i := range m {
		if m[i] >= 0 {
			m[i] += by
		}
	}
	return m
}
