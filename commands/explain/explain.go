package explain

import (
	"os"
	"strings"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/pipeline"
	"github.com/duskdb/duskdb/commands/write"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/query/project"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

type explainArgs struct {
	Explain   value.Doc `arg:"explain,required"`
	Verbosity string    `arg:"verbosity"`
}

var explainSpec = args.New[explainArgs]("explain")

var verbosities = map[string]bool{"queryPlanner": true, "executionStats": true, "allPlansExecution": true}

// Explainable holds, by the names of commands, how each is explained. Package crud
// fills it, since writes are explained there.
var Explainable map[string]func(c *kernel.Call, body value.Doc, verbosity string) error

// Run runs the explain command. The verbosity is allPlansExecution if none is
// given, as in mongod.
func Run(c *kernel.Call) error {
	var a explainArgs
	if err := explainSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	if a.Verbosity == "" {
		a.Verbosity = "allPlansExecution"
	}
	if !verbosities[a.Verbosity] {
		return mongoerr.Newf(mongoerr.BadValue, "Enumeration value '%s' for field 'explain.verbosity' is not a valid value.", a.Verbosity)
	}
	name, _ := a.Explain.First()
	if err := canonical.HeedQuerySettings(c, a.Explain, true); err != nil {
		return err
	}
	explain := Explainable[name]
	if explain == nil {
		if c.Svc.Table[name] == nil {
			return mongoerr.Newf(mongoerr.CommandNotFound, "Explain failed due to unknown command: %s", name)
		}
		return mongoerr.Newf(mongoerr.IllegalOperation, "explain command not supported on '%s'", name)
	}
	return explain(c, a.Explain, a.Verbosity)
}

// Explanation is a query that is being explained.
type Explanation struct {
	c         *kernel.Call
	ns        storage.Namespace
	info      *storage.Info
	Exec      *exec.Execution
	Query     *canonical.Query
	Shape     plan.Shape
	verbosity string
	access    *exec.AccessPath // how an aggregation reads its collection
	Change    *write.Run       // the write that is explained; nil for other commands
	take      int64            // how many records a pipeline takes, 0: all
}

// Find explains a find. One on a view or a time series is explained as the
// pipeline that it becomes.
func Find(c *kernel.Call, body value.Doc, verbosity string) error {
	var a exec.FindArgs
	if err := exec.FindSpec.Decode(body, &a); err != nil {
		return err
	}
	if err := a.Check(); err != nil {
		return err
	}
	ns, info, err := exec.FindCollection(c, a.Find)
	if err != nil {
		return err
	}
	if err := c.ExpectUUID(ns, a.UUID); err != nil {
		return err
	}
	if catalog.Of(info).ReadThrough() {
		by, err := pipeline.FindAsAggregate(&a, ns)
		if err != nil {
			return err
		}
		return explainAs(c, by, body, verbosity)
	}
	q, x := a.Canonical(), exec.NewExecution(c)
	if err := x.Compile(&q, catalog.Of(info), a.Collation, a.Let); err != nil {
		return err
	}
	e := New(x, ns, info, &q, verbosity)
	e.Shape.Skip, e.Shape.Limit = a.Skip, a.Limit
	e.Shape.Score = plan.AsksForScore(a.Sort, a.Projection)
	switch {
	case bool(a.ReturnKey):
		e.Shape.ReturnKey, e.Query.Fields = true, a.Fields(nil)
	case a.Projection != nil && !a.Projection.IsEmpty():
		f := exec.Finder{Query: *e.Query}
		p, err := f.Projection(&a)
		if err != nil {
			return err
		}
		e.showProjection(&a, p)
	}
	return e.Append(body)
}

// showProjection notes the kind of stage that the projection of a find is shown
// as: DEFAULT or SIMPLE.
func (e *Explanation) showProjection(a *exec.FindArgs, p *project.Projection) {
	e.Shape.Projection, e.Shape.ProjectionKind = a.Projection, "DEFAULT"
	dotted := false
	for name := range a.Projection.All() {
		dotted = dotted || strings.Contains(name, ".")
	}
	if p.IsSimple() && !dotted {
		e.Shape.ProjectionKind, e.Shape.Inclusion = "SIMPLE", p.IsInclusion()
	}
	e.Query.Fields = a.Fields(p)
}

// New explains a compiled query over a collection; info is nil if that does not exist.
func New(x *exec.Execution, ns storage.Namespace, info *storage.Info, q *canonical.Query, verbosity string) *Explanation {
	x.Explained = true
	c := x.Running()
	return &Explanation{c: c, ns: ns, info: info, Exec: x, Query: q, verbosity: verbosity, Shape: plan.Shape{
		Filter: q.Matcher.Parsed(), Sort: q.Sort,
		SortMemory: c.Svc.Params.Int("internalQueryMaxBlockingSortMemoryUsageBytes"),
	}}
}

// Count explains a count.
func Count(c *kernel.Call, body value.Doc, verbosity string) error {
	var a exec.CountArgs
	if err := exec.CountSpec.Decode(body, &a); err != nil {
		return err
	}
	limit, err := a.AtMost()
	if err != nil {
		return err
	}
	ns, info, err := exec.FindCollection(c, a.Count)
	if err != nil {
		return err
	}
	if catalog.Of(info).ReadThrough() {
		return explainAs(c, pipeline.CountAsAggregate(&a, ns, limit), body, verbosity)
	}
	if err := canonical.CheckHint(a.Hint); err != nil {
		return err
	}
	q, x := a.Canonical(), exec.NewExecution(c)
	if err := x.Compile(&q, catalog.Of(info), a.Collation, nil); err != nil {
		return err
	}
	e := New(x, ns, info, &q, verbosity)
	e.Shape.Count, e.Shape.Skip, e.Shape.Limit = true, a.Skip, limit
	return e.Append(body)
}

// Distinct explains a distinct.
func Distinct(c *kernel.Call, body value.Doc, verbosity string) error {
	var a exec.DistinctArgs
	if err := exec.DistinctSpec.Decode(body, &a); err != nil {
		return err
	}
	if err := a.Check(); err != nil {
		return err
	}
	ns, info, err := exec.FindCollection(c, a.Distinct)
	if err != nil {
		return err
	}
	if catalog.Of(info).ReadThrough() {
		return explainAs(c, pipeline.DistinctAsAggregate(&a, ns), body, verbosity)
	}
	q, x := a.Canonical(), exec.NewExecution(c)
	if err := x.Compile(&q, catalog.Of(info), a.Collation, nil); err != nil {
		return err
	}
	return New(x, ns, info, &q, verbosity).Append(body)
}

// SoleStatement returns the one statement of an explained write. Batches of
// several are refused with InvalidLength.
func SoleStatement(command, name string, statements args.Array) (value.Doc, error) {
	list, err := args.ArrayDocs(command, name, statements)
	if err != nil {
		return nil, err
	}
	if len(list) != 1 {
		return nil, mongoerr.New(mongoerr.InvalidLength, "explained write batches must be of size 1")
	}
	return list[0], nil
}

// Append plans the query, runs it if the verbosity asks for that, and writes the
// reply. body is the explained command.
func (e *Explanation) Append(body value.Doc) error {
	e.c.Reply.String("explainVersion", "1")
	return e.appendPlan(body)
}

// appendPlan writes queryPlanner and executionStats.
func (e *Explanation) appendPlan(body value.Doc) error {
	c, b := e.c, e.c.Reply
	if e.info == nil {
		e.appendPlanner(b, nil, exec.NoCollection)
		if e.verbosity != "queryPlanner" {
			e.appendNothing(b)
		}
		return appendExplainServer(c, b, body)
	}
	a, err := exec.ChooseAccessPath(c, e.Exec, e.info, e.Query)
	if err != nil {
		return kernel.Translate(e.ns, err)
	}
	if e.Shape.Count && catalog.Of(e.info).MayHide() {
		a.Plan.Exact = false // what has expired must not be counted
	}
	stage := a.Plan.Explain(&e.Shape)
	e.appendPlanner(b, a, stage)
	if e.verbosity != "queryPlanner" {
		if err := e.execute(a, stage); err != nil {
			return kernel.Translate(e.ns, err)
		}
	}
	return appendExplainServer(c, b, body)
}

// appendPlanner writes queryPlanner: what was chosen, and among what. Without a
// collection there is no access.
func (e *Explanation) appendPlanner(b *value.Builder, a *exec.AccessPath, stage *plan.Stage) {
	hash := catalog.ShapeHash(e.Query.Shape())
	planKey, rejected := hash, []*plan.Plan(nil)
	if a != nil {
		planKey, rejected = canonical.PlanCacheKey(e.Query, a.Plan), a.Plan.Rejected
	}
	b.StartDocument("queryPlanner")
	b.String("namespace", e.ns.String())
	b.Document("parsedQuery", e.Shape.Filter)
	b.Bool("indexFilterSet", a != nil && a.Filtered)
	if d := canonical.CollationDoc(e.Query.Collator); d != nil {
		b.Document("collation", d)
	}
	b.String("queryHash", hash).String("planCacheShapeHash", hash).
		String("planCacheKey", planKey).Int32("optimizationTimeMillis", 0).
		Bool("maxIndexedOrSolutionsReached", false).Bool("maxIndexedAndSolutionsReached", false).
		Bool("maxScansToExplodeReached", false).Bool("prunedSimilarIndexes", false)
	if e.c.Settings != nil {
		b.Document("querySettings", e.c.Settings.Settings)
	}
	m := catalog.Of(e.info)
	plans, key := m.Plans, e.Query.CacheKey(m)
	b.StartDocument("winningPlan").Bool("isCached", a != nil && plans.IsCached(key, a.Plan))
	stage.AppendPlan(b)
	b.End()
	b.StartArray("rejectedPlans")
	for _, p := range rejected {
		b.StartDocument("").Bool("isCached", plans.IsCached(key, p))
		p.Explain(&e.Shape).AppendPlan(b)
		b.End()
	}
	b.End()
	b.End()
}

// appendExplainServer writes the explained command, the server and its parameters.
func appendExplainServer(c *kernel.Call, b *value.Builder, body value.Doc) error {
	command := value.NewBuilder()
	it := body.Iter()
	command.Raw(it.Rest())
	if !body.Has("$db") {
		command.String("$db", c.DB)
	}
	if hash := canonical.QueryShapeHash(c.DB, body); hash != "" {
		b.String("queryShapeHash", hash)
	}
	b.Document("command", command.Doc())
	host, _ := os.Hostname()
	b.StartDocument("serverInfo").String("host", host).Int32("port", exec.LocalPort(c)).String("version", c.Svc.Options.Dialect.Version()).
		String("gitVersion", "duskdb-"+c.Svc.Options.DuskDB).End()
	b.StartDocument("serverParameters").
		Append("internalQueryMaxBlockingSortMemoryUsageBytes", c.Svc.Params.Value("internalQueryMaxBlockingSortMemoryUsageBytes")).
		Append("internalDocumentSourceGroupMaxMemoryBytes", c.Svc.Params.Value("internalDocumentSourceGroupMaxMemoryBytes")).End()
	return nil
}

// explainAs explains a command as the aggregate that it becomes.
func explainAs(c *kernel.Call, a *exec.AggregateArgs, body value.Doc, verbosity string) error {
	c.Body = body
	return AggregateArgs(c, a, verbosity)
}
