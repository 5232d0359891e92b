package ttl

import (
	"math"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// When something falls due next: in an index, in a collection, by one policy. Each of these
// reads only one entry of an index.

// NextDue returns an instant before which no record of the index expires; it reads only the
// first entry.
func (l *ExpiryIndex) NextDue(coll storage.Collection) (int64, error) {
	at, ok, err := l.head(coll)
	switch {
	case err != nil:
		return 0, err
	case !ok || !l.expiresAt(at):
		return math.MaxInt64, nil
	case l.buckets():
		return l.bucketNext(at), nil
	}
	return at, nil
}

// expiresAt reports whether a record that is due at an instant expires by this index: its
// policy may have ended before.
func (l *ExpiryIndex) expiresAt(at int64) bool { return l.until == 0 || at <= l.until }

// head returns the expiry of the first entry of the index.
func (l *ExpiryIndex) head(coll storage.Collection) (at int64, ok bool, err error) {
	return l.first(coll, l.From)
}

// first returns the expiry of the first entry with a date of at least from.
func (l *ExpiryIndex) first(coll storage.Collection, from int64) (at int64, ok bool, err error) {
	r, ok := l.between(from, math.MaxInt64)
	if !ok {
		return 0, false, nil
	}
	ok = false
	err = coll.ScanIndex(l.Index, r, func(key []byte, _ storage.RecordID) bool {
		at, ok = l.instant(key)
		return false
	})
	return at, ok, err
}

// bucketNext is the instant before which no bucket can be due, if the first one of the
// index expires at an instant by its minimum alone.
func (l *ExpiryIndex) bucketNext(at int64) int64 {
	if value.AddClamped(at, -l.After) < 0 {
		return math.MinInt64
	}
	return min(at, value.AddClamped(wrap*1000-l.span, l.After-l.span))
}

// after returns the first due instant after now; ok is false if there is none.
func (l *ExpiryIndex) after(coll storage.Collection, now int64) (at int64, ok bool, err error) {
	from := value.AddClamped(now, -l.After)
	if from < math.MaxInt64 {
		from++
	}
	return l.first(coll, max(from, l.From))
}

// FirstHidden is the earliest instant at which document TTL hides a document of the
// collection, or has hidden one that is still stored: before it, all documents are
// visible. It reads only the first entry of each expiry index.
func (r *Rules) FirstHidden(coll storage.Collection) int64 {
	next := int64(math.MaxInt64)
	if r == nil {
		return next
	}
	for i := range r.Indexes {
		if r.Indexes[i].Policy != Document {
			continue
		}
		at, err := r.Indexes[i].NextDue(coll)
		if err != nil {
			return math.MinInt64
		}
		next = min(next, at)
	}
	return next
}
