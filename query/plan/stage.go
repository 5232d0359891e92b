package plan

import "github.com/duskdb/duskdb/value"

// Stage is one node of an explained plan. The executor fills in Stats.
type Stage struct {
	Name   string
	Input  []*Stage
	Stats  Stats
	Detail value.Doc // fields that describe the stage
	totals totals
}

// Stats counts the work of a stage while a plan runs.
type Stats struct {
	Returned int64
	Works    int64
	Keys     int64 // index entries examined
	Docs     int64 // records examined
	Seeks    int64
	Tested   int64 // records checked for duplicates
	Dropped  int64 // the duplicates among them
	Millis   int64
	Memory   int64 // bytes sorted
	Spilled  bool
	Failed   bool
}

// totals selects the counters that a stage shows.
type totals uint8

const (
	showKeys totals = 1 << iota
	showDocs
	showSort
	showFetch    // alreadyHasObj, which is always 0
	showRejected // documents that the phrases of a text search exclude
)

// AppendPlan writes the stages without counters: queryPlanner.winningPlan.
func (s *Stage) AppendPlan(b *value.Builder) {
	b.String("stage", s.Name)
	if s.Detail != nil {
		b.Raw(s.Detail[4 : len(s.Detail)-1])
	}
	s.appendInputs(b, (*Stage).AppendPlan)
}

// AppendStats writes the stages with counters: executionStats.
func (s *Stage) AppendStats(b *value.Builder) {
	b.String("stage", s.Name)
	if filter, ok := s.Detail.Get("filter"); ok && s.Detail != nil {
		b.Append("filter", filter)
	}
	b.Append("nReturned", value.Int(s.Stats.Returned))
	b.Append("executionTimeMillisEstimate", value.Int(s.Stats.Millis))
	works := max(s.Stats.Works, s.Stats.Returned+1)
	b.Append("works", value.Int(works)).Append("advanced", value.Int(s.Stats.Returned))
	b.Append("needTime", value.Int(works-s.Stats.Returned-1)).Append("needYield", value.Int(0))
	b.Append("saveState", value.Int(0)).Append("restoreState", value.Int(0)).Int32("isEOF", 1)
	if s.Stats.Failed {
		b.Bool("failed", true)
	}
	for name, v := range s.Detail.All() {
		if name != "filter" {
			b.Append(name, v)
		}
	}
	s.appendTotals(b)
	s.appendInputs(b, (*Stage).AppendStats)
}

// appendTotals writes the counters that the type of the stage shows.
func (s *Stage) appendTotals(b *value.Builder) {
	if s.totals&showKeys != 0 {
		b.Append("keysExamined", value.Int(s.Stats.Keys)).Append("seeks", value.Int(s.Stats.Seeks))
		b.Append("dupsTested", value.Int(s.Stats.Tested)).Append("dupsDropped", value.Int(s.Stats.Dropped))
	}
	if s.totals&showDocs != 0 {
		b.Append("docsExamined", value.Int(s.Stats.Docs))
	}
	if s.totals&showFetch != 0 {
		b.Int32("alreadyHasObj", 0)
	}
	if s.totals&showRejected != 0 {
		b.Append("docsRejected", value.Int(s.Stats.Dropped))
	}
	if s.totals&showSort != 0 {
		b.Append("totalDataSizeSorted", value.Int(s.Stats.Memory)).Bool("usedDisk", s.Stats.Spilled)
	}
}

// appendInputs writes the input stages, as inputStage or inputStages.
func (s *Stage) appendInputs(b *value.Builder, write func(*Stage, *value.Builder)) {
	switch len(s.Input) {
	case 0:
	case 1:
		b.StartDocument("inputStage")
		write(s.Input[0], b)
		b.End()
	default:
		b.StartArray("inputStages")
		for _, in := range s.Input {
			b.StartDocument("")
			write(in, b)
			b.End()
		}
		b.End()
	}
}

// Score returns mongod's score of a trial: the fraction of the work that
// produced results, and a small bonus for each stage that the plan does not
// need.
func (s *Stage) Score() float64 {
	works := float64(max(s.Stats.Works, s.Stats.Returned+1))
	bonus := min(1/(10*works), 1e-4)
	score := 1 + float64(s.Stats.Returned)/works + bonus // no intersection of indexes
	for _, name := range []string{"FETCH", "SORT"} {
		if s.Find(name) == nil {
			score += bonus
		}
	}
	return score
}

// Find returns the first stage of that name, or nil.
func (s *Stage) Find(name string) *Stage {
	if s.Name == name {
		return s
	}
	for _, in := range s.Input {
		if found := in.Find(name); found != nil {
			return found
		}
	}
	return nil
}

// Scan returns the stage that reads the index or the collection: where
// entries are counted. Of a union it is that of the i-th part.
func (s *Stage) Scan(i int) *Stage {
	for len(s.Input) > 0 {
		if s.Name == "OR" {
			s = s.Input[min(i, len(s.Input)-1)]
			continue
		}
		s = s.Input[0]
	}
	return s
}
