package index

import (
	"math"
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Order is the order of the records in an internal index. Its only key part is
// a date (see [DateKey]); records without such a date are not in the index.
//
//	{v: 2, key: {ttl: 1}, name: "$ttl.own", internal: "ts-own"}
type Order string

// The orders. The field of the key pattern is the path they read.
const (
	// Inherited contains the records without a valid ttl, by the whole second of
	// their last write.
	Inherited Order = "ts-inherit"
	// Own contains the records with a valid ttl above 0, by the instant at which
	// they expire.
	Own Order = "ts-own"
	// BucketMin and BucketMax contain the buckets of a time series by the date at
	// control.min.<time> or control.max.<time>.
	BucketMin Order = "bucket-min"
	BucketMax Order = "bucket-max"
	// DatePath contains the records by the date at the path, or by the earliest
	// date of an array.
	DatePath Order = "date-path"
)

// orders lists the valid orders with the key each makes of a record.
var orders = map[Order]func(s *Spec, r storage.Record) (ms int64, ok bool){
	Inherited: inheritedInstant,
	Own:       ownInstant,
	BucketMin: dateInstant,
	BucketMax: dateInstant,
	DatePath:  dateInstant,
}

// InternalSpec makes the specification of an internal index.
func InternalSpec(name, path string, order Order) value.Doc {
	return value.NewDoc("v", value.Int32(2), "key", value.Document(value.NewDoc(path, value.Int32(1))),
		"name", value.String(name), "internal", value.String(string(order)))
}

// ownPrefixes begin the names of the server's own indexes. A "$" alone would not
// do: drivers name the index on {"$**": 1} "$**_1".
var ownPrefixes = []string{"$ttl.", "$bucket.", "$mq."}

// IsInternal reports whether an index of that name is the server's own.
func IsInternal(name string) bool {
	if name == "" || name[0] != '$' {
		return false
	}
	for _, r := range ownPrefixes {
		if strings.HasPrefix(name, r) {
			return true
		}
	}
	return false
}

func loadInternal(s *Spec, order Order) (*Spec, error) {
	if orders[order] == nil || !IsInternal(s.Name) {
		return nil, mongoerr.Newf(mongoerr.FailedToParse, "invalid internal index specification %s", s.doc)
	}
	s.Internal = order
	s.Hidden = true
	s.Fields, _ = patternFields(s.Key)
	return s, nil
}

func (s *Spec) internalKeys(dst [][]byte, r storage.Record) [][]byte {
	if ms, ok := orders[s.Internal](s, r); ok {
		dst = append(dst, DateKey(ms))
	}
	return dst
}

// DateKey is the key of a date in an internal index and in an ascending
// single-field index.
func DateKey(ms int64) []byte { return value.AppendKey(make([]byte, 0, 9), value.DateTime(ms)) }

// TTLOf reads the ttl of a document at a path: ok reports whether it is valid,
// which means a whole number in int32 range that is -1 (never) or above 0.
func TTLOf(d value.Doc, path string) (seconds int64, ok bool) {
	v := d.Lookup(path)
	switch v.Kind() {
	case value.KindInt32, value.KindInt64, value.KindDouble:
		n, exact := v.AsInt64()
		if exact && n <= math.MaxInt32 && (n == -1 || n > 0) {
			return n, true
		}
	}
	return 0, false
}

func inheritedInstant(s *Spec, r storage.Record) (int64, bool) {
	if _, own := TTLOf(r.Doc, s.Fields[0].Path); own {
		return 0, false
	}
	return wholeSecond(r.TS), true
}

func ownInstant(s *Spec, r storage.Record) (int64, bool) {
	ttl, own := TTLOf(r.Doc, s.Fields[0].Path)
	if !own || ttl < 0 {
		return 0, false
	}
	return wholeSecond(r.TS) + ttl*1000, true
}

// wholeSecond rounds an instant down to its second.
func wholeSecond(ms int64) int64 {
	down := ms % 1000
	if down < 0 {
		down += 1000
	}
	return ms - down
}

// dateInstant returns the earliest date at the path of an internal index.
func dateInstant(s *Spec, r storage.Record) (earliest int64, ok bool) {
	take := func(v value.Value) {
		if v.Kind() == value.KindDateTime && (!ok || v.DateTime() < earliest) {
			earliest, ok = v.DateTime(), true
		}
	}
	s.Fields[0].path.Walk(r.Doc, func(v value.Value) bool {
		take(v)
		if v.Kind() == value.KindArray {
			for e := range v.Doc().Values() {
				take(e)
			}
		}
		return false
	})
	return earliest, ok
}

// Private reports whether the index is one of the server's own.
func (s *Spec) Private() bool { return s.Internal != "" }
