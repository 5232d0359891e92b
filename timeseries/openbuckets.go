package timeseries

import (
	"container/list"
	"sync"

	"github.com/duskdb/duskdb/storage"
)

// Catalog keeps track, for all collections, of the buckets that may still be
// open. It only proposes buckets: each is checked against the stored record.
// So it need not be informed of rollbacks, deletes or drops, and may drop
// entries. It is safe for concurrent use.
type Catalog struct {
	mu      sync.Mutex
	series  map[string]*list.Element // elements with a *series
	recent  *list.List               // last used first
	limit   int                      // series that are remembered
	reopens int64
}

// series are the open buckets of one meta value, last used first.
type series struct {
	key  string
	open []candidate
}

// candidate is a bucket that may be open.
type candidate struct {
	record  storage.RecordID
	minimum int64 // milliseconds
	// closed says that the last insert has closed it. It is remembered until the next
	// one, because that may be the same insert once more, after its writes were undone.
	closed bool
}

const (
	maxSeries = 100_000 // series that are remembered
	maxOpen   = 4       // buckets of a series that are remembered
)

// NewCatalog makes an empty Catalog.
func NewCatalog() *Catalog {
	return &Catalog{series: map[string]*list.Element{}, recent: list.New(), limit: maxSeries}
}

// candidates returns the buckets of a series.
func (c *Catalog) candidates(key string) []candidate {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.series[key]
	if e == nil {
		return nil
	}
	c.recent.MoveToFront(e)
	return append([]candidate(nil), e.Value.(*series).open...)
}

// remember replaces the buckets of a series and returns those above the limit.
func (c *Catalog) remember(key string, open []candidate) (archived []candidate) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(open) > maxOpen {
		archived, open = open[maxOpen:], open[:maxOpen]
	}
	if e := c.series[key]; e != nil {
		e.Value.(*series).open = open
		return archived
	}
	c.series[key] = c.recent.PushFront(&series{key, open})
	for len(c.series) > c.limit {
		last := c.recent.Back()
		c.recent.Remove(last)
		delete(c.series, last.Value.(*series).key)
	}
	return archived
}

// Stats are figures for collStats and serverStatus.
type Stats struct {
	Series  int   // meta values with open buckets
	Open    int   // open buckets
	Reopens int64 // buckets reopened from storage
}

// Stats returns figures about the catalog.
func (c *Catalog) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := Stats{Series: len(c.series), Reopens: c.reopens}
	for e := c.recent.Front(); e != nil; e = e.Next() {
		for _, k := range e.Value.(*series).open {
			if !k.closed {
				s.Open++
			}
		}
	}
	return s
}
