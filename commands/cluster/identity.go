package cluster

import (
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/serverdocs"
	"github.com/duskdb/duskdb/value"
)

// versionNamespace has the id of the cluster.
var versionNamespace = storage.Namespace{DB: "config", Coll: "version"}

// KeepIdentity gives the cluster an id, unless it has one.
func KeepIdentity(s *kernel.Service) error {
	if !s.InCluster() {
		return nil
	}
	known := false
	err := s.Engine.View(s.Background, func(tx storage.Tx) (err error) {
		known, err = serverdocs.Any(tx, versionNamespace)
		return err
	})
	if known || err != nil {
		return err
	}
	id := value.ObjectID(value.NewOID(s.Clock.NowMillis()))
	return storage.Retry(s.Background, s.Engine, func(tx storage.Tx) error {
		if known, err := serverdocs.Any(tx, versionNamespace); known || err != nil {
			return err
		}
		return serverdocs.Put(tx, versionNamespace, value.NewDoc("_id", value.Int32(1), "clusterId", id), s.Clock.NowMillis())
	})
}
