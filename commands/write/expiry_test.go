package write_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/write"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/ttl/monitor"
)

// metric is a counter of serverStatus at a path below metrics.
func metric(h *harness.Harness, path string) int64 {
	h.Helper()
	d := h.Admin(`{"serverStatus": 1}`).Lookup("metrics")
	for _, name := range strings.Split(path, ".") {
		d = d.Doc().Lookup(name)
	}
	return d.SafeInt64()
}

// due creates a collection with a TTL index of ten seconds whose expired documents are
// moved to "dead".
func due(h *harness.Harness, documents string) {
	h.Helper()
	h.OK(`{"create": "c", "onExpire": {"deadLetterTo": "dead"}}`)
	h.OK(`{"createIndexes": "c", "indexes": [{"key": {"x": 1}, "name": "x_1", "expireAfterSeconds": 10}]}`)
	h.OK(`{"insert": "c", "documents": [` + documents + `]}`)
}

const start = `{"$date": "2026-01-01T00:00:00Z"}`

// A dead letter is the document with the reason of its expiry. If its _id exists in the
// target, it gets a new one, and a field with the old one.
func TestDeadLettersKeepWhatTheyWere(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{"insert": "dead", "documents": [{"_id": 1, "here": true}]}`)
	due(h, `{"_id": 1, "x": `+start+`, "a": 1}, {"_id": 2, "x": `+start+`, "a": 2}`)
	h.Pass(10)
	h.Finds(`{"find": "c"}`, `[]`)
	letters := harness.Docs(h.OK(`{"find": "dead", "sort": {"a": 1}}`))
	if len(letters) != 3 || !letters[0].Has("here") {
		t.Fatalf("dead letters %v", letters)
	}
	if again := letters[1]; again.Lookup("_originalId").SafeInt64() != 1 || again.Lookup("_id").SafeInt64() == 1 || again.Lookup("a").SafeInt64() != 1 {
		t.Errorf("the letter whose _id was taken is %s", again)
	}
	expired := letters[2].Lookup("_expired").Doc()
	if letters[2].Lookup("_id").SafeInt64() != 2 || letters[2].Has("_originalId") ||
		expired.Lookup("reason").Str() != "TTLExpiredException" || expired.Lookup("source").Str() != "test.c" || expired.Lookup("index").Str() != "x_1" ||
		expired.Lookup("expiredAt").DateTime() != harness.TestStart.UnixMilli()+10_000 {
		t.Errorf("the letter is %s", letters[2])
	}
	if n := metric(h, "expiration.onExpire.moved"); n != 2 {
		t.Errorf("%d documents were moved, want 2", n)
	}
}

// A document that the target refuses stays until the target accepts it, and does not
// block the others.
func TestDeadLettersThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ target, mend string }{
		"validator":    {`{"create": "dead", "validator": {"a": {"$ne": 1}}}`, `{"collMod": "dead", "validator": {}}`},
		"unique index": {`{"createIndexes": "dead", "indexes": [{"key": {"a": 1}, "name": "a", "unique": true}]}`, `{"dropIndexes": "dead", "index": "a"}`},
	} {
		h := harness.New(t)
		h.OK(tt.target)
		h.OK(`{"insert": "dead", "documents": [{"_id": 0, "a": 1}], "bypassDocumentValidation": true}`)
		due(h, `{"_id": 1, "x": `+start+`, "a": 1}, {"_id": 2, "x": `+start+`, "a": 2}`)
		h.Pass(10)
		h.Finds(`{"find": "c", "projection": {"a": 1}}`, `[{"_id":1,"a":1}]`)
		h.Finds(`{"find": "dead", "projection": {"a": 1}, "sort": {"_id": 1}}`, `[{"_id":0,"a":1},{"_id":2,"a":2}]`)
		if n := metric(h, "expiration.onExpire.kept"); n != 1 {
			t.Errorf("%s: %d documents were kept, want 1", name, n)
		}
		h.OK(tt.mend)
		h.Pass(60)
		h.Finds(`{"find": "c"}`, `[]`)
		h.Finds(`{"find": "dead", "projection": {"a": 1}, "sort": {"_id": 1}}`, `[{"_id":0,"a":1},{"_id":1,"a":1},{"_id":2,"a":2}]`)
	}
}

// The target may have been replaced by something that cannot store documents.
func TestDeadLettersWithoutATarget(t *testing.T) {
	t.Parallel()
	for _, target := range []string{
		`{"create": "dead", "viewOn": "x", "pipeline": []}`, `{"create": "dead", "messageQueue": {}}`, `{"create": "dead", "timeseries": {"timeField": "t"}}`,
	} {
		h := harness.New(t)
		due(h, `{"_id": 1, "x": `+start+`}`)
		h.OK(target)
		h.Pass(10)
		h.Finds(`{"find": "c", "projection": {"_id": 1}}`, `[{"_id":1}]`)
		h.OK(`{"drop": "dead"}`)
		h.Pass(60)
		h.Finds(`{"find": "dead", "projection": {"_id": 1}}`, `[{"_id":1}]`)
	}
}

// A bucket is moved with all its measurements or, if one is refused, not at all.
func TestDeadLettersOfATimeSeries(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{"createIndexes": "dead", "indexes": [{"key": {"v": 1}, "name": "v", "unique": true, "sparse": true}]}`)
	h.OK(`{"create": "c", "timeseries": {"timeField": "t", "metaField": "m"}, "expireAfterSeconds": 10, "onExpire": {"deadLetterTo": "dead"}}`)
	h.OK(`{"insert": "c", "documents": [` + measurement("1", "a", "1") + `, ` + measurement("2", "a", "2") + `, ` + measurement("3", "b", "3") + `, ` + measurement("4", "b", "3") + `]}`)
	h.Pass(2 * 3600)
	sensors(h, `[{"_id":3,"s":"b"},{"_id":4,"s":"b"}]`)
	h.Finds(`{"find": "dead", "projection": {"v": 1, "_expired.source": 1}, "sort": {"_id": 1}}`,
		`[{"_id":1,"v":1,"_expired":{"source":"test.c"}},{"_id":2,"v":2,"_expired":{"source":"test.c"}}]`)
	h.OK(`{"dropIndexes": "dead", "index": "v"}`)
	h.Pass(60)
	sensors(h, `[]`)
	h.Finds(`{"find": "dead", "projection": {"v": 1}, "sort": {"_id": 1}}`, `[{"_id":1,"v":1},{"_id":2,"v":2},{"_id":3,"v":3},{"_id":4,"v":3}]`)
}

// The monitor finds a listed collection under its new name, and skips it if it has been
// dropped.
func TestExpiryFollowsACollection(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	due(h, `{"_id": 1, "x": `+start+`}`)
	host := write.ExpiryHost{Svc: h.Svc}
	h.Clock.Advance(20 * time.Second)
	l, err := host.Collections(t.Context(), new(monitor.Schedule), h.Clock.NowMillis())
	list := l.Due
	if err != nil || len(list) != 1 {
		t.Fatalf("collections with something due: %v, %v", list, err)
	}
	visit := func() (read, written storage.Namespace, err error) {
		err = host.View(t.Context(), &list[0], func(coll storage.Collection, _ *ttl.Rules) error {
			read = coll.Info().Namespace
			return nil
		})
		err = errors.Join(err, host.Update(t.Context(), &list[0], func(coll storage.Collection, _ *ttl.Rules, _ ttl.Remover) error {
			written = coll.Info().Namespace
			return nil
		}))
		return read, written, err
	}
	for _, step := range []struct{ db, command, name string }{
		{"test", `{"ping": 1}`, "c"},
		{"admin", `{"renameCollection": "test.c", "to": "test.d"}`, "d"},
		{"test", `{"create": "c", "onExpire": {"deadLetterTo": "dead"}}`, "d"},
	} {
		if reply := h.RunOn(step.db, harness.Relaxed(step.command)); !reply.Lookup("ok").Truthy() {
			t.Fatal(reply)
		}
		want := storage.Namespace{DB: "test", Coll: step.name}
		if read, written, err := visit(); read != want || written != want || err != nil {
			t.Errorf("after %s: read %s, wrote %s, %v; want %s", step.command, read, written, err, want)
		}
	}
	h.OK(`{"drop": "d"}`)
	if _, _, err := visit(); !errors.Is(err, monitor.ErrGone) {
		t.Errorf("after a drop: %v", err)
	}
}

// serverStatus counts hidden documents that are still stored separately from removed ones.
func TestPendingPurge(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{"create": "c", "documentTtl": {"default": 10}}`)
	h.OK(`{"insert": "c", "documents": [{"_id": 1}, {"_id": 2, "ttl": -1}, {"_id": 3, "ttl": 5}]}`)
	for _, step := range []struct {
		seconds         int64
		pass            bool
		pending, purged int64
	}{{4, false, 0, 0}, {1, false, 1, 0}, {5, false, 2, 0}, {0, true, 0, 2}} {
		if step.pass {
			h.Pass(step.seconds)
		} else {
			h.Advance(step.seconds)
		}
		if pending, purged := metric(h, "expiration.documentTtl.pendingPurge"), metric(h, "expiration.documentTtl.purged"); pending != step.pending || purged != step.purged {
			t.Errorf("%d s on: %d pending, %d purged; want %d and %d", step.seconds, pending, purged, step.pending, step.purged)
		}
	}
	h.Finds(`{"find": "c"}`, `[{"_id":2,"ttl":-1}]`)
}

// Every write that matches a document without changing it restarts its time to live
// (semantics.md §7.3), whether or not the policy is on.
func TestUnchangedUpdatesRefresh(t *testing.T) {
	t.Parallel()
	for _, statement := range []string{
		`{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$set": {"a": 1}}}]}`,
		`{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$set": {"a": 1}}, "hint": "_id_"}]}`,
		`{"update": "c", "updates": [{"q": {"a": 1}, "u": {"$set": {"a": 1}}, "multi": true}]}`,
		`{"findAndModify": "c", "query": {"a": 1}, "update": {"$set": {"a": 1}}}`,
	} {
		for _, policyFirst := range []bool{true, false} {
			h := harness.New(t)
			h.OK(`{"insert": "c", "documents": [{"_id": 1, "a": 1}, {"_id": 2, "a": 2}]}`)
			const on = `{"collMod": "c", "documentTtl": {"default": 10}}`
			if policyFirst {
				h.OK(on)
			}
			h.Advance(6)
			if reply := h.OK(statement); reply.Lookup("nModified").SafeInt64() != 0 {
				t.Errorf("%s answered %s", statement, reply)
			}
			h.OK(on)
			h.Advance(9)
			h.Finds(`{"find": "c"}`, `[{"_id":1,"a":1}]`)
			h.Advance(1)
			h.Finds(`{"find": "c"}`, `[]`)
		}
	}
}

// With document TTL only the server writes _ts: a client's value is discarded, and
// $rename of _ts is refused.
func TestTheServersTimestamp(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{"create": "c", "documentTtl": {"default": 10, "exposeTs": true}}`)
	h.OK(`{"insert": "c", "documents": [{"_id": 1, "_ts": 5, "a": 1}]}`)
	h.Advance(3)
	h.OK(`{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"_id": 1, "_ts": 7, "a": 2}}]}`)
	d := harness.Docs(h.OK(`{"find": "c"}`))[0]
	if got, want := d.Lookup("_ts").SafeInt64(), harness.TestStart.Unix()+3; got != want || d.Lookup("a").SafeInt64() != 2 {
		t.Errorf("stored %s, want _ts %d", d, want)
	}
	text := h.Fails(66, `{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$rename": {"_ts": "b"}}}]}`)
	if !strings.Contains(text, "would modify the immutable field '_ts'") {
		t.Errorf("said %q", text)
	}
}

// A pass that cannot write to the storage, or is cancelled, returns an error.
func TestExpiryWithoutAStorage(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	due(h, `{"_id": 1, "x": `+start+`}`)
	host := write.ExpiryHost{Svc: h.Svc}
	h.Clock.Advance(20 * time.Second)
	l, err := host.Collections(t.Context(), new(monitor.Schedule), h.Clock.NowMillis())
	if err != nil {
		t.Fatal(err)
	}
	list := l.Due
	plain := h.Svc.Engine
	h.Svc.Engine = &failingEngine{plain, 1, storage.ErrClosed}
	err = host.Update(t.Context(), &list[0], func(storage.Collection, *ttl.Rules, ttl.Remover) error { return nil })
	h.Svc.Engine = plain
	if !errors.Is(err, storage.ErrClosed) {
		t.Errorf("the pass says %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := host.Collections(ended, new(monitor.Schedule), 0); !errors.Is(err, context.Canceled) {
		t.Errorf("listing for a pass that has ended: %v", err)
	}
}

// A measurement that meets an open transaction leaves its bucket where it is, with nothing
// of it in the dead-letter collection.
func TestDeadLettersThatMeetATransaction(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{"createIndexes": "dead", "indexes": [{"key": {"v": 1}, "name": "v", "unique": true, "sparse": true}]}`)
	h.OK(`{"create": "c", "timeseries": {"timeField": "t", "metaField": "m"}, "expireAfterSeconds": 10, "onExpire": {"deadLetterTo": "dead"}}`)
	h.OK(`{"insert": "c", "documents": [` + measurement("1", "a", "1") + `, ` + measurement("2", "a", "2") + `]}`)
	h.OK(harness.InTxnArgs(`{"insert": "dead", "documents": [{"_id": "x", "v": 2}]`, 1, true))
	h.Pass(2 * 3600)
	sensors(h, `[{"_id":1,"s":"a"},{"_id":2,"s":"a"}]`)
	h.Finds(`{"find": "dead"}`, `[]`)
	h.EndTxn("abortTransaction", 1)
	h.Pass(60)
	sensors(h, `[]`)
	h.Finds(`{"find": "dead", "projection": {"v": 1, "_originalId": 1}, "sort": {"_id": 1}}`, `[{"_id":1,"v":1},{"_id":2,"v":2}]`)
}

// A document that makes room for a write counts as purged once the write is committed: once,
// however often that is tried, and not if it is undone.
func TestPurgesAreCountedWhenCommitted(t *testing.T) {
	t.Parallel()
	h := harness.NewHostile(t, storagetest.Hostility{Seed: 1, Reruns: true, Conflicts: true})
	h.OK(`{"create": "c", "documentTtl": {"default": 10}}`)
	h.OK(`{"insert": "c", "documents": [{"_id": 1}, {"_id": 2}, {"_id": 3}, {"_id": 4}, {"_id": 5}]}`)
	h.Advance(10)
	purged := func(want int64) {
		t.Helper()
		if n := metric(h, "expiration.documentTtl.purged"); n != want {
			t.Errorf("%d were purged, want %d", n, want)
		}
	}
	for i := range int64(4) {
		h.OK(fmt.Sprintf(`{"insert": "c", "documents": [{"_id": %d}]}`, i+1))
		purged(i + 1)
	}
	for n, end := range []string{"abortTransaction", "commitTransaction"} {
		h.OK(harness.InTxnArgs(`{"insert": "c", "documents": [{"_id": 5}]`, n+1, true))
		purged(4)
		h.EndTxn(end, n+1)
		purged(int64(4 + n))
	}
	h.Advance(10)
	h.OK(`{"collMod": "c", "documentTtl": "off"}`)
	purged(10)
}
