package oplog_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/commands/oplog"
)

// TestPathTree: the tree of an update's paths has the same result for a place as a check
// of each path.
func TestPathTree(t *testing.T) {
	part := rapid.SampledFrom([]string{"a", "b", "0", "1", "$", "$[]", "$[x]"})
	place := rapid.SampledFrom([]string{"a", "b", "0", "1"})
	fits := func(path, here []string) bool {
		for i := range min(len(path), len(here)) {
			if path[i] != here[i] && !strings.HasPrefix(path[i], "$") {
				return false
			}
		}
		return len(path) >= len(here)
	}
	rapid.Check(t, func(t *rapid.T) {
		var paths []string
		for range rapid.IntRange(1, 6).Draw(t, "paths") {
			paths = append(paths, strings.Join(rapid.SliceOfN(part, 1, 4).Draw(t, "path"), "."))
		}
		here := rapid.SliceOfN(place, 1, 4).Draw(t, "here")
		var below, itself bool
		for _, p := range paths {
			if parts := strings.Split(p, "."); fits(parts, here) {
				below = below || len(parts) > len(here)
				itself = itself || len(parts) == len(here)
			}
		}
		if b, i := oplog.NewPathTree(paths).At(strings.Join(here, ".")); b != below || i != itself {
			t.Fatalf("%v at %v: below %v, itself %v; want %v, %v", paths, here, b, i, below, itself)
		}
	})
}
