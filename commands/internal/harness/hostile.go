package harness

import (
	"os"
	"testing"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/bunt"
	"github.com/duskdb/duskdb/storage/storagetest"
)

// SkipHostile skips a test over a hostile engine, for instance because it names
// ids of records.
func SkipHostile(tb testing.TB, why string) {
	tb.Helper()
	if os.Getenv(storagetest.HostileEnv) != "" {
		tb.Skip("over a hostile engine: " + why)
	}
}

// Hostile returns the engine, made hostile if the environment asks for it.
func Hostile(tb testing.TB, e storage.Engine) storage.Engine {
	tb.Helper()
	if wrap := storagetest.HostileByEnvironment(); wrap != nil {
		return wrap(e)
	}
	return e
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
