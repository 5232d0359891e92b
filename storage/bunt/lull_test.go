package bunt

import (
	"runtime"
	"testing"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
)

// garbageLog is an engine whose log can be filled with garbage. Nothing but the test moves
// its clock, and so nothing is synced by itself.
type garbageLog struct {
	*Engine
	t     *testing.T
	clock *clock.Manual
	n     int
}

const testCompactMin = 64 << 10

func newGarbageLog(t *testing.T) *garbageLog {
	t.Helper()
	g := &garbageLog{t: t, clock: clock.NewManual(time.Unix(1_700_000_000, 0))}
	e, err := Open(Options{
		Path: t.TempDir(), Indexer: storagetest.Indexer{}, CompactMinBytes: testCompactMin, Logger: t.Logf,
		Clock: g.clock, JournalInterval: 1 << 60,
	})
	must(t, err)
	t.Cleanup(func() { e.Close() })
	g.Engine = e
	create(t, e)
	fill(t, e, 100)
	return g
}

// write updates documents until the log has so many more bytes.
func (g *garbageLog) write(bytes int64) {
	for from := g.bytes(); g.bytes() < from+bytes; g.n++ {
		must(g.t, inColl(g.Engine, ns, func(c storage.Collection) error {
			return storagetest.Done(c.Update(storage.RecordID(g.n%100+1), bigger, 1))
		}))
	}
}

func (g *garbageLog) bytes() int64 { return storagetest.Got(g.Stats()).FileBytes }

// awaitCompaction waits until less than half of the log is garbage. step is called meanwhile.
func (g *garbageLog) awaitCompaction(step func()) {
	g.t.Helper()
	for limit := clock.System().Now().Add(10 * time.Second); g.bytes() >= 2*g.liveBytes(); runtime.Gosched() {
		if clock.System().Now().After(limit) {
			g.t.Fatalf("still %d bytes, with %d of documents", g.bytes(), g.liveBytes())
		}
		step()
	}
}

// A log that is mostly garbage is compacted by itself in the first lull, also if all of it
// was written between two syncs, and only once.
func TestAutoCompact(t *testing.T) {
	t.Parallel()
	g := newGarbageLog(t)
	g.write(3 * testCompactMin)
	g.awaitCompaction(func() { g.clock.Advance(lullLength) })
	size := g.bytes()
	must(t, g.tidy())
	if now := g.bytes(); now != size {
		t.Errorf("compacted again: %d bytes, %d before", now, size)
	}
}

// While much is written, the log grows to several times the size from which it is compacted
// in a lull. Then it is compacted without one.
func TestCompactionWaitsForLull(t *testing.T) {
	t.Parallel()
	g := newGarbageLog(t)
	const much = testCompactMin / quietParts
	g.write(testCompactMin + much)
	must(t, g.tidy()) // begins to wait
	for range 3 {
		size := g.bytes()
		g.write(much)
		g.clock.Advance(lullLength)
		must(t, g.tidy())
		if now := g.bytes(); now < size+much {
			t.Fatalf("compacted while it grows: %d bytes, %d before", now, size)
		}
	}
	g.write(busyParts*testCompactMin - testCompactMin/quietParts - g.bytes())
	must(t, g.tidy())
	if g.bytes() < 2*g.liveBytes() {
		t.Error("compacted too early")
	}
	g.write(testCompactMin)
	g.awaitCompaction(func() { g.write(1) })
}
