package ddl

import (
	"errors"
	"strings"

	"github.com/duskdb/duskdb/commands/access"
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// renamesUserCollection reports whether the collection is in a database of users.
func renamesUserCollection(c *kernel.Call) bool {
	return kernel.UserDatabase(access.SplitNamespace(c.Body.Lookup("renameCollection").Str()).DB)
}

type renameArgs struct {
	From       string          `arg:"renameCollection,required"`
	To         string          `arg:"to,required"`
	DropTarget value.Value     `arg:"dropTarget"`
	StayTemp   args.StrictBool `arg:"stayTemp"`
	UUID       args.UUID       `arg:"collectionUUID"`
}

var renameSpec = args.New[renameArgs]("renameCollection")

// renaming is a renameCollection with its arguments.
type renaming struct {
	from, to   storage.Namespace
	uuid       args.UUID
	dropTarget bool
	targetUUID args.UUID // the required UUID of the target; implies dropTarget
}

func runRename(c *kernel.Call) error {
	var a renameArgs
	if err := renameSpec.Decode(c.Body, &a); err != nil {
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
	if err := c.Update(func(tx storage.Tx) error { return rename(c, tx, &r) }); err != nil {
		return kernel.Translate(r.from, err)
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
		if _, data := v.Binary(); !args.IsUUID(v) || len(data) != 16 {
			return catalog.ErrInvalidUUID
		}
		r.dropTarget, r.targetUUID = true, args.UUID(v)
	default:
		return args.WrongType("renameCollection", "dropTarget", v, "bool, UUID")
	}
	return nil
}

// renamedNamespace reads a name. which says whether it is the source or the target.
func renamedNamespace(which, full string) (storage.Namespace, error) {
	db, coll, _ := strings.Cut(full, ".")
	ns := storage.Namespace{DB: db, Coll: coll}
	switch {
	case catalog.IsSystem(coll), db == "local" && strings.HasPrefix(coll, "oplog.") && ns != oplog.Namespace:
		return ns, mongoerr.Newf(mongoerr.IllegalOperation, "error with %s namespace: cannot rename system collections: %s", which, full)
	case strings.Contains(full, "$"), len(full) > catalog.MaxNamespaceName:
		return ns, mongoerr.Newf(mongoerr.IllegalOperation, "error with %s namespace: Invalid namespace: %s", which, full)
	}
	return catalog.ParseNamespace(full)
}

func (r *renaming) check() error {
	switch {
	case r.from == r.to:
		return mongoerr.New(mongoerr.IllegalOperation, "Can't rename a collection to itself")
	case r.from == oplog.Namespace:
		return mongoerr.New(mongoerr.IllegalOperation, "can't rename live oplog while replicating")
	case r.to == oplog.Namespace:
		return mongoerr.New(mongoerr.IllegalOperation, "can't rename to live oplog while replicating")
	case r.targetUUID.Given() && r.from.DB != r.to.DB:
		return mongoerr.New(mongoerr.InvalidOptions, "dropTarget cannot be a UUID when renaming between databases")
	case r.uuid.Given() && r.from.DB != r.to.DB:
		return mongoerr.New(mongoerr.InvalidOptions, "The collectionUUID parameter is not allowed when renaming between databases")
	}
	return nil
}

func rename(c *kernel.Call, tx storage.Tx, r *renaming) error {
	if err := catalog.CheckUUID(tx, r.from, r.uuid); err != nil {
		return err
	}
	if err := catalog.CheckUUID(tx, r.to, r.targetUUID); err != nil {
		return err
	}
	source, err := tx.Collection(r.from)
	if err != nil {
		if errors.Is(err, storage.ErrNotFound) {
			return mongoerr.Newf(mongoerr.NamespaceNotFound, "Source collection %s does not exist", r.from)
		}
		return err
	}
	if catalog.Of(source.Info()).ReadThrough() {
		return mongoerr.Newf(mongoerr.CommandNotSupportedOnView, "cannot rename view: %s", r.from)
	}
	if err := makeRoom(c, tx, r); err != nil {
		return err
	}
	if catalog.Of(source.Info()).IsQueue {
		return kernel.Translate(r.to, c.Svc.Queues.Rename(tx, c.QueueChanges(), r.from, r.to, c.Now))
	}
	return tx.Rename(r.from, r.to)
}

// makeRoom drops the collection that has the new name, if the command has dropTarget.
func makeRoom(c *kernel.Call, tx storage.Tx, r *renaming) error {
	target, err := tx.Collection(r.to)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return nil
	case err != nil:
		return err
	case catalog.Of(target.Info()).ReadThrough():
		return mongoerr.Newf(mongoerr.NamespaceExists, "a view already exists with that name: %s", r.to)
	case !r.dropTarget:
		return mongoerr.New(mongoerr.NamespaceExists, "target namespace exists")
	}
	return dropWith(c, tx, target.Info())
}
