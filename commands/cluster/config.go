package cluster

import (
	"crypto/sha256"
	"maps"
	"slices"

	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// shown makes the collections of kernel.MadeOnRead of the catalog. They look like views.
var shown = map[string]func(tx storage.Tx) ([]value.Doc, error){
	"shards": shards, "databases": databases, "collections": collections, "chunks": chunks,
	"tags": nothing, "changelog": nothing,
}

// View describes a collection of "config" that is made when it is read, nil for another one.
func View(c *kernel.Call, ns storage.Namespace) (*storage.Info, error) {
	if !c.Svc.IsMadeOnRead(ns) {
		return nil, nil
	}
	var docs []value.Doc
	err := c.View(func(tx storage.Tx) (err error) {
		docs, err = shown[ns.Coll](tx)
		return err
	})
	if err != nil {
		return nil, err
	}
	list := make([]value.Value, len(docs))
	for i, d := range docs {
		list[i] = value.Document(d)
	}
	literal := value.NewDoc("$literal", value.NewArray(list...))
	pipeline := value.NewArray(value.Document(value.NewDoc("$documents", value.Document(literal)))).Doc()
	return &storage.Info{Namespace: ns, Options: value.EmptyDoc, Meta: &catalog.Meta{Kind: catalog.View, Pipeline: pipeline}}, nil
}

func nothing(storage.Tx) ([]value.Doc, error) { return nil, nil }

// Shard describes the shard.
func Shard(tx storage.Tx) (value.Doc, error) {
	hosts, err := Hosts(tx)
	return value.NewDoc("_id", value.String(kernel.ShardName), "host", value.String(ConnectionString(hosts)), "state", value.Int32(1),
		"topologyTime", value.Timestamp(1, 1), "replSetConfigVersion", value.Int64(1)), err
}

func shards(tx storage.Tx) ([]value.Doc, error) {
	d, err := Shard(tx)
	return []value.Doc{d}, err
}

// databases lists the databases of users.
func databases(tx storage.Tx) (docs []value.Doc, err error) {
	infos, err := tx.Collections("")
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, info := range infos {
		names[info.Namespace.DB] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if name == "admin" || name == "config" || name == "local" {
			continue
		}
		docs = append(docs, value.NewDoc("_id", value.String(name), "primary", value.String(kernel.ShardName), "version", value.Document(DatabaseVersion(name))))
	}
	return docs, nil
}

// DatabaseVersion is the version of a database, which never changes, as the database does
// not move.
func DatabaseVersion(name string) value.Doc {
	sum := sha256.Sum256([]byte(name))
	uuid := sum[:16]
	uuid[6], uuid[8] = uuid[6]&0xf|0x40, uuid[8]&0x3f|0x80
	return value.NewDoc("uuid", value.Binary(4, uuid), "timestamp", value.Timestamp(1, 1), "lastMod", value.Int32(1))
}

// eachSharded calls fn with each sharded collection.
func eachSharded(tx storage.Tx, fn func(info *storage.Info, s *Sharded)) error {
	infos, err := tx.Collections("")
	if err != nil {
		return err
	}
	for _, info := range infos {
		s, err := KeyOf(tx, info)
		if err != nil {
			return err
		}
		if s != nil {
			fn(info, s)
		}
	}
	return nil
}

func collections(tx storage.Tx) (docs []value.Doc, err error) {
	err = eachSharded(tx, func(info *storage.Info, s *Sharded) {
		b := value.NewBuilder().String("_id", info.Namespace.String()).Append("lastmodEpoch", value.ObjectID(s.epoch)).Date("lastmod", s.since).
			Append("timestamp", s.at).Append("uuid", value.Binary(4, info.UUID[:])).Document("key", s.Key)
		if m := catalog.Of(info); m.Collation != nil {
			b.Document("defaultCollation", m.Collation.Doc())
		}
		docs = append(docs, b.Bool("unique", s.Unique).Bool("noBalance", false).Doc())
	})
	return docs, err
}

// chunks lists the one chunk of each sharded collection.
func chunks(tx storage.Tx) (docs []value.Doc, err error) {
	err = eachSharded(tx, func(info *storage.Info, s *Sharded) {
		low, high := value.NewBuilder(), value.NewBuilder()
		for name := range s.Key.All() {
			low.Append(name, value.MinKey())
			high.Append(name, value.MaxKey())
		}
		docs = append(docs, value.NewDoc("_id", value.ObjectID(s.epoch), "uuid", value.Binary(4, info.UUID[:]), "min", value.Document(low.Doc()), "max", value.Document(high.Doc()),
			"shard", value.String(kernel.ShardName), "lastmod", value.Timestamp(1, 0), "onCurrentShardSince", s.at,
			"history", value.NewArray(value.Document(value.NewDoc("validAfter", s.at, "shard", value.String(kernel.ShardName))))))
	})
	return docs, err
}

// Version returns the version of a sharded collection's placement, as getShardVersion shows
// it.
func (s *Sharded) Version(b *value.Builder) {
	b.Append("version", value.Timestamp(1, 0)).Append("versionEpoch", value.ObjectID(s.epoch)).Append("versionTimestamp", s.at)
}
