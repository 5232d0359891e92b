package match

import (
	"testing"

	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

func TestImplied(t *testing.T) {
	scope, vars, err := expr.ScopeWithLet(dialect.Mongo82, value.MustJSON(`{"five": 5, "list": {"$literal": [1, 2]}, "gone": "$$REMOVE"}`))
	if err != nil {
		t.Fatal(err)
	}
	env := expr.NewEnv(0)
	if err := vars.Bind(env, env, value.EmptyDoc); err != nil {
		t.Fatal(err)
	}
	for filter, want := range map[string]string{
		`{"$expr": {"$eq": ["$a", "$$five"]}}`:                                              `[{"a":{"$eq":5}}]`,
		`{"$expr": {"$eq": [{"$add": ["$$five", 1]}, "$a.b"]}}`:                             `[{"a.b":{"$eq":6}}]`,
		`{"x": 1, "$expr": {"$and": [{"$eq": ["$a", "$$five"]}, {"$eq": ["$b", "k"]}, 1]}}`: `[{"a":{"$eq":5}},{"b":{"$eq":"k"}}]`,
		`{"$expr": {"$eq": ["$a", "$$gone"]}}`:                                              `[{"a":{"$eq":null}}]`,
		`{"$expr": {"$gt": ["$a", "$$five"]}}`:                                              `[{"a":{"$_internalExprGt":5}}]`,
		`{"$expr": {"$lte": ["$$five", "$a"]}}`:                                             `[{"a":{"$_internalExprGte":5}}]`,
		`{"$expr": {"$lt": ["$a", "$$gone"]}}`:                                              `[]`,
		`{"$expr": {"$gte": ["$a", "$$list"]}}`:                                             `[]`,
		`{"$expr": {"$eq": ["$a", "$$list"]}}`:                                              `[]`,
		`{"$expr": {"$eq": ["$a.0", "$$five"]}}`:                                            `[]`,
		`{"$expr": {"$eq": ["$a", "$b"]}}`:                                                  `[]`,
		`{"$expr": {"$or": [{"$eq": ["$a", 1]}, {"$eq": ["$b", 1]}]}}`:                      `[]`,
		`{"$expr": {"$not": [{"$eq": ["$a", 1]}]}}`:                                         `[]`,
		`{"$nor": [{"$expr": {"$eq": ["$a", 1]}}]}`:                                         `[]`,
		`{"$expr": {"$eq": ["$a", {"$divide": [1, {"$subtract": ["$$five", 5]}]}]}}`:        `[]`,
	} {
		m, err := Compile(value.MustJSON(filter), Options{Scope: scope})
		if err != nil {
			t.Fatal(filter, err)
		}
		got := "["
		for i, n := range Implied(m, env) {
			b := value.NewBuilder()
			n.appendTo(b)
			if i > 0 {
				got += ","
			}
			got += value.Document(b.Doc()).JSON()
		}
		if got += "]"; got != want {
			t.Errorf("%s implies %s, want %s", filter, got, want)
		}
	}
}
