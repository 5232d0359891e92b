package ttl

import (
	"cmp"
	"math"
	"slices"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// DueRecord is a record and when it falls due.
type DueRecord struct {
	Info   *storage.Info
	Record storage.RecordID
	Policy Policy
	Index  string // name of a user's index; empty for internal ones
	Lane   string
	At     int64
}

// DueList keeps the records of several indexes that fall due first.
type DueList struct {
	Now  int64
	Max  int // how many are kept, above 0
	Only Set // the policies whose records are listed; empty: all
	list []DueRecord
}

// List returns the records in the order in which they fall due.
func (d *DueList) List() []DueRecord {
	d.trim()
	return d.list
}

// Add reads the expiry indexes of a collection, each only as far as it may have earlier
// records than those known. It leaves out what document TTL has hidden already.
func (d *DueList) Add(coll storage.Collection, rules *Rules) error {
	if rules == nil {
		return nil
	}
	for i := range rules.Indexes {
		l := &rules.Indexes[i]
		if d.Only != 0 && !d.Only.Has(l.Policy) {
			continue
		}
		from := l.From
		if l.Policy == Document {
			from = max(from, value.AddClamped(d.Now, -l.After)+1)
		}
		one := DueRecord{Info: coll.Info(), Policy: l.Policy, Lane: forecastNames[l.Index]}
		if one.Lane == "" && l.Policy != TimeSeries {
			one.Index = l.Index
		}
		if err := d.scan(coll, l, from, one); err != nil {
			return err
		}
	}
	return nil
}

// AddDates is Add for an index that has one date for each record, at which an event is due.
func (d *DueList) AddDates(coll storage.Collection, p Policy, index, lane string) error {
	l := ExpiryIndex{Policy: p, Index: index, From: math.MinInt64}
	return d.scan(coll, &l, l.From, DueRecord{Info: coll.Info(), Policy: p, Lane: lane})
}

func (d *DueList) scan(coll storage.Collection, l *ExpiryIndex, from int64, one DueRecord) error {
	keys, ok := l.between(from, math.MaxInt64)
	if !ok {
		return nil
	}
	d.trim()
	before, read := len(d.list), 0
	first := firstDates{} // few enough to need no look at the statistics
	return coll.ScanIndex(l.Index, keys, func(key []byte, id storage.RecordID) bool {
		one.At, _ = l.instant(key)
		if !l.expiresAt(one.At) || before >= d.Max && one.At >= d.list[before-1].At {
			return false
		}
		if !first.isNew(id) {
			return true
		}
		one.Record = id
		d.list = append(d.list, one)
		read++
		return read < d.Max
	})
}

// trim drops all but the first records.
func (d *DueList) trim() {
	slices.SortStableFunc(d.list, func(a, b DueRecord) int { return cmp.Compare(a.At, b.At) })
	d.list = d.list[:min(len(d.list), d.Max)]
}
