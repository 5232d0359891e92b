package plan

import (
	"testing"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// Programs read the planner's messages: Parse Server makes the index that it
// finds missing in this one. The form is CanonicalQuery::toString's.
func TestNoGeoIndex(t *testing.T) {
	q := &Query{NS: "db.places", Matcher: compile(t, `{"loc": {"$nearSphere": [0, 0], "$maxDistance": 1}, "a": 1}`)}
	const tree = "Tree: $and\n    a $eq 1\n    GEONEAR  field=loc maxdist=1 isNearSphere=1\n"
	const end = " planner returned error :: caused by :: unable to find index for $geoNear query"
	check := func(want string) {
		t.Helper()
		_, err := Make(q, &Collection{})
		if !mongoerr.Is(err, mongoerr.NoQueryExecutionPlans) || mongoerr.From(err).Message != want {
			t.Errorf("%v, not\n%s", err, want)
		}
	}
	check("error processing query: ns=db.places" + tree + "Sort: {}\nProj: {}\n" + end)
	q.Sort = value.MustJSON(`{"b": -1}`)
	q.Command = Command{Limit: 5, Skip: 2, BatchSize: 3, Projection: value.MustJSON(`{"a": 1}`)}
	check("error processing query: ns=db.places batchSize=3 limit=5 skip=2" + tree + "Sort: { b: -1 }\nProj: { a: 1 }\n" + end)
}
