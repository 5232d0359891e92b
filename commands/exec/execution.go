package exec

import (
	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/clustertime"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/query/script"
	"github.com/duskdb/duskdb/value"
)

// NoCollection is the plan of a query where there is no collection.
var NoCollection = &plan.Stage{Name: "EOF", Detail: value.NewDoc("type", value.String("nonExistentNamespace"))}

// Execution is what the iterators of one query share. It outlives the command that made
// it: each getMore replaces the Call.
type Execution struct {
	call  *kernel.Call
	Env   *expr.Env // the environment of the expressions, with the metadata of the current document
	Stats execStats // counters of all iterators, for explain
	// Sources are the open iterators that may have read ahead.
	Sources []rewinder
	// opened are the sources of pipelines that ReadAhead has yet to start.
	opened    []rewinder
	resumed   int           // number of commands that have continued it
	Plans     []*AccessPath // the plans of the collections a pipeline opened, for explain
	Explained bool          // whether explain runs it: $indexStats does not count that
	// parent has the Call, for the executions of sub-pipelines; nil otherwise.
	parent *Execution
	key    []byte // the index entry that led to the current record
	// Packed reports whether the buckets of a time series are read as they are stored,
	// since the iterator above unpacks them.
	Packed bool
}

// execStats are the counters of explain's executionStats.
type execStats struct {
	KeysExamined int64 // index entries
	DocsExamined int64 // records
}

// NewEnv makes the environment of the command's expressions. $$NOW and $$CLUSTER_TIME stay
// the same as long as the command's cursor is open.
func NewEnv(c *kernel.Call) *expr.Env {
	env := expr.NewEnv(c.Now)
	if c.Svc.Replicated() {
		if c.Stamp == 0 {
			c.Stamp = c.Svc.Stamps.Current()
		}
		env.ClusterTime = clustertime.Value(c.Stamp)
	}
	return env
}

// NewExecution makes the execution of a query of the command.
func NewExecution(c *kernel.Call) *Execution {
	x := &Execution{call: c, Env: NewEnv(c)}
	x.Env.Interrupt = func() error { return x.Running().Step() }
	x.Env.Scripts, x.Env.Memory = x, x
	return x
}

// Claim implements expr.Memory.
func (x *Execution) Claim(n int64) error { return x.Running().Claim(n) }

// RangeBytes implements expr.Memory.
func (x *Execution) RangeBytes() int64 {
	return x.Running().Svc.Params.Int("internalQueryMaxRangeBytes")
}

// MapBytes implements expr.Memory.
func (x *Execution) MapBytes() int64 {
	return x.Running().Svc.Params.Int("internalQueryMaxMapReduceExpressionBytes")
}

// LetScope compiles a command's let: a scope for its expressions and the
// values of its variables.
func (x *Execution) LetScope(let value.Doc) (*expr.Scope, error) {
	if let == nil {
		return x.Running().Svc.QueryScope(), nil
	}
	scope, vars, err := expr.ScopeWithLet(x.Running().Svc.Dialect(), let)
	if err != nil {
		return nil, err
	}
	if !x.Running().Svc.Replicated() {
		scope.Alone()
	}
	return scope, vars.Once(x.Env)
}

// Compile compiles a query over a collection, with the collation and the variables (let) of
// its command.
func (x *Execution) Compile(q *canonical.Query, m *catalog.Meta, collation, let value.Doc) error {
	if err := x.CompileOptions(q, m, collation, let); err != nil {
		return err
	}
	return canonical.CompileFilter(x.Running(), q, m)
}

// CompileOptions is Compile without the filter.
func (x *Execution) CompileOptions(q *canonical.Query, m *catalog.Meta, collation, let value.Doc) (err error) {
	if q.Collator, err = canonical.OperationCollation(collation, m); err != nil {
		return err
	}
	x.Env.Collation = q.Collator
	q.Scope, err = x.LetScope(let)
	return err
}

// Sub makes the execution of a part: it follows the calls of x.
func (x *Execution) Sub(env *expr.Env) *Execution { return &Execution{parent: x, Env: env} }

// Running returns the running command.
func (x *Execution) Running() *kernel.Call { return x.root().call }

func (x *Execution) root() *Execution {
	for x.parent != nil {
		x = x.parent
	}
	return x
}

// rewinder is a source that reads ahead of what it returns.
type rewinder interface {
	rewind()
	readAhead(limit int) // reads the first chunk, unless something was read already
}

// ReadAhead reads the first records, to be called in the View that a query was planned in:
// up to limit of them, or up to the query's own limit. If that fails, the
// error comes when they are asked for.
func (x *Execution) ReadAhead(limit int) {
	for _, list := range [][]rewinder{x.Sources, x.opened} {
		for _, r := range list {
			r.readAhead(limit)
		}
	}
	x.opened = nil
}

// Resume passes the execution to the command that continues it. Records that were read
// ahead are read again: the collection may have changed.
func (x *Execution) Resume(c *kernel.Call) {
	x.call = c
	x.resumed++
	for _, r := range x.Sources {
		r.rewind()
	}
}

// Resumed is how many commands have continued the query.
func (x *Execution) Resumed() int { return x.root().resumed }

// EmptyDocs is an iterator without documents.
type EmptyDocs struct{}

// Next implements agg.Iterator.
func (EmptyDocs) Next() (value.Doc, error) { return nil, nil }

// Close implements agg.Iterator.
func (EmptyDocs) Close() {}

// Script is the scope of the command at work.
func (x *Execution) Script(where bool) *script.Operation { return x.Running().Script(where) }
