package catalog

import (
	"bytes"
	"crypto/rand"
	"errors"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// ErrInvalidUUID (207) is the error for a binary value of the subtype of UUIDs that does
// not have 16 bytes.
var ErrInvalidUUID = mongoerr.New(mongoerr.InvalidUUID, "uuid must be a 16-byte binary field with UUID (4) subtype")

// CheckUUID fails with CollectionUUIDMismatch (361) unless the collection at ns has the
// UUID that the client gave, if it gave one.
func CheckUUID(tx storage.Tx, ns storage.Namespace, u args.UUID) error {
	_, want := value.Value(u).Binary()
	if !u.Given() {
		return nil
	}
	if len(want) != 16 {
		return ErrInvalidUUID
	}
	coll, err := Open(tx, ns)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return err
	}
	if err == nil {
		if id := coll.Info().UUID; bytes.Equal(id[:], want) {
			return nil
		}
	}
	actual := value.Null()
	infos, err := List(tx, ns.DB)
	if err != nil {
		return err
	}
	for _, other := range infos {
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

// NewUUID returns a random UUID (version 4).
func NewUUID() (id [16]byte) {
	_, _ = rand.Read(id[:]) // never fails
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return id
}
