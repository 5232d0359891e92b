package editdistance

import "testing"

func TestLevenshtein(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "abc", 0}, {"abc", "ab", 1}, {"port", "prot", 2}, {"a", "xyz", 3}} {
		if got := Levenshtein(tt.a, tt.b); got != tt.want || Levenshtein(tt.b, tt.a) != got {
			t.Errorf("%s, %s: %d", tt.a, tt.b, got)
		}
	}
}
