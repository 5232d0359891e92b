package agg_test

import (
	"slices"
	"testing"

	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/agg/internal/aggtest"
	"github.com/duskdb/duskdb/value"
)

// TestExports: what users of the package reach through it.
func TestExports(t *testing.T) {
	for pipeline, want := range map[string]string{
		`[{"$match": {}}, 5, {"$set": {}}]`: "",
		`[{"$match": {}, "$set": {}}]`:      "40323: A pipeline stage specification object must contain exactly one field.",
		`[{"$foo": {}}]`:                    "40324: Unrecognized pipeline stage name: '$foo'",
	} {
		err := agg.CheckNames(dialect.Mongo82, aggtest.Array(t, pipeline))
		if want != "" {
			aggtest.CheckError(t, err, want)
		} else if err != nil {
			t.Error(err)
		}
	}
	if p, err := agg.Compile(aggtest.Array(t, `[{"$limit": 1}]`), agg.Options{DB: "test", Coll: "c"}); err != nil || p.Len() != 1 {
		t.Error(p, err)
	}
	if docs, err := aggtest.ReadAll(agg.Docs(value.EmptyDoc)); len(docs) != 1 || err != nil {
		t.Error(docs, err)
	}
	if !agg.RunsScripts(value.Document(value.NewDoc("$function", value.Null()))) || agg.RunsScripts(value.Null()) {
		t.Error("scripts")
	}
	for name, names := range map[string][]string{"$match": agg.StageNames(), "$sum": agg.AccumulatorNames(), "$rank": agg.WindowNames()} {
		if !slices.IsSorted(names) || !slices.Contains(names, name) {
			t.Error(names)
		}
	}
	_, err := agg.Compile(aggtest.Array(t, `[{"$limit": 1}]`), agg.Options{DB: "test", Coll: "c", Update: true})
	aggtest.CheckError(t, err, "72: $limit is not allowed to be used within an update")
}
