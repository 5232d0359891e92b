// Package serverdocs keeps the documents that the server writes for itself:
// settings, users, the configuration of the replica set, the numbers of queues.
// Each stands under its _id in a collection of the server's own, which is made
// with its first document.
//
// What is derived from such documents and kept in memory belongs into a
// [Cache], which reads them again when they have changed.
//
// # Caches
//
// [storage.Engine].Stamp returns a number that changes with every commit to a collection and
// costs about 40 ns. What is kept in memory of settings, cluster parameters, users, roles
// and the configuration of the replica set remembers the stamp that it was read at and is
// read again once the stamp differs, so that no writer has to announce a change. If such a
// read fails, the command that needed it fails, and the next one tries again. The records of
// retryable writes are found through a map from session to record id, because each write of
// a session changes the stamp of their collection.
package serverdocs

import (
	"errors"

	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// IDIndex is the specification of the index on _id.
var IDIndex = storage.IndexSpec{Name: reserved.IDIndex, Spec: value.NewDoc(
	"v", value.Int32(2), "key", value.Document(value.NewDoc("_id", value.Int32(1))), "name", value.String(reserved.IDIndex))}

// Open opens a collection, and makes it if it is missing: with an index on
// _id, and with further indexes if any are given.
func Open(tx storage.Tx, ns storage.Namespace, further ...storage.IndexSpec) (storage.Collection, error) {
	coll, err := existing(tx, ns)
	if coll != nil || err != nil {
		return coll, err
	}
	return tx.Create(ns, value.EmptyDoc, append([]storage.IndexSpec{IDIndex}, further...))
}

// AddIndexes gives a collection that an earlier version has made, if there is one, the
// indexes that it lacks. Of documents with equal keys in a unique index the latest stays.
func AddIndexes(tx storage.Tx, ns storage.Namespace, specs ...storage.IndexSpec) error {
	coll, err := existing(tx, ns)
	for i := 0; i < len(specs) && coll != nil && err == nil; {
		if coll.Info().Index(specs[i].Name) != nil {
			i++
			continue
		}
		err = tx.CreateIndex(ns, specs[i])
		if twice := (*storage.DuplicateKeyError)(nil); errors.As(err, &twice) {
			_, err = coll.Delete(twice.Existing)
		}
		if err == nil {
			coll, err = existing(tx, ns)
		}
	}
	return err
}

// existing opens a collection, or nil.
func existing(tx storage.Tx, ns storage.Namespace) (storage.Collection, error) {
	coll, err := tx.Collection(ns)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	return coll, err
}

// Entry is a document with its place, within a transaction.
type Entry struct {
	// Doc is the document as it was found, or nil.
	Doc value.Doc

	tx   storage.Tx
	ns   storage.Namespace
	coll storage.Collection // nil if it does not exist yet
	id   storage.RecordID   // 0 while there is no document
}

// Find looks for the document with an _id.
func Find(tx storage.Tx, ns storage.Namespace, id value.Value) (Entry, error) {
	e := Entry{tx: tx, ns: ns}
	var err error
	if e.coll, err = existing(tx, ns); e.coll == nil || err != nil {
		return e, err
	}
	var key [64]byte // most are shorter
	r, ok, err := e.coll.Find(reserved.IDIndex, value.AppendKey(key[:0], id))
	if ok && err == nil {
		e.id, e.Doc = r.ID, r.Doc
	}
	return e, err
}

// Exists reports whether the document is stored.
func (e *Entry) Exists() bool { return e.id != 0 }

// IsFirst reports whether there is no collection, so that Put will make it.
func (e *Entry) IsFirst() bool { return e.coll == nil }

// Place returns the UUID of the collection and the id of the record, of a document that
// exists.
func (e *Entry) Place() (coll [16]byte, id storage.RecordID) { return e.coll.Info().UUID, e.id }

// Put stores the document, which has the _id of the entry. now is the instant
// of writing.
func (e *Entry) Put(d value.Doc, now int64) (err error) {
	if e.id != 0 {
		_, err = e.coll.Update(e.id, d, now)
		return err
	}
	if e.coll == nil {
		if e.coll, err = Open(e.tx, e.ns); err != nil {
			return err
		}
	}
	e.id, err = e.coll.Insert(d, now)
	return err
}

// Delete removes the document, if there is one.
func (e *Entry) Delete() error {
	if e.id == 0 {
		return nil
	}
	_, err := e.coll.Delete(e.id)
	if err == nil {
		e.id = 0
	}
	return err
}

// DeleteAndDrop removes the document, if there is one, and the collection with
// the last.
func (e *Entry) DeleteAndDrop() error {
	if e.id == 0 {
		return nil
	}
	others, err := e.coll.Count()
	if err != nil {
		return err
	}
	if others > 1 {
		return e.Delete()
	}
	err = e.tx.Drop(e.ns)
	if err == nil {
		e.id, e.coll = 0, nil
	}
	return err
}

// Get reads the document with an _id, or nil.
func Get(tx storage.Tx, ns storage.Namespace, id value.Value) (value.Doc, error) {
	e, err := Find(tx, ns, id)
	return e.Doc, err
}

// Put stores a document, in the place of the one with the same _id.
func Put(tx storage.Tx, ns storage.Namespace, d value.Doc, now int64) error {
	e, err := Find(tx, ns, d.Lookup("_id"))
	if err != nil {
		return err
	}
	return e.Put(d, now)
}

// PutOnly stores a document in a collection that has one at most, whatever the
// _id of the one before was.
func PutOnly(tx storage.Tx, ns storage.Namespace, d value.Doc, now int64) error {
	coll, err := Open(tx, ns)
	if err != nil {
		return err
	}
	var old []storage.RecordID
	if err := coll.Scan(storage.Range{}, func(r storage.Record) bool { old = append(old, r.ID); return true }); err != nil {
		return err
	}
	for _, id := range old {
		if _, err := coll.Delete(id); err != nil {
			return err
		}
	}
	_, err = coll.Insert(d, now)
	return err
}

// Only reads the document of a collection that has one at most; nil if the
// collection is empty.
func Only(tx storage.Tx, ns storage.Namespace) (value.Doc, error) {
	docs, err := All(tx, ns)
	if len(docs) == 0 || err != nil {
		return nil, err
	}
	return docs[len(docs)-1], nil
}

// All reads the documents of a collection, which need not exist, in the order
// in which they were made.
func All(tx storage.Tx, ns storage.Namespace) (docs []value.Doc, err error) {
	coll, err := existing(tx, ns)
	if coll == nil || err != nil {
		return nil, err
	}
	err = coll.Scan(storage.Range{}, func(r storage.Record) bool {
		docs = append(docs, r.Doc)
		return true
	})
	return docs, err
}

// Any reports whether a collection has a document.
func Any(tx storage.Tx, ns storage.Namespace) (bool, error) {
	coll, err := existing(tx, ns)
	if coll == nil || err != nil {
		return false, err
	}
	n, err := coll.Count()
	return n > 0, err
}
