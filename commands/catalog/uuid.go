package catalog

import (
	"bytes"
	"crypto/rand"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// ErrNoUUID is for what looks like a UUID but is none.
var ErrNoUUID = mongoerr.New(mongoerr.InvalidUUID, "uuid must be a 16-byte binary field with UUID (4) subtype")

// CheckUUID is expectUUID within a transaction of the engine.
func CheckUUID(tx storage.Tx, ns storage.Namespace, u args.UUIDArg) error {
	_, want := value.Value(u).Binary()
	if !u.Given() {
		return nil
	}
	if len(want) != 16 {
		return ErrNoUUID
	}
	if coll, err := tx.Collection(ns); err == nil {
		if id := coll.Info().UUID; bytes.Equal(id[:], want) {
			return nil
		}
	}
	actual := value.Null()
	for _, other := range tx.Collections(ns.DB) {
		if bytes.Equal(other.UUID[:], want) {
			actual = value.String(other.Namespace.Coll)
		}
	}
	return mongoerr.New(mongoerr.CollectionUUIDMismatch, "Collection UUID does not match that specified").
		WithExtra("db", value.String(ns.DB)).
		WithExtra("collectionUUID", value.Value(u)).
		WithExtra("expectedCollection", value.String(ns.Coll)).
		WithExtra("actualCollection", actual)
}

// NewUUID makes a random UUID.
func NewUUID() (id [16]byte) {
	_, _ = rand.Read(id[:]) // never fails
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return id
}
