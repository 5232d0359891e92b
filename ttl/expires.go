package ttl

import (
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Expiry says when a record expires by one expiry index.
type Expiry struct {
	By   *ExpiryIndex
	At   int64
	Date int64 // the date that At was computed from
	Late bool  // a bucket is outside of 1970 to 2038: Date is the maximum of its times
}

// Expiries returns when a record expires, for each expiry index that it has a date in.
func (r *Rules) Expiries(info *storage.Info, rec storage.Record) (list []Expiry) {
	if r == nil {
		return nil
	}
	for i := range r.Indexes {
		x := info.Index(r.Indexes[i].Index)
		if x == nil || x.Index == nil {
			continue
		}
		if e, ok := r.Indexes[i].expiry(x.Index, rec); ok {
			list = append(list, e)
		}
	}
	return list
}

// Earliest returns the earliest of several expiries.
func Earliest(list []Expiry) (first Expiry, ok bool) {
	for i := range list {
		if !ok || list[i].At < first.At {
			first, ok = list[i], true
		}
	}
	return first, ok
}

// expiry finds the earliest date of a record in an index.
func (l *ExpiryIndex) expiry(x storage.Index, rec storage.Record) (e Expiry, ok bool) {
	keys, _, err := x.Keys(nil, rec)
	if err != nil {
		return e, false
	}
	for _, key := range keys {
		date, isDate := l.date(key)
		if !isDate || date < l.From || ok && date >= e.Date {
			continue
		}
		e, ok = Expiry{By: l, At: value.AddClamped(date, l.After), Date: date}, true
	}
	if ok && l.buckets() && (e.Date < 0 || e.Date >= wrap*1000) {
		e = l.lateExpiry(e, rec)
	}
	return e, ok && l.expiresAt(e.At)
}

// lateExpiry is the expiry of a bucket whose minimum its id cannot hold, see bucketExpired.
func (l *ExpiryIndex) lateExpiry(e Expiry, rec storage.Record) Expiry {
	date := rec.Doc.Lookup("control").Doc().Lookup("max").Doc().Lookup(l.time)
	e.Date, e.Late = date.DateTime(), true
	e.At = value.AddClamped(e.Date, l.After-l.span)
	if seconds := int64(rec.Doc.Lookup("_id").ObjectID().Seconds()); seconds < wrap-l.span/1000 {
		e.At = max(e.At, value.AddClamped(seconds*1000, l.After))
	}
	return e
}

// Span is the number of milliseconds that a bucket of a time series spans; 0 for other
// indexes.
func (l *ExpiryIndex) Span() int64 { return l.span }

// HasOwn reports whether a document has a valid time to live of its own.
func HasOwn(d value.Doc) bool {
	_, own := ownTTL(d)
	return own
}
