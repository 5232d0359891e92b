package engine

import (
	"unicode/utf8"
)

// latin writes bytes as a string of the characters U+0000 to U+00FF, which the
// engine stores in one byte each.
func latin(b []byte) string {
	wide := 0
	for _, c := range b {
		if c >= utf8.RuneSelf {
			wide++
		}
	}
	if wide == 0 {
		return string(b)
	}
	out := make([]byte, 0, len(b)+wide)
	for _, c := range b {
		out = utf8.AppendRune(out, rune(c))
	}
	return string(out)
}

// octets are the bytes that a string of such characters stands for.
func octets(s string) []byte {
	out := make([]byte, 0, len(s))
	for _, r := range s {
		out = append(out, byte(r))
	}
	return out
}
