package commands

import (
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/project"
	"github.com/duskdb/duskdb/value"
)

type findAndModifyArgs struct {
	Name         value.Value `arg:"findAndModify"`
	Old          value.Value `arg:"findandmodify"`
	Query        value.Doc   `arg:"query"`
	Sort         value.Doc   `arg:"sort"`
	Remove       looseBool   `arg:"remove"`
	Update       value.Value `arg:"update"`
	New          looseBool   `arg:"new"`
	Fields       value.Doc   `arg:"fields"`
	Upsert       looseBool   `arg:"upsert"`
	Bypass       looseBool   `arg:"bypassDocumentValidation"`
	Collation    value.Doc   `arg:"collation"`
	ArrayFilters array       `arg:"arrayFilters"`
	Hint         value.Value `arg:"hint,any"`
	Let          value.Doc   `arg:"let"`
	EmptyTS      strictBool  `arg:"bypassEmptyTsReplacement,own"` // see keepsEmptyTimestamps
	SampleID     value.Value `arg:"sampleId"`
	EncInfo      value.Value `arg:"encryptionInformation"`
}

var findAndModifySpec = newArgs[findAndModifyArgs]("findAndModify")

func runFindAndModify(c *Call) error {
	var a findAndModifyArgs
	if err := findAndModifySpec.decode(c.Body, &a); err != nil {
		return err
	}
	ns, err := c.namespace()
	if err != nil {
		return err
	}
	if err := c.checkWriteNamespace(ns); err != nil {
		return err
	}
	if err := a.check(); err != nil {
		return err
	}
	if err := c.refuseQueue(ns); err != nil {
		return err
	}
	c.svc.metrics.opcounters.command.Add(1)
	m := modification{
		ns: ns, filter: a.Query, let: a.Let, collation: a.Collation, hint: a.Hint, sort: a.Sort,
		upsert: bool(a.Upsert), arrayFilters: a.ArrayFilters, bypass: bool(a.Bypass), wantNew: bool(a.New), fields: a.Fields,
		findAndModify: true,
	}
	if !a.Remove {
		m.update = a.Update
	}
	c.retry.image = imageBefore
	if bool(a.New) {
		c.retry.image = imageAfter
	}
	if err := c.checkRetriedModify(&a); err != nil {
		return err
	}
	out, err := c.retried(0, func() (updated, error) { return c.modify(&m) })
	if err != nil {
		return err
	}
	if m.exec == nil { // the answer to an earlier attempt
		info, err := c.lookup(ns)
		if err != nil {
			return err
		}
		if err := c.compileModification(&m, info); err != nil {
			return err
		}
	}
	if err := c.replyFindAndModify(&a, &m, out); err != nil {
		return err
	}
	return nil
}

// checkRetriedModify refuses to answer from the history a command that is not
// the one that was run.
func (c *Call) checkRetriedModify(a *findAndModifyArgs) error {
	if !c.retry.on {
		return nil
	}
	s := c.session.history.find(c.statementID(0))
	if s == nil {
		return nil
	}
	differs := func(code mongoerr.Code) error {
		return mongoerr.Newf(code, "findAndModify retry request: %s is not compatible with previous write in the transaction of type: %c", c.Body, s.kind)
	}
	switch {
	case s.kind == 'd' && !bool(a.Remove):
		return differs(40606)
	case s.kind == 'i' && !bool(a.Upsert):
		return differs(40608)
	case s.kind == 'u' && bool(a.Remove):
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
	return nil
}

func (c *Call) replyFindAndModify(a *findAndModifyArgs, m *modification, out updated) error {
	doc := out.old
	if bool(a.New) {
		doc = out.new
	}
	if doc != nil && a.Fields != nil && !a.Fields.IsEmpty() {
		var err error
		if doc, err = projectResult(m, doc); err != nil {
			return err
		}
	}
	b := c.reply
	b.StartDocument("lastErrorObject")
	if bool(a.Remove) {
		b.Int32("n", int32(out.matched))
		c.svc.metrics.document.deleted.Add(out.matched)
	} else {
		n := out.matched
		if !out.upserted.IsMissing() {
			n = 1
		}
		b.Int32("n", int32(n)).Bool("updatedExisting", out.matched > 0)
		b.Append("upserted", out.upserted)
		c.svc.metrics.document.updated.Add(out.modified)
	}
	b.End()
	if doc == nil {
		b.Null("value")
	} else {
		b.Document("value", doc)
	}
	c.appendRetried()
	return nil
}

// projectResult applies the fields option to the document that is returned.
func projectResult(m *modification, doc value.Doc) (value.Doc, error) {
	p := m.projection
	if p == nil {
		return doc, nil
	}
	return p.Apply(m.exec.env, nil, doc)
}

// compileFields compiles the fields option before anything is changed.
func (m *modification) compileFields(scope *expr.Scope) (err error) {
	if m.fields == nil || m.fields.IsEmpty() {
		return nil
	}
	m.projection, err = project.Compile(m.fields, project.Options{Scope: scope, Matcher: m.query.matcher, Collation: m.query.collator})
	if err == nil && m.wantNew && m.projection.NeedsPosition() {
		// What the filter has matched need not be there any more.
		return mongoerr.New(mongoerr.BadValue, "cannot use a positional projection and return the new document")
	}
	return err
}
