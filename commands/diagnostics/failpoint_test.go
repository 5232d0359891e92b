package diagnostics_test

import (
	"context"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/value"
)

func TestFailPointNeedsTestCommands(t *testing.T) {
	h := harness.New(t)
	if reply := h.Admin(`{configureFailPoint: "failCommand", mode: "off"}`); reply.Lookup("code").Int32() != 59 {
		t.Errorf("answered %s", reply)
	}
}

// In mongod fail points need no login, because they exist only with a flag
// (fail_point_cmd.cpp). Other test commands need one.
func TestFailPointsNeedNoLogin(t *testing.T) {
	h := harness.NewTestCommands(t)
	h.Admin(`{createUser: "ann", pwd: "p", roles: ["root"], mechanisms: ["SCRAM-SHA-1"]}`)
	h.Svc.Options.Security.Auth = true
	for _, step := range []struct {
		command string
		code    int32
	}{
		{`{configureFailPoint: "failCommand", mode: {times: 1}, data: {failCommands: ["ping"], errorCode: 8}}`, 0},
		{`{ping: 1}`, 8},
		{`{waitForFailPoint: "failCommand", timesEntered: 1, maxTimeMS: 60000}`, 0},
		{`{configureFailPoint: "failCommand", mode: "off"}`, 0},
		{`{testDeprecation: 1}`, 13},
		{`{getParameter: "*"}`, 13},
	} {
		if r := h.Admin(step.command); r.Lookup("code").Int32() != step.code {
			t.Errorf("%s answered %s, want code %d", step.command, r, step.code)
		}
	}
}

// The results of several pings under each mode.
func TestFailPointModes(t *testing.T) {
	tests := []struct {
		mode string
		want string // f: fails
	}{
		{`"off"`, "...."},
		{`"alwaysOn"`, "ffff"},
		{`{times: 2}`, "ff.."},
		{`{times: 0}`, "...."},
		{`{skip: 3}`, "...f"},
		{`{activationProbability: 0}`, "...."},
		{`{activationProbability: 1.0}`, "ffff"},
	}
	for _, tt := range tests {
		h := harness.NewTestCommands(t)
		h.SetFail(tt.mode, `{failCommands: ["ping"], errorCode: 91}`)
		got := ""
		for range tt.want {
			h.OK(`{find: "c"}`) // others do not count
			reply := h.Run(`{ping: 1}`)
			got += map[bool]string{true: ".", false: "f"}[reply.Lookup("ok").Truthy()]
		}
		if got != tt.want {
			t.Errorf("mode %s: %s, want %s", tt.mode, got, tt.want)
		}
	}
}

func TestFailPointErrors(t *testing.T) {
	tests := []struct {
		command string
		code    int32
		text    string
	}{
		{`{configureFailPoint: "noSuchPoint", mode: "off"}`, 266, "noSuchPoint not found"},
		{`{configureFailPoint: "failCommand"}`, 2, "When setting a failpoint, you must supply a 'mode'"},
		{`{configureFailPoint: "failCommand", mode: "on"}`, 2, "unknown mode: on"},
		{`{configureFailPoint: "failCommand", mode: 1}`, 14, "'mode' must be a string or JSON object"},
		{`{configureFailPoint: "failCommand", mode: {times: -1}}`, 2, "'times' option to 'mode' must be positive"},
		{`{configureFailPoint: "failCommand", mode: {activationProbability: 2}}`, 2, "activationProbability must be between 0.0 and 1.0; found 2"},
		{`{configureFailPoint: "failCommand", mode: "alwaysOn", data: {blockConnection: true}}`, 72, "must specify 'blockTimeMS' when 'blockConnection' is true"},
		{`{waitForFailPoint: "noSuchPoint", timesEntered: 1}`, 266, "noSuchPoint not found"},
	}
	h := harness.NewTestCommands(t)
	for _, tt := range tests {
		reply := h.Admin(tt.command)
		if reply.Lookup("code").Int32() != tt.code || reply.Lookup("errmsg").Str() != tt.text {
			t.Errorf("%s answered %s", tt.command, reply)
		}
	}
}

func TestFailPointError(t *testing.T) {
	h := harness.NewTestCommands(t)
	h.SetFail(`"alwaysOn"`, `{failCommands: ["insert"], errorCode: 10107, errorLabels: ["RetryableWriteError"]}`)
	reply := harness.Plain(h.Run(`{insert: "c", documents: [{}]}`))
	want := harness.Relaxed(`{ok: 0.0, errmsg: "Failing command via 'failCommand' failpoint", code: 10107, codeName: "NotWritablePrimary", errorLabels: ["RetryableWriteError"]}`)
	if reply.String() != want.String() {
		t.Errorf("answered %s\nwant %s", reply, want)
	}
	if n := h.OK(`{count: "c"}`).Lookup("n").Int32(); n != 0 {
		t.Errorf("%d documents were inserted", n)
	}
}

func TestFailPointWriteConcernError(t *testing.T) {
	h := harness.NewTestCommands(t)
	h.SetFail(`"alwaysOn"`, `{failCommands: ["insert", "find"], writeConcernError: {code: 91, errmsg: "going down", errorLabels: []}, errorLabels: ["X"]}`)
	reply := h.Run(`{insert: "c", documents: [{}]}`)
	if reply.Lookup("n").Int32() != 1 || reply.Lookup("writeConcernError").Doc().Lookup("code").Int32() != 91 || reply.Lookup("errorLabels").Doc().Index(0).Str() != "X" {
		t.Errorf("answered %s", reply)
	}
	if r := h.Run(`{insert: "c", documents: []}`); r.Lookup("code").Int32() != 16 || r.Lookup("writeConcernError").Doc().Lookup("code").Int32() != 91 || r.Lookup("errorLabels").Doc().Index(0).Str() != "X" {
		t.Error(r)
	}
	if reply := h.OK(`{find: "c"}`); reply.Has("writeConcernError") {
		t.Errorf("a read answered %s", reply)
	}
}

func TestFailPointCloseConnection(t *testing.T) {
	h := harness.NewTestCommands(t)
	h.SetFail(`{times: 1}`, `{failCommands: ["ping"], closeConnection: true}`)
	ping := value.MustJSON(`{"ping": 1, "$db": "test"}`)
	for _, want := range []bool{true, false} {
		if _, r := harness.Answer(h.Svc, context.Background(), h.Conn, &kernel.Request{Body: ping}, nil); r.Drop != want {
			t.Errorf("drop %v, want %v", r.Drop, want)
		}
	}
}
