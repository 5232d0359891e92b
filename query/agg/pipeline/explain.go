package pipeline

import (
	"github.com/duskdb/duskdb/query/agg/pack"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/value"
)

// Verbosity is the verbosity of an explain.
type Verbosity byte

// The verbosities of explain.
const (
	QueryPlanner Verbosity = iota
	ExecutionStats
	AllPlansExecution
)

// Explain describes the stages as explain's "stages" shows them, without the
// $cursor stage, which the host puts in front. x is the run to take execution
// statistics from; it may be nil for QueryPlanner.
func (p *Pipeline) Explain(v Verbosity, x *stage.Exec) []value.Doc {
	docs := make([]value.Doc, 0, len(p.stages))
	for _, s := range p.stages {
		b := value.NewBuilder().Append(s.Name(), s.Spec())
		if v >= ExecutionStats && x != nil {
			appendStats(b, s, x.StatsOf(s))
		}
		docs = append(docs, b.Doc())
	}
	return docs
}

// ExplainOverPacks is Explain for a pipeline over packs with these fields. It shows a
// $sort by time as mongod's bounded sorter.
func (p *Pipeline) ExplainOverPacks(v Verbosity, x *stage.Exec, shared, time string) []value.Doc {
	docs := p.Explain(v, x)
	plan := pack.NewPlan(p.stages, shared, time)
	b := value.NewBuilder()
	if plan == nil || !plan.AppendSpec(b) {
		return docs
	}
	it := docs[0].Iter()
	for it.Next() {
		if it.Key() != p.stages[0].Name() {
			b.Raw(it.Element())
		}
	}
	docs[0] = b.Doc()
	return docs
}

// appendStats writes the statistics of a stage.
func appendStats(b *value.Builder, s stage.Stage, st *stage.Stats) {
	b.Int64("nReturned", st.Returned)
	b.Int64("executionTimeMillisEstimate", st.Millis)
	if m, ok := s.(stage.Measurable); ok {
		m.AppendStats(b, st)
	}
}
