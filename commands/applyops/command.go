package applyops

import (
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/create"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// applyCommand runs a logged command.
func applyCommand(c *kernel.Call, a *arguments, db string, e *entry) error {
	name, _ := e.O.First()
	form, known := loggedCommands[name]
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
	if err := inner.Cmd.Run(inner); err != nil {
		return nil, err
	}
	return inner.Reply.Doc(), nil
}

// inner is the Call of another command of the table that is a part of this one.
func inner(c *kernel.Call, db string, body value.Doc) *kernel.Call {
	name, _ := body.First()
	inner := *c
	inner.Cmd, inner.DB, inner.Body, inner.Sequences, inner.Reply = c.Svc.Table[name], db, body, nil, value.NewBuilder()
	return &inner
}

// applyCreate applies a create with the UUID of the new collection, as mongorestore
// --preserveUUID sends it. If a collection with this UUID exists under another name, it
// is renamed.
func applyCreate(c *kernel.Call, db string, e *entry) error {
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
		ns = nil
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
