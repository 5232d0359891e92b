package commands

import (
	"errors"

	"github.com/duskdb/duskdb/index"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// cappedCommands turn collections into capped ones.
func cappedCommands() []command {
	return []command{
		{name: "cloneCollectionAsCapped", run: runCloneAsCapped, flags: writes, action: "convertToCapped", on: onCollection, help: "copy a collection into a new capped one"},
		{name: "convertToCapped", run: runConvertToCapped, flags: writes, action: "convertToCapped", on: onCollection, help: "make a collection capped"},
	}
}

type cloneAsCappedArgs struct {
	From string `arg:"cloneCollectionAsCapped,required"`
	To   string `arg:"toCollection,required"`
	Size int64  `arg:"size,required"`
	Temp bool   `arg:"temp"`
}

type convertToCappedArgs struct {
	Coll value.Value `arg:"convertToCapped,required"`
	Size int64       `arg:"size,required"`
}

var (
	cloneAsCappedSpec   = newArgs[cloneAsCappedArgs]("cloneCollectionAsCapped")
	convertToCappedSpec = newArgs[convertToCappedArgs]("convertToCapped")
)

func runCloneAsCapped(c *Call) error {
	var a cloneAsCappedArgs
	if err := cloneAsCappedSpec.decode(c.Body, &a); err != nil {
		return err
	}
	from, to := storage.Namespace{DB: c.DB, Coll: a.From}, storage.Namespace{DB: c.DB, Coll: a.To}
	if a.From == "" || a.To == "" || a.Size == 0 {
		return mongoerr.New(mongoerr.InvalidOptions, "invalid command spec")
	}
	if err := checkNamespace(from); err != nil {
		return err
	}
	if err := checkUserNamespace(to); err != nil {
		return err
	}
	if err := checkCappedSize(a.Size); err != nil {
		return err
	}
	err := c.update(func(tx storage.Tx) error {
		if _, err := tx.Collection(to); err == nil {
			return mongoerr.Newf(mongoerr.NamespaceExists, "cloneCollectionAsCapped failed - destination collection %s already exists. source collection: %s", to, from)
		} else if !errors.Is(err, storage.ErrNotFound) {
			return err
		}
		return c.copyCapped(tx, from, to, a.Size)
	})
	if err != nil {
		return translate(from, err)
	}
	return nil
}

// runConvertToCapped puts a capped copy in the place of a collection. Of its
// indexes only that on _id stays, as in mongod.
func runConvertToCapped(c *Call) error {
	var a convertToCappedArgs
	if err := convertToCappedSpec.decode(c.Body, &a); err != nil {
		return err
	}
	ns, err := c.writeNamespace(a.Coll)
	if err != nil {
		return err
	}
	if err := checkCappedSize(a.Size); err != nil {
		return err
	}
	copied := storage.Namespace{DB: ns.DB, Coll: "tmp" + value.NewOID(c.now).Hex() + ".convertToCapped"}
	err = c.update(func(tx storage.Tx) error {
		if err := c.copyCapped(tx, ns, copied, a.Size); err != nil {
			return err
		}
		if err := tx.Drop(ns); err != nil {
			return err
		}
		return tx.Rename(copied, ns)
	})
	if err != nil {
		return translate(ns, err)
	}
	c.svc.cursors.killWhere(func(cur *cursor) bool { return cur.ns == ns && !cur.awaitData })
	return nil
}

func checkCappedSize(n int64) error {
	switch {
	case n <= 0:
		return mongoerr.New(mongoerr.BadValue, "Capped collection size must be greater than zero")
	case n > mostCappedBytes:
		return mongoerr.New(mongoerr.BadValue, "size cannot exceed 1 PB")
	}
	return nil
}

// copyCapped makes a capped collection of the newest documents of another
// that find room in it.
func (c *Call) copyCapped(tx storage.Tx, from, to storage.Namespace, size int64) error {
	source, err := tx.Collection(from)
	if errors.Is(err, storage.ErrNotFound) {
		return mongoerr.Newf(mongoerr.NamespaceNotFound, "source collection %s does not exist", from)
	}
	if err != nil {
		return err
	}
	m := metaOf(source.Info())
	switch {
	case m.kind == view || m.kind == timeSeries:
		return mongoerr.Newf(mongoerr.CommandNotSupportedOnView, "cloneCollectionAsCapped not supported for views: %s", from)
	case m.clustered != nil || m.isQueue || m.docTTL != nil:
		return mongoerr.Newf(mongoerr.InvalidOptions, "%s cannot be capped", from)
	}
	o := newOptions(source.Info().Options)
	o.set("capped", value.Bool(true))
	o.set("size", value.Int(size))
	o.set("max", value.Value{})
	id := index.IDSpec(source.Info().Options.Lookup("collation").Doc()).Stored()
	target, err := tx.Create(to, o.doc(), []storage.IndexSpec{id})
	if err != nil {
		return err
	}
	left := source.Size()
	var failed error
	err = source.Scan(storage.Range{}, func(r storage.Record) bool {
		if left -= int64(len(r.Doc)); left+int64(len(r.Doc)) > size {
			return true
		}
		_, failed = target.Insert(r.Doc, r.TS)
		return failed == nil
	})
	return errors.Join(err, failed)
}
