package crud

import (
	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/explain"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/write"
	"github.com/duskdb/duskdb/value"
)

func init() {
	explain.Explainable = map[string]func(*kernel.Call, value.Doc, string) error{
		"find": explain.Find, "count": explain.Count, "distinct": explain.Distinct, "update": explainUpdate,
		"delete": explainDelete, "findAndModify": explainFindAndModify, "findandmodify": explainFindAndModify,
		"aggregate": explain.Aggregate, "mapReduce": explainMapReduce, "mapreduce": explainMapReduce,
	}
}

func explainUpdate(c *kernel.Call, body value.Doc, verbosity string) error {
	var a updateArgs
	if err := updateSpec.Decode(body, &a); err != nil {
		return err
	}
	statement, err := explain.SoleStatement("update", "updates", a.Updates)
	if err != nil {
		return err
	}
	var s exec.UpdateStatementArgs
	if err := updateStatementSpec.DecodeNested("update.updates", statement, &s); err != nil {
		return err
	}
	ns, err := c.NamespaceOf(a.Update)
	if err != nil {
		return err
	}
	if err := c.ExpectUUID(ns, a.UUID); err != nil {
		return err
	}
	m := modification(&s, ns, a.Let)
	return explainWrite(c, &m, "UPDATE", body, verbosity)
}

func explainDelete(c *kernel.Call, body value.Doc, verbosity string) error {
	var a deleteArgs
	if err := deleteSpec.Decode(body, &a); err != nil {
		return err
	}
	statement, err := explain.SoleStatement("delete", "deletes", a.Deletes)
	if err != nil {
		return err
	}
	var s write.DeleteStatementArgs
	if err := s.Read(statement); err != nil {
		return err
	}
	ns, err := c.NamespaceOf(a.Delete)
	if err != nil {
		return err
	}
	if err := c.ExpectUUID(ns, a.UUID); err != nil {
		return err
	}
	m := s.Modification(ns, a.Let)
	return explainWrite(c, &m, "DELETE", body, verbosity)
}

func explainFindAndModify(c *kernel.Call, body value.Doc, verbosity string) error {
	var a findAndModifyArgs
	if err := findAndModifySpec.Decode(body, &a); err != nil {
		return err
	}
	if err := a.check(); err != nil {
		return err
	}
	_, name := body.First()
	ns, err := c.NamespaceOf(name)
	if err != nil {
		return err
	}
	m := write.Modification{
		NS: ns, Filter: a.Query, Let: a.Let, Collation: a.Collation, Hint: a.Hint, Sort: a.Sort,
		Upsert: bool(a.Upsert), ArrayFilters: a.ArrayFilters, Fields: a.Fields, FindAndModify: true,
	}
	if a.Remove {
		return explainWrite(c, &m, "DELETE", body, verbosity)
	}
	m.Update = a.Update
	return explainWrite(c, &m, "UPDATE", body, verbosity)
}

// explainWrite explains how a write finds its documents; nothing is written.
func explainWrite(c *kernel.Call, m *write.Modification, stage string, body value.Doc, verbosity string) error {
	info, err := exec.Lookup(c, m.NS)
	if err != nil {
		return err
	}
	if catalog.Of(info).Kind == catalog.View {
		return catalog.NotOnView(m.NS)
	}
	run, err := write.Compile(c, m, info)
	if err != nil {
		return err
	}
	if run.Query.Matcher == nil { // a look-up by _id is not compiled
		if err := canonical.CompileFilter(c, &run.Query, catalog.Of(info)); err != nil {
			return err
		}
	}
	e := explain.New(run.Exec, m.NS, info, &run.Query, verbosity)
	e.Change, e.Shape.Write = run, stage
	return e.Append(body)
}
