package queue

import (
	"errors"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

// incompatible are options of create that a queue cannot have.
var incompatible = []string{
	"timeseries", "clusteredIndex", "expireAfterSeconds", "documentTtl", "indexingPolicy", "capped", "size", "max",
	"viewOn", "pipeline", "validator", "validationLevel", "validationAction", "onExpire",
}

// CheckOptions refuses to combine a message queue with other options of
// create or collMod.
func CheckOptions(options value.Doc) error {
	for _, name := range incompatible {
		v, ok := options.Get(name)
		if ok && (v.Kind() != value.KindBool || v.Bool()) {
			return mongoerr.Newf(mongoerr.InvalidOptions, "'%s' is not allowed with '%s'", name, Option)
		}
	}
	return nil
}

// WithOption returns the options of a collection with the messageQueue option
// in its complete form.
func WithOption(options, queue value.Doc) value.Doc {
	b := value.NewBuilder()
	for it := options.Iter(); it.Next(); {
		if it.Key() != Option {
			b.Raw(it.Element())
		}
	}
	return b.Document(Option, queue).Doc()
}

// Begin starts the idle time of a new queue.
func Begin(tx storage.Tx, ns storage.Namespace, now int64) error {
	main, err := tx.Collection(ns)
	if err != nil {
		return err
	}
	uuid := main.Info().UUID
	l, err := readLedger(tx, ns.DB, uuid)
	if err != nil {
		return err
	}
	l.activity = now
	return l.write(uuid, now)
}

// DeadLetterOptions are the options of the dead-letter queue of a queue.
func DeadLetterOptions(owner string) value.Doc {
	return value.NewDoc(Option, value.Document(value.NewDoc(deadLetterOf, value.String(owner))))
}

// Modify applies the messageQueue option of collMod. The changes apply to
// messages that are sent, received and released from now on.
func (b *Broker) Modify(tx storage.Tx, ns storage.Namespace, v value.Value, now int64) error {
	coll, err := collection(tx, ns)
	if err != nil {
		return err
	}
	options := coll.Info().Options
	switch {
	case !IsQueue(options):
		return mongoerr.Newf(mongoerr.InvalidOptions, "%s is not a message queue and cannot be made one", ns)
	case DeadLetterOf(options) != "":
		return mongoerr.Newf(mongoerr.InvalidOptions, "the properties of the dead-letter queue %s cannot be changed", ns)
	case v.IsNullish(), v.Kind() == value.KindString && v.Str() == "off":
		return mongoerr.Newf(mongoerr.InvalidOptions, "the message queue %s cannot be made an ordinary collection", ns)
	}
	c, err := ParseConfig("options", options.Lookup(Option))
	if err != nil {
		return err
	}
	if err := c.parse("collMod", v); err != nil {
		return err
	}
	if err := tx.SetOptions(ns, WithOption(options, c.Doc())); err != nil {
		return err
	}
	e, err := b.open(tx, Ref{Namespace: ns}, now, b.Changes())
	if err != nil {
		return err
	}
	l, err := e.numbers()
	if err != nil {
		return err
	}
	l.activity = max(l.activity, now)
	e.state.used(now)
	return l.write(e.uuid, now)
}

// Drop removes a queue with its dead-letter queue. A dead-letter queue cannot
// be dropped alone. The transaction's Changes must know of it ([Changes.Drop]).
func Drop(tx storage.Tx, ns storage.Namespace) error { return drop(tx, ns, nil) }

// drop drops a queue, because of idleness unless reason is nil.
func drop(tx storage.Tx, ns storage.Namespace, reason *ttl.Expired) error {
	coll, err := tx.Collection(ns)
	if err != nil {
		return err
	}
	if err := CheckDrop(coll.Info()); err != nil {
		return err
	}
	l, err := readLedger(tx, ns.DB, coll.Info().UUID)
	if err != nil {
		return err
	}
	if err := l.remove(); err != nil {
		return err
	}
	if reason != nil {
		err = reason.Drop(tx, ns)
	} else {
		err = tx.Drop(ns)
	}
	if err != nil {
		return err
	}
	err = tx.Drop(storage.Namespace{DB: ns.DB, Coll: DeadLetterName(ns.Coll)})
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	return err
}

// CheckDrop refuses to drop a dead-letter queue without its queue.
func CheckDrop(info *storage.Info) error {
	if owner := DeadLetterOf(info.Options); owner != "" {
		return mongoerr.Newf(mongoerr.IllegalOperation, "cannot drop the dead-letter queue %s without its queue '%s'", info.Namespace, owner)
	}
	return nil
}

// Rename moves a queue together with its dead-letter queue, within its
// database.
func Rename(tx storage.Tx, from, to storage.Namespace) error {
	coll, err := tx.Collection(from)
	if err != nil {
		return err
	}
	if owner := DeadLetterOf(coll.Info().Options); owner != "" {
		return mongoerr.Newf(mongoerr.IllegalOperation, "cannot rename the dead-letter queue %s without its queue '%s'", from, owner)
	}
	if from.DB != to.DB {
		return mongoerr.Newf(mongoerr.IllegalOperation, "cannot move the message queue %s to another database", from)
	}
	deadFrom := storage.Namespace{DB: from.DB, Coll: DeadLetterName(from.Coll)}
	deadTo := storage.Namespace{DB: to.DB, Coll: DeadLetterName(to.Coll)}
	if err := tx.Rename(from, to); err != nil {
		return err
	}
	err = tx.Rename(deadFrom, deadTo)
	if errors.Is(err, storage.ErrExists) {
		return mongoerr.Newf(mongoerr.NamespaceExists, "Collection %s already exists.", deadTo).WithCause(err)
	}
	if err != nil {
		return err
	}
	return tx.SetOptions(deadTo, DeadLetterOptions(to.Coll))
}
