package kv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/duskdb/duskdb/storage"
)

// An index over a shared store is built beside writers, by one server: the catalog has
// it, but no reader sees it. Its records are added in the order of their ids, so many
// with each commit. Writers, also those of other servers, keep its entries for
// the records that have been added, and for those that are new since it began; a unique
// one refuses equal keys among them. When all are in, CreateIndex makes it visible.
//
// What a server has left that died meanwhile, the next one removes that is opened or
// prepares an index.

var _ storage.IndexPreparer = (*Shared)(nil)

// build is an index while this server builds it.
type build struct {
	e     *Shared
	ns    storage.Namespace
	spec  storage.IndexSpec
	coll  uint32 // numbers
	index uint32
	done  bool
}

// PrepareIndex builds an index over the present records while writers continue.
func (e *Shared) PrepareIndex(ctx context.Context, ns storage.Namespace, spec storage.IndexSpec) (release func(), err error) {
	if err := e.clearOrphans(ctx); err != nil {
		return nil, err
	}
	b := &build{e: e, ns: ns, spec: cloneSpec(spec)}
	if err := e.update(ctx, nil, b.begin); err != nil {
		return nil, err
	}
	e.builds.Store(b.index, nil)
	release = sync.OnceFunc(b.end)
	for !b.done {
		if err := b.more(ctx); err != nil {
			release()
			return nil, err
		}
	}
	return release, nil
}

// begin adds the index to the catalog.
func (b *build) begin(t *tx) error {
	c, err := t.own(b.ns)
	if err != nil {
		return err
	}
	named := func(other building, _ *index) bool { return other.spec.Name == b.spec.Name }
	if c.index(b.spec.Name) != nil || c.unfinished(named) >= 0 {
		return fmt.Errorf("index %q: %w", b.spec.Name, storage.ErrExists)
	}
	maker, err := t.e.opts.Indexer.Index(c.info.Options, b.spec)
	if err != nil {
		return err
	}
	x := t.newIndex(maker)
	c.indexes = append(slices.Clip(c.indexes), x)
	c.building = append(slices.Clip(c.building), building{b.spec, b.e.store.Name(), c.lastID})
	c.change.catalog = true
	b.coll, b.index, b.done = c.num, x.num, c.lastID == 0
	return nil
}

// more adds records, in one commit.
func (b *build) more(ctx context.Context) error {
	fn := func(t *tx) error { return b.add(t) }
	m, _, err := b.e.draft(ctx, nil, true, fn)
	if err != nil {
		return err
	}
	return b.e.persist(ctx, func() error { return b.e.updateOnce(ctx, nil, fn, m) })
}

// What one commit adds to an index.
const (
	builtRecords = 1000
	builtBytes   = 4 << 20
)

var errNotBuilt = errors.New("the index is not being built any more")

// add adds the entries of the records that come next.
func (b *build) add(t *tx) error {
	c, err := t.own(b.ns)
	if err != nil {
		return err
	}
	i := c.unfinished(func(_ building, x *index) bool { return x.num == b.index })
	if i < 0 || c.num != b.coll {
		return errNotBuilt
	}
	x, limit := c.indexes[i], c.building[i-len(c.info.Indexes)].limit
	var records []storage.Record
	size, all := 0, true
	err = t.scanRecords(t.ctx, c, storage.Range{After: x.filled, Until: limit, Wanted: builtRecords}, func(r storage.Record) bool {
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
		if keys, err = x.keysOf(keys, r); err != nil {
			return err
		}
		if err := addNew(t, c, x, b.spec.Name, keys, r.ID); err != nil {
			return err
		}
	}
	if x.filled = limit; !all {
		x.filled = records[len(records)-1].ID
	}
	b.done = all
	c.change.data = true
	return nil
}

// addNew adds the keys of a record that the index does not have.
func addNew(t *tx, c *coll, x *index, name string, keys [][]byte, id storage.RecordID) error {
	for _, key := range keys {
		if x.maker.Unique() {
			other, err := t.holder(c, x, x.maker.Order(key))
			if err != nil {
				return err
			}
			if other != 0 && other != id {
				return &storage.DuplicateKeyError{Namespace: c.info.Namespace, Index: name, Key: bytes.Clone(key), Existing: other}
			}
		}
		t.addEntry(c, x, key, id)
	}
	return nil
}

// end removes an index that nobody has made visible.
func (b *build) end() {
	defer b.e.builds.Delete(b.index)
	cat, err := b.e.latestCatalog()
	if err != nil || !cat.builds(func(c *coll) bool { return c.num == b.coll && b.left(c) >= 0 }) {
		return
	}
	_ = b.e.removeBuilds(b.e.life, func(c *coll, _ building, x *index) bool { return c.num == b.coll && x.num == b.index })
}

func (b *build) left(c *coll) int {
	return c.unfinished(func(_ building, x *index) bool { return x.num == b.index })
}

// builds reports whether a collection matches.
func (c *catalog) builds(match func(*coll) bool) (found bool) {
	c.root.colls.Scan(func(ce catalogEntry) bool {
		found = len(ce.coll.building) > 0 && match(ce.coll)
		return !found
	})
	return found
}

// removeBuilds removes indexes that are being built.
func (e *Shared) removeBuilds(ctx context.Context, match func(c *coll, b building, x *index) bool) error {
	return e.update(ctx, nil, func(t *tx) error {
		var list []*coll
		t.root.colls.Scan(func(ce catalogEntry) bool {
			if c := ce.coll; c.unfinished(func(b building, x *index) bool { return match(c, b, x) }) >= 0 {
				list = append(list, c)
			}
			return true
		})
		for _, found := range list {
			c, err := t.own(found.info.Namespace)
			if err != nil {
				return err
			}
			t.dropBuilding(c, func(b building, x *index) bool { return match(found, b, x) })
		}
		return nil
	})
}

// clearOrphans removes what servers have left that are gone, and what this one could not
// remove.
func (e *Shared) clearOrphans(ctx context.Context) error {
	cat, err := e.latestCatalog()
	if err != nil || !cat.builds(func(*coll) bool { return true }) {
		return err
	}
	living, err := e.store.Living(ctx)
	if err != nil {
		return err
	}
	return e.removeBuilds(ctx, func(_ *coll, b building, x *index) bool {
		if b.owner == e.store.Name() {
			_, busy := e.builds.Load(x.num)
			return !busy
		}
		return !slices.Contains(living, b.owner)
	})
}
