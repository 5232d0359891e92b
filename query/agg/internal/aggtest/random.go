package aggtest

import (
	"fmt"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/value"
)

// GenScalar makes small values of several types, so that they often meet.
func GenScalar(t *rapid.T, label string) string {
	return rapid.SampledFrom([]string{`0`, `1`, `2`, `1.5`, `null`, `"x"`, `"y"`, `true`, `{"$numberLong": "1"}`, `{"$numberDecimal": "2"}`}).Draw(t, label)
}

// GenValue makes a value that is at most so deep.
func GenValue(t *rapid.T, depth int) string {
	n := rapid.IntRange(0, 9).Draw(t, "kind")
	switch {
	case n == 0 && depth > 0:
		return fmt.Sprintf(`[%s, %s]`, GenValue(t, depth-1), GenValue(t, depth-1))
	case n == 1 && depth > 0:
		return `[]`
	case n <= 3 && depth > 0:
		return fmt.Sprintf(`{"a": %s, "b": %s}`, GenValue(t, depth-1), GenValue(t, depth-1))
	}
	return GenScalar(t, "scalar")
}

// GenDoc makes a document with this _id.
func GenDoc(t *rapid.T, id int) value.Doc {
	json := fmt.Sprintf(`{"_id": %d`, id)
	for _, name := range []string{"a", "b", "c"} {
		if rapid.IntRange(0, 4).Draw(t, name) > 0 {
			json += fmt.Sprintf(`, %q: %s`, name, GenValue(t, 2))
		}
	}
	return value.MustJSON(json + "}")
}

var genPaths = []string{"a", "b", "c", "a.a", "a.b", "b.a", "x", "_id"}

// GenPath makes a path that documents of GenDoc may have.
func GenPath(t *rapid.T) string { return rapid.SampledFrom(genPaths).Draw(t, "path") }

// GenCondition makes a filter.
func GenCondition(t *rapid.T) string {
	path := GenPath(t)
	switch rapid.IntRange(0, 6).Draw(t, "cond") {
	case 0:
		return fmt.Sprintf(`{%q: {"$gte": %s}}`, path, GenScalar(t, "v"))
	case 1:
		return fmt.Sprintf(`{%q: {"$exists": %t}}`, path, rapid.Bool().Draw(t, "exists"))
	case 2:
		return fmt.Sprintf(`{%q: {"$in": [%s, %s]}}`, path, GenScalar(t, "v"), GenScalar(t, "w"))
	case 3:
		return fmt.Sprintf(`{"$or": [{%q: %s}, {%q: %s}]}`, path, GenScalar(t, "v"), GenPath(t), GenScalar(t, "w"))
	case 4:
		return fmt.Sprintf(`{"$expr": {"$gt": ["$%s", "$%s"]}}`, path, GenPath(t))
	case 5:
		return fmt.Sprintf(`{%q: %s, "b": {"$ne": %s}}`, path, GenScalar(t, "v"), GenScalar(t, "w"))
	}
	return fmt.Sprintf(`{%q: %s}`, path, GenScalar(t, "v"))
}

// GenStage makes stages whose results do not depend on chance.
func GenStage(t *rapid.T) string {
	path := GenPath(t)
	switch rapid.IntRange(0, 16).Draw(t, "stage") {
	case 0, 1, 2, 3, 4:
		return fmt.Sprintf(`{"$match": %s}`, GenCondition(t))
	case 5:
		return fmt.Sprintf(`{"$sort": {%q: %d, "_id": 1}}`, rapid.SampledFrom([]string{"x", "c.z", "y"}).Draw(t, "key"), rapid.SampledFrom([]int{1, -1}).Draw(t, "dir"))
	case 6:
		return fmt.Sprintf(`{"$limit": %d}`, rapid.IntRange(1, 6).Draw(t, "n"))
	case 7:
		return fmt.Sprintf(`{"$skip": %d}`, rapid.IntRange(0, 3).Draw(t, "n"))
	case 8:
		return fmt.Sprintf(`{"$unwind": {"path": "$%s", "preserveNullAndEmptyArrays": %t}}`, path, rapid.Bool().Draw(t, "keep"))
	case 9:
		return fmt.Sprintf(`{"$addFields": {"x": "$%s"}}`, path)
	case 10:
		return fmt.Sprintf(`{"$addFields": {"a.b": %s, "x": {"$ifNull": ["$%s", 1]}}}`, GenScalar(t, "v"), path)
	case 11:
		return rapid.SampledFrom([]string{`{"$project": {"a": 1, "x": "$b"}}`, `{"$project": {"a.b": 1, "b": 1}}`, `{"$project": {"a": 0}}`, `{"$project": {"b.a": 0, "c": 0}}`,
			`{"$project": {"_id": 0, "a": 1, "c": 1}}`, `{"$unset": "a.a"}`, `{"$project": {"b": "$a", "a": "$b"}}`}).Draw(t, "project")
	case 12:
		return fmt.Sprintf(`{"$lookup": {"from": "d", "localField": %q, "foreignField": %q, "as": %q}}`, path, GenPath(t), rapid.SampledFrom([]string{"x", "j", "a.j"}).Draw(t, "as"))
	case 13:
		return `{"$unwind": "$j"}`
	case 14:
		return fmt.Sprintf(`{"$lookup": {"from": "d", "let": {"v": "$%s"}, "pipeline": [{"$match": {"$expr": {"$eq": ["$a", "$$v"]}}}, %s], "as": "j"}}`, path, `{"$match": `+GenCondition(t)+`}`)
	}
	if rapid.Bool().Draw(t, "other") {
		return rapid.SampledFrom([]string{
			`{"$unionWith": {"coll": "d", "pipeline": [{"$match": {"a": 1}}]}}`,
			`{"$facet": {"x": [{"$match": {"a": 1}}, {"$limit": 2}], "a": [{"$project": {"b": 1}}]}}`,
			`{"$setWindowFields": {"partitionBy": "$x", "sortBy": {"_id": 1}, "output": {"x": {"$sum": "$b"}}}}`,
			`{"$setWindowFields": {"partitionBy": {"$ifNull": ["$x", 1]}, "output": {"c.n": {"$count": {}}}}}`,
			`{"$replaceRoot": {"newRoot": {"_id": "$_id", "a": "$b", "x": "$a.a"}}}`,
			`{"$graphLookup": {"from": "d", "startWith": "$_id", "connectFromField": "b", "connectToField": "_id", "as": "j"}}`,
			`{"$redact": {"$cond": [{"$eq": ["$b", 1]}, "$$PRUNE", "$$DESCEND"]}}`,
			`{"$bucketAuto": {"groupBy": "$_id", "buckets": 2, "output": {"a": {"$push": "$a"}}}}`,
			`{"$fill": {"sortBy": {"_id": 1}, "output": {"a": {"method": "locf"}, "x": {"value": 7}}}}`,
			`{"$densify": {"field": "y", "range": {"bounds": "full", "step": 1}}}`,
			`{"$count": "x"}`,
		}).Draw(t, "rare")
	}
	return fmt.Sprintf(`{"$group": {"_id": "$%s", "a": {"$first": "$a"}, "x": {"$sum": "$b"}}}`, path)
}
