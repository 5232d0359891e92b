package source_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/agg/internal/aggtest"
	"github.com/duskdb/duskdb/query/agg/stage"
)

// TestRefusals: the errors of mongod's parsers for each option of a source.
func TestRefusals(t *testing.T) {
	geo := func(more string) string {
		return `[{"$geoNear": {"near": [1, 2], "distanceField": "d"` + more + `}}]`
	}
	near := func(point string) string { return `[{"$geoNear": {"near": ` + point + `, "distanceField": "d"}}]` }
	for _, tt := range []compileTest{
		{"test", "c", `[{"$collStats": {"count": 1}}]`, "14: BSON field '$collStats.count' is the wrong type 'int', expected type 'object'"},
		{"test", "c", `[{"$collStats": {"count": null}}]`, ""},
		{"test", "c", `[{"$collStats": {"count": {"a": 1}}}]`, "31170: The \"count\" option of $collStats must be an empty object, but got: { a: 1 }"},
		{"test", "c", `[{"$collStats": {"queryExecStats": {"a": 1}}}]`, "31170: The \"queryExecStats\" option of $collStats must be an empty object, but got: { a: 1 }"},
		{"test", "c", `[{"$collStats": {"latencyStats": {"histograms": 1}}}]`, "14: BSON field '$collStats.latencyStats.histograms' is the wrong type 'int', expected type 'bool'"},
		{"test", "c", `[{"$collStats": {"latencyStats": {"x": 1}}}]`, "40415: BSON field '$collStats.latencyStats.x' is an unknown field."},
		{"test", "c", `[{"$collStats": {"storageStats": {"scale": "x"}}}]`, "14: BSON field '$collStats.storageStats.scale' is the wrong type 'string', expected types '[long, int, decimal, double]'"},
		{"test", "c", `[{"$collStats": {"storageStats": {"scale": 0}}}]`, "2: BSON field 'scale' value must be >= 1, actual value '0'"},
		{"test", "c", `[{"$collStats": {"storageStats": {"scale": null, "verbose": true}}}]`, ""},
		{"test", "c", `[{"$indexStats": 1}]`, "28803: The $indexStats stage specification must be an empty object"},
		{"config", "system.sessions", `[{"$listSessions": 1}]`, "14: $listSessions options must be specified in an object, but found: int"},
		{"config", "system.sessions", `[{"$listSessions": {"allUsers": 1}}]`, "14: BSON field '$listSessions.allUsers' is the wrong type 'int', expected type 'bool'"},
		{"config", "system.sessions", `[{"$listSessions": {"users": 1}}]`, "14: BSON field '$listSessions.users' is the wrong type 'int', expected type 'array'"},
		{"config", "system.sessions", `[{"$listSessions": {"foo": 1}}]`, "40415: BSON field '$listSessions.foo' is an unknown field."},
		{"test", "", `[{"$listLocalSessions": {"users": [1]}}]`, "14: BSON field '$listLocalSessions.users' is the wrong type 'int', expected type 'object'"},
		{"test", "", `[{"$listLocalSessions": {"users": [{"user": "a"}]}}]`, "40414: BSON field '$listLocalSessions.users.db' is missing but a required field"},
		{"test", "", `[{"$listLocalSessions": {"users": [{"user": "a", "db": null}]}}]`, "40414: BSON field '$listLocalSessions.users.db' is missing but a required field"},
		{"config", "system.sessions", `[{"$listSessions": {"users": [{"user": null, "db": "a"}]}}]`, "40414: BSON field '$listSessions.users.user' is missing but a required field"},
		{"test", "c", `[{"$geoNear": {"near": [1, 2], "distanceField": "` + strings.Repeat("a.", 199) + `a"}}]`, "5984700: Field path exceeds path length limit"},
		{"test", "c", `[{"$geoNear": {"near": [1, 2], "distanceField": "` + strings.Repeat("a.", 200) + `a"}}]`, "15: FieldPath is too long"},
		{"test", "c", `[{"$listLocalSessions": {}}]`, "73: $listLocalSessions must be run against the database with {aggregate: 1}, not a collection"},
		{"test", "c", `[{"$facet": {"f": [{"$listLocalSessions": {}}]}}]`, "73: $listLocalSessions must be run against the database with {aggregate: 1}, not a collection"},
		{"admin", "c", `[{"$currentOp": {}}]`, "73: $currentOp must be run against the 'admin' database with {aggregate: 1}"},
		{"admin", "c", `[{"$listSampledQueries": {}}]`, "73: $listSampledQueries must be run against the 'admin' database with {aggregate: 1}"},
		{"test", "", `[{"$listLocalSessions": {"users": [{"user": "a", "db": 1}]}}]`, "14: BSON field '$listLocalSessions.users.db' is the wrong type 'int', expected type 'string'"},
		{"test", "", `[{"$listLocalSessions": {"users": [{"user": "a", "db": "b", "x": 1}]}}]`, "40415: BSON field '$listLocalSessions.users.x' is an unknown field."},
		{"test", "", `[{"$listLocalSessions": {"allUsers": null, "users": null}}]`, ""},
		{"test", "c", `[{"$planCacheStats": 1}]`, "9: $planCacheStats value must be an object. Found: int"},
		{"test", "c", `[{"$planCacheStats": {"allHosts": true, "x": 1}}]`, "9: $planCacheStats parameters object must contain at most one field"},
		{"test", "c", `[{"$planCacheStats": {"allHosts": 1}}]`, "13111: Wrong type for field (allHosts) int != bool"},
		{"test", "c", `[{"$planCacheStats": {"allHosts": true}}]`, "4503200: $planCacheStats stage supports allHosts parameter only for sharded clusters"},
		{"test", "c", `[{"$planCacheStats": {"allHosts": false}}]`, ""},
		{"test", "c", `[{"$listCatalog": {"a": 1}}]`, "6200600: The $listCatalog stage specification must be an empty object"},
		{"test", "", `[{"$listCatalog": {}}]`, "73: Collectionless $listCatalog must be run against the 'admin' database with {aggregate: 1}"},
		{"admin", "", `[{"$listCatalog": {}}]`, ""},
		{"test", "c", `[{"$listCatalog": {}}]`, ""},
		{"admin", "", `[{"$listSampledQueries": 1}]`, "6876001: $listSampledQueries expects an object"},
		{"test", "", `[{"$listSampledQueries": {}}]`, "73: $listSampledQueries must be run against the 'admin' database with {aggregate: 1}"},
		{"admin", "", `[{"$listSampledQueries": {"x": 1}}]`, "40415: BSON field '$listSampledQueries.x' is an unknown field."},
		{"admin", "", `[{"$listSampledQueries": {"namespace": 1}}]`, "14: BSON field '$listSampledQueries.namespace' is the wrong type 'int', expected type 'string'"},
		{"admin", "", `[{"$listSampledQueries": {"namespace": "a.b"}}]`, ""},
		{"admin", "", `[{"$querySettings": 1}]`, "7746800: $querySettings stage expects a document as argument"},
		{"admin", "", `[{"$querySettings": {"x": 1}}]`, "40415: BSON field '$querySettings.x' is an unknown field."},
		{"admin", "", `[{"$querySettings": {"showDebugQueryShape": 1}}]`, "14: BSON field '$querySettings.showDebugQueryShape' is the wrong type 'int', expected type 'bool'"},
		{"admin", "", `[{"$querySettings": {"showDebugQueryShape": true}}]`, ""},
		{"admin", "", `[{"$shardedDataDistribution": 1}]`, "6789100: The $shardedDataDistribution stage specification must be an empty object"},
		{"test", "", `[{"$shardedDataDistribution": {}}]`, "6789102: The $shardedDataDistribution stage can only be run on the admin database"},
		{"test", "", `[{"$documents": {"$foo": 1}}]`, "168: Unrecognized expression '$foo'"},

		{"test", "c", `[{"$changeStream": 1}]`, "6188500: $changeStream must take a nested object but found: $changeStream: 1"},
		{"test", "c", `[{"$changeStream": {"resumeAfter": 1}}]`, "14: BSON field '$changeStream.resumeAfter' is the wrong type 'int', expected type 'object'"},
		{"test", "c", `[{"$changeStream": {"showExpandedEvents": null}}]`, "14: BSON field '$changeStream.showExpandedEvents' is the wrong type 'null', expected type 'bool'"},
		{"test", "c", `[{"$changeStream": {"resumeAfter": null, "startAfter": null}}]`, ""},
		{"test", "c", `[{"$changeStream": {"resumeAfter": {"_data": "8"}, "startAfter": {"_data": "8"}}}]`, "50865: Do not specify both 'resumeAfter' and 'startAfter' in a $changeStream stage"},
		{"test", "c", `[{"$changeStream": {"resumeAfter": {"_data": "8"}, "startAtOperationTime": {"$timestamp": {"t": 1, "i": 1}}}}]`, "40674: Only one type of resume option is allowed, but multiple were found."},
		{"test", "c", `[{"$changeStream": {"allChangesForCluster": true}}]`, "72: A $changeStream with 'allChangesForCluster:true' may only be opened on the 'admin' database, and with no collection name; found test.c"},
		{"test", "", `[{"$changeStream": {"allChangesForCluster": true}}]`, "72: A $changeStream with 'allChangesForCluster:true' may only be opened on the 'admin' database, and with no collection name; found test.$cmd.aggregate"},
		{"admin", "", `[{"$changeStream": {"allChangesForCluster": true}}]`, ""},
		{"admin", "", `[{"$changeStream": {}}]`, "73: $changeStream may not be opened on the internal admin database"},
		{"test", "c", `[{"$changeStream": {}}, {"$changeStreamSplitLargeEvent": {"a": 1}}]`, "7182800: $changeStreamSplitLargeEvent spec should be an empty object"},
		{"test", "c", `[{"$changeStream": {}}, {"$changeStreamSplitLargeEvent": 1}]`, "7182800: $changeStreamSplitLargeEvent spec should be an empty object"},

		{"test", "c", `[{"$geoNear": 1}]`, "10065: invalid parameter: expected an object ($geoNear)"},
		{"test", "c", `[{"$geoNear": []}]`, "5860400: $geoNear requires a 'near' argument"},
		{"test", "c", `[{"$geoNear": {"near": [1, 2], "distanceField": 1}}]`, "16606: $geoNear requires that the 'distanceField' option is a String"},
		{"test", "c", `[{"$geoNear": {"near": [1, 2], "distanceField": "a..b"}}]`, "15998: FieldPath field names may not be empty strings."},
		{"test", "c", geo(`, "includeLocs": 1`), "16607: $geoNear requires that 'includeLocs' option is a String"},
		{"test", "c", geo(`, "includeLocs": "$a"`), "16410: FieldPath field names may not start with '$'. Consider using $getField or $setField."},
		{"test", "c", geo(`, "maxDistance": "x"`), "14: maxDistance must be a number"},
		{"test", "c", geo(`, "maxDistance": -1`), "2: maxDistance must be non-negative"},
		{"test", "c", geo(`, "minDistance": -1`), "2: minDistance must be non-negative"},
		{"test", "c", geo(`, "minDistance": {"$numberDouble": "NaN"}`), "2: minDistance must be non-negative"},
		{"test", "c", geo(`, "query": 1`), "14: query must be an object but found: int"},
		{"test", "c", geo(`, "key": 1`), "14: $geoNear parameter 'key' must be of type string but found type: int"},
		{"test", "c", geo(`, "key": ""`), "2: $geoNear parameter 'key' cannot be the empty string"},
		{"test", "c", geo(`, "key": "$a"`), "16410: FieldPath field names may not start with '$'. Consider using $getField or $setField."},
		{"test", "c", geo(`, "num": 1`), "50857: $geoNear no longer supports the 'num' parameter. Use a $limit stage instead."},
		{"test", "c", geo(`, "start": 1`), "50856: $geoNear no longer supports the 'start' argument."},
		{"test", "c", geo(`, "collation": {}`), "40227: $geoNear does not accept the 'collation' parameter. Instead, specify a collation for the entire aggregation command."},
		{"test", "c", geo(`, "foo": 1`), "2: Unknown argument to $geoNear: foo"},
		{"test", "c", geo(`, "uniqueDocs": 1, "spherical": true, "minDistance": 1, "maxDistance": 5`), ""},
		{"test", "c", near(`5`), "5860401: $geoNear requires a 'near' argument that is an object or an array"},
		{"test", "c", near(`{"$add": [1, {"$foo": 1}]}`), "168: Unrecognized expression '$foo'"},
		{"test", "c", near(`["a", 1]`), "2: invalid point in geo near query $geometry argument: …"},
		{"test", "c", near(`[1]`), "2: invalid point in geo near query $geometry argument: …"},
		{"test", "c", near(`{"type": "Point", "coordinates": 1}`), "2: invalid point in geo near query $geometry argument: …"},
		{"test", "c", near(`{"type": "Polygon", "coordinates": [1, 2]}`), "2: $geoNear requires a 'near' option that is a GeoJSON Point or a legacy pair"},
		{"test", "c", near(`{"x": 1, "y": 2}`), ""},
	} {
		t.Run(tt.pipeline, func(t *testing.T) {
			aggtest.CheckCompile(t, stage.Options{DB: tt.db, Coll: tt.coll}, tt.pipeline, tt.err)
		})
	}
}

// TestAskedOfTheHost: the host gets the checked specification, without fields that are
// null.
func TestAskedOfTheHost(t *testing.T) {
	for _, tt := range []struct{ pipeline, spec string }{
		{`[{"$collStats": {"count": {}, "storageStats": null}}]`, `{"count":{}}`},
		{`[{"$changeStream": {"fullDocument": "updateLookup", "startAfter": null}}]`, `{"fullDocument":"updateLookup"}`},
		{`[{"$indexStats": {}}]`, `{}`},
		{`[{"$planCacheStats": {}}]`, `{}`},
	} {
		h := aggtest.NewHost()
		if _, err := aggtest.Run(t, h, tt.pipeline); err != nil {
			t.Fatal(err)
		}
		if a := h.Asked; len(a) != 1 || a[0].Spec.JSON() != tt.spec || a[0].DB != "test" || a[0].Coll != "c" {
			t.Error(tt.pipeline, a)
		}
		h.Fail = func(string) error { return errors.New("broken") }
		if _, err := aggtest.Run(t, h, tt.pipeline); err == nil {
			t.Error(tt.pipeline, "does not fail")
		}
	}
}

// TestSourcesAreExplained: explain shows sources as they were written.
func TestSourcesAreExplained(t *testing.T) {
	for _, tt := range []struct{ coll, pipeline, want string }{
		{"c", `[{"$collStats": {"count": {}}}]`, `[{"$collStats":{"count":{}}}]`},
		{"", `[{"$documents": [{"a": 1}]}]`, `[{"$documents":{"$const":[{"a":1}]}}]`},
		{"c", `[{"$changeStream": {}}, {"$changeStreamSplitLargeEvent": {}}]`, `[{"$changeStream":{}},{"$changeStreamSplitLargeEvent":{}}]`},
	} {
		p, err := agg.Compile(aggtest.Array(t, tt.pipeline), stage.Options{DB: "test", Coll: tt.coll})
		if err != nil {
			t.Fatal(err)
		}
		if got := aggtest.Shape(p); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}

// TestDocumentsOfVariables: $documents evaluates its expression when it runs.
func TestDocumentsOfVariables(t *testing.T) {
	lookup := func(e string) string {
		return `[{"$lookup": {"let": {"v": "$v"}, "as": "d", "pipeline": [{"$documents": ` + e + `}]}}]`
	}
	aggtest.RunCases(t, []aggtest.Case{
		{Name: "documents", Docs: `[{"_id": 1, "v": [{"a": 1}]}]`, Pipeline: lookup(`"$$v"`), Want: `[{"_id": 1, "v": [{"a": 1}], "d": [{"a": 1}]}]`},
		{Name: "empty", Docs: `[{"_id": 1, "v": []}]`, Pipeline: lookup(`"$$v"`), Want: `[{"_id": 1, "v": [], "d": []}]`},
		{Name: "no array", Docs: `[{"_id": 1, "v": 5}]`, Pipeline: lookup(`"$$v"`), Err: "5858203: an array is expected"},
		{Name: "no documents", Docs: `[{"_id": 1, "v": [5]}]`, Pipeline: lookup(`"$$v"`), Err: "40228: elements within the array passed to $documents must evaluate to an object, but resulting value was: 5. Type of resulting value: 'int'.…"},
		{Name: "failing", Docs: `[{"_id": 1, "v": 0}]`, Pipeline: lookup(`[{"a": {"$divide": [1, "$$v"]}}]`), Err: "2: can't $divide by zero"},
	}, nil)
}

// TestNearOfVariables: the arguments of a $geoNear inside a $lookup are checked when they
// are known.
func TestNearOfVariables(t *testing.T) {
	lookup := func(args string) string {
		return `[{"$lookup": {"from": "places", "let": {"v": "$v"}, "as": "d", "pipeline": [{"$geoNear": {"distanceField": "d", "key": "loc", ` + args + `}}]}}]`
	}
	aggtest.RunCases(t, []aggtest.Case{
		{Name: "no point", Docs: `[{"_id": 1, "v": 5}]`, Pipeline: lookup(`"near": "$$v"`), Err: "5860401: $geoNear requires a 'near' argument that is an object or an array"},
		{Name: "no distance", Docs: `[{"_id": 1, "v": "x"}]`, Pipeline: lookup(`"near": [1, 2], "maxDistance": "$$v"`), Err: "14: maxDistance must be a number"},
		{Name: "failing", Docs: `[{"_id": 1, "v": 0}]`, Pipeline: lookup(`"near": [1, {"$divide": [1, "$$v"]}]`), Err: "2: can't $divide by zero"},
		{Name: "nothing there", Docs: `[{"_id": 1, "v": [0, 0]}]`, Pipeline: lookup(`"near": "$$v"`), Want: `[{"_id": 1, "v": [0, 0], "d": []}]`},
	}, nil)
}
