package crash

import (
	"testing"
	"time"

	"github.com/duskdb/duskdb/internal/proc"
	"github.com/duskdb/duskdb/value"
)

// dataInMemory skips a test of what only an engine with its data in memory has.
func dataInMemory(tb testing.TB) {
	tb.Helper()
	if engine != "bunt" {
		tb.Skip("the storage engine " + engine + " keeps its data on disk")
	}
}

// TestMemoryLimit fills a small server until it refuses writes. Reads and deletes still
// work, and after the deletes inserts work again.
func TestMemoryLimit(t *testing.T) {
	dataInMemory(t)
	const limit = 100 << 20
	p := start(t, t.TempDir(), "--memoryLimit", "100MB")
	c, err := dial(p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	insert := func(from int64) (value.Doc, error) {
		var docs []value.Value
		for i := range int64(500) {
			docs = append(docs, value.Document(value.NewDoc("_id", value.Int64(from+i), "pad", value.Binary(0, make([]byte, 1000)))))
		}
		return c.run("insert", value.String("c"), "documents", value.NewArray(docs...))
	}
	n := int64(0)
	for ; n < 2*limit/1000; n += 500 {
		reply, err := insert(n)
		if err == nil {
			continue
		}
		if code := reply.Lookup("writeErrors").Doc().Index(0).Doc().Lookup("code").Int32(); code != 146 {
			t.Fatalf("refused for another reason: %v", err)
		}
		break
	}
	if n*1000 < limit/5 || n*1000 > limit {
		t.Errorf("refused after %d KB", n)
	}
	t.Logf("refused after %d KB of documents", n)
	count := c.must(t, "count", value.String("c")).Lookup("n").SafeInt64()
	all := value.Document(value.NewDoc("q", value.Document(value.EmptyDoc), "limit", value.Int32(0)))
	if got := c.must(t, "delete", value.String("c"), "deletes", value.NewArray(all)).Lookup("n").SafeInt64(); got != count {
		t.Errorf("%d of %d deleted", got, count)
	}
	// A compaction that runs keeps what it copies until its file is synced,
	// which takes long where the disk is busy.
	for deadline := time.Now().Add(2 * time.Minute); ; proc.Pause(50 * time.Millisecond) {
		_, err := insert(0)
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("no inserts after everything was deleted: %v\n%s\n%s", err, c.must(t, "serverStatus", value.Int32(1)), p.Stderr.String())
		}
	}
}

// TestExpiryAtTheMemoryLimit fills a small server with documents that expire, documents
// that are moved when they expire, and messages, until it refuses writes. A pass removes and
// moves all of them nevertheless, and there is room afterwards. What was moved survives a
// crash.
func TestExpiryAtTheMemoryLimit(t *testing.T) {
	dataInMemory(t)
	const began = 1767225600000
	dir := t.TempDir()
	flags := []string{"--memoryLimit", "64MB", "--setParameter", "testClockStart=2026-01-01T00:00:00.000Z", "--setParameter", "ttlMonitorSleepSecs=86400"}
	p := start(t, dir, flags...)
	c := connect(t, p)
	c.must(t, "create", value.String("moving"), "onExpire", doc(`{"deadLetterTo": "dead"}`))
	for _, coll := range []string{"plain", "moving"} {
		c.must(t, "createIndexes", value.String(coll), "indexes", value.NewArray(doc(`{"key": {"at": 1}, "name": "at_1", "expireAfterSeconds": 3600}`)))
	}
	c.must(t, "create", value.String("q"), "messageQueue", doc(`{"defaultMessageTimeToLive": 3600, "deadLetteringOnMessageExpiration": true}`))
	pad := value.Binary(0, make([]byte, 1000))
	expiring := func(coll string) (value.Doc, error) {
		var docs []value.Value
		for range 100 {
			docs = append(docs, value.Document(value.NewDoc("at", value.DateTime(began), "pad", pad)))
		}
		return c.run("insert", value.String(coll), "documents", value.NewArray(docs...))
	}
	send := func() error {
		var messages []value.Value
		for range 100 {
			messages = append(messages, value.Document(value.NewDoc("body", pad)))
		}
		_, err := c.run("mqSend", value.String("q"), "messages", value.NewArray(messages...))
		return err
	}
	for range 60 { // 6,000 of each have a quarter of the memory
		if _, err := expiring("moving"); err != nil {
			t.Fatal(err)
		}
		if err := send(); err != nil {
			t.Fatal(err)
		}
	}
	const each = 6000
	for refused := 0; refused < 5; {
		reply, err := expiring("plain")
		if err == nil {
			continue
		}
		if code := reply.Lookup("writeErrors").Doc().Index(0).Doc().Lookup("code").Int32(); code != 146 {
			t.Fatalf("refused for another reason: %v", err)
		}
		refused++
	}
	plain := c.must(t, "count", value.String("plain")).Lookup("n").SafeInt64()
	c.must(t, "testClock", value.Int32(1), "advanceSeconds", value.Int32(7200), "runDuePasses", value.Bool(false), "$db", value.String("admin"))
	deleted := c.must(t, "runExpirationPass", value.Int32(1), "$db", value.String("admin")).Lookup("deleted").Doc()
	if gone, letters := deleted.Lookup("ttl").SafeInt64(), deleted.Lookup("messagesDeadLettered").SafeInt64(); gone != plain+each || letters != each {
		t.Errorf("the pass removed %d documents and moved %d messages, want %d and %d", gone, letters, plain+each, each)
	}
	check := func(when string) {
		t.Helper()
		for coll, want := range map[string]int64{"plain": 0, "moving": 0, "dead": each, "q.deadletterqueue": each} {
			if n := c.must(t, "count", value.String(coll)).Lookup("n").SafeInt64(); n != want {
				t.Errorf("%s: %s has %d documents, want %d", when, coll, n, want)
			}
		}
	}
	check("after the pass")
	for deadline := time.Now().Add(2 * time.Minute); ; proc.Pause(50 * time.Millisecond) {
		_, err := expiring("later")
		if err == nil {
			err = send()
		}
		if err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("no room after everything has expired: %v\n%s", err, p.Stderr.String())
		}
	}
	c.must(t, "fsync", value.Int32(1), "$db", value.String("admin"))
	p.Kill()
	p = start(t, dir, flags...)
	c = connect(t, p)
	check("after a crash")
}
