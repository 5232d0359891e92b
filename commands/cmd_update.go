package commands

import (
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/project"
	"github.com/duskdb/duskdb/query/update"
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

type updateArgs struct {
	Update  value.Value `arg:"update,required"`
	Updates array       `arg:"updates"`
	Ordered flag        `arg:"ordered"`
	Bypass  looseBool   `arg:"bypassDocumentValidation"`
	Let     value.Doc   `arg:"let"`
	EmptyTS strictBool  `arg:"bypassEmptyTsReplacement,own"` // see keepsEmptyTimestamps
	EncInfo value.Value `arg:"encryptionInformation"`
	UUID    uuidArg     `arg:"collectionUUID"`
}

type updateStatementArgs struct {
	Q            value.Doc   `arg:"q,required"`
	U            value.Value `arg:"u,required"`
	C            value.Doc   `arg:"c"`
	Multi        bool        `arg:"multi"`
	Upsert       bool        `arg:"upsert"`
	Collation    value.Doc   `arg:"collation"`
	ArrayFilters array       `arg:"arrayFilters"`
	Hint         value.Value `arg:"hint,any"`
	Sort         value.Doc   `arg:"sort"`
	SampleID     value.Value `arg:"sampleId"`
	Supplied     looseBool   `arg:"upsertSupplied"`
}

var (
	updateSpec          = newArgs[updateArgs]("update")
	updateStatementSpec = newArgs[updateStatementArgs]("update.updates")
)

func runUpdate(c *Call) error {
	a := updateSpec.borrow()
	defer updateSpec.giveBack(a)
	if err := updateSpec.decode(c.Body, a); err != nil {
		return err
	}
	ns, err := c.writeNamespace(a.Update)
	if err != nil {
		return err
	}
	statements, err := c.batch("updates", a.Updates)
	if err != nil {
		return err
	}
	if err := checkPipelines(statements); err != nil {
		return err
	}
	c.svc.metrics.opcounters.update.Add(int64(statements.n))
	w := newBatch(c, ns, a.Ordered.or(true), bool(a.Bypass))
	w.uuid = a.UUID
	defer w.release()
	var modified int64
	var upserted []upsertedID
	if err := checkStatements(statements, readUpdate); err != nil {
		return err
	}
	s := updateStatementSpec.borrow()
	defer updateStatementSpec.giveBack(s)
	for i := range statements.n {
		d, _ := statements.next()
		*s = updateStatementArgs{}
		if err := updateStatementSpec.decodeNested("update.updates", d, s); err != nil {
			return err
		}
		out, err := c.updateStatement(w, i, s, a.Let)
		if err != nil {
			if err := w.fail(i, err); err != nil {
				return err
			}
			if w.stopped {
				break
			}
			continue
		}
		w.n += out.matched
		modified += out.modified
		if !out.upserted.IsMissing() {
			w.n++
			upserted = append(upserted, upsertedID{i, out.upserted})
		}
	}
	c.svc.metrics.document.updated.Add(modified)
	c.reply.Int32("n", int32(w.n)).Int32("nModified", int32(modified))
	c.replyUpserted(upserted)
	c.leavesNothing()
	w.finish()
	return nil
}

func (c *Call) replyUpserted(upserted []upsertedID) {
	if len(upserted) == 0 {
		return
	}
	c.reply.StartArray("upserted")
	for _, u := range upserted {
		c.reply.StartDocument("").Int32("index", int32(u.index)).Append("_id", u.id).End()
	}
	c.reply.End()
}

// checkPipelines refuses pipelines with stages that there are not.
func checkPipelines(statements docList) error {
	for d, ok := statements.next(); ok; d, ok = statements.next() {
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

// checkStatements reads the statements of a batch before any of them is run:
// one that cannot be read fails the command. A single one need not be read
// twice.
func checkStatements[T any](statements docList, read func(value.Doc) (T, error)) error {
	if statements.n == 1 {
		return nil
	}
	for _, d := range statements.all() {
		if _, err := read(d); err != nil {
			return err
		}
	}
	return nil
}

func readUpdate(d value.Doc) (*updateStatementArgs, error) {
	s := &updateStatementArgs{}
	return s, updateStatementSpec.decodeNested("update.updates", d, s)
}

// updateStatement runs the i-th statement of a command.
func (c *Call) updateStatement(w *batchWrite, i int, s *updateStatementArgs, let value.Doc) (updated, error) {
	if done := c.statement(i); done != nil {
		return done.outcome(), nil
	}
	if s.Multi && s.Sort != nil {
		return updated{}, mongoerr.New(mongoerr.FailedToParse, "Cannot specify sort with multi=true")
	}
	if err := c.checkSingle(s.Multi, "multi=true"); err != nil {
		return updated{}, err
	}
	if err := c.expectUUID(w.ns, w.uuid); err != nil {
		return updated{}, err
	}
	if out, handled, err := c.expressUpdate(w, s, let); handled {
		return out, err
	}
	m := s.modification(w.ns, let)
	m.bypass = w.bypass
	return c.modify(&m)
}

// modification is what the statement asks for.
func (s *updateStatementArgs) modification(ns storage.Namespace, let value.Doc) modification {
	return modification{
		ns: ns, filter: s.Q, update: s.U, constants: s.C, let: let, multi: s.Multi, upsert: s.Upsert,
		collation: s.Collation, arrayFilters: s.ArrayFilters, hint: s.Hint, sort: s.Sort,
	}
}

// modification is one update statement, whatever command it came with.
type modification struct {
	ns           storage.Namespace
	filter       value.Doc
	update       value.Value // Missing: remove
	constants    value.Doc   // "c" of a pipeline update
	let          value.Doc
	multi        bool
	upsert       bool
	collation    value.Doc
	arrayFilters array
	hint         value.Value
	sort         value.Doc
	bypass       bool
	wantNew      bool      // the caller wants the document after the change
	fields       value.Doc // projection of the document that is returned
	projection   *project.Projection

	findAndModify bool     // which command it is
	byID          bool     // the filter is the _id alone, which the record has
	scripted      bool     // JavaScript judges records or makes what becomes of them: see apart
	passed        bool     // over what was found, as the script did not say yes again
	collection    [16]byte // UUID of that in which the records were found
	exec          *execution
	query         readQuery
	compile       *update.Update
}

// updated is what a modification did.
type updated struct {
	matched  int64
	modified int64
	upserted value.Value // _id of the upserted document, Missing if none
	old, new value.Doc   // the last document, before and after
}

// modify runs an update or, without update, a removal.
func (c *Call) modify(m *modification) (updated, error) {
	info, err := c.lookup(m.ns)
	if err != nil {
		return updated{}, err
	}
	if metaOf(info).kind == view {
		return updated{}, errIsView(m.ns)
	}
	if err := c.compileModification(m, info); err != nil {
		return updated{}, err
	}
	if metaOf(info).isQueue && !m.update.IsMissing() {
		return updated{}, queue.CheckUpdate(info)
	}
	if metaOf(info).kind == timeSeries {
		return c.modifyMeasurements(m, info)
	}
	for attempt := 0; ; attempt++ {
		var out updated
		if info != nil {
			if out, err = c.modifyMatching(m, info); err != nil {
				return out, translate(m.ns, err)
			}
		}
		if out.matched > 0 || !m.upsert {
			return out, nil
		}
		out, err = c.upsert(m)
		// Someone else may have inserted the document meanwhile: then it is
		// there to be updated.
		if mongoerr.Is(err, mongoerr.DuplicateKey) && attempt < maxUpsertAttempts && c.transaction() == nil && m.retryUpsert(err) {
			if info, err = c.lookup(m.ns); err == nil {
				continue
			}
		}
		return out, translate(m.ns, err)
	}
}

const maxUpsertAttempts = 3

// retryUpsert reports whether a duplicate key that an upsert met is one that
// its own filter asks for, so that another attempt will find the document.
func (m *modification) retryUpsert(err error) bool {
	e := mongoerr.From(err)
	var pattern, keyValue value.Doc
	for _, f := range e.Extra {
		switch f.Key {
		case "keyPattern":
			pattern = f.Value.Doc()
		case "keyValue":
			keyValue = f.Value.Doc()
		}
	}
	equal := map[string]value.Value{}
	for path, v := range m.query.matcher.Equalities() {
		equal[path] = v
	}
	for name := range pattern.All() {
		if v, ok := equal[name]; !ok || !value.Equal(v, keyValue.Lookup(name)) {
			return false
		}
	}
	return true
}

func (c *Call) compileModification(m *modification, info *storage.Info) (err error) {
	if err := checkHint(m.hint); err != nil {
		return err
	}
	m.exec = newExecution(c)
	q := &m.query
	q.filter, q.hint, q.sort, q.upsert = m.filter, m.hint, m.sort, m.upsert
	if !m.multi {
		q.limit = 1
	}
	q.nearAll = true // the nearest may be gone when it is to be written
	if q.collator, err = operationCollation(m.collation, metaOf(info)); err != nil {
		return err
	}
	m.exec.env.Collation = q.collator
	if q.scope, err = m.exec.letScope(m.let); err != nil {
		return err
	}
	if _, point := pointID(q.filter); !point || m.upsert || m.fields != nil || metaOf(info).kind == timeSeries || !m.canUseID(info) {
		if err := c.compileFilter(q, metaOf(info)); err != nil {
			return err
		}
	} else if err := q.checkSort(); err != nil {
		return err
	}
	if err := m.compileFields(q.scope); err != nil {
		return err
	}
	if err := c.findScripts(m, metaOf(info)); err != nil || m.update.IsMissing() {
		return err
	}
	o := update.Options{
		Collation: q.collator, Multi: m.multi, Constants: m.constants != nil,
		Timestamp: func() value.Value { return c.svc.nextTimestamp(c.now) }, KeepEmpty: c.keepsEmptyTimestamps(),
	}
	o.Pipeline = func(stages value.Doc) (update.Transform, error) { return c.compilePipelineUpdate(m, stages) }
	if o.ArrayFilters, err = arrayDocs("update.updates", "arrayFilters", m.arrayFilters); err != nil {
		return err
	}
	if m.compile, err = update.Compile(m.update, o); err != nil {
		return err
	}
	return m.checkRename(metaOf(info))
}

// compilePipelineUpdate compiles [{$set: …}, …] with the constants of "c"
// and the variables of let in scope.
func (c *Call) compilePipelineUpdate(m *modification, stages value.Doc) (update.Transform, error) {
	scope := m.query.scope
	if m.constants != nil {
		if scope == nil {
			scope = expr.NewScope()
		}
		child, vars, err := scope.WithLet(m.constants)
		if err != nil {
			return nil, err
		}
		if err := vars.Bind(m.exec.env, m.exec.env, value.EmptyDoc); err != nil {
			return nil, err
		}
		scope = child
	}
	p, err := agg.Compile(stages, agg.Options{DB: m.ns.DB, Coll: m.ns.Coll, Scope: scope, Collation: m.query.collator, Update: true})
	if err != nil {
		return nil, err
	}
	return func(env *expr.Env, d value.Doc) (value.Doc, error) {
		return p.Apply(&agg.Exec{Env: env}, d)
	}, nil
}

// upsert inserts the document that the filter and the update describe.
func (c *Call) upsert(m *modification) (out updated, err error) {
	d, err := m.compile.ForUpsert(m.exec.env, m.query.matcher, func() value.OID { return value.NewOID(c.now) })
	if err != nil {
		return out, err
	}
	if d, err = c.prepareUpsert(d); err != nil {
		return out, err
	}
	err = c.update(func(tx storage.Tx) error {
		coll, err := c.collectionForInsert(tx, m.ns)
		if err != nil {
			return err
		}
		w := c.newWriter(tx, coll, m.bypass)
		out = updated{upserted: d.Lookup("_id").Clone(), new: w.meta.shown(w.stripped(d), c.now)}
		_, err = w.insert(d)
		return err
	})
	if err != nil {
		return updated{}, err
	}
	return out, nil
}
