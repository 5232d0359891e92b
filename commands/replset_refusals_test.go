package commands

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/housekeeping"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/oplog"
)

// refusal is a command on a database and how it fails; code 0: it does not.
type refusal struct {
	db, command string
	code        int32
	text        string // "": any; ending in "*": the beginning
}

func (h *harness) refuses(list []refusal) {
	h.Helper()
	for _, r := range list {
		reply := h.runOn(r.db, relaxed(r.command))
		code, text := reply.Lookup("code"), reply.Lookup("errmsg").Str()
		if first := reply.Lookup("writeErrors").Doc().Index(0); !first.IsMissing() {
			code, text = first.Doc().Lookup("code"), first.Doc().Lookup("errmsg").Str()
		}
		if code.IsMissing() != (r.code == 0) || r.code != 0 && code.Int32() != r.code {
			h.Errorf("%s %s answered %s, want code %d", r.db, r.command, reply, r.code)
			continue
		}
		begin, open := strings.CutSuffix(r.text, "*")
		if r.text != "" && text != r.text && !(open && strings.HasPrefix(text, begin)) {
			h.Errorf("%s %s: %q, want %q", r.db, r.command, text, r.text)
		}
	}
}

// The commands that change a set, as the primary of a set of one.
func TestReplicaSetRefusals(t *testing.T) {
	const nobody = "No electable secondaries caught up as of 2026-01-01T00:00:00*"
	const longer = "stepdown period must be longer than secondaryCatchUpPeriodSecs"
	h := newHarness(t)
	list := []refusal{
		{"admin", `{replSetStepDown: 60}`, 262, nobody},
		{"admin", `{replSetStepDown: 0}`, 262, nobody},
		{"admin", `{replSetStepDown: true, secondaryCatchUpPeriodSecs: 60}`, 262, nobody},
		{"admin", `{replSetStepDown: -1}`, 2, "stepdown period must be a positive integer"},
		{"admin", `{replSetStepDown: 9}`, 2, longer},
		{"admin", `{replSetStepDown: 9, secondaryCatchUpPeriodSecs: 10}`, 2, longer},
		{"admin", `{replSetStepDown: 9, secondaryCatchUpPeriodSecs: -1}`, 2, "secondaryCatchUpPeriodSecs period must be a positive or absent"},
		{"admin", `{replSetStepDown: 9, secondaryCatchUpPeriodSecs: "x"}`, 14, ""},
		{"admin", `{replSetFreeze: 10}`, 95, "Cannot freeze node when primary or running for election, state: Primary"},
		{"admin", `{replSetFreeze: 0}`, 95, ""},
		{"admin", `{replSetFreeze: -1}`, 2, "freeze seconds must be non-negative"},
		{"admin", `{replSetMaintenance: true}`, 95, "primaries can't modify maintenance mode"},
		{"admin", `{replSetMaintenance: false}`, 95, ""},
		{"admin", `{replSetSyncFrom: "other:27017"}`, 95, "primaries don't sync"},
		{"admin", `{replSetSyncFrom: ""}`, 9, ""},
	}
	for _, r := range list { // a standalone refuses them all, and all are of admin
		h.refuses([]refusal{{"admin", r.command, 76, "not running with --replSet"}, {"test", r.command, 13, ""}})
	}
	h.asMember().refuses(list)
}

func TestResizeOplog(t *testing.T) {
	h := newHarness(t)
	l := h.svc.Oplog
	h.refuses([]refusal{
		{"admin", `{replSetResizeOplog: 1, size: 10}`, 2, "BSON field 'size' value must be >= 990, actual value '10'"},
		{"admin", `{replSetResizeOplog: 1, size: "x"}`, 14, ""},
		{"admin", `{replSetResizeOplog: 1, minRetentionHours: -1}`, 2, "BSON field 'minRetentionHours' value must be >= 0, actual value '-1'"},
		{"admin", `{replSetResizeOplog: 1, hours: 1}`, 40415, ""},
		{"test", `{replSetResizeOplog: 1, size: 1000}`, 13, ""},
	})
	if got := l.Bound(); got != oplog.UnreadOplogBytes {
		t.Errorf("%d bytes without a size", got)
	}
	h.refuses([]refusal{{"admin", `{replSetResizeOplog: 1, size: {$numberDouble: "1000"}, minRetentionHours: 0.5}`, 0, ""}})
	if got := l.Bound(); got != 1000<<20 || l.Keep.Load() != 30*60*1000 {
		t.Errorf("%d bytes, %d ms", got, l.Keep.Load())
	}
	size := docs(h.runOn("local", relaxed(`{listCollections: 1, filter: {name: "oplog.rs"}}`)))[0].Lookup("options").Doc().Lookup("size")
	if size.SafeInt64() != 1000<<20 {
		t.Errorf("the collection says %s", size)
	}
	again, err := newRunning(kernel.Options{Engine: h.svc.Engine, Clock: h.clock, TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer housekeeping.Close(again)
	if got := again.Oplog.Bound(); got != 1000<<20 || again.Oplog.Keep.Load() != 0 {
		t.Errorf("after a restart %d bytes, %d ms", got, again.Oplog.Keep.Load())
	}
	off := newHarnessWith(t, kernel.Options{OplogBytes: -1})
	off.refuses([]refusal{{"admin", `{replSetResizeOplog: 1, size: 1000}`, 26, "oplog does not exist"}})
}

// What may not be done to the databases of the server.
func TestOwnDatabases(t *testing.T) {
	inTxn := func(command string) string { return inTxnArgs(command, 1, true) }
	const config, local = "Cannot run command against the config database in a transaction.", "Cannot run command against the 'local' database in a transaction."
	both := []refusal{
		{"admin", `{dropDatabase: 1}`, 20, "Dropping the 'admin' database is prohibited."},
		{"config", `{dropDatabase: 1}`, 0, ""},
		{"test", `{dropDatabase: 2}`, 5255100, "Have to pass 1 as 'drop' parameter"},
		{"admin", `{drop: "system.version"}`, 20, "can't drop system collection admin.system.version"},
		{"local", `{convertToCapped: "oplog.rs", size: 1000}`, 73, "cannot write to local.oplog.rs"},
		{"local", `{insert: "startup_log", documents: [{}]}`, 0, ""},
		{"local", `{drop: "startup_log"}`, 0, ""},
		{"config", `{insert: "own", documents: [{}]}`, 0, ""},
		{"config", inTxn(`{"find": "own"}`), 263, config},
		{"config", inTxn(`{"insert": "own", "documents": [{"a": 1}]}`), 263, config},
		{"config", inTxn(`{"aggregate": "own", "pipeline": [], "cursor": {}}`), 263, config},
		{"local", inTxn(`{"find": "own"}`), 263, local},
		{"local", inTxn(`{"insert": "own", "documents": [{"a": 1}]}`), 263, local},
		{"test", inTxn(`{"insert": "system.js", "documents": [{"a": 1}]}`), 50791, "Cannot write to system collection test.system.js within a transaction."},
		{"test", inTxn(`{"update": "system.js", "updates": [{"q": {}, "u": {"$set": {"a": 1}}}]}`), 50791, ""},
		{"test", inTxn(`{"delete": "system.js", "deletes": [{"q": {}, "limit": 1}]}`), 50791, ""},
		{"test", inTxn(`{"findAndModify": "system.js", "query": {}, "remove": true}`), 50791, ""},
		{"test", inTxn(`{"find": "system.js"}`), 0, ""},
		{"test", inTxn(`{"find": "system.views"}`), 263, "Cannot run command against the 'test.system.views' collection in a transaction."},
		{"test", inTxn(`{"aggregate": "system.profile", "pipeline": [], "cursor": {}}`), 263, "Cannot run command against the 'test.system.profile' collection in a transaction."},
		{"admin", inTxn(`{"bulkWrite": 1, "ops": [{"insert": 1, "document": {}}], "nsInfo": [{"ns": "test.c"}, {"ns": "config.own"}]}`), 263, config},
		{"admin", inTxn(`{"bulkWrite": 1, "ops": [{"insert": 0, "document": {}}], "nsInfo": [{"ns": "local.own"}]}`), 263, local},
		{"admin", inTxn(`{"find": "own"}`), 0, ""},
		{"admin", inTxn(`{"insert": "own", "documents": [{"a": 1}]}`), 0, ""},
	}
	for i, r := range both { // each in a transaction of its own
		both[i].command = strings.Replace(r.command, `{"$numberLong": "1"}`, fmt.Sprintf(`{"$numberLong": "%d"}`, i+1), 1)
	}
	h := newHarness(t)
	h.refuses(append(both,
		refusal{"local", `{drop: "oplog.rs"}`, 5255001, "can't drop oplog on storage engines that support replSetResizeOplog command"}))
	h = newHarness(t).asMember()
	h.refuses(append(both,
		refusal{"local", `{drop: "oplog.rs"}`, 5255000, "can't drop live oplog while replicating"},
		refusal{"local", `{dropDatabase: 1}`, 20, "Cannot drop 'local' database while replication is active"}))
}
