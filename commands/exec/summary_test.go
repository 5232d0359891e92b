package exec_test

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/value"
)

// TestSummaryOfManyScans: a plan of many scans is summarized in bounded
// memory, one of few in the words of mongod's planSummary.
func TestSummaryOfManyScans(t *testing.T) {
	part := &plan.Plan{Type: plan.IndexScan, Index: &plan.Index{Key: value.MustJSON(`{"a": 1}`)}}
	few := &plan.Plan{Type: plan.Union, Parts: []*plan.Plan{part, {Type: plan.Union, Parts: []*plan.Plan{part, {Type: plan.CollScan}}}}}
	if got, want := exec.Summarize(few), "IXSCAN { a: 1 }, IXSCAN { a: 1 }, COLLSCAN"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	many := &plan.Plan{Type: plan.Union}
	for range 100_000 {
		many.Parts = append(many.Parts, part)
	}
	got := exec.Summarize(many)
	if len(got) > exec.MaxSummary+100 || !strings.HasPrefix(got, "IXSCAN { a: 1 }, IXSCAN { a: 1 }, ") || !strings.HasSuffix(got, ", ...") {
		t.Errorf("%d bytes, …%s", len(got), got[max(0, len(got)-40):])
	}
	if n := testing.AllocsPerRun(1, func() { exec.Summarize(many) }); n > 20_000 {
		t.Errorf("%v allocations", n)
	}
}
