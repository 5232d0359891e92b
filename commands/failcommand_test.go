package commands_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/value"
)

// The effects of failCommand (mongod's fail point of that name, and the drivers'
// "Transactions tests: failCommand").
func TestFailCommand(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, data, reply string
		written           bool
	}{
		{"error", `{failCommands: ["insert"], errorCode: 6}`, `{ok: 0.0, code: 6}`, false},
		{"labels", `{failCommands: ["insert"], errorCode: 6, errorLabels: ["Mine"]}`, `{ok: 0.0, code: 6, errorLabels: ["Mine"]}`, false},
		{"no labels", `{failCommands: ["insert"], errorCode: 11600, errorLabels: []}`, `{ok: 0.0, code: 11600}`, false},
		{"more of the error", `{failCommands: ["insert"], errorCode: 13388, errorExtraInfo: {ns: "a.b"}}`, `{ok: 0.0, code: 13388, ns: "a.b"}`, false},
		{"blocked", `{failCommands: ["insert"], blockConnection: true, blockTimeMS: 1}`, `{ok: 1.0, n: 1}`, true},
		{"write concern", `{failCommands: ["insert"], writeConcernError: {code: 64, errmsg: "slow"}, errorLabels: ["Mine"]}`, `{ok: 1.0, n: 1, writeConcernError: {code: 64, errmsg: "slow"}, errorLabels: ["Mine"]}`, true},
		{"another command", `{failCommands: ["find"], errorCode: 6}`, `{ok: 1.0, n: 1}`, true},
	} {
		h := harness.NewTestCommands(t)
		h.SetFail(`{times: 1}`, tt.data)
		reply := h.Run(`{insert: "c", documents: [{_id: 1}]}`)
		for name, want := range harness.Relaxed(tt.reply).All() {
			if got := reply.Lookup(name); got.String() != want.String() {
				t.Errorf("%s: %s is %s, want %s", tt.name, name, got, want)
			}
		}
		if wanted := harness.Relaxed(tt.reply); reply.Has("errorLabels") != wanted.Has("errorLabels") {
			t.Errorf("%s: %s", tt.name, reply)
		}
		h.SetFail(`"off"`, `{}`)
		if n := h.Count("c"); (n == 1) != tt.written {
			t.Errorf("%s: %d documents", tt.name, n)
		}
	}
}

// A connection that is to be closed gets no reply, and the command does not run.
func TestFailCommandCloses(t *testing.T) {
	t.Parallel()
	h := harness.NewTestCommands(t)
	h.SetFail(`{times: 1}`, `{failCommands: ["insert"], closeConnection: true}`)
	_, response := harness.Answer(h.Svc, t.Context(), h.Conn, &kernel.Request{Body: harness.Relaxed(`{insert: "c", documents: [{_id: 1}], $db: "test"}`)}, nil)
	if !response.Drop {
		t.Error("the connection stays open")
	}
	h.Holds("c", "")
}

// A command that fails can also report a write concern error.
func TestFailCommandBesideError(t *testing.T) {
	t.Parallel()
	h := harness.NewTestCommands(t).AsMember()
	h.OK(`{create: "c"}`)
	h.SetFail(`{times: 1}`, `{failCommands: ["create"], writeConcernError: {code: 91, errmsg: "ends"}, errorLabels: ["Mine"]}`)
	reply := h.Run(`{create: "c", capped: true, size: 4096}`)
	if reply.Lookup("code").Int32() != 48 || reply.Lookup("writeConcernError").Doc().Lookup("code").Int32() != 91 || reply.Lookup("errorLabels").String() != `[ "Mine" ]` {
		t.Errorf("answered %s", reply)
	}
	h.SetFail(`{times: 1}`, `{failCommands: ["insert"], writeConcernError: {code: 91, errmsg: "ends"}}`)
	reply = h.Run(harness.RetryArgs(`{insert: "c", documents: [{_id: 1}]}`, 1))
	if got := reply.Lookup("errorLabels"); got.Kind() != value.KindArray || got.String() != `[ "RetryableWriteError" ]` {
		t.Errorf("answered %s", reply)
	}
}
