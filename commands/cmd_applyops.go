package commands

import (
	"errors"
	"strings"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/update"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// oplogCommands apply what another server logged.
func oplogCommands() []command {
	return []command{
		{name: "applyOps", run: runApplyOps, flags: adminOnly | writes, action: "applyOps", on: onCluster, help: "apply entries of an oplog"},
	}
}

type applyOpsArgs struct {
	Ops          array       `arg:"applyOps,required,any"`
	AllowAtomic  anyBool     `arg:"allowAtomic"`
	AlwaysUpsert strictBool  `arg:"alwaysUpsert"`
	Prepare      value.Value `arg:"prepare"`
	PartialTxn   value.Value `arg:"partialTxn"`
	Count        longOnly    `arg:"count"`
	Bypass       looseBool   `arg:"bypassDocumentValidation"`
	PreCondition value.Value `arg:"preCondition"`
	Mode         value.Value `arg:"oplogApplicationMode"`
}

type oplogEntryArgs struct {
	Op     string      `arg:"op"`
	NS     string      `arg:"ns"`
	O      value.Doc   `arg:"o"`
	O2     value.Doc   `arg:"o2"`
	UUID   value.Value `arg:"ui"`
	Upsert *bool       `arg:"b"`

	doc value.Doc // as it was sent
}

var (
	applyOpsSpec   = newArgs[applyOpsArgs]("applyOps").lenient()
	oplogEntrySpec = newArgs[oplogEntryArgs]("applyOps.applyOps").lenient()
)

// runApplyOps applies entries one after the other, up to the first that
// fails.
func runApplyOps(c *Call) error {
	var a applyOpsArgs
	if err := applyOpsSpec.decode(c.Body, &a); err != nil {
		return err
	}
	switch {
	case !a.Prepare.IsMissing():
		return mongoerr.New(mongoerr.BadValue, "applyOps command can't have 'prepare' field")
	case !a.PartialTxn.IsMissing():
		return mongoerr.New(31056, "applyOps command can't have 'partialTxn' field.")
	case a.Count != 0:
		return mongoerr.New(31240, "applyOps command can't have 'count' field.")
	}
	if _, err := a.demands(0); err != nil {
		return err
	}
	if err := a.check(); err != nil {
		return err
	}
	results, err := c.applyAll(&a)
	if err != nil {
		return mongoerr.From(err).WithExtra("applied", value.Int32(int32(len(results)))).WithExtra("results", value.NewArray(results...))
	}
	c.reply.Int32("applied", int32(len(results))).Append("results", value.NewArray(results...))
	return nil
}

// check refuses the options that earlier versions had.
func (a *applyOpsArgs) check() error {
	switch {
	case !a.PreCondition.IsMissing():
		return mongoerr.New(6711600, "applyOps command no longer supports the 'preCondition' option")
	case bool(a.AlwaysUpsert):
		return mongoerr.New(6711601, "applyOps command no longer supports the 'alwaysUpsert' option")
	}
	return nil
}

// applyAll applies a list of entries and tells which of them succeeded. An
// update that finds nothing does not keep the entries behind it from being
// applied; any other error does. No-ops are passed over.
func (c *Call) applyAll(a *applyOpsArgs) (results []value.Value, err error) {
	ops, err := a.entries()
	if err != nil {
		return nil, err
	}
	failed := false
	for i := range ops {
		if ops[i].Op == "n" {
			continue
		}
		err := c.applyEntry(a, &ops[i])
		results = append(results, value.Bool(err == nil))
		switch {
		case mongoerr.Is(err, mongoerr.UpdateOperationFailed):
			failed = true
		case err != nil:
			return results, err
		}
	}
	if failed {
		return results, mongoerr.New(mongoerr.UnknownError, "applyOps had one or more errors applying ops")
	}
	return results, nil
}

// entries reads the list. All who look at the entries do so through it, so that
// they see the same.
func (a *applyOpsArgs) entries() ([]oplogEntryArgs, error) {
	for v := range value.Doc(a.Ops).Values() { // nulls are not passed over here
		if v.Kind() == value.KindNull {
			return nil, wrongType("applyOps", "applyOps", v, "object")
		}
	}
	docs, err := arrayDocs("applyOps", "applyOps", a.Ops)
	if err != nil {
		return nil, err
	}
	ops := make([]oplogEntryArgs, len(docs))
	for i, d := range docs {
		if err := checkOplogEntry(d, i); err != nil {
			return nil, err
		}
		if err := oplogEntrySpec.decodeNested("applyOps.applyOps", d, &ops[i]); err != nil {
			return nil, err
		}
		ops[i].doc = d
	}
	return ops, nil
}

// checkOplogEntry refuses a list for an entry that is not one, before any
// entry is applied. What has an unknown type, or nothing to apply, fails only
// when its turn comes.
func checkOplogEntry(d value.Doc, i int) error {
	op, ns := d.Lookup("op"), d.Lookup("ns")
	illegal := func(text string) error {
		return mongoerr.Newf(mongoerr.IllegalOperation, "%s: %d", text, i)
	}
	switch {
	case op.IsMissing():
		return mongoerr.New(mongoerr.NoSuchKey, "Wrong type for 'op'. Expected a string, got a missing")
	case op.Kind() != value.KindString:
		return mongoerr.Newf(mongoerr.TypeMismatch, "Wrong type for 'op'. Expected a string, got a %s", op.Kind())
	case op.Str() == "":
		return illegal(`"op" field value cannot be empty`)
	case ns.IsMissing():
		return illegal(`op does not contain required "ns" field`)
	case ns.Kind() != value.KindString:
		return illegal(`"ns" field is not a string`)
	case strings.IndexByte(ns.Str(), 0) >= 0:
		return mongoerr.New(mongoerr.IllegalOperation, "namespaces cannot have embedded null characters")
	case ns.Str() == "" && op.Str()[0] != 'n':
		return illegal(`"ns" field value cannot be empty when op type is not 'n'`)
	}
	return nil
}

// nested reads an applyOps that is an entry of another one. What the outer one
// may store without validation, the inner one may too.
func (a *applyOpsArgs) nested(o value.Doc) (*applyOpsArgs, error) {
	var inner applyOpsArgs
	if err := applyOpsSpec.decode(o, &inner); err != nil {
		return nil, err
	}
	inner.Bypass = inner.Bypass || a.Bypass
	return &inner, inner.check()
}

// upserts reports whether an update is to insert what it does not find.
func (e *oplogEntryArgs) upserts() bool { return e.Upsert != nil && *e.Upsert }

func (c *Call) applyEntry(a *applyOpsArgs, e *oplogEntryArgs) error {
	switch {
	case e.Op != "i" && e.Op != "u" && e.Op != "d" && e.Op != "c":
		return mongoerr.Newf(mongoerr.BadValue, "Enumeration value '%s' for field 'OplogEntryBase.op' is not a valid value.", e.Op)
	case e.O == nil:
		return mongoerr.New(mongoerr.IDLFailedToParse, "BSON field 'OplogEntryBase.o' is missing but a required field")
	}
	db, coll, _ := strings.Cut(e.NS, ".")
	if err := checkDatabase(db); err != nil {
		return mongoerr.Newf(mongoerr.InvalidNamespace, "invalid ns: '%s'", e.NS)
	}
	if e.Op == "c" {
		return c.applyCommand(a, db, e)
	}
	ns := storage.Namespace{DB: db, Coll: coll}
	if err := checkNamespace(ns); err != nil {
		return err
	}
	err := c.update(func(tx storage.Tx) error {
		ns, err := c.applyTarget(tx, a, e, ns)
		if err == nil {
			err = c.checkWriteNamespace(ns)
		}
		if err != nil {
			return err
		}
		coll, err := tx.Collection(ns)
		if errors.Is(err, storage.ErrNotFound) {
			return e.missing(ns)
		}
		if err != nil {
			return err
		}
		if err := c.checkWritable(coll); err != nil {
			return err
		}
		return c.applyDocument(c.newWriter(tx, coll, bool(a.Bypass)), e, e.upserts())
	})
	return translate(ns, err)
}

// applyTarget is the collection that an entry works on. One that is named by
// its UUID may have been renamed since the client's privileges were looked at.
func (c *Call) applyTarget(tx storage.Tx, a *applyOpsArgs, e *oplogEntryArgs, ns storage.Namespace) (storage.Namespace, error) {
	named, err := e.collection(tx, ns)
	if err != nil || named == ns {
		return named, err
	}
	if c.svc.options.Security.Auth && !c.user.MayEverything() && c.mayApplyTo(a, e, named) != nil {
		return named, mongoerr.Newf(mongoerr.Unauthorized, "not authorized on %s to execute command %s", c.DB, c.shown())
	}
	return named, nil
}

// collection resolves an entry that names its collection by UUID.
func (e *oplogEntryArgs) collection(tx storage.Tx, ns storage.Namespace) (storage.Namespace, error) {
	if e.UUID.IsMissing() {
		return ns, nil
	}
	_, id := e.UUID.Binary()
	for _, info := range tx.Collections("") {
		if string(info.UUID[:]) == string(id) {
			return info.Namespace, nil
		}
	}
	return ns, mongoerr.Newf(mongoerr.NamespaceNotFound, "No namespace with UUID %x", id)
}

// missing is the outcome of an entry for a collection that does not exist.
func (e *oplogEntryArgs) missing(ns storage.Namespace) error {
	if e.Op == "d" {
		return nil
	}
	return mongoerr.Newf(mongoerr.NamespaceNotFound, "cannot apply insert or update operation on a non-existent namespace %s: %s", ns, e.doc)
}

// applyDocument applies an entry to the document with its _id.
func (c *Call) applyDocument(w *writer, e *oplogEntryArgs, upsert bool) error {
	at := e.O
	if e.Op == "u" {
		at = e.O2
	}
	id, ok := at.Get("_id")
	if !ok {
		return mongoerr.Newf(mongoerr.NoSuchKey, "Failed to apply %s due to missing _id: %s", map[string]string{"i": "insert", "u": "update"}[e.Op], at)
	}
	r, found, err := w.sight().byID(id)
	if err != nil {
		return err
	}
	switch e.Op {
	case "i":
		d, err := c.prepareInsert(e.O)
		if err != nil {
			return err
		}
		return w.put(r, found, d)
	case "d":
		if !found {
			return nil
		}
		return w.remove(r)
	}
	return c.applyUpdate(w, e, r, found, upsert)
}

// put stores a document in the place of the one that was found, or anew.
func (w *writer) put(r storage.Record, found bool, d value.Doc) error {
	if found {
		return w.replace(r, d)
	}
	_, err := w.insert(d)
	return err
}

// applyUpdate applies a logged update: a difference, operators, or the whole
// new document.
func (c *Call) applyUpdate(w *writer, e *oplogEntryArgs, r storage.Record, found, upsert bool) error {
	if !found && !upsert {
		return mongoerr.Newf(mongoerr.UpdateOperationFailed, "Failed to apply update: %s", e.O)
	}
	before := r.Doc
	if !found {
		before = e.O2
	}
	first, _ := e.O.First()
	switch {
	case e.O.Has("diff"):
		diff := e.O.Lookup("diff").Doc()
		if err := checkDiff(diff); err != nil {
			return err
		}
		return w.put(r, found, applyDiff(before, diff))
	case !strings.HasPrefix(first, "$"):
		return w.put(r, found, e.O)
	}
	o := newOptions(e.O)
	o.set("$v", value.Value{})
	u, err := update.Compile(value.Document(o.doc()), update.Options{Timestamp: func() value.Value { return c.svc.nextTimestamp(c.now) }})
	if err != nil {
		return err
	}
	d, _, err := u.Apply(expr.NewEnv(c.now), before, update.ApplyOptions{Position: -1})
	if err != nil {
		return err
	}
	return w.put(r, found, d)
}

// loggedCommands are the commands that an oplog holds and that can be
// applied, and the form in which a client would give them.
var loggedCommands = map[string]func(o value.Doc) value.Doc{
	"create": asLogged, "drop": asLogged, "dropDatabase": asLogged, "renameCollection": asLogged, "collMod": asLogged,
	"dropIndexes": asLogged, "deleteIndexes": asLogged, "convertToCapped": asLogged, "applyOps": asLogged,
	"createIndexes":    func(o value.Doc) value.Doc { return indexesOf(o, value.NewArray(value.Document(rest(o)))) },
	"commitIndexBuild": func(o value.Doc) value.Doc { return indexesOf(o, o.Lookup("indexes")) },
	"startIndexBuild":  nil,
	"abortIndexBuild":  nil,
}

func asLogged(o value.Doc) value.Doc { return o }

// rest is a document without its first field.
func rest(o value.Doc) value.Doc {
	it := o.Iter()
	it.Next()
	b := value.NewBuilder()
	b.Raw(it.Rest())
	return b.Doc()
}

func indexesOf(o value.Doc, indexes value.Value) value.Doc {
	_, coll := o.First()
	return value.NewDoc("createIndexes", coll, "indexes", indexes)
}

// applyCommand runs a logged command.
func (c *Call) applyCommand(a *applyOpsArgs, db string, e *oplogEntryArgs) error {
	name, _ := e.O.First()
	form, known := loggedCommands[name]
	switch {
	case name == "applyOps":
		inner, err := a.nested(e.O)
		if err == nil {
			_, err = c.applyAll(inner)
		}
		return err
	case !known:
		return mongoerr.Newf(mongoerr.BadValue, "Invalid key '%s' found in 'o'", name)
	case form == nil:
		return nil
	case name == "create" && !e.UUID.IsMissing():
		return c.applyCreate(db, e)
	case name == "renameCollection":
		db = "admin"
	}
	_, err := c.sub(db, form(e.O))
	return err
}

// sub runs another command as a part of this one and returns its reply.
func (c *Call) sub(db string, body value.Doc) (value.Doc, error) {
	inner := c.inner(db, body)
	if inner.cmd == nil {
		name, _ := body.First()
		return nil, unknownCommand(c, name)
	}
	if err := inner.cmd.run(inner); err != nil {
		return nil, err
	}
	return inner.reply.Doc(), nil
}

// inner is the Call of another command that is a part of this one; it has no
// command if there is none of the name.
func (c *Call) inner(db string, body value.Doc) *Call {
	name, _ := body.First()
	inner := *c
	inner.cmd, inner.DB, inner.Body, inner.sequences, inner.reply = c.svc.table[name], db, body, nil, value.NewBuilder()
	return &inner
}
