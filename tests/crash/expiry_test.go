package crash

import (
	"testing"
	"time"

	"github.com/duskdb/duskdb/value"
)

// expiryWorker inserts documents with dates and changes when they expire.
type expiryWorker struct {
	seconds int64 // expireAfterSeconds, as acknowledged
	pending int64 // asked for, and not answered before the crash
	docs    int64 // inserted: _id is the number, the date is as many hours from the first
	asked   int64
	acks    int
}

// expiryStart is the first date.
var expiryStart = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()

const hourMillis = 3_600_000

// work inserts and changes documents until the server is killed.
func (e *expiryWorker) work(addr string) {
	c, err := dial(addr)
	if err != nil {
		return
	}
	defer c.Close()
	for {
		e.asked = e.docs + 1
		d := value.NewDoc("_id", value.Int64(e.docs), "at", value.DateTime(expiryStart+e.docs*hourMillis))
		if _, err := c.run("insert", value.String("e"), "documents", value.NewArray(value.Document(d))); err != nil {
			return
		}
		e.docs++
		e.pending = e.seconds + 1
		index := value.NewDoc("name", value.String("at"), "expireAfterSeconds", value.Int64(e.pending))
		if _, err := c.run("collMod", value.String("e"), "index", value.Document(index)); err != nil {
			return
		}
		e.seconds = e.pending
		e.acks++
	}
}

// check compares the policy and the documents with what was acknowledged.
func (e *expiryWorker) check(tb testing.TB, c *client) {
	tb.Helper()
	reply := c.must(tb, "listIndexes", value.String("e"))
	var got int64
	for v := range reply.Lookup("cursor").Doc().Lookup("firstBatch").Doc().Values() {
		if v.Doc().Lookup("name").Str() == "at" {
			got = v.Doc().Lookup("expireAfterSeconds").SafeInt64()
		}
	}
	if got != e.seconds && got != e.pending {
		tb.Errorf("expireAfterSeconds is %d, want %d or %d", got, e.seconds, e.pending)
	}
	e.seconds = got
	n := c.must(tb, "count", value.String("e")).Lookup("n").SafeInt64()
	if n != e.docs && n != e.asked {
		tb.Errorf("%d documents that expire, want %d or %d", n, e.docs, e.asked)
	}
	e.docs = n
}

// expire moves the clock so that half of the documents are due, and checks that exactly
// these are removed.
func (e *expiryWorker) expire(tb testing.TB, c *client) {
	tb.Helper()
	if e.docs < 2 {
		return
	}
	due := e.docs / 2
	at := expiryStart + (due-1)*hourMillis + e.seconds*1000 + 1
	c.must(tb, "testClock", value.Int32(1), "set", value.DateTime(at), "$db", value.String("admin"))
	docs := c.all(tb, "e")
	if int64(len(docs)) != e.docs-due || docs[0].Lookup("_id").Int64() != due {
		tb.Errorf("%d of %d documents are left, the first is %s; %d were due", len(docs), e.docs, docs[0], due)
	}
}
