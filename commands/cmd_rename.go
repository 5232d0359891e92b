package commands

import (
	"errors"
	"strings"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

type renameArgs struct {
	From       string      `arg:"renameCollection,required"`
	To         string      `arg:"to,required"`
	DropTarget value.Value `arg:"dropTarget"`
	StayTemp   strictBool  `arg:"stayTemp"`
	UUID       uuidArg     `arg:"collectionUUID"`
}

var renameSpec = newArgs[renameArgs]("renameCollection")

// renaming is what a renameCollection is asked to do.
type renaming struct {
	from, to   storage.Namespace
	uuid       uuidArg
	dropTarget bool
	targetUUID uuidArg // that the target must have; implies dropTarget
}

func runRename(c *Call) error {
	var a renameArgs
	if err := renameSpec.decode(c.Body, &a); err != nil {
		return err
	}
	r := renaming{uuid: a.UUID}
	if err := r.readDropTarget(c.Body.Lookup("dropTarget")); err != nil {
		return err
	}
	var err error
	if r.from, err = renamedNamespace("source", a.From); err != nil {
		return err
	}
	if r.to, err = renamedNamespace("target", a.To); err != nil {
		return err
	}
	if err := r.check(); err != nil {
		return err
	}
	if err := c.update(func(tx storage.Tx) error { return c.rename(tx, &r) }); err != nil {
		return translate(r.from, err)
	}
	return nil
}

// readDropTarget reads a bool, or the UUID of the collection that may be dropped.
func (r *renaming) readDropTarget(v value.Value) error {
	switch v.Kind() {
	case value.Missing:
	case value.KindBool:
		r.dropTarget = v.Bool()
	case value.KindBinary:
		if _, data := v.Binary(); !isUUID(v) || len(data) != 16 {
			return errNoUUID
		}
		r.dropTarget, r.targetUUID = true, uuidArg(v)
	default:
		return wrongType("renameCollection", "dropTarget", v, "bool, UUID")
	}
	return nil
}

// renamedNamespace reads a name; which says whether it is the source or the target.
func renamedNamespace(which, full string) (storage.Namespace, error) {
	db, coll, _ := strings.Cut(full, ".")
	ns := storage.Namespace{DB: db, Coll: coll}
	switch {
	case isSystem(coll), db == "local" && strings.HasPrefix(coll, "oplog.") && ns != oplogNS:
		return ns, mongoerr.Newf(mongoerr.IllegalOperation, "error with %s namespace: cannot rename system collections: %s", which, full)
	case strings.Contains(full, "$"), len(full) > maxNamespaceName:
		return ns, mongoerr.Newf(mongoerr.IllegalOperation, "error with %s namespace: Invalid namespace: %s", which, full)
	}
	return parseNamespace(full)
}

func (r *renaming) check() error {
	switch {
	case r.from == r.to:
		return mongoerr.New(mongoerr.IllegalOperation, "Can't rename a collection to itself")
	case r.from == oplogNS:
		return mongoerr.New(mongoerr.IllegalOperation, "can't rename live oplog while replicating")
	case r.to == oplogNS:
		return mongoerr.New(mongoerr.IllegalOperation, "can't rename to live oplog while replicating")
	case r.targetUUID.given() && r.from.DB != r.to.DB:
		return mongoerr.New(mongoerr.InvalidOptions, "dropTarget cannot be a UUID when renaming between databases")
	case r.uuid.given() && r.from.DB != r.to.DB:
		return mongoerr.New(mongoerr.InvalidOptions, "The collectionUUID parameter is not allowed when renaming between databases")
	}
	return nil
}

func (c *Call) rename(tx storage.Tx, r *renaming) error {
	if err := checkUUID(tx, r.from, r.uuid); err != nil {
		return err
	}
	if err := checkUUID(tx, r.to, r.targetUUID); err != nil {
		return err
	}
	source, err := tx.Collection(r.from)
	if err != nil {
		if errors.Is(err, storage.ErrNotFound) {
			return mongoerr.Newf(mongoerr.NamespaceNotFound, "Source collection %s does not exist", r.from)
		}
		return err
	}
	if metaOf(source.Info()).readThrough() {
		return mongoerr.Newf(mongoerr.CommandNotSupportedOnView, "cannot rename view: %s", r.from)
	}
	if err := c.makeRoom(tx, r); err != nil {
		return err
	}
	if metaOf(source.Info()).isQueue {
		return translate(r.to, queue.Rename(tx, r.from, r.to))
	}
	return tx.Rename(r.from, r.to)
}

// makeRoom drops the collection that has the new name, if that is wanted.
func (c *Call) makeRoom(tx storage.Tx, r *renaming) error {
	target, err := tx.Collection(r.to)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return nil
	case err != nil:
		return err
	case metaOf(target.Info()).readThrough():
		return mongoerr.Newf(mongoerr.NamespaceExists, "a view already exists with that name: %s", r.to)
	case !r.dropTarget:
		return mongoerr.New(mongoerr.NamespaceExists, "target namespace exists")
	}
	return c.dropWith(tx, target.Info())
}
