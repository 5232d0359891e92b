package commands

import (
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// applyCreate applies a create that says which UUID the collection is to have:
// that which it has where the entry comes from, as mongorestore
// --preserveUUID sends it. A collection that has the UUID already is the one
// that was meant, whatever it is called.
func (c *Call) applyCreate(db string, e *oplogEntryArgs) error {
	id, err := chosenUUID(e.UUID)
	if err != nil {
		return err
	}
	_, name := e.O.First()
	ns := storage.Namespace{DB: db, Coll: name.Str()}
	has, err := c.withUUID(id)
	switch {
	case err != nil:
		return err
	case has == nil:
		return c.inner(db, e.O).create(&id)
	case *has == ns:
		return nil
	case has.DB != db:
		return mongoerr.Newf(40655, "Invalid name %s for UUID %s", ns, e.UUID)
	}
	_, err = c.sub("admin", value.NewDoc("renameCollection", value.String(has.String()), "to", value.String(ns.String())))
	return err
}

// chosenUUID reads a UUID for a new collection, which must be a random one, as
// those that a server makes.
func chosenUUID(v value.Value) (id [16]byte, err error) {
	_, b := v.Binary()
	if !isUUID(v) || len(b) != len(id) {
		return id, errNoUUID
	}
	copy(id[:], b)
	if id[6]>>4 != 4 || id[8]>>6 != 2 {
		return id, mongoerr.Newf(mongoerr.InvalidUUID, "Invalid UUID in applyOps create command: %s", v)
	}
	return id, nil
}

// withUUID is the name of the collection that has a UUID, nil if there is none.
func (c *Call) withUUID(id [16]byte) (ns *storage.Namespace, err error) {
	err = c.view(func(tx storage.Tx) error {
		for _, info := range tx.Collections("") {
			if info.UUID == id {
				ns = &info.Namespace
				return nil
			}
		}
		return nil
	})
	return ns, err
}
