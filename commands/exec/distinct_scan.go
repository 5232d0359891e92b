package exec

import (
	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// A scan for distinct values reads the first entry of each value and then seeks the next
// value. Its cost depends on the number of values, not on the number of documents.

// distinct turns the access into such a scan, if one of the plans can.
func (a *AccessPath) distinct(pq *plan.Query, pc *plan.Collection, q *canonical.Query, m *catalog.Meta) {
	if q.Distinct == "" || m.MayHide() || !m.KeysSuffice() {
		return
	}
	chosen := a.Plan
	if q.Last { // the last document is the first in the reversed sort
		turned := *pq
		turned.Sort = opposite(pq.Sort)
		var err error
		if chosen, err = plan.Make(&turned, pc); err != nil {
			return
		}
		pq = &turned
	}
	if p := plan.Distinct(pq, pc, chosen, q.Distinct, !q.Grouped); p != nil {
		a.Plan, a.Backwards = p, q.Last
	}
}

// opposite returns a sort in the reverse direction, nil if it does not sort by fields
// alone.
func opposite(sort value.Doc) value.Doc {
	b := value.NewBuilder()
	for name, v := range sort.All() {
		if !canonical.IsDirection(v) {
			return nil
		}
		b.Int32(name, int32(-v.SafeInt64()))
	}
	return b.Doc()
}

// readDistinct takes the values of one chunk from a range of keys.
func (r *ScanIterator) readDistinct(coll storage.Collection, s *Scan, kr storage.KeyRange) error {
	for range r.chunk {
		found := false
		err := coll.ScanIndex(s.Index, kr, func(key []byte, id storage.RecordID) bool {
			found = true
			r.at.key, r.at.after = append(r.at.key[:0], key...), id
			return false
		})
		if found && err == nil {
			r.failed = r.value(coll)
		}
		if err != nil || r.failed != nil || !found {
			if !found {
				r.nextRange(s)
			}
			return firstError(err, r.failed)
		}
		s.Counts.Keys++
		s.Counts.Seeks++
		r.x.Stats.KeysExamined++
		r.x.Running().Counts.Keys++
		r.at.started = true
		kr.AfterKey, kr.AfterID = r.at.key, r.at.after
	}
	return nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// value takes the value of an entry and moves behind all entries with this value. If the
// key does not determine the value, it reads the record; if a key can have different
// values, it reads each entry.
func (r *ScanIterator) value(coll storage.Collection) error {
	key, id := r.at.key, r.at.after
	d, known := r.keyDocs.of(key)
	rec, kind := storage.Record{ID: id, Doc: d}, value.Missing
	if known {
		kind = r.keyDocs.values[r.skip-1].Kind()
	}
	fetch := !known || !r.covered || kind == value.KindUndefined || kind == value.KindArray
	if fetch {
		var ok bool
		var err error
		if rec, ok, err = coll.Get(id); err != nil || !ok {
			return err
		}
	}
	r.buf = append(r.buf, rec)
	r.keys.add(key)
	r.fetched = append(r.fetched, fetch)
	r.Scans[r.at.scan].Counts.Passed++
	if known && kind != value.Missing && kind != value.KindUndefined {
		n := 0
		for _, desc := range r.keyDocs.desc[:r.skip] {
			n += value.KeyLen(key[n:], desc)
		}
		r.behind(key[:n])
	}
	return nil
}

// behind moves behind the keys with a prefix, in the direction of the scan.
func (r *ScanIterator) behind(prefix []byte) {
	r.at.key, r.at.after = append(r.at.key[:0], prefix...), 0
	if !r.Scans[r.at.scan].Reverse {
		r.at.key = append(r.at.key, 0xff)
	}
}
