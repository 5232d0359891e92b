package agg

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/query/agg/pipeline"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// shape prints the stages of a pipeline as one array.
func shape(p *pipeline.Pipeline) string {
	var vs []value.Value
	for _, d := range p.Explain(pipeline.QueryPlanner, nil) {
		vs = append(vs, value.Document(d))
	}
	return value.NewArray(vs...).JSON()
}

func TestRewrites(t *testing.T) {
	for _, tt := range []struct{ name, pipeline, want string }{
		{"joins matches", `[{"$match": {"a": 1}}, {"$match": {"b": 2}}]`, `[{"$match":{"$and":[{"a":1},{"b":2}]}}]`},
		{"drops an empty match", `[{"$match": {}}, {"$limit": 1}]`, `[{"$limit":1}]`},
		{"least limit", `[{"$limit": 5}, {"$limit": 3}, {"$limit": 4}]`, `[{"$limit":3}]`},
		{"adds skips", `[{"$skip": 5}, {"$skip": 3}]`, `[{"$skip":8}]`},
		{"limit into sort", `[{"$sort": {"a": 1}}, {"$limit": 3}]`, `[{"$sort":{"sortKey":{"a":1},"limit":3}}]`},
		{"limit into sort past project", `[{"$sort": {"a": 1}}, {"$addFields": {"b": 1}}, {"$limit": 3}]`, `[{"$sort":{"sortKey":{"a":1},"limit":3}},{"$addFields":{"b":{"$const":1}}}]`},
		{"sort learns of skip and limit", `[{"$sort": {"a": 1}}, {"$skip": 2}, {"$limit": 3}]`, `[{"$sort":{"sortKey":{"a":1},"limit":5}},{"$skip":2},{"$limit":3}]`},
		{"match before sort", `[{"$sort": {"a": 1}}, {"$match": {"b": 1}}]`, `[{"$match":{"b":1}},{"$sort":{"sortKey":{"a":1}}}]`},
		{"not before a bounded sort", `[{"$sort": {"a": 1}}, {"$limit": 2}, {"$match": {"b": 1}}]`, `[{"$sort":{"sortKey":{"a":1},"limit":2}},{"$match":{"b":1}}]`},
		{"match before addFields", `[{"$addFields": {"x": {"$add": ["$a", 1]}}}, {"$match": {"a": 1, "x": 2}}]`, `[{"$match":{"a":1}},{"$addFields":{"x":{"$add":["$a",{"$const":1}]}}},{"$match":{"x":2}}]`},
		{"match through a rename", `[{"$addFields": {"x": "$a"}}, {"$match": {"x.y": 2}}]`, `[{"$match":{"a.y":2}},{"$addFields":{"x":"$a"}}]`},
		{"no rename of a dotted path", `[{"$addFields": {"x": "$a.b"}}, {"$match": {"x": 2}}]`, `[{"$addFields":{"x":"$a.b"}},{"$match":{"x":2}}]`},
		{"match before inclusion", `[{"$project": {"a": 1}}, {"$match": {"a.b": 1, "c": 1}}]`, `[{"$match":{"a.b":1}},{"$project":{"_id":true,"a":true}},{"$match":{"c":1}}]`},
		{"match before exclusion", `[{"$project": {"a": 0}}, {"$match": {"a": 1, "c": 1}}]`, `[{"$match":{"c":1}},{"$project":{"a":false,"_id":true}},{"$match":{"a":1}}]`},
		{"match before unwind", `[{"$unwind": "$a"}, {"$match": {"a.x": 1, "b": 1}}]`, `[{"$match":{"b":1}},{"$unwind":{"path":"$a"}},{"$match":{"a.x":1}}]`},
		{"match before lookup", `[{"$lookup": {"from": "x", "localField": "a", "foreignField": "b", "as": "c"}}, {"$match": {"a": 1, "c": 2}}]`,
			`[{"$match":{"a":1}},{"$lookup":{"from":"x","localField":"a","foreignField":"b","as":"c"}},{"$match":{"c":2}}]`},
		{"expression moves by its paths", `[{"$sort": {"a": 1}}, {"$match": {"$expr": {"$eq": ["$a", "$b"]}}}]`, `[{"$match":{"$expr":{"$eq":["$a","$b"]}}},{"$sort":{"sortKey":{"a":1}}}]`},
		{"match into union", `[{"$unionWith": "x"}, {"$match": {"a": 1}}]`, `[{"$match":{"a":1}},{"$unionWith":{"coll":"x","pipeline":[{"$match":{"a":1}}]}}]`},
		{"nothing past group", `[{"$group": {"_id": "$a"}}, {"$match": {"_id": 1}}]`, `[{"$group":{"_id":"$a"}},{"$match":{"_id":1}}]`},
		{"nothing past limit", `[{"$limit": 2}, {"$match": {"a": 1}}]`, `[{"$limit":2},{"$match":{"a":1}}]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := Compile(array(t, tt.pipeline), stage.Options{DB: "test", Coll: "c"})
			if err != nil {
				t.Fatal(err)
			}
			if got := shape(p); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestLeading(t *testing.T) {
	for _, tt := range []struct {
		pipeline, filter, sort string
		limit                  int64
		fields                 []string
	}{
		{`[{"$sort": {"a": -1}}, {"$match": {"b": 1}}, {"$limit": 3}, {"$project": {"c": 1, "_id": 0}}]`, `{"b":1}`, `{"a":-1}`, 3, []string{"a", "b", "c"}},
		{`[{"$group": {"_id": "$a.b", "n": {"$sum": "$c"}}}]`, ``, ``, 0, []string{"a.b", "c"}},
		{`[{"$group": {"_id": null, "n": {"$sum": 1}}}]`, ``, ``, 0, []string{}},
		{`[{"$limit": 7}]`, ``, ``, 7, nil},
		{`[{"$addFields": {"x": "$$ROOT"}}, {"$project": {"x": 1}}]`, ``, ``, 0, nil},
		{`[{"$unwind": "$a"}, {"$count": "n"}]`, ``, ``, 0, []string{"a"}},
	} {
		p, err := Compile(array(t, tt.pipeline), stage.Options{DB: "test", Coll: "c"})
		if err != nil {
			t.Fatal(err)
		}
		l := p.Leading()
		filter, sort := "", ""
		if l.Filter != nil {
			filter = l.Filter.JSON()
		}
		if l.Sort != nil {
			sort = l.Sort.JSON()
		}
		if filter != tt.filter || sort != tt.sort || l.Limit != tt.limit || !slices.Equal(l.Fields, tt.fields) || (l.Fields == nil) != (tt.fields == nil) {
			t.Errorf("%s: %s %s %d %v", tt.pipeline, filter, sort, l.Limit, l.Fields)
		}
	}
}

func TestSortedSource(t *testing.T) {
	p, err := Compile(array(t, `[{"$sort": {"a": 1}}, {"$limit": 1}]`), stage.Options{DB: "test", Coll: "c"})
	if err != nil {
		t.Fatal(err)
	}
	rest := p.Rest(p.Leading(), true)
	if got := shape(rest); got != `[{"$limit":1}]` {
		t.Error(got)
	}
}

// genScalar makes small values of several types, so that they often meet.
func genScalar(t *rapid.T, label string) string {
	return rapid.SampledFrom([]string{`0`, `1`, `2`, `1.5`, `null`, `"x"`, `"y"`, `true`, `{"$numberLong": "1"}`, `{"$numberDecimal": "2"}`}).Draw(t, label)
}

func genValue(t *rapid.T, depth int) string {
	n := rapid.IntRange(0, 9).Draw(t, "kind")
	switch {
	case n == 0 && depth > 0:
		return fmt.Sprintf(`[%s, %s]`, genValue(t, depth-1), genValue(t, depth-1))
	case n == 1 && depth > 0:
		return `[]`
	case n <= 3 && depth > 0:
		return fmt.Sprintf(`{"a": %s, "b": %s}`, genValue(t, depth-1), genValue(t, depth-1))
	}
	return genScalar(t, "scalar")
}

func genDoc(t *rapid.T, id int) value.Doc {
	json := fmt.Sprintf(`{"_id": %d`, id)
	for _, name := range []string{"a", "b", "c"} {
		if rapid.IntRange(0, 4).Draw(t, name) > 0 {
			json += fmt.Sprintf(`, %q: %s`, name, genValue(t, 2))
		}
	}
	return value.MustJSON(json + "}")
}

var genPaths = []string{"a", "b", "c", "a.a", "a.b", "b.a", "x", "_id"}

func genPath(t *rapid.T) string { return rapid.SampledFrom(genPaths).Draw(t, "path") }

func genCondition(t *rapid.T) string {
	path := genPath(t)
	switch rapid.IntRange(0, 6).Draw(t, "cond") {
	case 0:
		return fmt.Sprintf(`{%q: {"$gte": %s}}`, path, genScalar(t, "v"))
	case 1:
		return fmt.Sprintf(`{%q: {"$exists": %t}}`, path, rapid.Bool().Draw(t, "exists"))
	case 2:
		return fmt.Sprintf(`{%q: {"$in": [%s, %s]}}`, path, genScalar(t, "v"), genScalar(t, "w"))
	case 3:
		return fmt.Sprintf(`{"$or": [{%q: %s}, {%q: %s}]}`, path, genScalar(t, "v"), genPath(t), genScalar(t, "w"))
	case 4:
		return fmt.Sprintf(`{"$expr": {"$gt": ["$%s", "$%s"]}}`, path, genPath(t))
	case 5:
		return fmt.Sprintf(`{%q: %s, "b": {"$ne": %s}}`, path, genScalar(t, "v"), genScalar(t, "w"))
	}
	return fmt.Sprintf(`{%q: %s}`, path, genScalar(t, "v"))
}

// genStage makes stages whose results do not depend on chance.
func genStage(t *rapid.T) string {
	path := genPath(t)
	switch rapid.IntRange(0, 16).Draw(t, "stage") {
	case 0, 1, 2, 3, 4:
		return fmt.Sprintf(`{"$match": %s}`, genCondition(t))
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
		return fmt.Sprintf(`{"$addFields": {"a.b": %s, "x": {"$ifNull": ["$%s", 1]}}}`, genScalar(t, "v"), path)
	case 11:
		return rapid.SampledFrom([]string{`{"$project": {"a": 1, "x": "$b"}}`, `{"$project": {"a.b": 1, "b": 1}}`, `{"$project": {"a": 0}}`, `{"$project": {"b.a": 0, "c": 0}}`,
			`{"$project": {"_id": 0, "a": 1, "c": 1}}`, `{"$unset": "a.a"}`, `{"$project": {"b": "$a", "a": "$b"}}`}).Draw(t, "project")
	case 12:
		return fmt.Sprintf(`{"$lookup": {"from": "d", "localField": %q, "foreignField": %q, "as": %q}}`, path, genPath(t), rapid.SampledFrom([]string{"x", "j", "a.j"}).Draw(t, "as"))
	case 13:
		return `{"$unwind": "$j"}`
	case 14:
		return fmt.Sprintf(`{"$lookup": {"from": "d", "let": {"v": "$%s"}, "pipeline": [{"$match": {"$expr": {"$eq": ["$a", "$$v"]}}}, %s], "as": "j"}}`, path, `{"$match": `+genCondition(t)+`}`)
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

func TestOptimizedPipelinesGiveTheSame(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := newMemory()
		for i := range rapid.IntRange(0, 8).Draw(rt, "docs") {
			h.colls["test.c"] = append(h.colls["test.c"], genDoc(rt, i))
		}
		for i := range rapid.IntRange(0, 4).Draw(rt, "others") {
			h.colls["test.d"] = append(h.colls["test.d"], genDoc(rt, i))
		}
		pipeline := "["
		for i := range rapid.IntRange(1, 6).Draw(rt, "stages") {
			if i > 0 {
				pipeline += ", "
			}
			pipeline += genStage(rt)
		}
		pipeline += "]"
		plain, errPlain := drainWith(t, pipeline, stage.Options{DB: "test", Coll: "c", NoOptimize: true}, newExec(h))
		h.eager = rapid.Bool().Draw(rt, "eager")
		fast, errFast := drainWith(t, pipeline, stage.Options{DB: "test", Coll: "c"}, newExec(h))
		if errPlain != nil || errFast != nil {
			// A condition that moves forward may spare an expression its error.
			return
		}
		if p, f := canonical(plain), canonical(fast); p != f {
			rt.Fatalf("%s\nplain\n%soptimised\n%s", pipeline, p, f)
		}
	})
}

func drainWith(t testing.TB, pipeline string, o stage.Options, x *stage.Exec) ([]value.Doc, error) {
	p, err := Compile(array(t, pipeline), o)
	if err != nil {
		t.Fatalf("%s: %v", pipeline, err)
	}
	it, err := p.Open(x)
	if err != nil {
		return nil, err
	}
	return stage.Drain(it)
}

func TestSpillingGivesTheSame(t *testing.T) {
	pipelines := []string{
		`[{"$sort": {"a": 1, "_id": -1}}]`,
		`[{"$sort": {"b.a": -1}}, {"$limit": 7}]`,
		`[{"$group": {"_id": "$a", "n": {"$sum": "$b"}, "l": {"$push": "$_id"}, "s": {"$addToSet": "$c"}, "f": {"$first": "$_id"}, "z": {"$last": "$c"}, "avg": {"$avg": "$b"},
			"min": {"$min": "$c"}, "max": {"$max": "$c"}, "t": {"$topN": {"output": "$_id", "sortBy": {"b": 1}, "n": 3}},
			"fn": {"$firstN": {"input": "$_id", "n": 2}}, "ln": {"$lastN": {"input": "$_id", "n": 2}}, "mn": {"$minN": {"input": "$c", "n": 2}},
			"med": {"$median": {"input": "$b", "method": "approximate"}}, "c": {"$count": {}}}}]`,
		`[{"$bucketAuto": {"groupBy": "$a", "buckets": 3, "output": {"l": {"$push": "$_id"}}}}]`,
		`[{"$facet": {"n": [{"$count": "n"}], "l": [{"$sort": {"_id": -1}}, {"$limit": 3}]}}]`,
	}
	rapid.Check(t, func(rt *rapid.T) {
		h := newMemory()
		for i := range rapid.IntRange(0, 60).Draw(rt, "docs") {
			h.colls["test.c"] = append(h.colls["test.c"], genDoc(rt, i))
		}
		pipeline := rapid.SampledFrom(pipelines).Draw(rt, "pipeline")
		o := stage.Options{DB: "test", Coll: "c"}
		all, err := drainWith(t, pipeline, o, newExec(h))
		x := newExec(h)
		x.TempDir = t.TempDir()
		x.MemoryLimit = int64(rapid.IntRange(1, 5000).Draw(rt, "limit"))
		spilled, err2 := drainWith(t, pipeline, o, x)
		if err != nil || err2 != nil {
			rt.Fatal(err, err2)
		}
		if strings.Contains(pipeline, "$group") { // which has no order
			byText := func(a, b value.Doc) int { return strings.Compare(a.CanonicalJSON(), b.CanonicalJSON()) }
			slices.SortFunc(all, byText)
			slices.SortFunc(spilled, byText)
		}
		if a, s := canonical(all), canonical(spilled); a != s {
			rt.Fatalf("%s\nin memory\n%sspilled\n%s", pipeline, a, s)
		}
	})
}

func TestMemoryLimits(t *testing.T) {
	h := newMemory()
	for i := range 200 {
		h.colls["test.c"] = append(h.colls["test.c"], value.NewDoc("_id", value.Int32(int32(i))))
	}
	for pipeline, want := range map[string]string{
		`[{"$sort": {"_id": 1}}]`:       "292: Sort exceeded memory limit of 1000 bytes, but did not opt in to external sorting.",
		`[{"$group": {"_id": "$_id"}}]`: "292: Exceeded memory limit for $group, but didn't allow external sort. Pass allowDiskUse:true to opt in.",
	} {
		x := newExec(h)
		x.AllowDiskUse, x.MemoryLimit = false, 1000
		_, err := drainWith(t, pipeline, stage.Options{DB: "test", Coll: "c"}, x)
		checkError(t, err, want)
		x = newExec(h)
		x.MemoryLimit, x.TempDir = 1000, t.TempDir()
		got, err := drainWith(t, pipeline, stage.Options{DB: "test", Coll: "c"}, x)
		if err != nil || len(got) != 200 || !x.UsedDisk() {
			t.Error(len(got), err, x.UsedDisk())
		}
	}
}

func TestMetadataSurvivesSorting(t *testing.T) {
	for _, limit := range []int64{0, 1} {
		x := newExec(newMemory())
		x.MemoryLimit = limit
		scores := stage.Docs(docs(t, `[{"_id": 1, "s": 1.5}, {"_id": 2, "s": 3.5}, {"_id": 3, "s": 2.5}]`)...)
		src := stage.Pull(scores, func() (value.Doc, error) {
			d, err := scores.Next()
			x.Env.Meta = expr.Meta{}
			if d != nil {
				x.Env.Meta.Set(expr.MetaSearchScore, d.Lookup("s"))
			}
			return d, err
		})
		p, err := Compile(array(t, `[{"$sample": {"size": 9}}, {"$sort": {"s": {"$meta": "searchScore"}}}, {"$facet": {"f": [{"$project": {"m": {"$meta": "searchScore"}}}]}}, {"$unwind": "$f"}, {"$replaceWith": "$f"}]`), stage.Options{DB: "test", Coll: "c"})
		if err != nil {
			t.Fatal(err)
		}
		it, err := p.Run(x, src)
		if err != nil {
			t.Fatal(err)
		}
		got, err := stage.Drain(it)
		if want := canonical(docs(t, `[{"_id": 2, "m": 3.5}, {"_id": 3, "m": 2.5}, {"_id": 1, "m": 1.5}]`)); err != nil || canonical(got) != want {
			t.Error(canonical(got), err)
		}
	}
}
