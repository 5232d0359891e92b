package lookup

import (
	"slices"

	"github.com/duskdb/duskdb/query/agg/flow"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/value"
)

// hashTable holds the documents of a collection by the values of the foreign field. A
// $lookup that would read the whole collection for each input reads it once for the table.
type hashTable struct {
	docs    []value.Doc
	byValue map[string][]int32 // positions in docs, ascending
	version uint64             // the version of the collection
	disk    *diskTable         // the table on disk, if docs and byValue would be too large
}

// tableEntryBytes is roughly what an entry takes besides its document and key.
const tableEntryBytes = 64

// runScanned runs the pipeline of a slot on the documents that may have its value. The
// first input reads the collection without making a table: often it is the only one.
func (it *lookupIterator) runScanned(s *slot, host stage.Scanned) (stage.Iterator, error) {
	if err := it.useTable(s, host); err != nil {
		return nil, err
	}
	if s.table == nil {
		src, err := host.Open()
		if err != nil {
			return nil, err
		}
		return s.src.behind(it, src)
	}
	found, err := s.candidates(it, s.eq.Value)
	if err != nil {
		return nil, err
	}
	return s.src.p.Run(it.inner, it.examined(found))
}

// useTable makes the table for the second input, and again when the collection has
// changed.
func (it *lookupIterator) useTable(s *slot, host stage.Scanned) error {
	if s.opened++; s.opened == 1 || s.tooLarge {
		return nil
	}
	if version := host.Version(); s.table == nil || s.table.version != version {
		return it.makeTable(s, version)
	}
	return nil
}

// candidates returns the documents of the table, in their order, that may have one of the
// values.
func (s *slot) candidates(it *lookupIterator, values ...value.Value) (stage.Iterator, error) {
	if disk := s.table.disk; disk != nil {
		return disk.candidates(s, it.s.p.Collation, values)
	}
	var at []int32
	for _, v := range values {
		s.key = value.AppendKeyWith(s.key[:0], v, it.s.p.Collation)
		at = append(at, s.table.byValue[string(s.key)]...)
	}
	if len(values) > 1 {
		slices.Sort(at)
		at = slices.Compact(at)
	}
	docs := make([]value.Doc, len(at))
	for i, n := range at {
		docs[i] = s.table.docs[n]
	}
	return stage.Docs(docs...), nil
}

// lookupScanned is lookupEqual of an input that has any values at localField, other than
// one that a slot holds. It uses the table where lookupEqual would read the whole
// collection; ok is false without a table for that.
func (it *lookupIterator) lookupScanned(d value.Doc) (found stage.Iterator, ok bool, err error) {
	s := it.slot
	if s == nil {
		return nil, false, nil
	}
	var values []value.Value
	undefined := false
	eachValue(d, it.local.Parts(), func(v value.Value) {
		undefined = undefined || v.Kind() == value.KindUndefined
		if !s.requested && fits(v) {
			s.eq.Value = v // the host plans with it
		}
		values = append(values, v)
	})
	if err := it.ask(s); err != nil {
		return nil, false, err
	}
	host, ok := s.prepared.(stage.Scanned)
	if !ok {
		return nil, false, nil
	}
	if len(values) == 0 {
		values = []value.Value{value.Null()}
	}
	switch {
	case undefined: // a condition on the type, which the table does not know
		return nil, false, nil
	case len(values) == 1:
		s.eq.Value = values[0]
		found, err = it.runScanned(s, host)
		return found, true, err
	}
	if err := it.useTable(s, host); s.table == nil || err != nil {
		return nil, false, err
	}
	m, err := flow.NewMatch(it.s.p, equalityFilter(it.local, it.s.foreign, d))
	if err != nil {
		return nil, false, err
	}
	p := it.s.part(joinStages(it.s.p, m, it.s.sub.Stages()))
	docs, err := s.candidates(it, values...)
	if err != nil {
		return nil, false, err
	}
	found, err = p.Run(it.inner, it.examined(docs))
	return found, true, err
}

// makeTable reads the collection. If the documents take more memory than a $sort may, they
// are written to disk; without permission for that there is no table.
func (it *lookupIterator) makeTable(s *slot, version uint64) error {
	s.dropTable()
	src, err := it.run(newLookupSource(it.s.part(nil)))
	if err != nil {
		return err
	}
	defer src.Close()
	m := tableMaker{it: it, s: s, t: &hashTable{byValue: map[string][]int32{}, version: version}}
	for !s.tooLarge {
		if err := it.inner.Tick(); err != nil {
			m.t.close()
			return err
		}
		d, err := src.Next()
		if err == nil && d != nil {
			err = m.add(d)
		}
		if err != nil {
			m.t.close()
			return err
		}
		if d == nil {
			return m.end()
		}
	}
	return nil
}

// dropTable releases the table.
func (s *slot) dropTable() {
	if s.table != nil {
		s.table.close()
		s.table = nil
	}
}

func (t *hashTable) close() {
	if t.disk != nil {
		t.disk.close()
	}
}

// tableMaker makes the table of a slot.
type tableMaker struct {
	it   *lookupIterator
	s    *slot
	t    *hashTable
	size int64 // the bytes in memory
}

// add adds the next document.
func (m *tableMaker) add(d value.Doc) error {
	if m.t.disk != nil {
		return m.spill(d)
	}
	m.t.docs = append(m.t.docs, d)
	m.size += int64(len(d)) + tableEntryBytes
	n := int32(len(m.t.docs) - 1)
	m.keys(d, func(key []byte) {
		list := m.t.byValue[string(key)]
		if len(list) > 0 && list[len(list)-1] == n {
			return
		}
		m.t.byValue[string(key)] = append(list, n)
		m.size += int64(len(key)) + tableEntryBytes
	})
	switch {
	case m.size <= m.it.x.SortLimit():
		return nil
	case !m.it.x.AllowDiskUse:
		m.s.tooLarge = true
		return nil
	}
	return m.toDisk()
}

// keys yields the keys of the values at the foreign field. An equality with null finds a
// missing value, too.
func (m *tableMaker) keys(d value.Doc, yield func(key []byte)) {
	s := m.s
	s.eq.Path.Each(d, value.LeafTraverse, func(v value.Value, _ int) bool {
		if v.IsMissing() {
			v = value.Null()
		}
		s.key = value.AppendKeyWith(s.key[:0], v, m.it.s.p.Collation)
		yield(s.key)
		return false
	})
}

// toDisk moves the documents of the table to disk.
func (m *tableMaker) toDisk() error {
	docs := m.t.docs
	m.t.docs, m.t.byValue = nil, nil
	m.t.disk = newDiskTable(m.it)
	for i, d := range docs {
		if err := m.spill(d); err != nil {
			return err
		}
		docs[i] = nil
	}
	return nil
}

func (m *tableMaker) spill(d value.Doc) error {
	disk := m.t.disk
	m.keys(d, disk.note)
	return disk.add(d)
}

// end gives the table to the slot.
func (m *tableMaker) end() error {
	if m.t.disk != nil {
		if err := m.t.disk.end(m.it); err != nil {
			m.t.close()
			return err
		}
	}
	m.s.table = m.t
	return nil
}
