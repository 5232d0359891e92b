package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/duskdb/duskdb/server"
	"github.com/duskdb/duskdb/value"
)

// onDisk starts a server over an engine and a directory.
func onDisk(t *testing.T, engine, dir string) *server.Server {
	t.Helper()
	return serving(t, server.Config{DBPath: dir, StorageEngine: engine, MemoryLimit: "none"})
}

// stored counts the documents of a collection of the database app.
func stored(t *testing.T, srv *server.Server, coll string) int64 {
	t.Helper()
	return mustRun(t, connect(t, srv.URI()), value.NewDoc("count", value.String(coll), "$db", value.String("app"))).Lookup("n").Int64()
}

// A dump of mongodump is imported by the command; the exit code says whether all of it was.
func TestImportDump(t *testing.T) {
	archive := filepath.Join("..", "..", "internal", "transfer", "testdata", "mongodump.archive.gz")
	srv := onDisk(t, "bunt", t.TempDir())
	if code := run([]string{"import", "--uri", srv.URI(), "--archive", archive, "--quiet"}); code != 0 {
		t.Errorf("the archive: exit code %d", code)
	}
	for coll, want := range map[string]int64{"w": 3, "plain": 2, "jobs": 3, "jobs.deadletterqueue": 1, "view": 2, "without meta": 1} {
		if got := stored(t, srv, coll); got != want {
			t.Errorf("%s has %d documents, want %d", coll, got, want)
		}
	}
	dir := t.TempDir()
	write := func(name string, docs ...value.Doc) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var b []byte
		for _, d := range docs {
			b = append(b, d...)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	one := value.NewDoc("_id", value.Int32(7))
	write("dump/app/c.bson", one)
	write("dump/app/system.buckets.x.bson", one)
	write("whole/app/c.bson", one)
	write("a+b.c%25.bson", one)
	write("system.buckets.w.bson", one)
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, s := range []struct {
		args []string
		code int
	}{
		{[]string{"--dump", in("whole")}, 0},
		{[]string{"--dump", in("whole")}, 1}, // the document is there
		{[]string{"--dump", in("whole"), "--drop", "--noIndexRestore", "--noOptionsRestore", "--convertLegacyIndexes", "--bypassDocumentValidation", "--stopOnError"}, 0},
		{[]string{"--dump", in("whole"), "--db", "none"}, 1},
		{[]string{"--dump", in("dump"), "--drop"}, 1}, // buckets without options
		{[]string{"--dump", in("whole"), "--drop", "--type", "csv"}, 2},
		{[]string{"--dump", in("whole"), "--drop", "--headerline"}, 2},
		{[]string{"--dump", in("whole"), "--drop", "--restoreDbUsersAndRoles"}, 2},
		{[]string{"--dump", in("whole"), "--drop", "--restoreDbUsersAndRoles", "--db", "app"}, 0},
		{[]string{"--noIndexRestore", in("a+b.c%25.bson")}, 2},
		{[]string{"--db", "app", in("a+b.c%25.bson")}, 0},
		{[]string{"--db", "app", in("system.buckets.w.bson")}, 2},
	} {
		if code := run(append([]string{"import", "--uri", srv.URI(), "--quiet"}, s.args...)); code != s.code {
			t.Errorf("%v: exit code %d, want %d", s.args, code, s.code)
		}
	}
	if got := stored(t, srv, "a b.c%"); got != 1 {
		t.Errorf("a file with an escaped name: %d documents", got)
	}
	if n := stored(t, srv, "system.buckets.x"); n != 0 {
		t.Errorf("%d buckets lie in a collection of their own", n)
	}
}

// A queue keeps all of its state in backups and copies: locks with their tokens, deliveries,
// numbers, schedules and dead letters; held sessions and their states, the ids of messages,
// and which subscriptions a topic has.
func TestQueuesInBackupsAndCopies(t *testing.T) {
	dir := t.TempDir()
	srv := onDisk(t, "bunt", filepath.Join(dir, "data"))
	c := connect(t, srv.URI())
	ask := func(text string) value.Doc { t.Helper(); return mustRun(t, c, value.MustJSON(text)) }
	ask(`{"create": "q", "messageQueue": {"lockDuration": "PT5M", "maxDeliveryCount": 5}, "$db": "app"}`)
	ask(`{"mqSend": "q", "messages": [{"_id": 1}, {"_id": 2}, {"_id": 3}, {"_id": 4, "_mq": {"scheduledEnqueueTimeUtc": {"$date": "2999-01-01T00:00:00Z"}}}, {"_id": 5}], "$db": "app"}`)
	var tokens []value.Value
	for v := range ask(`{"mqReceive": "q", "maxMessages": 4, "$db": "app"}`).Lookup("messages").Doc().Values() {
		tokens = append(tokens, v.Doc().Lookup("_mq").Doc().Lookup("lockToken"))
	}
	settle := func(name string, token value.Value) {
		mustRun(t, c, value.NewDoc(name, value.String("q"), "lockToken", token, "$db", value.String("app")))
	}
	settle("mqDeadLetter", tokens[0])
	settle("mqDefer", tokens[1])
	settle("mqComplete", tokens[3]) // the highest number is gone
	ask(`{"create": "t", "messageTopic": {"requiresDuplicateDetection": true, "duplicateDetectionHistoryTimeWindow": "P7D"}, "$db": "app"}`)
	ask(`{"create": "s", "messageSubscription": {"topic": "t", "requiresSession": true, "lockDuration": "PT5M"}, "$db": "app"}`)
	ask(`{"mqSend": "t", "messages": [{"_id": 1, "_mq": {"sessionId": "x", "messageId": "m"}}], "$db": "app"}`)
	session := ask(`{"mqAcceptSession": "s", "$db": "app"}`).Lookup("session").Doc().Lookup("sessionToken")
	mustRun(t, c, value.NewDoc("mqSetSessionState", value.String("s"), "sessionToken", session, "state", value.Int32(7), "$db", value.String("app")))
	want := ask(`{"find": "q", "$db": "app"}`).Lookup("cursor").Doc().Lookup("firstBatch").String()
	dead := ask(`{"find": "q.deadletterqueue", "$db": "app"}`).Lookup("cursor").Doc().Lookup("firstBatch").String()
	backup := filepath.Join(dir, "backup")
	if code := run([]string{"backup", "--uri", srv.URI(), "--out", backup}); code != 0 {
		t.Fatalf("backup: exit code %d", code)
	}
	if code := run([]string{"restore", backup, "--dbpath", filepath.Join(dir, "restored")}); code != 0 {
		t.Fatalf("restore: exit code %d", code)
	}
	for _, engine := range []string{"bunt", "pebble"} {
		if code := run([]string{"copy", "bunt:" + backup, engine + ":" + filepath.Join(dir, engine), "--quiet"}); code != 0 {
			t.Fatalf("copy to %s: exit code %d", engine, code)
		}
	}
	for place, engine := range map[string]string{"restored": "bunt", "bunt": "bunt", "pebble": "pebble"} {
		c = connect(t, onDisk(t, engine, filepath.Join(dir, place)).URI())
		if got := ask(`{"find": "q", "$db": "app"}`).Lookup("cursor").Doc().Lookup("firstBatch").String(); got != want {
			t.Errorf("%s: messages\n%s\nwant\n%s", place, got, want)
		}
		if got := ask(`{"find": "q.deadletterqueue", "$db": "app"}`).Lookup("cursor").Doc().Lookup("firstBatch").String(); got != dead {
			t.Errorf("%s: dead letters\n%s\nwant\n%s", place, got, dead)
		}
		if got := ask(`{"mqStats": "q", "$db": "app"}`); got.Lookup("locked").SafeInt64() != 1 || got.Lookup("deferred").SafeInt64() != 1 || got.Lookup("scheduled").SafeInt64() != 1 || got.Lookup("deadLettered").SafeInt64() != 1 {
			t.Errorf("%s: %s", place, got)
		}
		settle("mqComplete", tokens[2]) // the lock holds
		if got := ask(`{"mqSend": "t", "messages": [{"_mq": {"sessionId": "x", "messageId": "m"}}, {"_id": 2, "_mq": {"sessionId": "x"}}], "$db": "app"}`).Lookup("sequenceNumbers").String(); got != "[ 0, 2 ]" {
			t.Errorf("%s: numbers of a duplicate and another message: %s", place, got)
		}
		if got := mustRun(t, c, value.NewDoc("mqGetSessionState", value.String("s"), "sessionToken", session, "$db", value.String("app"))).Lookup("state").SafeInt64(); got != 7 {
			t.Errorf("%s: the state of the session is %d", place, got)
		}
		if got := mustRun(t, c, value.NewDoc("mqReceive", value.String("s"), "sessionToken", session, "maxMessages", value.Int32(10), "$db", value.String("app"))).Lookup("messages").Doc().Len(); got != 2 {
			t.Errorf("%s: %d messages in the session", place, got)
		}
		if got := ask(`{"mqSend": "q", "messages": [{}], "$db": "app"}`).Lookup("sequenceNumbers").Doc().Index(0).Int64(); got != 6 {
			t.Errorf("%s: the next number is %d", place, got)
		}
	}
}
