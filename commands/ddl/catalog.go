package ddl

import (
	"errors"
	"maps"
	"slices"

	"github.com/duskdb/duskdb/commands/access"
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/create"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/observe"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/commands/pipeline"
	"github.com/duskdb/duskdb/commands/write"
	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

type dropArgs struct {
	Drop value.Value `arg:"drop,required"`
	UUID args.UUID   `arg:"collectionUUID"`
}

var dropSpec = args.New[dropArgs]("drop")

// runDrop drops a collection or view, with what stands behind it. Dropping
// what does not exist succeeds.
func runDrop(c *kernel.Call) error {
	var a dropArgs
	if err := dropSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	ns, err := c.NamespaceOf(a.Drop)
	if err != nil {
		return err
	}
	switch {
	case ns == oplog.Namespace:
		return refuseDropOplog(c)
	case catalog.IsSystem(ns.Coll) && ns.Coll != "system.profile" && ns.Coll != "system.js" && ns.Coll != catalog.SystemViews && !reserved.IsBuckets(ns.Coll):
		return mongoerr.Newf(mongoerr.IllegalOperation, "can't drop system collection %s", ns)
	}
	var was dropped
	err = c.Update(func(tx storage.Tx) (err error) {
		if err := catalog.CheckUUID(tx, ns, a.UUID); err != nil {
			return err
		}
		was, err = dropNamed(c, tx, ns)
		return err
	})
	if err != nil {
		return kernel.Translate(ns, err)
	}
	if was.indexes >= 0 && was.existed {
		c.Reply.Int32("nIndexesWas", int32(was.indexes))
	}
	if was.existed {
		c.Reply.String("ns", ns.String())
	}
	return nil
}

// dropped is the collection or view that a drop has found.
type dropped struct {
	existed bool
	indexes int // number of indexes; less than 0 for a view
}

func dropNamed(c *kernel.Call, tx storage.Tx, ns storage.Namespace) (was dropped, err error) {
	if ns.Coll == catalog.SystemViews {
		return dropViews(tx, ns.DB)
	}
	coll, err := tx.Collection(ns)
	if errors.Is(err, storage.ErrNotFound) {
		return was, nil
	}
	if err != nil {
		return was, err
	}
	was = dropped{existed: true, indexes: catalog.Of(coll.Info()).IndexCount()}
	if catalog.Of(coll.Info()).Kind == catalog.View {
		was.indexes = -1
	}
	return was, dropWith(c, tx, coll.Info())
}

// dropViews drops all views of a database. It is what dropping system.views does.
func dropViews(tx storage.Tx, db string) (was dropped, err error) {
	infos, err := tx.Collections(db)
	if err != nil {
		return was, err
	}
	for _, info := range infos {
		if catalog.Of(info).Kind != catalog.View {
			continue
		}
		was = dropped{existed: true, indexes: 1}
		if err := tx.Drop(info.Namespace); err != nil {
			return was, err
		}
	}
	return was, nil
}

// refuseDropOplog returns the error for dropping the change log.
func refuseDropOplog(c *kernel.Call) error {
	if c.Svc.Replicated() {
		return mongoerr.New(5255000, "can't drop live oplog while replicating")
	}
	return mongoerr.New(5255001, "can't drop oplog on storage engines that support replSetResizeOplog command")
}

// dropWith drops a collection and those that exist only for it.
func dropWith(c *kernel.Call, tx storage.Tx, info *storage.Info) error {
	if catalog.Of(info).IsQueue {
		return write.DropQueue(c, tx, info)
	}
	for _, ns := range companions(info) {
		if err := tx.Drop(ns); err != nil && !errors.Is(err, storage.ErrNotFound) {
			return err
		}
	}
	if err := forgetOffer(tx, info); err != nil {
		return err
	}
	return tx.Drop(info.Namespace)
}

// companions are the collections that belong to another one: the buckets of
// a time series.
func companions(info *storage.Info) []storage.Namespace {
	ns := info.Namespace
	if catalog.Of(info).Kind == catalog.TimeSeries {
		return []storage.Namespace{{DB: ns.DB, Coll: reserved.Buckets(ns.Coll)}}
	}
	return nil
}

type dropDatabaseArgs struct {
	DropDatabase int64 `arg:"dropDatabase,required"`
}

var dropDatabaseSpec = args.New[dropDatabaseArgs]("dropDatabase")

func runDropDatabase(c *kernel.Call) error {
	var a dropDatabaseArgs
	if err := dropDatabaseSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	if a.DropDatabase != 1 {
		return mongoerr.Newf(5255100, "Have to pass 1 as 'drop' parameter")
	}
	if c.DB == "local" && c.Svc.Replicated() {
		return mongoerr.New(mongoerr.IllegalOperation, "Cannot drop 'local' database while replication is active")
	}
	if c.DB == "admin" || c.DB == "local" {
		return mongoerr.Newf(mongoerr.IllegalOperation, "Dropping the '%s' database is prohibited.", c.DB)
	}
	existed := false
	err := c.Update(func(tx storage.Tx) error {
		existed = false
		infos, err := tx.Collections(c.DB)
		if err != nil {
			return err
		}
		for _, info := range infos {
			if oplog.Unlogged(info.Namespace) && c.DB == "config" { // what the server keeps of itself
				continue
			}
			existed = true
			write.NoteQueueDrop(c, info)
			if err := tx.Drop(info.Namespace); err != nil {
				return err
			}
		}
		if existed {
			c.Recorder().DropDatabase(c.DB)
		}
		return nil
	})
	if err != nil {
		return kernel.Translate(storage.Namespace{DB: c.DB}, err)
	}
	c.Svc.Profiler.Forget(c.DB)
	if existed && !c.Svc.Dialect().Has(dialect.DropDatabaseSilent) {
		c.Reply.String("dropped", c.DB)
	}
	return nil
}

type listCollectionsArgs struct {
	List     value.Value     `arg:"listCollections"`
	Filter   value.Doc       `arg:"filter"`
	Cursor   value.Doc       `arg:"cursor"`
	NameOnly args.StrictBool `arg:"nameOnly"`
	Authed   args.StrictBool `arg:"authorizedCollections"`
	IncPend  args.LooseBool  `arg:"includePendingDrops"`
}

var listCollectionsSpec = args.New[listCollectionsArgs]("listCollections")

// ListCollectionsCursor is what the cursors of listCollections seem to read.
const ListCollectionsCursor = "$cmd.listCollections"

func runListCollections(c *kernel.Call) error {
	var a listCollectionsArgs
	if err := listCollectionsSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	size, err := args.BatchSize("listCollections.cursor", a.Cursor, args.WholeBatch)
	if err != nil {
		return err
	}
	m, err := match.Compile(a.Filter, match.Options{Scope: c.Svc.RootScope()})
	if err != nil {
		return err
	}
	var docs []value.Doc
	err = c.View(func(tx storage.Tx) error {
		docs = nil
		infos, err := catalog.List(tx, c.DB)
		if err != nil {
			return err
		}
		for _, info := range infos {
			if err := c.Interrupted(); err != nil {
				return err
			}
			if pipeline.HiddenCollection(info.Namespace) || !access.ListsCollection(c, info.Namespace) {
				continue
			}
			docs = append(docs, listedCollection(c, info, bool(a.NameOnly)))
		}
		if c.DB == "config" && c.Svc.InCluster() {
			docs = append(docs, listedOfCluster(c, bool(a.NameOnly))...)
		}
		return nil
	})
	if err != nil {
		return err
	}
	env := expr.NewEnv(c.Now)
	env.Bare = true
	kept := docs[:0]
	for _, d := range docs {
		ok, err := m.Match(env, d)
		if err != nil {
			return err
		}
		if ok {
			kept = append(kept, d)
		}
	}
	ns := storage.Namespace{DB: c.DB, Coll: ListCollectionsCursor}
	return exec.FirstBatch(c, exec.CursorRequest{NS: ns, It: exec.Known(kept), BatchSize: size, IDFirst: true})
}

func listedCollection(c *kernel.Call, info *storage.Info, nameOnly bool) value.Doc {
	var b value.Builder
	b.Reset(nil)
	b.String("name", info.Namespace.Coll).String("type", catalog.Of(info).Kind.Type())
	if !nameOnly {
		appendListed(c, &b, info)
	}
	return b.Doc()
}

// appendListed appends what a listing says of a collection besides its name and type.
func appendListed(c *kernel.Call, b *value.Builder, info *storage.Info) {
	m := catalog.Of(info)
	b.Document("options", create.ListedOptions(c, info))
	b.StartDocument("info").Bool("readOnly", m.Kind == catalog.View)
	if m.Kind != catalog.View && m.Kind != catalog.TimeSeries {
		b.Append("uuid", value.Binary(4, info.UUID[:]))
	}
	b.End()
	for _, spec := range m.Listed {
		if spec.IsID() && m.Kind != catalog.View && m.Kind != catalog.TimeSeries && m.Clustered == nil {
			b.Document("idIndex", spec.Doc())
		}
	}
}

// listedOfCluster describes the collections of "config" that are made when they are read.
func listedOfCluster(c *kernel.Call, nameOnly bool) (docs []value.Doc) {
	for _, name := range kernel.MadeOnRead {
		if !access.ListsCollection(c, storage.Namespace{DB: "config", Coll: name}) {
			continue
		}
		b := value.NewBuilder().String("name", name).String("type", "collection")
		if !nameOnly {
			b.StartDocument("options").End()
			b.StartDocument("info").Bool("readOnly", true).End()
		}
		docs = append(docs, b.Doc())
	}
	return docs
}

type listDatabasesArgs struct {
	List     value.Value      `arg:"listDatabases"`
	Filter   value.Doc        `arg:"filter"`
	NameOnly args.LooseBool   `arg:"nameOnly"`
	Authed   *args.StrictBool `arg:"authorizedDatabases"`
}

var listDatabasesSpec = args.New[listDatabasesArgs]("listDatabases")

func runListDatabases(c *kernel.Call) error {
	var a listDatabasesArgs
	if err := listDatabasesSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	m, err := match.Compile(a.Filter, match.Options{Scope: c.Svc.RootScope()})
	if err != nil {
		return err
	}
	sizes, err := databaseSizes(c)
	if err != nil {
		return err
	}
	env, total := expr.NewEnv(c.Now), int64(0)
	env.Bare = true
	c.Reply.StartArray("databases")
	for _, name := range slices.Sorted(maps.Keys(sizes)) {
		d := value.NewDoc("name", value.String(name))
		if !a.NameOnly { // with nameOnly a filter sees only the name
			d = value.NewDoc("name", value.String(name), "sizeOnDisk", value.Int64(sizes[name]), "empty", value.Bool(false))
		}
		ok, err := m.Match(env, d)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		total += sizes[name]
		c.Reply.Document("", d)
	}
	c.Reply.End()
	if !a.NameOnly {
		c.Reply.Int64("totalSize", total).Int64("totalSizeMb", total>>20)
	}
	return nil
}

// databaseSizes returns the size of data and indexes, in bytes, of each database that the
// user may see.
func databaseSizes(c *kernel.Call) (map[string]int64, error) {
	sizes, listed := map[string]int64{}, map[string]bool{}
	return sizes, c.View(func(tx storage.Tx) error {
		clear(sizes)
		clear(listed)
		infos, err := catalog.List(tx, "")
		if err != nil {
			return err
		}
		for _, info := range infos {
			db := info.Namespace.DB
			if _, known := listed[db]; !known {
				there, err := databaseListed(tx, db)
				if err != nil {
					return err
				}
				listed[db] = there && access.ListsDatabase(c, db)
			}
			if !listed[db] {
				continue
			}
			coll, err := catalog.Open(tx, info.Namespace)
			if err != nil {
				return err
			}
			size, err := coll.Size()
			if err != nil {
				return err
			}
			indexes, err := observe.IndexBytes(coll)
			if err != nil {
				return err
			}
			sizes[db] += size + indexes
		}
		return nil
	})
}

// OpenListClusterCatalog opens $listClusterCatalog: the collections of a database, or on
// admin of all, that the client may list. None of them is sharded.
func OpenListClusterCatalog(h *pipeline.Environment, _ *agg.Exec, s agg.Special) (agg.Iterator, error) {
	c, db := h.Exec.Running(), s.DB
	if db == "admin" {
		db = "" // all
	}
	return pipeline.ListCollections(c, db, func(info *storage.Info) value.Doc {
		if !access.ListsCollection(c, info.Namespace) {
			return nil
		}
		return clusterEntry(c, info, s.Spec)
	})
}

// clusterEntry is what $listClusterCatalog says of a collection.
func clusterEntry(c *kernel.Call, info *storage.Info, options value.Doc) value.Doc {
	b := value.NewBuilder()
	b.String("ns", info.Namespace.String()).String("db", info.Namespace.DB).String("type", catalog.Of(info).Kind.Type())
	appendListed(c, b, info)
	b.Bool("sharded", false)
	if options.Lookup("tracked").Truthy() {
		b.Bool("tracked", false)
	}
	if options.Lookup("shards").Truthy() {
		b.StartArray("shards").End()
	}
	return b.Doc()
}
