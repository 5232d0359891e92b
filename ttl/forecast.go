package ttl

import (
	"math"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Forecast tells when the records of a lane will expire. It is read off the
// keys of the index alone.
type Forecast struct {
	Policy  Policy
	Index   string // of the user, or
	Lane    string // what is due, where a policy has several orders of its own
	Pending int64  // records that expire some day, overdue ones included
	Overdue int64  // expired and not removed yet
	Oldest  int64  // when the first overdue one expired
	Next    int64  // when the next one that is not overdue expires
	HasNext bool
	Buckets []int64 // what falls due in each part of the horizon
}

// Horizon is the time that a forecast looks ahead, in equal parts.
type Horizon struct {
	Now    int64
	Length int64 // milliseconds, above 0
	Parts  int   // above 0
}

// part finds the part of the horizon that an instant lies in, -1 if it lies
// beyond.
func (h Horizon) part(at int64) int {
	since := at - h.Now // at is later than now
	if since > h.Length || since <= 0 {
		return -1
	}
	width := float64(h.Length) / float64(h.Parts)
	return min(int(float64(since-1)/width), h.Parts-1)
}

// Forecast looks ahead for each lane of the rules.
func (r *Rules) Forecast(coll storage.Collection, h Horizon) ([]Forecast, error) {
	if r == nil {
		return nil, nil
	}
	out := make([]Forecast, 0, len(r.Lanes))
	for i := range r.Lanes {
		f, err := r.Lanes[i].forecast(coll, h)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

func (l *Lane) forecast(coll storage.Collection, h Horizon) (Forecast, error) {
	f := Forecast{Policy: l.Policy, Buckets: make([]int64, h.Parts)}
	if f.Lane = laneNames[l.Index]; f.Lane == "" && l.Policy != TimeSeries {
		f.Index = l.Index
	}
	stats, err := coll.IndexStats(l.Index)
	if err != nil {
		return f, err
	}
	datesOnly := l.datesOnly()
	if !datesOnly && stats.Multikey == 0 {
		if datesOnly, err = l.hasDatesOnly(coll); err != nil {
			return f, err
		}
	}
	until := int64(math.MaxInt64)
	if datesOnly { // the rest need not be visited to be counted
		until = minus(plus(h.Now, h.Length), l.After)
	}
	keys, ok := l.between(l.From, until)
	if !ok {
		f.Pending = stats.Entries
		return f, l.next(coll, h.Now, &f)
	}
	var seen map[storage.RecordID]struct{}
	if stats.Multikey != 0 { // of several dates the earliest counts
		seen = map[storage.RecordID]struct{}{}
	}
	err = coll.ScanIndex(l.Index, keys, func(key []byte, id storage.RecordID) bool {
		if seen != nil {
			if _, again := seen[id]; again {
				return true
			}
			seen[id] = struct{}{}
		}
		at, _ := l.instant(key)
		f.count(at, h)
		return true
	})
	if err != nil {
		return f, err
	}
	if datesOnly {
		f.Pending = stats.Entries
		if !f.HasNext {
			return f, l.next(coll, h.Now, &f)
		}
	}
	return f, nil
}

// laneNames are what forecasts call the indexes of documents with a time to
// live.
var laneNames = map[string]string{inheritIndex: "inherit", ownIndex: "own"}

// ForecastDates looks ahead in an index of which each entry is the one date of
// a record, at which something happens to it.
func ForecastDates(coll storage.Collection, p Policy, index, lane string, h Horizon) (Forecast, error) {
	l := Lane{Policy: p, Index: index, From: math.MinInt64}
	f, err := l.forecast(coll, h)
	f.Index, f.Lane = "", lane
	return f, err
}

// ForecastOne looks ahead for one thing that is due at an instant.
func ForecastOne(p Policy, lane string, at int64, h Horizon) Forecast {
	f := Forecast{Policy: p, Lane: lane, Buckets: make([]int64, h.Parts)}
	f.count(at, h)
	return f
}

// datesOnly reports whether each entry of the index is the one date of a
// record.
func (l *Lane) datesOnly() bool {
	return l.Policy == Document || l.buckets() || l.Policy == Message
}

// hasDatesOnly reports whether all entries of the index happen to be dates
// that count: its first and its last one are.
func (l *Lane) hasDatesOnly(coll storage.Collection) (only bool, err error) {
	only = true
	for _, reverse := range []bool{false, true} {
		err = coll.ScanIndex(l.Index, storage.KeyRange{Reverse: reverse}, func(key []byte, _ storage.RecordID) bool {
			date, ok := l.date(key)
			only = only && ok && date >= l.From
			return false
		})
		if err != nil {
			return false, err
		}
	}
	return only, nil
}

// next finds the first instant behind now.
func (l *Lane) next(coll storage.Collection, now int64, f *Forecast) (err error) {
	from := minus(now, l.After)
	if from < math.MaxInt64 {
		from++
	}
	f.Next, f.HasNext, err = l.first(coll, max(from, l.From))
	return err
}

// count adds one record that expires at an instant. Instants come in order.
func (f *Forecast) count(at int64, h Horizon) {
	f.Pending++
	if at <= h.Now {
		if f.Overdue == 0 {
			f.Oldest = at
		}
		f.Overdue++
		return
	}
	if !f.HasNext {
		f.Next, f.HasNext = at, true
	}
	if part := h.part(at); part >= 0 {
		f.Buckets[part]++
	}
}

// Append writes the forecast into an open document.
func (f *Forecast) Append(b *value.Builder, h Horizon) {
	b.String("policy", f.Policy.String())
	if f.Index != "" {
		b.String("index", f.Index)
	}
	if f.Lane != "" {
		b.String("lane", f.Lane)
	}
	b.Int64("pending", f.Pending).Int64("overdue", f.Overdue)
	if f.Overdue > 0 {
		b.Date("oldestOverdue", f.Oldest)
	}
	if f.HasNext {
		b.Date("nextDue", f.Next)
	}
	b.StartArray("histogram")
	for i, n := range f.Buckets {
		from := h.Now + int64(float64(h.Length)*float64(i)/float64(h.Parts))
		to := h.Now + int64(float64(h.Length)*float64(i+1)/float64(h.Parts))
		b.StartDocument("").Date("after", from).Date("until", to).Int64("count", n).End()
	}
	b.End()
}

// PendingPurge counts the documents that have expired under the document
// policy and are still stored.
func (r *Rules) PendingPurge(coll storage.Collection, now int64) (n int64, err error) {
	if r == nil || r.Document == nil {
		return 0, nil
	}
	for i := range r.Lanes {
		l := &r.Lanes[i]
		keys, ok := l.due(now)
		if l.Policy != Document || !ok {
			continue
		}
		err = coll.ScanIndex(l.Index, keys, func([]byte, storage.RecordID) bool { n++; return true })
		if err != nil {
			return n, err
		}
	}
	return n, nil
}
