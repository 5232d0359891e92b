package commands

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// planCacheCommands are about how queries are planned: choices that are
// remembered, and index filters, which limit them.
func planCacheCommands() []command {
	return []command{
		{name: "planCacheClear", run: runPlanCacheClear, action: "planCacheWrite", on: onCollection, help: "forget cached plans"},
		{name: "planCacheClearFilters", run: runPlanCacheClearFilters, action: "planCacheIndexFilter", on: onCollection, help: "remove index filters"},
		{name: "planCacheListFilters", run: runPlanCacheListFilters, action: "planCacheIndexFilter", on: onCollection, help: "list index filters"},
		{name: "planCacheSetFilter", run: runPlanCacheSetFilter, action: "planCacheIndexFilter", on: onCollection, help: "limit the indexes for a shape of query"},
	}
}

// indexFilters are the index filters of all collections. They last until the
// server stops, as in mongod.
type indexFilters struct {
	any atomic.Bool // cheap to ask, for those who have none
	mu  sync.Mutex
	of  map[storage.Namespace][]*indexFilter
}

// indexFilter limits the indexes that queries of one shape may use.
type indexFilter struct {
	shape   uint64
	query   value.Doc
	sort    value.Doc
	project value.Doc
	collate value.Doc
	indexes value.Doc // array of names and key patterns
}

// find returns the filter for a query, nil if there is none.
func (f *indexFilters) find(ns storage.Namespace, q *readQuery) *indexFilter {
	if !f.any.Load() {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	list := f.of[ns]
	if len(list) == 0 {
		return nil
	}
	shape := q.shape()
	for _, x := range list {
		if x.shape == shape {
			return x
		}
	}
	return nil
}

// apply takes the indexes away that the filter does not name. A hint has no
// say any more.
func (f *indexFilter) apply(pq *plan.Query, pc *plan.Collection) {
	pq.Hint = plan.Hint{}
	pc.Indexes = slices.DeleteFunc(pc.Indexes, func(x *plan.Index) bool { return !f.allows(x) })
}

func (f *indexFilter) allows(x *plan.Index) bool {
	for v := range f.indexes.Values() {
		if v.Kind() == value.KindString && v.Str() == x.Name || v.Kind() == value.KindDocument && value.CompareDocs(v.Doc(), x.Key, nil) == 0 {
			return true
		}
	}
	return false
}

// readShape reads the shape that a command names; nil without a query. These
// commands are not read by IDL in mongod: any further field is taken, and null
// is a value like another.
func (c *Call) readShape() (*indexFilter, error) {
	parts := map[string]value.Doc{}
	for _, name := range []string{"query", "sort", "projection", "collation"} {
		v, given := c.Body.Get(name)
		switch {
		case !given:
			continue
		case name != "query" && !c.Body.Has("query"):
			return nil, mongoerr.New(mongoerr.BadValue, "sort, projection, or collation provided without query")
		case v.Kind() != value.KindDocument && v.Kind() != value.KindArray && name == "query":
			return nil, mongoerr.New(mongoerr.BadValue, "required field query must be an object")
		case v.Kind() != value.KindDocument && v.Kind() != value.KindArray:
			return nil, mongoerr.Newf(mongoerr.BadValue, "optional field %s must be an object", name)
		case name == "collation" && v.Doc().IsEmpty():
			return nil, mongoerr.New(mongoerr.BadValue, "optional field collation cannot be an empty object")
		}
		parts[name] = v.Doc().Clone()
	}
	query, ok := parts["query"]
	if !ok {
		return nil, nil
	}
	f := &indexFilter{query: query, sort: parts["sort"], project: parts["projection"], collate: parts["collation"]}
	collator, err := operationCollation(f.collate, noMeta)
	if err != nil {
		return nil, err
	}
	m, err := match.Compile(f.query, match.Options{AllowNear: true, Text: plainText, Collation: collator})
	if err != nil {
		return nil, err
	}
	f.shape = queryShape(m, f.sort, f.project, collationDoc(collator))
	return f, nil
}

// runPlanCacheClear forgets the plans of a collection, or those of a shape.
func runPlanCacheClear(c *Call) error {
	ns, f, info, err := c.planShape()
	if err != nil || info == nil {
		return err
	}
	return c.forgetPlans(ns, f)
}

// forgetPlans forgets the plans of a shape, without one all of a collection.
func (c *Call) forgetPlans(ns storage.Namespace, f *indexFilter) error {
	info, err := c.lookup(ns)
	if err != nil || info == nil {
		return err
	}
	if f == nil {
		metaOf(info).plans.clear(nil)
	} else {
		metaOf(info).plans.clear(&f.shape)
	}
	return nil
}

// planShape reads what the commands about shapes begin with: the collection,
// and the shape, nil without a query. Without a collection nothing more is read.
func (c *Call) planShape() (ns storage.Namespace, f *indexFilter, info *storage.Info, err error) {
	if ns, err = c.namespace(); err != nil {
		return ns, nil, nil, err
	}
	if info, err = c.lookup(ns); err != nil || info == nil {
		return ns, nil, nil, err
	}
	if metaOf(info).readThrough() {
		return ns, nil, nil, errIsView(ns)
	}
	f, err = c.readShape()
	return ns, f, info, err
}

func runPlanCacheListFilters(c *Call) error {
	ns, err := c.namespace()
	if err != nil {
		return err
	}
	if info, err := c.lookup(ns); err != nil {
		return err
	} else if info != nil && metaOf(info).readThrough() {
		return errIsView(ns)
	}
	fs := &c.svc.settings.filters
	fs.mu.Lock()
	defer fs.mu.Unlock()
	c.reply.StartArray("filters")
	for _, f := range fs.of[ns] {
		b := c.reply.StartDocument("")
		b.Document("query", f.query).Document("sort", orEmpty(f.sort)).Document("projection", orEmpty(f.project))
		if f.collate != nil {
			b.Document("collation", f.collate)
		}
		b.Array("indexes", f.indexes).End()
	}
	c.reply.End()
	return nil
}

func orEmpty(d value.Doc) value.Doc {
	if d == nil {
		return value.EmptyDoc
	}
	return d
}

func runPlanCacheClearFilters(c *Call) error {
	ns, f, info, err := c.planShape()
	if err != nil || info == nil {
		return err
	}
	fs := &c.svc.settings.filters
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f == nil {
		delete(fs.of, ns)
	} else {
		fs.of[ns] = slices.DeleteFunc(fs.of[ns], func(x *indexFilter) bool { return x.shape == f.shape })
	}
	return c.forgetPlans(ns, f)
}

func runPlanCacheSetFilter(c *Call) error {
	ns, f, info, err := c.planShape()
	switch {
	case err != nil:
		return err
	case info == nil:
		return mongoerr.New(mongoerr.BadValue, "no such collection")
	case f == nil:
		return mongoerr.New(mongoerr.BadValue, "required field query missing")
	}
	indexes := c.Body.Lookup("indexes")
	if err := checkFilterIndexes(indexes); err != nil {
		return err
	}
	f.indexes = indexes.Doc().Clone()
	fs := &c.svc.settings.filters
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.of == nil {
		fs.of = map[storage.Namespace][]*indexFilter{}
	}
	fs.of[ns] = append(slices.DeleteFunc(fs.of[ns], func(x *indexFilter) bool { return x.shape == f.shape }), f)
	fs.any.Store(true)
	return c.forgetPlans(ns, f)
}

func checkFilterIndexes(v value.Value) error {
	switch {
	case v.IsMissing():
		return mongoerr.New(mongoerr.BadValue, "required field indexes missing")
	case v.Kind() != value.KindArray:
		return mongoerr.New(mongoerr.BadValue, "required field indexes must be an array")
	case v.Doc().IsEmpty():
		return mongoerr.New(mongoerr.BadValue, "required field indexes must contain at least one index")
	}
	for e := range v.Doc().Values() {
		switch e.Kind() {
		case value.KindString:
		case value.KindDocument:
			if e.Doc().IsEmpty() {
				return mongoerr.New(mongoerr.BadValue, "index specification cannot be empty")
			}
		default:
			return mongoerr.New(mongoerr.BadValue, "each item in indexes must be an object or string")
		}
	}
	return nil
}
