package ttl

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The search for the name finds what a plain one does.
func TestMentionsTTL(t *testing.T) {
	part := rapid.SampledFrom([]string{"l", "t", "tl", "ttl", "\x00", "ttl\x00", strings.Repeat("l", 16), "x"})
	rapid.Check(t, func(t *rapid.T) {
		d := []byte(strings.Join(rapid.SliceOfN(part, 0, 12).Draw(t, "parts"), ""))
		if got, want := mentionsTTL(d), bytes.Contains(d, ttlName); got != want {
			t.Fatalf("%q: %v", d, got)
		}
	})
}
