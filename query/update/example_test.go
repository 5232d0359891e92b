package update_test

import (
	"fmt"

	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/query/update"
	"github.com/duskdb/duskdb/value"
)

func Example() {
	spec := value.MustJSON(`{"$inc": {"stock.$.n": -1}, "$set": {"sold": true}}`)
	u, err := update.Compile(value.Document(spec), update.Options{})
	if err != nil {
		panic(err)
	}
	filter, err := match.Compile(value.MustJSON(`{"stock.size": "L"}`), match.Options{})
	if err != nil {
		panic(err)
	}
	env := expr.NewEnv(0)
	d := value.MustJSON(`{"_id": 1, "stock": [{"size": "M", "n": 3}, {"size": "L", "n": 5}]}`)
	_, position, _ := filter.MatchWithPosition(env, d)
	d, modified, err := u.Apply(env, d, update.ApplyOptions{Position: position})
	fmt.Println(d, modified, err)
	// Output: { _id: 1, stock: [ { size: "M", n: 3 }, { size: "L", n: 4 } ], sold: true } true <nil>
}

func ExampleUpdate_ForUpsert() {
	u, _ := update.Compile(value.Document(value.MustJSON(`{"$setOnInsert": {"n": 0}}`)), update.Options{})
	filter, _ := match.Compile(value.MustJSON(`{"_id": 7, "kind": "x", "age": {"$gt": 3}}`), match.Options{})
	d, err := u.ForUpsert(expr.NewEnv(0), filter, nil)
	fmt.Println(d, err)
	// Output: { _id: 7, kind: "x", n: 0 } <nil>
}
