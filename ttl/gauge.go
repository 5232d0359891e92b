package ttl

import (
	"math"

	"github.com/duskdb/duskdb/storage"
)

// Gauge says what is waiting to expire, for monitoring: it costs a few reads of an index,
// however many documents there are.
type Gauge struct {
	// Pending is how many records will expire, including the overdue ones. It may count
	// too many if the field of a TTL index is missing in many documents, or has arrays.
	Pending int64
	Overdue int64 // expired and not removed yet; at least so many if the budget was used up
	Oldest  int64 // when the first overdue one expired
	Next    int64 // when the next one that is not overdue expires
	HasNext bool
}

// Add adds what is waiting elsewhere.
func (g *Gauge) Add(o Gauge) {
	if o.Overdue > 0 && (g.Overdue == 0 || o.Oldest < g.Oldest) {
		g.Oldest = o.Oldest
	}
	if o.HasNext && (!g.HasNext || o.Next < g.Next) {
		g.Next, g.HasNext = o.Next, true
	}
	g.Pending += o.Pending
	g.Overdue += o.Overdue
}

// Budget bounds the entries of indexes that the gauges of many collections read.
type Budget struct {
	Each int // limit for one index
	All  int // limit for all indexes
}

// take returns how many entries may be read of an index.
func (b *Budget) take() int { return min(b.Each, b.All) }

// Gauges returns a Gauge for each policy of the rules that has an index.
func (r *Rules) Gauges(coll storage.Collection, now int64, b *Budget) (list []PolicyGauge, err error) {
	if r == nil {
		return nil, nil
	}
	for i := range r.Indexes {
		g, err := r.Indexes[i].gauge(coll, now, b)
		if err != nil {
			return nil, err
		}
		list = addGauge(list, r.Indexes[i].Policy, g)
	}
	return list, nil
}

// PolicyGauge is the Gauge of one policy.
type PolicyGauge struct {
	Policy Policy
	Gauge
}

func addGauge(list []PolicyGauge, p Policy, g Gauge) []PolicyGauge {
	for i := range list {
		if list[i].Policy == p {
			list[i].Add(g)
			return list
		}
	}
	return append(list, PolicyGauge{p, g})
}

// GaugeDates is the Gauge of an index that has one date for each record, at which an event
// is due.
func GaugeDates(coll storage.Collection, p Policy, index string, now int64, b *Budget) (Gauge, error) {
	l := ExpiryIndex{Policy: p, Index: index, From: math.MinInt64}
	return l.gauge(coll, now, b)
}

func (l *ExpiryIndex) gauge(coll storage.Collection, now int64, b *Budget) (g Gauge, err error) {
	stats, err := coll.IndexStats(l.Index)
	if err != nil || stats.Entries == 0 {
		return g, err
	}
	g.Pending = stats.Entries
	if !l.datesOnly() {
		if err := l.withoutDates(coll, &g, b); err != nil {
			return g, err
		}
	}
	at, ok, err := l.head(coll)
	if err != nil || !ok {
		if !ok {
			g.Pending = 0
		}
		return g, err
	}
	if at > now {
		g.Next, g.HasNext = at, true
		return g, nil
	}
	if err := l.countDue(coll, now, earliest(stats), &g, b); err != nil {
		return g, err
	}
	g.Next, g.HasNext, err = l.after(coll, now)
	return g, err
}

// firstDates tells the first date of a record from its later ones: of the dates in an array
// the earliest counts. It is nil for an index without arrays.
type firstDates map[storage.RecordID]struct{}

// earliest returns the firstDates for a scan of an index.
func earliest(stats storage.IndexStats) firstDates {
	if stats.Multikey == 0 {
		return nil
	}
	return firstDates{}
}

// isNew reports whether a record has not come before.
func (f firstDates) isNew(id storage.RecordID) bool {
	if f == nil {
		return true
	}
	_, again := f[id]
	f[id] = struct{}{}
	return !again
}

// countDue counts the records that are overdue.
func (l *ExpiryIndex) countDue(coll storage.Collection, now int64, first firstDates, g *Gauge, b *Budget) error {
	keys, ok := l.due(now)
	if !ok {
		return nil
	}
	n, limit := 0, b.take()
	err := coll.ScanIndex(l.Index, keys, func(key []byte, id storage.RecordID) bool {
		n++
		if first.isNew(id) {
			if g.Overdue++; g.Overdue == 1 {
				g.Oldest, _ = l.instant(key)
			}
		}
		return n < limit
	})
	b.All -= n
	return err
}

// withoutDates subtracts the entries that are no dates from those of an index, if they are
// few, or else counts the dates, if these are few.
func (l *ExpiryIndex) withoutDates(coll storage.Collection, g *Gauge, b *Budget) error {
	only, err := l.hasDatesOnly(coll)
	if err != nil || only {
		return err
	}
	dates, _ := l.between(math.MinInt64, math.MaxInt64)
	lo, hi := dates.Lo, dates.Hi
	others, all, err := l.countUpTo(coll, b, storage.KeyRange{Hi: lo}, storage.KeyRange{Lo: hi})
	if err == nil && all {
		g.Pending -= others
		return nil
	}
	if err != nil {
		return err
	}
	n, all, err := l.countUpTo(coll, b, dates)
	switch {
	case all:
		g.Pending = n
	default:
		g.Pending -= others
	}
	return err
}

// countUpTo counts the entries within ranges as far as the budget allows; all reports
// whether it has seen all of them.
func (l *ExpiryIndex) countUpTo(coll storage.Collection, b *Budget, ranges ...storage.KeyRange) (n int64, all bool, err error) {
	limit := int64(b.take())
	all = true
	for _, r := range ranges {
		err = coll.ScanIndex(l.Index, r, func([]byte, storage.RecordID) bool {
			if n == limit {
				all = false
				return false
			}
			n++
			return true
		})
		if err != nil || !all {
			break
		}
	}
	b.All -= int(n)
	return n, all, err
}
