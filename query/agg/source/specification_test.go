package source_test

import (
	"testing"

	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/query/agg/internal/aggtest"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/expr"
)

// compileTest is a pipeline on a namespace and the error it gives, "" for
// none.
type compileTest struct {
	db, coll string
	pipeline string
	err      string
}

func TestSpecifications(t *testing.T) {
	for _, tt := range []compileTest{
		{"test", "", `[{"$documents": 1}]`, "5858203: an array is expected"},
		{"test", "", `[{"$currentOp": {}}]`, "73: $currentOp must be run against the 'admin' database with {aggregate: 1}"},
		{"admin", "", `[{"$currentOp": {"allUsers": true, "localOps": true}}]`, ""},
		{"test", "c", `[{"$indexStats": {"a": 1}}]`, "28803: The $indexStats stage specification must be an empty object"},
		{"test", "c", `[{"$indexStats": {}}]`, ""},
		{"test", "c", `[{"$collStats": 1}]`, "5447000: $collStats must take a nested object but found: $collStats: 1"},
		{"test", "c", `[{"$collStats": {"foo": {}}}]`, "40415: BSON field '$collStats.foo' is an unknown field."},
		{"test", "c", `[{"$collStats": {"latencyStats": {"histograms": true}, "storageStats": {"scale": 1024}, "count": {}}}]`, ""},
		{"test", "c", `[{"$planCacheStats": {}}]`, ""},
		{"test", "c", `[{"$planCacheStats": {"x": 1}}]`, "9: $planCacheStats parameters object may contain only 'allHosts' field. Found: x"},
		{"config", "system.sessions", `[{"$listSessions": {"allUsers": true}}]`, ""},
		{"test", "c", `[{"$listSessions": {}}]`, "73: $listSessions may only be run against config.system.sessions"},
		{"test", "", `[{"$listLocalSessions": {"users": [{"user": "a", "db": "b"}]}}]`, ""},
		{"test", "", `[{"$listLocalSessions": {"allUsers": true, "users": [{"user": "a", "db": "b"}]}}]`, "12: $listLocalSessions may not specify {allUsers:true} and {users:[...]} at the same time"},
		{"test", "c", `[{"$search": {}}]`, "31082: Using $search and $vectorSearch aggregation stages requires…"},
		{"test", "c", `[{"$listSearchIndexes": {}}]`, "31082: Using Atlas Search Database Commands…"},
		{"admin", "", `[{"$shardedDataDistribution": {}}]`, "40644: $shardedDataDistribution can only be run on mongoS"},
		{"admin", "", `[{"$queryStats": {}}]`, ""},
		{"test", "", `[{"$queryStats": {}}]`, "73: $queryStats must be run against the 'admin' database with {aggregate: 1}"},
		{"admin", "", `[{"$queryStats": 1}]`, "9: $queryStats value must be an object. Found: int"},
		{"admin", "", `[{"$queryStats": {"a": 1}}]`, "40415: BSON field '$queryStats.a' is an unknown field."},
		{"admin", "", `[{"$queryStats": {"transformIdentifiers": 1}}]`, "14: BSON field '$queryStats.transformIdentifiers' is the wrong type 'int', expected type 'object'"},
		{"admin", "", `[{"$queryStats": {"transformIdentifiers": {}}}]`, "40414: BSON field '$queryStats.transformIdentifiers.algorithm' is missing but a required field"},
		{"admin", "", `[{"$queryStats": {"transformIdentifiers": {"algorithm": "x"}}}]`, "2: Enumeration value 'x' for field '$queryStats.transformIdentifiers.algorithm' is not a valid value."},
		{"admin", "", `[{"$queryStats": {"transformIdentifiers": {"algorithm": 1}}}]`, "14: BSON field '$queryStats.transformIdentifiers.algorithm' is the wrong type 'int', expected type 'string'"},
		{"admin", "", `[{"$queryStats": {"transformIdentifiers": {"key": 1}}}]`, "40415: BSON field '$queryStats.transformIdentifiers.key' is an unknown field."},
		{"admin", "", `[{"$queryStats": {"transformIdentifiers": {"hmacKey": 1}}}]`, "14: BSON field '$queryStats.transformIdentifiers.hmacKey' is the wrong type 'int', expected type 'binData'"},
		{"admin", "", `[{"$queryStats": {"transformIdentifiers": {"hmacKey": {"$binary": {"base64": "AA==", "subType": "00"}}}}}]`, "14: BSON field '$queryStats.transformIdentifiers.hmacKey' is the wrong binData type 'general', expected type 'sensitive'"},
		{"admin", "", `[{"$queryStats": {"transformIdentifiers": {"algorithm": "hmac-sha-256"}}}]`, "9: The 'hmacKey' parameter of the $queryStats stage must be specified when applying the hmac-sha-256 algorithm"},
		{"test", "c", `[{"$changeStream": {"fullDocumentBeforeChange": "y", "fullDocument": "x"}}]`, "2: Enumeration value 'y' for field '$changeStream.fullDocumentBeforeChange' is not a valid value."},
		{"test", "c", `[{"$changeStream": {"fullDocument": "x", "fullDocumentBeforeChange": "y"}}]`, "2: Enumeration value 'x' for field '$changeStream.fullDocument' is not a valid value."},
		{"test", "c", `[{"$changeStream": {"fullDocument": "x"}}]`, "2: Enumeration value 'x' for field '$changeStream.fullDocument' is not a valid value."},
		{"test", "c", `[{"$changeStream": {"foo": 1}}]`, "40415: BSON field '$changeStream.foo' is an unknown field."},
		{"test", "c", `[{"$geoNear": {"distanceField": "d"}}]`, "5860400: $geoNear requires a 'near' argument"},
		{"test", "c", `[{"$geoNear": {"near": [1, 2], "distanceField": "d", "limit": 1}}]`, "50858: $geoNear no longer supports the 'limit' parameter. Use a $limit stage instead."},
	} {
		t.Run(tt.pipeline, func(t *testing.T) {
			aggtest.CheckCompile(t, stage.Options{DB: tt.db, Coll: tt.coll}, tt.pipeline, tt.err)
		})
	}
}

// The arguments of $currentOp, before 8.2 and since.
func TestCurrentOpByVersion(t *testing.T) {
	for _, tt := range []struct{ spec, before, now string }{
		{`1`, "9: $currentOp options must be specified in an object, but found: int", "14: $currentOp options must be specified in an object, but found: int"},
		{`{"foo": true}`, "9: Unrecognized option 'foo' in $currentOp stage.", "40415: BSON field '$currentOp.foo' is an unknown field."},
		{`{"allUsers": 1}`, "9: The 'allUsers' parameter of the $currentOp stage must be a boolean value, but found: int", "14: BSON field '$currentOp.allUsers' is the wrong type 'int', expected type 'bool'"},
		{`{"targetAllNodes": true}`, "", "9: $currentOp supports targetAllNodes parameter only for sharded clusters"},
		{`{"allUsers": true, "truncateOps": false, "targetAllNodes": false}`, "", ""},
	} {
		for as, err := range map[dialect.Dialect]string{dialect.Mongo80: tt.before, dialect.Mongo82: tt.now} {
			aggtest.CheckCompile(t, stage.Options{DB: "admin", Scope: expr.NewScope(as)}, `[{"$currentOp": `+tt.spec+`}]`, err)
		}
	}
}
