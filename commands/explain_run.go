package commands

import (
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/query/update"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Trials of allPlansExecution end after so many results, or so much work.
const (
	trialResults = 101
	trialWorks   = 10000
)

// outcome is what a plan did while it ran to be explained.
type outcome struct {
	scans    []scanCounts // in the order of the plan's leaves
	dropped  int64        // records that came up twice, seen by what joins the scans
	keys     int64
	docs     int64
	matched  int64 // records that passed the filter
	bytes    int64 // of these
	modified int64 // of these, how many an update would change
	millis   int64
	limit    int64 // of records to match, 0: none
}

// outcome runs a plan.
func (e *explained) outcome(a *access, x *execution, most int64) (o outcome, err error) {
	if o, counted, err := e.countOnly(a, x); counted || err != nil {
		return o, err
	}
	start := e.c.svc.real.NowMillis()
	src, err := a.open(x, e.info, e.query)
	if err != nil {
		return o, err
	}
	defer src.Close()
	o.limit = e.needed(a)
	if o.limit == 0 || most > 0 && most < o.limit {
		o.limit = most
	}
	for o.limit == 0 || o.matched < o.limit {
		r, ok, err := src.Next()
		if err != nil {
			return o, err
		}
		if !ok || most > 0 && x.stats.docsExamined > trialWorks {
			break
		}
		if err := e.consider(&o, r); err != nil {
			return o, err
		}
	}
	o.millis = e.c.svc.real.NowMillis() - start
	o.take(x, a.plan)
	return o, nil
}

// needed is how many matching records the query asks for: all, if they have
// to be sorted first.
func (e *explained) needed(a *access) int64 {
	switch {
	case !e.shape.Sort.IsEmpty() && !a.sorted:
		return 0
	case e.shape.Limit > 0:
		return e.shape.Skip + e.shape.Limit
	case e.shape.Write != "":
		return e.query.limit
	}
	return e.take
}

// consider counts one matching record.
func (e *explained) consider(o *outcome, r storage.Record) error {
	o.matched++
	o.bytes += int64(len(r.Doc))
	if e.change == nil || e.change.compile == nil {
		return nil
	}
	_, position, err := e.query.matcher.MatchWithPosition(e.exec.env, r.Doc)
	if err != nil {
		return err
	}
	_, modified, err := e.change.compile.Apply(e.exec.env, r.Doc, update.ApplyOptions{Position: position})
	if modified {
		o.modified++
	}
	return err
}

// countOnly runs a count that needs no records.
func (e *explained) countOnly(a *access, x *execution) (o outcome, ok bool, err error) {
	if !e.shape.Count || metaOf(e.info).hides() {
		return o, false, nil
	}
	if n, whole, err := e.c.countWhole(e.info, e.query); whole || err != nil {
		o.matched = n
		return o, true, err
	}
	if !countable(a, e.info) || a.plan.Type == plan.IndexScan && len(a.plan.Ranges) != 1 {
		return o, false, nil // entry by entry
	}
	most := int64(0)
	if e.shape.Limit > 0 {
		most = e.shape.Skip + e.shape.Limit
	}
	n, ok, err := e.c.countEntries(x, e.info, a.plan, most)
	o.matched, o.keys, o.scans = n, n, []scanCounts{{keys: n, passed: n, seeks: int64(len(a.plan.Ranges))}}
	return o, ok, err
}

// take gathers the counters of what was opened.
func (o *outcome) take(x *execution, p *plan.Plan) {
	o.keys, o.docs = x.stats.keysExamined, x.stats.docsExamined
	for _, src := range x.sources {
		switch src := src.(type) {
		case *records:
			for i := range src.scans {
				o.scans = append(o.scans, src.scans[i].counts)
			}
		case *merged:
			o.dropped += src.dropped
			for _, s := range src.all {
				o.scans = append(o.scans, s.src.scans[0].counts)
			}
		}
	}
	if p.Type == plan.CollScan { // also that of a clustered collection
		o.keys = 0
	}
}

// fill writes the counters into the stages, from the leaves upwards, and
// tells how many results s gives.
func (o *outcome) fill(s *plan.Stage, e *explained) (returned int64) {
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
		if st.Docs, returned = o.docs, o.matched; e.query.matcher != nil && hasText(e.query.matcher.Root()) && !s.Detail.Has("filter") {
			returned = o.docs // what phrases reject comes behind
		}
	case "TEXT_MATCH":
		st.Dropped, returned = returned-o.matched, o.matched
	case "OR", "SORT_MERGE":
		returned -= o.dropped
		st.Dropped = o.dropped
	case "SORT":
		st.Memory = o.bytes
		if e.shape.Limit > 0 {
			returned = min(returned, e.shape.Limit+e.shape.Skip)
		}
		st.Works += returned + 1
	case "SKIP":
		returned = max(returned-e.shape.Skip, 0)
	case "LIMIT":
		returned = min(returned, e.shape.Limit)
	case "COUNT":
		s.Detail = value.NewDoc("nCounted", value.Int(clampCount(o.matched, e.shape.Skip, e.shape.Limit)), "nSkipped", value.Int(min(e.shape.Skip, o.matched)))
		returned = 0
	case "UPDATE", "DELETE":
		s.Detail, returned = e.written(o), 0
		if e.change != nil && e.change.findAndModify { // the document is the answer
			returned = min(o.matched, 1)
		}
	}
	st.Returned, st.Millis = returned, o.millis
	return returned
}

// leaf fills a stage that reads an index or the records.
func (o *outcome) leaf(s *plan.Stage) (returned int64) {
	st := &s.Stats
	var c scanCounts
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
		returned = c.passed
	}
	st.Keys, st.Seeks, st.Tested, st.Dropped, st.Works = c.keys, c.seeks, c.tested, c.dropped, c.keys+1-c.last
	return returned
}

// written is what a write stage would do.
func (e *explained) written(o *outcome) value.Doc {
	if e.shape.Write == "DELETE" {
		return value.NewDoc("nWouldDelete", value.Int(o.matched))
	}
	upserts := int64(0)
	if o.matched == 0 && e.change != nil && e.change.upsert {
		upserts = 1
	}
	return value.NewDoc("nMatched", value.Int(o.matched), "nWouldModify", value.Int(o.modified), "nWouldUpsert", value.Int(upserts))
}

// execute runs the plan and writes executionStats.
func (e *explained) execute(a *access, stage *plan.Stage) error {
	o, err := e.outcome(a, e.exec, 0)
	if err != nil {
		return err
	}
	return e.appendOutcome(&o, a, stage)
}

// appendOutcome writes executionStats.
func (e *explained) appendOutcome(o *outcome, a *access, stage *plan.Stage) error {
	returned := o.fill(stage, e)
	b := e.c.reply
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
func (e *explained) appendTrials(a *access, b *value.Builder) error {
	b.StartArray("allPlansExecution")
	plans := append([]*plan.Plan{a.plan}, a.plan.Rejected...)
	for _, p := range plans {
		if len(plans) == 1 {
			break
		}
		x := newExecution(e.c)
		x.env.Collation = e.query.collator
		trial := e.c.accessWith(e.info, e.query, p)
		o, err := e.outcome(trial, x, trialResults)
		if err != nil {
			return err
		}
		stage := p.Explain(&e.shape)
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
func (e *explained) appendNothing(b *value.Builder) {
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
