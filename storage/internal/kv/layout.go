package kv

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/duskdb/duskdb/storage"
)

// Keys begin with a byte that says what they are of. Numbers are big-endian,
// so that keys sort as their numbers do.
//
//	b number                          an index that is being built
//	c collection                      catalog entry
//	d collection r id                 record
//	d collection x index key id       index entry
//	d collection x index order        entries of a unique index, see unique.go
//	s collection                      statistics
//
// Collections and indexes have numbers of one sequence, none of which is used
// twice while the engine is open.
const (
	spaceBuilding = 'b'
	spaceCatalog  = 'c'
	spaceData     = 'd'
	spaceStats    = 's'

	kindRecord = 'r'
	kindEntry  = 'x'
)

const (
	collPrefix   = 1 + 4
	recordPrefix = collPrefix + 1
	entryPrefix  = collPrefix + 1 + 4
	idSize       = 8
)

func numberKey(space byte, num uint32) []byte {
	return binary.BigEndian.AppendUint32(append(make([]byte, 0, collPrefix), space), num)
}

func appendCollection(b []byte, num uint32, kind byte) []byte {
	return append(binary.BigEndian.AppendUint32(append(b, spaceData), num), kind)
}

// AppendRecordKey appends the key of a record.
func AppendRecordKey(b []byte, num uint32, id storage.RecordID) []byte {
	return binary.BigEndian.AppendUint64(appendCollection(b, num, kindRecord), uint64(id))
}

// IsRecordKey reports whether a key is that of a record.
func IsRecordKey(key []byte) bool { return key[0] == spaceData && key[collPrefix] == kindRecord }

// RecordKeyOf is the key of the record that an entry leads to. The key of the entry ends
// with the id of the record.
func RecordKeyOf(entry []byte) []byte {
	b := append(make([]byte, 0, recordPrefix+idSize), entry[:collPrefix]...)
	return append(append(b, kindRecord), entry[len(entry)-idSize:]...)
}

// RecordOf is the collection and the record of a key of a record, or of an entry that ends
// with the id of its record.
func RecordOf(key []byte) (num uint32, id storage.RecordID) {
	return binary.BigEndian.Uint32(key[1:]), storage.RecordID(binary.BigEndian.Uint64(key[len(key)-idSize:]))
}

// WithinColl is the part of a key behind that which all keys of its collection begin with.
func WithinColl(key []byte) []byte { return key[collPrefix:] }

// recordID reads the id from the key of a record.
func recordID(key []byte) storage.RecordID {
	return storage.RecordID(binary.BigEndian.Uint64(key[recordPrefix:]))
}

// appendIndexPrefix appends what the keys of all entries of an index begin
// with.
func appendIndexPrefix(b []byte, num, index uint32) []byte {
	return binary.BigEndian.AppendUint32(appendCollection(b, num, kindEntry), index)
}

// The key of an entry may contain any bytes and be the beginning of another:
// it is written so that a zero byte becomes 00 FF, and 00 01 ends it. So
// entries sort by their keys and then by their ids.
const (
	EntryZero = 0xff
	EntryEnd  = 0x01
)

// appendEscaped appends an index key without its end.
func appendEscaped(b, key []byte) []byte {
	for {
		i := bytes.IndexByte(key, 0)
		if i < 0 {
			return append(b, key...)
		}
		b = append(append(b, key[:i+1]...), EntryZero)
		key = key[i+1:]
	}
}

// appendEntry appends the part of an entry behind the index prefix.
func appendEntry(b, key []byte, id storage.RecordID) []byte {
	b = append(appendEscaped(b, key), 0, EntryEnd)
	return binary.BigEndian.AppendUint64(b, uint64(id))
}

// AppendEntryKey appends the key of an index entry.
func AppendEntryKey(b []byte, num, index uint32, key []byte, id storage.RecordID) []byte {
	return appendEntry(appendIndexPrefix(b, num, index), key, id)
}

// parseEntry reads the part of an entry behind the index prefix. It appends the
// index key to buf.
func parseEntry(buf, entry []byte) (key []byte, id storage.RecordID, err error) {
	key = buf
	for {
		i := bytes.IndexByte(entry, 0)
		if i < 0 || i+1 >= len(entry) {
			return buf, 0, fmt.Errorf("an index entry is damaged: %x", entry)
		}
		key = append(key, entry[:i]...)
		end := entry[i+1] == EntryEnd
		entry = entry[i+2:]
		if end {
			break
		}
		key = append(key, 0)
	}
	if len(entry) != idSize {
		return buf, 0, fmt.Errorf("an index entry has %d bytes for its id", len(entry))
	}
	return key, storage.RecordID(binary.BigEndian.Uint64(entry)), nil
}

// ParseEntryKey is parseEntry for the key of an entry.
func ParseEntryKey(buf, key []byte) ([]byte, storage.RecordID, error) {
	return parseEntry(buf, key[entryPrefix:])
}

// after is the first key behind all keys that begin with prefix.
func after(prefix []byte) []byte {
	end := bytes.Clone(prefix)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}

// SpanOf is all keys that begin with a prefix.
func SpanOf(prefix []byte) Span { return Span{Lo: prefix, Hi: after(prefix)} }

// DataSpan is everything that belongs to a collection but its description.
func DataSpan(num uint32) Span { return SpanOf(numberKey(spaceData, num)) }

func recordSpan(num uint32) Span { return SpanOf(appendCollection(nil, num, kindRecord)) }

// IndexSpan is all entries of an index.
func IndexSpan(num, index uint32) Span { return SpanOf(appendIndexPrefix(nil, num, index)) }

// OrderSpan is the part of an index whose keys begin with an Order.
func OrderSpan(num, index uint32, order []byte) Span {
	lo := appendEscaped(appendIndexPrefix(nil, num, index), order)
	return Span{Lo: lo, Hi: after(lo)}
}
