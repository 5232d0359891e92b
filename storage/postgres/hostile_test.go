package postgres_test

import (
	"testing"

	"github.com/duskdb/duskdb/internal/needs"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
)

// TestConformanceUnderReruns: the suite passes if functions of updates run even more
// often than the engine runs them.
func TestConformanceUnderReruns(t *testing.T) {
	if !needs.CI() {
		t.Skip("runs in CI: each call is a round trip")
	}
	if testing.Short() {
		t.Skip("the same as TestConformance, twice")
	}
	t.Parallel()
	storagetest.RunBut(t, rerunning(open), compaction, "ScanResumed", "IndexBuild") // tens of thousands of round trips
}

// rerunning opens engines that run functions of updates more often.
func rerunning(open storagetest.Opener) storagetest.Opener {
	return func(tb testing.TB, dir string, ix storage.Indexer) storage.Engine {
		return storagetest.Hostile(open(tb, dir, ix), storagetest.Hostility{Seed: 1, Reruns: true})
	}
}
