//go:build unix

package crash

import (
	"context"
	"testing"

	"github.com/duskdb/duskdb/internal/pgtest"
)

// TestCluster is what three servers over one database promise while nothing fails. Each
// part has a database of its own in them.
func TestCluster(t *testing.T) {
	needsCluster(t)
	t.Parallel()
	c := newCluster(t, pgtest.URI(t), "--setParameter", "ttlMonitorSleepSecs=1")
	for name, test := range map[string]func(*testing.T, *cluster){
		"Register":     testClusterRegister,
		"UniqueKeys":   testClusterUniqueKeys,
		"Capped":       testClusterCapped,
		"Counters":     testClusterCounters,
		"Transactions": testClusterTransactions,
		"Streams":      testClusterStreams,
		"Catalog":      testClusterCatalog,
		"Settings":     testClusterSettings,
		"Expiry":       testClusterExpiry,
		"Invisible":    testClusterInvisible,
		"Sessions":     testClusterSessions,
		"Snapshots":    testClusterSnapshots,
		"Consumers":    testClusterConsumers,
		"Wake":         testClusterWake,
	} {
		t.Run(name, func(t *testing.T) {
			of := *c
			of.TB = t
			test(t, &of)
		})
	}
}

// background is the context of operations, which the client bounds.
var background = context.Background()

// must ends the test after an error.
func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
