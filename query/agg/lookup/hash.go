package lookup

import (
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/value"
)

// hashTable holds the documents of a collection by the values of the foreign field. A
// $lookup that would read the whole collection for each input reads it once for the table.
type hashTable struct {
	docs    []value.Doc
	byValue map[string][]int32 // positions in docs, ascending
	version uint64             // of the collection
}

// tableEntryBytes is roughly what an entry takes besides its document and key.
const tableEntryBytes = 64

// runScanned runs the pipeline of a slot on the documents that may have its value. The
// first input reads the collection without making a table: often it is the only one.
func (it *lookupIterator) runScanned(s *slot, host stage.Scanned) (stage.Iterator, error) {
	if s.opened++; s.opened > 1 && !s.tooLarge {
		if version := host.Version(); s.table == nil || s.table.version != version {
			if err := it.makeTable(s, version); err != nil {
				return nil, err
			}
		}
	}
	if s.table == nil {
		src, err := host.Open()
		if err != nil {
			return nil, err
		}
		return s.src.behind(it, src)
	}
	s.key = value.AppendKeyWith(s.key[:0], s.eq.Value, it.s.p.Collation)
	at := s.table.byValue[string(s.key)]
	docs := make([]value.Doc, len(at))
	for i, n := range at {
		docs[i] = s.table.docs[n]
	}
	return s.src.p.Run(it.inner, it.examined(stage.Docs(docs...)))
}

// makeTable reads the collection, and gives up if the documents take more memory than a
// $sort may.
func (it *lookupIterator) makeTable(s *slot, version uint64) error {
	s.table = nil
	src, err := it.run(newLookupSource(it.s.part(nil)))
	if err != nil {
		return err
	}
	defer src.Close()
	t := &hashTable{byValue: map[string][]int32{}, version: version}
	path, size := s.eq.Path.Parts(), int64(0)
	for {
		if err := it.inner.Tick(); err != nil {
			return err
		}
		d, err := src.Next()
		if err != nil {
			return err
		}
		if d == nil {
			s.table = t
			return nil
		}
		n := int32(len(t.docs))
		t.docs = append(t.docs, d)
		size += int64(len(d)) + tableEntryBytes
		eachValue(d, path, func(v value.Value) {
			if !fits(v) {
				return // no input has it
			}
			s.key = value.AppendKeyWith(s.key[:0], v, it.s.p.Collation)
			list := t.byValue[string(s.key)]
			if len(list) > 0 && list[len(list)-1] == n {
				return
			}
			t.byValue[string(s.key)] = append(list, n)
			size += int64(len(s.key)) + tableEntryBytes
		})
		if size > it.x.SortLimit() {
			s.tooLarge = true
			return nil
		}
	}
}
