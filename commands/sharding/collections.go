package sharding

import (
	"errors"
	"strings"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/cluster"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/write"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// named is the collection, or the database, that the first field of a command names.
func named(c *kernel.Call) storage.Namespace {
	_, v := c.Body.First()
	db, coll, _ := strings.Cut(strings.Clone(v.Str()), ".")
	return storage.Namespace{DB: db, Coll: coll}
}

// fullName reads the first field of a command, which names a collection in full.
func fullName(c *kernel.Call) (storage.Namespace, error) {
	_, v := c.Body.First()
	if v.Kind() != value.KindString {
		return storage.Namespace{}, mongoerr.Newf(mongoerr.BadValue, "collection name has invalid type %s", v.Kind())
	}
	ns, err := catalog.ParseNamespace(strings.Clone(v.Str()))
	if err == nil && ns.Coll == "" {
		err = mongoerr.Newf(mongoerr.InvalidNamespace, "Invalid namespace specified '%s'", v.Str())
	}
	return ns, err
}

// shardedOrError returns how the collection is sharded that a command names.
func shardedOrError(c *kernel.Call) (*cluster.Sharded, *storage.Info, error) {
	ns, err := fullName(c)
	if err != nil {
		return nil, nil, err
	}
	info, err := exec.Lookup(c, ns)
	if err != nil {
		return nil, nil, err
	}
	var s *cluster.Sharded
	err = c.View(func(tx storage.Tx) error {
		s, err = cluster.KeyOf(tx, info)
		return err
	})
	if err == nil && s == nil {
		err = notSharded(ns)
	}
	return s, info, err
}

func notSharded(ns storage.Namespace) error {
	return mongoerr.Newf(mongoerr.NamespaceNotSharded, "Collection %s is not sharded.", ns)
}

type enableArgs struct {
	Enable  value.Value `arg:"enableSharding"`
	Lower   value.Value `arg:"enablesharding"`
	Primary *string     `arg:"primaryShard"`
}

var enableSpec = args.New[enableArgs]("enableSharding")

// runEnableSharding does nothing, as since MongoDB 6.0: all databases can have sharded
// collections.
func runEnableSharding(c *kernel.Call) error {
	var a enableArgs
	if err := enableSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	_, v := c.Body.First()
	if err := catalog.CheckDatabase(v.Str()); err != nil {
		return err
	}
	switch db := v.Str(); {
	case db == "admin" || db == "local":
		return mongoerr.Newf(mongoerr.InvalidOptions, "Cannot manually create database'%s'", db)
	case a.Primary != nil && *a.Primary != kernel.ShardName:
		return shardNotFound(value.String(*a.Primary))
	}
	return nil
}

type shardArgs struct {
	Shard      value.Value     `arg:"shardCollection"`
	Lower      value.Value     `arg:"shardcollection"`
	Key        value.Doc       `arg:"key,required"`
	Unique     bool            `arg:"unique"`
	Chunks     *int64          `arg:"numInitialChunks"`
	Presplit   args.StrictBool `arg:"presplitHashedZones"`
	Collation  value.Doc       `arg:"collation"`
	TimeSeries value.Doc       `arg:"timeseries"`
	UUID       args.UUID       `arg:"collectionUUID"`
	Implicit   *bool           `arg:"implicitlyCreateIndex"`
	Enforce    *bool           `arg:"enforceUniquenessCheck"`
}

var shardSpec = args.New[shardArgs]("shardCollection")

// maxChunks is how many chunks a collection may begin with on each shard.
const maxChunks = 8192

func (a *shardArgs) check(ns storage.Namespace) error {
	if err := checkKey(a.Key); err != nil {
		return err
	}
	switch {
	case ns.DB == "config":
		return mongoerr.New(mongoerr.IllegalOperation, "only special collections in the config db may be sharded")
	case ns.DB == "admin" || ns.DB == "local":
		return mongoerr.Newf(mongoerr.IllegalOperation, "can't shard '%s' database", ns.DB)
	case isHashed(a.Key) && a.Unique:
		return mongoerr.New(mongoerr.InvalidOptions, "Hashed shard keys cannot be declared unique. It's possible to ensure uniqueness on the hashed field by declaring an additional (non-hashed) unique index on the field.")
	case catalog.IsSystem(ns.Coll) && !reserved.IsBuckets(ns.Coll):
		return mongoerr.New(mongoerr.IllegalOperation, "can't shard system namespaces")
	case a.Chunks != nil && (*a.Chunks < 0 || *a.Chunks > maxChunks):
		return mongoerr.Newf(mongoerr.InvalidOptions, "numInitialChunks cannot be more than either: %d, %d * number of shards; or %d", maxChunks, maxChunks, 1_000_000)
	case a.Collation != nil && a.Collation.Lookup("locale").Str() != "simple":
		return mongoerr.Newf(mongoerr.BadValue, "The collation for shardCollection must be {locale: 'simple'}, but found: %s", a.Collation)
	}
	return nil
}

// runShardCollection gives a collection, which is made if it does not exist, a shard key.
func runShardCollection(c *kernel.Call) error {
	var a shardArgs
	if err := shardSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	ns, err := fullName(c)
	if err != nil {
		return err
	}
	if err := a.check(ns); err != nil {
		return err
	}
	if a.TimeSeries != nil {
		return mongoerr.Newf(mongoerr.CommandNotSupported, "%s with the option timeseries is not supported: create the time series first", c.Cmd.Name)
	}
	key := plainKey(a.Key)
	err = c.Update(func(tx storage.Tx) error {
		if err := catalog.CheckUUID(tx, ns, a.UUID); err != nil {
			return err
		}
		coll, err := toShard(c, tx, ns, &a)
		if err != nil {
			return err
		}
		if catalog.Of(coll.Info()).Kind == catalog.TimeSeries { // the key is about metadata and time, which the buckets index
			return cluster.PutKey(c, tx, coll.Info(), key, a.Unique)
		}
		was, err := cluster.KeyOf(tx, coll.Info())
		switch {
		case err != nil:
			return err
		case was != nil && string(was.Key) == string(key) && was.Unique == a.Unique:
			return nil
		case was != nil:
			return mongoerr.Newf(mongoerr.AlreadyInitialized, "sharding already enabled for collection %s", ns)
		}
		k := shardKey{ns: ns, key: key, unique: a.Unique, implicit: a.Implicit == nil || *a.Implicit, enforce: a.Enforce == nil || *a.Enforce}
		if err := k.ensureIndex(c, tx, coll); err != nil {
			return err
		}
		if err := cluster.PutKey(c, tx, coll.Info(), key, a.Unique); err != nil {
			return err
		}
		c.Recorder().ShardCollection(coll.Info(), key, a.Unique, a.Chunks)
		return nil
	})
	if err != nil {
		return kernel.Translate(ns, err)
	}
	c.Reply.String("collectionsharded", ns.String())
	return nil
}

// toShard opens the collection, or makes it.
func toShard(c *kernel.Call, tx storage.Tx, ns storage.Namespace, a *shardArgs) (storage.Collection, error) {
	coll, err := tx.Collection(ns)
	if errors.Is(err, storage.ErrNotFound) {
		if err := catalog.CheckDatabaseCase(tx, ns.DB); err != nil {
			return nil, err
		}
		return write.CollectionForInsert(c, tx, ns)
	}
	if err != nil {
		return nil, err
	}
	m := catalog.Of(coll.Info())
	switch {
	case m.Kind == catalog.View:
		return nil, catalog.NotOnView(ns)
	case m.Capped:
		return nil, mongoerr.New(mongoerr.InvalidOptions, "can't shard a capped collection")
	case m.Collation != nil && a.Collation == nil:
		return nil, mongoerr.Newf(mongoerr.BadValue, "Collection has default collation: %s. Must specify collation {locale: 'simple'}", m.Collation.Doc())
	}
	return coll, nil
}

type keyArgs struct {
	Refine  value.Value `arg:"refineCollectionShardKey"`
	Reshard value.Value `arg:"reshardCollection"`
	Unshard value.Value `arg:"unshardCollection"`
	Key     value.Doc   `arg:"key"`
	Unique  bool        `arg:"unique"`
	Enforce *bool       `arg:"enforceUniquenessCheck"`
	To      *string     `arg:"toShard"`
	Chunks  *int64      `arg:"numInitialChunks"`
	Collate value.Doc   `arg:"collation"`
	Same    *bool       `arg:"forceRedistribution"`
	UUID    args.UUID   `arg:"collectionUUID"`
}

var keySpec = args.New[keyArgs]("reshardCollection")

// changeKey gives a sharded collection another key, which check may refuse.
func changeKey(c *kernel.Call, implicit bool, check func(was, key value.Doc) error) error {
	var a keyArgs
	if err := keySpec.DecodeAs(c.Cmd.Name, c.Body, &a, true); err != nil {
		return err
	}
	if a.Key == nil {
		return mongoerr.Newf(mongoerr.IDLFailedToParse, "BSON field '%s.key' is missing but a required field", c.Cmd.Name)
	}
	ns, err := fullName(c)
	if err != nil {
		return err
	}
	if err := checkKey(a.Key); err != nil {
		return err
	}
	key := plainKey(a.Key)
	err = c.Update(func(tx storage.Tx) error {
		coll, err := tx.Collection(ns)
		if err != nil {
			return err
		}
		was, err := cluster.KeyOf(tx, coll.Info())
		switch {
		case err != nil:
			return err
		case was == nil:
			return notSharded(ns)
		case string(was.Key) == string(key):
			return nil
		}
		if err := check(was.Key, key); err != nil {
			return err
		}
		k := shardKey{ns: ns, key: key, unique: was.Unique, implicit: implicit, refined: true, reshard: implicit, enforce: a.Enforce == nil || *a.Enforce}
		if err := k.ensureIndex(c, tx, coll); err != nil {
			return err
		}
		return cluster.PutKey(c, tx, coll.Info(), key, was.Unique)
	})
	return kernel.Translate(ns, err)
}

// runRefineShardKey adds fields to a shard key. There must be an index for it.
func runRefineShardKey(c *kernel.Call) error {
	return changeKey(c, false, func(was, key value.Doc) error {
		if !isPrefix(was, key) {
			return mongoerr.Newf(mongoerr.InvalidOptions, "refineCollectionShardKey shard key %s does not extend the current shard key %s", key, was)
		}
		return nil
	})
}

// runReshardCollection gives a collection another shard key. An index that is missing is
// made.
func runReshardCollection(c *kernel.Call) error {
	return changeKey(c, true, func(value.Doc, value.Doc) error { return nil })
}

// runUnshardCollection takes a collection's shard key away.
func runUnshardCollection(c *kernel.Call) error {
	var a keyArgs
	if err := keySpec.DecodeAs(c.Cmd.Name, c.Body, &a, true); err != nil {
		return err
	}
	if a.To != nil && *a.To != kernel.ShardName {
		return shardNotFound(value.String(*a.To))
	}
	_, info, err := shardedOrError(c)
	if err != nil {
		return err
	}
	return c.Update(func(tx storage.Tx) error { return cluster.DropKey(tx, info) })
}

// runCheckMetadata finds nothing: there is one shard.
func runCheckMetadata(c *kernel.Call) error {
	size, err := args.BatchSize("checkMetadataConsistency.cursor", c.Body.Lookup("cursor").Doc(), args.WholeBatch)
	if err != nil {
		return err
	}
	ns := storage.Namespace{DB: c.DB, Coll: "$cmd.aggregate"}
	return exec.FirstBatch(c, exec.CursorRequest{NS: ns, It: agg.Docs(), BatchSize: size, IDFirst: true, SingleBatch: true})
}
