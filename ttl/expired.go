package ttl

import (
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// expiredField is the field of a moved document that describes its expiry.
const expiredField = "_expired"

// Expired describes why a document is removed.
type Expired struct {
	Policy  Policy
	Index   string // the index of the policies Index and PartialBucket
	At      int64  // when it expired, milliseconds
	Removed int64  // when it is removed: now
	Cause   Cause  // what the policy does with it; empty for a plain deletion
}

// Cause is what happens to an expired item.
type Cause string

// The causes. A deleted document has no cause.
const (
	Dropped      Cause = "dropped"      // an expired message that is deleted
	DeadLettered Cause = "deadLettered" // moved to the dead-letter collection or queue
	Idle         Cause = "idle"         // an idle queue that is deleted
)

// AppendReason implements storage.Reason.
func (e *Expired) AppendReason(b *value.Builder) {
	b.StartDocument("expiration").String("policy", e.Policy.String()).Date("dueAt", e.At).Date("removedAt", e.Removed)
	if e.Cause != "" {
		b.String("cause", string(e.Cause))
	}
	b.End()
}

// Delete removes a record because it has expired. A collection that logs its changes logs
// the reason.
func (e *Expired) Delete(coll storage.Collection, id storage.RecordID) error {
	var err error
	if l, ok := coll.(interface {
		DeleteBecause(storage.RecordID, storage.Reason) (storage.Written, error)
	}); ok {
		_, err = l.DeleteBecause(id, e)
	} else {
		_, err = coll.Delete(id)
	}
	return err
}

// Drop removes a collection because it has expired. A transaction that logs its changes
// logs the reason.
func (e *Expired) Drop(tx storage.Tx, ns storage.Namespace) error {
	if l, ok := tx.(interface {
		DropBecause(storage.Namespace, storage.Reason) error
	}); ok {
		return l.DropBecause(ns, e)
	}
	return tx.Drop(ns)
}

// DeadLetter returns the document to store in the dead-letter collection: the
// expired document with a field _expired at its end.
//
//	_expired: {reason: "TTLExpiredException", policy: "ttl", index: "x_1",
//	           source: "db.coll", expiredAt: Date, removedAt: Date}
func (e *Expired) DeadLetter(d value.Doc, source storage.Namespace) value.Doc {
	var b value.Builder
	b.Reset(make([]byte, 0, len(d)+160))
	for it := d.Iter(); it.Next(); {
		if it.Key() != expiredField {
			b.Raw(it.Element())
		}
	}
	b.StartDocument(expiredField)
	b.String("reason", "TTLExpiredException").String("policy", e.Policy.String())
	if e.Index != "" {
		b.String("index", e.Index)
	}
	b.String("source", source.String()).Date("expiredAt", e.At).Date("removedAt", e.Removed)
	return b.End().Doc()
}
