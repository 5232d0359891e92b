package agg

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/value"
)

// scalar draws a value of a field.
func scalar(t *rapid.T) string {
	return rapid.SampledFrom([]string{"0", "1", "2", "3", "-1", `"a"`, `"B"`, "null", "true", `{"x": 1}`, `{"x": 2}`, "1.5", "[1, 2]", `["a"]`, "[]"}).Draw(t, "value")
}

func randomDocs(t *rapid.T) []value.Doc {
	n := rapid.IntRange(0, 40).Draw(t, "documents")
	docs := make([]value.Doc, n)
	for i := range docs {
		text := fmt.Sprintf(`{"_id": %d`, i)
		for _, f := range []string{"a", "b", "c"} {
			if rapid.IntRange(0, 4).Draw(t, f) > 0 {
				text += fmt.Sprintf(`, %q: %s`, f, scalar(t))
			}
		}
		docs[i] = value.MustJSON(text + "}")
	}
	return docs
}

// randomStage draws a stage whose result does not depend on the order of its input.
func randomStage(t *rapid.T) string {
	f := rapid.SampledFrom([]string{"a", "b", "c", "a.x", "_id"}).Draw(t, "field")
	g := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "other")
	switch rapid.IntRange(0, 10).Draw(t, "stage") {
	case 0:
		op := rapid.SampledFrom([]string{"$eq", "$gt", "$gte", "$lt", "$lte", "$ne"}).Draw(t, "op")
		return fmt.Sprintf(`{"$match": {%q: {%q: %s}}}`, f, op, scalar(t))
	case 1:
		return fmt.Sprintf(`{"$match": {"$or": [{%q: %s}, {%q: {"$in": [1, "a", null]}}]}}`, f, scalar(t), g)
	case 2:
		return fmt.Sprintf(`{"$match": {"$expr": {"$eq": ["$%s", %s]}}}`, f, literal(scalar(t)))
	case 3:
		return fmt.Sprintf(`{"$set": {%q: {"$ifNull": ["$%s", "none"]}}}`, g, f)
	case 4:
		return fmt.Sprintf(`{"$project": {%q: 1, "renamed": "$%s"}}`, g, g)
	case 5:
		return fmt.Sprintf(`{"$unwind": {"path": "$%s", "preserveNullAndEmptyArrays": %t}}`, g, rapid.Bool().Draw(t, "preserve"))
	case 6:
		return fmt.Sprintf(`{"$sort": {%q: 1, "_id": 1}}, {"$limit": %d}`, f, rapid.IntRange(1, 10).Draw(t, "limit"))
	case 7:
		return fmt.Sprintf(`{"$lookup": {"from": "other", "localField": %q, "foreignField": %q, "as": "r"}}, {"$set": {"r": {"$sortArray": {"input": "$r._id", "sortBy": 1}}}}`, f, g)
	case 8:
		return fmt.Sprintf(`{"$lookup": {"from": "other", "let": {"v": "$%s"}, "pipeline": [{"$match": {"$expr": {"$eq": ["$%s", "$$v"]}}}, {"$sort": {"_id": -1}}], "as": "r"}}`, f, g)
	case 9:
		return fmt.Sprintf(`{"$lookup": {"from": "other", "localField": %q, "foreignField": %q, "as": "r"}}, {"$unwind": "$r"}, {"$match": {"r.%s": {"$gte": 1}}}`, f, g, g)
	}
	return fmt.Sprintf(`{"$unset": %q}`, g)
}

func literal(v string) string { return `{"$literal": ` + v + `}` }

func randomPipeline(t *rapid.T) string {
	var stages []string
	for range rapid.IntRange(1, 4).Draw(t, "stages") {
		stage := randomStage(t)
		if strings.Contains(stage, "$limit") && strings.Contains(strings.Join(stages, ""), "$unwind") {
			continue // documents with the same _id may come in any order
		}
		stages = append(stages, stage)
	}
	if len(stages) == 0 || rapid.Bool().Draw(t, "group") {
		stages = append(stages, `{"$group": {"_id": "$a", "n": {"$sum": 1}, "lo": {"$min": "$_id"}, "hi": {"$max": "$b"}}}`)
	}
	return "[" + strings.Join(stages, ", ") + "]"
}

func text(docs []value.Doc) string {
	sortDocs(docs)
	var b strings.Builder
	for _, d := range docs {
		b.WriteString(d.String() + "\n")
	}
	return b.String()
}

// byName are documents with their fields in the order of the names.
func byName(docs []value.Doc) []value.Doc {
	sorted := make([]value.Doc, len(docs))
	for i, d := range docs {
		var names []string
		for it := d.Iter(); it.Next(); {
			names = append(names, it.Key())
		}
		slices.Sort(names)
		b := value.NewBuilder()
		for _, name := range names {
			b.Append(name, d.Lookup(name))
		}
		sorted[i] = b.Doc()
	}
	return sorted
}

// A pipeline has the same result with and without indexes, and if no stage can be moved
// into the source. Only the order of fields may differ: what an index covers comes in the order
// of its key, as from mongod.
func TestRandomPipelines(t *testing.T) {
	s := newServer(t)
	rapid.Check(t, func(t *rapid.T) {
		s.ok(`{dropDatabase: 1}`)
		s.insertDocs("c", randomDocs(t))
		s.insertDocs("other", randomDocs(t))
		pipeline := randomPipeline(t)
		plain, reply := s.tryAggregate("c", pipeline)
		failed := reply.Lookup("errmsg").Str()
		want := text(plain) + failed

		// A $sample of everything keeps the stages behind it from the source.
		still, reply := s.tryAggregate("c", `[{"$sample": {"size": 1000}}, `+pipeline[1:])
		if got := text(still) + reply.Lookup("errmsg").Str(); got != want {
			t.Fatalf("%s\nfrom the source:\n%s\nfrom memory:\n%s", pipeline, want, got)
		}
		for _, coll := range []string{"c", "other"} {
			s.ok(`{createIndexes: "%s", indexes: [{key: {a: 1, _id: -1}, name: "a"}, {key: {b: 1}, name: "b"}, {key: {c: 1}, name: "c", sparse: true}, {key: {"a.x": 1}, name: "ax"}]}`, coll)
		}
		indexed, reply := s.tryAggregate("c", pipeline)
		want = text(byName(plain)) + failed
		if got := text(byName(indexed)) + reply.Lookup("errmsg").Str(); got != want {
			t.Fatalf("%s\nwithout indexes:\n%s\nwith indexes:\n%s", pipeline, want, got)
		}
	})
}

// find, and an aggregate of the same, give the same.
func TestFindIsAggregate(t *testing.T) {
	s := newServer(t)
	rapid.Check(t, func(t *rapid.T) {
		s.ok(`{dropDatabase: 1}`)
		s.insertDocs("c", randomDocs(t))
		if rapid.Bool().Draw(t, "indexed") {
			s.ok(`{createIndexes: "c", indexes: [{key: {a: 1, _id: -1}, name: "a"}, {key: {b: 1}, name: "b"}]}`)
		}
		f := rapid.SampledFrom([]string{"a", "b", "a.x"}).Draw(t, "field")
		filter := fmt.Sprintf(`{"$or": [{%q: {"$gte": %s}}, {"b": %s}]}`, f, scalar(t), scalar(t))
		sort := fmt.Sprintf(`{%q: %d, "_id": 1}`, f, rapid.SampledFrom([]int{1, -1}).Draw(t, "direction"))
		skip, limit := rapid.IntRange(0, 3).Draw(t, "skip"), rapid.IntRange(1, 20).Draw(t, "limit")
		found := batch(s.ok(`{"find": "c", "filter": %s, "sort": %s, "skip": %d, "limit": %d, "projection": {"c": 0}}`, filter, sort, skip, limit))
		got := s.aggregate("c", fmt.Sprintf(`[{"$match": %s}, {"$sort": %s}, {"$skip": %d}, {"$limit": %d}, {"$unset": "c"}]`, filter, sort, skip, limit))
		if len(found) != len(got) {
			t.Fatalf("%s: %d and %d", filter, len(found), len(got))
		}
		for i := range got {
			if string(got[i]) != string(found[i]) {
				t.Fatalf("%s %s: find %s, aggregate %s", filter, sort, found[i], got[i])
			}
		}
		n := s.ok(`{"count": "c", "query": %s}`, filter).Lookup("n").Int32()
		all := s.aggregate("c", fmt.Sprintf(`[{"$match": %s}, {"$group": {"_id": null, "n": {"$sum": 1}}}]`, filter))
		if n > 0 && all[0].Lookup("n").Int32() != n || n == 0 && len(all) != 0 {
			t.Fatalf("%s: count %d, %v", filter, n, all)
		}
	})
}
