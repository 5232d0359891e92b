package queue

import (
	"context"
	"slices"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// maxSubscriptions is how many subscriptions a topic may have, as in Service Bus.
const maxSubscriptions = 2000

// topic opens the topic of a subscription.
func (e *entity) topic() (*entity, error) {
	t, err := e.other(e.config.Topic)
	if err != nil {
		return nil, err
	}
	if t.config.Kind != Topic {
		return nil, mongoerr.Newf(mongoerr.IllegalOperation, "%s is not a message topic", t.ns)
	}
	return t, nil
}

// Subscriptions lists the subscriptions of a topic in the order they were created; topic
// reports whether it is one.
func (b *Broker) Subscriptions(ctx context.Context, s Store, ref Ref, now int64) (names []string, topic bool, err error) {
	err = b.view(ctx, s, ref, now, func(e *entity) error {
		if topic = e.config.Kind == Topic; !topic {
			return nil
		}
		l, err := e.numbers()
		if err == nil {
			names = l.subscriptions
		}
		return err
	})
	return names, topic, err
}

// subscribe makes a new subscription known to its topic.
func (e *entity) subscribe() error {
	t, err := e.topic()
	if err != nil {
		return err
	}
	l, err := t.numbers()
	if err != nil {
		return err
	}
	if !slices.Contains(l.subscriptions, e.ns.Coll) {
		l.subscriptions = append(l.subscriptions, e.ns.Coll)
	}
	if len(l.subscriptions) > maxSubscriptions {
		return mongoerr.Newf(mongoerr.InvalidOptions, "A message topic may have at most %d subscriptions", maxSubscriptions)
	}
	return l.write(t.uuid, e.now)
}

// unsubscribe takes the name of a subscription off its topic's list, or gives it another.
func (e *entity) unsubscribe(name, to string) error {
	t, err := e.topic()
	if mongoerr.Is(err, mongoerr.NamespaceNotFound) {
		return nil // the whole database is being dropped
	}
	if err != nil {
		return err
	}
	l, err := t.numbers()
	if err != nil {
		return err
	}
	i := slices.Index(l.subscriptions, name)
	switch {
	case i < 0:
		return nil
	case to == "":
		l.subscriptions = slices.Delete(slices.Clone(l.subscriptions), i, i+1)
	default:
		l.subscriptions[i] = to
	}
	return l.write(t.uuid, e.now)
}

// subscriptionsOf finds the subscriptions of a topic in the catalog.
func subscriptionsOf(tx storage.Tx, topic storage.Namespace) (names []string, err error) {
	infos, err := tx.Collections(topic.DB)
	for _, info := range infos {
		if kind, option := KindOf(info.Options); kind == Subscription && option.Lookup("topic").Str() == topic.Coll {
			names = append(names, info.Namespace.Coll)
		}
	}
	return names, err
}

// checkForwarding refuses to forward to what does not exist or cannot get messages, and to
// where the messages would come back from.
func (e *entity) checkForwarding() error {
	for _, to := range e.config.targets() {
		target, err := e.other(to)
		if err != nil {
			return err
		}
		if target.dead || target.config.Kind == Subscription {
			return mongoerr.Newf(mongoerr.InvalidOptions, "cannot forward to %s, which is neither a queue nor a topic", target.ns)
		}
	}
	return e.checkReturn()
}

// checkReturn refuses to hand messages on to where they would come back from.
func (e *entity) checkReturn() error {
	list, err := e.next()
	for _, target := range list {
		back, err := target.leadsTo(e)
		if err != nil {
			return err
		}
		if back {
			return mongoerr.Newf(mongoerr.InvalidOptions, "cannot forward from %s to '%s': the messages would come back", e.ns, target.ns.Coll)
		}
	}
	return err
}

// targets are where messages and dead letters are forwarded to.
func (c *Config) targets() (list []string) {
	for _, to := range []string{c.ForwardTo, c.ForwardDeadTo} {
		if to != "" {
			list = append(list, to)
		}
	}
	return list
}

// leadsTo reports whether messages of this queue or topic come to another one, on whatever
// way.
func (e *entity) leadsTo(goal *entity) (found bool, err error) {
	err = e.follow(func(at *entity) bool {
		found = at.uuid == goal.uuid || goal.config.Kind == Subscription && at.config.Kind == Topic && at.ns.Coll == goal.config.Topic
		return !found
	})
	return found, err
}

// follow calls fn for this queue or topic and for all to which its messages come, until it
// returns false. Each queue on the ways is looked at once.
func (e *entity) follow(fn func(*entity) bool) error {
	todo, seen := []*entity{e}, map[[16]byte]bool{}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[at.uuid] {
			continue
		}
		seen[at.uuid] = true
		if !fn(at) {
			return nil
		}
		next, err := at.next()
		if err != nil {
			return err
		}
		todo = append(todo, next...)
	}
	return nil
}

// Reach lists the collections in which messages that come to a collection may be found: itself
// and, of a queue or topic, its dead-letter queue and those of all to which it hands messages
// on.
func (b *Broker) Reach(ctx context.Context, s Store, ns storage.Namespace, now int64) (names []string, err error) {
	err = b.view(ctx, s, Ref{Namespace: ns}, now, func(e *entity) error {
		names = nil
		return e.follow(func(at *entity) bool {
			names = append(names, at.ns.Coll, DeadLetterName(at.ns.Coll))
			return true
		})
	})
	if mongoerr.Is(err, mongoerr.NamespaceNotFound) || mongoerr.Is(err, mongoerr.IllegalOperation) {
		return []string{ns.Coll, DeadLetterName(ns.Coll)}, nil // not yet one, or an ordinary collection
	}
	return names, err
}

// next opens where messages go from here: the subscriptions of a topic, and what a queue
// forwards to. What is gone is left out: the messages become dead letters.
func (e *entity) next() (list []*entity, err error) {
	names := e.config.targets()
	if e.config.Kind == Topic {
		l, err := e.numbers()
		if err != nil {
			return nil, err
		}
		names = l.subscriptions
	}
	for _, name := range names {
		o, err := e.other(name)
		if mongoerr.Is(err, mongoerr.NamespaceNotFound) || mongoerr.Is(err, mongoerr.IllegalOperation) {
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, o)
	}
	return list, nil
}

// retarget gives what names a queue or topic of the database its new name: the subscriptions
// of the topic, and what forwards to it.
func retarget(tx storage.Tx, from, to storage.Namespace) error {
	infos, err := tx.Collections(from.DB)
	if err != nil {
		return err
	}
	for _, info := range infos {
		kind, option := KindOf(info.Options)
		if kind == 0 || DeadLetterOf(info.Options) != "" {
			continue
		}
		c, err := ParseConfig("options", kind, value.Document(option))
		if err != nil {
			return err
		}
		changed := false
		for _, name := range []*string{&c.Topic, &c.ForwardTo, &c.ForwardDeadTo} {
			if *name == from.Coll {
				*name, changed = to.Coll, true
			}
		}
		if !changed {
			continue
		}
		if err := tx.SetOptions(info.Namespace, WithOption(info.Options, &c)); err != nil {
			return err
		}
	}
	return nil
}
