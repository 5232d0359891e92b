package transaction_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/clustertime"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/transaction"
	"github.com/duskdb/duskdb/value"
)

// ts is a timestamp so many seconds after the clock of a new harness, in extended JSON.
func ts(seconds int64) string {
	return fmt.Sprintf(`{"$timestamp": {"t": %d, "i": 1}}`, harness.TestStart.Unix()+seconds)
}

const year = 365 * 24 * 3600

// The cluster time advances to the time that clients send, but by at most a year, and
// never goes back.
func TestClusterTimeOfClients(t *testing.T) {
	h := harness.New(t).AsMember()
	seconds := func() int64 { return int64(h.Svc.Stamps.Current()>>32) - harness.TestStart.Unix() }
	h.Refuses([]harness.Refusal{
		{DB: "test", Command: `{find: "c", $clusterTime: {signature: {}}}`, Code: 4, Text: `Missing expected field "clusterTime"`},
		{DB: "test", Command: `{find: "c", $clusterTime: {clusterTime: 1}}`, Code: 14, Text: `"clusterTime" had the wrong type. Expected timestamp, found int`},
		{DB: "test", Command: `{find: "c", $clusterTime: {clusterTime: ` + ts(year+100) + `}}`, Code: 205},
		{DB: "test", Command: `{find: "c", readConcern: {afterClusterTime: ` + ts(year+100) + `}}`, Code: 205},
		{DB: "test", Command: `{find: "c", readConcern: {afterClusterTime: {"$timestamp": {"t": 0, "i": 0}}}}`, Code: 72, Text: "afterClusterTime cannot be a null timestamp"},
	})
	if seconds() > 60 {
		t.Errorf("what was refused has moved the time by %d s", seconds())
	}
	for _, step := range []struct {
		command string
		want    int64
	}{
		{`{find: "c", $clusterTime: {clusterTime: ` + ts(500) + `}}`, 500},
		{`{find: "c", $clusterTime: {clusterTime: ` + ts(100) + `}}`, 500},
		{`{find: "c", readConcern: {afterClusterTime: ` + ts(600) + `}}`, 600},
		{`{find: "c", readConcern: {afterClusterTime: ` + ts(10) + `}}`, 600},
	} {
		h.OK(step.command)
		if got := seconds(); got != step.want {
			t.Errorf("%s: the time is %d s ahead, want %d", step.command, got, step.want)
		}
	}
	if next := clustertime.Of(transaction.NextTimestamp(h.Svc, h.Clock.NowMillis())); int64(next>>32)-harness.TestStart.Unix() < 600 {
		t.Errorf("the next timestamp is %d", next)
	}
}

// With access control only users with the privilege advance the time; a standalone server
// ignores it.
func TestWhoMovesTheClusterTime(t *testing.T) {
	h := harness.NewAuth(t)
	h.AsMember()
	h.User("ann", "read@test")
	h.User("root", "root@admin")
	h.User("system", "__system@admin")
	before := h.Svc.Stamps.Current()
	command := `{find: "c", $clusterTime: {clusterTime: ` + ts(500) + `}}`
	if r := h.As("ann", "test", command); !r.Lookup("ok").Truthy() || h.Svc.Stamps.Current()>>32 > before>>32+60 {
		t.Errorf("ann moved the time: %s", r)
	}
	if r := h.As("system", "test", command); !r.Lookup("ok").Truthy() || h.Svc.Stamps.Current()>>32 != uint64(harness.TestStart.Unix()+500) {
		t.Errorf("who may did not move the time: %s", r)
	}
	alone := harness.New(t).LoneServer("a time that it ignores")
	alone.OK(`{find: "c", $clusterTime: {clusterTime: ` + ts(500) + `}}`)
	if got := alone.Svc.Stamps.Current() >> 32; got > uint64(harness.TestStart.Unix()+60) {
		t.Errorf("a standalone followed: %d", got)
	}
}

// Read concern snapshot: reads at a time return the state at that time, for the commands
// that support it, until the time is too old.
func TestSnapshotReads(t *testing.T) {
	harness.SkipHostile(t, "a conflict waits for the clock of the test")
	h := harness.New(t).AsMember()
	real := clock.NewManual(harness.TestStart)
	h.Svc.Real = real
	h.OK(`{insert: "c", documents: [{_id: 1}, {_id: 2}]}`)
	first := h.OK(`{find: "c", batchSize: 1, readConcern: {level: "snapshot"}}`).Lookup("cursor").Doc()
	at := harness.JSONOf(first.Lookup("atClusterTime"))
	h.OK(`{insert: "c", documents: [{_id: 3}]}`)
	h.OK(`{delete: "c", deletes: [{q: {_id: 2}, limit: 1}]}`)
	more := h.OK(fmt.Sprintf(`{getMore: {$numberLong: "%d"}, collection: "c"}`, first.Lookup("id").Int64())).Lookup("cursor").Doc()
	if got := more.Lookup("nextBatch").String(); got != `[ { _id: 2 } ]` || harness.JSONOf(more.Lookup("atClusterTime")) != at {
		t.Errorf("the cursor went on with %s", more)
	}
	then := `readConcern: {level: "snapshot", atClusterTime: ` + at + `}`
	h.Finds(`{find: "c", sort: {_id: 1}, `+then+`}`, `[{"_id": 1}, {"_id": 2}]`)
	h.Finds(`{aggregate: "c", pipeline: [{$sort: {_id: 1}}], cursor: {}, `+then+`}`, `[{"_id": 1}, {"_id": 2}]`)
	if got := h.OK(`{distinct: "c", key: "_id", ` + then + `}`).Lookup("values").String(); got != `[ 1, 2 ]` {
		t.Errorf("distinct found %s", got)
	}
	h.Finds(`{find: "c", sort: {_id: 1}, readConcern: {level: "snapshot"}}`, `[{"_id": 1}, {"_id": 3}]`)
	h.Refuses([]harness.Refusal{
		{DB: "test", Command: `{count: "c", readConcern: {level: "snapshot"}}`, Code: 72},
		{DB: "test", Command: `{find: "c", readConcern: {level: "snapshot", atClusterTime: ` + ts(1000) + `}}`, Code: 72, Text: "readConcern atClusterTime value must not be greater than the current clusterTime. *"},
		{DB: "test", Command: `{find: "c", readConcern: {level: "snapshot", atClusterTime: ` + ts(-1000) + `}}`, Code: 239},
	})
	// An engine of several servers does not wait for the end of a state: until then it can be
	// had once more.
	late := func() value.Doc {
		if err := real.Advance(time.Hour); err != nil { // minSnapshotHistoryWindowInSeconds is 300
			t.Fatal(err)
		}
		return h.Run(`{find: "c", ` + then + `}`)
	}
	reply := late()
	for end := time.Now().Add(30 * time.Second); h.Svc.Shared && reply.Lookup("ok").Truthy() && time.Now().Before(end); {
		reply = late()
	}
	if reply.Lookup("code").Int32() != 239 {
		t.Errorf("a state that is too old: %s", reply)
	}
}

// The part of currentOp about a transaction, and the end of one that is open for longer
// than transactionLifetimeLimitSeconds.
func TestOpenTransactions(t *testing.T) {
	h := harness.New(t)
	real := clock.NewManual(harness.TestStart)
	h.Svc.Real = real
	h.OK(`{create: "c"}`)
	h.OK(harness.InTxnArgs(`{"insert": "c", "documents": [{"_id": 1}], "readConcern": {"level": "majority"}}`, 7, true))
	if err := real.Advance(2 * time.Second); err != nil {
		t.Fatal(err)
	}
	shown := ""
	for v := range h.Admin(`{currentOp: 1}`).Lookup("inprog").Doc().Values() {
		if d := v.Doc().Lookup("transaction"); !d.IsMissing() {
			shown = d.String()
		}
	}
	if want := `{ parameters: { txnNumber: 7, autocommit: false, readConcern: { level: "majority" } }, startWallClockTime: "2026-01-01T00:00:00.000+00:00", timeOpenMicros: 2000000, expiryTime: "2026-01-01T00:01:00.000+00:00" }`; shown != want {
		t.Errorf("currentOp shows %s, want %s", shown, want)
	}
	ss := h.Svc.Sessions.List()[0]
	if !ss.TryCheckOut() {
		t.Fatal("the session is busy")
	}
	transaction.Reap(h.Svc, harness.TestStart.Add(59*time.Second))
	transaction.Reap(h.Svc, harness.TestStart.Add(60*time.Second)) // a statement runs
	if !ss.InTransaction() {
		t.Error("the transaction ended under a statement")
	}
	ss.CheckIn()
	for ss.InTransaction() { // as soon as its session is free
		runtime.Gosched()
	}
	if r := h.EndTxn("commitTransaction", 7); r.Lookup("code").Int32() != 251 {
		t.Errorf("the commit answered %s", r)
	}
	if n := h.Count("c"); n != 0 {
		t.Errorf("%d documents are left", n)
	}
}

// The sessions that a client may use.
func TestSessionIDs(t *testing.T) {
	h := harness.NewAuth(t)
	h.User("ann", "read@test")
	h.User("root", "root@admin")
	const id = `id: {"$uuid": "00000000-0000-4000-8000-000000000001"}`
	digest := func(subtype string, size int) string {
		return harness.JSONOf(value.Binary(map[string]byte{"00": 0, "04": 4}[subtype], make([]byte, size)))
	}
	for _, tt := range []struct {
		user, lsid string
		code       int32
		text       string
	}{
		{"ann", `{` + id + `}`, 0, ""},
		{"ann", `{}`, 40414, "BSON field 'OperationSessionInfo.lsid.id' is missing but a required field"},
		{"ann", `{id: 1}`, 14, "BSON field 'OperationSessionInfo.lsid.id' is the wrong type 'int', expected type 'binData'"},
		{"ann", `{id: {"$binary": {"base64": "AAAA", "subType": "00"}}}`, 14, "BSON field 'OperationSessionInfo.lsid.id' is the wrong binData type 'general', expected type 'UUID'"},
		{"ann", `{` + id + `, odd: 1}`, 40415, "BSON field 'OperationSessionInfo.lsid.odd' is an unknown field."},
		{"ann", `{` + id + `, uid: ` + digest("00", 32) + `}`, 13, "Unauthorized to set user digest in LogicalSessionId"},
		{"ann", `{` + id + `, txnNumber: {$numberLong: "1"}}`, 72, "Cannot specify txnNumber in lsid without specifying txnUUID"},
	} {
		r := h.As(tt.user, "test", `{find: "c", lsid: `+tt.lsid+`}`)
		if r.Lookup("code").Int32() != tt.code || r.Lookup("errmsg").Str() != tt.text {
			t.Errorf("%s: %s answered %s", tt.user, tt.lsid, r)
		}
	}
	// Sessions end by their user.
	h.MustOn("admin", `{"killAllSessions": [{"user": "nobody", "db": "admin"}]}`)
	if n := len(h.Svc.Sessions.List()); n != 1 {
		t.Errorf("%d sessions", n)
	}
}

// The commands that end a transaction have no other arguments and need a transaction.
func TestEndsOfNoTransaction(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "c"}`)
	h.Refuses([]harness.Refusal{
		{DB: "admin", Command: `{commitTransaction: 1}`, Code: 125, Text: "commitTransaction must be run within a transaction"},
		{DB: "admin", Command: `{abortTransaction: 1}`, Code: 125, Text: "abortTransaction must be run within a transaction"},
		{DB: "admin", Command: `{commitTransaction: 1, odd: 1}`, Code: 40415, Text: "BSON field 'commitTransaction.odd' is an unknown field."},
		{DB: "admin", Command: `{abortTransaction: 1, odd: 1}`, Code: 40415, Text: "BSON field 'abortTransaction.odd' is an unknown field."},
		{DB: "test", Command: `{commitTransaction: 1}`, Code: 13},
	})
	for n, level := range []string{"majority", "snapshot"} {
		r := h.Run(harness.InTxnArgs(`{"create": "d", "readConcern": {"level": "`+level+`"}}`, n+1, true))
		if r.Lookup("code").Int32() != 72 {
			t.Errorf("create under %s answered %s", level, r)
		}
	}
}
