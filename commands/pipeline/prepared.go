package pipeline

import (
	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// How many values are read ahead at once, at first and later.
const (
	firstAhead = 16
	maxAhead   = 256
)

// preparedLookup reads the same index for one value after the other, as a $lookup does for
// each document. It is planned with the first value, and reads the first records for the
// next values together.
type preparedLookup struct {
	x    *exec.Execution
	a    *exec.AccessPath
	info *storage.Info
	slot *plan.Slot
	eq   *match.Compare
	src  *exec.ScanIterator
	docs *exec.Documents

	ahead  exec.FirstChunks
	values []value.Value // the values that ahead was read for
	ranges []storage.KeyRange
	limit  int          // maximum of the values that the next ReadAhead takes
	last   int          // number of values that the last ReadAhead took
	fanOut int64        // documents of the reply for each value, as estimated so far
	call   *kernel.Call // the command whose reply is filled
	wanted int64        // Call.Wanted at the last ReadAhead
}

// Prepare implements stage.Preparer.
func (h *Environment) Prepare(x *agg.Exec, r agg.Request, eq *match.Compare) (agg.Prepared, error) {
	c := h.Exec.Running()
	q, err := canonical.FromRequest(&r, plan.Hint{})
	if err != nil {
		return nil, err
	}
	var p *preparedLookup
	err = c.InOneView(func() error {
		p = &preparedLookup{x: h.Exec.Sub(x.Env), eq: eq, limit: firstAhead, last: 1, fanOut: 1, call: c, wanted: c.Wanted}
		if err := p.plan(c, r, q); err != nil || p.slot == nil {
			return err
		}
		p.src = exec.NewRangeIterator(p.x, p.info, p.a.Plan.Index.Name)
		if p.slot.Repeats() {
			p.src.Once()
		}
		p.read([]value.Value{eq.Value})
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case p.a != nil && scans(p.a, &r):
		return &scannedLookup{preparedLookup: p, q: q, command: -1}, nil
	case p.slot == nil:
		return nil, nil
	}
	h.Exec.Plans = append(h.Exec.Plans, p.a)
	p.docs = exec.NewDocuments(p.x, p.info, q, exec.NewMatching(p.src, q, p.x.Env))
	p.docs.Spec = p.a.Spec
	return p, nil
}

// plan chooses the index. The slot stays nil if no index serves the equality.
func (p *preparedLookup) plan(c *kernel.Call, r agg.Request, q *canonical.Query) (err error) {
	p.info, err = exec.Lookup(c, storage.Namespace{DB: r.DB, Coll: r.Coll})
	if err != nil || p.info == nil {
		return err
	}
	if m := catalog.Of(p.info); m.Kind != catalog.Ordinary || m.IsQueue || r.Matcher == nil || canonical.HasText(r.Matcher.Root()) {
		return nil
	}
	if p.a, err = exec.ChooseAccessPath(c, p.x, p.info, q); err != nil {
		return err
	}
	pq := plan.Query{Collation: canonical.CollationDoc(q.Collator)}
	p.slot = p.a.Plan.Slot(&pq, p.eq)
	return nil
}

// Open implements agg.Prepared.
func (p *preparedLookup) Open() (agg.Source, error) {
	if i := p.ahead.Next(); i >= 0 && !value.Identical(p.values[i], p.eq.Value) {
		p.ahead.Drop() // the host was asked about a value that nothing is read for
	}
	if !p.ahead.Take(p.src) {
		p.src.Restart(p.keyRange(p.eq.Value))
	}
	p.a.NoteUse(p.x.Running(), p.info, p.a.Plan)
	return agg.Source{Iterator: p.docs}, nil
}

func (p *preparedLookup) keyRange(v value.Value) storage.KeyRange {
	r := p.slot.Range(v)
	return storage.KeyRange{Lo: r.Lo, Hi: r.Hi}
}

// Ahead implements agg.Prepared. It wants no more documents than the reply takes:
// documents for the next reply may change or expire until then.
func (p *preparedLookup) Ahead() int {
	c := p.x.Running()
	if c == p.call && p.wanted > c.Wanted {
		p.fanOut = max(p.fanOut, (p.wanted-c.Wanted+int64(p.last)-1)/int64(p.last))
	}
	p.call, p.wanted = c, c.Wanted
	n := p.limit
	if c.Wanted > 0 {
		n = int(max(1, min(int64(n), c.Wanted/p.fanOut)))
	}
	p.last = n
	return n
}

// ReadAhead implements agg.Prepared.
func (p *preparedLookup) ReadAhead(values []value.Value) {
	p.limit = maxAhead
	p.read(values)
}

func (p *preparedLookup) read(values []value.Value) {
	p.values, p.ranges = values, p.ranges[:0]
	for _, v := range values {
		p.ranges = append(p.ranges, p.keyRange(v))
	}
	p.ahead.Read(p.src, p.ranges)
}
