package crud

import (
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/commands/write"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

type findAndModifyArgs struct {
	Name         value.Value     `arg:"findAndModify"`
	Old          value.Value     `arg:"findandmodify"`
	Query        value.Doc       `arg:"query"`
	Sort         value.Doc       `arg:"sort"`
	Remove       args.LooseBool  `arg:"remove"`
	Update       value.Value     `arg:"update"`
	New          args.LooseBool  `arg:"new"`
	Fields       value.Doc       `arg:"fields"`
	Upsert       args.LooseBool  `arg:"upsert"`
	Bypass       args.LooseBool  `arg:"bypassDocumentValidation"`
	Collation    value.Doc       `arg:"collation"`
	ArrayFilters args.Array      `arg:"arrayFilters"`
	Hint         value.Value     `arg:"hint,any"`
	Let          value.Doc       `arg:"let"`
	EmptyTS      args.StrictBool `arg:"bypassEmptyTsReplacement,own"` // see keepsEmptyTimestamps
	SampleID     value.Value     `arg:"sampleId"`
	EncInfo      value.Value     `arg:"encryptionInformation"`
}

var (
	findAndModifySpec = args.New[findAndModifyArgs]("findAndModify")
	findAndModifyPool args.Pool[findAndModifyArgs]
)

func runFindAndModify(c *kernel.Call) error {
	a := findAndModifyPool.Get()
	defer findAndModifyPool.Put(a)
	if err := findAndModifySpec.Decode(c.Body, a); err != nil {
		return err
	}
	ns, err := c.Namespace()
	if err != nil {
		return err
	}
	if err := c.CheckWriteNamespace(ns); err != nil {
		return err
	}
	if err := a.check(); err != nil {
		return err
	}
	c.Svc.Metrics.Opcounters.Command.Add(1)
	c.Retry.Image = oplog.ImageBefore
	if bool(a.New) {
		c.Retry.Image = oplog.ImageAfter
	}
	if err := checkRetriedModify(c, a); err != nil {
		return err
	}
	if a.plain() && c.Statement(0) == nil {
		if out, fast, err := write.FastFindAndModify(c, ns, bool(a.Bypass), a.Query, a.Update, bool(a.New)); fast {
			if err == nil {
				c.LeavesNothing()
			}
			return replyModified(c, a, nil, out, err)
		}
	}
	return modifyOne(c, a, a.modification(ns))
}

// plain reports whether nothing but the filter says which document is modified, and
// nothing but the update how, and whether all of the document is returned.
func (a *findAndModifyArgs) plain() bool {
	return !bool(a.Upsert) && a.Sort == nil && a.Collation == nil && a.Hint.IsMissing() && a.Let == nil && a.ArrayFilters == nil && a.Fields.IsEmpty()
}

// modification is what the command asks for.
func (a *findAndModifyArgs) modification(ns storage.Namespace) write.Modification {
	return write.Modification{
		NS: ns, Filter: a.Query, Update: a.Update, Let: a.Let, Collation: a.Collation, Hint: a.Hint, Sort: a.Sort,
		Upsert: bool(a.Upsert), ArrayFilters: a.ArrayFilters, Bypass: bool(a.Bypass), WantNew: bool(a.New), Fields: a.Fields,
		FindAndModify: true,
	}
}

// modifyOne runs a findAndModify, or answers it as an earlier attempt was answered.
func modifyOne(c *kernel.Call, a *findAndModifyArgs, m write.Modification) error {
	var run *write.Run
	out, err := write.Retried(c, 0, func() (out write.Updated, err error) {
		run, out, err = write.Modify(c, &m)
		return out, err
	})
	if err == nil && run == nil { // the answer to an earlier attempt
		var info *storage.Info
		if info, err = exec.Lookup(c, m.NS); err == nil {
			run, err = write.Compile(c, &m, info)
		}
	}
	return replyModified(c, a, run, out, err)
}

// checkRetriedModify refuses a retried command that differs from the one that was run.
func checkRetriedModify(c *kernel.Call, a *findAndModifyArgs) error {
	if !c.Retry.On {
		return nil
	}
	s := c.Session.History.Find(c.StatementID(0))
	if s == nil {
		return nil
	}
	differs := func(code mongoerr.Code) error {
		return mongoerr.Newf(code, "findAndModify retry request: %s is not compatible with previous write in the transaction of type: %c", c.Body, s.Kind)
	}
	switch {
	case s.Kind == 'd' && !bool(a.Remove):
		return differs(40606)
	case s.Kind == 'i' && !bool(a.Upsert):
		return differs(40608)
	case s.Kind == 'u' && bool(a.Remove):
		return differs(40609)
	}
	return nil
}

func (a *findAndModifyArgs) check() error {
	switch {
	case bool(a.Remove) && !a.Update.IsMissing():
		return mongoerr.New(mongoerr.FailedToParse, "Cannot specify both an update and remove=true")
	case bool(a.Remove) && bool(a.Upsert):
		return mongoerr.New(mongoerr.FailedToParse, "Cannot specify both upsert=true and remove=true ")
	case bool(a.Remove) && bool(a.New):
		return mongoerr.New(mongoerr.FailedToParse, "Cannot specify both new=true and remove=true; 'remove' always returns the deleted document")
	case bool(a.Remove) && a.ArrayFilters != nil:
		return mongoerr.New(mongoerr.FailedToParse, "Cannot specify arrayFilters and remove=true")
	case !bool(a.Remove) && a.Update.IsMissing():
		return mongoerr.New(mongoerr.FailedToParse, "Either an update or remove=true must be specified")
	}
	if k := a.Update.Kind(); k != value.Missing && k != value.KindDocument && k != value.KindArray {
		return mongoerr.New(mongoerr.FailedToParse, "Update argument must be either an object or an array")
	} else if k == value.KindArray && a.ArrayFilters != nil {
		return mongoerr.New(mongoerr.FailedToParse, "Cannot specify arrayFilters and a pipeline update")
	}
	_, err := args.ArrayDocs("findAndModify", "arrayFilters", a.ArrayFilters)
	return err
}

// replyModified writes the reply; run is nil if the whole document is returned.
func replyModified(c *kernel.Call, a *findAndModifyArgs, run *write.Run, out write.Updated, err error) error {
	if err != nil {
		return err
	}
	doc := out.Old
	if bool(a.New) {
		doc = out.New
	}
	if doc != nil && a.Fields != nil && !a.Fields.IsEmpty() {
		if doc, err = run.Project(doc); err != nil {
			return err
		}
	}
	_ = c.AwaitReplyMemory(len(doc)) // the write has been done: an interruption does not make it fail
	b := c.Reply
	b.StartDocument("lastErrorObject")
	if bool(a.Remove) {
		b.Int32("n", int32(out.Matched))
		c.Svc.Metrics.Document.Deleted.Add(out.Matched)
	} else {
		n := out.Matched
		if !out.Upserted.IsMissing() {
			n = 1
		}
		b.Int32("n", int32(n)).Bool("updatedExisting", out.Matched > 0)
		b.Append("upserted", out.Upserted)
		c.Svc.Metrics.Document.Updated.Add(out.Modified)
	}
	b.End()
	if doc == nil {
		b.Null("value")
	} else {
		b.Document("value", doc)
	}
	c.AppendRetried()
	return nil
}
