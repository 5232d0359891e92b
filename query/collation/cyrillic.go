package collation

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// In ICU's root order й is the only Cyrillic letter with a mark that is a
// letter of its own; the tables used here still have all of them. A combining
// grapheme joiner, which has no weight, keeps letter and mark apart.

// cyrillicLetters are, decomposed, the letters with a mark that stay one
// letter in a locale.
func cyrillicLetters(base string) string {
	const shortI, yo = "\u0438\u0306\u0418\u0306", "\u0435\u0308\u0415\u0308"
	switch base {
	case "be":
		return shortI + yo + "\u0443\u0306\u0423\u0306"
	case "kk":
		return shortI + yo
	case "mk":
		return "\u0433\u0301\u0413\u0301\u043a\u0301\u041a\u0301"
	case "sr", "bs_Cyrl":
		return ""
	case "uk":
		return shortI + "\u0456\u0308\u0406\u0308"
	}
	return shortI
}

// hasCyrillic reports whether a string may have Cyrillic letters.
func hasCyrillic(s string) bool {
	for i := range len(s) {
		if s[i]&0xfc == 0xd0 {
			return true
		}
	}
	return false
}

// apart decomposes a string and writes a joiner between each Cyrillic letter
// and a mark that do not make a letter.
func (c *Collation) apart(s string) string {
	var b strings.Builder
	before := rune(0)
	for _, r := range norm.NFD.String(s) {
		if unicode.Is(unicode.Mn, r) && unicode.Is(unicode.Cyrillic, before) && !strings.Contains(c.letters, string([]rune{before, r})) {
			b.WriteRune('\u034f')
		}
		b.WriteRune(r)
		before = r
	}
	return b.String()
}
