package commands_test

import (
	"context"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/engines"
	"github.com/duskdb/duskdb/internal/runtimehints"
	"github.com/duskdb/duskdb/value"
)

// goroutinesCreated is how many goroutines the process has begun.
func goroutinesCreated() uint64 {
	s := []metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// Commands that take long have another thread watch the network, which begins a goroutine
// that does nothing, and short ones do not.
func TestLongCommandsHaveNetworkWatched(t *testing.T) {
	if runtime.GOMAXPROCS(0) == 1 || runtimehints.Off() {
		t.Skip("with one processor, or without hints, no other thread watches the network beside a command")
	}
	harness.SkipHostile(t, "runs that are repeated begin goroutines")
	if engines.ForTests() != engines.Default {
		t.Skip("other engines begin goroutines for short commands")
	}
	h := harness.New(t)
	fillTo(h, 2000)
	large := value.NewDoc("insert", value.String("d"), "documents",
		value.NewArray(value.Document(value.NewDoc("s", value.String(strings.Repeat("x", kernel.LongMessage))))), "$db", value.String("test"))
	const runs = 50
	for _, tt := range []struct {
		name    string
		command value.Doc
		long    bool
	}{
		{"find by _id", harness.Relaxed(`{find: "c", filter: {_id: 1}, $db: "test"}`), false},
		{"find of a batch", harness.Relaxed(`{find: "c", batchSize: 101, singleBatch: true, $db: "test"}`), false},
		{"small insert", harness.Relaxed(`{insert: "d", documents: [{a: 1}], $db: "test"}`), false},
		{"large insert", large, true},
		{"aggregate", harness.Relaxed(`{aggregate: "c", pipeline: [{$group: {_id: null, n: {$sum: "$n"}}}], cursor: {}, $db: "test"}`), true},
		{"scan that finds nothing", harness.Relaxed(`{find: "c", filter: {none: 1}, $db: "test"}`), true},
		{"compact", harness.Relaxed(`{compact: "c", $db: "test"}`), true},
	} {
		before := goroutinesCreated()
		for range runs {
			out, _ := harness.Answer(h.Svc, context.Background(), h.Conn, &kernel.Request{Body: tt.command, Bytes: len(tt.command)}, nil)
			if !value.Doc(out).Lookup("ok").Truthy() {
				t.Fatalf("%s: %s", tt.name, value.Doc(out))
			}
		}
		if n := goroutinesCreated() - before; (n >= runs) != tt.long {
			t.Errorf("%s: %d commands began %d goroutines", tt.name, runs, n)
		}
	}
}
