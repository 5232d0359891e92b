package stage_test

import (
	"fmt"
	"testing"

	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/agg/internal/aggtest"
	"github.com/duskdb/duskdb/query/agg/stage"
)

// specs has a specification of each stage.
var specs = map[string]string{
	"$addFields": `{"a": 1}`, "$bucket": `{"groupBy": "$a", "boundaries": [1, 2]}`, "$bucketAuto": `{"groupBy": "$a", "buckets": 2}`,
	"$changeStream": `{}`, "$changeStreamSplitLargeEvent": `{}`, "$collStats": `{}`, "$count": `"n"`, "$currentOp": `{}`,
	"$densify": `{"field": "a", "range": {"step": 1, "bounds": "full"}}`, "$documents": `[]`, "$facet": `{"f": []}`,
	"$fill": `{"output": {"a": {"value": 0}}}`, "$geoNear": `{"near": [1, 2], "distanceField": "d"}`,
	"$graphLookup": `{"from": "g", "startWith": 1, "connectFromField": "a", "connectToField": "b", "as": "c"}`,
	"$group":       `{"_id": 1}`, "$indexStats": `{}`, "$limit": `1`, "$listCatalog": `{}`, "$listLocalSessions": `{}`,
	"$listClusterCatalog": `{}`, "$listSampledQueries": `{}`, "$listSearchIndexes": `{}`, "$listSessions": `{}`, "$lookup": `{"from": "g", "as": "c", "pipeline": []}`,
	"$match": `{"a": 1}`, "$merge": `"o"`, "$out": `"o"`, "$planCacheStats": `{}`, "$project": `{"a": 1}`, "$querySettings": `{}`,
	"$queryStats": `{}`, "$rankFusion": `{"input": {"pipelines": {"p": [{"$sort": {"a": 1}}]}}}`, "$redact": `"$$KEEP"`,
	"$score": `{"score": 1}`, "$scoreFusion": `{"input": {"pipelines": {"p": [{"$score": {"score": 1}}]}, "normalization": "none"}}`, "$replaceRoot": `{"newRoot": "$a"}`, "$replaceWith": `"$a"`, "$sample": `{"size": 1}`,
	"$search": `{}`, "$searchMeta": `{}`, "$set": `{"a": 1}`, "$setWindowFields": `{"output": {"a": {"$sum": 1}}}`,
	"$shardedDataDistribution": `{}`, "$skip": `1`, "$sort": `{"a": 1}`, "$sortByCount": `"$a"`, "$unionWith": `"g"`, "$unset": `"a"`,
	"$unwind": `"$a"`, "$vectorSearch": `{}`,
}

// behind are the errors of a stage behind $match and behind $changeStream, for the stages
// that may not stand behind both.
var behind = map[string][2]string{
	"$bucket":                      {"", "20: $group"},
	"$bucketAuto":                  {"", "20: $bucketAuto"},
	"$changeStream":                {"40602: $changeStream", "40602: $changeStream"},
	"$changeStreamSplitLargeEvent": {"20: $changeStreamSplitLargeEvent can only be used in", ""},
	"$collStats":                   {"40602: $collStats", "20: $collStats"},
	"$count":                       {"", "20: $group"},
	"$currentOp":                   {"40602: $currentOp", "20: $currentOp"},
	"$densify":                     {"", "20: $sort"},
	"$documents":                   {"40602: $documents", "20: $documents"},
	"$facet":                       {"", "20: $facet"},
	"$geoNear":                     {"40603: $geoNear", "20: $geoNear"},
	"$graphLookup":                 {"", "20: $graphLookup"},
	"$group":                       {"", "20: $group"},
	"$indexStats":                  {"40602: $indexStats", "20: $indexStats"},
	"$limit":                       {"", "20: $limit"},
	"$listCatalog":                 {"40602: $listCatalog", "20: $listCatalog"},
	"$listClusterCatalog":          {"40602: $listClusterCatalog", "20: $listClusterCatalog"},
	"$listLocalSessions":           {"40602: $listLocalSessions", "20: $listLocalSessions"},
	"$listSampledQueries":          {"40602: $listSampledQueries", "20: $listSampledQueries"},
	"$listSessions":                {"40602: $listSessions", "20: $listSessions"},
	"$lookup":                      {"", "20: $lookup"},
	"$merge":                       {"", "20: $merge"},
	"$out":                         {"", "20: $out"},
	"$planCacheStats":              {"40602: $planCacheStats", "20: $planCacheStats"},
	"$querySettings":               {"40602: $querySettings", "20: $querySettings"},
	"$queryStats":                  {"40602: $queryStats", "20: $queryStats"},
	"$rankFusion":                  {"10170100: $rankFusion/$scoreFusion", "10170100: $rankFusion/$scoreFusion"},
	"$sample":                      {"", "20: $sample"},
	"$score":                       {"", "20: $score"},
	"$scoreFusion":                 {"10170100: $rankFusion/$scoreFusion", "10170100: $rankFusion/$scoreFusion"},
	"$setWindowFields":             {"", "20: $_internalSetWindowFields"},
	"$skip":                        {"", "20: $skip"},
	"$sort":                        {"", "20: $sort"},
	"$sortByCount":                 {"", "20: $group"},
	"$unionWith":                   {"", "20: $unionWith"},
	"$unwind":                      {"", "20: $unwind"},
}

func TestStagesBehindOthers(t *testing.T) {
	for _, name := range agg.StageNames() {
		if specs[name] == "" {
			t.Errorf("%s has no specification in this test", name)
			continue
		}
		o, firsts := stage.Options{DB: "test", Coll: "c"}, []string{`{"$match": {"b": 1}}`, `{"$changeStream": {}}`}
		switch name {
		case "$currentOp", "$listClusterCatalog", "$listLocalSessions", "$listSampledQueries", "$queryStats": // need admin and no collection
			o, firsts = stage.Options{DB: "admin"}, []string{`{"$documents": []}`, `{"$changeStream": {"allChangesForCluster": true}}`}
		case "$listSessions":
			o = stage.Options{DB: "config", Coll: "system.sessions"}
		}
		for i, first := range firsts {
			pipeline, want := fmt.Sprintf(`[%s, {"%s": %s}]`, first, name, specs[name]), behind[name][i]
			if want != "" {
				want += "…"
			}
			t.Run(pipeline, func(t *testing.T) { aggtest.CheckCompile(t, o, pipeline, want) })
		}
	}
}

// What the optimiser drops does not keep $geoNear from being the first stage.
func TestFirstOfOptimized(t *testing.T) {
	const near = `{"$geoNear": {"near": [1, 2], "distanceField": "d"}}, {"$sort": {"d": {"$meta": "geoNearDistance"}}}`
	const refused = "40603: $geoNear was not the first stage in the pipeline after optimization. Is optimization disabled or inhibited?"
	for _, tt := range []struct{ before, err string }{
		{`{"$match": {}}`, ""},
		{`{"$skip": 0}`, ""},
		{`{"$match": {}}, {"$skip": 0}, {"$match": {}}`, ""},
		{`{"$skip": 0}, {"$skip": 0}`, ""},
		{`{"$match": {"a": 1}}`, refused},
		{`{"$skip": 1}`, refused},
		{`{"$limit": 5}`, refused},
		{`{"$sort": {"a": 1}}`, refused},
		{`{"$project": {"a": 1}}`, refused},
		{`{"$geoNear": {"near": [1, 2], "distanceField": "e"}}`, refused},
	} {
		pipeline := `[` + tt.before + `, ` + near + `]`
		aggtest.CheckCompile(t, stage.Options{DB: "test", Coll: "c"}, pipeline, tt.err)
		for _, outer := range []string{`[{"$lookup": {"from": "c", "as": "x", "pipeline": %s}}]`, `[{"$unionWith": {"coll": "c", "pipeline": %s}}]`} {
			aggtest.CheckCompile(t, stage.Options{DB: "test", Coll: "d"}, fmt.Sprintf(outer, pipeline), tt.err)
		}
		aggtest.CheckCompile(t, stage.Options{DB: "test", Coll: "d"}, `[{"$facet": {"f": `+pipeline+`}}]`, "40600: $geoNear is not allowed to be used within a $facet stage")
	}
}
