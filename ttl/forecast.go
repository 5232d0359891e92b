package ttl

import (
	"math"
	"slices"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Forecast describes when the records of an expiry index will expire. It is
// computed from the keys of the index alone.
type Forecast struct {
	Policy  Policy
	Index   string // name of a user's index; empty for internal ones
	Lane    string // the kind of event, if the policy has several internal indexes
	Pending int64  // records that will expire, including overdue ones
	Overdue int64  // expired and not removed yet
	Oldest  int64  // when the first overdue one expired
	Next    int64  // when the next one that is not overdue expires
	HasNext bool
	Buckets []int64 // records that become due in each part of the horizon; nil: none
}

// Horizon is the time that a forecast looks ahead, in equal parts.
type Horizon struct {
	Now    int64
	Length int64 // milliseconds, above 0
	Parts  int   // above 0
	Empty  bool  // histograms include the parts without documents
	Only   Set   // the policies to forecast; empty: all
	// Rest is called now and then during long work, so that others can run; nil: nothing is.
	Rest func()
}

// restEvery is the number of entries that are counted between two calls of Rest.
const restEvery = 512

func (h *Horizon) rest() {
	if h.Rest != nil {
		h.Rest()
	}
}

// wants reports whether a policy is to be forecast.
func (h Horizon) wants(p Policy) bool { return h.Only == 0 || h.Only.Has(p) }

// part returns the part of the horizon that contains an instant, -1 if the
// instant lies beyond.
func (h Horizon) part(at int64) int {
	since := at - h.Now // at is later than now
	if since > h.Length || since <= 0 {
		return -1
	}
	width := float64(h.Length) / float64(h.Parts)
	return min(int(float64(since-1)/width), h.Parts-1)
}

// Forecast computes a forecast for each expiry index of the rules.
func (r *Rules) Forecast(coll storage.Collection, h Horizon) ([]Forecast, error) {
	if r == nil {
		return nil, nil
	}
	out := make([]Forecast, 0, len(r.Indexes))
	for i := range r.Indexes {
		if !h.wants(r.Indexes[i].Policy) {
			continue
		}
		f, err := r.Indexes[i].forecast(coll, h)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

// forecast scans the index up to the horizon, counts what is overdue and what
// becomes due in each part, and takes the number of the later entries from the
// index's statistics where each entry counts once.
func (l *ExpiryIndex) forecast(coll storage.Collection, h Horizon) (Forecast, error) {
	f := Forecast{Policy: l.Policy}
	if f.Lane = forecastNames[l.Index]; f.Lane == "" && l.Policy != TimeSeries {
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
	if datesOnly { // the rest is counted without a scan
		until = value.AddClamped(value.AddClamped(h.Now, h.Length), -l.After)
	}
	keys, ok := l.between(l.From, until)
	if !ok {
		f.Pending = stats.Entries
		f.Next, f.HasNext, err = l.after(coll, h.Now)
		return f, err
	}
	first := earliest(stats)
	err = coll.ScanIndex(l.Index, keys, func(key []byte, id storage.RecordID) bool {
		if !first.isNew(id) {
			return true
		}
		at, _ := l.instant(key)
		f.count(at, h)
		if f.Pending%restEvery == 0 {
			h.rest()
		}
		return true
	})
	if err != nil {
		return f, err
	}
	if datesOnly {
		f.Pending = stats.Entries
		if !f.HasNext {
			f.Next, f.HasNext, err = l.after(coll, h.Now)
		}
	}
	return f, err
}

// forecastNames are the values of the field lane for the internal indexes of
// document TTL.
var forecastNames = map[string]string{inheritIndex: "inherit", ownIndex: "own"}

// ForecastDates computes the forecast of an index that has one date for each
// record, at which an event is due.
func ForecastDates(coll storage.Collection, p Policy, index, lane string, h Horizon) (Forecast, error) {
	l := ExpiryIndex{Policy: p, Index: index, From: math.MinInt64}
	f, err := l.forecast(coll, h)
	f.Index, f.Lane = "", lane
	return f, err
}

// ForecastOne returns the forecast of a single event at an instant.
func ForecastOne(p Policy, lane string, at int64, h Horizon) Forecast {
	f := Forecast{Policy: p, Lane: lane}
	f.count(at, h)
	return f
}

// datesOnly reports whether the index has exactly one entry, a date, for each
// record.
func (l *ExpiryIndex) datesOnly() bool {
	return l.Policy == Document || l.buckets() || l.Policy == Message
}

// hasDatesOnly reports whether all present entries of the index are dates that
// count, which holds if the first and the last one are.
func (l *ExpiryIndex) hasDatesOnly(coll storage.Collection) (only bool, err error) {
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

// Merge adds the numbers of another forecast over the same horizon.
func (f *Forecast) Merge(other *Forecast) {
	f.Pending += other.Pending
	if other.Overdue > 0 && (f.Overdue == 0 || other.Oldest < f.Oldest) {
		f.Oldest = other.Oldest
	}
	f.Overdue += other.Overdue
	if other.HasNext && (!f.HasNext || other.Next < f.Next) {
		f.Next, f.HasNext = other.Next, true
	}
	if f.Buckets == nil {
		f.Buckets = slices.Clone(other.Buckets)
		return
	}
	for i, n := range other.Buckets {
		f.Buckets[i] += n
	}
}

// Due returns the number of records that are overdue or become due within the horizon.
func (f *Forecast) Due() int64 {
	n := f.Overdue
	for _, b := range f.Buckets {
		n += b
	}
	return n
}

// First returns when the first record expires or has expired; ok is false if none does.
func (f *Forecast) First() (at int64, ok bool) {
	if f.Overdue > 0 {
		return f.Oldest, true
	}
	return f.Next, f.HasNext
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
		if f.Buckets == nil {
			f.Buckets = make([]int64, h.Parts)
		}
		f.Buckets[part]++
	}
}

// Append writes the forecast into an open document.
func (f *Forecast) Append(b *value.Builder, h Horizon) {
	f.AppendCounts(b)
	b.StartArray("histogram")
	for i := range h.Parts {
		n := int64(0)
		if f.Buckets != nil {
			n = f.Buckets[i]
		} else if !h.Empty {
			break
		}
		if n == 0 && !h.Empty {
			continue
		}
		from := h.Now + int64(float64(h.Length)*float64(i)/float64(h.Parts))
		to := h.Now + int64(float64(h.Length)*float64(i+1)/float64(h.Parts))
		b.StartDocument("").Date("after", from).Date("until", to).Int64("count", n).End()
	}
	b.End()
}

// AppendCounts writes the forecast without its histogram into an open document.
func (f *Forecast) AppendCounts(b *value.Builder) {
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
}

// PendingPurge counts the documents that have expired under the document
// policy and are still stored.
func (r *Rules) PendingPurge(coll storage.Collection, now int64) (n int64, err error) {
	if r == nil || r.Document == nil {
		return 0, nil
	}
	for i := range r.Indexes {
		l := &r.Indexes[i]
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
