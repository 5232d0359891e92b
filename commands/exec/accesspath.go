package exec

import (
	"slices"

	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/index"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// AccessPath is how a query reads its records: the plan that was chosen, ready to run.
type AccessPath struct {
	Plan     *plan.Plan  // what the planner chose, or was given to AccessPathWith
	Spec     *index.Spec // the index that is used, nil if none or several
	Sorted   bool        // the records come in the query's order
	Filtered bool        // an index filter restricted the choice
	query    *canonical.Query
	key      string // the plan's key, if the plan came from the plan cache; else ""
	// Backwards reports whether the records come in the opposite order, with the last
	// record of each distinct value.
	Backwards bool
}

// ByID reports whether the plan is the look-up of one _id.
func (a *AccessPath) ByID() bool { return a.Plan.Type == plan.ByID }

// ScansAll reports whether the plan reads the whole collection.
func (a *AccessPath) ScansAll() bool { return a.Plan.Type == plan.CollScan }

// Shapes returns queryHash and planCacheKey, as explain and the profiler show them.
func (a *AccessPath) Shapes() (hash, key string) {
	return catalog.ShapeHash(a.query.Shape()), a.cacheKey()
}

// Summary names the plan in a few words, as mongod's planSummary.
func (a *AccessPath) Summary() string { return Summarize(a.Plan) }

// cacheKey names the query's shape and the indexes that are of use for it.
func (a *AccessPath) cacheKey() string {
	if a.key != "" {
		return a.key
	}
	return canonical.PlanCacheKey(a.query, a.Plan)
}

// ChooseAccessPath plans a query over a collection. The figures of its indexes are those of
// the view that the caller has opened (kernel's InOneView), else of a view of its own.
func ChooseAccessPath(c *kernel.Call, x *Execution, info *storage.Info, q *canonical.Query) (*AccessPath, error) {
	pq := q.ForPlanner(info, match.Implied(q.Matcher, x.Env))
	pq.Interrupt = c.Interrupted
	a := &AccessPath{query: q}
	err := c.View(func(tx storage.Tx) error {
		coll, err := catalog.Open(tx, info.Namespace)
		if err != nil {
			return err
		}
		if a.Plan = canonical.LookupID(&pq, catalog.Of(info)); a.Plan != nil {
			return nil
		}
		return a.choose(c, coll, info, q, &pq, !x.Explained)
	})
	if err != nil {
		return nil, err
	}
	if c.Counts.Access == nil {
		c.Counts.Access = a
	}
	a.complete(info, q)
	if !x.root().Explained {
		a.Plan.Forget()
	}
	if !x.Explained && !q.Counted {
		a.NoteUse(c, info, a.Plan)
	}
	return a, nil
}

// choose plans the query, with the plan in the plan cache or by a choice among all
// indexes. An explained query always chooses, and does not change the cache.
func (a *AccessPath) choose(c *kernel.Call, coll storage.Collection, info *storage.Info, q *canonical.Query, pq *plan.Query, remember bool) (err error) {
	m := catalog.Of(info)
	key := uint64(0)
	allowed := canonical.AllowedIndexes(c, info.Namespace)
	if remember && allowed == nil {
		key = q.CacheKey(m)
	}
	failed := false
	if key != 0 {
		if choice, name, known := m.Plans.Active(key); known {
			pc, err := canonical.PlanCollection(coll, info, choice.Index)
			if err != nil {
				return err
			}
			if a.Plan = plan.Again(pq, pc, choice); a.Plan != nil {
				a.key = name
				return nil
			}
			failed = true
		}
	}
	pc, err := canonical.PlanCollection(coll, info, "")
	if err != nil {
		return err
	}
	if allowed != nil {
		if a.Plan = canonical.BySettings(*pq, pc, allowed); a.Plan != nil {
			return nil
		}
	}
	if f := canonical.FindIndexFilter(&c.Svc.Settings.Filters, info.Namespace, q); f != nil && allowed == nil {
		f.Apply(pq, pc)
		a.Filtered = true
	}
	if a.Plan, err = plan.Make(pq, pc); err != nil {
		return err
	}
	a.distinct(pq, pc, q, m)
	if key != 0 {
		canonical.RememberPlan(m, key, c.Now, canonical.Planned{Query: q, Input: pq, Plan: a.Plan, Filtered: a.Filtered, Replaces: failed})
	}
	return nil
}

// AccessPathWith makes the access of a plan that was not chosen.
func AccessPathWith(c *kernel.Call, info *storage.Info, q *canonical.Query, p *plan.Plan) *AccessPath {
	a := &AccessPath{Plan: p, query: q}
	a.complete(info, q)
	return a
}

// complete sets the fields that depend on the plan.
func (a *AccessPath) complete(info *storage.Info, q *canonical.Query) {
	_, natural := canonical.Natural(q.Sort)
	a.Sorted = a.Plan.Sorted || natural
	if a.Plan.Index == nil {
		return
	}
	if line := info.Index(a.Plan.Index.Name); line != nil {
		a.Spec = index.Of(line)
	}
}

// NoteUse counts the use of indexes for $indexStats.
func (a *AccessPath) NoteUse(c *kernel.Call, info *storage.Info, p *plan.Plan) {
	if p.Index != nil {
		c.Svc.IndexUse.Of(info, p.Index.Name, c.Now).Ops.Add(1)
	}
	for _, part := range p.Parts {
		a.NoteUse(c, info, part)
	}
}

// records opens the plan's records, not yet matched.
func (a *AccessPath) records(x *Execution, info *storage.Info, q *canonical.Query) RecordSource {
	clustered := catalog.Of(info).Clustered != nil
	switch p := a.Plan; p.Type {
	case plan.Nothing:
		return noRecords{}
	case plan.Merge:
		return newMerged(x, info, q, p)
	case plan.Union:
		var scans []Scan
		for _, part := range p.Parts {
			scans = appendScans(scans, part, clustered)
		}
		return NewScanIterator(x, info, scans).Once().useBranches(p)
	default:
		r := NewScanIterator(x, info, appendScans(nil, p, clustered)).useKeys(p, q)
		if p.Dedup && p.Skip == 0 {
			r.Once()
		}
		return r
	}
}

// appendScans turns a simple plan into scans. The natural order of a
// clustered collection is that of its index on _id.
func appendScans(scans []Scan, p *plan.Plan, clustered bool) []Scan {
	switch p.Type {
	case plan.Nothing:
	case plan.CollScan:
		if clustered {
			return append(scans, Scan{Index: reserved.IDIndex, Ranges: plan.RangesOf(plan.Range{}), Reverse: p.Reverse})
		}
		scans = append(scans, Scan{records: storage.Range{Reverse: p.Reverse}})
	case plan.Union:
		scans = slices.Grow(scans, len(p.Parts))
		for _, part := range p.Parts {
			scans = appendScans(scans, part, clustered)
		}
	default:
		if p.Text != nil { // each word has a scan of its own
			for i := range p.Ranges.Len() {
				scans = append(scans, Scan{Index: p.Index.Name, Ranges: plan.RangesOf(p.Ranges.At(i)), Reverse: p.Reverse})
			}
			return scans
		}
		scans = append(scans, Scan{Index: p.Index.Name, Ranges: p.Ranges, Reverse: p.Reverse, walks: p.Ranges.Len() > 1 && p.Ranges.Disjoint(p.Reverse)})
	}
	return scans
}

// Matching opens the plan's records that match the query.
func (a *AccessPath) Matching(x *Execution, info *storage.Info, q *canonical.Query) RecordSource {
	src := a.records(x, info, q)
	if r, ok := src.(*ScanIterator); ok && q.Limit > 0 && q.Near == nil && (a.Sorted || q.Sort.IsEmpty()) {
		r.walk.size = int(min(int64(r.walk.size), q.Limit))
	}
	if a.Plan.Covered { // the filter was applied to its keys
		return src
	}
	m := NewMatching(src, q, x.Env)
	if m.scan != nil && a.proves(info, m.scan) {
		m.scan.walk.exact = a.Plan.Index
	}
	return m
}

// proves reports whether the entries of a scan can prove the match. They cannot if a find
// sees a document that differs from the stored one, because the index has the stored
// fields.
func (a *AccessPath) proves(info *storage.Info, r *ScanIterator) bool {
	p := a.Plan
	return p.Exact && p.Type == plan.IndexScan && p.Skip == 0 && !r.sight.messages && !r.sight.buckets && !catalog.Of(info).MayHide()
}

// Open opens the plan's matching records; those of a $near by distance.
func (a *AccessPath) Open(x *Execution, info *storage.Info, q *canonical.Query) (RecordSource, error) {
	src := a.Matching(x, info, q)
	if q.Near == nil {
		return src, nil
	}
	if err := requireGeoIndex(info.Namespace, catalog.Of(info).Indexes, q, q.Near, q.Near.FieldPath().String()); err != nil {
		return nil, err
	}
	limit := q.Limit
	if !q.Sort.IsEmpty() || q.NearAll {
		limit = 0
	}
	if rings, ok := x.openRings(info, q, q.Near, limit); ok {
		src.Close()
		return rings, nil
	}
	return x.sortByDistance(src, q.Near, -1, limit)
}

// Documents opens the documents that match the query.
func (a *AccessPath) Documents(x *Execution, info *storage.Info, q *canonical.Query) (agg.Iterator, error) {
	src, err := a.Open(x, info, q)
	if err != nil {
		return nil, err
	}
	docs := NewDocuments(x, info, q, src)
	docs.Spec = a.Spec
	return docs, nil
}

// OpenRecords plans a query and opens its records, sorted if it has a sort.
func OpenRecords(c *kernel.Call, x *Execution, info *storage.Info, q *canonical.Query) (RecordSource, error) {
	a, err := ChooseAccessPath(c, x, info, q)
	if err != nil {
		return nil, err
	}
	src, err := a.Open(x, info, q)
	if err != nil {
		return nil, err
	}
	if q.Sort == nil || q.Sort.IsEmpty() || a.Sorted {
		return src, nil
	}
	return x.sortRecords(src, q)
}

// noRecords is an empty source.
type noRecords struct{}

func (noRecords) Next() (storage.Record, bool, error) { return storage.Record{}, false, nil }

func (noRecords) Close() {}

// sortRecords sorts records by their documents. The sorter knows only
// documents, so each carries its record id along.
func (x *Execution) sortRecords(src RecordSource, q *canonical.Query) (RecordSource, error) {
	it, err := x.sort(&wrapped{src: src}, wrappedPattern(q.Sort), q.Limit, q.Collator, nil)
	if err != nil {
		src.Close()
		return nil, err
	}
	return &unwrapped{it: it}, nil
}

// wrapped yields {i: record id, t: time of writing, d: document}.
type wrapped struct{ src RecordSource }

func (w *wrapped) Next() (value.Doc, error) {
	r, ok, err := w.src.Next()
	if !ok || err != nil {
		return nil, err
	}
	return value.NewDoc("i", value.Int64(int64(r.ID)), "t", value.Int64(r.TS), "d", value.Document(r.Doc)), nil
}

func (w *wrapped) Close() { w.src.Close() }

// wrappedPattern moves a sort pattern below the field d.
func wrappedPattern(sort value.Doc) value.Doc {
	var b value.Builder
	b.Reset(nil)
	for name, v := range sort.All() {
		b.Append("d."+name, v)
	}
	return b.Doc()
}

type unwrapped struct{ it agg.Iterator }

func (u *unwrapped) Next() (storage.Record, bool, error) {
	d, err := u.it.Next()
	if d == nil || err != nil {
		return storage.Record{}, false, err
	}
	return storage.Record{ID: storage.RecordID(d.Lookup("i").Int64()), TS: d.Lookup("t").Int64(), Doc: d.Lookup("d").Doc()}, true, nil
}

func (u *unwrapped) Close() { u.it.Close() }
