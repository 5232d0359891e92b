package ttl

import (
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// OnExpire says that expired documents are moved to another collection of the
// same database instead of being deleted.
type OnExpire struct {
	DeadLetterTo string
}

// ParseOnExpire reads the onExpire option of create and collMod on a
// collection; command is the command's name. "off" in collMod gives nil.
func ParseOnExpire(command string, ns storage.Namespace, v value.Value) (*OnExpire, error) {
	prefix := command + ".onExpire"
	if command == "collMod" && v.Kind() == value.KindString && v.Str() == "off" {
		return nil, nil
	}
	if v.Kind() != value.KindDocument {
		return nil, wrongType(prefix, v, "object")
	}
	var o *OnExpire
	for name, v := range v.Doc().All() {
		if name != "deadLetterTo" {
			return nil, unknownField(prefix, name)
		}
		if v.Kind() != value.KindString {
			return nil, wrongType(prefix+"."+name, v, "string")
		}
		o = &OnExpire{DeadLetterTo: strings.Clone(v.Str())}
	}
	if o == nil {
		return nil, mongoerr.MissingField(prefix + ".deadLetterTo")
	}
	return o, o.check(ns)
}

func (o *OnExpire) check(ns storage.Namespace) error {
	to := o.DeadLetterTo
	switch {
	case to == "" || strings.ContainsAny(to, "$\x00") || to[0] == '.' || len(ns.DB)+1+len(to) > 255:
		return mongoerr.Newf(mongoerr.InvalidNamespace, "Invalid collection name specified '%s.%s'", ns.DB, to)
	case strings.HasPrefix(to, "system."):
		return mongoerr.Newf(mongoerr.InvalidOptions, "'onExpire.deadLetterTo' cannot be the system collection '%s'", to)
	case to == ns.Coll || reserved.Buckets(to) == ns.Coll:
		return mongoerr.New(mongoerr.InvalidOptions, "'onExpire.deadLetterTo' cannot be the collection itself")
	}
	return nil
}

// Doc returns the option as listCollections shows it.
func (o *OnExpire) Doc() value.Doc {
	return value.NewDoc("deadLetterTo", value.String(o.DeadLetterTo))
}

// LoadOnExpire reads the option from the options in the catalog; nil if they do
// not have it.
func LoadOnExpire(options value.Doc) *OnExpire {
	if to := options.Lookup("onExpire").Doc().Lookup("deadLetterTo"); to.Kind() == value.KindString {
		return &OnExpire{DeadLetterTo: strings.Clone(to.Str())}
	}
	return nil
}

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

// Listener is implemented by a transaction, or by its collections, to receive
// the reason for a removal just before it happens.
type Listener interface {
	Because(e *Expired)
}

// Because passes the reason for the next delete from a collection, or for the
// next drop in a transaction, to where if it is a Listener.
func Because(where any, e *Expired) {
	if l, ok := where.(Listener); ok {
		l.Because(e)
	}
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
