package commands

import (
	"os"
	"strings"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/query/project"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

type explainArgs struct {
	Explain   value.Doc `arg:"explain,required"`
	Verbosity string    `arg:"verbosity"`
}

var explainSpec = newArgs[explainArgs]("explain")

var verbosities = map[string]bool{"queryPlanner": true, "executionStats": true, "allPlansExecution": true}

// explainable are the commands that explain takes, and how each is explained.
var explainable map[string]func(c *Call, body value.Doc, verbosity string) error

func init() {
	explainable = map[string]func(*Call, value.Doc, string) error{
		"find": explainFind, "count": explainCount, "distinct": explainDistinct, "update": explainUpdate,
		"delete": explainDelete, "findAndModify": explainFindAndModify, "findandmodify": explainFindAndModify,
		"aggregate": explainAggregateCommand, "mapReduce": explainMapReduce, "mapreduce": explainMapReduce,
	}
}

func runExplain(c *Call) error {
	var a explainArgs
	if err := explainSpec.decode(c.Body, &a); err != nil {
		return err
	}
	if a.Verbosity == "" {
		a.Verbosity = "allPlansExecution"
	}
	if !verbosities[a.Verbosity] {
		return mongoerr.Newf(mongoerr.BadValue, "Enumeration value '%s' for field 'explain.verbosity' is not a valid value.", a.Verbosity)
	}
	name, _ := a.Explain.First()
	if err := c.heedQuerySettings(a.Explain, true); err != nil {
		return err
	}
	explain := explainable[name]
	if explain == nil {
		if c.svc.table[name] == nil {
			return mongoerr.Newf(mongoerr.CommandNotFound, "Explain failed due to unknown command: %s", name)
		}
		return mongoerr.Newf(mongoerr.IllegalOperation, "explain command not supported on '%s'", name)
	}
	return explain(c, a.Explain, a.Verbosity)
}

// explained is a query being explained: what it reads and what becomes of it.
type explained struct {
	c         *Call
	ns        storage.Namespace
	info      *storage.Info
	exec      *execution
	query     *readQuery
	shape     plan.Shape
	verbosity string
	access    *access       // how an aggregation reads its collection
	change    *modification // of a write, nil for others
	take      int64         // how many records a pipeline takes, 0: all
}

func explainFind(c *Call, body value.Doc, verbosity string) error {
	var a findArgs
	if err := findSpec.decode(body, &a); err != nil {
		return err
	}
	if err := a.check(); err != nil {
		return err
	}
	ns, info, err := c.findCollection(a.Find)
	if err != nil {
		return err
	}
	if err := c.expectUUID(ns, a.UUID); err != nil {
		return err
	}
	if metaOf(info).readThrough() {
		by, err := a.aggregate(ns)
		if err != nil {
			return err
		}
		return c.explainAs(by, body, verbosity)
	}
	e, err := c.explainQuery(ns, info, a.Filter, a.Sort, a.Hint, a.Collation, a.Let, verbosity)
	if err != nil {
		return err
	}
	e.query.min, e.query.max, e.query.projection = a.Min, a.Max, a.Projection
	e.shape.Skip, e.shape.Limit = a.Skip, a.Limit
	e.shape.Score = plan.AsksForScore(a.Sort, a.Projection)
	if a.Limit > 0 {
		e.query.limit = a.Skip + a.Limit
	}
	switch {
	case bool(a.ReturnKey):
		e.shape.ReturnKey, e.query.fields = true, a.fields(nil)
	case a.Projection != nil && !a.Projection.IsEmpty():
		f := finder{query: *e.query}
		p, err := f.projection(&a)
		if err != nil {
			return err
		}
		e.showProjection(&a, p)
	}
	return e.append(body)
}

// showProjection tells of what kind the projection of a find is.
func (e *explained) showProjection(a *findArgs, p *project.Projection) {
	e.shape.Projection, e.shape.ProjectionKind = a.Projection, "DEFAULT"
	dotted := false
	for name := range a.Projection.All() {
		dotted = dotted || strings.Contains(name, ".")
	}
	if p.IsSimple() && !dotted {
		e.shape.ProjectionKind, e.shape.Inclusion = "SIMPLE", p.IsInclusion()
	}
	e.query.fields = a.fields(p)
}

// explainQuery compiles the part that all explained commands share.
func (c *Call) explainQuery(ns storage.Namespace, info *storage.Info, filter, sort value.Doc, hint value.Value, collationSpec, let value.Doc, verbosity string) (*explained, error) {
	if err := checkHint(hint); err != nil {
		return nil, err
	}
	e := &explained{c: c, ns: ns, info: info, exec: newExecution(c), verbosity: verbosity}
	q := &readQuery{filter: filter, sort: sort, hint: hint}
	e.query, e.exec.explained = q, true
	var err error
	if q.collator, err = operationCollation(collationSpec, metaOf(info)); err != nil {
		return nil, err
	}
	e.exec.env.Collation = q.collator
	if q.scope, err = e.exec.letScope(let); err != nil {
		return nil, err
	}
	if err := c.compileFilter(q, metaOf(info)); err != nil {
		return nil, err
	}
	e.shape = plan.Shape{
		Filter: q.matcher.Parsed(), Sort: sort, Namespace: ns.String(),
		SortMemory: c.svc.params.int("internalQueryMaxBlockingSortMemoryUsageBytes"),
	}
	return e, nil
}

func explainCount(c *Call, body value.Doc, verbosity string) error {
	var a countArgs
	if err := countSpec.decode(body, &a); err != nil {
		return err
	}
	limit, err := a.limit()
	if err != nil {
		return err
	}
	ns, info, err := c.findCollection(a.Count)
	if err != nil {
		return err
	}
	if metaOf(info).readThrough() {
		return c.explainAs(a.aggregate(ns, limit), body, verbosity)
	}
	e, err := c.explainQuery(ns, info, a.Query, nil, a.Hint, a.Collation, nil, verbosity)
	if err != nil {
		return err
	}
	e.shape.Count, e.shape.Skip, e.shape.Limit = true, a.Skip, limit
	e.query.fields = []string{}
	return e.append(body)
}

func explainDistinct(c *Call, body value.Doc, verbosity string) error {
	var a distinctArgs
	if err := distinctSpec.decode(body, &a); err != nil {
		return err
	}
	if err := a.check(); err != nil {
		return err
	}
	ns, info, err := c.findCollection(a.Distinct)
	if err != nil {
		return err
	}
	if metaOf(info).readThrough() {
		return c.explainAs(a.aggregate(ns), body, verbosity)
	}
	e, err := c.explainQuery(ns, info, a.Query, nil, a.Hint, a.Collation, nil, verbosity)
	if err != nil {
		return err
	}
	e.query.fields, e.query.distinct = []string{a.Key}, a.Key
	return e.append(body)
}

// onlyStatement is the one statement of a write that is explained.
func onlyStatement(command, name string, statements array) (value.Doc, error) {
	list, err := arrayDocs(command, name, statements)
	if err != nil {
		return nil, err
	}
	if len(list) != 1 {
		return nil, mongoerr.New(mongoerr.InvalidLength, "explained write batches must be of size 1")
	}
	return list[0], nil
}

func explainUpdate(c *Call, body value.Doc, verbosity string) error {
	var a updateArgs
	if err := updateSpec.decode(body, &a); err != nil {
		return err
	}
	statement, err := onlyStatement("update", "updates", a.Updates)
	if err != nil {
		return err
	}
	var s updateStatementArgs
	if err := updateStatementSpec.decodeNested("update.updates", statement, &s); err != nil {
		return err
	}
	ns, err := c.namespaceOf(a.Update)
	if err != nil {
		return err
	}
	if err := c.expectUUID(ns, a.UUID); err != nil {
		return err
	}
	m := s.modification(ns, a.Let)
	return c.explainWrite(&m, "UPDATE", body, verbosity)
}

func explainDelete(c *Call, body value.Doc, verbosity string) error {
	var a deleteArgs
	if err := deleteSpec.decode(body, &a); err != nil {
		return err
	}
	statement, err := onlyStatement("delete", "deletes", a.Deletes)
	if err != nil {
		return err
	}
	s, err := readDelete(statement)
	if err != nil {
		return err
	}
	ns, err := c.namespaceOf(a.Delete)
	if err != nil {
		return err
	}
	if err := c.expectUUID(ns, a.UUID); err != nil {
		return err
	}
	m := s.modification(ns, a.Let)
	return c.explainWrite(&m, "DELETE", body, verbosity)
}

func explainFindAndModify(c *Call, body value.Doc, verbosity string) error {
	var a findAndModifyArgs
	if err := findAndModifySpec.decode(body, &a); err != nil {
		return err
	}
	if err := a.check(); err != nil {
		return err
	}
	_, name := body.First()
	ns, err := c.namespaceOf(name)
	if err != nil {
		return err
	}
	m := modification{
		ns: ns, filter: a.Query, let: a.Let, collation: a.Collation, hint: a.Hint, sort: a.Sort,
		upsert: bool(a.Upsert), arrayFilters: a.ArrayFilters, fields: a.Fields, findAndModify: true,
	}
	if a.Remove {
		return c.explainWrite(&m, "DELETE", body, verbosity)
	}
	m.update = a.Update
	return c.explainWrite(&m, "UPDATE", body, verbosity)
}

// explainWrite explains how a write finds its documents; nothing is written.
func (c *Call) explainWrite(m *modification, stage string, body value.Doc, verbosity string) error {
	info, err := c.lookup(m.ns)
	if err != nil {
		return err
	}
	if metaOf(info).kind == view {
		return errIsView(m.ns)
	}
	e, err := c.explainQuery(m.ns, info, m.filter, m.sort, m.hint, m.collation, m.let, verbosity)
	if err != nil {
		return err
	}
	if err := c.compileModification(m, info); err != nil {
		return err
	}
	m.query.matcher = e.query.matcher // a look-up by _id is not compiled
	e.change, e.exec, e.query = m, m.exec, &m.query
	e.exec.explained = true
	e.shape.Write = stage
	return e.append(body)
}

// append plans, runs if asked to, and writes the reply.
func (e *explained) append(body value.Doc) error {
	e.c.reply.String("explainVersion", "1")
	return e.appendPlan(body)
}

func (e *explained) appendPlan(body value.Doc) error {
	c, b := e.c, e.c.reply
	if e.info == nil {
		e.appendPlanner(b, nil, noCollection)
		if e.verbosity != "queryPlanner" {
			e.appendNothing(b)
		}
		return c.appendExplainTail(body)
	}
	a, err := c.access(e.exec, e.info, e.query)
	if err != nil {
		return translate(e.ns, err)
	}
	if e.shape.Count && metaOf(e.info).hides() {
		a.plan.Exact = false // what has expired must not be counted
	}
	stage := a.plan.Explain(&e.shape)
	e.appendPlanner(b, a, stage)
	if e.verbosity != "queryPlanner" {
		if err := e.execute(a, stage); err != nil {
			return translate(e.ns, err)
		}
	}
	return c.appendExplainTail(body)
}

// noCollection is the plan of a query where there is no collection.
var noCollection = &plan.Stage{Name: "EOF", Detail: value.NewDoc("type", value.String("nonExistentNamespace"))}

// appendPlanner writes queryPlanner: what was chosen, and among what. Without a
// collection there is no access.
func (e *explained) appendPlanner(b *value.Builder, a *access, stage *plan.Stage) {
	hash := shapeHash(e.query.shape())
	planKey, rejected := hash, []*plan.Plan(nil)
	if a != nil {
		planKey, rejected = planCacheKey(e.query, a.plan), a.plan.Rejected
	}
	b.StartDocument("queryPlanner")
	b.String("namespace", e.ns.String())
	b.Document("parsedQuery", e.shape.Filter)
	b.Bool("indexFilterSet", a != nil && a.filtered)
	if d := collationDoc(e.query.collator); d != nil {
		b.Document("collation", d)
	}
	b.String("queryHash", hash).String("planCacheShapeHash", hash).
		String("planCacheKey", planKey).Int32("optimizationTimeMillis", 0).
		Bool("maxIndexedOrSolutionsReached", false).Bool("maxIndexedAndSolutionsReached", false).
		Bool("maxScansToExplodeReached", false).Bool("prunedSimilarIndexes", false)
	if e.c.settings != nil {
		b.Document("querySettings", e.c.settings.settings)
	}
	m := metaOf(e.info)
	plans, key := m.plans, e.query.cacheKey(m)
	b.StartDocument("winningPlan").Bool("isCached", a != nil && plans.isCached(key, a.plan))
	stage.AppendPlan(b)
	b.End()
	b.StartArray("rejectedPlans")
	for _, p := range rejected {
		b.StartDocument("").Bool("isCached", plans.isCached(key, p))
		p.Explain(&e.shape).AppendPlan(b)
		b.End()
	}
	b.End()
	b.End()
}

// appendExplainTail writes what follows the plan in every explain.
func (c *Call) appendExplainTail(body value.Doc) error {
	return c.appendExplainServer(c.reply, body)
}

func (c *Call) appendExplainServer(b *value.Builder, body value.Doc) error {
	command := value.NewBuilder()
	it := body.Iter()
	command.Raw(it.Rest())
	if !body.Has("$db") {
		command.String("$db", c.DB)
	}
	if hash := queryShapeHash(c.DB, body); hash != "" {
		b.String("queryShapeHash", hash)
	}
	b.Document("command", command.Doc())
	host, _ := os.Hostname()
	b.StartDocument("serverInfo").String("host", host).Int32("port", c.localPort()).String("version", ServerVersion).
		String("gitVersion", "duskdb-"+c.svc.options.DuskDB).End()
	b.StartDocument("serverParameters").
		Append("internalQueryMaxBlockingSortMemoryUsageBytes", c.svc.params.value("internalQueryMaxBlockingSortMemoryUsageBytes")).
		Append("internalDocumentSourceGroupMaxMemoryBytes", c.svc.params.value("internalDocumentSourceGroupMaxMemoryBytes")).End()
	return nil
}
