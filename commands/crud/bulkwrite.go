package crud

import (
	"errors"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/gate"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/transaction"
	"github.com/duskdb/duskdb/commands/write"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

type bulkWriteArgs struct {
	BulkWrite  value.Value     `arg:"bulkWrite,required"`
	Ops        args.Array      `arg:"ops"`
	NsInfo     args.Array      `arg:"nsInfo"`
	Cursor     value.Doc       `arg:"cursor"`
	Bypass     args.LooseBool  `arg:"bypassDocumentValidation"`
	Ordered    args.Flag       `arg:"ordered"`
	ErrorsOnly args.StrictBool `arg:"errorsOnly"`
	Let        value.Doc       `arg:"let"`
	EmptyTS    args.StrictBool `arg:"bypassEmptyTsReplacement,own"` // see keepsEmptyTimestamps
}

type bulkInsertArgs struct {
	Insert   int64     `arg:"insert,required,nonneg"`
	Document value.Doc `arg:"document,required"`
}

type bulkUpdateArgs struct {
	Update       int64          `arg:"update,required,nonneg"`
	Filter       value.Doc      `arg:"filter,required"`
	Mods         value.Value    `arg:"updateMods,required"`
	Multi        bool           `arg:"multi"`
	Upsert       bool           `arg:"upsert"`
	Supplied     args.LooseBool `arg:"upsertSupplied"`
	ArrayFilters args.Array     `arg:"arrayFilters"`
	Hint         value.Value    `arg:"hint,any"`
	Constants    value.Doc      `arg:"constants"`
	Collation    value.Doc      `arg:"collation"`
	Sort         value.Doc      `arg:"sort"`
	SampleID     value.Value    `arg:"sampleId"`
}

type bulkDeleteArgs struct {
	Delete    int64       `arg:"delete,required,nonneg"`
	Filter    value.Doc   `arg:"filter,required"`
	Multi     bool        `arg:"multi"`
	Hint      value.Value `arg:"hint,any"`
	Collation value.Doc   `arg:"collation"`
	SampleID  value.Value `arg:"sampleId"`
}

// check refuses a document that cannot be an update. This error fails the command, not
// only the operation.
func (a *bulkUpdateArgs) check(op value.Doc) error {
	if k := a.Mods.Kind(); k != value.KindDocument && k != value.KindArray {
		return mongoerr.New(mongoerr.FailedToParse, "Update argument must be either an object or an array")
	}
	return checkBulkHint(op)
}

// checkBulkHint does the same for a hint; null is refused, too.
func checkBulkHint(op value.Doc) error {
	if v, given := op.Get("hint"); given && v.Kind() != value.KindString && v.Kind() != value.KindDocument {
		return mongoerr.New(mongoerr.FailedToParse, "Hint must be a string or an object")
	}
	return nil
}

// statement is the operation as the command update has it.
func (a *bulkUpdateArgs) statement() *exec.UpdateStatementArgs {
	return &exec.UpdateStatementArgs{
		Q: a.Filter, U: a.Mods, C: a.Constants, Multi: a.Multi, Upsert: a.Upsert,
		Collation: a.Collation, ArrayFilters: a.ArrayFilters, Hint: a.Hint, Sort: a.Sort,
	}
}

// statement is the operation as the command delete has it.
func (a *bulkDeleteArgs) statement() *write.DeleteStatementArgs {
	limit := value.Int32(1)
	if a.Multi {
		limit = value.Int32(0)
	}
	return &write.DeleteStatementArgs{Q: a.Filter, Limit: limit, Collation: a.Collation, Hint: a.Hint}
}

var (
	bulkWriteSpec  = args.New[bulkWriteArgs]("bulkWrite")
	bulkInsertSpec = args.New[bulkInsertArgs]("bulkWrite.ops")
	bulkUpdateSpec = args.New[bulkUpdateArgs]("bulkWrite.ops")
	bulkDeleteSpec = args.New[bulkDeleteArgs]("bulkWrite.ops")
)

// bulkWrite is one run of the command: its operations, and their results so far.
type bulkWrite struct {
	c          *kernel.Call
	namespaces []bulkNamespace
	ops        []bulkOp
	let        value.Doc
	ordered    bool
	bypass     bool
	errorsOnly bool
	stopped    bool
	results    []value.Doc
	room       mongoerr.Room // what the reply has left for errors

	errors, inserted, matched, modified, upserted, deleted int64
}

// bulkOp is one operation, checked but not yet decoded again.
type bulkOp struct {
	kind bulkKind
	ns   int
	doc  value.Doc
}

type bulkKind uint8

const (
	bulkInsert bulkKind = iota
	bulkUpdate
	bulkDelete
)

func runBulkWrite(c *kernel.Call) error {
	var a bulkWriteArgs
	if err := bulkWriteSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	size, err := args.BatchSize("bulkWrite.cursor", a.Cursor, args.WholeBatch)
	if err != nil {
		return err
	}
	w := &bulkWrite{c: c, let: a.Let, ordered: a.Ordered.Or(true), bypass: bool(a.Bypass), errorsOnly: bool(a.ErrorsOnly)}
	if err := w.readOps(a.Ops); err != nil {
		return err
	}
	if err := w.readNamespaces(a.NsInfo); err != nil {
		return err
	}
	if err := w.checkOps(); err != nil {
		return err
	}
	if err := w.run(); err != nil {
		return err
	}
	w.count()
	if c.Generic.Unacked && !c.Generic.Durable { // the reply has no results
		w.forget()
	}
	if size == int64(len(w.results)) { // all are known: no cursor stays open to find that none is left
		size++
	}
	ns := storage.Namespace{DB: "admin", Coll: "$cmd.bulkWrite"}
	if err := exec.FirstBatch(c, exec.CursorRequest{NS: ns, It: agg.Docs(w.results...), BatchSize: size}); err != nil {
		return err
	}
	c.Reply.Int32("nErrors", int32(w.errors)).Int32("nInserted", int32(w.inserted)).Int32("nMatched", int32(w.matched)).
		Int32("nModified", int32(w.modified)).Int32("nUpserted", int32(w.upserted)).Int32("nDeleted", int32(w.deleted))
	c.AppendRetried()
	return nil
}

// forget drops the outcome of operations that are not acknowledged.
func (w *bulkWrite) forget() {
	w.results = nil
	w.errors, w.inserted, w.matched, w.modified, w.upserted, w.deleted = 0, 0, 0, 0, 0, 0
}

// readOps checks the operations of the request, each by what its first field
// says it is.
func (w *bulkWrite) readOps(inBody args.Array) error {
	docs, err := gate.Batch(w.c, "ops", inBody)
	if err != nil {
		return err
	}
	for _, d := range docs.All() {
		op := bulkOp{doc: d}
		name, _ := d.First()
		switch name {
		case "insert":
			var a bulkInsertArgs
			err = bulkInsertSpec.DecodeNested("bulkWrite.ops", d, &a)
			op.kind, op.ns = bulkInsert, int(a.Insert)
		case "update":
			var a bulkUpdateArgs
			if err = bulkUpdateSpec.DecodeNested("bulkWrite.ops", d, &a); err == nil {
				err = a.check(d)
			}
			op.kind, op.ns = bulkUpdate, int(a.Update)
		case "delete":
			var a bulkDeleteArgs
			if err = bulkDeleteSpec.DecodeNested("bulkWrite.ops", d, &a); err == nil {
				err = checkBulkHint(d)
			}
			op.kind, op.ns = bulkDelete, int(a.Delete)
		default:
			err = mongoerr.UnknownField("bulkWrite." + name)
		}
		if err != nil {
			return err
		}
		w.ops = append(w.ops, op)
	}
	return nil
}

// run executes the operations in their order. Inserts into the same
// collection that follow each other share a transaction.
func (w *bulkWrite) run() error {
	for i := 0; i < len(w.ops) && !w.stopped; {
		if err := w.c.Interrupted(); err != nil {
			return err
		}
		next := i + 1
		w.c.Stamp = 0 // each operation has a $$CLUSTER_TIME of its own
		var err error
		switch w.ops[i].kind {
		case bulkInsert:
			next, err = w.insert(i)
		case bulkUpdate:
			err = w.update(i)
		case bulkDelete:
			err = w.delete(i)
		}
		if err != nil {
			return err
		}
		i = next
	}
	return nil
}

// insert runs the inserts from operation i on that can run together, and
// returns the operation after them.
func (w *bulkWrite) insert(i int) (next int, err error) {
	ns := w.ops[i].ns
	batch := w.batch(int64(ns))
	defer batch.Release()
	chunk, bytes := []write.Numbered(nil), 0
	failed := map[int]error{}
	for next = i; next < len(w.ops) && len(chunk) < write.InsertChunk && bytes < write.InsertBytes; next++ {
		op := &w.ops[next]
		if op.kind != bulkInsert || op.ns != ns {
			break
		}
		if w.c.Statement(next) != nil { // done by an earlier attempt
			continue
		}
		d, err := write.PrepareInsert(w.c, op.doc.Lookup("document").Doc())
		if err != nil {
			failed[next] = err
			if w.ordered {
				next++
				break
			}
			continue
		}
		chunk, bytes = append(chunk, write.Numbered{I: next, D: d}), bytes+len(d)
	}
	w.c.Svc.Metrics.Opcounters.Insert.Add(int64(next - i))
	if err := w.insertChunk(batch, ns, chunk, failed); err != nil {
		return next, err
	}
	for k := i; k < next && !w.stopped; k++ {
		if err := failed[k]; err != nil {
			if err := w.fail(k, err); err != nil {
				return next, err
			}
			continue
		}
		w.inserted++
		w.succeed(k, func(b *value.Builder) { b.Int32("n", 1) })
	}
	return next, nil
}

// insertChunk inserts the documents and notes which of them failed. An error of the
// collection counts as an error of each document.
func (w *bulkWrite) insertChunk(batch *write.BatchWrite, ns int, chunk []write.Numbered, failed map[int]error) error {
	err := w.writable(ns)
	if err == nil {
		batch.Chunk = append(batch.Chunk, chunk...)
		w.c.Retry.Inserts = true
		err = batch.InsertChunk()
		w.c.Retry.Inserts = false
	}
	if err != nil {
		if w.fatal(err) {
			return err
		}
		for _, e := range chunk {
			failed[e.I] = err
		}
	}
	for _, e := range batch.Errs {
		failed[e.Index] = e.Err
	}
	return nil
}

func (w *bulkWrite) update(i int) error {
	var a bulkUpdateArgs
	if err := bulkUpdateSpec.DecodeNested("bulkWrite.ops", w.ops[i].doc, &a); err != nil {
		return err
	}
	w.c.Svc.Metrics.Opcounters.Update.Add(1)
	if err := w.c.CheckSingle(a.Multi, "multi=true"); err != nil {
		return err
	}
	batch := w.batch(a.Update)
	defer batch.Release()
	if err := w.writable(w.ops[i].ns); err != nil {
		return w.fail(i, err)
	}
	s := a.statement()
	if err := checkUpdateStatement(s); err != nil { // fails this one alone, unlike in update
		return w.fail(i, err)
	}
	out, err := updateStatement(w.c, batch, i, s, w.let)
	if err != nil {
		return w.fail(i, err)
	}
	n := out.Matched
	w.matched += out.Matched
	w.modified += out.Modified
	if !out.Upserted.IsMissing() {
		n++
		w.upserted++
	}
	w.succeed(i, func(b *value.Builder) {
		b.Int32("n", int32(n)).Int32("nModified", int32(out.Modified))
		if !out.Upserted.IsMissing() {
			b.StartDocument("upserted").Append("_id", out.Upserted).End()
		}
	})
	return nil
}

func (w *bulkWrite) delete(i int) error {
	var a bulkDeleteArgs
	if err := bulkDeleteSpec.DecodeNested("bulkWrite.ops", w.ops[i].doc, &a); err != nil {
		return err
	}
	w.c.Svc.Metrics.Opcounters.Remove.Add(1)
	if err := w.c.CheckSingle(a.Multi, "multi=true"); err != nil {
		return err
	}
	batch := w.batch(a.Delete)
	defer batch.Release()
	if err := w.writable(w.ops[i].ns); err != nil {
		return w.fail(i, err)
	}
	out, err := deleteStatement(w.c, batch, i, a.statement(), w.let)
	if err != nil {
		return w.fail(i, err)
	}
	w.deleted += out.Matched
	w.succeed(i, func(b *value.Builder) { b.Int32("n", int32(out.Matched)) })
	return nil
}

// batch is what the command update or delete would be for one namespace.
func (w *bulkWrite) batch(ns int64) *write.BatchWrite {
	return newBatch(w.c, w.namespaces[ns].Namespace, w.ordered, w.bypass)
}

// fatal reports whether an error ends the command, and not only its operation.
func (w *bulkWrite) fatal(err error) bool {
	return w.c.Transaction() != nil && transaction.Transient(err) || mongoerr.From(err).Code.In(mongoerr.CategoryInterruption) || errors.Is(err, storage.ErrClosed) || errors.Is(err, storage.ErrUnavailable)
}

// fail writes the result of an operation that failed.
func (w *bulkWrite) fail(i int, err error) error {
	if w.fatal(err) {
		return err
	}
	w.errors++
	w.stopped = w.ordered
	if t := w.c.Transaction(); t != nil { // the transaction ends, and so does the batch
		t.Failed, w.stopped = true, true
	}
	e := w.room.Admit(mongoerr.From(err))
	b := value.NewBuilder()
	b.Double("ok", 0).Int32("idx", int32(i)).Int32("code", int32(e.Code)).String("errmsg", e.Text())
	for _, f := range e.Extra {
		b.Append(f.Key, f.Value)
	}
	b.Int32("n", 0)
	if w.ops[i].kind == bulkUpdate {
		b.Int32("nModified", 0)
	}
	w.results = append(w.results, b.Doc())
	return nil
}

// succeed writes the result of an operation that worked, unless only errors
// are asked for.
func (w *bulkWrite) succeed(i int, fields func(*value.Builder)) {
	if w.errorsOnly {
		return
	}
	b := value.NewBuilder()
	b.Double("ok", 1).Int32("idx", int32(i))
	fields(b)
	w.results = append(w.results, b.Doc())
}

// count adds to the metrics of documents.
func (w *bulkWrite) count() {
	m := &w.c.Svc.Metrics.Document
	m.Inserted.Add(w.inserted)
	m.Updated.Add(w.modified)
	m.Deleted.Add(w.deleted)
}
