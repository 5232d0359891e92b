package kv

import (
	"encoding/binary"
	"iter"

	"github.com/duskdb/duskdb/storage"
)

// RowKind is what a key of the store is of.
type RowKind byte

const (
	RowCatalog RowKind = 'c' // the description of a collection
	RowStats   RowKind = 's' // its statistics
	RowRecord  RowKind = 'r'
	RowDerived RowKind = 'x' // what can be made of the others: an entry, or a mark of an unfinished index
)

// Row is a key of the store in its parts.
type Row struct {
	Kind RowKind
	Num  uint32           // the number of the collection; 0 of a mark
	ID   storage.RecordID // id of a record; otherwise 0
}

// ParseRow returns the parts of a key.
func ParseRow(key []byte) Row {
	switch key[0] {
	case spaceCatalog, spaceStats:
		return Row{Kind: RowKind(key[0]), Num: binary.BigEndian.Uint32(key[1:])}
	case spaceBuilding:
		return Row{Kind: RowDerived}
	}
	r := Row{Kind: RowDerived, Num: binary.BigEndian.Uint32(key[1:])}
	if key[collPrefix] == kindRecord {
		r.Kind, r.ID = RowRecord, recordID(key)
	}
	return r
}

// Logged yields what a log needs of a write set to repeat it: the positions of writes, and
// their rows. Derived rows are left out: opening the store makes them again. So are all
// drops, which follow from the deletion of a description or of entries, and the statistics of a
// collection whose description is not written: what counts of them is the last id, which is
// that of the last record that was written.
func (w *WriteSet) Logged() iter.Seq2[int, Row] {
	return func(yield func(int, Row) bool) {
		var before Row
		for i := range w.Writes {
			r := ParseRow(w.Writes[i].Key)
			described := before.Kind == RowCatalog && before.Num == r.Num
			before = r
			if r.Kind == RowDerived || r.Kind == RowStats && (!described || w.Writes[i].Value == nil) {
				continue
			}
			if !yield(i, r) {
				return
			}
		}
	}
}

// LastIDOf reads the last id from the statistics of a collection.
func LastIDOf(stats []byte) storage.RecordID {
	id, _ := binary.Uvarint(stats)
	return storage.RecordID(id)
}
