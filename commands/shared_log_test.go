package commands_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/engines"
	"github.com/duskdb/duskdb/storage/storagetest"
)

// How long entries of the change log are kept is the same on whichever server trims it.
func TestSharedLogRetention(t *testing.T) {
	t.Parallel()
	a, b, _ := serversOver(t)
	if reply := b.Admin(`{replSetResizeOplog: 1, minRetentionHours: 1.5}`); !reply.Lookup("ok").Truthy() {
		t.Fatal(reply)
	}
	for i, on := range []server{a, b, a.another()} {
		if err := on.Svc.Oplog.Trim(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := on.Svc.Oplog.Keep.Load(); n != 5400_000 {
			t.Errorf("server %d keeps entries for %d ms", i, n)
		}
	}
}

// overCluster starts servers over one engine in memory, each of which counts what it asks
// of it.
func overCluster(t *testing.T, n int, options kernel.Options) (list []*harness.Harness, counters []*storagetest.Counter) {
	t.Helper()
	manual := clock.NewManual(harness.TestStart)
	opened, err := engines.Open("bunt", engines.Options{Path: engines.Memory, Clock: manual, Indexer: catalog.NewIndexer()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close() })
	cluster := storagetest.NewCluster(opened.Engine, manual)
	for range n {
		counter := storagetest.NewCounter(cluster.Join())
		options.Log = zerolog.Nop()
		h := harness.NewOver(t, counter, manual, options)
		ctx, stop := context.WithCancel(context.Background())
		t.Cleanup(stop)
		go h.Svc.Follow(ctx)
		list, counters = append(list, h), append(counters, counter)
	}
	return list, counters
}

// The size that the change log has been given counts for servers that are started with
// another one: any of them may trim it.
func TestSharedLogSizeOfTheFirst(t *testing.T) {
	t.Parallel()
	list, _ := overCluster(t, 1, kernel.Options{OplogBytes: 1000 << 20})
	first := list[0].Svc
	for _, bytes := range []int64{0, 5 << 20} {
		h := harness.NewOver(t, first.Engine, clock.NewManual(harness.TestStart), kernel.Options{Log: zerolog.Nop(), OplogBytes: bytes})
		if n := h.Svc.Oplog.Bound(); n != 1000<<20 {
			t.Errorf("started with %d: the bound is %d", bytes, n)
		}
	}
}

// A server on which nobody waits does not read the data because others write; one with a
// change stream does.
func TestSharedNewsAreCheap(t *testing.T) {
	t.Parallel()
	list, counters := overCluster(t, 2, kernel.Options{})
	a, b := list[0], list[1]
	b.OK(`{insert: "c", documents: [{_id: -1}]}`)
	const writes = 100
	write := func(from int) {
		t.Helper()
		for i := range writes {
			b.OK(fmt.Sprintf(`{insert: "c", documents: [{_id: %d}]}`, from+i))
		}
	}
	counters[0].Take()
	write(0)
	if n := counters[0].Take().Transactions(); n > 3 {
		t.Errorf("%d transactions because of %d writes elsewhere", n, writes)
	}
	s := a.Watch("c", "{}", "")
	write(writes)
	got := 0
	inTime(t, "the events", func() {
		for got < writes {
			got += len(s.Events())
		}
	})
	if got != writes {
		t.Errorf("%d events of %d writes", got, writes)
	}
}
