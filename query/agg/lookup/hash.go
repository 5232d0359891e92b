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
	version uint64             // of the collection
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
	return s.src.p.Run(it.inner, it.examined(stage.Docs(s.candidates(it, s.eq.Value)...)))
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
func (s *slot) candidates(it *lookupIterator, values ...value.Value) []value.Doc {
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
	return docs
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
		if !s.asked && fits(v) {
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
	found, err = p.Run(it.inner, it.examined(stage.Docs(s.candidates(it, values...)...)))
	return found, true, err
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
	size := int64(0)
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
		t.docs = append(t.docs, d)
		size += int64(len(d)) + tableEntryBytes
		s.eq.Path.Each(d, value.LeafTraverse, func(v value.Value, _ int) bool {
			size += t.add(s, it.s.p.Collation, v)
			return false
		})
		if size > it.x.SortLimit() {
			s.tooLarge = true
			return nil
		}
	}
}

// add adds the last document under a value that it has, and returns the memory that this
// takes. An equality with null finds a missing value, too.
func (t *hashTable) add(s *slot, c value.Collator, v value.Value) (size int64) {
	n := int32(len(t.docs) - 1)
	if v.IsMissing() {
		v = value.Null()
	}
	s.key = value.AppendKeyWith(s.key[:0], v, c)
	list := t.byValue[string(s.key)]
	if len(list) > 0 && list[len(list)-1] == n {
		return 0
	}
	t.byValue[string(s.key)] = append(list, n)
	return int64(len(s.key)) + tableEntryBytes
}
