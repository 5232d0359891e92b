package pipeline

import (
	"strings"

	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/concern"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Drain runs a pipeline to its end and discards its documents: those that end in
// $out or $merge return none.
func Drain(it agg.Iterator) error {
	defer it.Close()
	for {
		d, err := it.Next()
		if d == nil || err != nil {
			return err
		}
	}
}

// Aggregation is a compiled aggregate and, once it is open, its results.
type Aggregation struct {
	NS       storage.Namespace // the namespace of the cursor
	Exec     *exec.Execution   // counts the documents examined
	Agg      *agg.Exec         // the run of the pipeline
	Pipeline *agg.Pipeline
	It       agg.Iterator // the results; nil unless open
}

// aggregateNamespace reads the collection, or 1 for a pipeline over the
// database.
func aggregateNamespace(c *kernel.Call, v value.Value) (ns storage.Namespace, err error) {
	if v.IsNumber() {
		if v.AsDouble() != 1 {
			return ns, c.Svc.Dialect().Error(dialect.AggregateNumber)
		}
		return storage.Namespace{DB: c.DB}, nil
	}
	return c.NamespaceOf(v)
}

// OpenAggregate compiles an aggregate and opens its results.
func OpenAggregate(c *kernel.Call, a *exec.AggregateArgs) (*Aggregation, error) {
	r, err := CompileAggregate(c, a)
	if err != nil {
		return nil, err
	}
	it, err := r.Pipeline.Open(r.Agg)
	if err != nil {
		return nil, kernel.Translate(r.NS, err)
	}
	r.It = &exec.InContext{Src: it, Exec: r.Exec, NS: r.NS, What: exec.AggregationFailed, Computed: r.Pipeline.Computes()}
	return r, nil
}

// checkOutConcern refuses $out and $merge with read concern linearizable.
func checkOutConcern(c *kernel.Call, p *agg.Pipeline) error {
	if c.Generic.Level != "linearizable" || !p.Writes() {
		return nil
	}
	stage := "$out"
	if _, ok := p.MergeTarget(); ok {
		stage = "$merge"
	}
	return concern.ConcernRefused(c, stage+" cannot be used with a 'linearizable' read concern level")
}

// CompileAggregate compiles an aggregate without opening it, as explain needs it.
func CompileAggregate(c *kernel.Call, a *exec.AggregateArgs) (*Aggregation, error) {
	ns, err := aggregateNamespace(c, a.Aggregate)
	if err != nil {
		return nil, err
	}
	if err := canonical.CheckHint(a.Hint); err != nil {
		return nil, err
	}
	r := &Aggregation{NS: ns, Exec: exec.NewExecution(c)}
	if ns.Coll == "" {
		r.NS.Coll = "$cmd.aggregate"
	}
	if err := a.ExpectUUID(c, ns); err != nil {
		return nil, err
	}
	info, err := exec.Lookup(c, ns)
	if err != nil {
		return nil, err
	}
	meta := catalog.Of(info)
	if exec.StartsStream(value.Doc(a.Pipeline)) { // a change stream does not use the collation of its collection
		meta = catalog.None
	}
	collator, err := canonical.OperationCollation(a.Collation, meta)
	if err != nil {
		return nil, err
	}
	r.Exec.Env.Collation = collator
	scope, err := r.Exec.LetScope(a.Let)
	if err != nil {
		return nil, err
	}
	r.Pipeline, err = agg.Compile(value.Doc(a.Pipeline), agg.Options{
		DB: ns.DB, Coll: ns.Coll, Scope: scope, Collation: collator, InTransaction: c.Transaction() != nil,
		NoStreams:  c.Svc.Oplog.Off,
		TimeSeries: func(db, coll string) bool { return isSeries(c, storage.Namespace{DB: db, Coll: coll}) },
		Text:       func(db string, coll string) match.TextMatcher { return exec.TextIndex(c, db, coll) },
	})
	if err != nil {
		return nil, err
	}
	if err := checkOutConcern(c, r.Pipeline); err != nil {
		return nil, err
	}
	r.Agg = r.Exec.AggExec(a.AllowDiskUse)
	r.Agg.Host = &Environment{Exec: r.Exec, main: r.Agg, hint: canonical.HintOf(a.Hint), bypass: bool(a.Bypass), Call: c}
	return r, checkInvolved(c, ns, r.Pipeline, collator)
}

// isSeries reports whether a name is that of a time series or of its buckets.
func isSeries(c *kernel.Call, ns storage.Namespace) bool {
	info, err := exec.Lookup(c, ns)
	return reserved.IsBuckets(ns.Coll) || err == nil && catalog.Of(info).Kind == catalog.TimeSeries
}

// checkInvolved checks, before a pipeline runs, that it may read and write its collections
// and views.
func checkInvolved(c *kernel.Call, ns storage.Namespace, p *agg.Pipeline, collator value.Collator) error {
	if err := checkMergeFields(c, p, collator); err != nil {
		return err
	}
	names := p.Namespaces()
	if ns.Coll != "" {
		names = append(names, ns.String())
	}
	for _, name := range names {
		db, coll, _ := strings.Cut(name, ".")
		in := storage.Namespace{DB: db, Coll: coll}
		info, err := exec.Lookup(c, in)
		if err != nil {
			return err
		}
		if err := exec.CheckViewCollation(in, info, collator); err != nil {
			return err
		}
	}
	return nil
}
