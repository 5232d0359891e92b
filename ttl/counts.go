package ttl

import (
	"slices"
	"sync"

	"github.com/duskdb/duskdb/value"
)

// Counts counts what has expired and been removed.
type Counts struct {
	Removed int64 // documents, buckets or messages, with those that were moved
	Moved   int64 // documents moved to a dead-letter collection or queue
}

func (t *Counts) add(o Counts) {
	t.Removed += o.Removed
	t.Moved += o.Moved
}

// PolicyCounts are the counts of one collection, by policy.
type PolicyCounts [NumPolicies]Counts

// Purged lists the removals under a document policy outside of a pass, by collection.
type Purged []PurgedFrom

// PurgedFrom is what was removed from one collection.
type PurgedFrom struct {
	UUID    [16]byte
	Removed Removed
	Lags    Lags
}

// Add adds removals from a collection, and how long after their expiry they were.
func (s *Purged) Add(uuid [16]byte, r Removed, l *Lags) {
	if r.Documents == 0 {
		return
	}
	i := slices.IndexFunc(*s, func(x PurgedFrom) bool { return x.UUID == uuid })
	if i < 0 {
		*s = append(*s, PurgedFrom{uuid, r, *l})
		return
	}
	(*s)[i].Removed.Add(r)
	(*s)[i].Lags.Add(l)
}

// removals counts removals since the start: in all, and of a bounded number of collections
// by themselves. A collection that is counted by itself remains so until it is dropped, so
// that no counter ever decreases, those of the rest included.
type removals struct {
	mu    sync.Mutex
	limit int // number of collections counted by themselves
	total PolicyCounts
	rest  PolicyCounts // counts of the others
	own   map[[16]byte]*PolicyCounts
}

func (t *removals) add(uuid [16]byte, p Policy, n Counts) {
	if n.Removed == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.total[p].add(n)
	if own := t.claim(uuid); own != nil {
		own[p].add(n)
		return
	}
	t.rest[p].add(n)
}

// claim returns the counts of a collection that is counted by itself, nil if there is
// no room for another. The caller holds mu.
func (t *removals) claim(uuid [16]byte) *PolicyCounts {
	if own := t.own[uuid]; own != nil || len(t.own) >= t.limit {
		return own
	}
	if t.own == nil {
		t.own = map[[16]byte]*PolicyCounts{}
	}
	own := &PolicyCounts{}
	t.own[uuid] = own
	return own
}

// Forget makes room: a collection was dropped.
func (m *Metrics) Forget(uuid [16]byte) {
	m.removals.mu.Lock()
	defer m.removals.mu.Unlock()
	delete(m.removals.own, uuid)
}

// CountCollections sets how many collections are counted by themselves. If they are more,
// all begin again.
func (m *Metrics) CountCollections(limit int) {
	m.removals.mu.Lock()
	defer m.removals.mu.Unlock()
	if m.removals.limit = limit; len(m.removals.own) > limit {
		m.removals.own = nil
	}
}

// Removed returns the counts of all collections.
func (m *Metrics) Removed() PolicyCounts {
	m.removals.mu.Lock()
	defer m.removals.mu.Unlock()
	return m.removals.total
}

// ByCollection returns the counts of the collections that are counted by themselves: those
// of the list, as far as there is room. Counts of collections that are not in the list are
// forgotten, since these are gone. rest are the counts of all others, past and present.
func (m *Metrics) ByCollection(all [][16]byte) (own map[[16]byte]PolicyCounts, rest PolicyCounts) {
	t := &m.removals
	t.mu.Lock()
	defer t.mu.Unlock()
	own = make(map[[16]byte]PolicyCounts, min(len(all), t.limit))
	for _, uuid := range all { // first those that have room already
		if x := t.own[uuid]; x != nil {
			own[uuid] = *x
		}
	}
	for uuid := range t.own {
		if _, ok := own[uuid]; !ok {
			delete(t.own, uuid)
		}
	}
	for _, uuid := range all {
		if len(own) >= t.limit {
			break
		}
		if _, ok := own[uuid]; !ok {
			own[uuid] = *t.claim(uuid)
		}
	}
	return own, t.rest
}

// CountsOf returns the counts of a collection, if it is counted by itself.
func (m *Metrics) CountsOf(uuid [16]byte) (PolicyCounts, bool) {
	m.removals.mu.Lock()
	defer m.removals.mu.Unlock()
	own := m.removals.own[uuid]
	if own == nil {
		return PolicyCounts{}, false
	}
	return *own, true
}

// appendRemoved writes what was removed under each policy that has removed something.
func (m *Metrics) appendRemoved(b *value.Builder) {
	b.StartDocument("removed")
	total := m.Removed()
	total.Append(b)
	b.End()
}

// Append writes the counts of the policies that have removed something into an open document.
func (t *PolicyCounts) Append(b *value.Builder) {
	for p := range NumPolicies {
		if n := t[p]; n.Removed > 0 {
			b.StartDocument(p.String()).Int64("removed", n.Removed).Int64("moved", n.Moved).End()
		}
	}
}

// appendPasses writes how long the passes took.
func (m *Metrics) appendPasses(b *value.Builder) {
	c := m.PassTimes.Counts()
	b.StartDocument("passes").Int64("count", c.Total()).Double("totalMillis", c.Seconds*1000)
	b.Double("p50Millis", c.Quantile(0.5)*1000).Double("p90Millis", c.Quantile(0.9)*1000).Double("p99Millis", c.Quantile(0.99)*1000)
	b.Int64("errors", m.Errors.Load()).End()
}
