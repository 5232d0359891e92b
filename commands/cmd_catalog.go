package commands

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// catalogCommands make, change and list databases, collections and indexes.
func catalogCommands() []command {
	return []command{
		{name: "create", run: runCreate, flags: writes | inTxn, action: "createCollection", on: onCollection, help: "create a collection or view"},
		{name: "drop", run: runDrop, flags: writes, action: "dropCollection", on: onCollection, help: "drop a collection"},
		{name: "dropDatabase", run: runDropDatabase, flags: writes, action: "dropDatabase", on: onDatabase, help: "drop a database"},
		{name: "renameCollection", run: runRename, flags: adminOnly | writes, action: "renameCollection", on: onCluster, help: "rename a collection"},
		{name: "collMod", run: runCollMod, flags: writes, action: "collMod", on: onCollection, help: "change the options of a collection"},
		{name: "listCollections", run: runListCollections, action: "listCollections", on: onDatabase, help: "list the collections of a database"},
		{name: "listDatabases", run: runListDatabases, flags: adminOnly, action: "listDatabases", on: onCluster, help: "list the databases"},
		{name: "createIndexes", run: runCreateIndexes, flags: writes | inTxn, action: "createIndex", on: onCollection, help: "create indexes"},
		{name: "listIndexes", run: runListIndexes, action: "listIndexes", on: onCollection, help: "list the indexes of a collection"},
		{name: "dropIndexes", aliases: []string{"deleteIndexes"}, run: runDropIndexes, flags: writes, action: "dropIndex", on: onCollection, help: "drop indexes"},
	}
}

type dropArgs struct {
	Drop value.Value `arg:"drop,required"`
	UUID uuidArg     `arg:"collectionUUID"`
}

var dropSpec = newArgs[dropArgs]("drop")

// runDrop drops a collection or view, with what stands behind it. Dropping
// what does not exist succeeds.
func runDrop(c *Call) error {
	var a dropArgs
	if err := dropSpec.decode(c.Body, &a); err != nil {
		return err
	}
	ns, err := c.namespaceOf(a.Drop)
	if err != nil {
		return err
	}
	switch {
	case ns == oplogNS:
		return c.refuseDropOplog()
	case isSystem(ns.Coll) && ns.Coll != "system.profile" && ns.Coll != "system.js" && ns.Coll != "system.views" && !isBuckets(ns.Coll):
		return mongoerr.Newf(mongoerr.IllegalOperation, "can't drop system collection %s", ns)
	}
	var was dropped
	err = c.update(func(tx storage.Tx) (err error) {
		if err := checkUUID(tx, ns, a.UUID); err != nil {
			return err
		}
		was, err = c.dropNamed(tx, ns)
		return err
	})
	if err != nil {
		return translate(ns, err)
	}
	if was.indexes >= 0 && was.existed {
		c.reply.Int32("nIndexesWas", int32(was.indexes))
	}
	if was.existed {
		c.reply.String("ns", ns.String())
	}
	return nil
}

// dropped is what a drop has found.
type dropped struct {
	existed bool
	indexes int // of the collection; less than 0 for a view, which can have none
}

func (c *Call) dropNamed(tx storage.Tx, ns storage.Namespace) (was dropped, err error) {
	if ns.Coll == "system.views" {
		return dropViews(tx, ns.DB)
	}
	coll, err := tx.Collection(ns)
	if errors.Is(err, storage.ErrNotFound) {
		return was, nil
	}
	if err != nil {
		return was, err
	}
	was = dropped{existed: true, indexes: metaOf(coll.Info()).catalogued()}
	if metaOf(coll.Info()).kind == view {
		was.indexes = -1
	}
	return was, c.dropWith(tx, coll.Info())
}

// dropViews drops all views of a database: what dropping the collection that
// keeps their definitions comes to.
func dropViews(tx storage.Tx, db string) (was dropped, err error) {
	for _, info := range tx.Collections(db) {
		if metaOf(info).kind != view {
			continue
		}
		was = dropped{existed: true, indexes: 1}
		if err := tx.Drop(info.Namespace); err != nil {
			return was, err
		}
	}
	return was, nil
}

// refuseDropOplog tells why the change log stays.
func (c *Call) refuseDropOplog() error {
	if c.svc.inReplicaSet() {
		return mongoerr.New(5255000, "can't drop live oplog while replicating")
	}
	return mongoerr.New(5255001, "can't drop oplog on storage engines that support replSetResizeOplog command")
}

// dropWith drops a collection and those that exist only for it.
func (c *Call) dropWith(tx storage.Tx, info *storage.Info) error {
	c.svc.indexUse.forgetAll(info)
	if metaOf(info).isQueue {
		return c.dropQueue(tx, info)
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
	if metaOf(info).kind == timeSeries {
		return []storage.Namespace{{DB: ns.DB, Coll: bucketsPrefix + ns.Coll}}
	}
	return nil
}

type dropDatabaseArgs struct {
	DropDatabase int64 `arg:"dropDatabase,required"`
}

var dropDatabaseSpec = newArgs[dropDatabaseArgs]("dropDatabase")

func runDropDatabase(c *Call) error {
	var a dropDatabaseArgs
	if err := dropDatabaseSpec.decode(c.Body, &a); err != nil {
		return err
	}
	if a.DropDatabase != 1 {
		return mongoerr.Newf(5255100, "Have to pass 1 as 'drop' parameter")
	}
	if c.DB == "local" && c.svc.inReplicaSet() {
		return mongoerr.New(mongoerr.IllegalOperation, "Cannot drop 'local' database while replication is active")
	}
	if c.DB == "admin" || c.DB == "local" {
		return mongoerr.Newf(mongoerr.IllegalOperation, "Dropping the '%s' database is prohibited.", c.DB)
	}
	existed := false
	err := c.update(func(tx storage.Tx) error {
		existed = false
		for _, info := range tx.Collections(c.DB) {
			if unlogged(info.Namespace) && c.DB == "config" { // what the server keeps of itself
				continue
			}
			existed = true
			c.noteQueueDrop(info)
			c.svc.indexUse.forgetAll(info)
			if err := tx.Drop(info.Namespace); err != nil {
				return err
			}
		}
		if existed {
			c.recorder().dropDatabase(c.DB)
		}
		return nil
	})
	if err != nil {
		return translate(storage.Namespace{DB: c.DB}, err)
	}
	if existed {
		c.reply.String("dropped", c.DB)
	}
	return nil
}

type listCollectionsArgs struct {
	List     value.Value `arg:"listCollections"`
	Filter   value.Doc   `arg:"filter"`
	Cursor   value.Doc   `arg:"cursor"`
	NameOnly strictBool  `arg:"nameOnly"`
	Authed   strictBool  `arg:"authorizedCollections"`
	IncPend  looseBool   `arg:"includePendingDrops"`
}

var listCollectionsSpec = newArgs[listCollectionsArgs]("listCollections")

// listCollectionsCursor is what the cursors of listCollections seem to read.
const listCollectionsCursor = "$cmd.listCollections"

func runListCollections(c *Call) error {
	var a listCollectionsArgs
	if err := listCollectionsSpec.decode(c.Body, &a); err != nil {
		return err
	}
	m, err := match.Compile(a.Filter, match.Options{})
	if err != nil {
		return err
	}
	var docs []value.Doc
	err = c.view(func(tx storage.Tx) error {
		docs = nil
		views := false
		for _, info := range tx.Collections(c.DB) {
			if hiddenCollection(info.Namespace) || !c.listsCollection(info.Namespace) {
				continue
			}
			k := metaOf(info).kind
			views = views || k == view || k == timeSeries
			docs = append(docs, c.listedCollection(info, bool(a.NameOnly)))
		}
		if views {
			docs = append(docs, c.listedSystemViews(tx, bool(a.NameOnly)))
		}
		return nil
	})
	if err != nil {
		return err
	}
	env := expr.NewEnv(c.now)
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
	size, err := cursorBatch(a.Cursor)
	if err != nil {
		return err
	}
	ns := storage.Namespace{DB: c.DB, Coll: listCollectionsCursor}
	return c.firstBatch(cursorRequest{ns: ns, it: agg.Docs(kept...), batchSize: size, idFirst: true, singleBatch: int64(len(kept)) <= size})
}

// hiddenCollection tells the server's own collections, which no listing
// shows.
func hiddenCollection(ns storage.Namespace) bool { return strings.HasPrefix(ns.Coll, "$") }

// cursorBatch reads {batchSize: n} of the listing commands.
func cursorBatch(d value.Doc) (int64, error) {
	size := int64(1<<31 - 1)
	for name, v := range d.All() {
		if name != "batchSize" {
			return 0, mongoerr.Newf(mongoerr.IDLUnknownField, "BSON field 'cursor.%s' is an unknown field.", name)
		}
		if v.Kind() == value.KindNull || v.Kind() == value.KindUndefined {
			continue
		}
		if !v.IsNumber() {
			return 0, wrongType("cursor", "batchSize", v, numberTypes)
		}
		if size = v.SafeInt64(); size < 0 {
			return 0, mongoerr.Newf(mongoerr.BadValue, "BSON field 'batchSize' value must be >= 0, actual value '%d'", size)
		}
	}
	return size, nil
}

func (c *Call) listedCollection(info *storage.Info, nameOnly bool) value.Doc {
	m := metaOf(info)
	kindName := "collection"
	switch m.kind {
	case view:
		kindName = "view"
	case timeSeries:
		kindName = "timeseries"
	}
	var b value.Builder
	b.Reset(nil)
	b.String("name", info.Namespace.Coll).String("type", kindName)
	if nameOnly {
		return b.Doc()
	}
	b.Document("options", c.listedOptions(info))
	b.StartDocument("info").Bool("readOnly", m.kind == view)
	if m.kind != view && m.kind != timeSeries {
		b.Append("uuid", value.Binary(4, info.UUID[:]))
	}
	b.End()
	for _, spec := range m.listed {
		if spec.IsID() && m.kind != view && m.kind != timeSeries && m.clustered == nil {
			b.Document("idIndex", spec.Doc())
		}
	}
	return b.Doc()
}

// listedOptions are the options as listCollections shows them.
func (c *Call) listedOptions(info *storage.Info) value.Doc { return lastingOptions(info) }

// listedSystemViews stands for the collection in which mongod keeps the
// definitions of views.
func (c *Call) listedSystemViews(_ storage.Tx, nameOnly bool) value.Doc {
	var b value.Builder
	b.Reset(nil)
	b.String("name", "system.views").String("type", "collection")
	if !nameOnly {
		b.StartDocument("options").End()
		b.StartDocument("info").Bool("readOnly", false).End()
	}
	return b.Doc()
}

type listDatabasesArgs struct {
	List     value.Value `arg:"listDatabases"`
	Filter   value.Doc   `arg:"filter"`
	NameOnly looseBool   `arg:"nameOnly"`
	Authed   *strictBool `arg:"authorizedDatabases"`
}

var listDatabasesSpec = newArgs[listDatabasesArgs]("listDatabases")

func runListDatabases(c *Call) error {
	var a listDatabasesArgs
	if err := listDatabasesSpec.decode(c.Body, &a); err != nil {
		return err
	}
	m, err := match.Compile(a.Filter, match.Options{})
	if err != nil {
		return err
	}
	sizes, err := c.databaseSizes()
	if err != nil {
		return err
	}
	env, total := expr.NewEnv(c.now), int64(0)
	env.Bare = true
	c.reply.StartArray("databases")
	for _, name := range slices.Sorted(maps.Keys(sizes)) {
		d := value.NewDoc("name", value.String(name))
		if !a.NameOnly { // else a filter sees nothing but the name
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
		c.reply.Document("", d)
	}
	c.reply.End()
	if !a.NameOnly {
		c.reply.Int64("totalSize", total).Int64("totalSizeMb", total>>20)
	}
	return nil
}

// databaseSizes is the bytes of data and indexes of each database that the
// user is shown.
func (c *Call) databaseSizes() (map[string]int64, error) {
	sizes, listed := map[string]int64{}, map[string]bool{}
	return sizes, c.view(func(tx storage.Tx) error {
		for _, info := range tx.Collections("") {
			db := info.Namespace.DB
			if _, known := listed[db]; !known {
				listed[db] = c.listsDatabase(db) && databaseListed(tx, db)
			}
			if !listed[db] {
				continue
			}
			coll, err := tx.Collection(info.Namespace)
			if err != nil {
				continue
			}
			sizes[db] += coll.Size() + indexBytes(coll)
		}
		return nil
	})
}
