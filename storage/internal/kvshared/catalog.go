package kvshared

import (
	"context"
	"fmt"

	"github.com/duskdb/duskdb/storage/internal/kv"
)

// follow takes the statistics that have changed, also by this server. It reports
// whether another one has changed some. Rows that are newer than the head, which were
// read after it, may belong to a later catalog: they are left for the next call.
func (e *Engine) follow(h Head, rows []StatsRow) (news bool, err error) {
	cat, err := e.known.latest()
	if err != nil {
		return false, err
	}
	if cat.version < h.Catalog {
		if err := e.reload(e.life); err != nil {
			return false, err
		}
		news = true
	}
	e.known.learn(h)
	changed := map[uint32]StatsRow{}
	for _, row := range rows {
		if row.Version <= h.Version {
			changed[row.Num] = row
		}
	}
	err = e.known.replace(func(now *catalog) (*catalog, error) {
		root, err := renewed(now.root, changed)
		if root == nil {
			return nil, err
		}
		news = true
		return &catalog{root: root, version: now.version}, nil
	})
	return news, err
}

// renewed returns the collections with newer statistics; nil if none are newer.
func renewed(now *kv.Root, rows map[uint32]StatsRow) (next *kv.Root, err error) {
	var list []*kv.Coll
	now.All(func(old *kv.Coll) bool {
		if row, ok := rows[old.Num]; ok && old.Stamp < uint64(row.Version) {
			var c *kv.Coll
			if c, err = old.WithStats(uint64(row.Version), row.Row); err == nil {
				c.Estimated = true
				list = append(list, c)
			}
		}
		return err == nil
	})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	next = now.Fork()
	for _, c := range list {
		next.Set(c)
	}
	return next, nil
}

// reload reads what has changed in the catalog.
func (e *Engine) reload(ctx context.Context) error {
	before, err := e.known.latest()
	if err != nil {
		return err
	}
	head, rows, err := e.store.Catalog(ctx, before.version)
	if err != nil {
		return err
	}
	e.known.learn(head)
	return e.known.replace(func(now *catalog) (*catalog, error) {
		if now.version >= head.Catalog {
			return nil, nil
		}
		root, err := e.changed(now.root, rows)
		return &catalog{root: root, version: head.Catalog}, err
	})
}

// changed applies rows to a catalog. Descriptions that are as they were stay the
// same.
func (e *Engine) changed(before *kv.Root, rows []CatalogRow) (*kv.Root, error) {
	byNum := map[uint32]*kv.Coll{}
	before.All(func(c *kv.Coll) bool {
		byNum[c.Num] = c
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
