package commands

import (
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

type aggregateArgs struct {
	Aggregate    value.Value `arg:"aggregate,required"`
	Pipeline     array       `arg:"pipeline,required,own"`
	Explain      value.Value `arg:"explain,any"`
	AllowDiskUse *strictBool `arg:"allowDiskUse,own"`
	Cursor       value.Value `arg:"cursor,any"`
	Bypass       looseBool   `arg:"bypassDocumentValidation"`
	Collation    value.Doc   `arg:"collation"`
	Hint         value.Value `arg:"hint,any"`
	Let          value.Doc   `arg:"let"`
	BatchSize    value.Value `arg:"batchSize"`
	FromMongos   looseBool   `arg:"fromMongos"`
	NeedsMerge   looseBool   `arg:"needsMerge"`
	EncInfo      value.Value `arg:"encryptionInformation"`
	UUID         uuidArg     `arg:"collectionUUID"`
}

var aggregateSpec = newArgs[aggregateArgs]("aggregate")

func runAggregate(c *Call) error {
	c.Body = c.Body.Clone() // the cursor keeps parts of it
	var a aggregateArgs
	if err := aggregateSpec.decode(c.Body, &a); err != nil {
		return err
	}
	c.svc.metrics.opcounters.command.Add(1)
	size, err := a.check()
	if err != nil {
		return err
	}
	explained := a.Explain.Bool()
	if err := c.checkStageConcern(value.Doc(a.Pipeline), explained); err != nil {
		return err
	}
	if explained {
		return c.explainAggregate(&a, "queryPlanner")
	}
	if err := c.heedQuerySettings(c.Body, false); err != nil {
		return err
	}
	r, err := c.openAggregate(&a)
	if err != nil {
		return err
	}
	req := cursorRequest{ns: r.ns, it: r.it, exec: r.exec, batchSize: size, setOp: r.exec.resume}
	if r.pipeline.IsChangeStream() {
		cs := c.stream.(*changeStream)
		if err := cs.resume.check(r.pipeline); err != nil {
			r.it.Close()
			return err
		}
		req.tailable, req.awaitData, req.it = true, true, &streamEnd{Iterator: r.it, cs: cs}
	}
	if r.pipeline.Writes() {
		req.batchSize = 0
		if err := drain(r.it); err != nil {
			return err
		}
		req.it, req.singleBatch = emptyDocs{}, true
	}
	return c.firstBatch(req)
}

// drain runs a pipeline that ends in $out or $merge.
func drain(it agg.Iterator) error {
	defer it.Close()
	for {
		d, err := it.Next()
		if d == nil || err != nil {
			return err
		}
	}
}

// check looks at explain and cursor, of which one must be there, and returns the
// size of the first batch.
func (a *aggregateArgs) check() (int64, error) {
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
	size := int64(-1)
	for name, v := range a.Cursor.Doc().All() {
		if name != "batchSize" {
			return 0, mongoerr.Newf(mongoerr.IDLUnknownField, "BSON field 'cursor.%s' is an unknown field.", name)
		}
		if v.Kind() == value.KindNull || v.Kind() == value.KindUndefined {
			continue
		}
		if !v.IsNumber() {
			return 0, wrongType("cursor", "batchSize", v, numberTypes)
		}
		if size = v.SafeInt64(); size < 0 {
			return 0, mongoerr.Newf(mongoerr.BadValue, "BSON field 'batchSize' value must be >= 0, actual value '%d'", size)
		}
	}
	return size, nil
}

// aggregation is an opened aggregate.
type aggregation struct {
	ns       storage.Namespace // of the cursor
	exec     *execution
	agg      *agg.Exec
	pipeline *agg.Pipeline
	it       agg.Iterator
}

// aggregateNamespace reads the collection, or 1 for a pipeline over the
// database.
func (c *Call) aggregateNamespace(v value.Value) (ns storage.Namespace, err error) {
	if v.IsNumber() {
		if v.AsDouble() != 1 {
			return ns, mongoerr.Newf(mongoerr.FailedToParse, "Invalid command format: the 'aggregate' field must specify a collection name or 1")
		}
		return storage.Namespace{DB: c.DB}, nil
	}
	return c.namespaceOf(v)
}

func (c *Call) openAggregate(a *aggregateArgs) (*aggregation, error) {
	r, err := c.compileAggregate(a)
	if err != nil {
		return nil, err
	}
	it, err := r.pipeline.Open(r.agg)
	if err != nil {
		return nil, translate(r.ns, err)
	}
	r.it = &inContext{src: it, exec: r.exec, ns: r.ns, what: aggregationFailed}
	return r, nil
}

// checkOutConcern: what is written back cannot have been read linearizably.
func (c *Call) checkOutConcern(p *agg.Pipeline) error {
	if c.generic.level != "linearizable" || !p.Writes() {
		return nil
	}
	stage := "$out"
	if _, ok := p.MergeTarget(); ok {
		stage = "$merge"
	}
	return c.concernRefused(stage + " cannot be used with a 'linearizable' read concern level")
}

func (c *Call) compileAggregate(a *aggregateArgs) (*aggregation, error) {
	ns, err := c.aggregateNamespace(a.Aggregate)
	if err != nil {
		return nil, err
	}
	if err := checkHint(a.Hint); err != nil {
		return nil, err
	}
	r := &aggregation{ns: ns, exec: newExecution(c)}
	if ns.Coll == "" {
		r.ns.Coll = "$cmd.aggregate"
	}
	if err := a.expectUUID(c, ns); err != nil {
		return nil, err
	}
	info, err := c.lookup(ns)
	if err != nil {
		return nil, err
	}
	meta := metaOf(info)
	if startsStream(value.Doc(a.Pipeline)) { // which has none of its collection
		meta = noMeta
	}
	collator, err := operationCollation(a.Collation, meta)
	if err != nil {
		return nil, err
	}
	r.exec.env.Collation = collator
	scope, err := r.exec.letScope(a.Let)
	if err != nil {
		return nil, err
	}
	r.pipeline, err = agg.Compile(value.Doc(a.Pipeline), agg.Options{
		DB: ns.DB, Coll: ns.Coll, Scope: scope, Collation: collator, InTransaction: c.transaction() != nil,
		Text: c.textIndex,
	})
	if err != nil {
		return nil, err
	}
	if err := c.checkOutConcern(r.pipeline); err != nil {
		return nil, err
	}
	r.agg = r.exec.aggExec(a.AllowDiskUse)
	r.agg.Host = &host{x: r.exec, main: r.agg, hint: a.Hint, bypass: bool(a.Bypass), c: c}
	r.agg.BypassDocVal = bool(a.Bypass)
	return r, c.checkInvolved(ns, r.pipeline, collator)
}

// expectUUID checks the collection that the pipeline begins with, which must
// be one then.
func (a *aggregateArgs) expectUUID(c *Call, ns storage.Namespace) error {
	switch {
	case !a.UUID.given():
		return nil
	case startsStream(value.Doc(a.Pipeline)):
		return mongoerr.New(4928900, "collectionUUID is not supported for a change stream")
	case ns.Coll == "":
		return mongoerr.New(4928901, "collectionUUID is not supported for a collectionless aggregation")
	}
	return c.expectUUID(ns, a.UUID)
}

// startsStream tells whether a pipeline is that of a change stream.
func startsStream(pipeline value.Doc) bool {
	name, _ := pipeline.Index(0).Doc().First()
	return name == "$changeStream"
}
