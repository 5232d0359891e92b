package commands

import (
	"errors"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

// settleBatch bounds what one engine transaction removes ahead of a command.
const settleBatch = 200

// settle removes for good what has expired: before a document policy changes,
// so that it never comes back, and before an index is built, so that it is in
// nobody's way. Where dead letters are refused, it fails with a keptError.
func (w *writer) settle() error {
	if !w.meta.hides() {
		return nil
	}
	removed, err := w.meta.rules.Settle(w.coll, w.c.now, w.expire)
	w.c.svc.monitor.Metrics().Settled(removed)
	return err
}

// settleAhead does the most of settle before a command's own transaction: batch
// by batch, so that other writers get their turn. refused is why a document had
// to be kept, nil if none was.
func (c *Call) settleAhead(ns storage.Namespace) (refused, err error) {
	if c.transaction() != nil {
		return nil, nil
	}
	done, settlement := false, ttl.NewSettlement(c.now)
	for !done && err == nil {
		next, removed := settlement, ttl.Removed{}
		err = c.update(func(tx storage.Tx) error {
			next, removed, done = settlement.Clone(), ttl.Removed{}, true
			coll, err := tx.Collection(ns)
			if errors.Is(err, storage.ErrNotFound) {
				return nil
			}
			if err != nil {
				return err
			}
			w := c.newWriter(tx, coll, true)
			removed, done, err = next.Batch(w.meta.rules, coll, settleBatch, w.expire)
			return err
		})
		settlement = next
		c.svc.monitor.Metrics().Settled(removed)
	}
	return refusedWith(settlement.Refused()), err
}

// endPolicy prepares a change of the document policy of a collection in which
// much has expired. The policy comes to its end at the instant of the command:
// from now on nothing else expires by it, so that the change takes effect when
// it was asked for although it takes a while to remove what is left. reopen
// must be called when the command has ended: if that has failed, the policy
// goes on as before.
func (c *Call) endPolicy(ns storage.Namespace) (reopen func(), err error) {
	reopen = func() {}
	if c.transaction() != nil || !c.muchHasExpired(ns) {
		return reopen, nil
	}
	of := &ttl.Collection{Namespace: ns}
	if err := c.setPolicyEnd(of, c.now); err != nil {
		return reopen, err
	}
	// Whatever ends the command must not keep the policy from going on.
	reopen = func() { _ = c.svc.internalCall(c.svc.background).setPolicyEnd(of, 0) }
	refused, err := c.settleAhead(ns)
	if err == nil {
		err = refused
	}
	return reopen, err
}

// muchHasExpired reports whether it takes more than a batch to remove what has
// expired.
func (c *Call) muchHasExpired(ns storage.Namespace) (much bool) {
	_ = c.view(func(tx storage.Tx) error {
		coll, err := tx.Collection(ns)
		if err != nil {
			return err
		}
		left, err := c.sight(coll).count()
		much = err == nil && coll.Count()-left > settleBatch
		return err
	})
	return much
}

// setPolicyEnd notes when the policy of a collection ends, 0 if it goes on. The
// log is told of policies, not of this.
func (c *Call) setPolicyEnd(of *ttl.Collection, until int64) error {
	return c.update(func(tx storage.Tx) error {
		coll, err := tx.Collection(of.Namespace)
		if until == 0 {
			coll, err = findByUUID(tx, of) // it may have another name by now
		}
		if errors.Is(err, storage.ErrNotFound) || errors.Is(err, ttl.ErrGone) {
			return nil
		}
		if err != nil {
			return err
		}
		ns, p := coll.Info().Namespace, metaOf(coll.Info()).docTTL
		of.UUID = coll.Info().UUID
		if p == nil || p.Until == until {
			return nil
		}
		if log := c.recorder(); log != nil {
			log.modifying = ns
			defer func() { log.modifying = storage.Namespace{} }()
		}
		return tx.SetOptions(ns, policyEnding(coll.Info(), p, until))
	})
}

// policyEnding is the options of a collection whose policy ends at an instant.
func policyEnding(info *storage.Info, p *ttl.DocumentPolicy, until int64) value.Doc {
	o := newOptions(info.Options)
	o.set("documentTtl", value.Document(p.Doc()))
	if until != 0 {
		o.set("documentTtl", value.Document(p.EndingDoc(until)))
	}
	return o.doc()
}

// lastingOptions is the options of a collection as they are shown: whether its
// policy is about to make way is for the server alone.
func lastingOptions(info *storage.Info) value.Doc {
	if p := metaOf(info).docTTL; p != nil && p.Until != 0 {
		return policyEnding(info, p, 0)
	}
	return info.Options
}

// reopenPolicies lets those policies go on whose change was not finished when
// the server ended.
func (s *Service) reopenPolicies() error {
	ending := func(tx storage.Tx) (list []*storage.Info) {
		for _, info := range tx.Collections("") {
			if p := metaOf(info).docTTL; p != nil && p.Until != 0 {
				list = append(list, info)
			}
		}
		return list
	}
	var list []*storage.Info
	err := s.engine.View(s.background, func(tx storage.Tx) error { list = ending(tx); return nil })
	if err != nil || len(list) == 0 {
		return err
	}
	return s.engine.Update(s.background, func(tx storage.Tx) error {
		for _, info := range ending(tx) {
			if err := tx.SetOptions(info.Namespace, policyEnding(info, metaOf(info).docTTL, 0)); err != nil {
				return err
			}
		}
		return nil
	})
}
