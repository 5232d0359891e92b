package concern_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/value"
)

// mongod's commands that take a write concern, of those this server has
// (supportsWriteConcern in their sources), and those that take a read concern
// above local outside transactions (supportsReadConcern).
const (
	takeWriteConcern = " abortTransaction aggregate applyOps bulkWrite cloneCollectionAsCapped collMod commitTransaction convertToCapped create" +
		" createIndexes createRole createUser delete drop dropAllRolesFromDatabase dropAllUsersFromDatabase dropDatabase dropIndexes dropRole" +
		" dropUser findAndModify grantPrivilegesToRole grantRolesToRole grantRolesToUser insert mapReduce renameCollection revokePrivilegesFromRole" +
		" revokeRolesFromRole revokeRolesFromUser setDefaultRWConcern setFeatureCompatibilityVersion setIndexCommitQuorum update updateRole updateUser "
	takeReadConcern = " aggregate count dbHash distinct explain filemd5 find getMore mapReduce "
)

// ours reports whether mongod does not have a command, or its behaviour was not looked up.
func ours(c *kernel.Command) bool {
	return strings.HasPrefix(c.Name, "mq") || c.Name == "customAction" || c.Name == "reIndex" || c.Name == "_mergeAuthzCollections" || c.Name == "prepareTransaction" ||
		c.Name == "coordinateCommitTransaction" || c.Name == "removeQuerySettings" || c.Name == "setQuerySettings"
}

// Every command either supports a write concern or refuses it, whatever its value; null
// counts as absent.
func TestConcernsOfAllCommands(t *testing.T) {
	h := harness.New(t)
	for name, cmd := range h.Svc.Table {
		if cmd.Name != name || ours(cmd) || cmd.Enabled != nil || cmd.Has(kernel.PreAuth) && cmd.Name != "hello" {
			continue
		}
		takes := strings.Contains(takeWriteConcern, " "+name+" ")
		if got := cmd.Has(kernel.Writes); got != takes {
			t.Errorf("%s: a write concern is taken: %v, want %v", name, got, takes)
		}
		takes = strings.Contains(takeReadConcern, " "+name+" ")
		if got := cmd.Has(kernel.Reads); got != takes {
			t.Errorf("%s: a read concern is taken: %v, want %v", name, got, takes)
		}
	}
}

func TestConcernsRefused(t *testing.T) {
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1}]}`)
	for _, command := range []string{`count: "c"`, `distinct: "c", key: "a"`, `find: "c"`, `listCollections: 1`, `listIndexes: "c"`, `killCursors: "c", cursors: []`,
		`ping: 1`, `validate: "c"`, `collStats: "c"`, `startSession: 1`, `explain: {find: "c"}`} {
		for _, concern := range []string{`{}`, `{w: 1}`, `{w: "majority"}`, `{j: true}`} {
			if text := h.Fails(72, `{`+command+`, writeConcern: `+concern+`}`); text != "Command does not support writeConcern" {
				t.Errorf("%s: %s", command, text)
			}
		}
		h.OK(`{` + command + `, writeConcern: null}`)
	}
	for _, command := range []string{`insert: "c", documents: [{}]`, `create: "n"`, `collMod: "c"`, `listCollections: 1`, `listIndexes: "c"`, `ping: 1`, `startSession: 1`, `collStats: "c"`} {
		for _, level := range []string{"majority", "available", "linearizable"} {
			want := fmt.Sprintf("Command %s does not support { readConcern: { level: %q, provenance: \"clientSupplied\" } } :: caused by :: read concern not supported",
				command[:strings.IndexByte(command, ':')], level)
			if text := h.Fails(72, fmt.Sprintf(`{%s, readConcern: {level: %q}}`, command, level)); text != want {
				t.Errorf("said %s\nwant %s", text, want)
			}
		}
	}
	h.OK(`{listCollections: 1, readConcern: {level: "local"}}`)
	h.OK(`{count: "c", readConcern: {level: "majority"}}`)
	h.Fails(72, `{aggregate: 1, pipeline: [{$listLocalSessions: {}}], cursor: {}, readConcern: {level: "majority"}}`)
	for _, level := range []string{"majority", "snapshot"} {
		want := fmt.Sprintf("Command aggregate does not support { readConcern: { level: %q, provenance: \"clientSupplied\" } } :: caused by :: Aggregation stage $listSearchIndexes requires read concern local but found %s", level, level)
		if text := h.Fails(72, fmt.Sprintf(`{aggregate: "c", pipeline: [{$listSearchIndexes: {}}], cursor: {}, readConcern: {level: %q}}`, level)); text != want {
			t.Errorf("said %s\nwant %s", text, want)
		}
	}
	h.Fails(31082, `{aggregate: "c", pipeline: [{$listSearchIndexes: {}}], cursor: {}, readConcern: {level: "local"}}`)
	h.Fails(9, `{aggregate: "c", pipeline: [], explain: true, writeConcern: {w: 1}}`)
}

// A default write concern does not count as given in the explain of a pipeline.
func TestDefaultConcernOfExplain(t *testing.T) {
	h := harness.New(t).AsMember()
	h.Admin(`{setDefaultRWConcern: 1, defaultWriteConcern: {w: 1}}`)
	h.OK(`{aggregate: "c", pipeline: [], explain: true}`)
	h.Fails(9, `{aggregate: "c", pipeline: [], explain: true, writeConcern: {w: 1}}`)
}

// How the fields of the concerns are read: write_concern_idl.cpp and
// read_concern_args.cpp of mongod; maxTimeMS is an exact integer.
func TestGenericArguments(t *testing.T) {
	h := harness.New(t)
	for _, tt := range []struct {
		generic string
		code    int32
		text    string
	}{
		{`writeConcern: null`, 0, ""},
		{`writeConcern: {}`, 0, ""},
		{`writeConcern: 1`, 14, ""},
		{`writeConcern: {w: {$numberDouble: "NaN"}}`, 9, "w cannot be NaN"},
		{`writeConcern: {w: 51}`, 9, "w has to be a non-negative number and not greater than 50; found: 51"},
		{`writeConcern: {w: {$numberDecimal: "-0.5"}}`, 0, ""},
		{`writeConcern: {w: {$numberDecimal: "-0.51"}}`, 9, ""},
		{`writeConcern: {w: {}}`, 9, "tagged write concern requires tags"},
		{`writeConcern: {w: {dc: "east"}}`, 9, `tags must be a single level document with only number values; found: dc: "east"`},
		{`writeConcern: {w: true}`, 9, "w has to be a number, string, or object; found: bool"},
		{`writeConcern: {w: null}`, 2, `cannot use non-majority 'w' mode "" when a host is not a member of a replica set`},
		{`writeConcern: {j: null}`, 0, ""},
		{`writeConcern: {j: 1.5}`, 0, ""},
		{`writeConcern: {j: "true"}`, 14, "BSON field 'writeConcern.j' is the wrong type 'string', expected types '[bool, long, int, decimal, double]'"},
		{`writeConcern: {fsync: {}}`, 14, ""},
		{`writeConcern: {fsync: true, j: true}`, 9, "fsync and j options cannot be used together"},
		{`writeConcern: {wtimeout: "soon"}`, 0, ""},
		{`writeConcern: {wtimeout: null}`, 0, ""},
		{`writeConcern: {wtimeout: -1}`, 0, ""},
		{`writeConcern: {wtimeout: 2147483648}`, 9, "wtimeout must be a 32-bit integer"},
		{`writeConcern: {wtimeout: {$numberDouble: "Infinity"}}`, 9, ""},
		{`writeConcern: {provenance: "me"}`, 2, ""},
		{`writeConcern: {provenance: 1}`, 14, ""},
		{`writeConcern: {provenance: "clientSupplied"}`, 0, ""},
		{`writeConcern: {x: 1}`, 40415, ""},
		{`readConcern: null`, 0, ""},
		{`readConcern: {level: null}`, 0, ""},
		{`readConcern: {level: 1}`, 14, ""},
		{`readConcern: {provenance: "me"}`, 2, ""},
		{`readConcern: {provenance: {}}`, 14, ""},
		{`readConcern: {afterClusterTime: null}`, 14, ""},
		{`readConcern: {atClusterTime: {$timestamp: {t: 1, i: 1}}}`, 72, ""},
		{`readConcern: {x: 1}`, 40415, ""},
		{`maxTimeMS: null`, 0, ""},
		{`maxTimeMS: {$numberDecimal: "1000"}`, 0, ""},
		{`maxTimeMS: -0.0`, 0, ""},
		{`maxTimeMS: "1"`, 14, ""},
		{`maxTimeMS: true`, 14, ""},
		{`maxTimeMS: 1.5`, 9, "Expected an integer: maxTimeMS: 1.5"},
		{`maxTimeMS: {$numberDouble: "NaN"}`, 9, ""},
		{`maxTimeMS: {$numberDecimal: "Infinity"}`, 9, ""},
		{`maxTimeMS: -1`, 2, ""},
		{`maxTimeMS: 2147483648`, 2, ""},
		{`lsid: null, txnNumber: null, autocommit: null, startTransaction: null`, 0, ""},
		{`apiVersion: null`, 0, ""},
		{`apiVersion: ""`, 322, ""},
		{`apiVersion: "1", apiStrict: 1`, 14, ""},
		{`$readPreference: null`, 0, ""},
	} {
		command := `{insert: "c", documents: [{}], ` + tt.generic + `}`
		if h.Svc.InCluster() && strings.Contains(tt.text, "is not a member of a replica set") {
			continue
		}
		if tt.code == 0 {
			h.OK(command)
		} else if text := h.Fails(tt.code, command); tt.text != "" && text != tt.text {
			t.Errorf("%s\nsaid %s\nwant %s", tt.generic, text, tt.text)
		}
	}
}

// A field that mongod's IDL parses may be null, which counts as absent; unknown fields are
// refused.
func TestNullAndUnknownFields(t *testing.T) {
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1}]}`)
	for _, command := range []string{
		`{aggregate: "c", pipeline: [], cursor: {batchSize: null}, let: null, collation: null}`,
		`{find: "c", batchSize: null, limit: null, skip: null, let: null}`,
		`{count: "c", limit: null, skip: null}`,
		`{getMore: {$numberLong: "1"}, collection: "c", batchSize: null}`,
		`{listCollections: 1, nameOnly: null, cursor: null}`,
		`{collMod: "c", validator: null, validationLevel: null}`,
	} {
		if reply := h.Run(command); reply.Lookup("code").Int32() == 14 || reply.Lookup("code").Int32() == 40414 {
			t.Errorf("%s: %s", command, reply)
		}
	}
	for name, cmd := range h.Svc.Table {
		if cmd.Name != name || cmd.Has(kernel.Secret) || cmd.Has(kernel.PreAuth) && !cmd.Has(kernel.Bare) || strings.Contains(cmd.Help, "refused") || name == "shutdown" {
			continue
		}
		reply := h.Admin(`{` + name + `: 1, noFieldOfAnyCommand: 1}`)
		if reply.Lookup("ok").Truthy() && !takesAnyField[name] {
			t.Errorf("%s takes a field that it does not know: %s", name, firstBytes(reply))
		}
	}
}

// takesAnyField are the commands that mongod or mongos does not parse by IDL either, or not strictly.
var takesAnyField = map[string]bool{
	"availableQueryOptions": true, "connPoolStats": true, "currentOp": true, "dbHash": true, "features": true, "flushRouterConfig": true, "getDiagnosticData": true,
	"balancerStart": true, "balancerStatus": true, "balancerStop": true, "checkMetadataConsistency": true, "getShardMap": true, "getShardVersion": true,
	"isdbgrid": true, "listShards": true,
	"invalidateUserCache": true, "logRotate": true, "serverStatus": true, "shardingState": true, "startSession": true, "top": true, "whatsmysni": true,
}

func firstBytes(d value.Doc) string {
	s := d.String()
	return s[:min(len(s), 200)]
}

// An invalid update or hint fails the whole bulkWrite, not only its operation.
func TestBulkWriteArguments(t *testing.T) {
	h := harness.New(t)
	for _, op := range []string{
		`{update: 0, filter: {}, updateMods: 1}`, `{update: 0, filter: {}, updateMods: null}`, `{update: 0, filter: {}, updateMods: {$set: {a: 1}}, hint: 1}`,
		`{update: 0, filter: {}, updateMods: {$set: {a: 1}}, hint: null}`, `{delete: 0, filter: {}, hint: []}`,
	} {
		reply := h.Admin(`{bulkWrite: 1, ops: [` + op + `], nsInfo: [{ns: "test.c"}]}`)
		if reply.Lookup("ok").Truthy() || reply.Lookup("code").Int32() != 9 {
			t.Errorf("%s answered %s", op, reply)
		}
	}
	if reply := h.Admin(`{bulkWrite: 1, ops: [{insert: 0, document: {}}], nsInfo: [{ns: "test.c"}], errorsOnly: 1}`); reply.Lookup("code").Int32() != 14 {
		t.Errorf("errorsOnly: 1 answered %s", reply)
	}
}
