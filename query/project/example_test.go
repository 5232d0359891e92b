package project_test

import (
	"fmt"

	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/project"
	"github.com/duskdb/duskdb/value"
)

func Example() {
	spec := value.MustJSON(`{"name": 1, "grades": {"$slice": -1}, "next": {"$add": ["$year", 1]}}`)
	p, err := project.Compile(spec, project.Options{})
	if err != nil {
		panic(err)
	}
	d, err := p.Apply(expr.NewEnv(0), nil, value.MustJSON(`{"_id": 1, "year": 2, "name": "x", "grades": [4, 5]}`))
	fmt.Println(d, err)
	// Output: { _id: 1, name: "x", grades: [ 5 ], next: 3 } <nil>
}
