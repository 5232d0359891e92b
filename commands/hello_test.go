package commands_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/value"
)

// version is a topologyVersion of the server of a harness.
func version(h *harness.Harness, counter int64) string {
	return fmt.Sprintf(`{processId: {$oid: "%s"}, counter: {$numberLong: "%d"}}`, h.Svc.ProcessID.Hex(), counter)
}

// The rules of mongod's awaitable hello, with their codes.
func TestAwaitableHello(t *testing.T) {
	t.Parallel()
	h := harness.New(t).LoneServer("the codes of a mongod; see TestClusterHello").AsMember()
	const stranger = `{processId: {$oid: "000000000000000000000000"}, counter: {$numberLong: "99"}}`
	now := h.Admin(`{hello: 1}`).Lookup("topologyVersion").Doc().Lookup("counter").Int64()
	h.Refuses([]harness.Refusal{
		{DB: "admin", Command: `{hello: 1, topologyVersion: ` + version(h, now) + `}`, Code: 31368, Text: "A request with a 'topologyVersion' must include 'maxAwaitTimeMS'"},
		{DB: "admin", Command: `{hello: 1, maxAwaitTimeMS: 1}`, Code: 31368, Text: "A request with 'maxAwaitTimeMS' must include a 'topologyVersion'"},
		{DB: "admin", Command: `{hello: 1, maxAwaitTimeMS: 1, topologyVersion: ` + version(h, -1) + `}`, Code: 31372, Text: "topologyVersion must have a non-negative counter"},
		{
			DB: "admin", Command: `{hello: 1, maxAwaitTimeMS: 1, topologyVersion: ` + version(h, now+1) + `}`, Code: 31382,
			Text: fmt.Sprintf("Received a topology version with counter: %d which is greater than the server topology version counter: %d", now+1, now),
		},
		{DB: "admin", Command: `{hello: 1, maxAwaitTimeMS: -1, topologyVersion: ` + version(h, now) + `}`, Code: 2, Text: "BSON field 'maxAwaitTimeMS' value must be >= 0, actual value '-1'"},
		{DB: "admin", Command: `{hello: 1, maxAwaitTimeMS: 60000, topologyVersion: ` + stranger + `}`}, // it changed, so there is nothing to wait for
		{DB: "admin", Command: `{hello: 1, maxAwaitTimeMS: 1, topologyVersion: ` + version(h, now) + `}`},
	})
	changed := make(chan value.Doc)
	go func() { changed <- h.HelloAfter(now) }()
	step := &harness.Harness{TB: t, Svc: h.Svc, Clock: h.Clock, Conn: h.Svc.NewConn("127.0.0.1:2", "127.0.0.1:27017")}
	if r := step.Admin(`{replSetStepDown: 1, force: true}`); !r.Lookup("ok").Truthy() {
		t.Fatalf("answered %s", r)
	}
	if r := <-changed; r.Lookup("isWritablePrimary").Truthy() || r.Lookup("topologyVersion").Doc().Lookup("counter").Int64() <= now {
		t.Errorf("after stepping down the reply is %s", r)
	}
}

// A hello with exhaust has one reply after another, each for the version after the one
// in the previous reply.
func TestExhaustHello(t *testing.T) {
	t.Parallel()
	h := harness.New(t).AsMember()
	refused := map[bool]int32{false: 51756, true: 51763}[h.Svc.InCluster()]
	ask := func(ctx context.Context, body string) (value.Doc, kernel.Response) {
		out, response := harness.Answer(h.Svc, ctx, h.Conn, &kernel.Request{Body: harness.Relaxed(body), Exhaust: true}, nil)
		return value.Doc(out), response
	}
	r, _ := ask(t.Context(), `{isMaster: 1, $db: "admin"}`)
	if r.Lookup("code").Int32() != refused {
		t.Errorf("without maxAwaitTimeMS: %s", r)
	}
	const old = `{isMaster: 1, topologyVersion: {processId: {$oid: "000000000000000000000000"}, counter: {$numberLong: "1"}}, maxAwaitTimeMS: 60000, $db: "admin"}`
	r, response := ask(t.Context(), old)
	if !r.Lookup("ismaster").Truthy() || !value.Equal(response.Next.Lookup("topologyVersion"), r.Lookup("topologyVersion")) || response.Next.Lookup("maxAwaitTimeMS").Int32() != 60000 {
		t.Errorf("answered %s, then %s", r, response.Next)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, response = ask(ctx, response.Next.JSON()); r.Lookup("code").Int32() != 11601 || response.Next != nil {
		t.Errorf("a client that is gone is answered %s, then %s", r, response.Next)
	}
}

// The compressors are those that client and server support, in the client's order
// (the handshake of OP_COMPRESSED).
func TestCompressors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		allowed       []string
		offered, want string
	}{
		{nil, `["zstd", "lz4", "snappy"]`, `[ "zstd", "snappy" ]`},
		{[]string{"snappy"}, `["zstd", "snappy"]`, `[ "snappy" ]`},
		{[]string{}, `["zstd", "snappy"]`, ""},
		{nil, `["lz4"]`, ""},
		{nil, `[]`, ""},
	} {
		h := harness.NewWith(t, kernel.Options{Compressors: tt.allowed})
		r := h.Admin(`{hello: 1, compression: ` + tt.offered + `}`)
		if got := r.Lookup("compression"); tt.want == "" && !got.IsMissing() || tt.want != "" && got.String() != tt.want {
			t.Errorf("%v of %s: %s, want %s", tt.allowed, tt.offered, got, tt.want)
		}
	}
}
