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
	root  *root
	exact func(*coll) (*coll, error) // the collection with exact statistics
}

// exactly returns a collection of a state with exact statistics.
func (s *state) exactly(ctx context.Context, c *coll) (*coll, error) {
	if s.exact == nil {
		return c, nil
	}
	return s.exact(ctx, c)
}

// claim is the common part. taken reports whether a snapshot transaction
// claimed k for the first time.
func (t *tx) claim(k claims.Key) (taken bool, err error) {
	if t.snap != nil {
		return t.e.claims.Claim(k, &t.snap.holder)
	}
	return false, t.e.claims.Check(k, t.owner())
}

// verify checks a condition on the latest state now and at commit. If it does
// not hold, the claim is released.
func (t *tx) verify(k claims.Key, unchanged func(present) (bool, error)) error {
	latest, err := t.e.host.Latest()
	if err != nil {
		return err
	}
	defer latest.release()
	ok, err := unchanged(present{
		reader: reader{snap: latest.snap}, root: latest.root,
		exact: func(c *coll) (*coll, error) { return latest.exactly(t.ctx, c) },
	})
	if err == nil && !ok {
		err = storage.ErrConflict
	}
	if err != nil {
		t.e.claims.Drop(k, &t.snap.holder)
		return err
	}
	t.verifyLater(unchanged)
	return nil
}

// verifyLater checks a condition at commit.
func (t *tx) verifyLater(unchanged func(present) (bool, error)) {
	t.record(func(u *tx) error {
		ok, err := unchanged(present{reader: u.reader, root: u.root, exact: u.exactly})
		if err == nil && !ok {
			err = storage.ErrConflict
		}
		return err
	})
}

// claimCollection is called before the first write to a collection.
func (t *tx) claimCollection(ns storage.Namespace, c *coll) error {
	if err := t.e.claims.Check(claims.Key{NS: ns}, t.owner()); err != nil {
		return err
	}
	if t.snap == nil {
		if t.cluster != nil {
			return t.cluster.CheckUse(ns)
		}
		return nil
	}
	t.e.claims.Use(ns, &t.snap.holder)
	unchanged := func(now present) (bool, error) { return sameCatalog(now.root.get(ns), c), nil }
	if t.cluster != nil {
		current, err := t.cluster.ClaimUse(ns, c)
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
func (t *tx) owner() *claims.Holder {
	switch {
	case t.snap != nil:
		return &t.snap.holder
	case t.replays != nil:
		return &t.replays.holder
	}
	return nil
}

// sameCatalog reports whether a collection has the same description and has
// not been truncated.
func sameCatalog(a, b *coll) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.info == b.info && a.num == b.num
}

// claimName is called before a catalog entry changes, which is a conflict
// while an open transaction has written to the collection.
func (t *tx) claimName(ns storage.Namespace) error {
	if t.snap == nil {
		if err := t.e.claims.CheckUnused(ns, t.owner()); err != nil {
			return err
		}
		if t.cluster != nil {
			if err := t.cluster.CheckName(ns); err != nil {
				return err
			}
		}
	}
	k := claims.Key{NS: ns}
	taken, err := t.claim(k)
	if err != nil || !taken {
		return err
	}
	if t.cluster != nil {
		if err := t.cluster.ClaimName(ns); err != nil {
			t.e.claims.Drop(k, &t.snap.holder)
			return err
		}
	}
	if c := t.root.get(ns); c != nil {
		return nil // verified when it was made private
	}
	base := t.base.root.get(ns)
	return t.verify(k, func(now present) (bool, error) { return sameCatalog(now.root.get(ns), base), nil })
}

// claimRecords is called before all records are removed.
func (t *tx) claimRecords(ns storage.Namespace, c *coll) error {
	base := c.change.base
	k := claims.Key{NS: ns}
	taken, err := t.claim(k)
	if err != nil || t.snap == nil || base == nil {
		return err
	}
	if t.cluster != nil {
		if err := t.cluster.ClaimName(ns); err != nil {
			return err
		}
	}
	if !taken {
		k = claims.Key{} // claimed before, not for this
	}
	t.snap.exact = true
	return t.verify(k, func(now present) (bool, error) {
		c := now.root.find(ns, base)
		if c == nil {
			return false, nil
		}
		c, err := now.exact(c)
		return err == nil && c.stamp == base.stamp, err
	})
}

// claimRecord is called before a record is updated or deleted. old is its stored
// value if the caller has read it, or nil.
func (t *tx) claimRecord(ns storage.Namespace, c *coll, id storage.RecordID, old []byte) error {
	base := c.change.base
	if t.snap != nil && (base == nil || id > base.lastID) {
		return nil // the transaction's own
	}
	k := claims.Key{Num: c.num, ID: id}
	taken, err := t.claim(k)
	if err == nil && t.snap == nil && t.cluster != nil {
		return t.cluster.CheckRecord(c.num, id)
	}
	if err != nil || !taken {
		return err
	}
	before := old // the transaction has not written it before
	if before == nil {
		before, err = reader{snap: t.reader.snap}.stored(t.ctx, base, id)
	}
	if err == nil && t.cluster != nil {
		err = t.cluster.ClaimRecord(c.num, id)
	}
	if err != nil {
		t.e.claims.Drop(k, &t.snap.holder)
		return err
	}
	unchanged := func(now present) (bool, error) {
		c := now.root.find(ns, base)
		if c == nil {
			return false, nil
		}
		stored, err := now.stored(t.ctx, c, id)
		return stored != nil && bytes.Equal(stored, before), err
	}
	if t.cluster != nil { // the claim has seen that it is unchanged now
		t.verifyLater(unchanged)
		return nil
	}
	return t.verify(k, unchanged)
}

// claimKeys is called before keys are added. The keys are free in the
// transaction's own state, but another writer may have inserted them into the
// latest state.
func (t *tx) claimKeys(ns storage.Namespace, c *coll, diffs []keydiff.Change) error {
	if t.cluster != nil {
		return t.cluster.ClaimKeys(c, diffs)
	}
	if t.snap == nil && !t.e.claims.Any() {
		return nil
	}
	for i, x := range c.indexes {
		if !x.maker.Unique() {
			continue
		}
		for _, key := range diffs[i].Add {
			if err := t.claimKey(ns, c, c.nameOf(i), x.maker.Order(key)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *tx) claimKey(ns storage.Namespace, c *coll, name string, key []byte) error {
	k := claims.Key{Num: c.num, Index: name, Key: string(key)}
	taken, err := t.claim(k)
	if err != nil || !taken {
		return err
	}
	used, err := t.keyTaken(ns, c.change.base, name, key)
	if err == nil && used {
		err = storage.ErrConflict
	}
	if err != nil {
		t.e.claims.Drop(k, &t.snap.holder)
	}
	return err
}

// keyTaken reports whether the latest state has a key that the snapshot does
// not have.
func (t *tx) keyTaken(ns storage.Namespace, base *coll, name string, key []byte) (bool, error) {
	if base == nil {
		return false, nil
	}
	latest, err := t.e.host.Latest()
	if err != nil {
		return false, err
	}
	defer latest.release()
	now := latest.root.find(ns, base)
	if now == nil {
		return false, nil
	}
	has := func(s *state, c *coll) (bool, error) {
		x := c.index(name)
		if x == nil {
			return false, nil
		}
		id, err := reader{snap: s.snap}.find(t.ctx, c, x, key)
		return id != 0, err
	}
	if taken, err := has(latest, now); err != nil || !taken {
		return false, err
	}
	before, err := has(t.base, base)
	return !before, err
}

// dropClaims releases claims on this server that a snapshot transaction has made.
func (t *tx) dropClaims(list []claims.Key) {
	for _, k := range list {
		t.e.claims.Drop(k, &t.snap.holder)
	}
}
