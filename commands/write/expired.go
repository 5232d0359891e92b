package write

import (
	"errors"

	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/ttl/monitor"
)

// aheadBatch limits the records that one engine transaction removes before a command.
const aheadBatch = 200

// RemoveExpired removes the expired documents: before a document policy changes, so that they do
// not become visible again, and before an index is built, so that they cause no duplicate
// keys. It fails with a keptError if the dead-letter collection refuses a document.
func (w *Writer) RemoveExpired() error {
	if !w.Meta.MayHide() {
		return nil
	}
	var lags ttl.Lags
	removed, err := w.Meta.Rules.Purge(w.coll, w.c.Now, w.observed(&lags))
	w.countPurged(removed, &lags)
	return err
}

// observed returns moveExpired with the delays of the removals observed.
func (w *Writer) observed(lags *ttl.Lags) ttl.Remover {
	return func(r storage.Record, e *ttl.Expired) error {
		err := w.moveExpired(r, e)
		if err == nil {
			lags.Observe(w.c.Now - e.At)
		}
		return err
	}
}

// countPurged counts expired documents that make room for the running command. They count once
// its transaction is committed.
func (w *Writer) countPurged(r ttl.Removed, lags *ttl.Lags) {
	if log := w.c.Recorder(); log != nil {
		log.Purged.Add(w.coll.Info().UUID, r, lags)
	}
}

// RemoveExpiredAhead removes most of the expired documents before the command's own
// transaction, in batches, so that other writers can run in between. refused is the
// error of a document that had to be kept, or nil.
func RemoveExpiredAhead(c *kernel.Call, ns storage.Namespace) (refused, err error) {
	if c.Transaction() != nil {
		return nil, nil
	}
	done, purge := false, ttl.NewPurge(c.Now)
	for !done && err == nil {
		next := purge
		err = c.Update(func(tx storage.Tx) error {
			next, done = purge.Clone(), true
			coll, err := tx.Collection(ns)
			if errors.Is(err, storage.ErrNotFound) {
				return nil
			}
			if err != nil {
				return err
			}
			w := New(c, tx, coll, true)
			var removed ttl.Removed
			var lags ttl.Lags
			removed, done, err = next.Batch(w.Meta.Rules, coll, aheadBatch, w.observed(&lags))
			w.countPurged(removed, &lags)
			return err
		})
		purge = next
	}
	return RefusedWith(purge.Refused()), err
}

// EndPolicy prepares a change of the document policy of a collection with many expired
// documents. The policy ends at the instant of the command: from then on no further
// documents expire by it, although the removal of the expired ones takes a while. The
// caller must call reopen when the command has ended: if the command has failed, the policy
// continues.
func EndPolicy(c *kernel.Call, ns storage.Namespace) (reopen func(), err error) {
	reopen = func() {}
	if c.Transaction() != nil {
		return reopen, nil
	}
	if much, err := muchHasExpired(c, ns); !much || err != nil {
		return reopen, err
	}
	of := &monitor.Collection{Namespace: ns}
	if err := setPolicyEnd(c, of, c.Now); err != nil {
		return reopen, err
	}
	// The policy must continue even if the command was cancelled.
	reopen = func() {
		if err := setPolicyEnd(internalCall(c.Svc, c.Svc.Background), of, 0); err != nil {
			c.Svc.Log.Warn().Err(err).Stringer("ns", ns).Msg("The expiry policy of a collection is suspended until a restart")
		}
	}
	refused, err := RemoveExpiredAhead(c, ns)
	if err == nil {
		err = refused
	}
	return reopen, err
}

// muchHasExpired reports whether more documents have expired than one batch removes.
func muchHasExpired(c *kernel.Call, ns storage.Namespace) (much bool, err error) {
	err = c.View(func(tx storage.Tx) error {
		much = false
		coll, err := tx.Collection(ns)
		if errors.Is(err, storage.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		stored, err := coll.Count()
		if err != nil {
			return err
		}
		left, err := c.Visible(coll).Count()
		much = stored-left > aheadBatch
		return err
	})
	return much, err
}

// setPolicyEnd stores the time at which the policy of a collection ends, 0 if it
// continues. This is not recorded in the change log.
func setPolicyEnd(c *kernel.Call, of *monitor.Collection, until int64) error {
	return c.Update(func(tx storage.Tx) error {
		coll, err := tx.Collection(of.Namespace)
		if until == 0 {
			coll, err = findByUUID(tx, of) // it may have another name by now
		}
		if errors.Is(err, storage.ErrNotFound) || errors.Is(err, monitor.ErrGone) {
			return nil
		}
		if err != nil {
			return err
		}
		ns, p := coll.Info().Namespace, catalog.Of(coll.Info()).DocTTL
		of.UUID = coll.Info().UUID
		if p == nil || p.Until == until {
			return nil
		}
		return oplog.Modifying(tx, ns).SetOptions(ns, catalog.PolicyEnding(coll.Info(), p, until, c.Svc.OwnerName()))
	})
}

// ReopenPolicies makes the policies continue whose change was not finished when its server
// ended.
func ReopenPolicies(s *kernel.Service) error {
	found := map[string][]*monitor.Collection{} // by the server that changes the policy
	err := s.Engine.View(s.Background, func(tx storage.Tx) error {
		clear(found)
		infos, err := tx.Collections("")
		for _, info := range infos {
			if p := catalog.Of(info).DocTTL; p != nil && p.Until != 0 {
				found[p.EndedBy] = append(found[p.EndedBy], &monitor.Collection{Namespace: info.Namespace, UUID: info.UUID})
			}
		}
		return err
	})
	for owner, list := range found {
		if err == nil && s.HasEnded(owner) {
			err = reopenAll(s, owner, list)
		}
	}
	return err
}

// reopenAll makes the policies of collections continue that a server has ended.
func reopenAll(s *kernel.Service, owner string, list []*monitor.Collection) error {
	return storage.Retry(s.Background, s.Engine, func(tx storage.Tx) error {
		for _, of := range list {
			coll, err := findByUUID(tx, of)
			if errors.Is(err, monitor.ErrGone) {
				continue
			}
			if err != nil {
				return err
			}
			info := coll.Info()
			if p := catalog.Of(info).DocTTL; p == nil || p.Until == 0 || p.EndedBy != owner {
				continue
			}
			if err := tx.SetOptions(info.Namespace, catalog.PolicyEnding(info, catalog.Of(info).DocTTL, 0, "")); err != nil {
				return err
			}
		}
		return nil
	})
}
