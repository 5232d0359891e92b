package queue

import (
	"cmp"
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

// CheckOptions refuses to combine a collection for messages with other options of
// create or collMod.
func CheckOptions(options value.Doc) error {
	kind := ""
	for _, k := range kinds {
		if !options.Has(k.option) {
			continue
		}
		if kind != "" {
			return mongoerr.Newf(mongoerr.InvalidOptions, "'%s' is not allowed with '%s'", k.option, kind)
		}
		kind = k.option
	}
	for _, name := range incompatible {
		v, ok := options.Get(name)
		if ok && (v.Kind() != value.KindBool || v.Bool()) {
			return mongoerr.Newf(mongoerr.InvalidOptions, "'%s' is not allowed with '%s'", name, cmp.Or(kind, Option))
		}
	}
	return nil
}

// WithOption returns the options of a collection with the option of a kind in its complete
// form.
func WithOption(options value.Doc, c *Config) value.Doc {
	b := value.NewBuilder()
	for it := options.Iter(); it.Next(); {
		if it.Key() != c.Kind.Option() {
			b.Raw(it.Element())
		}
	}
	return b.Document(c.Kind.Option(), c.Doc()).Doc()
}

// Begin completes the creation of a queue, topic or subscription, whose collection has just
// been made: its idle time starts, a subscription is known to its topic, and what the queue
// forwards to must exist.
func (b *Broker) Begin(tx storage.Tx, changes *Changes, ns storage.Namespace, now int64) error {
	e, err := b.open(tx, Ref{Namespace: ns}, now, changes)
	if err != nil {
		return err
	}
	if err := createBesides(tx, ns.DB, e.uuid, e.config); err != nil {
		return err
	}
	l, err := e.numbers()
	if err != nil {
		return err
	}
	l.activity = now
	if err := l.write(e.uuid, now); err != nil {
		return err
	}
	if e.config.Kind == Subscription {
		if err := e.subscribe(); err != nil {
			return err
		}
	}
	return e.checkForwarding()
}

// DeadLetterOptions are the options of the dead-letter queue of a queue.
func DeadLetterOptions(owner string) value.Doc {
	return value.NewDoc(Option, value.Document(value.NewDoc(deadLetterOf, value.String(owner))))
}

// Modify applies the option of a kind in collMod. The changes apply to messages that are
// sent, received and released from now on.
func (b *Broker) Modify(tx storage.Tx, changes *Changes, ns storage.Namespace, kind Kind, v value.Value, now int64) error {
	coll, err := collection(tx, ns)
	if err != nil {
		return err
	}
	options := coll.Info().Options
	is, option := KindOf(options)
	switch {
	case is == 0:
		return mongoerr.Newf(mongoerr.InvalidOptions, "%s is not a %s and cannot be made one", ns, kind)
	case DeadLetterOf(options) != "":
		return mongoerr.Newf(mongoerr.InvalidOptions, "the properties of the dead-letter queue %s cannot be changed", ns)
	case is != kind:
		return mongoerr.Newf(mongoerr.InvalidOptions, "%s is a %s and cannot be made a %s", ns, is, kind)
	case v.IsNullish(), v.Kind() == value.KindString && v.Str() == "off":
		return mongoerr.Newf(mongoerr.InvalidOptions, "the %s %s cannot be made an ordinary collection", is, ns)
	}
	c, err := ParseConfig("options", is, value.Document(option))
	if err != nil {
		return err
	}
	if err := c.parse("collMod", v, false); err != nil {
		return err
	}
	if err := tx.SetOptions(ns, WithOption(options, &c)); err != nil {
		return err
	}
	e, err := b.open(tx, Ref{Namespace: ns}, now, changes)
	if err != nil {
		return err
	}
	l, err := e.numbers()
	if err != nil {
		return err
	}
	l.activity = max(l.activity, now)
	e.state.used(now)
	if err := l.write(e.uuid, now); err != nil {
		return err
	}
	return e.checkForwarding()
}

// Drop removes a queue with its dead-letter queue, a topic with its subscriptions, or a
// subscription. A dead-letter queue cannot be dropped alone.
func (b *Broker) Drop(tx storage.Tx, changes *Changes, ns storage.Namespace, now int64) error {
	return b.drop(tx, changes, ns, now, nil)
}

// drop drops a queue, because of idleness unless reason is nil.
func (b *Broker) drop(tx storage.Tx, changes *Changes, ns storage.Namespace, now int64, reason *ttl.Expired) error {
	coll, err := tx.Collection(ns)
	if err != nil {
		return err
	}
	if err := CheckDrop(coll.Info()); err != nil {
		return err
	}
	e, err := b.open(tx, Ref{Namespace: ns}, now, changes)
	if err != nil {
		return err
	}
	l, err := e.numbers()
	if err != nil {
		return err
	}
	for _, name := range l.subscriptions {
		if err := b.drop(tx, changes, storage.Namespace{DB: ns.DB, Coll: name}, now, reason); err != nil {
			return err
		}
	}
	if e.config.Kind == Subscription {
		if err := e.unsubscribe(e.ns.Coll, ""); err != nil {
			return err
		}
	}
	return e.remove(reason)
}

// remove removes what a queue consists of.
func (e *entity) remove(reason *ttl.Expired) (err error) {
	e.changes.Drop(e.main.Info())
	l, err := readLedger(e.tx, e.ns.DB, e.uuid) // as a subscription may have changed it
	if err != nil {
		return err
	}
	if err := l.remove(); err != nil {
		return err
	}
	if err := dropBesides(e.tx, e.ns.DB, e.uuid); err != nil {
		return err
	}
	if reason != nil {
		err = reason.Drop(e.tx, e.ns)
	} else {
		err = e.tx.Drop(e.ns)
	}
	if err != nil || e.config.Kind == Topic {
		return err
	}
	err = e.tx.Drop(storage.Namespace{DB: e.ns.DB, Coll: DeadLetterName(e.ns.Coll)})
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
// database. What refers to it by its name refers to the new one.
func (b *Broker) Rename(tx storage.Tx, changes *Changes, from, to storage.Namespace, now int64) error {
	coll, err := tx.Collection(from)
	if err != nil {
		return err
	}
	if owner := DeadLetterOf(coll.Info().Options); owner != "" {
		return mongoerr.Newf(mongoerr.IllegalOperation, "cannot rename the dead-letter queue %s without its queue '%s'", from, owner)
	}
	kind, _ := KindOf(coll.Info().Options)
	if from.DB != to.DB {
		return mongoerr.Newf(mongoerr.IllegalOperation, "cannot move the %s %s to another database", kind, from)
	}
	e, err := b.open(tx, Ref{Namespace: from}, now, changes)
	if err != nil {
		return err
	}
	if kind == Subscription {
		if err := e.unsubscribe(from.Coll, to.Coll); err != nil {
			return err
		}
	}
	if err := tx.Rename(from, to); err != nil {
		return err
	}
	if err := retarget(tx, from, to); err != nil {
		return err
	}
	if kind != Topic {
		if err := renameDead(tx, from, to); err != nil {
			return err
		}
	}
	if e, err = b.open(tx, Ref{Namespace: to}, now, changes); err != nil {
		return err
	}
	return e.checkReturn() // what was dropped may have had the new name
}

// renameDead renames the dead-letter queue of a queue.
func renameDead(tx storage.Tx, from, to storage.Namespace) error {
	deadFrom := storage.Namespace{DB: from.DB, Coll: DeadLetterName(from.Coll)}
	deadTo := storage.Namespace{DB: to.DB, Coll: DeadLetterName(to.Coll)}
	err := tx.Rename(deadFrom, deadTo)
	if errors.Is(err, storage.ErrExists) {
		return mongoerr.Newf(mongoerr.NamespaceExists, "Collection %s already exists.", deadTo).WithCause(err)
	}
	if err != nil {
		return err
	}
	return tx.SetOptions(deadTo, DeadLetterOptions(to.Coll))
}
