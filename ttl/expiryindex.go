package ttl

import (
	"encoding/binary"
	"math"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// ExpiryIndex is an index whose first key part is a date. Its records expire
// in the order of this date. It is immutable.
type ExpiryIndex struct {
	Policy Policy
	Index  string // name of the index
	Desc   bool   // the index is descending
	After  int64  // milliseconds from the date to the expiry of the record
	From   int64  // earlier dates do not expire
	until  int64  // records that would expire later do not expire by this index; 0: no limit
	span   int64  // milliseconds that a bucket of a time series spans
	time   string // time field of a time series
}

// buckets reports whether the records of the index are time-series buckets in
// the order of their minimum, which expire by special rules (see bucket.go).
func (l *ExpiryIndex) buckets() bool { return l.span > 0 }

// due returns the range of keys of the records that have expired at an
// instant; ok is false if no record can have expired.
func (l *ExpiryIndex) due(now int64) (r storage.KeyRange, ok bool) {
	if l.until != 0 {
		now = min(now, l.until)
	}
	return l.between(l.From, value.AddClamped(now, -l.After))
}

// between returns the keys of dates, both ends included, oldest first.
func (l *ExpiryIndex) between(from, until int64) (r storage.KeyRange, ok bool) {
	if until < from {
		return r, false
	}
	lo, hi := dateKey(from), []byte{value.KeyRank(value.KindDateTime) + 1}
	if until < math.MaxInt64 {
		hi = dateKey(until + 1)
	}
	if !l.Desc {
		return storage.KeyRange{Lo: lo, Hi: hi}, true
	}
	// Inverted, a date's keys lie above its own bytes and below those of the
	// date before.
	r = storage.KeyRange{Lo: dateKey(until), Hi: []byte{value.KeyRank(value.KindDateTime)}, Reverse: true}
	if from > math.MinInt64 {
		r.Hi = dateKey(from - 1)
	}
	value.InvertKey(r.Lo)
	value.InvertKey(r.Hi)
	if from == math.MinInt64 {
		r.Hi[0]++
	}
	return r, true
}

// instant returns the expiry of the record with a key.
func (l *ExpiryIndex) instant(key []byte) (ms int64, ok bool) {
	date, ok := l.date(key)
	return value.AddClamped(date, l.After), ok
}

// date reads the date at the beginning of a key.
func (l *ExpiryIndex) date(key []byte) (ms int64, ok bool) {
	if len(key) < 9 {
		return 0, false
	}
	rank, bits := key[0], binary.BigEndian.Uint64(key[1:])
	if l.Desc {
		rank, bits = ^rank, ^bits
	}
	return int64(bits ^ 1<<63), rank == value.KeyRank(value.KindDateTime)
}

// dateKey is the key of a date in an ascending index.
func dateKey(ms int64) []byte { return value.AppendKey(make([]byte, 0, 9), value.DateTime(ms)) }

// Internal describes an index that exists only for expiry. The field of its
// key pattern is Path, its order Order (see package index).
type Internal struct{ Name, Path, Order string }

// Names of the internal indexes.
const (
	inheritIndex = "$ttl.inherit"
	ownIndex     = "$ttl.own"
	bucketIndex  = "$bucket.min"
)

// DocumentIndexes are the internal indexes that document TTL needs. They are
// created when the policy is switched on and dropped when it is switched off.
func DocumentIndexes() []Internal {
	return []Internal{{inheritIndex, ttlField, "ts-inherit"}, {ownIndex, ttlField, "ts-own"}}
}

// BucketIndexes are the internal indexes of a collection of buckets, whether
// its buckets expire or not.
func BucketIndexes(timeField string) []Internal {
	return []Internal{{bucketIndex, "control.min." + timeField, "bucket-min"}}
}
