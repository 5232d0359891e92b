package lookup

import (
	"encoding/binary"
	"hash/maphash"
	"slices"

	"github.com/duskdb/duskdb/query/agg/order"
	"github.com/duskdb/duskdb/query/agg/spill"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/value"
)

// diskTable is a hashTable in temporary files: the documents in their order, and their numbers
// sorted by the hashes of their values. Documents with another value that has the same hash do
// no harm, since the candidates are filtered.
type diskTable struct {
	seed    maphash.Seed
	docs    spill.List
	numbers spill.Table
	sorter  *order.Sorter // the sorter of the numbers, while the table is made
	hashes  []uint64      // the hashes of the next document
	found   []uint64      // candidates; its room is used again
}

func newDiskTable(it *lookupIterator) *diskTable {
	dir := it.x.TempDir
	return &diskTable{
		seed: maphash.MakeSeed(), docs: spill.List{Dir: dir}, numbers: spill.Table{Dir: dir},
		sorter: order.NewSorter(it.x, it.s, 0, it.x.SortLimit()),
	}
}

// note notes the key of a value that the next document has.
func (t *diskTable) note(key []byte) { t.hashes = append(t.hashes, maphash.Bytes(t.seed, key)) }

// add adds a document.
func (t *diskTable) add(d value.Doc) error {
	n := t.docs.Len()
	if err := t.docs.Add(d); err != nil {
		return stage.DiskError(err)
	}
	slices.Sort(t.hashes)
	t.hashes = slices.Compact(t.hashes)
	var key [16]byte
	for _, hash := range t.hashes {
		binary.BigEndian.PutUint64(key[:], hash)
		binary.BigEndian.PutUint64(key[8:], uint64(n))
		if err := t.sorter.AddRecord(order.Record{Key: key[:], Doc: value.EmptyDoc, Seq: n}); err != nil {
			return err
		}
	}
	t.hashes = t.hashes[:0]
	return nil
}

// end makes the table ready.
func (t *diskTable) end(it *lookupIterator) error {
	sorted, err := t.sorter.Sorted()
	if err != nil {
		return err
	}
	defer sorted.Close()
	for {
		r, err := sorted.Record()
		if err != nil {
			return err
		}
		if r.Doc == nil {
			break
		}
		if err := t.numbers.Add(binary.BigEndian.Uint64(r.Key), binary.BigEndian.Uint64(r.Key[8:])); err != nil {
			return stage.DiskError(err)
		}
	}
	if err := t.numbers.Flush(); err != nil {
		return stage.DiskError(err)
	}
	t.sorter = nil
	it.x.Spilled(it.s, t.docs.Size()+t.numbers.Size())
	return nil
}

// candidates is slot.candidates.
func (t *diskTable) candidates(s *slot, c value.Collator, values []value.Value) (stage.Iterator, error) {
	t.found = t.found[:0]
	var err error
	for _, v := range values {
		s.key = value.AppendKeyWith(s.key[:0], v, c)
		if t.found, err = t.numbers.Find(t.found, maphash.Bytes(t.seed, s.key)); err != nil {
			return nil, stage.DiskError(err)
		}
	}
	if len(values) > 1 {
		slices.Sort(t.found)
		t.found = slices.Compact(t.found)
	}
	return &diskDocs{t: t, left: t.found}, nil
}

// close removes the files.
func (t *diskTable) close() {
	if t.sorter != nil {
		t.sorter.Close()
	}
	_ = t.docs.Close()
	_ = t.numbers.Close()
}

// diskDocs reads documents of a table.
type diskDocs struct {
	t    *diskTable
	left []uint64
}

// Next implements stage.Iterator.
func (d *diskDocs) Next() (value.Doc, error) {
	if len(d.left) == 0 {
		return nil, nil
	}
	doc, err := d.t.docs.Get(int(d.left[0]))
	if err != nil {
		return nil, stage.DiskError(err)
	}
	d.left = d.left[1:]
	return doc, nil
}

// Close implements stage.Iterator.
func (d *diskDocs) Close() { d.left = nil }
