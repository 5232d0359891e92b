package ttl

import (
	"math"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// The id of a bucket holds the seconds of its minimum in 32 bits. Minima
// outside of 1970 to 2038 wrap around or are ambiguous. In a collection that
// has any such bucket, the true maximum of each bucket is checked as well.

// wrap is the first instant, in seconds, of the extended range.
const wrap = int64(1) << 31

// extended reports whether the index has buckets of the extended range.
func (l *ExpiryIndex) extended(coll storage.Collection) (bool, error) {
	for _, r := range [][2]int64{{math.MinInt64, -1}, {wrap * 1000, math.MaxInt64}} {
		found := false
		keys, _ := l.between(r[0], r[1])
		err := coll.ScanIndex(l.Index, keys, func([]byte, storage.RecordID) bool { found = true; return false })
		if found || err != nil {
			return found, err
		}
	}
	return false, nil
}

// bucketDue returns the keys of buckets that may have expired. With buckets
// of the extended range, those whose minimum does not lie within it are
// judged one by one, see bucketExpired.
func (l *ExpiryIndex) bucketDue(now int64, extended bool) []storage.KeyRange {
	until := value.AddClamped(now, -l.After)
	if !extended {
		r, ok := l.between(math.MinInt64, until)
		return list(r, ok)
	}
	before, ok := l.between(math.MinInt64, max(until, -1))
	out := list(before, ok)
	// Near and above the wrap, the true maximum decides.
	late, ok := l.between(max((wrap*1000)-l.span, until+1), value.AddClamped(now, l.span-l.After))
	return append(out, list(late, ok)...)
}

func list(r storage.KeyRange, ok bool) []storage.KeyRange {
	if !ok {
		return nil
	}
	return []storage.KeyRange{r}
}

// bucketExpired judges one bucket of a collection with an extended range.
func (l *ExpiryIndex) bucketExpired(d value.Doc, now int64) bool {
	maximum := d.Lookup("control").Doc().Lookup("max").Doc().Lookup(l.time)
	keep := l.After - l.span // expireAfterSeconds
	if maximum.Kind() != value.KindDateTime || maximum.DateTime() > value.AddClamped(now, -keep) {
		return false
	}
	seconds := int64(d.Lookup("_id").ObjectID().Seconds())
	return seconds <= floorSeconds(value.AddClamped(now, -l.After)) || seconds >= wrap-l.span/1000
}
