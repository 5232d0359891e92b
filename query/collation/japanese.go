package collation

import (
	"strings"
	"unicode"
)

// appendKana writes the level on which Japanese tells Katakana from Hiragana, which comes
// first. A string without Katakana has no such level, so it is the lesser of two.
func appendKana(dst []byte, s string) []byte {
	if strings.IndexFunc(s, isKatakana) < 0 {
		return dst
	}
	for _, r := range s {
		switch {
		case isKatakana(r):
			dst = append(dst, 2)
		case !unicode.Is(unicode.M, r) && !isIgnorable(r):
			dst = append(dst, 1)
		}
	}
	return dst
}

func isKatakana(r rune) bool { return unicode.Is(unicode.Katakana, r) }
