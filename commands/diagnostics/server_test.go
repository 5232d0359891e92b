package diagnostics_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/value"
)

// Small commands about the server answer with the fields of their manual pages.
func TestCommandsAboutTheServer(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	for command, field := range map[string]string{
		`{whatsmyuri: 1}`:             "you",
		`{getCmdLineOpts: 1}`:         "parsed",
		`{listCommands: 1}`:           "commands",
		`{getLog: "global"}`:          "log",
		`{getLog: "startupWarnings"}`: "totalLinesWritten",
		`{getLog: "*"}`:               "names",
		`{connPoolStats: 1}`:          "hosts",
		`{lockInfo: 1}`:               "lockInfo",
		`{top: 1}`:                    "totals",
		`{hostInfo: 1}`:               "system",
		`{availableQueryOptions: 1}`:  "options",
		`{expirationStats: 1}`:        "ok",
		`{killOp: 1, op: 12345}`:      "info",
	} {
		if reply := h.Admin(command); !reply.Lookup("ok").Truthy() || !reply.Has(field) {
			t.Errorf("%s answered %s, want %s", command, reply, field)
		}
	}
	if you := h.Admin(`{whatsmyuri: 1}`).Lookup("you").Str(); you != "127.0.0.1:1" {
		t.Errorf("whatsmyuri: %s", you)
	}
	commands := h.Admin(`{listCommands: 1}`).Lookup("commands").Doc()
	for name, v := range commands.All() {
		if ok := v.Doc().Lookup("secondaryOk"); ok.Kind() != value.KindBool || ok.Truthy() && v.Doc().Has("secondaryOverrideOk") {
			t.Errorf("%s is listed as %s", name, v)
		}
	}
	for name, want := range map[string][2]bool{"ping": {true, false}, "getMore": {true, false}, "find": {false, true}, "aggregate": {false, true}, "insert": {false, false}, "drop": {false, false}} {
		d := commands.Lookup(name).Doc()
		if d.Lookup("secondaryOk").Truthy() != want[0] || d.Lookup("secondaryOverrideOk").Truthy() != want[1] {
			t.Errorf("%s is listed as %s", name, d)
		}
	}
	ping := commands.Lookup("ping").Doc()
	if ping.Lookup("requiresAuth").Truthy() || ping.Lookup("adminOnly").Truthy() || ping.Lookup("apiVersions").String() != `[ "1" ]` {
		t.Errorf("ping is listed as %s", ping)
	}
	h.Refuses([]harness.Refusal{
		{DB: "admin", Command: `{getLog: "other"}`, Code: 96, Text: "No log named 'other'"},
		{DB: "admin", Command: `{getLog: 1}`, Code: 14},
		{DB: "admin", Command: `{getLog: null}`, Code: 40414},
		{DB: "admin", Command: `{killOp: 1}`, Code: 4, Text: `Missing expected field "op"`},
		{DB: "admin", Command: `{killOp: 1, op: "x"}`, Code: 14},
		{DB: "admin", Command: `{killOp: 1, op: 1.5}`, Code: 2},
		{DB: "admin", Command: `{killOp: 1, op: {$numberLong: "4294967296"}}`, Code: 26823},
		{DB: "admin", Command: `{shutdown: 1}`, Code: 20},
		{DB: "test", Command: `{top: 1}`, Code: 13},
	})
}

// testClock moves the clock of the server (docs/semantics.md §11).
func TestTestClock(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	start := harness.TestStart.UnixMilli()
	for _, test := range []struct {
		command string
		now     int64
	}{
		{`{testClock: 1}`, start},
		{`{testClock: 1, advanceMillis: 5}`, start + 5},
		{`{testClock: 1, advanceSeconds: 2}`, start + 2005},
		{`{testClock: 1, set: {$date: "2027-01-01T00:00:00Z"}, freeze: true}`, 1798761600000},
	} {
		if got := h.Admin(test.command).Lookup("now").DateTime(); got != test.now {
			t.Errorf("%s: now is %d, want %d", test.command, got, test.now)
		}
	}
	h.Refuses([]harness.Refusal{
		{DB: "admin", Command: `{testClock: 1, advanceMillis: -1}`, Code: 2, Text: "the clock cannot move backwards"},
		{DB: "admin", Command: `{testClock: 1, set: 5}`, Code: 14},
		{DB: "admin", Command: `{testClock: 1, advanceMillis: 1, advanceSeconds: 1}`, Code: 72},
		{DB: "admin", Command: `{runExpirationPass: 1, targets: [1]}`, Code: 14},
		{DB: "admin", Command: `{runExpirationPass: 1}`, Code: 0},
	})
}

// validateDBMetadata lists what version 1 of the stable API does not have
// (reference/command/validateDBMetadata).
func TestValidateDBMetadata(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{create: "stats", viewOn: "c", pipeline: [{$indexStats: {}}]}`)
	h.OK(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a_1", sparse: true}, {key: {b: 1}, name: "b_1"}]}`)
	const strict = `apiParameters: {version: "1", strict: true, deprecationErrors: true}}`
	for command, want := range map[string]int{
		`{validateDBMetadata: 1, db: "test", ` + strict:                         2,
		`{validateDBMetadata: 1, db: "test", collection: "c", ` + strict:        1,
		`{validateDBMetadata: 1, db: "other", ` + strict:                        0,
		`{validateDBMetadata: 1, apiParameters: {version: "1", strict: false}}`: 0,
	} {
		if n := h.OK(command).Lookup("apiVersionErrors").Doc().Len(); n != want {
			t.Errorf("%s: %d errors, want %d", command, n, want)
		}
	}
	h.Refuses([]harness.Refusal{
		{DB: "test", Command: `{validateDBMetadata: 1, db: "", ` + strict, Code: 28539},
		{DB: "test", Command: `{validateDBMetadata: 1, db: "a.b", ` + strict, Code: 73},
		{DB: "test", Command: `{validateDBMetadata: 1, collection: "", ` + strict, Code: 73},
		{DB: "test", Command: `{validateDBMetadata: 1, apiParameters: {version: "1", strict: null}}`, Code: 14},
		{DB: "test", Command: `{validateDBMetadata: 1, apiParameters: {}}`, Code: 40414},
	})
}
