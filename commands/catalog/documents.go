package catalog

import (
	"errors"

	"github.com/duskdb/duskdb/index"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Ensure opens one of the server's own collections, making it if
// needed.
func Ensure(tx storage.Tx, ns storage.Namespace, withID bool) (storage.Collection, error) {
	coll, err := tx.Collection(ns)
	if !errors.Is(err, storage.ErrNotFound) {
		return coll, err
	}
	var indexes []storage.IndexSpec
	if withID {
		indexes = append(indexes, index.IDSpec(nil).Stored())
	}
	return tx.Create(ns, value.EmptyDoc, indexes)
}

// OnlyDocument is the document of a collection that has one; nil: it has none.
func OnlyDocument(tx storage.Tx, ns storage.Namespace) (d value.Doc, err error) {
	coll, err := tx.Collection(ns)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	err = coll.Scan(storage.Range{Reverse: true}, func(r storage.Record) bool {
		d = r.Doc.Clone()
		return false
	})
	return d, err
}

// KeepOnly makes a document the only one of a collection.
func KeepOnly(tx storage.Tx, ns storage.Namespace, d value.Doc, now int64) error {
	coll, err := tx.Collection(ns)
	if errors.Is(err, storage.ErrNotFound) {
		coll, err = tx.Create(ns, value.EmptyDoc, []storage.IndexSpec{index.IDSpec(nil).Stored()})
	}
	if err != nil {
		return err
	}
	var old []storage.RecordID
	if err := coll.Scan(storage.Range{}, func(r storage.Record) bool { old = append(old, r.ID); return true }); err != nil {
		return err
	}
	for _, id := range old {
		if err := coll.Delete(id); err != nil {
			return err
		}
	}
	_, err = coll.Insert(d, now)
	return err
}
