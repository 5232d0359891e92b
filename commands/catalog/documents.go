package catalog

import (
	"errors"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// EnsurePlain opens a collection of the server's own whose records are found by
// their ids alone, and makes it without any index if it is missing.
func EnsurePlain(tx storage.Tx, ns storage.Namespace) (storage.Collection, error) {
	coll, err := tx.Collection(ns)
	if errors.Is(err, storage.ErrNotFound) {
		return tx.Create(ns, value.EmptyDoc, nil)
	}
	return coll, err
}
