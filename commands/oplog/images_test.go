package oplog_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"testing"
	"time"

	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// held returns the documents of one of the server's own collections.
func held(h *harness.Harness, ns storage.Namespace) (list []value.Doc) {
	h.Helper()
	err := h.Svc.Engine.View(h.Context(), func(tx storage.Tx) error {
		coll, err := tx.Collection(ns)
		if err != nil {
			return err
		}
		return coll.Scan(storage.Range{}, func(r storage.Record) bool { list = append(list, r.Doc.Clone()); return true })
	})
	if err != nil {
		h.Fatal(err)
	}
	return list
}

// Pre-images of updates, replacements and deletes are stored with the id of their entry,
// as in mongod's config.system.preimages; they are removed when they expire, or with
// their entry.
func TestPreImages(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	l := h.Svc.Oplog
	h.OK(`{create: "c", changeStreamPreAndPostImages: {enabled: true}}`)
	h.OK(`{insert: "c", documents: [{_id: 1, a: 1}, {_id: 2, a: 2}]}`)
	h.OK(`{update: "c", updates: [{q: {_id: 1}, u: {$set: {a: 5}}}]}`)
	h.Advance(100)
	h.OK(`{delete: "c", deletes: [{q: {}, limit: 0}]}`)
	log := entries(h)
	update, deletes := log[len(log)-2], log[len(log)-1]
	uuid := h.UUIDOf("c")
	var want []string
	for _, w := range []struct {
		entry value.Doc
		op    int64
		after int64
		image string
	}{{update, 0, 0, `{_id: 1, a: 1}`}, {deletes, 0, 100, `{_id: 1, a: 5}`}, {deletes, 1, 100, `{_id: 2, a: 2}`}} {
		id := value.NewDoc("nsUUID", uuid, "ts", w.entry.Lookup("ts"), "applyOpsIndex", value.Int64(w.op))
		want = append(want, value.NewDoc("_id", value.Document(id), "operationTime", value.DateTime(harness.TestStart.UnixMilli()+w.after*1000), "preImage", value.Document(harness.Relaxed(w.image))).CanonicalJSON())
	}
	expect := func(want []string) {
		t.Helper()
		var got []string
		for _, d := range held(h, oplog.PreImages) {
			got = append(got, d.CanonicalJSON())
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("pre-images\n%v\nwant\n%v", got, want)
		}
	}
	expect(want)
	for _, step := range []struct {
		seconds int64
		want    []string
	}{{0, want}, {101, want}, {100, want[1:]}, {50, want[1:]}} {
		if err := l.ExpireImages(context.Background(), step.seconds); err != nil {
			t.Fatal(err)
		}
		expect(step.want)
	}
	h.OK(`{insert: "c", documents: [{_id: 3}]}`)
	l.Limit.Store(1) // no entry is within this bound
	if err := l.Trim(context.Background()); err != nil {
		t.Fatal(err)
	}
	for _, d := range held(h, oplog.PreImages) {
		if ts := d.Lookup("_id").Doc().Lookup("ts"); value.Equal(ts, update.Lookup("ts")) {
			t.Errorf("the entry is gone, its image not: %s", d)
		}
	}
}

// The trimmer works when it is woken, until its context ends.
func TestTrimmer(t *testing.T) {
	t.Parallel()
	h := harness.New(t).LoneServer("a log with a size of its own")
	config := h.Svc.OplogConfig()
	config.Bytes = 32 << 10
	l := oplog.New(config)
	if err := l.Open(context.Background()); err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		h.OK(fmt.Sprintf(`{insert: "c", documents: [{_id: %d, text: "%01000d"}]}`, i, i))
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { l.Trimmer(ctx); close(done) }()
	size := func() (n int64) {
		err := h.Svc.Engine.View(ctx, func(tx storage.Tx) error {
			coll, err := tx.Collection(oplog.Namespace)
			if err == nil {
				n, err = coll.Size()
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := size()
	l.Appended(before)
	late := time.After(10 * time.Second)
	for size() > config.Bytes {
		select {
		case <-late:
			t.Fatalf("the log has %d bytes, bound %d", size(), config.Bytes)
		default:
			runtime.Gosched()
		}
	}
	cancel()
	<-done
	if before <= config.Bytes {
		t.Errorf("there was nothing to trim: %d bytes", before)
	}
}

// Entries are kept for the retention time, whatever the maximum size is.
func TestRetention(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	l := h.Svc.Oplog
	l.Limit.Store(1)
	l.Keep.Store(60_000)
	h.OK(`{insert: "c", documents: [{_id: 1}]}`)
	n := len(entries(h))
	h.Advance(50)
	h.OK(`{insert: "c", documents: [{_id: 2}]}`)
	for _, step := range []struct {
		seconds int64
		want    int
	}{{0, n + 1}, {20, 1}} {
		h.Advance(step.seconds)
		if err := l.Trim(context.Background()); err != nil {
			t.Fatal(err)
		}
		if got := len(entries(h)); got != step.want {
			t.Errorf("%d entries after %d s, want %d", got, 50+step.seconds, step.want)
		}
	}
}

// A server without a change log writes no entries; transactions work as well.
func TestNoLog(t *testing.T) {
	t.Parallel()
	h := harness.NewWith(t, kernel.Options{OplogBytes: -1})
	h.OK(`{insert: "c", documents: [{_id: 1}]}`)
	l := h.Svc.Oplog
	if !l.Off {
		t.Fatal("there is a log")
	}
	err := h.Svc.Engine.View(h.Context(), func(tx storage.Tx) error {
		if _, err := tx.Collection(oplog.Namespace); err == nil {
			t.Error("there is a collection for it")
		}
		ns := storage.Namespace{DB: "test", Coll: "c"}
		logged, err := l.NewRecorder(tx, 0).Logged().Collection(ns)
		if err != nil {
			return err
		}
		bare, err := tx.Collection(ns)
		if reflect.TypeOf(logged) != reflect.TypeOf(bare) {
			t.Error("changes are noted")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A Recorder records the changes in its transaction except those of the server's own
// collections, and not the rebuild of an index on _ts.
func TestRecorder(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{create: "shown", documentTtl: {default: 60, exposeTs: true}}`)
	h.OK(`{createIndexes: "shown", indexes: [{key: {a: 1, _ts: 1}, name: "both"}]}`)
	h.OK(`{insert: "shown", documents: [{_id: 1, a: 1}]}`)
	n := len(entries(h))
	id := catalog.NewUUID()
	ns := storage.Namespace{DB: "test", Coll: "made"}
	err := h.Svc.Engine.Update(h.Context(), func(tx storage.Tx) error {
		r := h.Svc.Oplog.NewRecorder(tx, h.Clock.NowMillis())
		logged := r.Logged()
		coll, err := logged.CreateAs(ns, id, value.EmptyDoc, nil)
		if err != nil {
			return err
		}
		for i := range int32(3) {
			if _, err := coll.Insert(value.NewDoc("_id", value.Int32(i)), 0); err != nil {
				return err
			}
		}
		if err := coll.Truncate(); err != nil || storagetest.Got(coll.Count()) != 0 {
			return errors.Join(err, fmt.Errorf("%d documents are left", storagetest.Got(coll.Count())))
		}
		if _, err := logged.CreateAs(storage.Namespace{DB: "Test", Coll: "x"}, id, value.EmptyDoc, nil); err == nil {
			t.Error("a database in another case is made")
		}
		if _, err := logged.Create(storage.Namespace{DB: "Test", Coll: "x"}, value.EmptyDoc, nil); err == nil {
			t.Error("a database in another case is made")
		}
		for _, own := range []storage.Namespace{{DB: "local", Coll: "x"}, {DB: "config", Coll: "system.statements"}, {DB: "test", Coll: "system.profile"}, {DB: "test", Coll: "$own"}} {
			if !oplog.Unlogged(own) {
				t.Errorf("%s is logged", own)
			}
		}
		if _, err := logged.Create(storage.Namespace{DB: "local", Coll: "x"}, value.EmptyDoc, nil); err != nil {
			return err
		}
		if err := logged.SetOptions(ns, harness.Relaxed(`{validator: {a: 1}}`)); err != nil {
			return err
		}
		if err := oplog.RebuildShown(logged, storage.Namespace{DB: "test", Coll: "shown"}); err != nil {
			return err
		}
		if r.HasStatements() {
			t.Error("these are no statements of a retryable write")
		}
		return r.Flush()
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range entries(h)[n:] {
		got = append(got, briefly(d, true).JSON())
		if _, ui := d.Lookup("ui").Binary(); !d.Lookup("ui").IsMissing() && string(ui) != string(id[:]) {
			t.Errorf("%s has another UUID than %x", d, id)
		}
	}
	ops := ""
	for _, kind := range []string{"i", "d"} {
		for i := range 3 {
			ops += fmt.Sprintf(`{op: %q, ns: "test.made", o: {_id: %d}}, `, kind, i)
		}
	}
	want := []string{
		harness.Relaxed(`{op: "c", ns: "test.$cmd", o: {create: "made"}}`).JSON(),
		harness.Relaxed(`{op: "c", ns: "admin.$cmd", o: {applyOps: [` + ops[:len(ops)-2] + `]}}`).JSON(),
		harness.Relaxed(`{op: "c", ns: "test.$cmd", o: {collMod: "made", validator: {a: 1}}, o2: {collectionOptions_old: {}}}`).JSON(),
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("logged\n%v\nwant\n%v", got, want)
	}
	h.Finds(`{find: "shown", filter: {a: 1}, hint: "both", projection: {_id: 1}}`, `[{"_id": 1}]`)
}
