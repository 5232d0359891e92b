package kv

import (
	"bytes"
	"context"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/claims"
	"github.com/duskdb/duskdb/storage/internal/keydiff"
)

// Every write claims the record, key or name that it is about to change. An
// Update only checks that no open snapshot transaction has claimed it. A
// snapshot transaction claims it, checks that it has not changed since the
// snapshot was taken, and checks that once more when it commits.

// present is a state to compare a snapshot with: the latest one, or that of the
// Update that commits the transaction.
type present struct {
	reader
	root   *Root
	latest *State // the latest state, nil if it is that of an Update
	in     *Tx    // the transaction that compares, or the Update
}

// exact returns the collection with exact statistics.
func (p present) exact(c *Coll) (*Coll, error) {
	if p.latest != nil {
		return p.latest.exactly(p.in.Ctx, c)
	}
	return p.in.exactly(c)
}

// exactly returns a collection of a state with exact statistics.
func (s *State) exactly(ctx context.Context, c *Coll) (*Coll, error) {
	if s.exact == nil {
		return c, nil
	}
	return s.exact(ctx, c)
}

// ClaimHere is the common part. taken reports whether a snapshot transaction
// claimed k for the first time.
func (t *Tx) ClaimHere(k claims.Key) (taken bool, err error) {
	if t.Txn != nil {
		return t.Common.Claims.Claim(k, &t.Txn.holder)
	}
	return false, t.Common.Claims.Check(k, t.owner())
}

// verify checks a condition on the latest state now and at commit. If it does
// not hold, the claim is released.
func (t *Tx) verify(k claims.Key, unchanged func(present) (bool, error)) error {
	latest, err := t.Common.Backend.Latest()
	if err != nil {
		return err
	}
	defer latest.release()
	ok, err := unchanged(present{reader: latest.reader(), root: latest.root, latest: latest, in: t})
	if err == nil && !ok {
		err = storage.ErrConflict
	}
	if err != nil {
		t.Common.Claims.Drop(k, &t.Txn.holder)
		return err
	}
	t.verifyLater(unchanged)
	return nil
}

// verifyLater checks a condition at commit.
func (t *Tx) verifyLater(unchanged func(present) (bool, error)) {
	t.record(func(u *Tx) error {
		ok, err := unchanged(present{reader: u.reader, root: u.Root, in: u})
		if err == nil && !ok {
			err = storage.ErrConflict
		}
		return err
	})
}

// claimCollection is called before the first write to a collection.
func (t *Tx) claimCollection(ns storage.Namespace, c *Coll) error {
	if err := t.Common.Claims.Check(claims.Key{NS: ns}, t.owner()); err != nil {
		return err
	}
	if t.Txn == nil {
		if t.Cluster != nil {
			return t.Cluster.CheckUse(ns)
		}
		return nil
	}
	t.Common.Claims.Use(ns, &t.Txn.holder)
	unchanged := func(now present) (bool, error) { return SameDescription(now.root.Get(ns), c), nil }
	if t.Cluster != nil {
		current, err := t.Cluster.ClaimUse(ns, c)
		if err != nil {
			return err
		}
		if current {
			t.verifyLater(unchanged)
			return nil
		}
	}
	return t.verify(claims.Key{}, unchanged)
}

// owner is the holder of the claims that do not hinder this transaction.
func (t *Tx) owner() *claims.Holder {
	switch {
	case t.Txn != nil:
		return &t.Txn.holder
	case t.Replays != nil:
		return &t.Replays.holder
	}
	return nil
}

// SameDescription reports whether a collection has the same description and has
// not been truncated.
func SameDescription(a, b *Coll) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Info == b.Info && a.Num == b.Num
}

// claimName is called before a catalog entry changes, which is a conflict
// while an open transaction has written to the collection.
func (t *Tx) claimName(ns storage.Namespace) error {
	if t.Txn == nil {
		if err := t.Common.Claims.CheckUnused(ns, t.owner()); err != nil {
			return err
		}
		if t.Cluster != nil {
			if err := t.Cluster.CheckName(ns); err != nil {
				return err
			}
		}
	}
	k := claims.Key{NS: ns}
	taken, err := t.ClaimHere(k)
	if err != nil || !taken {
		return err
	}
	if t.Cluster != nil {
		if err := t.Cluster.ClaimName(ns); err != nil {
			t.Common.Claims.Drop(k, &t.Txn.holder)
			return err
		}
	}
	if c := t.Root.Get(ns); c != nil {
		return nil // verified when it was made private
	}
	base := t.Start.root.Get(ns)
	return t.verify(k, func(now present) (bool, error) { return SameDescription(now.root.Get(ns), base), nil })
}

// claimRecords is called before all records are removed.
func (t *Tx) claimRecords(ns storage.Namespace, c *Coll) error {
	base := c.Change.Before
	k := claims.Key{NS: ns}
	taken, err := t.ClaimHere(k)
	if err != nil || t.Txn == nil || base == nil {
		return err
	}
	if t.Cluster != nil {
		if err := t.Cluster.ClaimName(ns); err != nil {
			return err
		}
	}
	if !taken {
		k = claims.Key{} // claimed before, not for this
	}
	t.Txn.ComparesStats = true
	return t.verify(k, func(now present) (bool, error) {
		c := now.root.find(ns, base)
		if c == nil {
			return false, nil
		}
		c, err := now.exact(c)
		return err == nil && c.Stamp == base.Stamp, err
	})
}

// claimRecord is called before a record is updated or deleted. old is its stored
// value if the caller has read it, or nil.
func (t *Tx) claimRecord(ns storage.Namespace, c *Coll, id storage.RecordID, old []byte) error {
	base := c.Change.Before
	if t.Txn != nil && (base == nil || id > base.LastID) {
		return nil // the transaction's own
	}
	k := claims.Key{Num: c.Num, ID: id}
	taken, err := t.ClaimHere(k)
	if err == nil && t.Txn == nil && t.Cluster != nil {
		return t.Cluster.CheckRecord(c.Num, id)
	}
	if err != nil || !taken {
		return err
	}
	before := old // the transaction has not written it before
	if before == nil {
		before, err = t.Start.reader().stored(t.Ctx, base, id)
	}
	if err == nil && t.Cluster != nil {
		err = t.Cluster.ClaimRecord(c.Num, id)
	}
	if err != nil {
		t.Common.Claims.Drop(k, &t.Txn.holder)
		return err
	}
	unchanged := func(now present) (bool, error) {
		c := now.root.find(ns, base)
		if c == nil {
			return false, nil
		}
		stored, err := now.stored(t.Ctx, c, id)
		return stored != nil && bytes.Equal(stored, before), err
	}
	if t.Cluster != nil { // the claim has seen that it is unchanged now
		t.verifyLater(unchanged)
		return nil
	}
	return t.verify(k, unchanged)
}

// claimKeys is called before keys are added. The keys are free in the
// transaction's own state, but another writer may have inserted them into the
// latest state.
func (t *Tx) claimKeys(ns storage.Namespace, c *Coll, diffs []keydiff.Change) error {
	if t.Cluster != nil {
		return t.Cluster.ClaimKeys(c, diffs)
	}
	if t.Txn == nil && !t.Common.Claims.Any() {
		return nil
	}
	for i, x := range c.Indexes {
		if !x.Maker.Unique() {
			continue
		}
		for _, key := range diffs[i].Add {
			if err := t.claimKey(ns, c, c.IndexName(i), x.Maker.Order(key)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *Tx) claimKey(ns storage.Namespace, c *Coll, name string, key []byte) error {
	k := claims.Key{Num: c.Num, Index: name, Key: string(key)}
	taken, err := t.ClaimHere(k)
	if err != nil || !taken {
		return err
	}
	used, err := t.keyTaken(ns, c.Change.Before, name, key)
	if err == nil && used {
		err = storage.ErrConflict
	}
	if err != nil {
		t.Common.Claims.Drop(k, &t.Txn.holder)
	}
	return err
}

// keyTaken reports whether the latest state has a key that the snapshot does
// not have.
func (t *Tx) keyTaken(ns storage.Namespace, base *Coll, name string, key []byte) (bool, error) {
	if base == nil {
		return false, nil
	}
	latest, err := t.Common.Backend.Latest()
	if err != nil {
		return false, err
	}
	defer latest.release()
	now := latest.root.find(ns, base)
	if now == nil {
		return false, nil
	}
	has := func(s *State, c *Coll) (bool, error) {
		x := c.Index(name)
		if x == nil {
			return false, nil
		}
		id, err := s.reader().Find(t.Ctx, c, x, key)
		return id != 0, err
	}
	if taken, err := has(latest, now); err != nil || !taken {
		return false, err
	}
	before, err := has(t.Start, base)
	return !before, err
}

// DropClaims releases claims on this server that a snapshot transaction has made.
func (t *Tx) DropClaims(list []claims.Key) {
	for _, k := range list {
		t.Common.Claims.Drop(k, &t.Txn.holder)
	}
}
