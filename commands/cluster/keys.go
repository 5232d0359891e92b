package cluster

import (
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/serverdocs"
	"github.com/duskdb/duskdb/value"
)

// keysNamespace has the shard keys, by the UUIDs of their collections: a key stays with a
// collection that is renamed, and a collection that is made anew has none.
var keysNamespace = storage.Namespace{DB: "config", Coll: "$shardKeys"}

// Sharded says how a collection is sharded.
type Sharded struct {
	Key    value.Doc
	Unique bool
	epoch  value.OID   // changes with the key
	at     value.Value // timestamp
	since  int64       // milliseconds
}

// KeyOf returns how a collection is sharded, nil if it is not.
func KeyOf(tx storage.Tx, info *storage.Info) (*Sharded, error) {
	if info == nil {
		return nil, nil
	}
	d, err := serverdocs.Get(tx, keysNamespace, value.Binary(4, info.UUID[:]))
	if d == nil || err != nil {
		return nil, err
	}
	return &Sharded{
		Key: d.Lookup("key").Doc(), Unique: d.Lookup("unique").Truthy(),
		epoch: d.Lookup("epoch").ObjectID(), at: d.Lookup("timestamp"), since: d.Lookup("since").DateTime(),
	}, nil
}

// PutKey stores the shard key of a collection, and forgets those of collections that no
// longer exist.
func PutKey(c *kernel.Call, tx storage.Tx, info *storage.Info, key value.Doc, unique bool) error {
	if err := forgetDropped(tx); err != nil {
		return err
	}
	sec := uint32(c.Now / 1000)
	d := value.NewDoc("_id", value.Binary(4, info.UUID[:]), "key", value.Document(key), "unique", value.Bool(unique),
		"epoch", value.ObjectID(value.NewOID(c.Now)), "timestamp", value.Timestamp(sec, 1), "since", value.DateTime(c.Now))
	return serverdocs.Put(tx, keysNamespace, d, c.Now)
}

// DropKey makes a collection one that is not sharded.
func DropKey(tx storage.Tx, info *storage.Info) error {
	e, err := serverdocs.Find(tx, keysNamespace, value.Binary(4, info.UUID[:]))
	if err != nil || !e.Exists() {
		return err
	}
	return e.Delete()
}

func forgetDropped(tx storage.Tx) error {
	stored, err := serverdocs.All(tx, keysNamespace)
	if err != nil || len(stored) == 0 {
		return err
	}
	infos, err := tx.Collections("")
	if err != nil {
		return err
	}
	live := map[string]bool{}
	for _, info := range infos {
		live[string(info.UUID[:])] = true
	}
	for _, d := range stored {
		_, uuid := d.Lookup("_id").Binary()
		if live[string(uuid)] {
			continue
		}
		e, err := serverdocs.Find(tx, keysNamespace, d.Lookup("_id"))
		if err == nil && e.Exists() {
			err = e.Delete()
		}
		if err != nil {
			return err
		}
	}
	return nil
}
