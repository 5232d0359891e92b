package exec

import (
	"strings"

	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/observe"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/value"
)

// TellsOf logs the plan of a command's query, if the verbosity of the component QUERY asks
// for that. It reports whether the end of the command is logged even if it was not slow.
func TellsOf(s *kernel.Service, c *kernel.Call) bool {
	if s.Verbosity.Highest.Load() == 0 {
		return false
	}
	if summary := PlanSummaryOf(&c.Counts); summary != "" {
		s.Verbose(observe.LogQuery, 2).Str("ns", kernel.OperationNamespace(c.Op)).Str("planSummary", summary).Msg("Winning plan")
	}
	if c.Cmd.Has(kernel.EndsTransaction) && s.Verbosity.Levels[observe.LogTransaction].Load() > 0 {
		return true
	}
	if c.Cmd.Has(kernel.Writes) && s.Verbosity.Levels[observe.LogWrite].Load() > 0 {
		return true
	}
	return s.Verbosity.Levels[observe.LogCommand].Load() > 0
}

// CountByID counts a look-up by _id, for which nothing is planned. As in mongod, one that
// finds nothing has examined nothing.
func CountByID(o *observe.Counts, found bool) {
	o.Plan = "EXPRESS_IXSCAN { _id: 1 }"
	if found {
		o.Keys++
		o.Docs++
	}
}

// AppendShape names the shape of the query that was planned. A look-up of one
// _id has none.
func AppendShape(o *observe.Counts, b *value.Builder) {
	if o.Access == nil || o.Access.ByID() {
		return
	}
	hash, key := o.Access.Shapes()
	b.String("queryHash", hash).String("planCacheShapeHash", hash).String("planCacheKey", key)
}

// PlanSummaryOf names the plan in a few words, as mongod's planSummary.
func PlanSummaryOf(o *observe.Counts) string { return observe.PlanSummary(o.Plan, o.Access) }

// MaxSummary bounds a summary, in bytes: a disjunction may have as many
// scans as there is room for branches in a message.
const MaxSummary = 10 << 10

// Summarize names a plan in a few words, as mongod's planSummary; a long one is cut off
// at MaxSummary.
func Summarize(p *plan.Plan) string {
	if p.Type != plan.Union {
		return summarizeOne(p)
	}
	var b strings.Builder
	if !summarizeParts(&b, p) {
		b.WriteString(", ...")
	}
	return b.String()
}

// summarizeParts writes the scans that a plan joins, and reports whether there
// was room for all of them.
func summarizeParts(b *strings.Builder, p *plan.Plan) bool {
	for _, part := range p.Parts {
		if part.Type == plan.Union {
			if !summarizeParts(b, part) {
				return false
			}
			continue
		}
		if b.Len() > MaxSummary {
			return false
		}
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString(summarizeOne(part))
	}
	return true
}

// summarizeOne names a plan that joins no others.
func summarizeOne(p *plan.Plan) string {
	switch p.Type {
	case plan.CollScan:
		return "COLLSCAN"
	case plan.Nothing:
		return "EOF"
	case plan.ByID:
		return "IDHACK"
	}
	if p.Index == nil {
		return ""
	}
	if p.Skip > 0 {
		return "DISTINCT_SCAN " + p.Index.Key.String()
	}
	return "IXSCAN " + p.Index.Key.String()
}
