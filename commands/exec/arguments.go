package exec

import (
	"cmp"
	"math"
	"strings"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/query/project"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// AggregateArgs are the arguments of aggregate.
type AggregateArgs struct {
	Aggregate    value.Value      `arg:"aggregate,required"`       // name of the collection, or 1 for none
	Pipeline     args.Array       `arg:"pipeline,required,own"`    // the stages, in order
	Explain      value.Value      `arg:"explain,any"`              // a boolean: describe the plan instead of running it
	AllowDiskUse *args.StrictBool `arg:"allowDiskUse,own"`         // whether stages may write temporary files; nil: as the parameter says
	Cursor       value.Value      `arg:"cursor,any"`               // a document with batchSize
	Bypass       args.LooseBool   `arg:"bypassDocumentValidation"` // $out and $merge skip the validator of the target
	Collation    value.Doc        `arg:"collation"`                // the order of strings in all comparisons; nil: the collection's
	Hint         value.Value      `arg:"hint,any"`                 // an index by name or key, or $natural
	Let          value.Doc        `arg:"let"`                      // variables for expressions
	BatchSize    value.Value      `arg:"batchSize"`                // accepted and without effect: cursor.batchSize counts
	FromMongos   args.LooseBool   `arg:"fromMongos"`               // accepted from routers, without effect
	NeedsMerge   args.LooseBool   `arg:"needsMerge"`               // accepted from routers, without effect
	EncInfo      value.Value      `arg:"encryptionInformation"`    // accepted and without effect
	UUID         args.UUID        `arg:"collectionUUID"`           // UUID of the collection that the client expects
}

// AggregateSpec decodes the arguments of aggregate.
var AggregateSpec = args.New[AggregateArgs]("aggregate")

// Check checks that the command has explain or cursor, and returns the size of the first
// batch.
func (a *AggregateArgs) Check() (int64, error) {
	if k := a.Explain.Kind(); k != value.KindBool && k != value.Missing {
		return 0, mongoerr.New(mongoerr.TypeMismatch, "explain must be a boolean")
	}
	if a.Cursor.IsMissing() && a.Explain.Bool() {
		return -1, nil
	}
	if a.Cursor.IsMissing() {
		return 0, mongoerr.New(mongoerr.FailedToParse, "The 'cursor' option is required, except for aggregate with the explain argument")
	}
	if a.Cursor.Kind() != value.KindDocument {
		return 0, mongoerr.New(mongoerr.TypeMismatch, "cursor field must be missing or an object")
	}
	return args.BatchSize("cursor", a.Cursor.Doc(), -1)
}

// ExpectUUID checks the UUID of the collection that the pipeline reads, if one is given.
func (a *AggregateArgs) ExpectUUID(c *kernel.Call, ns storage.Namespace) error {
	switch {
	case !a.UUID.Given():
		return nil
	case StartsStream(value.Doc(a.Pipeline)):
		return mongoerr.New(4928900, "collectionUUID is not supported for a change stream")
	case ns.Coll == "":
		return mongoerr.New(4928901, "collectionUUID is not supported for a collectionless aggregation")
	}
	return c.ExpectUUID(ns, a.UUID)
}

// StartsStream reports whether a pipeline opens a change stream.
func StartsStream(pipeline value.Doc) bool {
	name, _ := pipeline.Index(0).Doc().First()
	return name == "$changeStream"
}

// CountArgs are the arguments of count.
type CountArgs struct {
	Count     value.Value `arg:"count,required"`        // name or UUID of the collection
	Query     value.Doc   `arg:"query"`                 // the filter; nil: all documents
	Limit     value.Value `arg:"limit,any"`             // maximum of the count, see AtMost
	Skip      int64       `arg:"skip,nonneg"`           // documents to pass over first
	Hint      value.Value `arg:"hint,any"`              // an index by name or key, or $natural
	Collation value.Doc   `arg:"collation"`             // the order of strings in the filter; nil: the collection's
	Fields    value.Value `arg:"fields"`                // accepted and without effect, as in mongod
	EncInfo   value.Value `arg:"encryptionInformation"` // accepted and without effect
}

// CountSpec decodes the arguments of count.
var CountSpec = args.New[CountArgs]("count")

// AtMost returns the limit of the count, 0 without one. As in mongod, a negative limit
// means its absolute value.
func (a *CountArgs) AtMost() (int64, error) {
	if a.Limit.IsMissing() {
		return 0, nil
	}
	if !a.Limit.IsNumber() {
		return 0, mongoerr.New(mongoerr.BadValue, "limit value is not a valid number")
	}
	n, complaint := a.Limit.ExactInt64()
	switch {
	case complaint != "":
		return 0, mongoerr.Newf(mongoerr.FailedToParse, "%s: limit: %s", complaint, a.Limit)
	case n == math.MinInt64:
		return 0, mongoerr.New(mongoerr.BadValue, "Limit value for count cannot be min long")
	}
	return max(n, -n), nil
}

// Canonical returns the query of the command, not yet compiled.
func (a *CountArgs) Canonical() canonical.Query {
	return canonical.Query{Filter: a.Query, Query: plan.Query{Hint: canonical.HintOf(a.Hint), Fields: []string{}}}
}

// CountWhole counts a whole collection without reading documents: the number of records
// less the number of expired ones, which it counts in the expiry indexes.
func CountWhole(c *kernel.Call, info *storage.Info, q *canonical.Query) (n int64, ok bool, err error) {
	if !q.Matcher.MatchesAll() || !q.Hint.IsZero() {
		return 0, false, nil
	}
	err = c.View(func(tx storage.Tx) error {
		coll, err := catalog.Open(tx, info.Namespace)
		if err != nil {
			return err
		}
		n, err = c.Visible(coll).Count()
		return err
	})
	return n, true, err
}

// Countable reports whether index entries can be counted instead of documents: exactly
// the entries in the ranges of the plan belong to matching documents.
func Countable(a *AccessPath, info *storage.Info) bool {
	p := a.Plan
	return p.Exact && !p.Dedup && (p.Type == plan.IndexScan || p.Type == plan.ByID) && !catalog.Of(info).IsQueue
}

// CountEntries counts the entries in the ranges of a plan, no further than
// limit (0: all). ok is false if some of the documents may have expired.
func CountEntries(c *kernel.Call, x *Execution, info *storage.Info, p *plan.Plan, limit int64) (n int64, ok bool, err error) {
	err = c.View(func(tx storage.Tx) error {
		n = 0
		coll, err := catalog.Open(tx, info.Namespace)
		if err != nil {
			return err
		}
		if ok = c.Visible(coll).AllVisible(); !ok {
			return nil
		}
		stop := error(nil)
		for i := range p.Ranges.Len() {
			r := p.Ranges.At(i)
			if i&255 == 255 {
				if stop = c.Interrupted(); stop != nil {
					return stop
				}
			}
			err := coll.ScanIndex(p.Index.Name, storage.KeyRange{Lo: r.Lo, Hi: r.Hi}, func([]byte, storage.RecordID) bool {
				n++
				if n&1023 == 0 {
					stop = c.Interrupted()
				}
				return stop == nil && n != limit
			})
			if err != nil || stop != nil || n == limit && limit > 0 {
				return cmp.Or(err, stop)
			}
		}
		return nil
	})
	x.Stats.KeysExamined += n
	c.Counts.Keys += n
	return n, ok, err
}

// ClampCount returns the count after a skip and a limit. A limit of 0 is no limit.
func ClampCount(n, skip, limit int64) int64 {
	n = max(n-skip, 0)
	if limit > 0 {
		n = min(n, limit)
	}
	return n
}

// DistinctArgs are the arguments of distinct.
type DistinctArgs struct {
	Distinct  value.Value `arg:"distinct,required"` // name or UUID of the collection
	Key       string      `arg:"key,required"`      // path of the field
	Query     value.Doc   `arg:"query"`             // the filter; nil: all documents
	Collation value.Doc   `arg:"collation"`         // the order of strings in filter and values; nil: the collection's
	Hint      value.Value `arg:"hint,any"`          // an index by name or key, or $natural
}

// Canonical returns the query of the command, not yet compiled.
func (a *DistinctArgs) Canonical() canonical.Query {
	return canonical.Query{Filter: a.Query, Distinct: a.Key, Query: plan.Query{Hint: canonical.HintOf(a.Hint), Fields: []string{a.Key}}}
}

// DistinctSpec decodes the arguments of distinct.
var DistinctSpec = args.New[DistinctArgs]("distinctCommandRequest")

// Check refuses keys and hints that no plan can be made for.
func (a *DistinctArgs) Check() error {
	if strings.IndexByte(a.Key, 0) >= 0 {
		return mongoerr.New(31032, "Key field cannot contain an embedded null byte")
	}
	return canonical.CheckHint(a.Hint)
}

// FindArgs are the arguments of find.
type FindArgs struct {
	Find         value.Value      `arg:"find,required"`            // name or UUID of the collection
	Filter       value.Doc        `arg:"filter,own"`               // nil: all documents
	Projection   value.Doc        `arg:"projection,own"`           // nil or empty: whole documents
	Sort         value.Doc        `arg:"sort,own"`                 // nil or empty: the order of the plan
	Hint         value.Value      `arg:"hint,any"`                 // an index by name or key, or $natural
	Collation    value.Doc        `arg:"collation,own"`            // nil: that of the collection
	Skip         int64            `arg:"skip,nonneg"`              // documents to pass over first
	Limit        int64            `arg:"limit,nonneg"`             // maximum number of documents; 0: no limit
	BatchSize    *int64           `arg:"batchSize,nonneg"`         // documents in the first batch; nil: the default
	SingleBatch  args.StrictBool  `arg:"singleBatch,own"`          // no cursor stays open
	AllowDiskUse *args.StrictBool `arg:"allowDiskUse,own"`         // whether a sort may write temporary files; nil: as the parameter says
	Min          value.Doc        `arg:"min,own"`                  // inclusive lower bound of the hinted index
	Max          value.Doc        `arg:"max,own"`                  // exclusive upper bound of the hinted index
	ReturnKey    args.StrictBool  `arg:"returnKey,own"`            // keys of the index in place of documents
	ShowRecordID args.StrictBool  `arg:"showRecordId,own"`         // documents get $recordId
	Tailable     args.StrictBool  `arg:"tailable,own"`             // the cursor follows a capped collection
	AwaitData    args.StrictBool  `arg:"awaitData,own"`            // getMore waits at the end of a tailable cursor
	NoTimeout    args.StrictBool  `arg:"noCursorTimeout,own"`      // the cursor is not closed for having been idle
	AllowPartial args.StrictBool  `arg:"allowPartialResults,own"`  // accepted: there are no shards
	OplogReplay  args.LooseBool   `arg:"oplogReplay"`              // accepted and without effect, as in mongod
	Let          value.Doc        `arg:"let"`                      // variables for expressions
	NTok         *int64           `arg:"ntoreturn"`                // an old name that mongod refuses
	Options      value.Doc        `arg:"options"`                  // accepted and without effect
	RequestToken args.StrictBool  `arg:"$_requestResumeToken,own"` // asks for a token to resume after; no token is made yet
	ResumeAfter  value.Doc        `arg:"$_resumeAfter,own"`        // such a token; not used yet
	ReadOnce     args.StrictBool  `arg:"readOnce,own"`             // refused in transactions, else without effect
	EncInfo      value.Value      `arg:"encryptionInformation"`    // accepted and without effect
	UUID         args.UUID        `arg:"collectionUUID"`           // UUID of the collection that the client expects
}

// FindSpec decodes the arguments of find, under the name that mongod gives them in
// errors.
var FindSpec = args.New[FindArgs]("FindCommandRequest")

// FindNamespace reads a collection name, or a UUID that stands for one.
func FindNamespace(c *kernel.Call, v value.Value) (storage.Namespace, error) {
	subtype, id := v.Binary()
	if v.Kind() != value.KindBinary || subtype != 4 {
		return c.NamespaceOf(v)
	}
	ns := storage.Namespace{}
	err := c.View(func(tx storage.Tx) error {
		infos, err := tx.Collections(c.DB)
		if err != nil {
			return err
		}
		for _, info := range infos {
			if string(info.UUID[:]) == string(id) {
				ns = info.Namespace
				return nil
			}
		}
		return mongoerr.Newf(mongoerr.NamespaceNotFound, "Unable to resolve %s", v)
	})
	return ns, err
}

// FindCollection is [FindNamespace] with the description of the collection, nil if it
// does not exist.
func FindCollection(c *kernel.Call, v value.Value) (ns storage.Namespace, info *storage.Info, err error) {
	if ns, err = FindNamespace(c, v); err == nil {
		info, err = Lookup(c, ns)
	}
	return ns, info, err
}

// Finder is an opened find.
type Finder struct {
	Exec  *Execution      // shared by the iterators
	Query canonical.Query // the query as it is planned
	It    agg.Iterator    // the chain of iterators, made by Open
	plan  *AccessPath     // nil until it is open
	What  Failed          // mongod's prefix for errors
	sort  bool            // a sort stage was needed

	Follows bool // the cursor stays open at the end and waits for new documents
}

// Canonical returns the query of the command, not yet compiled.
func (a *FindArgs) Canonical() canonical.Query {
	q := canonical.Query{Filter: a.Filter, Query: plan.Query{
		Sort: a.Sort, Hint: canonical.HintOf(a.Hint), Min: a.Min, Max: a.Max,
		Command: plan.Command{Limit: a.Limit, Skip: a.Skip, Projection: a.Projection},
	}}
	if a.BatchSize != nil {
		q.Command.BatchSize = *a.BatchSize
	}
	if a.Limit > 0 {
		q.Limit = a.Skip + a.Limit
	}
	return q
}

// Fields are the paths that the result of a find is made of, nil for whole
// documents.
func (a *FindArgs) Fields(p *project.Projection) []string {
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

// Check refuses combinations of options.
func (a *FindArgs) Check() error {
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
		return mongoerr.UnknownField("FindCommandRequest.ntoreturn")
	}
	return canonical.CheckHint(a.Hint)
}

// sameNames reports whether two documents have the same fields in the same
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
	n, ok := canonical.Natural(sort)
	return ok && n == 1
}

// Projection compiles the projection of a find.
func (f *Finder) Projection(a *FindArgs) (*project.Projection, error) {
	if a.Projection == nil || a.Projection.IsEmpty() {
		return nil, nil
	}
	return project.Compile(a.Projection, project.Options{Scope: f.Query.Scope, Matcher: f.Query.Matcher, Collation: f.Query.Collator})
}

// Open builds the chain of iterators: records, filter, sort, skip, limit,
// projection.
func (f *Finder) Open(c *kernel.Call, info *storage.Info, a *FindArgs, p *project.Projection) error {
	if info == nil {
		f.It = EmptyDocs{}
		return nil
	}
	q := &f.Query
	plan, err := ChooseAccessPath(c, f.Exec, info, q)
	if err != nil {
		return err
	}
	f.plan = plan
	var it agg.Iterator
	if bool(a.Tailable) {
		it, f.Follows, err = f.tail(c, info)
	} else {
		it, err = plan.Documents(f.Exec, info, q)
	}
	if err != nil {
		return err
	}
	f.It, err = f.decorate(it, a, p)
	return err
}

func (f *Finder) decorate(it agg.Iterator, a *FindArgs, p *project.Projection) (agg.Iterator, error) {
	q := &f.Query
	if q.Sort != nil && !q.Sort.IsEmpty() && !f.plan.Sorted {
		f.sort = true
		sorted, err := f.Exec.sort(it, q.Sort, q.Limit, q.Collator, a.AllowDiskUse)
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
		// A sort with a limit finds its end only at the call after the last
		// document, as in mongod up to 8.2: until then the cursor stays open.
		it = &limitIterator{src: it, left: a.Limit, late: f.sort}
	}
	switch {
	case bool(a.ReturnKey):
		it = &returnKey{src: it, exec: f.Exec}
	case p != nil:
		it = &projecting{src: it, p: p, exec: f.Exec}
	}
	if bool(a.ShowRecordID) && !bool(a.ReturnKey) { // index keys have no record id
		it = &withRecordID{src: it, exec: f.Exec}
	}
	return it, nil
}

// UpdateStatementArgs are the fields of a statement of update.
type UpdateStatementArgs struct {
	Q            value.Doc      `arg:"q,required"`     // the filter
	U            value.Value    `arg:"u,required"`     // operators, a replacement, or the array of a pipeline
	C            value.Doc      `arg:"c"`              // constants for a pipeline
	Multi        bool           `arg:"multi"`          // all documents that match, not only the first
	Upsert       bool           `arg:"upsert"`         // insert one if none matches
	Collation    value.Doc      `arg:"collation"`      // nil: that of the collection
	ArrayFilters args.Array     `arg:"arrayFilters"`   // conditions for the identifiers of $[identifier]
	Hint         value.Value    `arg:"hint,any"`       // an index by name or key
	Sort         value.Doc      `arg:"sort"`           // the order that decides which document is the first
	SampleID     value.Value    `arg:"sampleId"`       // accepted and without effect
	Supplied     args.LooseBool `arg:"upsertSupplied"` // accepted from routers, without effect
}
