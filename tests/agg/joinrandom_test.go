package agg

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// condition draws a comparison of a field of the other collection with a
// variable, or several.
func condition(t *rapid.T) string {
	one := func() string {
		op := rapid.SampledFrom([]string{"$eq", "$gt", "$gte", "$lt", "$lte", "$ne"}).Draw(t, "op")
		field := rapid.SampledFrom([]string{"$a", "$b", "$a.x", "$_id"}).Draw(t, "field")
		variable := rapid.SampledFrom([]string{"$$v", "$$w", "$$v.x", `{"$add": ["$$n", 1]}`}).Draw(t, "variable")
		if rapid.Bool().Draw(t, "mirrored") {
			field, variable = variable, field
		}
		return fmt.Sprintf(`{%q: [%s, %s]}`, op, quoted(field), quoted(variable))
	}
	n := rapid.IntRange(1, 3).Draw(t, "conditions")
	parts := make([]string, n)
	for i := range parts {
		parts[i] = one()
	}
	joined := strings.Join(parts, ", ")
	switch {
	case n == 1:
		return parts[0]
	case rapid.IntRange(0, 4).Draw(t, "or") == 0:
		return `{"$or": [` + joined + `]}`
	}
	return `{"$and": [` + joined + `]}`
}

func quoted(v string) string {
	if v[0] == '{' {
		return v
	}
	return `"` + v + `"`
}

// A $lookup finds the same with and without indexes, in a collection and in a
// view of it, by a pipeline with variables and by fields, whatever the values
// are: arrays, documents, null or nothing.
func TestLookupsAgree(t *testing.T) {
	s := newServer(t)
	s.ok(`{create: "view", viewOn: "indexed", pipeline: []}`)
	rapid.Check(t, func(r *rapid.T) {
		for _, name := range []string{"in", "plain", "indexed"} {
			s.run(`{drop: %q}`, name)
		}
		s.insertDocs("in", randomDocs(r))
		docs := randomDocs(r)
		s.insertDocs("plain", docs)
		s.insertDocs("indexed", docs)
		s.ok(`{createIndexes: "indexed", indexes: [{key: {%q: %d}, name: "first"}, {key: {b: 1, _id: -1}, name: "second"}]}`,
			rapid.SampledFrom([]string{"a", "a.x"}).Draw(r, "key"), rapid.SampledFrom([]int{1, -1}).Draw(r, "direction"))
		tail := ""
		if rapid.IntRange(0, 3).Draw(r, "limit") == 0 {
			tail = `, {"$sort": {"_id": 1}}, {"$limit": 2}`
		}
		lookup := fmt.Sprintf(`"let": {"v": "$a", "w": "$b", "n": "$_id"}, "pipeline": [{"$match": {"$expr": %s}}%s]`, condition(r), tail)
		if rapid.IntRange(0, 3).Draw(r, "fields too") == 0 {
			lookup += `, "localField": "c", "foreignField": "b"`
		}
		pipeline := func(from string) string {
			return fmt.Sprintf(`[{"$sort": {"_id": 1}}, {"$lookup": {"from": %q, %s, "as": "r"}}, {"$project": {"r": {"$sortArray": {"input": "$r._id", "sortBy": 1}}}}]`, from, lookup)
		}
		want := s.aggregate("in", pipeline("plain"))
		for _, from := range []string{"indexed", "view"} {
			got := s.aggregate("in", pipeline(from))
			if fmt.Sprint(got) != fmt.Sprint(want) {
				r.Fatalf("%s\nfrom %v\ngives %v\nwant  %v", pipeline(from), docs, got, want)
			}
		}
	})
}
