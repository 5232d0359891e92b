package kvshared

import (
	"sync"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kv"
)

// changes answers which collections have changed since the call before, by the versions
// that the commits of all servers leave in the catalog and in the statistics.
type changes struct {
	mu      sync.Mutex
	mark    uint64 // the mark that was given last
	catalog int64  // version of the catalog that was read last
	seen    map[uint32]seenCollection
}

// seenCollection is a collection as it was read last.
type seenCollection struct {
	name               storage.Namespace
	description, stats int64 // versions
}

var _ storage.ChangeLister = (*Engine)(nil)

// Changed implements storage.ChangeLister, in one round trip.
func (e *Engine) Changed(mark uint64) (names []storage.Namespace, all bool, next uint64) {
	c := &e.changes
	c.mu.Lock()
	defer c.mu.Unlock()
	if all = mark == 0 || mark != c.mark; all {
		c.catalog, c.seen = -1, nil
	}
	c.mark++
	head, rows, err := e.store.Catalog(e.life, c.catalog)
	if err == nil {
		names, err = c.compare(rows)
	}
	if err != nil { // what is wrong, the caller will find when it reads
		c.mark++
		return nil, true, 0
	}
	c.catalog = head.Catalog
	if all {
		names = nil
	}
	return names, all, c.mark
}

// compare returns the names, of now and before, of the collections that are not as they were.
func (c *changes) compare(rows []CatalogRow) (names []storage.Namespace, err error) {
	now := make(map[uint32]seenCollection, len(rows))
	for _, row := range rows {
		before, known := c.seen[row.Num]
		s := seenCollection{before.name, row.Version, row.Stats.Version}
		if row.Doc != nil || !known {
			coll, err := kv.ParseCatalog(row.Num, row.Doc)
			if err != nil {
				return nil, err
			}
			s.name = coll.Info.Namespace
		}
		if now[row.Num] = s; s != before {
			names = append(names, s.name)
		}
		if known && s.name != before.name {
			names = append(names, before.name)
		}
	}
	for num, before := range c.seen {
		if _, exists := now[num]; !exists {
			names = append(names, before.name)
		}
	}
	c.seen = now
	return names, nil
}
