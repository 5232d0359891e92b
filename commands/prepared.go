package commands

import (
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/storage"
)

// preparedLookup reads the same index for one value after the other: what a
// $lookup does for each document. It is planned with the first value.
type preparedLookup struct {
	x    *execution
	a    *access
	info *storage.Info
	slot *plan.Slot
	eq   *match.Compare
	src  *records
	docs *documents
}

// Prepare implements agg.Preparer.
func (h *host) Prepare(x *agg.Exec, r agg.Request, eq *match.Compare) (agg.Prepared, error) {
	c := h.x.running()
	info, err := c.lookup(storage.Namespace{DB: r.DB, Coll: r.Coll})
	if err != nil || info == nil {
		return nil, err
	}
	if m := metaOf(info); m.kind != ordinary || m.isQueue || r.Matcher == nil || hasText(r.Matcher.Root()) {
		return nil, nil
	}
	q := &readQuery{filter: r.Filter, matcher: r.Matcher, limit: r.Limit, fields: r.Fields, hint: r.Hint, collator: r.Collation}
	q.meta = r.Meta
	sub := h.x.sub(x.Env)
	a, err := c.access(sub, info, q)
	if err != nil {
		return nil, err
	}
	pq := plan.Query{Collation: collationDoc(q.collator)}
	slot := a.plan.Slot(&pq, eq)
	if slot == nil {
		return nil, nil
	}
	h.x.plans = append(h.x.plans, a)
	p := &preparedLookup{x: sub, a: a, info: info, slot: slot, eq: eq}
	p.src = newRecords(sub, info, []scan{{index: a.plan.Index.Name}})
	if slot.Repeats() {
		p.src.once()
	}
	p.docs = q.documents(sub, &matching{src: p.src, q: q, env: sub.env})
	p.docs.spec = a.spec
	return p, nil
}

// Open implements agg.Prepared.
func (p *preparedLookup) Open() (agg.Source, error) {
	r := p.slot.Range(p.eq.Value)
	p.src.restart(storage.KeyRange{Lo: r.Lo, Hi: r.Hi})
	p.a.noteUse(p.x.running(), p.info, p.a.plan)
	return agg.Source{Iterator: p.docs}, nil
}

// restart makes the iteration begin anew with one range of its index.
func (r *records) restart(kr storage.KeyRange) {
	r.scans[0].ranges = append(r.scans[0].ranges[:0], kr)
	r.at, r.from = position{key: r.at.key[:0]}, position{key: r.from.key[:0]}
	r.buf, r.next, r.chunk, r.done = r.buf[:0], 0, firstChunk, false
	r.keys.reset()
	clear(r.seen)
}
