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
	"github.com/duskdb/duskdb/queue"
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
	if ns == oplogNS {
		return c.refuseDropOplog()
	}
	if ns.Coll == "system.profile" || !strings.HasPrefix(ns.Coll, "system.") || ns.Coll == "system.js" || ns.Coll == "system.views" || isBuckets(ns.Coll) {
		err = nil
	} else {
		return mongoerr.Newf(mongoerr.IllegalOperation, "can't drop system collection %s", ns)
	}
	var indexes int
	var existed, isView bool
	err = c.update(func(tx storage.Tx) error {
		coll, err := tx.Collection(ns)
		if errors.Is(err, storage.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		m := metaOf(coll.Info())
		existed, isView, indexes = true, m.kind == view, m.catalogued()
		return c.dropWith(tx, coll.Info())
	})
	if err != nil {
		return translate(ns, err)
	}
	if existed && !isView {
		c.reply.Int32("nIndexesWas", int32(indexes))
	}
	if existed {
		c.reply.String("ns", ns.String())
	}
	return nil
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
	DropDatabase value.Value `arg:"dropDatabase,required"`
}

var dropDatabaseSpec = newArgs[dropDatabaseArgs]("dropDatabase")

func runDropDatabase(c *Call) error {
	var a dropDatabaseArgs
	if err := dropDatabaseSpec.decode(c.Body, &a); err != nil {
		return err
	}
	if n, ok := a.DropDatabase.AsInt64(); !ok || n != 1 {
		return mongoerr.Newf(5255100, "Have to pass 1 as 'drop' parameter")
	}
	if c.DB == "local" && c.svc.inReplicaSet() {
		return mongoerr.New(mongoerr.IllegalOperation, "Cannot drop 'local' database while replication is active")
	}
	if c.DB == "admin" || c.DB == "config" || c.DB == "local" {
		return mongoerr.Newf(mongoerr.IllegalOperation, "Dropping the '%s' database is prohibited.", c.DB)
	}
	dropped := false
	err := c.update(func(tx storage.Tx) error {
		dropped = false
		for _, info := range tx.Collections(c.DB) {
			dropped = true
			c.noteQueueDrop(info)
			if err := tx.Drop(info.Namespace); err != nil {
				return err
			}
		}
		if dropped {
			c.recorder().dropDatabase(c.DB)
		}
		return nil
	})
	if err != nil {
		return translate(storage.Namespace{DB: c.DB}, err)
	}
	if dropped {
		c.reply.String("dropped", c.DB)
	}
	return nil
}

type renameArgs struct {
	From       string    `arg:"renameCollection,required"`
	To         string    `arg:"to,required"`
	DropTarget looseBool `arg:"dropTarget"`
	StayTemp   looseBool `arg:"stayTemp"`
}

var renameSpec = newArgs[renameArgs]("renameCollection")

func runRename(c *Call) error {
	var a renameArgs
	if err := renameSpec.decode(c.Body, &a); err != nil {
		return err
	}
	from, err := parseNamespace(a.From)
	if err != nil {
		return err
	}
	to, err := parseNamespace(a.To)
	if err != nil {
		return err
	}
	if from == to {
		return mongoerr.New(mongoerr.IllegalOperation, "Can't rename a collection to itself")
	}
	if err := checkRenameNames(from, to); err != nil {
		return err
	}
	err = c.update(func(tx storage.Tx) error { return c.rename(tx, from, to, bool(a.DropTarget)) })
	if err != nil {
		return translate(from, err)
	}
	return nil
}

func checkRenameNames(from, to storage.Namespace) error {
	switch oplogNS {
	case from:
		return mongoerr.New(mongoerr.IllegalOperation, "can't rename live oplog while replicating")
	case to:
		return mongoerr.New(mongoerr.IllegalOperation, "can't rename to live oplog while replicating")
	}
	for _, ns := range []storage.Namespace{from, to} {
		if strings.HasPrefix(ns.Coll, "system.") && !systemCollections[ns.Coll] {
			return mongoerr.Newf(mongoerr.IllegalOperation, "error with %s namespace: cannot rename system collections", ns)
		}
	}
	return nil
}

func (c *Call) rename(tx storage.Tx, from, to storage.Namespace, dropTarget bool) error {
	source, err := tx.Collection(from)
	if err != nil {
		if errors.Is(err, storage.ErrNotFound) {
			return mongoerr.Newf(mongoerr.NamespaceNotFound, "Source collection %s does not exist", from)
		}
		return err
	}
	switch metaOf(source.Info()).kind {
	case view:
		return mongoerr.Newf(mongoerr.CommandNotSupportedOnView, "cannot rename view: %s", from)
	case timeSeries:
		return mongoerr.Newf(mongoerr.IllegalOperation, "Renaming a timeseries collection is not allowed: %s", from)
	}
	target, err := tx.Collection(to)
	if err == nil {
		switch {
		case metaOf(target.Info()).kind == view:
			return mongoerr.Newf(mongoerr.NamespaceExists, "a view already exists with that name: %s", to)
		case !dropTarget:
			return mongoerr.New(mongoerr.NamespaceExists, "target namespace exists")
		}
		if err := c.dropWith(tx, target.Info()); err != nil {
			return err
		}
	} else if !errors.Is(err, storage.ErrNotFound) {
		return err
	}
	if metaOf(source.Info()).isQueue {
		return translate(to, queue.Rename(tx, from, to))
	}
	return tx.Rename(from, to)
}

type listCollectionsArgs struct {
	List     value.Value `arg:"listCollections"`
	Filter   value.Doc   `arg:"filter"`
	Cursor   value.Doc   `arg:"cursor"`
	NameOnly looseBool   `arg:"nameOnly"`
	Authed   looseBool   `arg:"authorizedCollections"`
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
	return c.firstBatch(cursorRequest{ns: ns, it: agg.Docs(kept...), batchSize: size})
}

// hiddenCollection tells the server's own collections, which no listing
// shows.
func hiddenCollection(ns storage.Namespace) bool { return strings.HasPrefix(ns.Coll, "$") }

// cursorBatch reads {batchSize: n} of the listing commands.
func cursorBatch(d value.Doc) (int64, error) {
	size := int64(1<<31 - 1)
	for name, v := range d.All() {
		if name != "batchSize" {
			return 0, mongoerr.Newf(40415, "BSON field 'cursor.%s' is an unknown field.", name)
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
	Authed   *bool       `arg:"authorizedDatabases"`
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
	c.reply.StartArray("databases")
	for _, name := range slices.Sorted(maps.Keys(sizes)) {
		d := value.NewDoc("name", value.String(name), "sizeOnDisk", value.Int64(sizes[name]), "empty", value.Bool(false))
		ok, err := m.Match(env, d)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if a.NameOnly {
			d = value.NewDoc("name", value.String(name))
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
