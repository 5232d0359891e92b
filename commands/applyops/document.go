package applyops

import (
	"errors"
	"strings"

	"github.com/duskdb/duskdb/commands/access"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/commands/transaction"
	"github.com/duskdb/duskdb/commands/write"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/update"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// applyEntry applies one entry: to a document, or as a command.
func applyEntry(c *kernel.Call, a *arguments, e *entry) error {
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
func applyTarget(c *kernel.Call, tx storage.Tx, a *arguments, e *entry, ns storage.Namespace) (storage.Namespace, error) {
	named, err := e.Collection(tx, ns)
	if err != nil || named == ns {
		return named, err
	}
	if c.Svc.Options.Security.Auth && !c.User.MayEverything() && mayApplyTo(c, a, e, named) != nil {
		return named, mongoerr.Newf(mongoerr.Unauthorized, "not authorized on %s to execute command %s", c.DB, access.Shown(c))
	}
	return named, nil
}

// applyDocument applies an entry to the document with its _id.
func applyDocument(c *kernel.Call, w *write.Writer, e *entry, upsert bool) error {
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
func applyUpdate(c *kernel.Call, w *write.Writer, e *entry, r storage.Record, found, upsert bool) error {
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
