package oplog_test

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/changestream/token"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// interest returns the Interest of a filter on events; "" for all events.
func interest(t *testing.T, filter string) (i oplog.Interest) {
	t.Helper()
	if filter == "" {
		return i
	}
	m, err := match.Compile(harness.Relaxed(filter), match.Options{})
	if err != nil {
		t.Fatal(err)
	}
	i.Events = m
	return i
}

// Groups of streams are woken only by entries on their namespace that match their
// interest; a rename wakes all.
func TestWatchersAreWoken(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	for _, command := range []string{`{create: "c"}`, `{create: "e"}`, `{create: "f"}`} {
		h.OK(command)
	}
	l := h.Svc.Oplog
	groups := map[string]*oplog.Watcher{
		"all":       l.Join(storage.Namespace{}, interest(t, "")),
		"database":  l.Join(storage.Namespace{DB: "test"}, interest(t, "")),
		"c":         l.Join(storage.Namespace{DB: "test", Coll: "c"}, interest(t, "")),
		"c inserts": l.Join(storage.Namespace{DB: "test", Coll: "c"}, interest(t, `{operationType: "insert"}`)),
		"c of all":  l.Join(storage.Namespace{}, interest(t, `{"ns.coll": "c"}`)),
		"other":     l.Join(storage.Namespace{DB: "other"}, interest(t, "")),
	}
	for _, step := range []struct{ command, want string }{
		{`{insert: "c", documents: [{_id: 1}]}`, "all, c, c inserts, c of all, database"},
		{`{insert: "c", documents: [{_id: 2}, {_id: 3}]}`, "all, c, c inserts, c of all, database"},
		{`{update: "c", updates: [{q: {_id: 1}, u: {$set: {a: 1}}}]}`, "all, c, c of all, database"},
		{`{delete: "c", deletes: [{q: {_id: 1}, limit: 1}]}`, "all, c, c of all, database"},
		{`{insert: "e", documents: [{_id: 1}]}`, "all, database"},
		{`{update: "c", updates: [{q: {_id: 77}, u: {$set: {a: 1}}}]}`, ""},
		{`{drop: "c"}`, "all, c, c inserts, c of all, database"},
		{`{drop: "e"}`, "all, c of all, database"},
	} {
		before, signals := map[string]storage.RecordID{}, map[string]<-chan struct{}{}
		for name, w := range groups {
			before[name], signals[name] = w.Newest.Load(), w.Wait()
		}
		h.OK(step.command)
		var woken []string
		for _, name := range []string{"all", "c", "c inserts", "c of all", "database", "other"} {
			w, on := groups[name], false
			select {
			case <-signals[name]:
				on = true
			default:
			}
			if on != (w.Newest.Load() > before[name]) {
				t.Errorf("%s: %s is woken: %v, its newest entry %d after %d", step.command, name, on, w.Newest.Load(), before[name])
			}
			if on {
				woken = append(woken, name)
			}
		}
		if got := strings.Join(woken, ", "); got != step.want {
			t.Errorf("%s wakes %s, want %s", step.command, got, step.want)
		}
	}
	signal := groups["other"].Wait()
	if r := h.Admin(`{renameCollection: "test.f", to: "test.g"}`); !r.Lookup("ok").Truthy() {
		t.Fatal(r)
	}
	select {
	case <-signal:
	default:
		t.Error("a rename does not concern another database")
	}
}

// Streams with the same options form a group, until the last of them is closed.
func TestWatchersShareGroups(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	l := h.Svc.Oplog
	ns := storage.Namespace{DB: "test", Coll: "c"}
	inserts := `{operationType: "insert"}`
	a, b := l.Join(ns, interest(t, inserts)), l.Join(ns, interest(t, inserts))
	if a != b || a.Streams != 2 {
		t.Errorf("%p of %d streams, %p", a, a.Streams, b)
	}
	others := []*oplog.Watcher{l.Join(ns, interest(t, "")), l.Join(ns, interest(t, `{operationType: "update"}`)), l.Join(storage.Namespace{DB: "test"}, interest(t, inserts))}
	for _, w := range others {
		if w == a || w.Streams != 1 {
			t.Errorf("a group of %d streams with other wishes", w.Streams)
		}
	}
	if l.Leave(a); len(l.Groups[ns]) != 3 || a.Streams != 1 {
		t.Errorf("groups %v", l.Groups)
	}
	l.Leave(b)
	for _, w := range others {
		l.Leave(w)
	}
	if len(l.Groups) != 0 {
		t.Errorf("groups %v", l.Groups)
	}
	w := l.Join(ns, interest(t, ""))
	for _, step := range [][2]storage.RecordID{{5, 5}, {3, 5}, {9, 9}} {
		if l.JoinedAt(w, step[0]); w.Newest.Load() != step[1] {
			t.Errorf("joined at %d: %d", step[0], w.Newest.Load())
		}
	}
	// Another server may have marked a newer entry than a writer here that is still to commit.
	l.JoinedAt(w, 1000)
	h.OK(`{insert: "c", documents: [{}]}`)
	if n := w.Newest.Load(); n != 1000 {
		t.Errorf("an older entry than the newest was noted: %d", n)
	}
}

// An interest depends only on kind and namespace; a filter on other fields accepts all
// events.
func TestInterestWants(t *testing.T) {
	t.Parallel()
	insert := harness.Relaxed(`{op: "i", ns: "test.c", o: {_id: 1}}`)
	for filter, want := range map[string]bool{
		"": true, `{operationType: "insert"}`: true, `{operationType: "update"}`: false, `{"ns.db": "test", "ns.coll": {$in: ["c"]}}`: true, `{"ns.coll": "d"}`: false,
	} {
		i := interest(t, filter)
		for range 2 { // the second time from memory
			if got := i.Wants(insert); got != want {
				t.Errorf("%s wants an insert: %v", filter, got)
			}
		}
	}
	i := interest(t, `{operationType: "insert"}`)
	for n := range 2100 { // what is remembered is bounded, and right
		op := value.NewDoc("op", value.String([]string{"i", "d"}[n%2]), "ns", value.String("test."+strings.Repeat("c", n/2)))
		if i.Wants(op) != (n%2 == 0) {
			t.Errorf("wrong about %s", op)
		}
	}
}

// Events that one stream has computed are kept for the others of its group, up to a limit.
func TestSharedEvents(t *testing.T) {
	t.Parallel()
	w := harness.New(t).Svc.Oplog.Join(storage.Namespace{}, interest(t, ""))
	if _, ok := w.Find(oplog.EventKey{TS: 1}); ok {
		t.Error("an event that nobody made")
	}
	event := func(bytes int) oplog.SharedEvent {
		return oplog.SharedEvent{Event: value.NewDoc("a", value.String(strings.Repeat("x", bytes))), Named: token.Token{TS: 1}}
	}
	w.Keep(oplog.EventKey{TS: 1}, event(10))
	w.Keep(oplog.EventKey{TS: 2}, event(oplog.MaxSharedBytes/4))
	if e, ok := w.Find(oplog.EventKey{TS: 1}); !ok || e.Named.TS != 1 || len(e.Event.Lookup("a").Str()) != 10 {
		t.Errorf("found %+v, %v", e, ok)
	}
	for _, k := range []oplog.EventKey{{TS: 2}, {TS: 1, Index: 1}, {TS: 1, Invalidate: true}, {TS: 1, Expanded: true}, {TS: 1, Raw: true}} {
		if _, ok := w.Find(k); ok {
			t.Errorf("%+v is found", k)
		}
	}
	for ts := range uint64(5) {
		w.Keep(oplog.EventKey{TS: 10 + ts}, event(oplog.MaxSharedBytes/4-100))
	}
	if _, ok := w.Find(oplog.EventKey{TS: 1}); ok || w.Bytes > oplog.MaxSharedBytes {
		t.Errorf("%d bytes are kept, the oldest %v", w.Bytes, ok)
	}
	if _, ok := w.Find(oplog.EventKey{TS: 14}); !ok {
		t.Error("the newest is not kept")
	}
}
