package canonical_test

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/internal/harness"
)

// Which queries have the same shape: by the manual's page on query shapes, and
// functional-tests of documentdb on mongod.
func TestQueryShapes(t *testing.T) {
	t.Parallel()
	shape := func(text string) string { return canonical.QueryShapeHash("test", harness.Relaxed(text)) }
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{`{find: "c", filter: {a: 1}}`, `{find: "c", filter: {a: 2.5}}`, true},
		{`{find: "c", filter: {a: 1}}`, `{find: "c", filter: {a: {$eq: 1}}}`, true},
		{`{find: "c", filter: {a: 1}}`, `{find: "c", filter: {a: "x"}}`, false},
		{`{find: "c", filter: {a: 1}}`, `{find: "d", filter: {a: 1}}`, false},
		{`{find: "c", filter: {a: 1, b: 2}}`, `{find: "c", filter: {$and: [{a: 3}, {b: 4}]}}`, true},
		{`{find: "c", filter: {a: 1, b: 2}}`, `{find: "c", filter: {b: 2, a: 1}}`, false},
		{`{find: "c", filter: {a: {$in: [1]}}}`, `{find: "c", filter: {a: {$in: [3, 4]}}}`, true},
		{`{find: "c", filter: {a: {$in: [1, 2]}}}`, `{find: "c", filter: {a: {$in: [3, 4, 5]}}}`, true},
		{`{find: "c", filter: {a: {$in: [1, 2]}}}`, `{find: "c", filter: {a: {$nin: [1, 2]}}}`, false},
		{`{find: "c", filter: {a: {$exists: true}}}`, `{find: "c", filter: {a: {$exists: false}}}`, false},
		{`{find: "c", filter: {a: {$type: "int"}}}`, `{find: "c", filter: {a: {$type: ["int"]}}}`, true},
		{`{find: "c", filter: {a: {$type: "int"}}}`, `{find: "c", filter: {a: {$type: "string"}}}`, false},
		{`{find: "c", filter: {$expr: {$gt: ["$a", 1]}}}`, `{find: "c", filter: {$expr: {$gt: ["$a", 9]}}}`, true},
		{`{find: "c", filter: {$expr: {$gt: ["$a", "$b"]}}}`, `{find: "c", filter: {$expr: {$lt: ["$a", "$b"]}}}`, false},
		{`{find: "c", filter: {a: {$elemMatch: {$gt: 1}}}}`, `{find: "c", filter: {a: {$elemMatch: {$gt: 2}}}}`, true},
		{`{find: "c", filter: {a: {$elemMatch: {$gt: 1}}}}`, `{find: "c", filter: {a: {$elemMatch: {$lt: 1}}}}`, false},
		{`{find: "c", filter: {a: 1}, sort: {}}`, `{find: "c", filter: {a: 1}}`, true},
		{`{find: "c", filter: {a: 1}, sort: {a: 1}}`, `{find: "c", filter: {a: 1}, sort: {a: -1}}`, false},
		{`{find: "c", filter: {a: 1}, sort: {a: 1}}`, `{sort: {a: 1.0}, filter: {a: 1}}`, false},
		{`{find: "c", filter: {a: 1}, limit: 1}`, `{find: "c", limit: 7, filter: {a: 1}}`, true},
		{`{find: "c", filter: {a: 1}, projection: {a: 1}}`, `{find: "c", filter: {a: 1}, projection: {a: true}}`, true},
		{`{find: "c", filter: {a: 1}, projection: {a: 1}}`, `{find: "c", filter: {a: 1}, projection: {a: 0}}`, false},
		{`{find: "c", collation: {locale: "en"}}`, `{find: "c", collation: {locale: "en", strength: 3}}`, true},
		{`{find: "c", collation: {locale: "en"}}`, `{find: "c", collation: {locale: "en", strength: 2}}`, false},
		{`{find: "c"}`, `{find: "c", filter: {}}`, true},
		{`{find: "c", filter: {a: 1}}`, `{distinct: "c", key: "a", query: {a: 1}}`, false},
		{`{distinct: "c", key: "a"}`, `{distinct: "c", key: "b"}`, false},
		{`{aggregate: "c", pipeline: [{$match: {a: 1}}, {$limit: 1}]}`, `{aggregate: "c", pipeline: [{$match: {a: 9}}, {$limit: 2}]}`, true},
		{`{aggregate: "c", pipeline: [{$match: {a: 1}}]}`, `{aggregate: "c", pipeline: [{$match: {a: 1}}, {$limit: 2}]}`, false},
		{`{aggregate: "c", pipeline: [{$lookup: {from: "x", as: "y", pipeline: [{$match: {a: 1}}]}}]}`,
			`{aggregate: "c", pipeline: [{$lookup: {from: "x", as: "y", pipeline: [{$match: {a: 5}}]}}]}`, true},
		{`{aggregate: "c", pipeline: [{$lookup: {from: "x", as: "y", pipeline: []}}]}`, `{aggregate: "c", pipeline: [{$lookup: {from: "z", as: "y", pipeline: []}}]}`, false},
		{`{aggregate: "c", pipeline: [{$group: {_id: "$a", n: {$sum: 1}}}]}`, `{aggregate: "c", pipeline: [{$group: {_id: "$b", n: {$sum: 1}}}]}`, false},
		{`{find: "c", filter: {a: {$not: {$gt: 1}}}}`, `{find: "c", filter: {a: {$not: {$gt: 2}}}}`, true},
		{`{find: "c", filter: {a: {$not: {$gt: 1}}}}`, `{find: "c", filter: {a: {$not: {$lt: 1}}}}`, false},
		{`{find: "c", filter: {$nor: [{a: 1}, {b: 1}]}}`, `{find: "c", filter: {$or: [{a: 1}, {b: 1}]}}`, false},
		{`{find: "c", filter: {a: {$elemMatch: {b: 1, c: 2}}}}`, `{find: "c", filter: {a: {$elemMatch: {b: 5, c: 6}}}}`, true},
		{`{find: "c", filter: {a: {$elemMatch: {b: 1}}}}`, `{find: "c", filter: {a: {$elemMatch: {c: 1}}}}`, false},
		{`{find: "c", filter: {a: {$in: [1, "x"]}}}`, `{find: "c", filter: {a: {$in: ["y", 2, 3]}}}`, true},
		{`{find: "c", filter: {a: {$in: []}}}`, `{find: "c", filter: {a: {$in: [1]}}}`, false},
		{`{find: "c", filter: {$jsonSchema: {required: ["a"]}}}`, `{find: "c", filter: {$jsonSchema: {required: ["b"]}}}`, false},
		{`{find: "c", min: {a: 1}, max: {a: 2}}`, `{find: "c", min: {a: 3}, max: {a: 4}}`, true},
		{`{find: "c", let: {x: 1}}`, `{find: "c", let: {x: 2}}`, true},
		{`{find: "c", let: {x: 1}}`, `{find: "c", let: {y: 1}}`, false},
		{`{find: "c", projection: {a: {$slice: 1}}}`, `{find: "c", projection: {a: {$slice: 2}}}`, true},
		{`{find: "c", hint: "a"}`, `{find: "c", hint: "b"}`, false},
		{`{find: "c", filter: null}`, `{find: "c"}`, true},
		{`{aggregate: 1, pipeline: [{$documents: []}]}`, `{aggregate: "c", pipeline: [{$documents: []}]}`, false},
		{`{aggregate: "c", pipeline: [{$project: {a: {$add: ["$a", 1]}}}]}`, `{aggregate: "c", pipeline: [{$project: {a: {$add: ["$a", 2]}}}]}`, true},
		{`{aggregate: "c", pipeline: [{$project: {a: {$literal: 1}}}]}`, `{aggregate: "c", pipeline: [{$project: {a: {$literal: 7}}}]}`, true},
		{`{aggregate: "c", pipeline: [{$sort: {a: 1}}]}`, `{aggregate: "c", pipeline: [{$sort: {a: -1}}]}`, false},
		{`{aggregate: "c", pipeline: [{$facet: {x: [{$match: {a: 1}}]}}]}`, `{aggregate: "c", pipeline: [{$facet: {x: [{$match: {a: 2}}]}}]}`, true},
		{`{aggregate: "c", pipeline: [{$facet: {x: [{$match: {a: 1}}]}}]}`, `{aggregate: "c", pipeline: [{$facet: {y: [{$match: {a: 1}}]}}]}`, false},
		{`{aggregate: "c", pipeline: [{$unwind: "$a"}]}`, `{aggregate: "c", pipeline: [{$unwind: "$b"}]}`, false},
		{`{aggregate: "c", pipeline: [{$set: {a: [1, 2]}}]}`, `{aggregate: "c", pipeline: [{$set: {a: [3]}}]}`, true},
		{`{aggregate: "c", pipeline: [{$set: {a: [1, "$b"]}}]}`, `{aggregate: "c", pipeline: [{$set: {a: [1, "$c"]}}]}`, false},
		{`{aggregate: "c", pipeline: [{$setWindowFields: {sortBy: {a: 1}, output: {}}}]}`, `{aggregate: "c", pipeline: [{$setWindowFields: {sortBy: {a: -1}, output: {}}}]}`, false},
	} {
		if got := shape(tt.a) == shape(tt.b); got != tt.same {
			t.Errorf("%s\n%s\nsame shape: %v", tt.a, tt.b, got)
		}
	}
	if hash := shape(`{find: "c"}`); len(hash) != 64 || hash != strings.ToUpper(hash) {
		t.Errorf("hash %q", hash)
	}
	if hash := shape(`{count: "c"}`); hash != "" {
		t.Errorf("a count has the shape %q", hash)
	}
}
