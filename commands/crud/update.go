package crud

import (
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/gate"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/transaction"
	"github.com/duskdb/duskdb/commands/write"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/update"
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

type updateArgs struct {
	Update  value.Value     `arg:"update,required"`
	Updates args.Array      `arg:"updates"`
	Ordered args.Flag       `arg:"ordered"`
	Bypass  args.LooseBool  `arg:"bypassDocumentValidation"`
	Let     value.Doc       `arg:"let"`
	EmptyTS args.StrictBool `arg:"bypassEmptyTsReplacement,own"` // see keepsEmptyTimestamps
	EncInfo value.Value     `arg:"encryptionInformation"`
	UUID    args.UUID       `arg:"collectionUUID"`
}

var (
	updateSpec          = args.New[updateArgs]("update")
	updateStatementSpec = args.New[exec.UpdateStatementArgs]("update.updates")
	updatePool          args.Pool[updateArgs]
	updateStatementPool args.Pool[exec.UpdateStatementArgs]
)

func runUpdate(c *kernel.Call) error {
	a := updatePool.Get()
	defer updatePool.Put(a)
	if err := updateSpec.Decode(c.Body, a); err != nil {
		return err
	}
	ns, err := c.WriteNamespace(a.Update)
	if err != nil {
		return err
	}
	statements, err := gate.Batch(c, "updates", a.Updates)
	if err != nil {
		return err
	}
	if err := checkPipelines(statements); err != nil {
		return err
	}
	c.Svc.Metrics.Opcounters.Update.Add(int64(statements.N))
	w := newBatch(c, ns, a.Ordered.Or(true), bool(a.Bypass))
	w.UUID = a.UUID
	defer w.Release()
	var modified int64
	var upserted []upsertedID
	s := updateStatementPool.Get()
	defer updateStatementPool.Put(s)
	read := func(d value.Doc) error {
		*s = exec.UpdateStatementArgs{}
		return updateStatementSpec.DecodeNested("update.updates", d, s)
	}
	err = eachStatement(w, statements, read, func(i int) error {
		out, err := updateStatement(c, w, i, s, a.Let)
		if err != nil {
			return err
		}
		w.N += out.Matched
		modified += out.Modified
		if !out.Upserted.IsMissing() {
			w.N++
			upserted = append(upserted, upsertedID{i, out.Upserted})
		}
		return nil
	})
	if err != nil {
		return err
	}
	c.Svc.Metrics.Document.Updated.Add(modified)
	c.Reply.Int32("n", int32(w.N)).Int32("nModified", int32(modified))
	replyUpserted(c, upserted)
	c.LeavesNothing()
	w.Finish()
	return nil
}

func replyUpserted(c *kernel.Call, upserted []upsertedID) {
	if len(upserted) == 0 {
		return
	}
	c.Reply.StartArray("upserted")
	for _, u := range upserted {
		c.Reply.StartDocument("").Int32("index", int32(u.index)).Append("_id", u.id).End()
	}
	c.Reply.End()
}

// checkPipelines refuses pipelines with unknown stages.
func checkPipelines(statements args.DocList) error {
	for d, ok := statements.Next(); ok; d, ok = statements.Next() {
		if u := d.Lookup("u"); u.Kind() == value.KindArray {
			if err := agg.CheckNames(u.Doc()); err != nil {
				return err
			}
		}
	}
	return nil
}

type upsertedID struct {
	index int
	id    value.Value
}

// eachStatement runs the statements of an update or a delete, up to the error that ends
// the batch. All of them are read before any of them runs, because one that cannot be
// read fails the command; a single one is not read twice.
func eachStatement(w *write.BatchWrite, statements args.DocList, read func(value.Doc) error, run func(i int) error) error {
	if statements.N > 1 {
		for _, d := range statements.All() {
			if err := read(d); err != nil {
				return err
			}
		}
	}
	for i := 0; i < statements.N && !w.Stopped; i++ {
		if i > 0 { // the execution of a statement checks as well
			if err := w.C.Interrupted(); err != nil {
				return err
			}
		}
		d, _ := statements.Next()
		if err := read(d); err != nil {
			return err
		}
		if err := run(i); err != nil {
			if err := w.Fail(i, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// updateStatement runs the i-th statement of a command.
func updateStatement(c *kernel.Call, w *write.BatchWrite, i int, s *exec.UpdateStatementArgs, let value.Doc) (write.Updated, error) {
	if done := c.Statement(i); done != nil {
		return write.OutcomeOf(done), nil
	}
	if s.Multi && s.Sort != nil {
		return write.Updated{}, mongoerr.New(mongoerr.FailedToParse, "Cannot specify sort with multi=true")
	}
	if err := c.CheckSingle(s.Multi, "multi=true"); err != nil {
		return write.Updated{}, err
	}
	if err := c.ExpectUUID(w.NS, w.UUID); err != nil {
		return write.Updated{}, err
	}
	if out, handled, err := write.FastUpdate(c, w, s, let); handled {
		return out, err
	}
	m := modification(s, w.NS, let)
	m.Bypass = w.Bypass
	return modify(c, &m)
}

// modification is what the statement asks for.
func modification(s *exec.UpdateStatementArgs, ns storage.Namespace, let value.Doc) write.Modification {
	return write.Modification{
		NS: ns, Filter: s.Q, Update: s.U, Constants: s.C, Let: let, Multi: s.Multi, Upsert: s.Upsert,
		Collation: s.Collation, ArrayFilters: s.ArrayFilters, Hint: s.Hint, Sort: s.Sort,
	}
}

// modify runs an update or, without update, a removal.
func modify(c *kernel.Call, m *write.Modification) (write.Updated, error) {
	info, err := openModification(c, m)
	if err != nil {
		return write.Updated{}, err
	}
	if catalog.Of(info).Kind == catalog.TimeSeries {
		return write.ModifyMeasurements(c, m, info)
	}
	for attempt := 0; ; attempt++ {
		var out write.Updated
		if info != nil {
			if out, err = write.ModifyMatching(c, m, info); err != nil {
				return out, kernel.Translate(m.NS, err)
			}
		}
		if out.Matched > 0 || !m.Upsert {
			return out, nil
		}
		out, err = upsert(c, m)
		// Another client may have inserted the document meanwhile: then it can
		// be updated.
		if mongoerr.Is(err, mongoerr.DuplicateKey) && attempt < maxUpsertAttempts && c.Transaction() == nil && m.RetryUpsert(err) {
			if info, err = exec.Lookup(c, m.NS); err == nil {
				continue
			}
		}
		return out, kernel.Translate(m.NS, err)
	}
}

// openModification looks for the collection and the records, in one View.
func openModification(c *kernel.Call, m *write.Modification) (info *storage.Info, err error) {
	err = c.InOneView(func() error {
		m.Reopen()
		if info, err = exec.Lookup(c, m.NS); err != nil {
			return err
		}
		meta := catalog.Of(info)
		if m.FindAndModify && info != nil {
			if err := queue.CheckUpdate(info); err != nil {
				return err
			}
		}
		if meta.Kind == catalog.View {
			return catalog.NotOnView(m.NS)
		}
		if err := CompileModification(c, m, info); err != nil {
			return err
		}
		switch {
		case meta.IsQueue && !m.Update.IsMissing():
			return queue.CheckUpdate(info)
		case info == nil || meta.Kind == catalog.TimeSeries:
			return nil
		}
		return m.Open(c, info)
	})
	return info, err
}

// maxUpsertAttempts bounds how often an upsert is retried when another client inserts the
// document first.
const maxUpsertAttempts = 3

// CompileModification compiles the filter, the update and the projection of a
// write. info is nil if the collection does not exist.
func CompileModification(c *kernel.Call, m *write.Modification, info *storage.Info) (err error) {
	if err := canonical.CheckHint(m.Hint); err != nil {
		return err
	}
	m.Exec = exec.NewExecution(c)
	q := &m.Query
	q.Filter, q.Hint, q.Sort, q.Upsert = m.Filter, m.Hint, m.Sort, m.Upsert
	if !m.Multi {
		q.Limit = 1
	}
	q.NearAll = true // the nearest may be gone when it is to be written
	if q.Collator, err = canonical.OperationCollation(m.Collation, catalog.Of(info)); err != nil {
		return err
	}
	m.Exec.Env.Collation = q.Collator
	if q.Scope, err = m.Exec.LetScope(m.Let); err != nil {
		return err
	}
	if _, point := canonical.PointID(q.Filter); !point || m.Upsert || m.Fields != nil || catalog.Of(info).Kind == catalog.TimeSeries || !m.CanUseID(info) {
		if err := canonical.CompileFilter(c, q, catalog.Of(info)); err != nil {
			return err
		}
	} else if err := q.CheckSort(); err != nil {
		return err
	}
	if err := m.CompileFields(q.Scope); err != nil {
		return err
	}
	if err := write.FindScripts(c, m, catalog.Of(info)); err != nil || m.Update.IsMissing() {
		return err
	}
	o := update.Options{
		Collation: q.Collator, Multi: m.Multi, Constants: m.Constants != nil,
		Timestamp: func() value.Value { return transaction.NextTimestamp(c.Svc, c.Now) }, KeepEmpty: write.KeepsEmptyTimestamps(c),
	}
	o.Pipeline = func(stages value.Doc) (update.Transform, error) { return compilePipelineUpdate(c, m, stages) }
	if o.ArrayFilters, err = args.ArrayDocs("update.updates", "arrayFilters", m.ArrayFilters); err != nil {
		return err
	}
	if m.Compile, err = update.Compile(m.Update, o); err != nil {
		return err
	}
	return m.CheckRename(catalog.Of(info))
}

// compilePipelineUpdate compiles [{$set: …}, …] with the constants of "c"
// and the variables of let in scope.
func compilePipelineUpdate(c *kernel.Call, m *write.Modification, stages value.Doc) (update.Transform, error) {
	scope := m.Query.Scope
	if m.Constants != nil {
		if scope == nil {
			scope = expr.NewScope()
		}
		child, vars, err := scope.WithLet(m.Constants)
		if err != nil {
			return nil, err
		}
		if err := vars.Bind(m.Exec.Env, m.Exec.Env, value.EmptyDoc); err != nil {
			return nil, err
		}
		scope = child
	}
	p, err := agg.Compile(stages, agg.Options{DB: m.NS.DB, Coll: m.NS.Coll, Scope: scope, Collation: m.Query.Collator, Update: true})
	if err != nil {
		return nil, err
	}
	return func(env *expr.Env, d value.Doc) (value.Doc, error) {
		return p.Apply(&agg.Exec{Env: env}, d)
	}, nil
}

// upsert inserts the document that the filter and the update describe.
func upsert(c *kernel.Call, m *write.Modification) (out write.Updated, err error) {
	d, err := m.Compile.ForUpsert(m.Exec.Env, m.Query.Matcher, func() value.OID { return value.NewOID(c.Now) })
	if err != nil {
		return out, err
	}
	if d, err = write.PrepareUpsert(c, d); err != nil {
		return out, err
	}
	err = c.Update(func(tx storage.Tx) error {
		coll, err := write.CollectionForInsert(c, tx, m.NS)
		if err != nil {
			return err
		}
		w := write.New(c, tx, coll, m.Bypass)
		out = write.Updated{Upserted: d.Lookup("_id").Clone(), New: w.Meta.Shown(w.Stripped(d), c.Now)}
		_, err = w.Insert(d)
		return err
	})
	if err != nil {
		return write.Updated{}, err
	}
	return out, nil
}
