package commands

import (
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/query/project"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

type findArgs struct {
	Find         value.Value `arg:"find,required"`
	Filter       value.Doc   `arg:"filter,own"`
	Projection   value.Doc   `arg:"projection,own"`
	Sort         value.Doc   `arg:"sort,own"`
	Hint         value.Value `arg:"hint,any"`
	Collation    value.Doc   `arg:"collation,own"`
	Skip         int64       `arg:"skip,nonneg"`
	Limit        int64       `arg:"limit,nonneg"`
	BatchSize    *int64      `arg:"batchSize,nonneg"`
	SingleBatch  strictBool  `arg:"singleBatch,own"`
	AllowDiskUse *strictBool `arg:"allowDiskUse,own"`
	Min          value.Doc   `arg:"min,own"`
	Max          value.Doc   `arg:"max,own"`
	ReturnKey    strictBool  `arg:"returnKey,own"`
	ShowRecordID strictBool  `arg:"showRecordId,own"`
	Tailable     strictBool  `arg:"tailable,own"`
	AwaitData    strictBool  `arg:"awaitData,own"`
	NoTimeout    strictBool  `arg:"noCursorTimeout,own"`
	AllowPartial strictBool  `arg:"allowPartialResults,own"`
	OplogReplay  looseBool   `arg:"oplogReplay"`
	Let          value.Doc   `arg:"let"`
	NTok         *int64      `arg:"ntoreturn"`
	Options      value.Doc   `arg:"options"`
	RequestToken strictBool  `arg:"$_requestResumeToken,own"`
	ResumeAfter  value.Doc   `arg:"$_resumeAfter,own"`
	ReadOnce     strictBool  `arg:"readOnce,own"`
	EncInfo      value.Value `arg:"encryptionInformation"`
	UUID         uuidArg     `arg:"collectionUUID"`
}

var findSpec = newArgs[findArgs]("FindCommandRequest") // as mongod calls it

func runFind(c *Call) error {
	a := findSpec.borrow()
	if err := findSpec.decode(c.Body, a); err != nil {
		return err
	}
	c.svc.metrics.opcounters.query.Add(1)
	ns, err := c.findNamespace(a.Find)
	if err != nil {
		return err
	}
	if handled, err := c.expressFind(ns, a); handled || err != nil {
		findSpec.giveBack(a)
		return translate(ns, err)
	}
	if !a.SingleBatch {
		// A cursor keeps parts of the command, whose message is overwritten.
		c.Body = c.Body.Clone()
		*a = findArgs{}
		if err := findSpec.decode(c.Body, a); err != nil {
			return err
		}
	}
	if err := c.heedQuerySettings(c.Body, false); err != nil {
		return err
	}
	f, err := c.openFind(ns, a)
	if err != nil {
		return translate(ns, err)
	}
	size := int64(-1)
	if a.BatchSize != nil {
		size = *a.BatchSize
	}
	return c.firstBatch(cursorRequest{
		ns: ns, it: &inContext{src: f.it, exec: f.exec, ns: ns, what: f.what}, exec: f.exec, batchSize: size, singleBatch: bool(a.SingleBatch),
		noTimeout: bool(a.NoTimeout), tailable: f.follows, awaitData: bool(a.AwaitData),
	})
}

// findNamespace reads a collection name, or a UUID that stands for one.
func (c *Call) findNamespace(v value.Value) (storage.Namespace, error) {
	subtype, id := v.Binary()
	if v.Kind() != value.KindBinary || subtype != 4 {
		return c.namespaceOf(v)
	}
	ns := storage.Namespace{}
	err := c.view(func(tx storage.Tx) error {
		for _, info := range tx.Collections(c.DB) {
			if string(info.UUID[:]) == string(id) {
				ns = info.Namespace
				return nil
			}
		}
		return mongoerr.Newf(mongoerr.NamespaceNotFound, "Unable to resolve %s", v)
	})
	return ns, err
}

// findCollection is findNamespace with the description of the collection, nil
// if there is none.
func (c *Call) findCollection(v value.Value) (ns storage.Namespace, info *storage.Info, err error) {
	if ns, err = c.findNamespace(v); err == nil {
		info, err = c.lookup(ns)
	}
	return ns, info, err
}

// finder is an opened find.
type finder struct {
	exec  *execution
	query readQuery
	it    agg.Iterator
	plan  *access
	what  string // what mongod says in front of an error of it
	sort  bool   // a sort stage was needed

	follows bool // the cursor stays open at the end, for what comes
}

// openFind compiles a find and opens its iterator.
func (c *Call) openFind(ns storage.Namespace, a *findArgs) (*finder, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	if err := c.checkFindInTransaction(a); err != nil {
		return nil, err
	}
	if err := c.expectUUID(ns, a.UUID); err != nil {
		return nil, err
	}
	info, err := c.lookup(ns)
	if err != nil {
		return nil, err
	}
	m := metaOf(info)
	if m.readThrough() {
		return c.findOnView(ns, a)
	}
	if err := c.noteRead(info); err != nil {
		return nil, err
	}
	f := &finder{exec: newExecution(c), what: findFailed}
	q := &f.query
	q.filter, q.sort, q.projection, q.hint, q.min, q.max = a.Filter, a.Sort, a.Projection, a.Hint, a.Min, a.Max
	q.asked = a.asked()
	if q.collator, err = operationCollation(a.Collation, m); err != nil {
		return nil, err
	}
	f.exec.env.Collation = q.collator
	if q.scope, err = f.exec.letScope(a.Let); err != nil {
		return nil, err
	}
	if err := c.compileFilter(q, m); err != nil {
		return nil, err
	}
	p, err := f.projection(a)
	if err != nil {
		return nil, err
	}
	if err := q.needMeta(a, p); err != nil {
		return nil, err
	}
	q.fields = a.fields(p)
	if bool(a.Tailable) {
		if err := q.checkTailable(); err != nil {
			return nil, err
		}
	}
	if bool(a.Tailable) && !m.capped && info != nil {
		return nil, mongoerr.Newf(mongoerr.BadValue, "error processing query: ns=%s tailable cursor requested on non capped collection", ns)
	}
	return f, f.open(c, info, a, p)
}

// asked is what messages show of the command beside its query.
func (a *findArgs) asked() plan.Asked {
	said := plan.Asked{Limit: a.Limit, Skip: a.Skip, Projection: a.Projection}
	if a.BatchSize != nil {
		said.BatchSize = *a.BatchSize
	}
	return said
}

// fields are the paths that the result of a find is made of, nil for whole
// documents.
func (a *findArgs) fields(p *project.Projection) []string {
	if p == nil && !bool(a.ReturnKey) || bool(a.Tailable) {
		return nil
	}
	whole := false
	fields := []string{}
	add := func(path string) { fields = append(fields, path) }
	if !bool(a.ReturnKey) {
		p.Deps(add, func() { whole = true })
	}
	for name, v := range a.Sort.All() {
		if v.IsNumber() && name != "$natural" {
			add(name)
		}
	}
	if whole {
		return nil
	}
	return fields
}

// checkFindInTransaction refuses what a transaction cannot do.
func (c *Call) checkFindInTransaction(a *findArgs) error {
	switch {
	case c.transaction() == nil:
		return nil
	case bool(a.Tailable):
		return mongoerr.New(mongoerr.InvalidOptions, "It is illegal to open a tailable cursor in a transaction")
	case bool(a.ReadOnce):
		return notInTransaction("The 'readOnce' option is not supported within a transaction.")
	}
	return nil
}

// check refuses combinations of options.
func (a *findArgs) check() error {
	switch {
	case !a.Min.IsEmpty() && !a.Max.IsEmpty() && !sameNames(a.Min, a.Max):
		return mongoerr.New(51176, "min and max must have the same field names")
	case bool(a.AwaitData) && !bool(a.Tailable):
		return mongoerr.New(mongoerr.FailedToParse, "Cannot set 'awaitData' without also setting 'tailable'")
	case bool(a.Tailable) && a.Sort != nil && !a.Sort.IsEmpty() && !naturalSort(a.Sort):
		return mongoerr.New(mongoerr.BadValue, "cannot use tailable option with a sort other than {$natural: 1}")
	case bool(a.Tailable) && bool(a.SingleBatch):
		return mongoerr.New(mongoerr.BadValue, "cannot use tailable option with the 'singleBatch' option")
	case a.NTok != nil:
		return mongoerr.New(40415, "BSON field 'FindCommandRequest.ntoreturn' is an unknown field.")
	}
	return checkHint(a.Hint)
}

// sameNames tells whether two documents have the same fields in the same
// order.
func sameNames(a, b value.Doc) bool {
	x, y := a.Iter(), b.Iter()
	for x.Next() {
		if !y.Next() || x.Key() != y.Key() {
			return false
		}
	}
	return !y.Next()
}

func naturalSort(sort value.Doc) bool {
	n, ok := isNatural(sort)
	return ok && n == 1
}

func (f *finder) projection(a *findArgs) (*project.Projection, error) {
	if a.Projection == nil || a.Projection.IsEmpty() {
		return nil, nil
	}
	return project.Compile(a.Projection, project.Options{Scope: f.query.scope, Matcher: f.query.matcher, Collation: f.query.collator})
}

// open builds the chain of iterators: records, filter, sort, skip, limit,
// projection.
func (f *finder) open(c *Call, info *storage.Info, a *findArgs, p *project.Projection) error {
	if info == nil {
		f.it = emptyDocs{}
		return nil
	}
	q := &f.query
	if a.Limit > 0 {
		q.limit = a.Skip + a.Limit
	}
	plan, err := c.access(f.exec, info, q)
	if err != nil {
		return err
	}
	f.plan = plan
	var it agg.Iterator
	if bool(a.Tailable) {
		it, f.follows, err = f.tail(c, info)
	} else {
		it, err = plan.documents(f.exec, info, q)
	}
	if err != nil {
		return err
	}
	f.it, err = f.decorate(it, a, p)
	return err
}

func (f *finder) decorate(it agg.Iterator, a *findArgs, p *project.Projection) (agg.Iterator, error) {
	q := &f.query
	if q.sort != nil && !q.sort.IsEmpty() && !f.plan.sorted {
		f.sort = true
		sorted, err := f.exec.sort(it, q.sort, q.limit, q.collator, a.AllowDiskUse)
		if err != nil {
			it.Close()
			return nil, err
		}
		it = sorted
	}
	if a.Skip > 0 {
		it = &skipIterator{src: it, left: a.Skip}
	}
	if a.Limit > 0 {
		// A sort that has a limit of its own learns of its end from the call
		// after the last document, as mongod's does up to 8.2: until then the
		// cursor stays open.
		it = &limitIterator{src: it, left: a.Limit, late: f.sort}
	}
	switch {
	case bool(a.ReturnKey):
		it = &returnKey{src: it, exec: f.exec}
	case p != nil:
		it = &projecting{src: it, p: p, exec: f.exec}
	}
	if bool(a.ShowRecordID) && !bool(a.ReturnKey) { // the keys of an index have none
		it = &withRecordID{src: it, exec: f.exec}
	}
	return it, nil
}

// sort runs agg's $sort over an iterator.
func (x *execution) sort(src agg.Iterator, pattern value.Doc, limit int64, collator value.Collator, disk *strictBool) (agg.Iterator, error) {
	x.running().counts.sorted = true
	p, err := compileSort(pattern, limit, collator, everyMetadata)
	if err != nil {
		return nil, err
	}
	return p.Run(x.aggExec(disk), src)
}

// aggExec makes the pipeline side of an execution.
func (x *execution) aggExec(disk *strictBool) *agg.Exec {
	svc := x.running().svc
	p := svc.params
	return &agg.Exec{
		Env: x.env, AllowDiskUse: disk == nil && p.bool("allowDiskUseByDefault") || disk != nil && bool(*disk),
		MemoryLimit: p.int("internalQueryMaxBlockingSortMemoryUsageBytes"),
		Limits: agg.Limits{
			Group:      p.int("internalDocumentSourceGroupMaxMemoryBytes"),
			BucketAuto: p.int("internalDocumentSourceBucketAutoMaxMemoryBytes"),
			Window:     p.int("internalDocumentSourceSetWindowFieldsMaxMemoryBytes"),
			Facet:      p.int("internalQueryFacetBufferSizeBytes"),
			FacetDoc:   p.int("internalQueryFacetMaxOutputDocSizeBytes"),
			LookupDoc:  p.int("internalLookupStageIntermediateDocumentMaxSizeBytes"),
			Push:       p.int("internalQueryMaxPushBytes"),
			AddToSet:   p.int("internalQueryMaxAddToSetBytes"),
			TopN:       p.int("internalQueryTopNAccumulatorBytes"),
		},
		TempDir: svc.options.TempDir, Interrupt: x.env.Interrupt, Context: x,
	}
}
