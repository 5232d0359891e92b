package text

import (
	"iter"
	"strings"
	"unicode"

	"github.com/blevesearch/snowballstem"
	"golang.org/x/text/unicode/norm"
)

// Options of a tokenizer. The index itself ignores case and diacritics and
// drops stop words.
type Options struct {
	CaseSensitive, DiacriticSensitive bool
	KeepStopWords                     bool
}

// Tokens yields the terms of a string: its words, stemmed. Stop words and
// stems depend on diacritics, therefore the diacritics are removed last.
func (l *Language) Tokens(s string, o Options) iter.Seq[string] {
	return func(yield func(string) bool) {
		env := snowballstem.NewEnv("")
		for word := range l.words(s) {
			lower := l.lower(word)
			if !o.KeepStopWords && l.stopWord(lower) {
				continue
			}
			if !o.CaseSensitive {
				word = lower
			}
			term := l.stem(env, word)
			if !o.DiacriticSensitive {
				term = withoutDiacritics(term)
			}
			if term != "" && !yield(term) {
				return
			}
		}
	}
}

// words splits a string at delimiters.
func (l *Language) words(s string) iter.Seq[string] {
	return strings.FieldsFuncSeq(s, l.isDelimiter)
}

// isDelimiter reports whether a character separates words: white space,
// dashes, quotation marks, punctuation, and the characters reserved for the
// syntax of patterns. The apostrophe is part of an English word.
func (l *Language) isDelimiter(r rune) bool {
	if r == '\'' && l.Name == "english" {
		return false
	}
	if r < 0x80 {
		return asciiDelimiters[r]
	}
	return isUnicodeDelimiter(r)
}

// asciiDelimiters is a fast path for common characters.
var asciiDelimiters = func() (t [0x80]bool) {
	for r := range rune(0x80) {
		t[r] = isUnicodeDelimiter(r)
	}
	return t
}()

func isUnicodeDelimiter(r rune) bool {
	return unicode.In(r, unicode.White_Space, unicode.Dash, unicode.Hyphen, unicode.Quotation_Mark,
		unicode.Terminal_Punctuation, unicode.Pattern_Syntax)
}

// withoutDiacritics removes the marks that decompose from letters.
func withoutDiacritics(s string) string {
	if isASCII(s) {
		return s
	}
	var b strings.Builder
	for _, r := range norm.NFD.String(s) {
		if !unicode.Is(unicode.Mn, r) {
			b.WriteRune(r)
		}
	}
	return norm.NFC.String(b.String())
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// fold normalises a string for the search of phrases.
func (o Options) fold(l *Language, s string) string {
	if !o.CaseSensitive {
		s = l.lower(s)
	}
	if !o.DiacriticSensitive {
		s = withoutDiacritics(s)
	}
	return s
}
