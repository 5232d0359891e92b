package settings

import (
	"slices"

	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// readShape reads the query shape in a command, nil without a query. mongod does not read
// these commands by IDL: unknown fields are accepted, and null does not count as absent.
func readShape(c *kernel.Call) (*kernel.IndexFilter, error) {
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
	f := &kernel.IndexFilter{Query: query, Sort: parts["sort"], Project: parts["projection"], Collate: parts["collation"]}
	collator, err := canonical.OperationCollation(f.Collate, catalog.None)
	if err != nil {
		return nil, err
	}
	m, err := match.Compile(f.Query, match.Options{AllowNear: true, Text: catalog.PlainText, Collation: collator})
	if err != nil {
		return nil, err
	}
	f.Shape = canonical.QueryShape(m, f.Sort, f.Project, canonical.CollationDoc(collator))
	return f, nil
}

// runPlanCacheClear forgets the plans of a collection, or those of a shape.
func runPlanCacheClear(c *kernel.Call) error {
	ns, f, info, err := planShape(c)
	if err != nil || info == nil {
		return err
	}
	return forgetPlans(c, ns, f)
}

// forgetPlans forgets the plans of a shape, without one all of a collection.
func forgetPlans(c *kernel.Call, ns storage.Namespace, f *kernel.IndexFilter) error {
	info, err := exec.Lookup(c, ns)
	if err != nil || info == nil {
		return err
	}
	if f == nil {
		catalog.Of(info).Plans.Clear(nil)
	} else {
		catalog.Of(info).Plans.Clear(&f.Shape)
	}
	return nil
}

// planShape reads the collection and the query shape, nil without a query. If the collection
// does not exist, it does not read the shape.
func planShape(c *kernel.Call) (ns storage.Namespace, f *kernel.IndexFilter, info *storage.Info, err error) {
	if ns, err = c.Namespace(); err != nil {
		return ns, nil, nil, err
	}
	if info, err = exec.Lookup(c, ns); err != nil || info == nil {
		return ns, nil, nil, err
	}
	if catalog.Of(info).ReadThrough() {
		return ns, nil, nil, catalog.NotOnView(ns)
	}
	f, err = readShape(c)
	return ns, f, info, err
}

func runPlanCacheListFilters(c *kernel.Call) error {
	ns, err := c.Namespace()
	if err != nil {
		return err
	}
	if info, err := exec.Lookup(c, ns); err != nil {
		return err
	} else if info != nil && catalog.Of(info).ReadThrough() {
		return catalog.NotOnView(ns)
	}
	fs := &c.Svc.Settings.Filters
	fs.Mu.Lock()
	defer fs.Mu.Unlock()
	c.Reply.StartArray("filters")
	for _, f := range fs.Of[ns] {
		b := c.Reply.StartDocument("")
		b.Document("query", f.Query).Document("sort", kernel.OrEmpty(f.Sort)).Document("projection", kernel.OrEmpty(f.Project))
		if f.Collate != nil {
			b.Document("collation", f.Collate)
		}
		b.Array("indexes", f.Indexes).End()
	}
	c.Reply.End()
	return nil
}

func runPlanCacheClearFilters(c *kernel.Call) error {
	ns, f, info, err := planShape(c)
	if err != nil || info == nil {
		return err
	}
	fs := &c.Svc.Settings.Filters
	fs.Mu.Lock()
	defer fs.Mu.Unlock()
	left := fs.Of[ns]
	if f != nil {
		left = slices.DeleteFunc(left, func(x *kernel.IndexFilter) bool { return x.Shape == f.Shape })
	}
	if f == nil || len(left) == 0 {
		delete(fs.Of, ns)
	} else {
		fs.Of[ns] = left
	}
	return forgetPlans(c, ns, f)
}

func runPlanCacheSetFilter(c *kernel.Call) error {
	ns, f, info, err := planShape(c)
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
	f.Indexes = indexes.Doc().Clone()
	fs := &c.Svc.Settings.Filters
	fs.Mu.Lock()
	defer fs.Mu.Unlock()
	if fs.Of == nil {
		fs.Of = map[storage.Namespace][]*kernel.IndexFilter{}
	}
	fs.Of[ns] = append(slices.DeleteFunc(fs.Of[ns], func(x *kernel.IndexFilter) bool { return x.Shape == f.Shape }), f)
	fs.Any.Store(true)
	return forgetPlans(c, ns, f)
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
