package ddl

import (
	"cmp"
	"errors"
	"strings"

	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/create"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/query/index"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// These two are not read by IDL in mongod: they take any further field, and a
// size that is not a number counts as missing.

func runCloneAsCapped(c *kernel.Call) error {
	from, err := cappedName(c, "cloneCollectionAsCapped")
	if err != nil {
		return err
	}
	to, err := cappedName(c, "toCollection")
	if err != nil {
		return err
	}
	size, err := cappedSize(c)
	if err != nil {
		return err
	}
	if err := catalog.CheckUserNamespace(to); err != nil {
		return err
	}
	err = c.Update(func(tx storage.Tx) error {
		taken, err := tx.Collection(to)
		switch {
		case err == nil && catalog.Of(taken.Info()).ReadThrough():
			return mongoerr.Newf(mongoerr.CommandNotSupportedOnView, "cloneCollectionAsCapped not supported for views: %s", to)
		case err == nil:
			return mongoerr.Newf(mongoerr.NamespaceExists, "cloneCollectionAsCapped failed - destination collection %s already exists. source collection: %s", to, from)
		case !errors.Is(err, storage.ErrNotFound):
			return err
		}
		return copyCapped(c, tx, from, to, size)
	})
	if err != nil {
		return kernel.Translate(from, err)
	}
	return nil
}

// runConvertToCapped puts a capped copy in the place of a collection. Of its
// indexes only that on _id stays, as in mongod.
func runConvertToCapped(c *kernel.Call) error {
	ns, err := cappedName(c, "convertToCapped")
	if err != nil {
		return err
	}
	size, err := cappedSize(c)
	if err != nil {
		return err
	}
	copied := storage.Namespace{DB: ns.DB, Coll: "tmp" + value.NewOID(c.Now).Hex()[19:] + ".convertToCapped." + ns.Coll}
	err = c.Update(func(tx storage.Tx) error {
		if _, err := tx.Collection(ns); err == nil && len(copied.String()) > catalog.MaxNamespaceName {
			return mongoerr.Newf(mongoerr.InvalidNamespace, "Fully qualified namespace is too long. Namespace: %s Max: %d", copied, catalog.MaxNamespaceName)
		}
		if err := copyCapped(c, tx, ns, copied, size); err != nil {
			return err
		}
		if err := tx.Drop(ns); err != nil {
			return err
		}
		return tx.Rename(copied, ns)
	})
	if err != nil {
		return kernel.Translate(ns, err)
	}
	c.Svc.Cursors.KillWhere(func(cur *kernel.Cursor) bool { return cur.NS == ns && !cur.AwaitData })
	return nil
}

// cappedName reads a collection out of a field.
func cappedName(c *kernel.Call, field string) (storage.Namespace, error) {
	v := c.Body.Lookup(field)
	ns := storage.Namespace{DB: c.DB, Coll: strings.Clone(v.Str())}
	switch {
	case v.Kind() != value.KindString && field == "convertToCapped":
		return ns, mongoerr.Newf(mongoerr.InvalidNamespace, "collection name has invalid type %s", v.Kind())
	case v.Kind() != value.KindString:
		return ns, mongoerr.Newf(mongoerr.TypeMismatch, "%q had the wrong type. Expected string, found %s", field, v.Kind())
	case ns.Coll == "" || ns.Coll[0] == '.' || strings.IndexByte(ns.Coll, 0) >= 0:
		return ns, mongoerr.Newf(mongoerr.InvalidNamespace, "Invalid namespace specified '%s'", ns)
	case reserved.IsBuckets(ns.Coll):
		return ns, mongoerr.Newf(mongoerr.IllegalOperation, "%s is not supported on the buckets of a time-series collection: %s", c.Cmd.Name, ns)
	case field == "cloneCollectionAsCapped" && strings.Contains(ns.Coll, "$"):
		return ns, mongoerr.Newf(mongoerr.InvalidNamespace, "Invalid source namespace: %s", ns)
	case field != "convertToCapped":
	case ns.Coll == catalog.SystemViews:
		return ns, mongoerr.Newf(mongoerr.BadValue, "cannot %s %s", c.Cmd.Name, ns)
	case ns == oplog.Namespace, ns.Coll == "system.profile":
		return ns, mongoerr.Newf(mongoerr.InvalidNamespace, "cannot write to %s", ns)
	}
	return ns, nil
}

func cappedSize(c *kernel.Call) (int64, error) {
	n := int64(0)
	if v := c.Body.Lookup("size"); v.IsNumber() {
		n = v.SafeInt64()
	}
	switch {
	case n <= 0:
		return 0, mongoerr.New(mongoerr.InvalidOptions, "Capped collection size must be greater than zero")
	case n > create.MaxCappedBytes:
		return 0, mongoerr.New(mongoerr.BadValue, "size cannot exceed 1 PB")
	}
	return n, nil
}

// copyCapped makes a capped collection with the newest documents of another one, as many
// as fit.
func copyCapped(c *kernel.Call, tx storage.Tx, from, to storage.Namespace, size int64) error {
	source, err := tx.Collection(from)
	if errors.Is(err, storage.ErrNotFound) {
		return mongoerr.Newf(mongoerr.NamespaceNotFound, "source collection %s does not exist", from)
	}
	if err != nil {
		return err
	}
	m := catalog.Of(source.Info())
	switch {
	case m.Kind == catalog.View || m.Kind == catalog.TimeSeries:
		return mongoerr.Newf(mongoerr.CommandNotSupportedOnView, "cloneCollectionAsCapped not supported for views: %s", from)
	case m.IsQueue || m.DocTTL != nil || m.Clustered != nil && source.Info().Options.Has("expireAfterSeconds"):
		return mongoerr.Newf(mongoerr.InvalidOptions, "%s cannot be capped", from)
	}
	o := catalog.NewOptions(source.Info().Options)
	o.Set("capped", value.Bool(true))
	o.Set("size", value.Int(size))
	o.Set("max", value.Value{})
	o.Set("clusteredIndex", value.Value{})
	id := index.IDSpec(source.Info().Options.Lookup("collation").Doc()).Stored()
	target, err := tx.Create(to, o.Doc(), []storage.IndexSpec{id})
	if err != nil {
		return err
	}
	left, err := source.Size()
	if err != nil {
		return err
	}
	var failed error
	n := 0
	err = source.Scan(storage.Range{}, func(r storage.Record) bool {
		if n++; n%1024 == 0 {
			if failed = c.Interrupted(); failed != nil {
				return false
			}
		}
		if left -= int64(len(r.Doc)); left+int64(len(r.Doc)) > size {
			return true
		}
		_, failed = target.Insert(r.Doc, r.TS)
		return failed == nil
	})
	return cmp.Or(failed, err)
}
