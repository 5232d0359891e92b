package kvshared

import (
	"context"
	"fmt"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kv"
)

// follow takes the statistics that have changed, also by this server. It reports
// whether another one has changed some. Rows that are newer than the head, which were
// read after it, may belong to a later catalog: they are left for the next call.
func (e *Engine) follow(h Head, rows []StatsRow) (news bool, err error) {
	if cat, err := e.latestCatalog(); err != nil {
		return false, err
	} else if cat.version < h.Catalog {
		if err := e.reload(e.life); err != nil {
			return false, err
		}
		news = true
	}
	e.learn(h)
	e.knownMu.Lock()
	defer e.knownMu.Unlock()
	now := e.known.Load()
	if now == nil {
		return false, storage.ErrClosed
	}
	changed := map[uint32]StatsRow{}
	for _, row := range rows {
		if row.Version <= h.Version {
			changed[row.Num] = row
		}
	}
	next := now.root.Fork()
	var renewed []*kv.Coll
	next.Collections.Scan(func(ce kv.CatalogEntry) bool {
		if row, ok := changed[ce.Coll.Num]; ok && ce.Coll.Stamp < uint64(row.Version) {
			var c *kv.Coll
			if c, err = ce.Coll.WithStats(uint64(row.Version), row.Row); err == nil {
				c.Estimated = true
				renewed = append(renewed, c)
			}
		}
		return err == nil
	})
	if err != nil {
		return news, err
	}
	for _, c := range renewed {
		next.Set(c)
	}
	if len(renewed) > 0 {
		e.known.Store(&catalog{root: next, version: now.version})
	}
	return news || len(renewed) > 0, nil
}

// latestCatalog is the catalog as far as it is known.
func (e *Engine) latestCatalog() (*catalog, error) {
	c := e.known.Load()
	if c == nil {
		return nil, storage.ErrClosed
	}
	return c, nil
}

// reload reads what has changed in the catalog.
func (e *Engine) reload(ctx context.Context) error {
	before, err := e.latestCatalog()
	if err != nil {
		return err
	}
	head, rows, err := e.store.Catalog(ctx, before.version)
	if err != nil {
		return err
	}
	e.learn(head)
	e.knownMu.Lock()
	defer e.knownMu.Unlock()
	now := e.known.Load()
	if now == nil {
		return storage.ErrClosed
	}
	if now.version >= head.Catalog {
		return nil
	}
	next, err := e.changed(now.root, rows)
	if err == nil {
		e.known.Store(&catalog{root: next, version: head.Catalog})
	}
	return err
}

// learn takes what a head says.
func (e *Engine) learn(h Head) {
	for {
		old := e.head.Load()
		if old.Version >= h.Version || e.head.CompareAndSwap(old, &h) {
			break
		}
	}
	for {
		old := e.stamp.Load()
		if old >= h.Stamp || e.stamp.CompareAndSwap(old, h.Stamp) {
			return
		}
	}
}

// changed applies rows to a catalog. Descriptions that are as they were stay the
// same.
func (e *Engine) changed(before *kv.Root, rows []CatalogRow) (*kv.Root, error) {
	byNum := map[uint32]*kv.Coll{}
	before.Collections.Scan(func(ce kv.CatalogEntry) bool {
		byNum[ce.Coll.Num] = ce.Coll
		return true
	})
	next := kv.NewRoot()
	for _, row := range rows {
		c := byNum[row.Num]
		if c == nil || c.EntryVersion != row.Version {
			var err error
			if c, err = e.describe(c, row); err != nil {
				return nil, err
			}
		}
		if err := next.Add(c); err != nil {
			return nil, err
		}
	}
	return next, nil
}

// describe makes a collection of a row. was is what it was before, or nil.
func (e *Engine) describe(was *kv.Coll, row CatalogRow) (*kv.Coll, error) {
	if row.Doc == nil {
		return nil, fmt.Errorf("the description of collection %d is missing", row.Num)
	}
	c, err := kv.ParseCatalog(row.Num, row.Doc)
	if err != nil {
		return nil, err
	}
	if err := c.ReadStats(row.Stats.Row); err != nil {
		return nil, err
	}
	c.Estimated, c.Stamp, c.EntryVersion = true, uint64(row.Stats.Version), row.Version
	if was != nil && string(was.CatalogDoc()) == string(row.Doc) {
		c.Info = was.Info // only arrays were found in more fields
		for i, x := range was.Indexes {
			c.Indexes[i].Maker = x.Maker
		}
		return c, nil
	}
	return c, e.common.Compile(c)
}
