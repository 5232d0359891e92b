package replication_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/housekeeping"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/oplog"
)

// The commands that change a set, as the primary of a set of one.
func TestReplicaSetRefusals(t *testing.T) {
	const nobody = "No electable secondaries caught up as of 2026-01-01T00:00:00*"
	const longer = "stepdown period must be longer than secondaryCatchUpPeriodSecs"
	h := harness.New(t).LoneServer("commands that change a set")
	list := []harness.Refusal{
		{DB: "admin", Command: `{replSetStepDown: 60}`, Code: 262, Text: nobody},
		{DB: "admin", Command: `{replSetStepDown: 0}`, Code: 262, Text: nobody},
		{DB: "admin", Command: `{replSetStepDown: true, secondaryCatchUpPeriodSecs: 60}`, Code: 262, Text: nobody},
		{DB: "admin", Command: `{replSetStepDown: -1}`, Code: 2, Text: "stepdown period must be a positive integer"},
		{DB: "admin", Command: `{replSetStepDown: 9}`, Code: 2, Text: longer},
		{DB: "admin", Command: `{replSetStepDown: 9, secondaryCatchUpPeriodSecs: 10}`, Code: 2, Text: longer},
		{DB: "admin", Command: `{replSetStepDown: 9, secondaryCatchUpPeriodSecs: -1}`, Code: 2, Text: "secondaryCatchUpPeriodSecs period must be a positive or absent"},
		{DB: "admin", Command: `{replSetStepDown: 9, secondaryCatchUpPeriodSecs: "x"}`, Code: 14, Text: ""},
		{DB: "admin", Command: `{replSetFreeze: 10}`, Code: 95, Text: "Cannot freeze node when primary or running for election, state: Primary"},
		{DB: "admin", Command: `{replSetFreeze: 0}`, Code: 95, Text: ""},
		{DB: "admin", Command: `{replSetFreeze: -1}`, Code: 2, Text: "freeze seconds must be non-negative"},
		{DB: "admin", Command: `{replSetMaintenance: true}`, Code: 95, Text: "primaries can't modify maintenance mode"},
		{DB: "admin", Command: `{replSetMaintenance: false}`, Code: 95, Text: ""},
		{DB: "admin", Command: `{replSetSyncFrom: "other:27017"}`, Code: 95, Text: "primaries don't sync"},
		{DB: "admin", Command: `{replSetSyncFrom: ""}`, Code: 9, Text: ""},
	}
	for _, r := range list { // a standalone refuses them all, and all are of admin
		h.Refuses([]harness.Refusal{{DB: "admin", Command: r.Command, Code: 76, Text: "not running with --replSet"}, {DB: "test", Command: r.Command, Code: 13, Text: ""}})
	}
	h.AsMember().Refuses(list)
}

func TestResizeOplog(t *testing.T) {
	h := harness.New(t)
	l := h.Svc.Oplog
	h.Refuses([]harness.Refusal{
		{DB: "admin", Command: `{replSetResizeOplog: 1, size: 10}`, Code: 2, Text: "BSON field 'size' value must be >= 990, actual value '10'"},
		{DB: "admin", Command: `{replSetResizeOplog: 1, size: "x"}`, Code: 14, Text: ""},
		{DB: "admin", Command: `{replSetResizeOplog: 1, minRetentionHours: -1}`, Code: 2, Text: "BSON field 'minRetentionHours' value must be >= 0, actual value '-1'"},
		{DB: "admin", Command: `{replSetResizeOplog: 1, hours: 1}`, Code: 40415, Text: ""},
		{DB: "test", Command: `{replSetResizeOplog: 1, size: 1000}`, Code: 13, Text: ""},
	})
	if got := l.Bound(); got != oplog.UnreadBytes {
		t.Errorf("%d bytes without a size", got)
	}
	h.Refuses([]harness.Refusal{{DB: "admin", Command: `{replSetResizeOplog: 1, size: {$numberDouble: "1000"}, minRetentionHours: 0.5}`, Code: 0, Text: ""}})
	if got := l.Bound(); got != 1000<<20 || l.Keep.Load() != 30*60*1000 {
		t.Errorf("%d bytes, %d ms", got, l.Keep.Load())
	}
	size := harness.Docs(h.RunOn("local", harness.Relaxed(`{listCollections: 1, filter: {name: "oplog.rs"}}`)))[0].Lookup("options").Doc().Lookup("size")
	if size.SafeInt64() != 1000<<20 {
		t.Errorf("the collection says %s", size)
	}
	again, err := harness.NewService(kernel.Options{Engine: h.Svc.Engine, Clock: h.Clock, TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer housekeeping.Close(again)
	if got := again.Oplog.Bound(); got != 1000<<20 || again.Oplog.Keep.Load() != 0 {
		t.Errorf("after a restart %d bytes, %d ms", got, again.Oplog.Keep.Load())
	}
	off := harness.NewWith(t, kernel.Options{OplogBytes: -1})
	off.Refuses([]harness.Refusal{{DB: "admin", Command: `{replSetResizeOplog: 1, size: 1000}`, Code: 26, Text: "oplog does not exist"}})
}

// What may not be done to the databases of the server.
func TestOwnDatabases(t *testing.T) {
	inTxn := func(command string) string { return harness.InTxnArgs(command, 1, true) }
	const config, local = "Cannot run command against the config database in a transaction.", "Cannot run command against the 'local' database in a transaction."
	both := []harness.Refusal{
		{DB: "admin", Command: `{dropDatabase: 1}`, Code: 20, Text: "Dropping the 'admin' database is prohibited."},
		{DB: "config", Command: `{dropDatabase: 1}`, Code: 0, Text: ""},
		{DB: "test", Command: `{dropDatabase: 2}`, Code: 5255100, Text: "Have to pass 1 as 'drop' parameter"},
		{DB: "admin", Command: `{drop: "system.version"}`, Code: 20, Text: "can't drop system collection admin.system.version"},
		{DB: "local", Command: `{convertToCapped: "oplog.rs", size: 1000}`, Code: 73, Text: "cannot write to local.oplog.rs"},
		{DB: "local", Command: `{insert: "startup_log", documents: [{}]}`, Code: 0, Text: ""},
		{DB: "local", Command: `{drop: "startup_log"}`, Code: 0, Text: ""},
		{DB: "config", Command: `{insert: "own", documents: [{}]}`, Code: 0, Text: ""},
		{DB: "config", Command: inTxn(`{"find": "own"}`), Code: 263, Text: config},
		{DB: "config", Command: inTxn(`{"insert": "own", "documents": [{"a": 1}]}`), Code: 263, Text: config},
		{DB: "config", Command: inTxn(`{"aggregate": "own", "pipeline": [], "cursor": {}}`), Code: 263, Text: config},
		{DB: "local", Command: inTxn(`{"find": "own"}`), Code: 263, Text: local},
		{DB: "local", Command: inTxn(`{"insert": "own", "documents": [{"a": 1}]}`), Code: 263, Text: local},
		{DB: "test", Command: inTxn(`{"insert": "system.js", "documents": [{"a": 1}]}`), Code: 50791, Text: "Cannot write to system collection test.system.js within a transaction."},
		{DB: "test", Command: inTxn(`{"update": "system.js", "updates": [{"q": {}, "u": {"$set": {"a": 1}}}]}`), Code: 50791, Text: ""},
		{DB: "test", Command: inTxn(`{"delete": "system.js", "deletes": [{"q": {}, "limit": 1}]}`), Code: 50791, Text: ""},
		{DB: "test", Command: inTxn(`{"findAndModify": "system.js", "query": {}, "remove": true}`), Code: 50791, Text: ""},
		{DB: "test", Command: inTxn(`{"find": "system.js"}`), Code: 0, Text: ""},
		{DB: "test", Command: inTxn(`{"find": "system.views"}`), Code: 263, Text: "Cannot run command against the 'test.system.views' collection in a transaction."},
		{DB: "test", Command: inTxn(`{"aggregate": "system.profile", "pipeline": [], "cursor": {}}`), Code: 263, Text: "Cannot run command against the 'test.system.profile' collection in a transaction."},
		{DB: "admin", Command: inTxn(`{"bulkWrite": 1, "ops": [{"insert": 1, "document": {}}], "nsInfo": [{"ns": "test.c"}, {"ns": "config.own"}]}`), Code: 263, Text: config},
		{DB: "admin", Command: inTxn(`{"bulkWrite": 1, "ops": [{"insert": 0, "document": {}}], "nsInfo": [{"ns": "local.own"}]}`), Code: 263, Text: local},
		{DB: "admin", Command: inTxn(`{"find": "own"}`), Code: 0, Text: ""},
		{DB: "admin", Command: inTxn(`{"insert": "own", "documents": [{"a": 1}]}`), Code: 0, Text: ""},
	}
	for i, r := range both { // each in a transaction of its own
		both[i].Command = strings.Replace(r.Command, `{"$numberLong": "1"}`, fmt.Sprintf(`{"$numberLong": "%d"}`, i+1), 1)
	}
	if h := harness.New(t); !h.Svc.InCluster() {
		h.Refuses(append(both,
			harness.Refusal{DB: "local", Command: `{drop: "oplog.rs"}`, Code: 5255001, Text: "can't drop oplog on storage engines that support replSetResizeOplog command"}))
	}
	h := harness.New(t).AsMember()
	h.Refuses(append(both,
		harness.Refusal{DB: "local", Command: `{drop: "oplog.rs"}`, Code: 5255000, Text: "can't drop live oplog while replicating"},
		harness.Refusal{DB: "local", Command: `{dropDatabase: 1}`, Code: 20, Text: "Cannot drop 'local' database while replication is active"}))
}
