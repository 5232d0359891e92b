package gate_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/gate"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
)

// While user writes are blocked the databases of the server itself can be written to,
// and who has the privilege bypassWriteBlockingMode writes anywhere.
func TestBlockedWrites(t *testing.T) {
	t.Parallel()
	h := harness.NewAuth(t)
	h.User("ann", "readWriteAnyDatabase@admin", "dbAdminAnyDatabase@admin")
	h.User("root", "root@admin")
	h.MustOn("test", `{"insert": "c", "documents": [{"_id": 1}]}`)
	h.MustOn("admin", `{"setUserWriteBlockMode": 1, "global": true}`)
	for _, tt := range []struct {
		db, command string
		code        int32
	}{
		{"test", `{insert: "c", documents: [{_id: 2}]}`, 371},
		{"test", `{aggregate: "c", pipeline: [{$match: {}}, {$out: "d"}], cursor: {}}`, 371},
		{"test", `{aggregate: "c", pipeline: [{$merge: {into: "d"}}], cursor: {}}`, 371},
		{"test", `{aggregate: "c", pipeline: [{$match: {}}], cursor: {}}`, 0},
		{"test", `{find: "c"}`, 0},
		{"admin", `{insert: "c", documents: [{_id: 2}]}`, 0},
		{"admin", `{renameCollection: "test.c", to: "test.d"}`, 371},
		{"admin", `{renameCollection: "admin.c", to: "admin.d"}`, 0},
		{"admin", `{bulkWrite: 1, ops: [{insert: 0, document: {_id: 3}}], nsInfo: [{ns: "admin.d"}]}`, 0},
		{"admin", `{bulkWrite: 1, ops: [{insert: 0, document: {_id: 4}}], nsInfo: [{ns: "admin.d"}, {ns: "test.c"}]}`, 371},
	} {
		if reply := h.As("ann", tt.db, tt.command); reply.Lookup("code").Int32() != tt.code || reply.Has("writeErrors") {
			t.Errorf("%s on %s answered %s", tt.command, tt.db, reply)
		}
	}
	h.Svc.Options.Security.Auth = false
	for command, code := range map[string]int32{`{applyOps: [{op: "i", ns: "admin.d", o: {_id: 9}}]}`: 371, `{ping: 1}`: 0} {
		if reply := h.Admin(command); reply.Lookup("code").Int32() != code {
			t.Errorf("without access control %s answered %s", command, reply)
		}
	}
	if reply := h.As("root", "test", `{insert: "c", documents: [{_id: 5}]}`); reply.Lookup("n").Int32() != 1 {
		t.Errorf("with the privilege: %s", reply)
	}
	h.Svc.Options.Security.Auth = false
	h.Holds("c", `{_id: 1} {_id: 5}`)
}

// spared are the commands that write and go on while user writes are blocked, by the reason.
var spared = map[string]string{
	"abortTransaction": "it undoes writes", "commitTransaction": "its writes were made before", "coordinateCommitTransaction": "a stub of sharding",
	"prepareTransaction": "a stub of sharding", "reIndex": "the data stay as they are", "setIndexCommitQuorum": "the data stay as they are",
	"setDefaultRWConcern": "a setting of the server", "setFeatureCompatibilityVersion": "a setting of the server",
	"_mergeAuthzCollections": "users are documents of the server", "createRole": "users are documents of the server",
	"createUser": "users are documents of the server", "dropAllRolesFromDatabase": "users are documents of the server",
	"dropAllUsersFromDatabase": "users are documents of the server", "dropRole": "users are documents of the server",
	"dropUser": "users are documents of the server", "grantPrivilegesToRole": "users are documents of the server",
	"grantRolesToRole": "users are documents of the server", "grantRolesToUser": "users are documents of the server",
	"revokePrivilegesFromRole": "users are documents of the server", "revokeRolesFromRole": "users are documents of the server",
	"revokeRolesFromUser": "users are documents of the server", "updateRole": "users are documents of the server",
	"updateUser": "users are documents of the server", "mqPeek": "it shows messages; what has expired is removed by the server",
}

// distributing are the commands of servers over one database. They change how a collection is
// distributed, not its documents.
var distributing = strings.Fields(`abortReshardCollection addShard addShardToZone balancerStart balancerStop
	cleanupReshardCollection clearJumboFlag commitReshardCollection configureCollectionBalancing enableSharding
	mergeAllChunksOnShard mergeChunks moveChunk moveCollection movePrimary
	moveRange refineCollectionShardKey removeShard removeShardFromZone reshardCollection
	shardCollection split transitionFromDedicatedConfigServer transitionToDedicatedConfigServer unshardCollection
	updateZoneKeyRange`)

// Each command that writes is stopped while user writes are blocked, or spared for a reason.
func TestEachWriteIsBlockedOrSpared(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.Admin(`{setUserWriteBlockMode: 1, global: true}`)
	for _, cmd := range h.Svc.Commands {
		writes, blocked := cmd.Has(kernel.Writes), cmd.Has(kernel.UserWrite)
		reason := spared[cmd.Name]
		if slices.Contains(distributing, cmd.Name) {
			reason = "the documents stay as they are"
		}
		if writes && blocked == (reason != "") {
			t.Errorf("%s: say by the flag UserWrite that it is blocked, or here why not", cmd.Name)
		}
		if !writes && (reason != "" || blocked && cmd.Name != "cloneCollectionAsCapped") {
			t.Errorf("%s does not write", cmd.Name)
		}
	}
	for command, code := range map[string]int32{
		`{mqSend: "q", messages: [{}]}`: 371, `{mqReceive: "q"}`: 371, `{mqComplete: "q", lockToken: 1}`: 371, `{mqAbandon: "q"}`: 371,
		`{mqDefer: "q"}`: 371, `{mqDeadLetter: "q"}`: 371, `{mqRenewLock: "q"}`: 371, `{mqCancelScheduled: "q"}`: 371,
		`{mqPurge: "q"}`: 371, `{mqResubmit: "q"}`: 371, `{mqRestore: "q", messages: []}`: 371, `{mqPurge: "q", dryRun: true}`: 26, `{mqPeek: "q"}`: 26,
		`{mapReduce: "c", map: "function() {}", reduce: "function() {}", out: "d"}`:         371,
		`{mapReduce: "c", map: "function() {}", reduce: "function() {}", out: {inline: 1}}`: 0,
		`{customAction: "CreateCollection", collection: "d"}`:                               371,
		`{customAction: "GetDatabase"}`:                                                     26,
	} {
		if reply := h.Run(command); reply.Lookup("code").Int32() != code {
			t.Errorf("%s answered %s", command, reply)
		}
	}
}

// What administrators have set holds for commands that do not say otherwise.
func TestDefaultsOfCommands(t *testing.T) {
	t.Parallel()
	h := harness.New(t).AsMember()
	h.Admin(`{setDefaultRWConcern: 1, defaultWriteConcern: {w: "majority", wtimeout: 5}}`)
	h.Admin(`{setClusterParameter: {defaultMaxTimeMS: {readOperations: 5000}}}`)
	for _, tt := range []struct {
		command  string
		majority bool
		millis   int64
	}{
		{`{insert: "c", documents: [{}]}`, true, 0},
		{`{insert: "c", documents: [{}], writeConcern: {w: 1}}`, false, 0},
		{`{find: "c"}`, false, 5000},
		{`{count: "c"}`, false, 5000},
		{`{find: "c", maxTimeMS: 70}`, false, 70},
		{`{aggregate: "c", pipeline: []}`, true, 5000},
		{`{ping: 1}`, false, 0},
	} {
		body := harness.Relaxed(tt.command)
		name, _ := body.First()
		c := &kernel.Call{Ctx: context.Background(), Svc: h.Svc, Cmd: h.Svc.Table[name], Request: kernel.Request{DB: "test", Body: body}}
		if _, err := c.Generic.Read(c.Cmd.Name, body); err != nil {
			t.Fatal(err)
		}
		if err := gate.ApplySettings(h.Svc, c); err != nil || c.Generic.Majority != tt.majority || c.Generic.MaxTime.Milliseconds() != tt.millis {
			t.Errorf("%s: majority %t, %v, %v", tt.command, c.Generic.Majority, c.Generic.MaxTime, err)
		}
	}
	e := &harness.Breakable{Engine: h.Svc.Engine}
	h.Svc.Engine = e
	for name, broken := range map[string]int{"insert": 0, "find": 1} {
		e.Broken = []storage.Namespace{kernel.ConcernNamespace, kernel.ClusterNamespace}[broken]
		h.Svc.Settings = kernel.NewSettings()
		c := &kernel.Call{Ctx: context.Background(), Svc: h.Svc, Cmd: h.Svc.Table[name], Request: kernel.Request{DB: "test"}}
		if err := gate.ApplySettings(h.Svc, c); err == nil {
			t.Errorf("%s runs without the settings", name)
		}
	}
}

// stuck is an engine whose Views last until they are interrupted.
type stuck struct{ storage.Engine }

func (stuck) View(ctx context.Context, _ func(storage.Tx) error) error {
	<-ctx.Done()
	return ctx.Err()
}

// A command does not wait longer for the settings than it may run, although its time has not
// begun, and stops when it is killed.
func TestReadingSettingsIsLimited(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.Svc.Engine, h.Svc.Settings = stuck{h.Svc.Engine}, kernel.NewSettings()
	killed, kill := context.WithCancelCause(context.Background())
	kill(mongoerr.New(mongoerr.Interrupted, "operation was interrupted"))
	for _, tt := range []struct {
		command string
		ctx     context.Context
		code    mongoerr.Code
	}{
		{`{insert: "c", documents: [{}], maxTimeMS: 1}`, context.Background(), mongoerr.MaxTimeMSExpired},
		{`{insert: "c", documents: [{}]}`, killed, mongoerr.Interrupted},
		{`{find: "c"}`, killed, mongoerr.Interrupted},
	} {
		body := harness.Relaxed(tt.command)
		name, _ := body.First()
		c := &kernel.Call{Ctx: tt.ctx, Svc: h.Svc, Cmd: h.Svc.Table[name], Request: kernel.Request{DB: "test", Body: body}}
		if _, err := c.Generic.Read(c.Cmd.Name, body); err != nil {
			t.Fatal(err)
		}
		if err := gate.ApplySettings(h.Svc, c); mongoerr.CodeOf(err) != tt.code {
			t.Errorf("%s: %v, want code %d", tt.command, err, tt.code)
		}
	}
}
