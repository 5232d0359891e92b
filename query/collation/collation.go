package collation

import (
	"bytes"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/collate"
	"golang.org/x/text/unicode/norm"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// Collation is a string order. It is safe for concurrent use and implements
// [value.Collator].
type Collation struct {
	locale                         string
	strength                       int
	caseFirst                      string // upper, lower, off
	alternate                      string // non-ignorable, shifted
	maxVariable                    string // punct, space
	caseLevel, backwards           bool
	numericOrdering, normalization bool

	script  *script           // the scripts that come first; nil: the root order
	letters string            // Cyrillic letters with a mark that are letters of their own
	respell *strings.Replacer // nil: the tables have all letters
	kana    bool              // strength 4 tells Hiragana from Katakana
	pool    *sync.Pool        // *worker: collators must not be shared
}

// worker is the state of one comparison.
type worker struct {
	weights *collate.Collator
	buf     collate.Buffer
	a, b    []byte
	plain   []byte // the string without its variable characters
}

// open loads the tables of the locale.
func (c *Collation) open(spec value.Doc) error {
	tag, _, ok := lookupLocale(c.locale)
	if !ok {
		return mongoerr.Newf(mongoerr.OperationFailed,
			"Failed to create collator: U_UNSUPPORTED_ERROR. Collation spec: %v", spec)
	}
	base, _, _ := strings.Cut(c.locale, "@")
	c.script, c.letters = scriptOf(base, tag), cyrillicLetters(base)
	c.respell, c.kana = respelled[c.locale], base == "ja"
	var options []collate.Option
	if c.numericOrdering {
		options = append(options, collate.Numeric)
	}
	c.pool = &sync.Pool{New: func() any { return &worker{weights: collate.New(tag, options...)} }}
	return nil
}

// Doc is the full specification with all defaults, as listCollections and
// explain show it.
func (c *Collation) Doc() value.Doc {
	if c == nil {
		return value.NewDoc("locale", value.String("simple"))
	}
	return value.NewBuilder().
		String("locale", c.locale).
		Bool("caseLevel", c.caseLevel).
		String("caseFirst", c.caseFirst).
		Int32("strength", int32(c.strength)).
		Bool("numericOrdering", c.numericOrdering).
		String("alternate", c.alternate).
		String("maxVariable", c.maxVariable).
		Bool("normalization", c.normalization).
		Bool("backwards", c.backwards).
		String("version", Version).
		Doc()
}

// Equal reports whether two collations order strings in the same way; nil is
// the simple collation.
func (c *Collation) Equal(other *Collation) bool {
	if c == nil || other == nil {
		return c == other
	}
	return bytes.Equal(c.Doc(), other.Doc())
}

// Collator is c as the interface that values are compared with; nil for the
// simple collation, where a nil *Collation in the interface would not be nil.
func (c *Collation) Collator() value.Collator {
	if c == nil {
		return nil
	}
	return c
}

// Compare orders two strings: <0, 0 or >0. A nil Collation compares bytes.
func (c *Collation) Compare(a, b string) int {
	if a == b {
		return 0
	}
	if c == nil {
		return strings.Compare(a, b)
	}
	w := c.pool.Get().(*worker)
	w.a = c.appendKey(w.a[:0], w, a)
	w.b = c.appendKey(w.b[:0], w, b)
	order := bytes.Compare(w.a, w.b)
	c.pool.Put(w)
	return order
}

// AppendKey appends the sort key of s.
func (c *Collation) AppendKey(dst []byte, s string) []byte {
	if c == nil {
		return append(dst, s...)
	}
	w := c.pool.Get().(*worker)
	dst = c.appendKey(dst, w, s)
	c.pool.Put(w)
	return dst
}

// appendKey writes the levels of the strength one after the other, each ended
// by 00 or 00 00, which no weight contains.
func (c *Collation) appendKey(dst []byte, w *worker, s string) []byte {
	text := s
	if c.alternate == "shifted" {
		w.plain = c.withoutVariables(w.plain[:0], s)
		text = value.StringFromBytes(w.plain).Str()
	}
	if c.respell != nil {
		text = c.respell.Replace(text)
	}
	if hasCyrillic(text) {
		text = c.apart(text)
	}
	if c.numericOrdering && len(text) > maxDigits {
		text = splitNumbers(text)
	}
	w.buf.Reset()
	l := splitLevels(w.weights.KeyFromString(&w.buf, text))
	dst = append(c.appendPrimary(dst, l.primary), 0, 0)
	if c.strength >= 2 {
		dst = append(c.appendSecondary(dst, l.secondary), 0, 0)
	}
	if c.caseLevel || c.caseFirst != "off" {
		dst = append(c.appendCase(dst, text), 0)
	}
	if c.strength >= 3 {
		dst = append(append(dst, l.tertiary...), 0)
	}
	if c.strength >= 4 && c.alternate == "shifted" {
		dst = append(c.appendQuaternary(dst, w, s), 0, 0)
	}
	if c.strength == 4 && c.kana {
		dst = appendKana(dst, text)
	}
	if c.strength == 5 {
		dst = norm.NFD.AppendString(dst, s)
	}
	return dst
}

// appendPrimary writes the letters, those of the language's own script first.
func (c *Collation) appendPrimary(dst, weights []byte) []byte {
	if c.script == nil {
		return append(dst, weights...)
	}
	return c.script.appendReordered(dst, weights)
}

// levels are the parts of a key as golang.org/x/text/collate writes it.
type levels struct{ primary, secondary, tertiary []byte }

// splitLevels splits a key of x/text at the separators of its levels.
func splitLevels(key []byte) (l levels) {
	i := 0
	for key[i] != 0 || key[i+1] != 0 {
		i += 2
		if key[i-2]&0x80 != 0 {
			i++
		}
	}
	l.primary = key[:i]
	rest := key[i+2:]
	for i = 0; rest[i] != 0 || rest[i+1] != 0; i += 2 {
	}
	l.secondary, l.tertiary = rest[:i], rest[i+2:]
	return l
}

// appendSecondary writes the accents, from the end of the string to its start
// if backwards.
func (c *Collation) appendSecondary(dst, weights []byte) []byte {
	if !c.backwards {
		return append(dst, weights...)
	}
	for i := len(weights) - 2; i >= 0; i -= 2 {
		dst = append(dst, weights[i], weights[i+1])
	}
	return dst
}

// appendCase writes the case level: upper or not, for each base character.
// caseLevel adds this level, and caseFirst puts it before the other
// differences of the third level.
func (c *Collation) appendCase(dst []byte, s string) []byte {
	lower, upper := byte(1), byte(2)
	if c.caseFirst == "upper" {
		lower, upper = 2, 1
	}
	for _, r := range norm.NFD.String(s) {
		switch {
		case unicode.Is(unicode.M, r):
		case unicode.IsUpper(r) || unicode.IsTitle(r):
			dst = append(dst, upper)
		default:
			dst = append(dst, lower)
		}
	}
	return dst
}

// appendQuaternary writes the fourth level for alternate: shifted: the
// variable characters, with placeholders for all others.
func (c *Collation) appendQuaternary(dst []byte, w *worker, s string) []byte {
	for _, r := range s {
		switch {
		case c.isVariable(r):
			w.buf.Reset()
			dst = append(dst, splitLevels(w.weights.KeyFromString(&w.buf, string(r))).primary...)
		case !unicode.Is(unicode.M, r) && !isIgnorable(r):
			dst = append(dst, 0xff, 0xff)
		}
	}
	return dst
}

// isIgnorable reports whether a character has no weight on any level: controls, and formats
// like the joiners.
func isIgnorable(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf) }

// isVariable reports whether alternate: shifted ignores a character.
func (c *Collation) isVariable(r rune) bool {
	if unicode.IsSpace(r) {
		return true
	}
	return c.maxVariable == "punct" && unicode.IsPunct(r)
}

// withoutVariables removes the variable characters and their accents.
func (c *Collation) withoutVariables(dst []byte, s string) []byte {
	dropped := false
	for _, r := range s {
		switch {
		case c.isVariable(r):
			dropped = true
			continue
		case dropped && unicode.Is(unicode.M, r):
			continue
		}
		dropped = false
		dst = append(dst, string(r)...)
	}
	return dst
}
