package agg

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/value"
)

// A window operator has the same result as the expression of that name over all values of
// the window, in memory and with the partition on disk.
func TestWindowsAgreeWithExpressions(t *testing.T) {
	roomy, tight := newServer(t), newServer(t, "internalDocumentSourceSetWindowFieldsMaxMemoryBytes", "6000")
	rapid.Check(t, func(r *rapid.T) {
		docs := make([]value.Doc, rapid.IntRange(0, 60).Draw(r, "documents"))
		for i := range docs {
			a := rapid.SampledFrom([]string{`1`, `-3`, `7`, `{"$numberLong": "4"}`, `0.5`, `2.25`, `{"$numberDecimal": "1.5"}`, `null`, `"x"`, ``, `{"$numberLong": "1099511627999"}`}).Draw(r, "a")
			if a != "" {
				a = `, "a": ` + a
			}
			docs[i] = value.MustJSON(fmt.Sprintf(`{"_id": %d, "g": %d%s, "pad": "%s"}`, i, rapid.IntRange(0, 1).Draw(r, "g"), a, strings.Repeat("x", 300)))
		}
		bound := func(name string, far string) string {
			if rapid.IntRange(0, 3).Draw(r, "far") == 0 {
				return far
			}
			return fmt.Sprint(rapid.IntRange(-4, 4).Draw(r, name))
		}
		lo, hi := bound("lo", `"unbounded"`), bound("hi", `"current"`)
		window := fmt.Sprintf(`"window": {"documents": [%s, %s]}`, lo, hi)
		pipeline := `[{"$setWindowFields": {"partitionBy": "$g", "sortBy": {"_id": 1}, "output": {`
		for _, op := range []string{"$sum", "$avg", "$min", "$max", "$push", "$first", "$last", "$stdDevPop"} {
			pipeline += fmt.Sprintf(`%q: {%q: "$a", %s}, `, op[1:], op, window)
		}
		pipeline += `"ids": {"$push": "$_id", ` + window + `}, "n": {"$count": {}, ` + window + `}, "after": {"$shift": {"output": "$_id", "by": 1}}}}},
			{"$project": {"sum": {"$eq": ["$sum", {"$sum": "$push"}]}, "avg": {"$eq": ["$avg", {"$avg": "$push"}]}, "min": {"$eq": ["$min", {"$min": "$push"}]}, "max": {"$eq": ["$max", {"$max": "$push"}]},
				"dev": {"$eq": ["$stdDevPop", {"$stdDevPop": "$push"}]}, "n": {"$eq": ["$n", {"$size": "$ids"}]},
				"types": {"$eq": [{"$type": "$sum"}, {"$type": {"$sum": "$push"}}]}, "after": 1, "ids": 1, "all": ["$sum", "$avg", "$first", "$last", "$push"]}}, {"$sort": {"_id": 1}}]`
		var want string
		for _, s := range []*server{roomy, tight} {
			s.run(`{drop: "c"}`)
			s.insertDocs("c", docs)
			got, reply := s.tryAggregate("c", pipeline)
			if code := reply.Lookup("code").Int32(); code != 0 {
				if code == 5339900 {
					return // the bounds are the wrong way round
				}
				r.Fatalf("%s\nanswered %s", pipeline, reply)
			}
			for _, d := range got {
				for k, v := range d.All() {
					if v.Kind() == value.KindBool && !v.Truthy() {
						r.Fatalf("%s of %s with window %s to %s in %s", k, d, lo, hi, docs)
					}
				}
			}
			if all := fmt.Sprint(got); want == "" {
				want = all
			} else if all != want {
				r.Fatalf("window %s to %s:\nin memory %s\non disk   %s", lo, hi, want, all)
			}
		}
	})
}
