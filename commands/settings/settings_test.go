package settings_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/duskdb/duskdb/commands/gate"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/commands/replset"
	"github.com/duskdb/duskdb/commands/users"
	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

func TestDefaultRWConcern(t *testing.T) {
	h := harness.New(t)
	if !h.Svc.InCluster() {
		h.Refuses([]harness.Refusal{{DB: "admin", Command: `{getDefaultRWConcern: 1}`, Code: 51300, Text: "'getDefaultRWConcern' is not supported on standalone nodes."}})
	}
	h = harness.New(t).AsMember()
	d := h.Admin(`{getDefaultRWConcern: 1}`)
	if d.Lookup("defaultWriteConcernSource").Str() != "implicit" || d.Lookup("defaultWriteConcern").Doc().Lookup("w").Str() != "majority" || d.Lookup("defaultReadConcern").Doc().Lookup("level").Str() != "local" {
		t.Errorf("at first %s", d)
	}
	for command, code := range map[string]int32{
		`{setDefaultRWConcern: 1}`:                                              2,
		`{setDefaultRWConcern: 1, defaultWriteConcern: {w: 0}}`:                 2,
		`{setDefaultRWConcern: 1, defaultReadConcern: {level: "snapshot"}}`:     2,
		`{setDefaultRWConcern: 1, defaultReadConcern: {level: "linearizable"}}`: 2,
		`{setDefaultRWConcern: 1, defaultReadConcern: {level: "x"}}`:            2,
		`{setDefaultRWConcern: 1, defaultReadConcern: 1}`:                       14,
		`{setDefaultRWConcern: 1, defaultWriteConcern: {w: "x"}}`:               79,
		`{setDefaultRWConcern: 1, defaultWriteConcern: {wtimeout: 1}}`:          2,
		`{getDefaultRWConcern: 1, inMemory: 1}`:                                 14,
		`{setDefaultRWConcern: 1, foo: 1}`:                                      40415,
		`{setDefaultRWConcern: 1, defaultWriteConcern: {}}`:                     0,
		`{getDefaultRWConcern: 1, foo: 1}`:                                      40415,
	} {
		if reply := h.Admin(command); reply.Lookup("code").Int32() != code {
			t.Errorf("%s answered %s", command, reply)
		}
	}
	h.Admin(`{setDefaultRWConcern: 1, defaultWriteConcern: {w: "majority"}, defaultReadConcern: {level: "majority"}}`)
	d = h.Admin(`{getDefaultRWConcern: 1, inMemory: true}`)
	if d.Lookup("defaultWriteConcern").Doc().Lookup("w").Str() != "majority" || d.Lookup("defaultWriteConcernSource").Str() != "global" ||
		d.Lookup("defaultReadConcernSource").Str() != "global" || !d.Lookup("inMemory").Bool() || !d.Has("updateOpTime") {
		t.Errorf("then %s", d)
	}
	if reply := h.Admin(`{setDefaultRWConcern: 1, defaultWriteConcern: {}}`); reply.Lookup("code").Int32() != 20 {
		t.Errorf("unsetting answered %s", reply)
	}
	// It is kept where mongod keeps it, and found again.
	h.Svc.Settings = kernel.NewSettings() // as after a restart
	again, err := h.Svc.DefaultConcerns(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if again.Write.Lookup("w").Str() != "majority" {
		t.Errorf("kept %s", again.Doc)
	}
	c := &kernel.Call{Svc: h.Svc, Cmd: h.Svc.Table["insert"], Request: kernel.Request{DB: "test", Body: harness.Relaxed(`{insert: "c"}`)}}
	if err := gate.ApplySettings(h.Svc, c); err != nil || !c.Generic.Majority {
		t.Errorf("a write is not durable: %v", err)
	}
}

// What people switch off on small machines is off.
func TestNoDiagnosticData(t *testing.T) {
	h := harness.New(t)
	h.Admin(`{setParameter: 1, diagnosticDataCollectionEnabled: false}`)
	if got := h.Admin(`{getParameter: 1, diagnosticDataCollectionEnabled: 1}`).Lookup("diagnosticDataCollectionEnabled"); got.Kind() != value.KindBool || got.Bool() {
		t.Errorf("it is %s", got)
	}
}

// Nothing is set if a parameter of the command does not exist, cannot be set, or stands twice.
func TestSetParameterRefuses(t *testing.T) {
	h := harness.New(t)
	h.Refuses([]harness.Refusal{
		{DB: "admin", Command: `{setParameter: 1, notablescan: true, noSuch: 1}`, Code: 72, Text: "attempted to set unrecognized parameter [noSuch], use help:true to see options "},
		{DB: "admin", Command: `{setParameter: 1, notablescan: true, maxSessions: 5}`, Code: 20, Text: "not allowed to change [maxSessions] at runtime"},
		{DB: "admin", Command: `{setParameter: 1, notablescan: true, roleGraphInvalidationIsFatal: true}`, Code: 72, Text: "Server parameter: 'roleGraphInvalidationIsFatal' is disabled"},
		{DB: "admin", Command: `{setParameter: 1, tlsMode: "requireTLS"}`, Code: 20, Text: "tlsMode cannot be changed while the server runs: start it with --tlsMode"},
		{DB: "admin", Command: `{setParameter: 1}`, Code: 72, Text: "no option found to set, use help:true to see options "},
		{DB: "admin", Command: `{getParameter: 1, roleGraphInvalidationIsFatal: 1}`, Code: 72, Text: "no option found to get"},
	})
	if h.Admin(`{getParameter: 1, notablescan: 1}`).Lookup("notablescan").Bool() {
		t.Error("a refused command has set a parameter")
	}
	twice := value.NewDoc("setParameter", value.Int32(1), "quiet", value.Bool(true), "quiet", value.Bool(false))
	want := "attempted to set parameter [quiet] twice in the same setParameter command, once to value: [true], and once to value: [false]"
	if reply := h.RunOn("admin", twice); reply.Lookup("errmsg").Str() != want {
		t.Errorf("%s", reply)
	}
	all := h.Admin(`{getParameter: {showDetails: true, allParameters: true}}`)
	if d := all.Lookup("maxSessions").Doc(); d.Lookup("value").Int32() != 1_000_000 || d.Lookup("settableAtRuntime").Bool() || !d.Lookup("settableAtStartup").Bool() || all.Has("roleGraphInvalidationIsFatal") {
		t.Errorf("maxSessions: %s", d)
	}
	for option, want := range map[string]bool{"allParameters: 1": true, "allParameters: 0.5": true, "allParameters: 0": false, "showDetails: 0": false} {
		if h.Admin(`{getParameter: {`+option+`}, quiet: 1}`).Has("maxSessions") != want {
			t.Errorf("%s is not %t", option, want)
		}
	}
	h.Refuses([]harness.Refusal{{DB: "admin", Command: `{getParameter: {showDetails: "1"}, quiet: 1}`, Code: 14, Text: "BSON field 'getParameter.showDetails' is the wrong type 'string', expected types '[bool, long, int, decimal, double]'"}})
}

func TestClusterParameters(t *testing.T) {
	h := harness.New(t)
	tests := []struct {
		command string
		code    int32
	}{
		{`{getClusterParameter: "*"}`, 0},
		{`{getClusterParameter: ["changeStreamOptions", "defaultMaxTimeMS"]}`, 0},
		{`{getClusterParameter: "noSuch"}`, 4},
		{`{getClusterParameter: []}`, 2},
		{`{getClusterParameter: 1}`, 14},
		{`{setClusterParameter: {noSuch: {a: 1}}}`, 4},
		{`{setClusterParameter: {defaultMaxTimeMS: {readOperations: -1}}}`, 2},
		{`{setClusterParameter: {defaultMaxTimeMS: {readOperations: "x"}}}`, 14},
		{`{setClusterParameter: {defaultMaxTimeMS: {foo: 1}}}`, 2},
		{`{setClusterParameter: {changeStreamOptions: {preAndPostImages: {expireAfterSeconds: "on"}}}}`, 2},
		{`{setClusterParameter: {changeStreamOptions: {preAndPostImages: {expireAfterSeconds: 0}}}}`, 2},
		{`{setClusterParameter: {changeStreamOptions: {preAndPostImages: {expireAfterSeconds: 100}}}}`, 0},
		{`{setClusterParameter: {defaultMaxTimeMS: {readOperations: 5000}}}`, 0},
	}
	for _, tt := range tests {
		if reply := h.Admin(tt.command); reply.Lookup("code").Int32() != tt.code {
			t.Errorf("%s answered %s", tt.command, reply)
		}
	}
	list := h.Admin(`{getClusterParameter: "*"}`).Lookup("clusterParameters").Doc()
	if images := list.Index(0).Doc().Lookup("preAndPostImages").Doc(); images.Lookup("expireAfterSeconds").Int32() != 100 {
		t.Errorf("parameters %s", list)
	}
	c := &kernel.Call{Svc: h.Svc, Cmd: h.Svc.Table["find"], Request: kernel.Request{DB: "test", Body: harness.Relaxed(`{find: "c"}`)}}
	if err := gate.ApplySettings(h.Svc, c); err != nil || c.Generic.MaxTime.Milliseconds() != 5000 {
		t.Errorf("a read may take %v: %v", c.Generic.MaxTime, err)
	}
}

func TestUserWriteBlock(t *testing.T) {
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1}]}`)
	if reply := h.Admin(`{setUserWriteBlockMode: 1}`); reply.Lookup("code").Int32() != 40414 {
		t.Errorf("answered %s", reply)
	}
	h.Admin(`{setUserWriteBlockMode: 1, global: true}`)
	for _, command := range []string{
		`{insert: "c", documents: [{}]}`, `{update: "c", updates: [{q: {}, u: {$set: {a: 1}}}]}`, `{delete: "c", deletes: [{q: {}, limit: 0}]}`,
		`{findAndModify: "c", remove: true}`, `{create: "d"}`, `{drop: "c"}`, `{dropDatabase: 1}`, `{createIndexes: "c", indexes: [{key: {a: 1}, name: "a"}]}`,
		`{aggregate: "c", pipeline: [{$out: "d"}], cursor: {}}`,
	} {
		h.Fails(371, command)
	}
	if reply := h.Admin(`{bulkWrite: 1, ops: [{insert: 0, document: {}}], nsInfo: [{ns: "test.c"}]}`); reply.Lookup("code").Int32() != 371 {
		t.Errorf("bulkWrite answered %s", reply)
	}
	if reply := h.Admin(`{renameCollection: "test.c", to: "test.d"}`); reply.Lookup("code").Int32() != 371 {
		t.Errorf("renameCollection answered %s", reply)
	}
	h.OK(`{find: "c"}`)
	h.OK(`{aggregate: "c", pipeline: [{$match: {}}], cursor: {}}`)
	if reply := h.Admin(`{insert: "own", documents: [{}]}`); !reply.Lookup("ok").Truthy() {
		t.Errorf("a write to admin answered %s", reply)
	}
	h.Admin(`{setUserWriteBlockMode: 1, global: false}`)
	h.OK(`{insert: "c", documents: [{}]}`)
}

// Who blocks writes for a reason must name it to allow them again.
func TestUserWriteBlockReason(t *testing.T) {
	h := harness.New(t).AsMember()
	const acquire, release = "Cannot acquire user writes critical section with different options than the already existing one. reason: ", "Cannot release user writes critical section with different reason than the already existing one. reason: "
	for _, tt := range []struct {
		arguments string
		code      int32
		text      string
	}{
		{`global: true, reason: "Other"`, 2, "Enumeration value 'Other' for field 'setUserWriteBlockMode.reason' is not a valid value."},
		{`global: true, reason: 1`, 14, ""},
		{`global: false, reason: "DiskUseThresholdExceeded"`, 0, ""},
		{`global: true, reason: "DiskUseThresholdExceeded"`, 0, ""},
		{`global: true, reason: "DiskUseThresholdExceeded"`, 0, ""},
		{`global: true`, 20, acquire + "Unspecified, current: DiskUseThresholdExceeded"},
		{`global: false, reason: "Unspecified"`, 20, release + "Unspecified, current: DiskUseThresholdExceeded"},
		{`global: false, reason: "DiskUseThresholdExceeded"`, 0, ""},
		{`global: true, reason: null`, 0, ""},
		{`global: false, reason: "Unspecified"`, 20, release + "Unspecified, current: Unspecified"},
		{`global: false`, 0, ""},
		{`global: true, reason: "ClusterToClusterMigrationInProgress"`, 0, ""},
	} {
		reply := h.Admin(`{setUserWriteBlockMode: 1, ` + tt.arguments + `}`)
		if reply.Lookup("code").Int32() != tt.code || tt.text != "" && reply.Lookup("errmsg").Str() != tt.text {
			t.Errorf("%s answered %s", tt.arguments, reply)
		}
	}
	if text := h.Fails(371, `{insert: "c", documents: [{}]}`); text != "User writes blocked, reason: ClusterToClusterMigrationInProgress" {
		t.Errorf("a write failed with %q", text)
	}
	if h.Svc.InCluster() { // a mongos has no section repl
		return
	}
	repl := h.Admin(`{serverStatus: 1}`).Lookup("repl").Doc()
	if repl.Lookup("userWriteBlockMode").Int32() != 2 || repl.Lookup("userWriteBlockReason").Int32() != 1 ||
		repl.Lookup("userWriteBlockModeCounters").String() != `{ Unspecified: 1, ClusterToClusterMigrationInProgress: 1, DiskUseThresholdExceeded: 1 }` {
		t.Errorf("serverStatus shows %s", repl)
	}
}

// Each version knows three feature compatibility versions, and works with its own and, if
// there is a use for it, an older one.
func TestSetFeatureCompatibilityVersion(t *testing.T) {
	for as, commands := range map[dialect.Dialect]map[string]int32{
		dialect.Mongo82: {
			`{setFeatureCompatibilityVersion: "8.2", confirm: true}`:       0,
			`{setFeatureCompatibilityVersion: "8.0", confirm: 1}`:          0,
			`{setFeatureCompatibilityVersion: "8.2"}`:                      7369100,
			`{setFeatureCompatibilityVersion: "8.0"}`:                      7369100,
			`{setFeatureCompatibilityVersion: "8.0", confirm: false}`:      7369100,
			`{setFeatureCompatibilityVersion: "8.1", confirm: true}`:       5147403,
			`{setFeatureCompatibilityVersion: "7.0", confirm: true}`:       4926900,
			`{setFeatureCompatibilityVersion: "8.3", confirm: true}`:       4926900,
			`{setFeatureCompatibilityVersion: 8, confirm: true}`:           14,
			`{setFeatureCompatibilityVersion: "8.2", confirm: "yes"}`:      14,
			`{setFeatureCompatibilityVersion: "8.2", confirm: true, x: 1}`: 40415,
		},
		dialect.Mongo80: {
			`{setFeatureCompatibilityVersion: "8.0", confirm: true}`: 0,
			`{setFeatureCompatibilityVersion: "8.0"}`:                7369100,
			`{setFeatureCompatibilityVersion: "7.0"}`:                7369100,
			`{setFeatureCompatibilityVersion: "7.0", confirm: true}`: 5147403,
			`{setFeatureCompatibilityVersion: "8.2", confirm: true}`: 4926900,
			`{setFeatureCompatibilityVersion: "4.4", confirm: true}`: 4926900,
		},
	} {
		h := harness.NewWith(t, kernel.Options{Dialect: as})
		for command, code := range commands {
			if reply := h.Admin(command); reply.Lookup("code").Int32() != code {
				t.Errorf("%s: %s answered %s", as.Version(), command, reply)
			}
		}
	}
}

// The feature compatibility version is stored, and shown by getParameter.
func TestFeatureCompatibilityVersionIsStored(t *testing.T) {
	h := harness.New(t)
	for _, version := range []string{"8.2", "8.0", "8.2"} {
		h.Admin(`{setFeatureCompatibilityVersion: "` + version + `", confirm: true}`)
		if got := h.Admin(`{getParameter: 1, featureCompatibilityVersion: 1}`).Lookup("featureCompatibilityVersion").String(); got != `{ version: "`+version+`" }` {
			t.Errorf("after %s: %s", version, got)
		}
		stored := h.Admin(`{find: "system.version"}`).Lookup("cursor").Doc().Lookup("firstBatch").Doc().Index(0).String()
		if stored != `{ _id: "featureCompatibilityVersion", version: "`+version+`" }` {
			t.Errorf("stored: %s", stored)
		}
	}
}

// What the older version does not know must go before.
func TestFeatureCompatibilityVersionIsNotLowered(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "c", validator: {a: 1}, validationAction: "errorAndLog"}`)
	reply := h.Admin(`{setFeatureCompatibilityVersion: "8.0", confirm: true}`)
	if reply.Lookup("code").Int32() != 332 || !strings.Contains(reply.Lookup("errmsg").Str(), "First detected collection with 'errorAndLog' enabled: test.c (UUID: ") {
		t.Error(reply)
	}
	h.Admin(`{setFeatureCompatibilityVersion: "8.2", confirm: true}`)
	h.OK(`{collMod: "c", validationAction: "warn"}`)
	if reply := h.Admin(`{setFeatureCompatibilityVersion: "8.0", confirm: true}`); !reply.Lookup("ok").Truthy() {
		t.Error(reply)
	}
}

// What standalone mongods answer to what they do not do.
func TestRefused(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "c"}`)
	tests := []struct {
		command string
		code    int32
	}{
		{`{mapReduce: "c"}`, 40414},
		{`{createSearchIndexes: "c", indexes: []}`, 31082},
		{`{updateSearchIndex: "c"}`, 31082},
		{`{dropSearchIndex: "c"}`, 31082},
		{`{compactStructuredEncryptionData: "c"}`, 6346807},
		{`{compactStructuredEncryptionData: "none"}`, 26},
		{`{getAuditConfig: 1}`, 344},
		{`{setAuditConfig: 1}`, 344},
		{`{atlasVersion: 1}`, 59},
		{`{getLastError: 1}`, 59},
		{`{getnonce: 1}`, 59},
		{`{foo: 1}`, 59},
	}
	if !h.Svc.InCluster() {
		tests = append(tests, []struct {
			command string
			code    int32
		}{
			{`{analyzeShardKey: "test.c"}`, 20},
			{`{getShardMap: 1}`, 203},
			{`{isdbgrid: 1}`, 59},
			{`{shardCollection: "test.c"}`, 59},
			{`{enableSharding: "test"}`, 59},
		}...)
	}
	for _, tt := range tests {
		reply := h.Run(tt.command)
		if reply.Lookup("code").Int32() == 13 {
			reply = h.Admin(tt.command)
		}
		if reply.Lookup("code").Int32() != tt.code {
			t.Errorf("%s answered %s", tt.command, reply)
		}
	}
	if text := h.Run(`{foo: 1}`).Lookup("errmsg").Str(); text != "no such command: 'foo'" {
		t.Error(text)
	}
	if reply := h.Admin(`{shardingState: 1}`); reply.Lookup("enabled").Bool() {
		t.Errorf("answered %s", reply)
	}
	if reply := h.OK(`{availableQueryOptions: 1}`); reply.Lookup("options").Int32() != 246 {
		t.Errorf("answered %s", reply)
	}
	if reply := h.OK(`{whatsmysni: 1}`); reply.Lookup("sni").Str() != "" {
		t.Errorf("answered %s", reply)
	}
}

func TestValidateDBMetadata(t *testing.T) {
	h := harness.New(t)
	h.OK(`{createIndexes: "c", indexes: [{key: {a: "text"}, name: "a_text"}, {key: {b: 1}, name: "b_1"}]}`)
	h.OK(`{create: "v", viewOn: "c", pipeline: [{$match: {a: 1}}]}`)
	if n := h.OK(`{validateDBMetadata: 1, apiParameters: {version: "1", strict: true}}`).Lookup("apiVersionErrors").Doc(); n.Len() != 1 || n.Index(0).Doc().Lookup("code").Int32() != 323 {
		t.Errorf("found %s", n)
	}
	if n := h.OK(`{validateDBMetadata: 1, apiParameters: {version: "1"}}`).Lookup("apiVersionErrors").Doc(); n.Len() != 0 {
		t.Errorf("found %s", n)
	}
	h.OK(`{validateDBMetadata: 1, apiParameters: {version: "2"}}`) // whatever it says: functional-tests on mongod
	h.Fails(40414, `{validateDBMetadata: 1}`)
}

func TestIndexFilters(t *testing.T) {
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1, a: 1, b: 1}]}`)
	h.OK(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a_1"}, {key: {a: 1, b: 1}, name: "a_1_b_1"}]}`)
	used := func(query string) (string, bool) {
		t.Helper()
		p := h.OK(`{explain: ` + query + `, verbosity: "queryPlanner"}`).Lookup("queryPlanner").Doc()
		stage := p.Lookup("winningPlan").Doc()
		for stage.Has("inputStage") {
			stage = stage.Lookup("inputStage").Doc()
		}
		return stage.Lookup("stage").Str() + " " + stage.Lookup("indexName").Str(), p.Lookup("indexFilterSet").Bool()
	}
	query := `{find: "c", filter: {a: 5}, hint: "a_1"}`
	if got, set := used(query); got != "IXSCAN a_1" || set {
		t.Errorf("without a filter: %s, %v", got, set)
	}
	h.OK(`{planCacheSetFilter: "c", query: {a: 1}, indexes: [{a: 1, b: 1}]}`)
	if got, set := used(query); got != "IXSCAN a_1_b_1" || !set {
		t.Errorf("with a filter by key: %s, %v", got, set)
	}
	if got, set := used(`{find: "c", filter: {a: {$gt: 5}}, hint: "a_1"}`); got != "IXSCAN a_1" || set {
		t.Errorf("another shape: %s, %v", got, set)
	}
	h.OK(`{planCacheSetFilter: "c", query: {a: 9}, indexes: ["a_1"]}`)
	list := h.OK(`{planCacheListFilters: "c"}`).Lookup("filters").Doc()
	if list.Len() != 1 || list.Index(0).Doc().String() != harness.Relaxed(`{query: {a: 9}, sort: {}, projection: {}, indexes: ["a_1"]}`).String() {
		t.Errorf("filters %s", list)
	}
	h.OK(`{planCacheSetFilter: "c", query: {a: 9}, indexes: ["none"]}`)
	if got, _ := used(query); got != "COLLSCAN " {
		t.Errorf("no index left: %s", got)
	}
	h.OK(`{planCacheClearFilters: "c", query: {a: 0}}`)
	if got, set := used(query); got != "IXSCAN a_1" || set {
		t.Errorf("cleared: %s, %v", got, set)
	}
	h.OK(`{planCacheClear: "c"}`)
	h.OK(`{planCacheClear: "none", query: {a: 1}}`)
	for _, command := range []string{
		`{planCacheSetFilter: "c", indexes: ["a"]}`, `{planCacheSetFilter: "c", query: {}}`, `{planCacheSetFilter: "c", query: {}, indexes: []}`,
		`{planCacheSetFilter: "c", query: {}, indexes: 1}`, `{planCacheSetFilter: "c", query: {}, indexes: [1]}`, `{planCacheSetFilter: "c", query: 1, indexes: ["a"]}`,
		`{planCacheSetFilter: "none", query: {}, indexes: ["a"]}`, `{planCacheClear: "c", sort: {a: 1}}`, `{planCacheSetFilter: "c", query: {$bad: 1}, indexes: ["a"]}`,
	} {
		h.Fails(2, command)
	}
}

func TestApplyOps(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "c"}`)
	reply := h.Admin(`{applyOps: [
		{op: "n", ns: "", o: {msg: "x"}},
		{op: "i", ns: "test.c", o: {_id: 1, a: 1, gone: 1, sub: {x: 1}, list: [1, 2, 3]}},
		{op: "i", ns: "test.c", o: {_id: 2}}, {op: "i", ns: "test.c", o: {_id: 2, again: 1}},
		{op: "u", ns: "test.c", o2: {_id: 1}, o: {$v: 2, diff: {d: {gone: false}, u: {a: 2}, i: {b: 3}, ssub: {i: {y: 2}}, slist: {a: true, l: 2, u0: 9}}}},
		{op: "u", ns: "test.c", o2: {_id: 2}, o: {$set: {c: 1}}},
		{op: "u", b: true, ns: "test.c", o2: {_id: 3}, o: {_id: 3, whole: true}},
		{op: "i", ns: "test.c", o: {_id: 4}}, {op: "d", ns: "test.c", o: {_id: 4}}, {op: "d", ns: "test.c", o: {_id: 9}},
		{op: "c", ns: "test.$cmd", o: {create: "made", capped: true, size: 4096}},
		{op: "c", ns: "test.$cmd", o: {createIndexes: "c", v: 2, key: {a: 1}, name: "a_1"}},
		{op: "c", ns: "test.$cmd", o: {renameCollection: "test.made", to: "test.renamed"}},
		{op: "c", ns: "test.$cmd", o: {drop: "renamed"}}
	]}`)
	if reply.Lookup("applied").Int32() != 13 || reply.Lookup("results").Doc().Len() != 13 {
		t.Fatalf("answered %s", reply)
	}
	h.Holds("c", `{_id: 1, a: 2, sub: {x: 1, y: 2}, list: [9, 2], b: 3} {_id: 2, again: 1, c: 1} {_id: 3, whole: true}`)
	if list := harness.Docs(h.OK(`{listIndexes: "c"}`)); len(list) != 2 {
		t.Errorf("indexes %v", list)
	}
	tests := []struct {
		command string
		code    int32
	}{
		{`{applyOps: 1}`, 14},
		{`{applyOps: [1]}`, 14},
		{`{applyOps: null}`, 14},
		{`{applyOps: [null]}`, 14},
		{`{applyOps: [{}]}`, 4},
		{`{applyOps: [{ns: "test.c", o: {_id: 1}}]}`, 4},
		{`{applyOps: [{op: null, ns: "test.c", o: {_id: 1}}]}`, 14},
		{`{applyOps: [{op: 123, ns: "test.c", o: {_id: 1}}]}`, 14},
		{`{applyOps: [{op: "", ns: "test.c", o: {_id: 1}}]}`, 20},
		{`{applyOps: [{op: "i", o: {_id: 1}}]}`, 20},
		{`{applyOps: [{op: "i", ns: null, o: {_id: 1}}]}`, 20},
		{`{applyOps: [{op: "i", ns: 123, o: {_id: 1}}]}`, 20},
		{`{applyOps: [{op: "i", ns: "test.c"}]}`, 40414},
		{`{applyOps: [{op: "i", ns: "test.none", o: {_id: 1}}]}`, 26},
		{`{applyOps: [{op: "i", ns: "test.c", o: {a: 1}}]}`, 4},
		{`{applyOps: [{op: "u", ns: "test.c", o2: {_id: 77}, o: {$set: {a: 1}}}], alwaysUpsert: false}`, 8},
		{`{applyOps: [{op: "x", ns: "test.c", o: {_id: 1}}]}`, 2},
		{`{applyOps: [{op: "c", ns: "test.$cmd", o: {find: "c"}}]}`, 2},
		{`{applyOps: [{op: "i", ns: "", o: {_id: 1}}]}`, 20},
		{`{applyOps: [], preCondition: []}`, 6711600},
		{`{applyOps: [], alwaysUpsert: true}`, 6711601},
		{`{applyOps: [], alwaysUpsert: 1}`, 14},
		{`{applyOps: [], count: {$numberLong: "1"}}`, 31240},
		{`{applyOps: [], count: 1}`, 14},
		{`{applyOps: [], prepare: true}`, 2},
		{`{applyOps: [], partialTxn: true}`, 31056},
		{`{applyOps: [{op: "c", ns: "admin.$cmd", o: {applyOps: [], alwaysUpsert: true}}]}`, 6711601},
		{`{applyOps: [{op: "u", ns: "test.c", o2: {_id: 1}, o: {$v: 2, diff: {slist: {a: true, u99999999: 1}}}}]}`, 4770505},
		{`{applyOps: [{op: "u", ns: "test.c", o2: {_id: 1}, o: {$v: 2, diff: {slist: {a: true, l: -1}}}}]}`, 4770505},
	}
	for _, tt := range tests {
		if reply := h.Admin(tt.command); reply.Lookup("code").Int32() != tt.code {
			t.Errorf("%s answered %s", tt.command, reply)
		}
	}
	reply = h.Admin(`{applyOps: [{op: "i", ns: "test.c", o: {_id: 5}}, {op: "i", ns: "test.none", o: {_id: 1}}, {op: "i", ns: "test.c", o: {_id: 6}}]}`)
	if reply.Lookup("applied").Int32() != 2 || reply.Lookup("results").Doc().String() != value.NewArray(value.Bool(true), value.Bool(false)).Doc().String() {
		t.Errorf("answered %s", reply)
	}
	// An update that finds nothing does not keep what follows from being applied.
	reply = h.Admin(`{applyOps: [{op: "n", ns: "", o: {}}, {op: "u", ns: "test.c", o2: {_id: 77}, o: {_id: 77}}, {op: "i", ns: "test.c", o: {_id: 7}}]}`)
	if reply.Lookup("code").Int32() != 8 || reply.Lookup("errmsg").Str() != "applyOps had one or more errors applying ops" || reply.Lookup("applied").Int32() != 2 ||
		reply.Lookup("results").Doc().String() != value.NewArray(value.Bool(false), value.Bool(true)).Doc().String() {
		t.Errorf("answered %s", reply)
	}
	if n := h.OK(`{count: "c", query: {_id: {$in: [7, 77]}}}`).Lookup("n").Int32(); n != 1 {
		t.Errorf("%d documents were written", n)
	}
	if reply := h.Admin(`{applyOps: [{op: "n", ns: "test.c", o: {}}]}`); reply.Lookup("applied").Int32() != 0 || !reply.Lookup("results").Doc().IsEmpty() {
		t.Errorf("a no-op counts: %s", reply)
	}
}

// TestUnreadableSettings: a server that cannot read what administrators have
// decided does not start as if they had decided nothing.
func TestUnreadableSettings(t *testing.T) {
	for _, ns := range []storage.Namespace{kernel.ConcernNamespace, kernel.ClusterNamespace, kernel.VersionNamespace, replset.ElectionNamespace, oplog.ReaderNamespace} {
		h := harness.New(t)
		_, err := harness.NewService(kernel.Options{Engine: &harness.Breakable{Engine: h.Svc.Engine, Broken: ns}, Clock: h.Clock, TempDir: t.TempDir()})
		if !errors.Is(err, harness.ErrBroken) {
			t.Errorf("%s: %v", ns, err)
		}
	}
}

// Between no time and five seconds a client may be kept waiting to hear that
// its login has failed.
func TestAuthFailedDelay(t *testing.T) {
	h := harness.New(t)
	if v := h.Admin(`{getParameter: 1, authFailedDelayMs: 1}`).Lookup("authFailedDelayMs"); v.SafeInt64() != 0 || !v.IsNumber() {
		t.Errorf("at first it is %s", v)
	}
	for command, code := range map[string]int32{
		`{setParameter: 1, authFailedDelayMs: -1}`:   2,
		`{setParameter: 1, authFailedDelayMs: 5001}`: 2,
		`{setParameter: 1, authFailedDelayMs: 5000}`: 0,
	} {
		if reply := h.Admin(command); reply.Lookup("code").Int32() != code {
			t.Errorf("%s answered %s", command, reply)
		}
	}
	if delay := users.Options(h.Svc).FailedDelay(); delay != 5*time.Second {
		t.Errorf("failed logins wait for %v", delay)
	}
}

// The write of a default is mongod's own, so that it fails with the write concern, which
// other commands show beside their reply.
func TestSetDefaultRWConcernWithItsOwnConcern(t *testing.T) {
	h := harness.New(t).AsMember()
	for concern, code := range map[string]int32{`{}`: 0, `{w: 1}`: 0, `{w: "majority"}`: 0, `{w: "customTag"}`: 79, `{w: {dc1: 1}}`: 100, `{w: 2}`: 100} {
		if r := h.Admin(`{setDefaultRWConcern: 1, defaultReadConcern: {level: "local"}, writeConcern: ` + concern + `}`); r.Lookup("code").Int32() != code {
			t.Errorf("writeConcern %s: %s, want %d", concern, r, code)
		}
	}
}
