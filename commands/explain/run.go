package explain

import (
	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Trials of allPlansExecution end after so many results, or so much work.
const (
	trialResults = 101
	trialWorks   = 10000
)

// outcome has the counters of a plan that was run by explain.
type outcome struct {
	scans    []exec.ScanCounts // the counters of the scans, in the order of the plan's leaves
	dropped  int64             // duplicate records, found where the scans are joined
	keys     int64
	docs     int64
	matched  int64 // records that passed the filter
	bytes    int64 // size of the matched records
	modified int64 // number of matched records that an update would change
	millis   int64
	limit    int64 // maximum of matched; 0: none
}

// outcome runs a plan.
func (e *Explanation) outcome(a *exec.AccessPath, x *exec.Execution, limit int64) (o outcome, err error) {
	if o, counted, err := e.countOnly(a, x); counted || err != nil {
		return o, err
	}
	start := e.c.Svc.Real.NowMillis()
	src, err := a.Open(x, e.info, e.Query)
	if err != nil {
		return o, err
	}
	defer src.Close()
	o.limit = e.needed(a)
	if o.limit == 0 || limit > 0 && limit < o.limit {
		o.limit = limit
	}
	for o.limit == 0 || o.matched < o.limit {
		r, ok, err := src.Next()
		if err != nil {
			return o, err
		}
		if !ok || limit > 0 && x.Stats.DocsExamined > trialWorks {
			break
		}
		if err := e.consider(&o, r); err != nil {
			return o, err
		}
	}
	o.millis = e.c.Svc.Real.NowMillis() - start
	o.take(x, a.Plan)
	return o, nil
}

// needed is how many matching records the query asks for: all, if they have
// to be sorted first.
func (e *Explanation) needed(a *exec.AccessPath) int64 {
	switch {
	case !e.Shape.Sort.IsEmpty() && !a.Sorted:
		return 0
	case e.Shape.Limit > 0:
		return e.Shape.Skip + e.Shape.Limit
	case e.Shape.Write != "":
		return e.Query.Limit
	}
	return e.take
}

// consider counts one matching record.
func (e *Explanation) consider(o *outcome, r storage.Record) error {
	o.matched++
	o.bytes += int64(len(r.Doc))
	if e.Change == nil || e.Change.Removes() {
		return nil
	}
	_, position, err := e.Query.Matcher.MatchWithPosition(e.Exec.Env, r.Doc)
	if err != nil {
		return err
	}
	_, modified, err := e.Change.Apply(r.Doc, position)
	if modified {
		o.modified++
	}
	return err
}

// countOnly runs a count that needs no records.
func (e *Explanation) countOnly(a *exec.AccessPath, x *exec.Execution) (o outcome, ok bool, err error) {
	if !e.Shape.Count || catalog.Of(e.info).MayHide() {
		return o, false, nil
	}
	if n, whole, err := exec.CountWhole(e.c, e.info, e.Query); whole || err != nil {
		o.matched = n
		return o, true, err
	}
	if !exec.Countable(a, e.info) || a.Plan.Type == plan.IndexScan && a.Plan.Ranges.Len() != 1 {
		return o, false, nil // entry by entry
	}
	wanted := int64(0)
	if e.Shape.Limit > 0 {
		wanted = e.Shape.Skip + e.Shape.Limit
	}
	n, ok, err := exec.CountEntries(e.c, x, e.info, a.Plan, wanted)
	o.matched, o.keys, o.scans = n, n, []exec.ScanCounts{{Keys: n, Passed: n, Seeks: int64(a.Plan.Ranges.Len())}}
	return o, ok, err
}

// take adds up the counters of the iterators that were opened.
func (o *outcome) take(x *exec.Execution, p *plan.Plan) {
	o.keys, o.docs = x.Stats.KeysExamined, x.Stats.DocsExamined
	for _, src := range x.Sources {
		switch src := src.(type) {
		case *exec.ScanIterator:
			o.scans = append(o.scans, src.Counts()...)
		case *exec.Merged:
			o.dropped += src.Dropped
			for _, s := range src.All {
				o.scans = append(o.scans, s.Src.Counts()...)
			}
		}
	}
	if p.Type == plan.CollScan { // also that of a clustered collection
		o.keys = 0
	}
}

// fill writes the counters into the stages, from the leaves upwards, and returns the
// number of results of s.
func (o *outcome) fill(s *plan.Stage, e *Explanation) (returned int64) {
	st := &s.Stats
	for _, in := range s.Input {
		returned += o.fill(in, e)
		st.Works += in.Stats.Works
	}
	switch s.Name {
	case "IXSCAN", "DISTINCT_SCAN", "COUNT_SCAN", "EXPRESS_IXSCAN", "COLLSCAN", "EOF", "RECORD_STORE_FAST_COUNT":
		returned = o.leaf(s)
	case "GEO_NEAR_2D", "GEO_NEAR_2DSPHERE":
		st.Docs, returned = o.docs, o.matched
	case "FETCH", "TEXT_OR":
		if st.Docs, returned = o.docs, o.matched; e.Query.Matcher != nil && canonical.HasText(e.Query.Matcher.Root()) && !s.Detail.Has("filter") {
			returned = o.docs // phrases are checked in the stage above
		}
	case "TEXT_MATCH":
		st.Dropped, returned = returned-o.matched, o.matched
	case "OR", "SORT_MERGE":
		returned -= o.dropped
		st.Dropped = o.dropped
	case "SORT":
		st.Memory = o.bytes
		if e.Shape.Limit > 0 {
			returned = min(returned, e.Shape.Limit+e.Shape.Skip)
		}
		st.Works += returned + 1
	case "SKIP":
		returned = max(returned-e.Shape.Skip, 0)
	case "LIMIT":
		returned = min(returned, e.Shape.Limit)
	case "COUNT":
		s.Detail = value.NewDoc("nCounted", value.Int(exec.ClampCount(o.matched, e.Shape.Skip, e.Shape.Limit)), "nSkipped", value.Int(min(e.Shape.Skip, o.matched)))
		returned = 0
	case "UPDATE", "DELETE":
		s.Detail, returned = e.written(o), 0
		if e.Change != nil && e.Change.FindAndModify { // the reply has the document
			returned = min(o.matched, 1)
		}
	}
	st.Returned, st.Millis = returned, o.millis
	return returned
}

// leaf fills a stage that reads an index or the records.
func (o *outcome) leaf(s *plan.Stage) (returned int64) {
	st := &s.Stats
	var c exec.ScanCounts
	if len(o.scans) > 0 && s.Name != "EOF" {
		c, o.scans = o.scans[0], o.scans[1:]
	}
	switch s.Name {
	case "EOF":
		return 0
	case "COLLSCAN":
		st.Docs, st.Works = o.docs, o.docs+1
		return o.matched
	case "EXPRESS_IXSCAN":
		st.Docs = o.docs
		returned = o.matched
	case "RECORD_STORE_FAST_COUNT":
		return 0
	default:
		returned = c.Passed
	}
	st.Keys, st.Seeks, st.Tested, st.Dropped, st.Works = c.Keys, c.Seeks, c.Tested, c.Dropped, c.Keys+1-c.Last
	return returned
}

// written returns the counters of a write stage that is not carried out.
func (e *Explanation) written(o *outcome) value.Doc {
	if e.Shape.Write == "DELETE" {
		return value.NewDoc("nWouldDelete", value.Int(o.matched))
	}
	upserts := int64(0)
	if o.matched == 0 && e.Change != nil && e.Change.Upsert {
		upserts = 1
	}
	return value.NewDoc("nMatched", value.Int(o.matched), "nWouldModify", value.Int(o.modified), "nWouldUpsert", value.Int(upserts))
}

// execute runs the plan and writes executionStats.
func (e *Explanation) execute(a *exec.AccessPath, stage *plan.Stage) error {
	o, err := e.outcome(a, e.Exec, 0)
	if err != nil {
		return err
	}
	return e.appendOutcome(&o, a, stage)
}

// appendOutcome writes executionStats.
func (e *Explanation) appendOutcome(o *outcome, a *exec.AccessPath, stage *plan.Stage) error {
	returned := o.fill(stage, e)
	b := e.c.Reply
	b.StartDocument("executionStats").Bool("executionSuccess", true).Append("nReturned", value.Int(returned)).
		Append("executionTimeMillis", value.Int(o.millis)).Append("totalKeysExamined", value.Int(o.keys)).
		Append("totalDocsExamined", value.Int(o.docs))
	b.StartDocument("executionStages").Bool("isCached", false)
	stage.AppendStats(b)
	b.End()
	if e.verbosity == "allPlansExecution" && a != nil {
		if err := e.appendTrials(a, b); err != nil {
			return err
		}
	}
	b.End()
	return nil
}

// appendTrials runs every plan that was considered for a while, as mongod
// does to choose between them. One plan alone needs no trial.
func (e *Explanation) appendTrials(a *exec.AccessPath, b *value.Builder) error {
	b.StartArray("allPlansExecution")
	plans := append([]*plan.Plan{a.Plan}, a.Plan.Rejected...)
	for _, p := range plans {
		if len(plans) == 1 {
			break
		}
		x := exec.NewExecution(e.c)
		x.Env.Collation = e.Query.Collator
		trial := exec.AccessPathWith(e.c, e.info, e.Query, p)
		o, err := e.outcome(trial, x, trialResults)
		if err != nil {
			return err
		}
		stage := p.Explain(&e.Shape)
		keys, docs := o.keys, o.docs
		returned := o.fill(stage, e)
		b.StartDocument("").Append("nReturned", value.Int(returned)).Append("executionTimeMillisEstimate", value.Int(o.millis)).
			Append("totalKeysExamined", value.Int(keys)).Append("totalDocsExamined", value.Int(docs)).
			Double("score", stage.Score())
		b.StartDocument("executionStages")
		stage.AppendStats(b)
		b.End().End()
	}
	b.End()
	return nil
}

// appendNothing writes executionStats of a collection that does not exist.
func (e *Explanation) appendNothing(b *value.Builder) {
	b.StartDocument("executionStats").Bool("executionSuccess", true).Int32("nReturned", 0).Int32("executionTimeMillis", 0).
		Int32("totalKeysExamined", 0).Int32("totalDocsExamined", 0)
	b.StartDocument("executionStages").Bool("isCached", false)
	(&plan.Stage{Name: "EOF"}).AppendStats(b)
	b.End()
	if e.verbosity == "allPlansExecution" {
		b.StartArray("allPlansExecution").End()
	}
	b.End()
}
