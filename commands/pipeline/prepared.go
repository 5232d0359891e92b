package pipeline

import (
	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/storage"
)

// preparedLookup reads the same index for one value after the other, as a $lookup does for
// each document. It is planned with the first value.
type preparedLookup struct {
	x    *exec.Execution
	a    *exec.AccessPath
	info *storage.Info
	slot *plan.Slot
	eq   *match.Compare
	src  *exec.ScanIterator
	docs *exec.Documents
}

// Prepare implements agg.Preparer.
func (h *Environment) Prepare(x *agg.Exec, r agg.Request, eq *match.Compare) (agg.Prepared, error) {
	c := h.Exec.Running()
	info, err := exec.Lookup(c, storage.Namespace{DB: r.DB, Coll: r.Coll})
	if err != nil || info == nil {
		return nil, err
	}
	if m := catalog.Of(info); m.Kind != catalog.Ordinary || m.IsQueue || r.Matcher == nil || canonical.HasText(r.Matcher.Root()) {
		return nil, nil
	}
	q := &canonical.Query{Filter: r.Filter, Matcher: r.Matcher, Limit: r.Limit, Fields: r.Fields, Hint: r.Hint, Collator: r.Collation}
	q.Meta = r.Meta
	sub := h.Exec.Sub(x.Env)
	a, err := exec.ChooseAccessPath(c, sub, info, q)
	if err != nil {
		return nil, err
	}
	pq := plan.Query{Collation: canonical.CollationDoc(q.Collator)}
	slot := a.Plan.Slot(&pq, eq)
	if slot == nil {
		return nil, nil
	}
	h.Exec.Plans = append(h.Exec.Plans, a)
	p := &preparedLookup{x: sub, a: a, info: info, slot: slot, eq: eq}
	p.src = exec.NewScanIterator(sub, info, []exec.Scan{{Index: a.Plan.Index.Name}})
	if slot.Repeats() {
		p.src.Once()
	}
	p.docs = exec.NewDocuments(sub, q, &exec.Matching{Src: p.src, Q: q, Env: sub.Env})
	p.docs.Spec = a.Spec
	return p, nil
}

// Open implements agg.Prepared.
func (p *preparedLookup) Open() (agg.Source, error) {
	r := p.slot.Range(p.eq.Value)
	restart(p.src, storage.KeyRange{Lo: r.Lo, Hi: r.Hi})
	p.a.NoteUse(p.x.Running(), p.info, p.a.Plan)
	return agg.Source{Iterator: p.docs}, nil
}

// restart makes the iteration begin anew with one range of its index.
func restart(r *exec.ScanIterator, kr storage.KeyRange) {
	r.Scans[0].Ranges = append(r.Scans[0].Ranges[:0], kr)
	r.At, r.From = exec.Position{Key: r.At.Key[:0]}, exec.Position{Key: r.From.Key[:0]}
	r.Buf, r.Upcoming, r.Chunk, r.Done = r.Buf[:0], 0, exec.FirstChunk, false
	r.Keys.Reset()
	clear(r.Seen)
}
