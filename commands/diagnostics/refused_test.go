package diagnostics_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
)

// Arguments that the commands for operators refuse, and states in which they cannot run.
func TestDiagnosticsRefuse(t *testing.T) {
	t.Parallel()
	h := harness.NewTestCommands(t)
	h.OK(`{insert: "c", documents: [{_id: 1}]}`)
	h.OK(`{create: "v", viewOn: "c", pipeline: []}`)
	admin := func(command string, code int32, text string) harness.Refusal {
		return harness.Refusal{DB: "admin", Command: command, Code: code, Text: text}
	}
	test := func(command string, code int32, text string) harness.Refusal {
		return harness.Refusal{DB: "test", Command: command, Code: code, Text: text}
	}
	fail := func(mode, data string, code int32, text string) harness.Refusal {
		return admin(`{configureFailPoint: "failCommand", mode: `+mode+`, data: `+data+`}`, code, text)
	}
	h.Refuses([]harness.Refusal{
		admin(`{fsync: 1, foo: 1}`, 40415, ""),
		admin(`{fsyncUnlock: 1}`, 20, "fsyncUnlock called when not locked"),
		admin(`{killOp: 1}`, 4, ""),
		admin(`{shutdown: 1, foo: 1}`, 40415, ""),
		admin(`{shutdown: 1}`, 20, "an embedded server is shut down by the program around it"),
		admin(`{dropConnections: 1, hostAndPort: [1]}`, 14, ""),
		admin(`{dropConnections: 1, hostAndPort: ["[::1"]}`, 9, `']' expected when parsing HostAndPort from "[::1"`),
		admin(`{dropConnections: 1, hostAndPort: ["a:1:2"]}`, 9, `More than one ':' detected. If this is an ipv6 address, it needs to be surrounded by '[' and ']'; "a:1:2"`),
		admin(`{dropConnections: 1, hostAndPort: [":1"]}`, 9, `Empty host component parsing HostAndPort from ":1"`),
		admin(`{dropConnections: 1, hostAndPort: ["a:65536"]}`, 9, `Port number "65536" out of range parsing HostAndPort from "a:65536"`),
		admin(`{dropConnections: 1, hostAndPort: ["a:1", "[::1]:27017", null]}`, 0, ""),
		admin(`{autoCompact: true}`, 0, ""),
		admin(`{runExpirationPass: 1, targets: [1]}`, 14, ""),
		admin(`{runExpirationPass: 1, targets: ["everything"]}`, 2, ""),
		admin(`{runExpirationPass: 1, foo: 1}`, 40415, ""),
		fail(`{times: "x"}`, `{}`, 14, "'times' option to 'mode' must be a number"),
		fail(`{times: -1}`, `{}`, 2, "'times' option to 'mode' must be positive"),
		fail(`{skip: {$numberLong: "2147483648"}}`, `{}`, 2, "'skip' option to 'mode' is too large"),
		fail(`{activationProbability: "x"}`, `{}`, 14, "the 'activationProbability' option to 'mode' must be a double between 0 and 1"),
		fail(`{activationProbability: 1.5}`, `{}`, 2, "activationProbability must be between 0.0 and 1.0; found 1.5"),
		fail(`{often: 1}`, `{}`, 2, "'mode' must be one of 'off', 'alwaysOn', 'times', and 'activationProbability'"),
		fail(`"off"`, `1`, 14, "the 'data' option must be an object"),
		admin(`{configureFailPoint: 1, mode: "off"}`, 14, ""),
		admin(`{waitForFailPoint: "failCommand", foo: 1}`, 40415, ""),
		test(`{compact: "c", foo: 1}`, 40415, ""),
		test(`{compact: ""}`, 73, ""),
		test(`{reIndex: "c", foo: 1}`, 40415, ""),
		test(`{reIndex: ""}`, 73, ""),
		test(`{reIndex: "v"}`, 166, "can't re-index a view"),
		test(`{reIndex: "none"}`, 26, ""),
		test(`{filemd5: 1, root: ""}`, 73, ""),
		test(`{collStats: "c", foo: 1}`, 40415, ""),
		test(`{collStats: ""}`, 73, ""),
		test(`{dbStats: 1, foo: 1}`, 40415, ""),
		test(`{profile: 0, filter: 1}`, 2, "Expected an object, or the string 'unset'. Got: 1"),
		test(`{validateDBMetadata: 1}`, 40414, ""),
		test(`{expirationStats: 1, foo: 1}`, 40415, ""),
		test(`{expirationStats: 1, horizonSeconds: 0}`, 2, "horizonSeconds must be positive, not 0"),
		test(`{expirationStats: 1, buckets: 1001}`, 2, "buckets must be between 1 and 1000, not 1001"),
		test(`{expirationStats: "none"}`, 26, "ns does not exist: test.none"),
		test(`{expirationStats: ""}`, 73, ""),
		admin(`{setParameter: 1, ttlMonitorEnabled: false}`, 0, ""),
		admin(`{runExpirationPass: 1}`, 72, "the TTL monitor is disabled (ttlMonitorEnabled)"),
		admin(`{testClock: 1, foo: 1}`, 40415, ""),
		admin(`{testClock: 1, advanceSeconds: {$numberLong: "9223372036854775807"}}`, 2, ""),
	})
	h.Holds("c", `{_id: 1}`)
}

// shutdown calls the program's function and closes the connection; getCmdLineOpts returns
// the flags that the program was started with.
func TestProgram(t *testing.T) {
	t.Parallel()
	asked := 0
	h := harness.NewWith(t, kernel.Options{Shutdown: func() { asked++ }, Argv: []string{"duskdb", "--port", "1"}})
	_, response := harness.Answer(h.Svc, t.Context(), h.Conn, &kernel.Request{Body: harness.Relaxed(`{shutdown: 1, $db: "admin"}`)}, nil)
	if asked != 1 || !response.Close {
		t.Errorf("asked %d times, %+v", asked, response)
	}
	if got := h.Admin(`{getCmdLineOpts: 1}`).Lookup("argv").String(); got != `[ "duskdb", "--port", "1" ]` {
		t.Errorf("argv %s", got)
	}
	h.Conn.ServerName = "db.example.com"
	if got := h.OK(`{whatsmysni: 1}`).Lookup("sni").Str(); got != "db.example.com" {
		t.Errorf("sni %q", got)
	}
	if got := h.OK(`{features: 1}`).Lookup("js").Doc().Lookup("utf8"); !got.Bool() {
		t.Errorf("utf8 %s", got)
	}
}

// fsync with lock counts its locks; the last unlock lets writes continue
// (reference/command/fsync).
func TestFsyncLockCounts(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	if n := h.Admin(`{fsync: 1}`).Lookup("numFiles"); n.Int32() != 1 {
		t.Errorf("numFiles %s", n)
	}
	for _, tt := range []struct {
		command string
		want    int64
	}{{`{fsync: 1, lock: true}`, 1}, {`{fsync: 1, lock: true}`, 2}, {`{fsyncUnlock: 1}`, 1}, {`{fsyncUnlock: 1}`, 0}} {
		if got := h.Admin(tt.command).Lookup("lockCount"); got.SafeInt64() != tt.want || got.IsMissing() {
			t.Errorf("%s: lockCount %s, want %d", tt.command, got, tt.want)
		}
	}
	h.OK(`{insert: "c", documents: [{_id: 1}]}`)
}
