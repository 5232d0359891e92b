package commands

import (
	"github.com/duskdb/duskdb/index"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// access is how a query reaches its records: the planner's choice, made
// runnable.
type access struct {
	plan     *plan.Plan
	spec     *index.Spec // of the index that is used, nil if none or several
	sorted   bool        // the records come in the query's order
	filtered bool        // by an index filter
	query    *readQuery
	key      string // in the plan cache, of a plan from there
	// backwards tells that they come in the opposite order, and of each
	// distinct value the last.
	backwards bool
}

func (a *access) byID() bool { return a.plan.Type == plan.ByID }

func (a *access) shapes() (hash, key string) { return shapeHash(a.query.shape()), a.cacheKey() }

func (a *access) summary() string { return summarize(a.plan) }

// cacheKey names the query's shape and the indexes that are of use for it.
func (a *access) cacheKey() string {
	if a.key != "" {
		return a.key
	}
	return planCacheKey(a.query, a.plan)
}

// access plans a query over a collection.
func (c *Call) access(x *execution, info *storage.Info, q *readQuery) (*access, error) {
	pq := plan.Query{
		NS: info.Namespace.String(), Filter: q.matcher, Sort: q.sort, Limit: q.limit, Min: q.min, Max: q.max,
		Collation: collationDoc(q.collator), Needs: q.needs(info), Implied: match.Implied(q.matcher, x.env),
		Interrupt: c.interrupted,
		Asked:     q.asked,
	}
	if err := setHint(&pq.Hint, q.hint); err != nil {
		return nil, err
	}
	metaOf(info).useTSIndex(&pq.Hint)
	if n, natural := isNatural(q.sort); natural {
		pq.Sort = nil
		if pq.Hint.IsZero() {
			pq.Hint.Natural = n
		}
	}
	a := &access{query: q}
	err := c.view(func(tx storage.Tx) error {
		coll, err := tx.Collection(info.Namespace)
		if err != nil {
			return err
		}
		if a.plan = lookupID(&pq, metaOf(info)); a.plan != nil {
			return nil
		}
		return a.choose(c, coll, info, q, &pq, !x.explained)
	})
	if err != nil {
		return nil, err
	}
	if c.counts.access == nil {
		c.counts.access = a
	}
	a.complete(info, q)
	if !x.explained && !q.counted {
		a.noteUse(c, info, a.plan)
	}
	return a, nil
}

// choose plans the query: with the index that is known to be good for its
// shape, or by a choice among all of them. An explained query always chooses,
// and leaves no trace.
func (a *access) choose(c *Call, coll storage.Collection, info *storage.Info, q *readQuery, pq *plan.Query, remember bool) (err error) {
	m := metaOf(info)
	key := uint64(0)
	allowed := c.allowedIndexes(info.Namespace)
	if remember && allowed == nil {
		key = q.cacheKey(m)
	}
	failed := false
	if key != 0 {
		if choice, name, known := m.plans.active(key); known {
			a.plan = plan.Again(pq, planCollection(coll, info, choice.Index), choice)
			if a.plan != nil {
				a.key = name
				return nil
			}
			failed = true
		}
	}
	pc := planCollection(coll, info, "")
	if allowed != nil {
		if a.plan = bySettings(*pq, pc, allowed); a.plan != nil {
			return nil
		}
	}
	if f := c.svc.settings.filters.find(info.Namespace, q); f != nil && allowed == nil {
		f.apply(pq, pc)
		a.filtered = true
	}
	if a.plan, err = plan.Make(pq, pc); err != nil {
		return err
	}
	a.distinct(pq, pc, q, m)
	if key != 0 {
		c.remember(m, key, q, pq, a, failed)
	}
	return nil
}

// accessWith makes the access of a plan that was not chosen.
func (c *Call) accessWith(info *storage.Info, q *readQuery, p *plan.Plan) *access {
	a := &access{plan: p, query: q}
	a.complete(info, q)
	return a
}

// complete derives what follows from the plan.
func (a *access) complete(info *storage.Info, q *readQuery) {
	_, natural := isNatural(q.sort)
	a.sorted = a.plan.Sorted || natural
	if a.plan.Index == nil {
		return
	}
	if line := info.Index(a.plan.Index.Name); line != nil {
		a.spec = index.Of(line)
	}
}

// noteUse counts the use of indexes for $indexStats.
func (a *access) noteUse(c *Call, info *storage.Info, p *plan.Plan) {
	if p.Index != nil {
		c.svc.indexUse.of(info, p.Index.Name, c.now).ops.Add(1)
	}
	for _, part := range p.Parts {
		a.noteUse(c, info, part)
	}
}

// lookupID is the plan of a query for one _id, which needs no choice; nil
// for any other.
func lookupID(q *plan.Query, m *collectionMeta) *plan.Plan {
	for _, spec := range m.indexes {
		if spec.IsID() {
			return plan.LookupID(q, spec.Plan())
		}
	}
	return nil
}

func setHint(h *plan.Hint, v value.Value) error {
	switch v.Kind() {
	case value.KindString:
		h.Name, h.Nameless = v.Str(), v.Str() == ""
	case value.KindDocument:
		if n, ok := isNatural(v.Doc()); ok {
			h.Natural = n
		} else if !v.Doc().IsEmpty() {
			h.Key = v.Doc()
		}
	}
	return nil
}

// planCollection describes a collection to the planner, with the index of that
// name only unless it is "".
func planCollection(coll storage.Collection, info *storage.Info, only string) *plan.Collection {
	m := metaOf(info)
	pc := &plan.Collection{Count: coll.Count(), Clustered: m.clustered != nil}
	room := make([]plan.Index, len(m.indexes))
	pc.Indexes = make([]*plan.Index, 0, len(m.indexes))
	for i, spec := range m.indexes {
		if only != "" && spec.Name != only {
			continue
		}
		stats, err := coll.IndexStats(spec.Name)
		if err != nil {
			continue
		}
		if x := &room[i]; spec.PlanInto(x) {
			x.Multikey, x.Entries = plan.Multikey(stats.Multikey), stats.Entries
			pc.Indexes = append(pc.Indexes, x)
		}
	}
	pc.Estimate = func(x *plan.Index, r plan.Range, limit int64) (n int64) {
		_ = coll.ScanIndex(x.Name, storage.KeyRange{Lo: r.Lo, Hi: r.Hi}, func([]byte, storage.RecordID) bool {
			n++
			return n < limit
		})
		return n
	}
	return pc
}

// records opens the plan's records, not yet matched.
func (a *access) records(x *execution, info *storage.Info, q *readQuery) recordSource {
	clustered := metaOf(info).clustered != nil
	switch p := a.plan; p.Type {
	case plan.Nothing:
		return noRecords{}
	case plan.Merge:
		return newMerged(x, info, q, p)
	case plan.Union:
		var scans []scan
		for _, part := range p.Parts {
			scans = appendScans(scans, part, clustered)
		}
		return newRecords(x, info, scans).once().useBranches(p)
	default:
		r := newRecords(x, info, appendScans(nil, p, clustered)).useKeys(p, q)
		if p.Dedup && p.Skip == 0 {
			r.once()
		}
		return r
	}
}

// appendScans turns a simple plan into scans. The natural order of a
// clustered collection is that of its index on _id.
func appendScans(scans []scan, p *plan.Plan, clustered bool) []scan {
	switch p.Type {
	case plan.Nothing:
	case plan.CollScan:
		if clustered {
			all := []storage.KeyRange{{Reverse: p.Reverse}}
			return append(scans, scan{index: idIndex, ranges: all})
		}
		scans = append(scans, scan{records: storage.Range{Reverse: p.Reverse}})
	case plan.Union:
		for _, part := range p.Parts {
			scans = appendScans(scans, part, clustered)
		}
	default:
		s := scan{index: p.Index.Name}
		for i, r := range p.Ranges {
			if i > 0 && p.Text != nil { // each word is a scan of its own
				scans = append(scans, s)
				s = scan{index: p.Index.Name}
			}
			s.ranges = append(s.ranges, storage.KeyRange{Lo: r.Lo, Hi: r.Hi, Reverse: p.Reverse})
		}
		s.walks = walkable(s.ranges)
		scans = append(scans, s)
	}
	return scans
}

// matching opens the plan's records that match the query.
func (a *access) matching(x *execution, info *storage.Info, q *readQuery) recordSource {
	src := a.records(x, info, q)
	if r, ok := src.(*records); ok && q.limit > 0 && q.near == nil && (a.sorted || q.sort.IsEmpty()) {
		r.chunk = int(min(int64(r.chunk), q.limit))
	}
	if a.plan.Covered { // its keys have been judged
		return src
	}
	return &matching{src: src, q: q, env: x.env}
}

// open opens the plan's matching records; those of a $near by distance.
func (a *access) open(x *execution, info *storage.Info, q *readQuery) (recordSource, error) {
	src := a.matching(x, info, q)
	if q.near == nil {
		return src, nil
	}
	if err := requireGeoIndex(info.Namespace, metaOf(info).indexes, q, q.near, q.near.FieldPath().String()); err != nil {
		return nil, err
	}
	limit := q.limit
	if !q.sort.IsEmpty() || q.nearAll {
		limit = 0
	}
	if rings, ok := x.openRings(info, q, q.near, limit); ok {
		src.Close()
		return rings, nil
	}
	return x.sortByDistance(src, q.near, -1, limit)
}

// documents opens the documents that match the query.
func (a *access) documents(x *execution, info *storage.Info, q *readQuery) (agg.Iterator, error) {
	src, err := a.open(x, info, q)
	if err != nil {
		return nil, err
	}
	docs := q.documents(x, src)
	docs.spec = a.spec
	return docs, nil
}

// openRecords plans a query and opens its records, sorted if it has a sort.
func (c *Call) openRecords(x *execution, info *storage.Info, q *readQuery) (recordSource, error) {
	a, err := c.access(x, info, q)
	if err != nil {
		return nil, err
	}
	src, err := a.open(x, info, q)
	if err != nil {
		return nil, err
	}
	if q.sort == nil || q.sort.IsEmpty() || a.sorted {
		return src, nil
	}
	return x.sortRecords(src, q)
}

// noRecords is an empty source.
type noRecords struct{}

func (noRecords) Next() (storage.Record, bool, error) { return storage.Record{}, false, nil }
func (noRecords) Close()                              {}

// sortRecords sorts records by their documents. The sorter knows only
// documents, so each carries its record id along.
func (x *execution) sortRecords(src recordSource, q *readQuery) (recordSource, error) {
	it, err := x.sort(&wrapped{src: src}, wrappedPattern(q.sort), q.limit, q.collator, nil)
	if err != nil {
		src.Close()
		return nil, err
	}
	return &unwrapped{it: it}, nil
}

// wrapped yields {i: record id, t: time of writing, d: document}.
type wrapped struct{ src recordSource }

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
