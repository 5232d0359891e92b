package kvshared

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kv"
)

// An index over a shared store is built beside writers, by one server: the catalog has
// it, but no reader sees it. Its records are added in the order of their ids, so many
// with each commit. Writers, also those of other servers, keep its entries for
// the records that have been added, and for those that are new since it began; a unique
// one refuses equal keys among them. When all are in, CreateIndex makes it visible.
//
// What a server has left that died meanwhile, the next one removes that is opened or
// prepares an index.

var _ storage.IndexPreparer = (*Engine)(nil)

// build is an index while this server builds it.
type build struct {
	e     *Engine
	ns    storage.Namespace
	spec  storage.IndexSpec
	coll  uint32 // numbers
	index uint32
	done  bool
}

// PrepareIndex builds an index over the present records while writers continue.
func (e *Engine) PrepareIndex(ctx context.Context, ns storage.Namespace, spec storage.IndexSpec) (release func(), err error) {
	if err := e.clearOrphans(ctx); err != nil {
		return nil, err
	}
	b := &build{e: e, ns: ns, spec: kv.CloneSpec(spec)}
	if err := e.update(ctx, nil, b.begin); err != nil {
		return nil, err
	}
	e.builds.Store(b.index, nil)
	release = sync.OnceFunc(b.end)
	for !b.done {
		if err := b.addSome(ctx); err != nil {
			release()
			return nil, err
		}
	}
	return release, nil
}

// begin adds the index to the catalog.
func (b *build) begin(t *kv.Tx) error {
	c, err := t.Own(b.ns)
	if err != nil {
		return err
	}
	named := func(other kv.BuildingIndex, _ *kv.Index) bool { return other.Spec.Name == b.spec.Name }
	if c.Index(b.spec.Name) != nil || c.FindBuilding(named) >= 0 {
		return fmt.Errorf("index %q: %w", b.spec.Name, storage.ErrExists)
	}
	maker, err := t.Common.Options.Indexer.Index(c.Info.Options, b.spec)
	if err != nil {
		return err
	}
	x := t.NewIndex(maker)
	c.Indexes = append(slices.Clip(c.Indexes), x)
	c.Building = append(slices.Clip(c.Building), kv.BuildingIndex{Spec: b.spec, Owner: b.e.store.Name(), Limit: c.LastID})
	c.Change.Description = true
	b.coll, b.index, b.done = c.Num, x.Num, c.LastID == 0
	return nil
}

// addSome adds records, in one commit.
func (b *build) addSome(ctx context.Context) error {
	fn := func(t *kv.Tx) error { return b.add(t) }
	m, _, err := b.e.dryRun(ctx, nil, true, fn)
	if err != nil {
		return err
	}
	return b.e.retry(ctx, func() error { return b.e.updateOnce(ctx, nil, fn, m) })
}

// What one commit adds to an index.
const (
	builtRecords = 1000
	builtBytes   = 4 << 20
)

var errNotBuilt = errors.New("the index is not being built any more")

// add adds the entries of the records that come next.
func (b *build) add(t *kv.Tx) error {
	c, err := t.Own(b.ns)
	if err != nil {
		return err
	}
	i := c.FindBuilding(func(_ kv.BuildingIndex, x *kv.Index) bool { return x.Num == b.index })
	if i < 0 || c.Num != b.coll {
		return errNotBuilt
	}
	x, limit := c.Indexes[i], c.Building[i-len(c.Info.Indexes)].Limit
	var records []storage.Record
	size, all := 0, true
	err = t.ScanRecords(t.Ctx, c, storage.Range{After: x.FilledTo, Until: limit, Wanted: builtRecords}, func(r storage.Record) bool {
		records = append(records, r)
		size += len(r.Doc)
		all = len(records) < builtRecords && size < builtBytes
		return all
	})
	if err != nil {
		return err
	}
	var keys [][]byte
	for _, r := range records {
		if keys, err = x.KeysOf(keys, r); err != nil {
			return err
		}
		if err := addNew(t, c, x, b.spec.Name, keys, r.ID); err != nil {
			return err
		}
	}
	if x.FilledTo = limit; !all {
		x.FilledTo = records[len(records)-1].ID
	}
	b.done = all
	c.Change.Records = true
	return nil
}

// addNew adds the keys of a record that the index does not have.
func addNew(t *kv.Tx, c *kv.Coll, x *kv.Index, name string, keys [][]byte, id storage.RecordID) error {
	for _, key := range keys {
		if x.Maker.Unique() {
			other, err := t.FindHolder(c, x, x.Maker.Order(key))
			if err != nil {
				return err
			}
			if other != 0 && other != id {
				return &storage.DuplicateKeyError{Namespace: c.Info.Namespace, Index: name, Key: bytes.Clone(key), Existing: other}
			}
		}
		t.AddEntry(c, x, key, id)
	}
	return nil
}

// end removes an index that nobody has made visible.
func (b *build) end() {
	defer b.e.builds.Delete(b.index)
	cat, err := b.e.known.latest()
	if err != nil || !cat.builds(func(c *kv.Coll) bool { return c.Num == b.coll && b.left(c) >= 0 }) {
		return
	}
	_ = b.e.removeBuilds(b.e.life, func(c *kv.Coll, _ kv.BuildingIndex, x *kv.Index) bool { return c.Num == b.coll && x.Num == b.index })
}

func (b *build) left(c *kv.Coll) int {
	return c.FindBuilding(func(_ kv.BuildingIndex, x *kv.Index) bool { return x.Num == b.index })
}

// builds reports whether a collection matches.
func (c *catalog) builds(match func(*kv.Coll) bool) (found bool) {
	c.root.All(func(of *kv.Coll) bool {
		found = len(of.Building) > 0 && match(of)
		return !found
	})
	return found
}

// removeBuilds removes indexes that are being built.
func (e *Engine) removeBuilds(ctx context.Context, match func(c *kv.Coll, b kv.BuildingIndex, x *kv.Index) bool) error {
	return e.update(ctx, nil, func(t *kv.Tx) error {
		var list []*kv.Coll
		t.Root.All(func(c *kv.Coll) bool {
			if c.FindBuilding(func(b kv.BuildingIndex, x *kv.Index) bool { return match(c, b, x) }) >= 0 {
				list = append(list, c)
			}
			return true
		})
		for _, found := range list {
			c, err := t.Own(found.Info.Namespace)
			if err != nil {
				return err
			}
			t.DropBuilding(c, func(b kv.BuildingIndex, x *kv.Index) bool { return match(found, b, x) })
		}
		return nil
	})
}

// clearOrphans removes what servers have left that are gone, and what this one could not
// remove.
func (e *Engine) clearOrphans(ctx context.Context) error {
	cat, err := e.known.latest()
	if err != nil || !cat.builds(func(*kv.Coll) bool { return true }) {
		return err
	}
	living, err := e.store.Living(ctx)
	if err != nil {
		return err
	}
	return e.removeBuilds(ctx, func(_ *kv.Coll, b kv.BuildingIndex, x *kv.Index) bool {
		if b.Owner == e.store.Name() {
			_, busy := e.builds.Load(x.Num)
			return !busy
		}
		return !slices.Contains(living, b.Owner)
	})
}
