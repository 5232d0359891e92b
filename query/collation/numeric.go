package collation

import "strings"

// maxDigits is how many digits ICU takes for one number. It reads more digits as several
// numbers.
const maxDigits = 254

// splitNumbers puts a character without weight between the parts of numbers that are too
// long. Each part begins behind its zeros.
func splitNumbers(s string) string {
	var b strings.Builder
	done := 0 // bytes of s that are in b
	for i := 0; i < len(s); {
		n := digits(s[i:])
		if n <= maxDigits {
			i += max(n, 1)
			continue
		}
		for end := i + n; i < end; {
			zeros := len(s[i:end-1]) - len(strings.TrimLeft(s[i:end-1], "0"))
			part := min(i+zeros+maxDigits, end)
			b.WriteString(s[done:part])
			if done = part; part < end {
				b.WriteString("\u200b")
			}
			i = part
		}
	}
	b.WriteString(s[done:])
	return b.String()
}

// digits is the number of ASCII digits that s begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}
