package group_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/agg/group"
	"github.com/duskdb/duskdb/query/agg/internal/aggtest"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/script"
	"github.com/duskdb/duskdb/value"
)

// many returns a host with n documents of ten groups.
func many(n int) *aggtest.Host {
	h := aggtest.NewHost()
	for i := range n {
		h.Colls["test.c"] = append(h.Colls["test.c"], value.MustJSON(fmt.Sprintf(`{"_id": %d, "g": %d, "v": "value %d"}`, i, i%10, i)))
	}
	return h
}

var options = stage.Options{DB: "test", Coll: "c"}

// TestSpilledGroups: groups that do not fit into memory go through temporary files and
// come out whole, in the order of their keys.
func TestSpilledGroups(t *testing.T) {
	for _, pipeline := range []string{
		`[{"$group": {"_id": "$g", "n": {"$sum": 1}, "l": {"$push": "$v"}, "f": {"$first": "$v"}}}]`,
		`[{"$bucketAuto": {"groupBy": "$_id", "buckets": 7, "output": {"l": {"$push": "$v"}, "t": {"$top": {"output": "$v", "sortBy": {"_id": -1}}}}}}]`,
	} {
		h := many(300)
		want, err := aggtest.Drain(t, pipeline, options, aggtest.Exec(h))
		if err != nil {
			t.Fatal(err)
		}
		x := aggtest.Exec(h)
		x.TempDir = t.TempDir()
		x.Limits.Group, x.Limits.BucketAuto = 2000, 2000
		got, err := aggtest.Drain(t, pipeline, options, x)
		byKey := func(a, b value.Doc) int { return value.Compare(a.Lookup("_id"), b.Lookup("_id")) }
		slices.SortFunc(want, byKey)
		if err != nil || !x.UsedDisk() || aggtest.Canonical(got) != aggtest.Canonical(want) {
			t.Errorf("%v, disk %t\ngot\n%swant\n%s", err, x.UsedDisk(), aggtest.Canonical(got), aggtest.Canonical(want))
		}
	}
}

// TestWithoutDisk: too many groups for the memory are an error if the disk may not be
// used, as are accumulators that grow beyond their limits.
func TestWithoutDisk(t *testing.T) {
	for _, tt := range []struct {
		limits         stage.Limits
		pipeline, want string
	}{
		{stage.Limits{Group: 500}, `[{"$group": {"_id": "$_id"}}]`, "292: Exceeded memory limit for $group, but didn't allow external sort. Pass allowDiskUse:true to opt in."},
		{stage.Limits{BucketAuto: 500}, `[{"$bucketAuto": {"groupBy": "$_id", "buckets": 2}}]`, "292: Sort exceeded memory limit of 500 bytes, but did not opt in to external sorting."},
		{stage.Limits{Push: 500}, `[{"$group": {"_id": null, "l": {"$push": "$v"}}}]`, "146: $push used too much memory and cannot spill to disk. Used: …"},
		{stage.Limits{AddToSet: 500}, `[{"$group": {"_id": null, "l": {"$addToSet": "$v"}}}]`, "146: $addToSet used too much memory and cannot spill to disk. Used: …"},
		{stage.Limits{TopN: 500}, `[{"$group": {"_id": null, "l": {"$firstN": {"input": "$v", "n": 100}}}}]`, "146: $firstN used too much memory and spilling to disk cannot reduce memory consumption any further. Memory limit: 500 bytes"},
	} {
		x := aggtest.Exec(many(200))
		x.AllowDiskUse, x.Limits = false, tt.limits
		_, err := aggtest.Drain(t, tt.pipeline, options, x)
		aggtest.CheckError(t, err, tt.want)
	}
	for _, pipeline := range []string{`[{"$group": {"_id": "$_id"}}]`, `[{"$bucketAuto": {"groupBy": "$_id", "buckets": 2}}]`} {
		x := aggtest.Exec(many(200))
		x.TempDir, x.MemoryLimit = t.TempDir()+"/none", 500
		_, err := aggtest.Drain(t, pipeline, options, x)
		aggtest.CheckError(t, err, "39: …")
	}
}

// TestStopped: a failure of the source and an interruption end the run.
func TestStopped(t *testing.T) {
	stop := errors.New("stop")
	for _, pipeline := range []string{`[{"$group": {"_id": "$_id"}}]`, `[{"$bucketAuto": {"groupBy": "$_id", "buckets": 2}}]`, `[{"$bucket": {"groupBy": "$_id", "boundaries": [0, 1000]}}]`} {
		p, err := agg.Compile(aggtest.Array(t, pipeline), options)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		it, err := p.Run(aggtest.Exec(nil), stage.Pull(nil, func() (value.Doc, error) {
			if n++; n > 5 {
				return nil, stop
			}
			return value.NewDoc("_id", value.Int32(int32(n))), nil
		}))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := aggtest.ReadAll(it); !errors.Is(err, stop) {
			t.Error(pipeline, err)
		}
		x := aggtest.Exec(many(1000))
		x.Interrupt = func() error { return stop }
		if _, err := aggtest.Drain(t, pipeline, options, x); !errors.Is(err, stop) {
			t.Error(pipeline, err)
		}
	}
}

// TestExplained: explain shows the stages with the defaults of what was left out.
func TestExplained(t *testing.T) {
	for pipeline, want := range map[string]string{
		`[{"$group": {"_id": "$a", "n": {"$sum": "$b"}, "t": {"$topN": {"output": "$x", "sortBy": {"a": 1}, "n": 2}}}}]`: `[{"$group":{"_id":"$a","n":{"$sum":"$b"},"t":{"$topN":{"n":{"$const":2},"output":"$x","sortBy":{"a":1}}}}}]`,
		`[{"$count": "n"}]`: `[{"$group":{"_id":{"$const":null},"n":{"$sum":{"$const":1}}}},{"$project":{"_id":false}}]`,
		`[{"$bucketAuto": {"groupBy": "$a", "buckets": 2, "granularity": "R5"}}]`:                                                                       `[{"$bucketAuto":{"groupBy":"$a","buckets":2,"granularity":"R5","output":{"count":{"$sum":{"$const":1}}}}}]`,
		`[{"$group": {"_id": null, "r": {"$accumulator": {"init": "i", "accumulate": "a", "accumulateArgs": ["$x"], "merge": "m", "finalize": "f"}}}}]`: `[{"$group":{"_id":{"$const":null},"r":{"$accumulator":{"init":"i","initArgs":{"$const":[]},"accumulate":"a","accumulateArgs":["$x"],"merge":"m","finalize":"f","lang":"js"}}}}]`,
		`[{"$group": {"_id": null, "r": {"$_internalJsReduce": {"data": "$x", "eval": "f"}}}}]`:                                                         `[{"$group":{"_id":{"$const":null},"r":{"$_internalJsReduce":{"data":"$x","eval":"f"}}}}]`,
	} {
		p, err := agg.Compile(aggtest.Array(t, pipeline), options)
		if err != nil {
			t.Fatal(err)
		}
		if got := aggtest.Shape(p); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	p, err := agg.Compile(aggtest.Array(t, `[{"$group": {"_id": "$g"}}]`), options)
	if err != nil {
		t.Fatal(err)
	}
	x := aggtest.Exec(nil)
	x.StatsOf(p.Stages()[0]).Spills = 3
	if d := p.Explain(agg.ExecutionStats, x)[0]; d.Lookup("spills").Int64() != 3 || d.Lookup("usedDisk").Bool() {
		t.Error(d)
	}
}

// TestFirstOfAll: OfFirst turns $last into $first, for a source that returns the last
// document of each group.
func TestFirstOfAll(t *testing.T) {
	p, err := agg.Compile(aggtest.Array(t, `[{"$group": {"_id": "$g", "v": {"$last": "$v"}}}]`), options)
	if err != nil {
		t.Fatal(err)
	}
	it, err := p.Stages()[0].(*group.Stage).OfFirst().Open(aggtest.Exec(nil), stage.Docs(aggtest.Docs(t, `[{"g": 1, "v": 2}, {"g": 1, "v": 3}]`)...))
	if err != nil {
		t.Fatal(err)
	}
	got, err := aggtest.ReadAll(it)
	if aggtest.Canonical(got) != aggtest.Canonical(aggtest.Docs(t, `[{"_id": 1, "v": 2}]`)) || err != nil {
		t.Error(aggtest.Canonical(got), err)
	}
}

// scopes runs the JavaScript of a run.
type scopes struct{ op *script.Operation }

func (s scopes) Script(bool) *script.Operation { return s.op }

// scripted makes a run with JavaScript.
func scripted(t *testing.T, h *aggtest.Host) *stage.Exec {
	real := clock.System()
	op := script.New(script.Config{Clock: real, Real: real, Version: "8.0.0"}).Operation(script.Setup{})
	t.Cleanup(op.Close)
	x := aggtest.Exec(h)
	x.Env.Scripts = scopes{op}
	return x
}

// TestJavaScript: $accumulator as on its page of the manual, and the reduce of mapReduce,
// in memory and through temporary files.
func TestJavaScript(t *testing.T) {
	const avg = `{"$accumulator": {"init": "function(a) { return {n: 0, s: a} }", "initArgs": [%s], "accumulate": "function(st, v) { return {n: st.n + 1, s: st.s + v} }", "accumulateArgs": ["$_id"],
		"merge": "function(a, b) { return {n: a.n + b.n, s: a.s + b.s} }", "finalize": "function(st) { return st.s / st.n }", "lang": "js"}}`
	group := func(acc string) string {
		return `[{"$group": {"_id": {"g": "$g"}, "r": ` + acc + `}}, {"$sort": {"_id": 1}}, {"$limit": 2}]`
	}
	const reduce = `{"$_internalJsReduce": {"data": {"k": "$g", "v": "$_id"}, "eval": "function(k, vs) { return Array.sum(vs) }"}}`
	for _, limit := range []int64{0, 3000} {
		for _, tt := range [][2]string{
			{group(fmt.Sprintf(avg, "0")), `[{"_id": {"g": 0}, "r": 45.0}, {"_id": {"g": 1}, "r": 46.0}]`},
			{group(reduce), `[{"_id": {"g": 0}, "r": 450.0}, {"_id": {"g": 1}, "r": 460.0}]`},
		} {
			x := scripted(t, many(100))
			x.TempDir, x.Limits.Group = t.TempDir(), limit
			got, err := aggtest.Drain(t, tt[0], options, x)
			if err != nil || aggtest.Canonical(got) != aggtest.Canonical(aggtest.Docs(t, tt[1])) || x.UsedDisk() != (limit > 0) {
				t.Errorf("%s, limit %d: %s%v", tt[0], limit, aggtest.Canonical(got), err)
			}
		}
	}
	for _, tt := range [][2]string{
		{group(`{"$accumulator": {"init": "function() { return 0 }", "initArgs": "$g", "accumulate": "function() {}", "accumulateArgs": [1], "merge": "function() {}"}}`), "4544711: $accumulator initArgs must evaluate to an array: 0"},
		{group(`{"$accumulator": {"init": "function() { return 0 }", "accumulate": "function() {}", "accumulateArgs": "$_id", "merge": "function() {}"}}`), "4544712: $accumulator accumulateArgs must evaluate to an array: 0"},
		{group(`{"$accumulator": {"init": "function() { return 0 }", "initArgs": [{"$divide": [1, "$g"]}], "accumulate": "function() {}", "accumulateArgs": [1], "merge": "function() {}"}}`), "2: can't $divide by zero"},
		{group(`{"$_internalJsReduce": {"data": "$_id", "eval": "f"}}`), "31242: $_internalJsReduce requires a document argument, but found int"},
		{group(`{"$_internalJsReduce": {"data": {"k": "$_id"}, "eval": "f"}}`), "31251: $_internalJsReduce requires the 'data' argument to have a 'k' and 'v' field. Instead found{k: 0}"},
	} {
		pipeline := `[{"$limit": 1}, ` + strings.TrimPrefix(tt[0], "[")
		_, err := aggtest.Drain(t, pipeline, options, scripted(t, many(10)))
		aggtest.CheckError(t, err, tt[1])
	}
	for _, limit := range []int64{0, 300} { // a function that throws, at once or before a spill
		x := scripted(t, many(100))
		x.TempDir, x.Limits.Group = t.TempDir(), limit
		_, err := aggtest.Drain(t, group(`{"$accumulator": {"init": "function() { return 0 }", "accumulate": "function() { throw new Error('no') }", "accumulateArgs": ["$v"], "merge": "function() {}"}}`), options, x)
		aggtest.CheckError(t, err, "139: …")
	}
}

func TestAccumulatorsAreNamed(t *testing.T) {
	names := group.Accumulators()
	if !slices.IsSorted(names) || !slices.Contains(names, "$topN") || slices.Contains(names, "$_internalJsReduce") {
		t.Error(names)
	}
}
