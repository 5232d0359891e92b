package ttl

import (
	"sync"

	"github.com/duskdb/duskdb/value"
)

// Tally counts what has expired and been removed.
type Tally struct {
	Removed int64 // documents, buckets or messages, with those that were moved
	Moved   int64 // documents moved to a dead-letter collection or queue
}

func (t *Tally) add(o Tally) {
	t.Removed += o.Removed
	t.Moved += o.Moved
}

// Tallies are the counts of one collection, by policy.
type Tallies [policies]Tally

// Of returns the counts of a policy.
func (t *Tallies) Of(p Policy) Tally { return t[p] }

// Settled lists the removals under a document policy outside of a pass, by collection.
type Settled []struct {
	UUID    [16]byte
	Removed Removed
	Lags    Lags
}

// Add adds removals of a collection, and how long after their expiry they were.
func (s *Settled) Add(uuid [16]byte, r Removed, l *Lags) {
	if r.Documents == 0 {
		return
	}
	for i := range *s {
		if x := &(*s)[i]; x.UUID == uuid {
			x.Removed.Add(r)
			x.Lags.Add(l)
			return
		}
	}
	*s = append(*s, struct {
		UUID    [16]byte
		Removed Removed
		Lags    Lags
	}{uuid, r, *l})
}

// tally counts removals since the start: in all, and of a bounded number of collections
// by themselves. A collection that is counted by itself remains so until it is dropped, so
// that no counter ever decreases, those of the rest included.
type tally struct {
	mu    sync.Mutex
	limit int // maximum number of collections counted by themselves
	total Tallies
	rest  Tallies // counts of the others
	own   map[[16]byte]*Tallies
}

func (t *tally) add(uuid [16]byte, p Policy, n Tally) {
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
func (t *tally) claim(uuid [16]byte) *Tallies {
	if own := t.own[uuid]; own != nil || len(t.own) >= t.limit {
		return own
	}
	if t.own == nil {
		t.own = map[[16]byte]*Tallies{}
	}
	own := &Tallies{}
	t.own[uuid] = own
	return own
}

// Forget makes room: a collection was dropped.
func (m *Metrics) Forget(uuid [16]byte) {
	m.tally.mu.Lock()
	defer m.tally.mu.Unlock()
	delete(m.tally.own, uuid)
}

// CountCollections sets how many collections are counted by themselves. If they are more,
// all begin again.
func (m *Metrics) CountCollections(limit int) {
	m.tally.mu.Lock()
	defer m.tally.mu.Unlock()
	if m.tally.limit = limit; len(m.tally.own) > limit {
		m.tally.own = nil
	}
}

// Removed returns the counts of all collections.
func (m *Metrics) Removed() Tallies {
	m.tally.mu.Lock()
	defer m.tally.mu.Unlock()
	return m.tally.total
}

// ByCollection returns the counts of the collections that are counted by themselves: those
// of the list, as far as there is room; others of which the server still has counts are
// gone, and forgotten. rest are the counts of all that are or were not counted by themselves.
func (m *Metrics) ByCollection(all [][16]byte) (own map[[16]byte]Tallies, rest Tallies) {
	t := &m.tally
	t.mu.Lock()
	defer t.mu.Unlock()
	own = make(map[[16]byte]Tallies, min(len(all), t.limit))
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

// TallyOf returns the counts of a collection, if it is counted by itself.
func (m *Metrics) TallyOf(uuid [16]byte) (Tallies, bool) {
	m.tally.mu.Lock()
	defer m.tally.mu.Unlock()
	own := m.tally.own[uuid]
	if own == nil {
		return Tallies{}, false
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
func (t *Tallies) Append(b *value.Builder) {
	for p := range policies {
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
