package stage_test

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/agg/internal/aggtest"
	"github.com/duskdb/duskdb/query/agg/stage"
)

// compileTest is a pipeline on a namespace and the error it gives, "" for
// none.
type compileTest struct {
	db, coll string
	pipeline string
	err      string
}

func TestRulesOfPlaces(t *testing.T) {
	for _, tt := range []compileTest{
		{"test", "c", `[{"$foo": 1}]`, "40324: Unrecognized pipeline stage name: '$foo'"},
		{"test", "c", `[{"match": {}}]`, "40324: Unrecognized pipeline stage name: 'match'"},
		{"test", "c", `[1]`, "14: Each element of the 'pipeline' array must be an object"},
		{"test", "c", `[{}]`, "40323: A pipeline stage specification object must contain exactly one field."},
		{"test", "c", `[{"$match": {}, "$limit": 1}]`, "40323: A pipeline stage specification object must contain exactly one field."},
		{"admin", "", `[{"$match": {}}, {"$currentOp": {}}]`, "73: {aggregate: 1} is not valid for '$match'; a collection is required."},
		{"test", "c", `[{"$changeStream": {}}, {"$collStats": {}}]`, "20: $collStats is not permitted in a $changeStream pipeline"},
		{"test", "c", `[{"$changeStreamSplitLargeEvent": {}}, {"$limit": 1}]`, "20: $changeStreamSplitLargeEvent can only be used in a $changeStream pipeline"},
		{"test", "c", `[{"$limit": 1}, {"$collStats": {}}]`, "40602: $collStats is only valid as the first stage in a pipeline"},
		{"test", "c", `[{"$limit": 1}, {"$match": {"$text": {"$search": "x"}}}]`, "17313: $match with $text is only allowed as the first pipeline stage"},
		{"test", "", `[{"$match": {}}]`, "73: {aggregate: 1} is not valid for '$match'; a collection is required."},
		{"test", "c", `[{"$documents": []}]`, "73: '$documents' can only be run with {aggregate: 1}"},
		{"test", "c", `[{"$changeStream": {}}, {"$match": {}}]`, ""},
		{"test", "c", `[{"$changeStream": {}}, {"$group": {"_id": 1}}]`, "20: $group is not permitted in a $changeStream pipeline"},
		{"test", "c", `[{"$changeStreamSplitLargeEvent": {}}]`, "20: $changeStreamSplitLargeEvent can only be used in a $changeStream pipeline"},
		{"test", "c", `[{"$project": {"a": {"$divide": [1, 0]}}}]`, "2: Failed to optimize pipeline :: caused by :: can't $divide by zero"},
		{"test", "c", `[{"$sort": {"s": {"$meta": "textScore"}}}]`, "40218: query requires text score metadata, but it is not available"},
		{"test", "c", `[{"$project": {"s": {"$meta": "geoNearDistance"}}}]`, "40218: query requires $geoNear distance metadata, but it is not available"},
		{"test", "c", `[{"$geoNear": {"near": [1, 2], "distanceField": "d"}}, {"$project": {"s": {"$meta": "geoNearDistance"}}}]`, ""},
		{"test", "c", `[{"$sort": {"s": {"$meta": "randVal"}}}]`, ""},
	} {
		t.Run(tt.pipeline, func(t *testing.T) {
			aggtest.CheckCompile(t, stage.Options{DB: tt.db, Coll: tt.coll}, tt.pipeline, tt.err)
		})
	}
	_, err := agg.Compile(aggtest.Array(t, "["+strings.Repeat(`{"$skip": 1},`, 1000)+`{"$skip": 1}]`), stage.Options{DB: "test", Coll: "c"})
	aggtest.CheckError(t, err, "7749501: Pipeline length must be no longer than 1000 stages")
	nested := strings.Repeat(`[{"$unionWith": {"coll": "x", "pipeline": `, 21) + "[]" + strings.Repeat("}}]", 21)
	_, err = agg.Compile(aggtest.Array(t, nested), stage.Options{DB: "test", Coll: "c"})
	aggtest.CheckError(t, err, "232: Maximum number of nested sub-pipelines exceeded. Limit: 20")
	_, err = agg.Compile(aggtest.Array(t, `[{"$out": "x"}]`), stage.Options{DB: "test", Coll: "c", InTransaction: true})
	aggtest.CheckError(t, err, "263: Stage not supported inside of a multi-document transaction: $out")
}
