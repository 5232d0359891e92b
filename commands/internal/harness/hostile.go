package harness

import (
	"os"
	"strconv"
	"testing"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/bunt"
	"github.com/duskdb/duskdb/storage/storagetest"
)

// HostileEnv is the environment variable that makes tests run over an engine
// that behaves as badly as its contract allows. Its value is the seed.
const HostileEnv = "DUSKDB_TEST_HOSTILE"

// SkipHostile skips a test over a hostile engine, for instance because it names
// ids of records.
func SkipHostile(tb testing.TB, why string) {
	tb.Helper()
	if os.Getenv(HostileEnv) != "" {
		tb.Skip("over a hostile engine: " + why)
	}
}

// Hostile returns the engine, made hostile if the environment asks for it.
func Hostile(tb testing.TB, e storage.Engine) storage.Engine {
	tb.Helper()
	text := os.Getenv(HostileEnv)
	if text == "" {
		return e
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		tb.Fatalf("%s is %q, not a seed", HostileEnv, text)
	}
	return storagetest.Hostile(e, Hostility(seed))
}

// Hostility is what a command must not show in its reply: gaps between ids,
// functions of updates that run again, conflicts, catalogs that change.
func Hostility(seed uint64) storagetest.Hostility {
	return storagetest.Hostility{Seed: seed, Gaps: true, Reruns: true, Conflicts: true, Catalog: true}
}

// NewHostile returns a harness over an engine that behaves as how says.
func NewHostile(tb testing.TB, how storagetest.Hostility) *Harness {
	tb.Helper()
	manual := clock.NewManual(TestStart)
	engine, err := bunt.Open(bunt.Options{Path: ":memory:", Clock: manual, Indexer: catalog.NewIndexer()})
	if err != nil {
		tb.Fatal(err)
	}
	return NewOver(tb, storagetest.Hostile(engine, how), manual, kernel.Options{Log: zerolog.Nop()})
}
