package write_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/write"
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/ttl/monitor"
)

// scheduleCommands change what is due, in ways that a pass must notice.
var scheduleCommands = []string{
	`{"insert": "NAME", "documents": [{"_id": NUMBER, "t": {"$date": "DATE"}, "p": NUMBER, "ttl": NUMBER}]}`,
	`{"insert": "NAME", "documents": [{"_id": NUMBER, "t": {"$date": "DATE"}}, {"t": [{"$date": "DATE"}, {"$date": "1960-01-01T00:00:00Z"}]}]}`,
	`{"update": "NAME", "updates": [{"q": {"_id": NUMBER}, "u": {"$set": {"t": {"$date": "DATE"}}}, "upsert": true}]}`,
	`{"update": "NAME", "updates": [{"q": {}, "u": {"$unset": {"t": 1}}, "multi": true}]}`,
	`{"findAndModify": "NAME", "query": {"_id": NUMBER}, "update": {"$set": {"t": {"$date": "DATE"}}}}`,
	`{"delete": "NAME", "deletes": [{"q": {"_id": {"$lte": NUMBER}}, "limit": 0}]}`,
	`{"createIndexes": "NAME", "indexes": [{"key": {"t": 1}, "name": "t", "expireAfterSeconds": NUMBER}]}`,
	`{"createIndexes": "NAME", "indexes": [{"key": {"t": -1}, "name": "down", "expireAfterSeconds": NUMBER, "partialFilterExpression": {"p": {"$gt": 3}}}]}`,
	`{"createIndexes": "NAME", "indexes": [{"key": {"t": "hashed"}, "name": "hashed", "expireAfterSeconds": NUMBER}]}`,
	`{"collMod": "NAME", "index": {"name": "t", "expireAfterSeconds": NUMBER}}`,
	`{"collMod": "NAME", "index": {"name": "t", "hidden": true}}`,
	`{"collMod": "NAME", "documentTtl": {"default": NUMBER}}`,
	`{"collMod": "NAME", "documentTtl": "off"}`,
	`{"dropIndexes": "NAME", "index": "t"}`,
	`{"dropIndexes": "NAME", "index": "*"}`,
	`{"drop": "NAME"}`,
	`{"create": "NAME", "documentTtl": {"default": NUMBER}}`,
	`{"create": "NAME", "clusteredIndex": {"key": {"_id": 1}, "unique": true}, "expireAfterSeconds": NUMBER}`,
	`{"create": "NAME", "timeseries": {"timeField": "t"}, "expireAfterSeconds": NUMBER}`,
	`{"create": "NAME", "messageQueue": {}}`,
	`{"mqSend": "NAME", "messages": [{"body": 1}]}`,
	`{"aggregate": "NAME", "pipeline": [{"$match": {}}, {"$out": "OTHER"}], "cursor": {}}`,
}

// scheduleStep runs a random command, by itself or in a transaction. Many fail: there is no
// such collection, or it is of another kind.
func scheduleStep(h *harness.Harness, r *rand.Rand, txn int) (ok bool) {
	name := func() string { return string(rune('a' + r.IntN(3))) }
	if r.IntN(12) == 0 {
		return h.Admin(fmt.Sprintf(`{"renameCollection": "test.%s", "to": "test.%s", "dropTarget": true}`, name(), name())).Lookup("ok").Truthy()
	}
	at := harness.TestStart.Add(time.Duration(r.IntN(40)-20) * time.Second).Format(time.RFC3339)
	i := r.IntN(len(scheduleCommands))
	command := strings.NewReplacer("NAME", name(), "OTHER", name(), "DATE", at, "NUMBER", strconv.Itoa(1+r.IntN(20))).Replace(scheduleCommands[i])
	if i > 1 || r.IntN(2) == 0 {
		return h.Run(command).Lookup("ok").Truthy()
	}
	h.Run(harness.InTxnArgs(command, txn, true))
	return h.EndTxn([]string{"commitTransaction", "abortTransaction"}[r.IntN(2)], txn).Lookup("ok").Truthy()
}

// sameListing compares the schedule with one that reads everything, and returns how many
// collections have something due.
func sameListing(h *harness.Harness, schedule *monitor.Schedule, now int64) int {
	h.Helper()
	describe := func(info *storage.Info) (*ttl.Rules, bool) {
		return catalog.Of(info).Rules, queue.IsSwept(info.Options)
	}
	got, err := write.ExpiryHost{Svc: h.Svc}.Collections(h.Context(), schedule, now)
	var whole monitor.Schedule
	var queues []*storage.Info
	want, wantErr := whole.List(h.Context(), struct{ storage.Engine }{h.Svc.Engine}, now, describe, func(list []*storage.Info) []monitor.Target {
		queues = list
		return nil
	})
	if err != nil || wantErr != nil {
		h.Fatal(err, wantErr)
	}
	same := func(x, y monitor.Collection) bool {
		return x.Namespace == y.Namespace && x.UUID == y.UUID && reflect.DeepEqual(x.Rules, y.Rules)
	}
	if !slices.EqualFunc(got.Due, want.Due, same) || got.Skipped != want.Skipped || len(got.Queues) != len(queues) {
		h.Fatalf("lists %v, %d queues, skips %d; want %v, %d and %d", got.Due, len(got.Queues), got.Skipped, want.Due, len(queues), want.Skipped)
	}
	return len(got.Due)
}

// The schedule, which remembers what it has read, always lists what one lists that reads
// everything, at any instant before or after the present one.
func TestScheduleKeepsUp(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 1))
		h, runs, listed := harness.New(t), 0, 0
		var schedule monitor.Schedule
		for step := range 250 {
			if scheduleStep(h, r, step+1) {
				runs++
			}
			switch r.IntN(6) {
			case 0:
				h.Advance(int64(r.IntN(5)))
			case 1:
				h.Pass(0)
			}
			for range 4 {
				listed += sameListing(h, &schedule, h.Clock.NowMillis()+int64(r.IntN(80)-20)*1000)
			}
		}
		if runs < 60 || listed < 60 {
			t.Errorf("seed %d: only %d commands succeeded, and %d collections were listed", seed, runs, listed)
		}
	}
}
