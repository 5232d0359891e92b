package commands

import (
	"bytes"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// uuidArg is an argument that must be a UUID: collectionUUID, by which a client
// says which collection it takes the one of that name for.
type uuidArg value.Value

func (u uuidArg) given() bool { return !value.Value(u).IsMissing() }

func isUUID(v value.Value) bool {
	subtype, _ := v.Binary()
	return v.Kind() == value.KindBinary && subtype == 4
}

// errNoUUID is for what looks like a UUID but is none.
var errNoUUID = mongoerr.New(mongoerr.InvalidUUID, "uuid must be a 16-byte binary field with UUID (4) subtype")

// expectUUID refuses to go on if the collection has not the UUID that the
// client expects, or does not exist.
func (c *Call) expectUUID(ns storage.Namespace, u uuidArg) error {
	if !u.given() {
		return nil
	}
	return c.view(func(tx storage.Tx) error { return checkUUID(tx, ns, u) })
}

// checkUUID is expectUUID within a transaction of the engine.
func checkUUID(tx storage.Tx, ns storage.Namespace, u uuidArg) error {
	_, want := value.Value(u).Binary()
	if !u.given() {
		return nil
	}
	if len(want) != 16 {
		return errNoUUID
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
