package exec

import (
	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/storage"
)

// decoder turns what a walker comes to into records of the chunk. There is one for records,
// and one that makes documents from the keys of an index. It is chosen with the plan.
type decoder interface {
	// wants reports whether a record that was read in natural order belongs to the chunk.
	wants(rec storage.Record, now int64) bool
	// begin says to which scan the next entries belong, and the limit of the chunk's records.
	begin(scan, size int)
	// scan visits the entries of an index, with their records or with the ids alone.
	scan(coll storage.Collection, index string, kr storage.KeyRange, visit func(key []byte, rec storage.Record) bool) error
	// entry adds what an entry leads to.
	entry(counts *ScanCounts, key []byte, rec storage.Record) error
}

// recordDecoder adds the record of each entry, if it is visible.
type recordDecoder struct {
	sight *sight
	out   *chunk
	size  int // how many records the chunk has at most
}

func (d *recordDecoder) wants(rec storage.Record, now int64) bool { return d.sight.sees(&rec, now) }

func (d *recordDecoder) begin(_, size int) { d.size = size }

func (d *recordDecoder) scan(coll storage.Collection, index string, kr storage.KeyRange, visit func(key []byte, rec storage.Record) bool) error {
	return coll.ScanRecords(index, kr, visit)
}

func (d *recordDecoder) entry(counts *ScanCounts, key []byte, rec storage.Record) error {
	if d.sight.sees(&rec, d.sight.x.Running().Now) {
		d.out.add(key, rec, d.size)
		counts.Passed++
	}
	return nil
}

// keyDecoder makes a document of each key. A covered query returns it in place of the record.
// For other queries the filter is applied to it before the record is read.
type keyDecoder struct {
	recordDecoder
	docs    []*keyDocs       // makers of documents: one for all scans, or one for each
	current *keyDocs         // the maker for the present scan
	covered bool             // the documents are returned
	filter  *canonical.Query // the filter for the values of a key; nil: they all match

	// The entries of a chunk that must be read, and those behind them.
	waiting     []waitingEntry
	waitingKeys entryKeys
	failed      error
	ids         []storage.RecordID
	records     []storage.Record
}

// waitingEntry is an entry of an index that comes after one whose record must be read.
type waitingEntry struct {
	counts *ScanCounts
	rec    storage.Record // the record, with the values of the key if they are known
	known  bool           // whether the values of the key are known
	fetch  bool           // whether the record must be read all the same
}

// useKeys lets an index scan use the keys in place of the records, as far as the plan
// allows it.
func (r *ScanIterator) useKeys(p *plan.Plan, q *canonical.Query) *ScanIterator {
	switch {
	case p.Skip > 0:
		r.walk.values = &distinctDecoder{docs: newKeyDocs(p), covered: p.Covered, fields: p.Skip, out: &r.chunk}
	case p.Covered || p.Filtered:
		d := &keyDecoder{recordDecoder: r.plain, docs: []*keyDocs{newKeyDocs(p)}, covered: p.Covered}
		if p.Filtered {
			d.filter = q
		}
		r.walk.decode = d
	}
	r.sight.covered = p.Covered
	return r
}

// useBranches lets the joined scans use keys in place of records, if all of them can.
func (r *ScanIterator) useBranches(p *plan.Plan) *ScanIterator {
	if p.Covered {
		d := &keyDecoder{recordDecoder: r.plain, covered: true}
		for _, part := range p.Parts {
			d.docs = append(d.docs, newKeyDocs(part))
		}
		r.walk.decode, r.sight.covered = d, true
	}
	return r
}

func (d *keyDecoder) begin(scan, size int) {
	d.size, d.current = size, d.docs[min(scan, len(d.docs)-1)]
}

func (d *keyDecoder) scan(coll storage.Collection, index string, kr storage.KeyRange, visit func(key []byte, rec storage.Record) bool) error {
	d.waiting, d.failed = d.waiting[:0], nil
	d.waitingKeys.reset()
	err := coll.ScanIndex(index, kr, func(key []byte, id storage.RecordID) bool { return visit(key, storage.Record{ID: id}) })
	if err != nil || d.failed != nil || len(d.waiting) == 0 {
		return err
	}
	return d.fetch(coll)
}

// entry adds the values of an entry if they are enough. An entry whose record must be read
// waits until all of the chunk are read together, and so do those behind it.
func (d *keyDecoder) entry(counts *ScanCounts, key []byte, rec storage.Record) error {
	e := waitingEntry{counts: counts, rec: rec}
	e.rec.Doc, e.known = d.current.of(key)
	if e.known {
		var hit bool
		if hit, d.failed = d.matches(&e); d.failed != nil || !hit {
			return d.failed
		}
	}
	e.fetch = !e.known || !d.covered || d.sight.mayHaveExpired(d.sight.x.Running().Now)
	if !e.fetch && len(d.waiting) == 0 {
		d.take(key, &e)
		return nil
	}
	d.waiting = append(d.waiting, e)
	d.waitingKeys.add(key)
	return nil
}

// matches applies the filter to what is known of an entry.
func (d *keyDecoder) matches(e *waitingEntry) (bool, error) {
	if d.filter == nil {
		return true, nil
	}
	return d.filter.Matcher.Match(d.sight.x.Env, e.rec.Doc)
}

// fetch reads the records of the entries that wait, and takes those that are still there,
// visible and matching.
func (d *keyDecoder) fetch(coll storage.Collection) error {
	d.ids, d.records = d.ids[:0], d.records[:0]
	for i := range d.waiting {
		if d.waiting[i].fetch {
			d.ids = append(d.ids, d.waiting[i].rec.ID)
		}
	}
	err := coll.GetMany(d.ids, func(rec storage.Record) bool { d.records = append(d.records, rec); return true })
	if err != nil {
		return err
	}
	next, now := 0, d.sight.x.Running().Now
	for i := range d.waiting {
		e := &d.waiting[i]
		if e.fetch {
			if next == len(d.records) || d.records[next].ID != e.rec.ID {
				continue // it is gone
			}
			e.rec = d.records[next]
			next++
			if !d.sight.sees(&e.rec, now) {
				continue
			}
		}
		if !e.known && d.covered { // nobody judges it later
			if hit, err := d.matches(e); err != nil {
				return err
			} else if !hit {
				continue
			}
		}
		d.take(d.waitingKeys.at(i), e)
	}
	return nil
}

// take adds an entry to the chunk.
func (d *keyDecoder) take(key []byte, e *waitingEntry) {
	d.out.add(key, e.rec, d.size)
	e.counts.Passed++
	if d.covered {
		d.out.stored = append(d.out.stored, e.fetch)
	}
}
