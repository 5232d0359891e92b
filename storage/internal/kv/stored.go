package kv

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// The value of a record is the instant of its last write, in eight
// little-endian bytes, and its document.

func makeStored(doc value.Doc, ts int64) []byte {
	b := make([]byte, 8, 8+len(doc))
	binary.LittleEndian.PutUint64(b, uint64(ts))
	return append(b, doc...)
}

var errDamagedRecord = errors.New("a record is damaged")

// ParseRecord makes a Record of a stored value, which it does not copy.
func ParseRecord(id storage.RecordID, stored []byte) (storage.Record, error) {
	if len(stored) < 8 {
		return storage.Record{}, fmt.Errorf("record %d: %w", id, errDamagedRecord)
	}
	return StoredRecord(id, stored), nil
}

// StoredRecord is ParseRecord for a value that is known to be whole.
func StoredRecord(id storage.RecordID, stored []byte) storage.Record {
	return storage.Record{ID: id, TS: int64(binary.LittleEndian.Uint64(stored)), Doc: value.Doc(stored[8:len(stored):len(stored)])}
}

// CatalogDoc is the catalog entry of a collection.
func (c *Coll) CatalogDoc() value.Doc {
	info := c.Info
	b := value.NewBuilder()
	b.String("db", info.Namespace.DB)
	b.String("coll", info.Namespace.Coll)
	b.Append("uuid", value.Binary(4, info.UUID[:]))
	if info.Options != nil {
		b.Document("options", info.Options)
	}
	b.StartArray("indexes")
	for i := range info.Indexes {
		x := &info.Indexes[i]
		b.StartDocument("").String("name", x.Name).Document("spec", orEmpty(x.Spec))
		b.Int64("number", int64(c.Indexes[i].Num))
		if c.Indexes[i].rowPerOrder {
			b.Bool("single", true)
		}
		b.End()
	}
	b.End()
	if len(c.Building) > 0 {
		b.StartArray("building")
		for k, x := range c.Building {
			b.StartDocument("").String("name", x.Spec.Name).Document("spec", orEmpty(x.Spec.Spec))
			b.Int64("number", int64(c.Indexes[len(info.Indexes)+k].Num)).String("owner", x.Owner).Int64("limit", int64(x.Limit)).End()
		}
		b.End()
	}
	return b.Doc()
}

// orEmpty makes a document of no bytes the empty document.
func orEmpty(d value.Doc) value.Doc {
	if len(d) == 0 {
		return value.Doc{5, 0, 0, 0, 0}
	}
	return d
}

// ParseCatalog is the inverse of catalogDoc. The indexes are not compiled yet.
func ParseCatalog(num uint32, b []byte) (*Coll, error) {
	doc := value.Doc(b)
	if err := value.Validate(doc); err != nil {
		return nil, fmt.Errorf("catalog entry %d: %w", num, err)
	}
	info := &storage.Info{Namespace: storage.Namespace{
		DB:   doc.Lookup("db").Str(),
		Coll: doc.Lookup("coll").Str(),
	}}
	_, uuid := doc.Lookup("uuid").Binary()
	copy(info.UUID[:], uuid)
	if v := doc.Lookup("options"); !v.IsMissing() {
		info.Options = v.Doc()
	}
	c := &Coll{Num: num, Info: info, firstID: new(firstID), noted: new(storage.Noted)}
	for it := doc.Lookup("indexes").Doc().Iter(); it.Next(); {
		x := it.Value().Doc()
		info.Indexes = append(info.Indexes, storage.IndexInfo{IndexSpec: storage.IndexSpec{
			Name: x.Lookup("name").Str(),
			Spec: x.Lookup("spec").Doc(),
		}})
		c.Indexes = append(c.Indexes, &Index{Num: uint32(x.Lookup("number").Int64()), rowPerOrder: x.Lookup("single").Bool()})
	}
	for it := doc.Lookup("building").Doc().Iter(); it.Next(); {
		x := it.Value().Doc()
		c.Building = append(c.Building, BuildingIndex{
			Spec:  storage.IndexSpec{Name: x.Lookup("name").Str(), Spec: x.Lookup("spec").Doc()},
			Owner: x.Lookup("owner").Str(), Limit: storage.RecordID(x.Lookup("limit").Int64()),
		})
		c.Indexes = append(c.Indexes, &Index{Num: uint32(x.Lookup("number").Int64())})
	}
	return c, nil
}

// statsRow is the row with the counters of a collection.
func (c *Coll) statsRow() []byte {
	b := make([]byte, 0, 16+16*len(c.Indexes))
	b = binary.AppendUvarint(b, uint64(c.LastID))
	b = binary.AppendUvarint(b, uint64(c.count))
	b = binary.AppendUvarint(b, uint64(c.size))
	for i, x := range c.Indexes {
		b = binary.AppendUvarint(b, uint64(x.Num))
		b = binary.AppendUvarint(b, uint64(x.Entries))
		b = binary.AppendUvarint(b, uint64(x.bytes))
		b = binary.AppendUvarint(b, uint64(x.Multikey))
		if i >= len(c.Info.Indexes) {
			b = binary.AppendUvarint(b, uint64(x.FilledTo))
		}
	}
	return b
}

// ReadStats reads the counters of a collection from its row.
func (c *Coll) ReadStats(row []byte) error {
	bad := false
	next := func() uint64 {
		v, n := binary.Uvarint(row)
		if n <= 0 {
			bad = true
			return 0
		}
		row = row[n:]
		return v
	}
	c.LastID = storage.RecordID(next())
	c.count, c.size = int64(next()), int64(next())
	for i, x := range c.Indexes {
		if num := uint32(next()); num != x.Num {
			bad = true
		}
		x.Entries, x.bytes, x.Multikey = int64(next()), int64(next()), storage.Multikey(next())
		if i >= len(c.Info.Indexes) {
			x.FilledTo = storage.RecordID(next())
		}
	}
	if bad || len(row) > 0 {
		return fmt.Errorf("the statistics of %s are damaged", c.Info.Namespace)
	}
	return nil
}

// WithStats returns a copy with the statistics of a row, as of the commit with a stamp. If
// that is not newer than what is known, more is known.
func (c *Coll) WithStats(stamp uint64, row []byte) (*Coll, error) {
	d := c.clone()
	d.Change = nil
	d.Estimated = false
	if stamp == c.Stamp {
		return d, nil
	}
	for _, x := range d.Indexes {
		x.MaxKey = nil
	}
	d.Stamp = stamp
	return d, d.ReadStats(row)
}
