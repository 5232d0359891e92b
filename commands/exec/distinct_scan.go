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

// distinctDecoder adds one record, or document made from a key, for each distinct value.
type distinctDecoder struct {
	docs    *keyDocs
	covered bool // the documents from the keys are returned
	fields  int  // length of the key prefix of which one entry suffices
	out     *chunk
}

// readDistinct takes the values of one chunk from the current range of keys.
func (w *walker) readDistinct(coll storage.Collection, s *Scan) error {
	kr := s.keys(w.at.within)
	if w.at.started {
		kr.AfterKey, kr.AfterID = w.at.key, w.at.after
	}
	for range w.size {
		found := false
		err := coll.ScanIndex(s.Index, kr, func(key []byte, id storage.RecordID) bool {
			found = true
			w.at.key, w.at.after = append(w.at.key[:0], key...), id
			return false
		})
		if found && err == nil {
			err = w.takeValue(coll, s)
		}
		if err != nil || !found {
			if !found {
				w.nextRange(s)
			}
			return err
		}
		s.counts.Keys++
		s.counts.Seeks++
		w.x.Stats.KeysExamined++
		w.x.Running().Counts.Keys++
		w.at.started = true
		kr.AfterKey, kr.AfterID = w.at.key, w.at.after
	}
	return nil
}

// takeValue takes the value of the present entry and moves behind all entries with it.
func (w *walker) takeValue(coll storage.Collection, s *Scan) error {
	added, n, err := w.values.add(coll, w.at.key, w.at.after)
	if added {
		s.counts.Passed++
	}
	if n > 0 {
		w.at.key, w.at.after = w.at.key[:n], 0
		if !s.Reverse {
			w.at.key = append(w.at.key, 0xff)
		}
	}
	return err
}

// add takes the value of an entry. n is the length of the prefix of all keys with this
// value; 0: the next entry may be the next value. If the key does not determine the value,
// it reads the record; if a key can have different values, each entry is read.
func (d *distinctDecoder) add(coll storage.Collection, key []byte, id storage.RecordID) (added bool, n int, err error) {
	doc, known := d.docs.of(key)
	rec, kind := storage.Record{ID: id, Doc: doc}, value.Missing
	if known {
		kind = d.docs.values[d.fields-1].Kind()
	}
	fetch := !known || !d.covered || kind == value.KindUndefined || kind == value.KindArray
	if fetch {
		var ok bool
		if rec, ok, err = coll.Get(id); err != nil || !ok {
			return false, 0, err
		}
	}
	d.out.records = append(d.out.records, rec)
	d.out.keys.add(key)
	d.out.stored = append(d.out.stored, fetch)
	if known && kind != value.Missing && kind != value.KindUndefined {
		for _, desc := range d.docs.desc[:d.fields] {
			n += value.KeyLen(key[n:], desc)
		}
	}
	return true, n, nil
}
