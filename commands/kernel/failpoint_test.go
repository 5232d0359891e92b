package kernel_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/value"
)

func TestFailPointFilters(t *testing.T) {
	h := harness.NewTestCommands(t)
	h.OK(`{hello: 1, client: {application: {name: "me"}, driver: {name: "d", version: "1"}, os: {type: "Linux"}}}`)
	tests := []struct {
		data string
		hit  bool
	}{
		{`failCommands: ["find"]`, true},
		{`failCommands: ["insert"]`, false},
		{`failAllCommands: true`, true},
		{`failCommands: ["find"], appName: "me"`, true},
		{`failCommands: ["find"], appName: "you"`, false},
		{`failCommands: ["find"], namespace: "test.c"`, true},
		{`failCommands: ["find"], namespace: "test.d"`, false},
		{`failCommands: ["find"], threadName: "conn1"`, true},
		{`failCommands: ["find"], threadName: "conn2"`, false},
	}
	for _, tt := range tests {
		h.SetFail(`"alwaysOn"`, `{errorCode: 8, `+tt.data+`}`)
		if hit := !h.Run(`{find: "c"}`).Lookup("ok").Truthy(); hit != tt.hit {
			t.Errorf("%s: hit %v", tt.data, hit)
		}
	}
	if n := h.SetFail(`"off"`, `{}`).Lookup("count").Int32(); n != 5 {
		t.Errorf("count %d, want 5", n)
	}
}

func TestFailPointBlocks(t *testing.T) {
	h := harness.NewTestCommands(t)
	h.SetFail(`{times: 1}`, `{failCommands: ["ping"], blockConnection: true, blockTimeMS: 60000}`)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan value.Doc)
	go func() {
		out, _ := harness.Answer(h.Svc, ctx, h.Svc.NewConn("a:1", "b:1"), &kernel.Request{Body: value.MustJSON(`{"ping": 1, "$db": "test"}`)}, nil)
		done <- value.Doc(out)
	}()
	reply := h.Admin(`{waitForFailPoint: "failCommand", timesEntered: 1, maxTimeMS: 60000}`)
	if !reply.Lookup("ok").Truthy() {
		t.Fatalf("answered %s", reply)
	}
	select {
	case <-done:
		t.Fatal("not blocked")
	default:
	}
	cancel()
	if reply := <-done; reply.Lookup("ok").Truthy() {
		t.Errorf("a blocked command whose client left answered %s", reply)
	}
	h.SetFail(`{times: 1}`, `{failCommands: ["ping"], blockConnection: true, blockTimeMS: 1}`)
	began := h.Svc.Real.Now()
	h.OK(`{ping: 1}`)
	if took := h.Svc.Real.Now().Sub(began); took < time.Millisecond {
		t.Errorf("blocked for %v", took)
	}
}

// The time for which a fail point blocks counts towards maxTimeMS: no write happens after
// the client has given up.
func TestFailPointBlocksWithinMaxTime(t *testing.T) {
	h := harness.NewTestCommands(t)
	h.SetFail(`{times: 1}`, `{failCommands: ["insert"], blockConnection: true, blockTimeMS: 60000}`)
	h.Fails(50, `{insert: "c", documents: [{}], maxTimeMS: 1}`)
	if n := h.Count("c"); n != 0 {
		t.Errorf("%d documents were inserted", n)
	}
	h.SetFail(`{times: 1}`, `{failCommands: ["insert"], blockConnection: true, blockTimeMS: 1}`)
	h.OK(`{insert: "c", documents: [{}], maxTimeMS: 60000}`)
}

// The appName of a fail point is compared with the name in the connection's first hello.
func TestFailCommandAppNameOfHello(t *testing.T) {
	h := harness.NewTestCommands(t)
	h.SetFail(`"alwaysOn"`, `{failCommands: ["hello", "isMaster"], appName: "me", errorCode: 91}`)
	const rest = `, driver: {name: "d", version: "1"}, os: {type: "Linux"}}}`
	connect := func() { h.Conn = h.Svc.NewConn("127.0.0.1:1", "127.0.0.1:27017") }
	h.OK(`{hello: 1, client: {application: {name: "you"}` + rest)
	connect()
	h.Fails(91, `{hello: 1, client: {application: {name: "me"}`+rest)
	connect()
	h.OK(`{hello: 1, client: {x: 1` + rest)
}

// A command fails under each of its names, whichever the client used.
func TestFailCommandAliases(t *testing.T) {
	h := harness.NewTestCommands(t)
	for _, name := range []string{"isMaster", "ismaster"} {
		h.SetFail(`"alwaysOn"`, `{failCommands: ["`+name+`"], errorCode: 91}`)
		h.Fails(91, `{isMaster: 1}`)
		h.Fails(91, `{ismaster: 1}`)
	}
}

// A getMore that fails after the checkout of its cursor closes the cursor; the error of a
// change stream has the label that it can be resumed.
func TestFailGetMore(t *testing.T) {
	for name, tt := range map[string]struct {
		open, data string
		code       int32
		label      string
	}{
		"find":          {`{find: "c", batchSize: 1}`, `{errorCode: 6}`, 6, ""},
		"no code":       {`{find: "c", batchSize: 1}`, `{}`, 1, ""},
		"other name":    {`{find: "c", batchSize: 1}`, `{errorCode: 6, namespace: "test.d"}`, 0, ""},
		"change stream": {`{aggregate: "c", pipeline: [{$changeStream: {}}], cursor: {}}`, `{errorCode: 6, closeConnection: false}`, 6, "ResumableChangeStreamError"},
		"not resumable": {`{aggregate: "c", pipeline: [{$changeStream: {}}], cursor: {}}`, `{errorCode: 11601}`, 11601, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := harness.NewTestCommands(t)
			h.OK(`{insert: "c", documents: [{}, {}, {}]}`)
			id := h.OK(tt.open).Lookup("cursor").Doc().Lookup("id").Int64()
			if r := h.Admin(`{configureFailPoint: "failGetMoreAfterCursorCheckout", mode: {times: 1}, data: ` + tt.data + `}`); !r.Lookup("ok").Truthy() {
				t.Fatal(r)
			}
			more := fmt.Sprintf(`{getMore: {$numberLong: "%d"}, collection: "c"}`, id)
			if strings.Contains(tt.open, "$changeStream") {
				more = strings.Replace(more, `"c"`, `"c", maxTimeMS: 1`, 1)
			}
			reply := h.Run(more)
			if reply.Lookup("code").Int32() != tt.code || reply.Lookup("errorLabels").Doc().Index(0).Str() != tt.label {
				t.Errorf("answered %s", reply)
			}
			if tt.code != 0 {
				h.Fails(43, more)
			}
		})
	}
}

// onPrimaryTransactionalWrite: the server closes the connection after a retryable write,
// which stays unless a code is given. Other writes do not count.
func TestFailRetryableWrite(t *testing.T) {
	for name, tt := range map[string]struct {
		data string
		code int32
		drop bool
		kept bool
	}{
		"committed":       {`{}`, 0, true, true},
		"not committed":   {`{failBeforeCommitExceptionCode: 1}`, 1, true, false},
		"not closed":      {`{failBeforeCommitExceptionCode: 1, closeConnection: false}`, 1, false, false},
		"without effect":  {`{closeConnection: false}`, 0, false, true},
		"closed, as said": {`{closeConnection: true}`, 0, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			h := harness.NewTestCommands(t)
			h.OK(`{insert: "c", documents: [{_id: 1, n: 0}]}`)
			if r := h.Admin(`{configureFailPoint: "onPrimaryTransactionalWrite", mode: {times: 1}, data: ` + tt.data + `}`); !r.Lookup("ok").Truthy() {
				t.Fatal(r)
			}
			h.OK(`{update: "c", updates: [{q: {_id: 1}, u: {$set: {other: 1}}}]}`)
			h.OK(harness.RetryArgs(`{"update": "c", "updates": [{"q": {"_id": 2}, "u": {"$inc": {"n": 1}}}]}`, 1)) // writes nothing
			command := value.MustJSON(harness.RetryArgs(`{"findAndModify": "c", "query": {"_id": 1}, "update": {"$inc": {"n": 1}}, "$db": "test"}`, 2))
			out, r := harness.Answer(h.Svc, context.Background(), h.Conn, &kernel.Request{Body: command}, nil)
			if code := value.Doc(out).Lookup("code").Int32(); code != tt.code || r.Drop != tt.drop {
				t.Errorf("answered %s, drop %v", value.Doc(out), r.Drop)
			}
			if n := harness.Docs(h.OK(`{find: "c"}`))[0].Lookup("n").Int32(); (n == 1) != tt.kept {
				t.Errorf("n is %d", n)
			}
			harness.Answer(h.Svc, context.Background(), h.Conn, &kernel.Request{Body: command}, nil) // the retry
			if n := harness.Docs(h.OK(`{find: "c"}`))[0].Lookup("n").Int32(); n != 1 {
				t.Errorf("after the retry n is %d", n)
			}
		})
	}
}
