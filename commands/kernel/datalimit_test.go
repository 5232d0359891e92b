package kernel_test

import (
	"testing"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/bunt"
)

// elsewhere is an engine whose data are not in memory.
type elsewhere struct{ storage.Engine }

func (e elsewhere) Stats() (storage.EngineStats, error) {
	stats, err := e.Engine.Stats()
	stats.Resident = false
	return stats, err
}

// The memory limit refuses documents only where they are kept in memory.
func TestMemoryLimitOfData(t *testing.T) {
	for _, resident := range []bool{true, false} {
		manual := clock.NewManual(harness.TestStart)
		engine, err := bunt.Open(bunt.Options{Path: ":memory:", Clock: manual, Indexer: catalog.NewIndexer()})
		if err != nil {
			t.Fatal(err)
		}
		var over storage.Engine = elsewhere{engine}
		if resident {
			over = engine
		}
		h := harness.NewOver(t, over, manual, kernel.Options{Log: zerolog.Nop(), Memory: 1}) // less than the server itself needs
		const insert = `{insert: "c", documents: [{_id: 1}]}`
		if resident {
			h.Fails(146, insert)
		} else {
			h.OK(insert)
		}
	}
}
