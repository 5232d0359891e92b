package commands

import (
	"errors"
	"strings"

	"github.com/duskdb/duskdb/commands/access"
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/create"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/commands/transaction"
	"github.com/duskdb/duskdb/commands/users"
	"github.com/duskdb/duskdb/commands/write"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/update"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// applyCreate applies a create with the UUID of the new collection, as mongorestore
// --preserveUUID sends it. If a collection with this UUID exists under another name, it
// is renamed.
func applyCreate(c *kernel.Call, db string, e *users.OplogEntryArgs) error {
	id, err := chosenUUID(e.UUID)
	if err != nil {
		return err
	}
	_, name := e.O.First()
	ns := storage.Namespace{DB: db, Coll: name.Str()}
	has, err := withUUID(c, id)
	switch {
	case err != nil:
		return err
	case has == nil:
		return create.WithUUID(inner(c, db, e.O), &id)
	case *has == ns:
		return nil
	case has.DB != db:
		return mongoerr.Newf(40655, "Invalid name %s for UUID %s", ns, e.UUID)
	}
	_, err = sub(c, "admin", value.NewDoc("renameCollection", value.String(has.String()), "to", value.String(ns.String())))
	return err
}

// chosenUUID reads a UUID for a new collection. It must be a random UUID (version 4), as
// servers make them.
func chosenUUID(v value.Value) (id [16]byte, err error) {
	_, b := v.Binary()
	if !args.IsUUID(v) || len(b) != len(id) {
		return id, catalog.ErrInvalidUUID
	}
	copy(id[:], b)
	if id[6]>>4 != 4 || id[8]>>6 != 2 {
		return id, mongoerr.Newf(mongoerr.InvalidUUID, "Invalid UUID in applyOps create command: %s", v)
	}
	return id, nil
}

// withUUID is the name of the collection that has a UUID, nil if there is no such collection.
func withUUID(c *kernel.Call, id [16]byte) (ns *storage.Namespace, err error) {
	err = c.View(func(tx storage.Tx) error {
		infos, err := tx.Collections("")
		if err != nil {
			return err
		}
		for _, info := range infos {
			if info.UUID == id {
				ns = &info.Namespace
				return nil
			}
		}
		return nil
	})
	return ns, err
}

// oplogCommands apply what another server logged.
func oplogCommands() []kernel.Command {
	return []kernel.Command{
		{Name: "applyOps", Run: runApplyOps, Flags: kernel.AdminOnly | kernel.Writes, Action: "applyOps", On: kernel.OnCluster, Help: "apply entries of an oplog"},
	}
}

// runApplyOps applies entries one after the other, up to the first that
// fails.
func runApplyOps(c *kernel.Call) error {
	var a users.ApplyOpsArgs
	if err := users.ApplyOpsSpec.Decode(c.Body, &a); err != nil {
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
	if _, err := demands(&a, 0); err != nil {
		return err
	}
	if err := a.Check(); err != nil {
		return err
	}
	results, err := applyAll(c, &a)
	if err != nil {
		return mongoerr.From(err).WithExtra("applied", value.Int32(int32(len(results)))).WithExtra("results", value.NewArray(results...))
	}
	c.Reply.Int32("applied", int32(len(results))).Append("results", value.NewArray(results...))
	return nil
}

// applyAll applies a list of entries and returns which of them succeeded. An
// update that finds nothing does not keep the entries behind it from being
// applied; any other error does. No-ops are passed over.
func applyAll(c *kernel.Call, a *users.ApplyOpsArgs) (results []value.Value, err error) {
	ops, err := entries(a)
	if err != nil {
		return nil, err
	}
	failed := false
	for i := range ops {
		if ops[i].Op == "n" {
			continue
		}
		err := applyEntry(c, a, &ops[i])
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

// entries reads the list of entries. Authorization and execution both use it, so that
// they see the same entries.
func entries(a *users.ApplyOpsArgs) ([]users.OplogEntryArgs, error) {
	for v := range value.Doc(a.Ops).Values() { // nulls are not skipped here
		if v.Kind() == value.KindNull {
			return nil, args.WrongType("applyOps", "applyOps", v, "object")
		}
	}
	docs, err := args.ArrayDocs("applyOps", "applyOps", a.Ops)
	if err != nil {
		return nil, err
	}
	ops := make([]users.OplogEntryArgs, len(docs))
	for i, d := range docs {
		if err := checkOplogEntry(d, i); err != nil {
			return nil, err
		}
		if err := users.OplogEntrySpec.DecodeNested("applyOps.applyOps", d, &ops[i]); err != nil {
			return nil, err
		}
		ops[i].Doc = d
	}
	return ops, nil
}

// checkOplogEntry refuses a list with a malformed entry, before any entry is applied. An
// entry of an unknown type, or one that cannot be applied, fails only when it is reached.
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

func applyEntry(c *kernel.Call, a *users.ApplyOpsArgs, e *users.OplogEntryArgs) error {
	switch {
	case e.Op != "i" && e.Op != "u" && e.Op != "d" && e.Op != "c":
		return mongoerr.Newf(mongoerr.BadValue, "Enumeration value '%s' for field 'OplogEntryBase.op' is not a valid value.", e.Op)
	case e.O == nil:
		return mongoerr.MissingField("OplogEntryBase.o")
	}
	db, coll, _ := strings.Cut(e.NS, ".")
	if err := catalog.CheckDatabase(db); err != nil {
		return mongoerr.Newf(mongoerr.InvalidNamespace, "invalid ns: '%s'", e.NS)
	}
	if e.Op == "c" {
		return applyCommand(c, a, db, e)
	}
	ns := storage.Namespace{DB: db, Coll: coll}
	if err := catalog.CheckNamespace(ns); err != nil {
		return err
	}
	err := c.Update(func(tx storage.Tx) error {
		ns, err := applyTarget(c, tx, a, e, ns)
		if err == nil {
			err = c.CheckWriteNamespace(ns)
		}
		if err != nil {
			return err
		}
		coll, err := tx.Collection(ns)
		if errors.Is(err, storage.ErrNotFound) {
			return e.Missing(ns)
		}
		if err != nil {
			return err
		}
		if err := write.CheckWritable(c, coll); err != nil {
			return err
		}
		return applyDocument(c, write.New(c, tx, coll, bool(a.Bypass)), e, e.Upserts())
	})
	return kernel.Translate(ns, err)
}

// applyTarget returns the collection of an entry. A collection that is named by its UUID
// may have been renamed since the command was authorized.
func applyTarget(c *kernel.Call, tx storage.Tx, a *users.ApplyOpsArgs, e *users.OplogEntryArgs, ns storage.Namespace) (storage.Namespace, error) {
	named, err := e.Collection(tx, ns)
	if err != nil || named == ns {
		return named, err
	}
	if c.Svc.Options.Security.Auth && !c.User.MayEverything() && users.MayApplyTo(c, a, e, named) != nil {
		return named, mongoerr.Newf(mongoerr.Unauthorized, "not authorized on %s to execute command %s", c.DB, access.Shown(c))
	}
	return named, nil
}

// applyDocument applies an entry to the document with its _id.
func applyDocument(c *kernel.Call, w *write.Writer, e *users.OplogEntryArgs, upsert bool) error {
	at := e.O
	if e.Op == "u" {
		at = e.O2
	}
	id, ok := at.Get("_id")
	if !ok {
		return mongoerr.Newf(mongoerr.NoSuchKey, "Failed to apply %s due to missing _id: %s", map[string]string{"i": "insert", "u": "update"}[e.Op], at)
	}
	r, found, err := w.Sight().ByID(id)
	if err != nil {
		return err
	}
	switch e.Op {
	case "i":
		d, err := write.PrepareInsert(c, e.O)
		if err != nil {
			return err
		}
		return put(w, r, found, d)
	case "d":
		if !found {
			return nil
		}
		return w.Remove(r)
	}
	return applyUpdate(c, w, e, r, found, upsert)
}

// put stores a document in the place of the one that was found, or anew.
func put(w *write.Writer, r storage.Record, found bool, d value.Doc) error {
	if found {
		return w.Replace(r, d)
	}
	_, err := w.Insert(d)
	return err
}

// applyUpdate applies a logged update: a difference, operators, or the whole
// new document.
func applyUpdate(c *kernel.Call, w *write.Writer, e *users.OplogEntryArgs, r storage.Record, found, upsert bool) error {
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
		if err := oplog.CheckDiff(diff); err != nil {
			return err
		}
		return put(w, r, found, oplog.ApplyDiff(before, diff))
	case !strings.HasPrefix(first, "$"):
		return put(w, r, found, e.O)
	}
	o := catalog.NewOptions(e.O)
	o.Set("$v", value.Value{})
	u, err := update.Compile(value.Document(o.Doc()), update.Options{Timestamp: func() value.Value { return transaction.NextTimestamp(c.Svc, c.Now) }})
	if err != nil {
		return err
	}
	d, _, err := u.Apply(expr.NewEnv(c.Now), before, update.ApplyOptions{Position: -1})
	if err != nil {
		return err
	}
	return put(w, r, found, d)
}

// applyCommand runs a logged command.
func applyCommand(c *kernel.Call, a *users.ApplyOpsArgs, db string, e *users.OplogEntryArgs) error {
	name, _ := e.O.First()
	form, known := users.LoggedCommands[name]
	switch {
	case name == "applyOps":
		inner, err := a.Nested(e.O)
		if err == nil {
			_, err = applyAll(c, inner)
		}
		return err
	case !known:
		return mongoerr.Newf(mongoerr.BadValue, "Invalid key '%s' found in 'o'", name)
	case form == nil:
		return nil
	case name == "create" && !e.UUID.IsMissing():
		return applyCreate(c, db, e)
	case name == "renameCollection":
		db = "admin"
	}
	_, err := sub(c, db, form(e.O))
	return err
}

// sub runs another command as a part of this one and returns its reply.
func sub(c *kernel.Call, db string, body value.Doc) (value.Doc, error) {
	inner := inner(c, db, body)
	if inner.Cmd == nil {
		name, _ := body.First()
		return nil, unknownCommand(c, name)
	}
	if err := inner.Cmd.Run(inner); err != nil {
		return nil, err
	}
	return inner.Reply.Doc(), nil
}

// inner is the Call of another command that is a part of this one; it has no
// command if the table has none of that name.
func inner(c *kernel.Call, db string, body value.Doc) *kernel.Call {
	name, _ := body.First()
	inner := *c
	inner.Cmd, inner.DB, inner.Body, inner.Sequences, inner.Reply = c.Svc.Table[name], db, body, nil, value.NewBuilder()
	return &inner
}
