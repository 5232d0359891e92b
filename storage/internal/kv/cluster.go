package kv

import (
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/keydiff"
)

// ClusterTx is what a transaction must do besides if other servers use the store, too.
type ClusterTx interface {
	// Working is called at each attempt to write.
	Working()
	// CheckCatalog makes sure that the catalog of the transaction is that of the state
	// that it reads.
	CheckCatalog() error
	// Exact returns a collection, whose statistics may be outdated, with exact ones.
	Exact(c *Coll) (*Coll, error)
	// Estimates reports whether statistics that are not exact may differ from those of
	// the store.
	Estimates() bool
	// AnyLastID reports whether the last id of a collection is not known yet.
	AnyLastID() bool
	// Holder returns the record that has an Order in a unique index, or 0.
	Holder(c *Coll, x *Index, order []byte) (storage.RecordID, error)
	ClusterClaims
}

// ClusterClaims are the claims that all servers see. The Check methods are for Updates: they
// fail if a snapshot transaction of another server has the claim. The others are for
// snapshot transactions: they claim, and fail if another transaction has the claim or if
// what is claimed has changed since the snapshot.
type ClusterClaims interface {
	CheckUse(ns storage.Namespace) error
	CheckName(ns storage.Namespace) error
	CheckRecord(num uint32, id storage.RecordID) error
	// ClaimUse is called before the first write to a collection. current reports whether
	// it has seen that the collection is still described as in the snapshot.
	ClaimUse(ns storage.Namespace, c *Coll) (current bool, err error)
	ClaimName(ns storage.Namespace) error
	ClaimRecord(num uint32, id storage.RecordID) error
	// ClaimKeys claims the keys that are added to unique indexes; an Update checks them.
	ClaimKeys(c *Coll, diffs []keydiff.Change) error
	// EndClaims releases the claims of a snapshot transaction, unless its commit has.
	EndClaims()
}
