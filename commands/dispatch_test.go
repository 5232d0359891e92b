package commands_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/value"
)

// Commands that are refused before they begin: the codes are those of mongod's
// ErrorCodes and service_entry_point.
func TestAdmission(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	for _, tt := range []struct {
		request kernel.Request
		code    int32
		text    string
	}{
		{kernel.Request{Body: harness.Relaxed(`{nothing: 1, $db: "test"}`)}, 59, "no such command: 'nothing'"},
		{kernel.Request{Body: harness.Relaxed(`{nothing: 1}`), Legacy: true, DB: "admin"}, 352, "Unsupported OP_QUERY command: nothing. The client driver may require an upgrade.*"},
		{kernel.Request{Body: harness.Relaxed(`{ping: 1}`), Legacy: true, DB: "admin"}, 352, "Unsupported OP_QUERY command: ping. The client driver may require an upgrade.*"},
		{kernel.Request{Body: harness.Relaxed(`{isMaster: 1}`), Legacy: true, DB: "admin"}, 0, ""},
		{kernel.Request{Body: harness.Relaxed(`{ping: 1}`)}, 40571, "OP_MSG requests require a $db argument"},
		{kernel.Request{Body: harness.Relaxed(`{ping: 1, $db: "a b"}`)}, 73, ""},
		{kernel.Request{Body: harness.Relaxed(`{ping: 1, $db: 1}`)}, 14, ""},
		{kernel.Request{Body: harness.Relaxed(`{ping: 1, $db: "test"}`), Sequences: []kernel.Sequence{{ID: "a"}}}, 40472, "The ping command does not support document sequences."},
		{kernel.Request{Body: harness.Relaxed(`{currentOp: 1, $db: "test"}`)}, 13, "currentOp may only be run against the admin database."},
		{kernel.Request{Body: harness.Relaxed(`{replSetGetStatus: 1, $db: "test"}`)}, 13, "replSetGetStatus may only be run against the admin database."},
		{kernel.Request{Body: harness.Relaxed(`{currentOp: 1, $db: "test", lsid: {id: {$uuid: "00000000-0000-4000-8000-000000000001"}}, txnNumber: {$numberLong: "1"}, autocommit: false, startTransaction: true}`)}, 263, ""},
		{kernel.Request{Body: harness.Relaxed(`{find: "c", writeConcern: {w: 1}, $db: "test"}`)}, 72, "Command does not support writeConcern"},
		{kernel.Request{Body: harness.Relaxed(`{insert: "c", documents: [{}], readConcern: {level: "majority"}, $db: "test"}`)}, 72, ""},
		{kernel.Request{Body: harness.Relaxed(`{insert: "c", documents: [{}], writeConcern: {w: 51}, $db: "test"}`)}, 9, ""},
	} {
		out, _ := harness.Answer(h.Svc, t.Context(), h.Conn, &tt.request, nil)
		reply := value.Doc(out)
		text := reply.Lookup("errmsg").Str()
		if reply.Lookup("code").Int32() != tt.code || reply.Lookup("ok").Truthy() != (tt.code == 0) {
			t.Errorf("%s answered %s, want code %d", tt.request.Body, reply, tt.code)
		} else if tt.text != "" && !harness.Fits(text, tt.text) {
			t.Errorf("%s: %q, want %q", tt.request.Body, text, tt.text)
		}
	}
}

// A panic fails only its own command: the error reports it, the log has the stack, and
// the connection stays open.
func TestPanicIsAnError(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	h := harness.NewWith(t, kernel.Options{Log: zerolog.New(&log)})
	failing := *h.Svc.Table["ping"]
	failing.Run = func(*kernel.Call) error { panic("lost") }
	h.Svc.Table["ping"] = &failing
	if text := h.Fails(1, `{ping: 1}`); !strings.Contains(text, "lost") {
		t.Errorf("said %s", text)
	}
	if s := log.String(); !strings.Contains(s, "command panicked") || !strings.Contains(s, "dispatch_test.go") {
		t.Errorf("logged %s", s)
	}
	h.OK(`{hello: 1}`)
	if n := h.Admin(`{serverStatus: 1}`).Lookup("asserts").Doc().Lookup("regular").SafeInt64(); n != 1 {
		t.Errorf("%d regular asserts", n)
	}
}

// With the component command at level 2 each command is in the log before it runs.
func TestCommandsAreLogged(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	h := harness.NewWith(t, kernel.Options{Log: zerolog.New(&log)})
	h.OK(`{find: "quiet"}`)
	if r := h.Admin(`{setParameter: 1, logComponentVerbosity: {command: {verbosity: 2}}}`); !r.Lookup("ok").Truthy() {
		t.Fatal(r)
	}
	h.OK(`{find: "told", filter: {a: 1}}`)
	if s := log.String(); !strings.Contains(s, "About to run the command") || !strings.Contains(s, `"find":"told"`) || strings.Contains(s, `"find":"quiet"`) {
		t.Errorf("logged %s", s)
	}
}

// The reply of an unacknowledged write is always the default one, whether or not the
// write succeeded: mongod's populateReply does not change it.
func TestUnacknowledgedWrite(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	for range 2 { // the second one fails
		r := h.Run(`{insert: "c", documents: [{_id: 1}], writeConcern: {w: 0}}`)
		if r.Lookup("n").SafeInt64() != 0 || r.Has("writeErrors") || !r.Lookup("ok").Truthy() {
			t.Errorf("answered %s", r)
		}
	}
	h.Holds("c", `{_id: 1}`)
}

// The combinations of session, transaction number and autocommit that mongod's
// initializeOperationSessionInfo refuses, all with InvalidOptions.
func TestSessionArguments(t *testing.T) {
	t.Parallel()
	h := harness.New(t).AsMember()
	const txn = `txnNumber: {$numberLong: "1"}`
	for arguments, text := range map[string]string{
		txn: "Transaction number requires a session ID to also be specified",
		harness.Lsid + `, txnNumber: {$numberLong: "-1"}`:                          "Transaction number cannot be negative",
		harness.Lsid + `, autocommit: false`:                                       "'autocommit' field requires a transaction number to also be specified",
		harness.Lsid + `, ` + txn + `, autocommit: true`:                           "Specifying autocommit=true is not allowed.",
		harness.Lsid + `, ` + txn + `, startTransaction: true`:                     "'startTransaction' field requires 'autocommit' field to also be specified",
		harness.Lsid + `, ` + txn + `, autocommit: false, startTransaction: false`: "Specifying startTransaction=false is not allowed.",
	} {
		if got := h.Fails(72, `{find: "c", `+arguments+`}`); got != text {
			t.Errorf("%s: %s, want %s", arguments, got, text)
		}
	}
	h.Fails(14, `{find: "c", lsid: 1}`)
	h.Fails(40414, `{find: "c", lsid: {}}`)
	h.Fails(50768, `{ping: 1, `+harness.Lsid+`, `+txn+`}`) // not a command that can be retried
	h.OK(`{ping: 1, ` + harness.Lsid + `}`)
}
