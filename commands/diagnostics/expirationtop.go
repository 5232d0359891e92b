package diagnostics

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

// topForecast is the short form of a forecast: totals by policy, and a page of the
// collections in an order, so that the length of the reply does not depend on how many
// collections the server has.
type topForecast struct {
	limit, skip int
	search      string // text that the names contain, in lower case
	sizes       bool   // whether the order needs the sizes of all collections
	compare     func(a, b *ranked) int
	without     bool      // whether the page is of the collections without a policy
	collections int       // number of collections with a policy
	found       int       // number of collections whose names match
	first       []*ranked // candidates for the page, unsorted, at most twice as many as needed
	totals      []ttl.Forecast

	withoutPolicy int // number of collections without a policy
}

// ranked is a collection with what its place depends on. The ends of locks and scheduled
// times do not count, as they remove nothing.
type ranked struct {
	*expiring
	first                 int64
	never                 bool // nothing will expire
	within                int64
	totalPending, overdue int64
}

// topOrders are the orders of collections; what is equal is in the order of the names.
var topOrders = map[string]func(a, b *ranked) int{
	"ns": func(a, b *ranked) int { return 0 },
	"nextDue": func(a, b *ranked) int {
		switch {
		case a.never != b.never && a.never:
			return 1
		case a.never != b.never:
			return -1
		}
		return cmp.Compare(a.first, b.first)
	},
	"due":     func(a, b *ranked) int { return cmp.Compare(b.within, a.within) },
	"pending": func(a, b *ranked) int { return cmp.Compare(b.totalPending, a.totalPending) },
	"overdue": func(a, b *ranked) int { return cmp.Compare(b.overdue, a.overdue) },
	"bytes":   func(a, b *ranked) int { return cmp.Compare(b.bytes, a.bytes) },
}

// topOf reads the arguments of the short form; nil without it.
func topOf(a *expirationStatsArgs, h ttl.Horizon) (*topForecast, error) {
	if a.Top == nil {
		if a.Skip != nil || a.Search != nil || a.SortBy != nil || a.Without {
			return nil, mongoerr.New(mongoerr.InvalidOptions, "skip, search, sortBy and without need top")
		}
		return nil, nil
	}
	if err := within("top", *a.Top, maxForecastTop); err != nil {
		return nil, err
	}
	t := &topForecast{limit: int(*a.Top), without: a.Without, compare: topOrders["nextDue"]}
	if a.Skip != nil {
		if *a.Skip < 0 {
			return nil, mongoerr.Newf(mongoerr.BadValue, "skip must not be negative, but is %d", *a.Skip)
		}
		t.skip = int(min(*a.Skip, math.MaxInt32)) // more than there are collections
	}
	if a.Search != nil {
		t.search = strings.ToLower(*a.Search)
	}
	if a.SortBy != nil {
		if t.compare = topOrders[*a.SortBy]; t.compare == nil {
			names := strings.Join(slices.Sorted(maps.Keys(topOrders)), ", ")
			return nil, mongoerr.Newf(mongoerr.BadValue, "sortBy must be one of %s, not %q", names, *a.SortBy)
		}
		t.sizes = *a.SortBy == "bytes"
	}
	return t, nil
}

// add counts a collection and keeps it, without its histograms, if its name matches.
func (t *topForecast) add(x *expiring) {
	t.collections++
	r := &ranked{expiring: x, never: true}
	for i := range x.list {
		f := &x.list[i]
		t.total(f)
		if queue.Removes(f.Lane) {
			r.within += f.Due()
			r.totalPending += f.Pending
			r.overdue += f.Overdue
			if at, ok := f.First(); ok && (r.never || at < r.first) {
				r.first, r.never = at, false
			}
		}
		f.Buckets = nil
	}
	if !t.without {
		t.match(r)
	}
}

// addWithout counts a collection without a policy, and keeps it if it is wanted.
func (t *topForecast) addWithout(tx storage.Tx, x *expiring) error {
	t.withoutPolicy++
	if !t.without {
		return nil
	}
	if t.sizes {
		coll, err := tx.Collection(x.info.Namespace)
		if err != nil {
			return err
		}
		if x.bytes, err = coll.Size(); err != nil {
			return err
		}
	}
	t.match(&ranked{expiring: x, never: true})
	return nil
}

// withoutPolicy reports whether a collection could have a policy, but has none: documents of
// views are those of others; system collections, and what has a $ in its name, are the server's.
func withoutPolicy(info *storage.Info) bool {
	m := catalog.Of(info)
	if m.IsQueue || m.Rules != nil || m.Kind == catalog.View || m.Kind == catalog.TimeSeries {
		return false
	}
	name := info.Namespace.Coll
	return m.Kind == catalog.Buckets || !strings.HasPrefix(name, "system.") && !strings.Contains(name, "$")
}

// match keeps a collection if its name matches.
func (t *topForecast) match(r *ranked) {
	if strings.Contains(strings.ToLower(r.ns), t.search) {
		t.found++
		t.keep(r)
	}
}

// keep keeps a collection if it may be one of those that are wanted.
func (t *topForecast) keep(r *ranked) {
	if t.first = append(t.first, r); len(t.first) >= 2*(t.skip+t.limit) {
		t.trim()
	}
}

// trim drops all but the first collections.
func (t *topForecast) trim() {
	slices.SortFunc(t.first, func(a, b *ranked) int {
		return cmp.Or(t.compare(a, b), cmp.Compare(a.ns, b.ns))
	})
	clear(t.first[min(len(t.first), t.skip+t.limit):])
	t.first = t.first[:min(len(t.first), t.skip+t.limit)]
}

// total adds a forecast to that of its policy and lane.
func (t *topForecast) total(f *ttl.Forecast) {
	for i := range t.totals {
		if sum := &t.totals[i]; sum.Policy == f.Policy && sum.Lane == f.Lane {
			sum.Merge(f)
			return
		}
	}
	sum := *f
	sum.Index = ""
	sum.Buckets = slices.Clone(f.Buckets)
	t.totals = append(t.totals, sum)
}

// A short form is for pages that ask again and again. It gives way to other clients: after
// each workTime it sleeps as long, at most maxRest. To sleep is what helps, as the scheduler
// polls the network only when no goroutine can run.
const (
	workTime = 100 * time.Microsecond
	maxRest  = 2 * time.Millisecond
)

// resting returns the function that a forecast calls between two parts of its work.
func resting(c *kernel.Call) func() {
	real := c.Svc.Real
	began := real.Now()
	return func() {
		worked := real.Now().Sub(began)
		if worked < workTime {
			return
		}
		timer := real.NewTimer(min(worked, maxRest))
		defer timer.Stop()
		select {
		case <-timer.C():
		case <-c.Ctx.Done():
		}
		began = real.Now()
	}
}

// appendCollections writes the wanted page of the collections.
func (t *topForecast) appendCollections(tx storage.Tx, b *value.Builder) error {
	t.trim()
	for _, r := range t.first[min(t.skip, len(t.first)):] {
		coll, err := tx.Collection(r.info.Namespace)
		if err != nil {
			return err
		}
		if r.bytes, err = coll.Size(); err != nil {
			return err
		}
		if !t.without {
			r.appendShort(b, r.within)
			continue
		}
		n, err := coll.Count()
		if err != nil {
			return err
		}
		r.appendWithout(b, n)
	}
	return nil
}

// appendWithout writes the size of a collection without a policy, with the number of its
// documents; a time series is stored in buckets, and their number says little.
func (x *expiring) appendWithout(b *value.Builder, records int64) {
	b.StartDocument("").String("ns", x.ns).Int64("bytes", x.bytes)
	if catalog.Of(x.info).Kind != catalog.Buckets {
		b.Int64("documents", records)
	}
	b.End()
}

// appendTotals writes the numbers of all collections, of those found, and of each policy.
func (t *topForecast) appendTotals(b *value.Builder, h ttl.Horizon) {
	slices.SortFunc(t.totals, func(x, y ttl.Forecast) int {
		return cmp.Or(cmp.Compare(x.Policy, y.Policy), cmp.Compare(x.Lane, y.Lane))
	})
	b.StartDocument("totals").Int64("collections", int64(t.collections))
	b.Int64("without", int64(t.withoutPolicy)).Int64("found", int64(t.found))
	b.StartArray("policies")
	for i := range t.totals {
		b.StartDocument("")
		t.totals[i].Append(b, h)
		b.End()
	}
	b.End().End()
}

// internalDB reports whether a database belongs to the server, so that the short form of all
// databases leaves it out.
func internalDB(name string) bool { return name == "admin" || name == "config" || name == "local" }
