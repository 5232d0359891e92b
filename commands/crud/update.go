package crud

import (
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/gate"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/write"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg"
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
	if err := checkPipelines(c.Svc, statements); err != nil {
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
		if err := updateStatementSpec.DecodeNested("update.updates", d, s); err != nil {
			return err
		}
		return checkUpdateStatement(s)
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
	c.Reply.Int32("n", int32(w.N))
	w.ReplyErrors()
	replyUpserted(c, upserted)
	c.Reply.Int32("nModified", int32(modified))
	c.LeavesNothing()
	c.AppendRetried()
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
func checkPipelines(s *kernel.Service, statements args.DocList) error {
	for d, ok := statements.Next(); ok; d, ok = statements.Next() {
		if u := d.Lookup("u"); u.Kind() == value.KindArray {
			if err := agg.CheckNames(s.Dialect(), u.Doc()); err != nil {
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

// checkUpdateStatement refuses what fails the command and not only its statement.
func checkUpdateStatement(s *exec.UpdateStatementArgs) error {
	switch k := s.U.Kind(); {
	case k == value.KindArray:
		for stage := range s.U.Doc().Values() {
			if stage.Kind() != value.KindDocument {
				return mongoerr.New(mongoerr.TypeMismatch, "Each element of the 'pipeline' array must be an object")
			}
		}
	case k != value.KindDocument:
		return mongoerr.New(mongoerr.FailedToParse, "Update argument must be either an object or an array")
	}
	if s.Multi && s.Sort != nil {
		return mongoerr.New(mongoerr.FailedToParse, "Cannot specify sort with multi=true")
	}
	_, err := args.ArrayDocs("update.updates", "arrayFilters", s.ArrayFilters)
	return err
}

// updateStatement runs the i-th statement of a command.
func updateStatement(c *kernel.Call, w *write.BatchWrite, i int, s *exec.UpdateStatementArgs, let value.Doc) (write.Updated, error) {
	if done := c.Statement(i); done != nil {
		return write.OutcomeOf(done), nil
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
	_, out, err := write.Modify(c, &m)
	return out, err
}

// modification is what the statement asks for.
func modification(s *exec.UpdateStatementArgs, ns storage.Namespace, let value.Doc) write.Modification {
	return write.Modification{
		NS: ns, Filter: s.Q, Update: s.U, Constants: s.C, Let: let, Multi: s.Multi, Upsert: s.Upsert,
		Collation: s.Collation, ArrayFilters: s.ArrayFilters, Hint: s.Hint, Sort: s.Sort,
	}
}
