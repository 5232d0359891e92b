package bunt

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Keys of the log. Collections are numbered; a number is never used again
// while records of its former owner are in the log.
//
//	c{number}      catalog entry: a document
//	h              header: format and nonce
//	l{number}      id of the newest record, where the records do not tell
//	m              marker of the last group
//	r{number}{id}  record: 8 bytes last write, then the document
const (
	prefixCatalog = 'c'
	prefixLastID  = 'l'
	prefixRecord  = 'r'
	keyHeader     = "h"
	keyMarker     = "m"
)

func numberKey(prefix byte, num uint32) string {
	var b [5]byte
	b[0] = prefix
	binary.BigEndian.PutUint32(b[1:], num)
	return string(b[:])
}

func recordKey(num uint32, id storage.RecordID) string {
	var b [13]byte
	b[0] = prefixRecord
	binary.BigEndian.PutUint32(b[1:], num)
	binary.BigEndian.PutUint64(b[5:], uint64(id))
	return string(b[:])
}

func parseNumberKey(key string) (uint32, error) {
	if len(key) < 5 {
		return 0, fmt.Errorf("short key %q in the log", key)
	}
	return binary.BigEndian.Uint32(value.StringView(key[1:5])), nil
}

func parseRecordKey(key string) (num uint32, id storage.RecordID, err error) {
	if len(key) != 13 {
		return 0, 0, fmt.Errorf("key %q in the log is no record's", key)
	}
	b := value.StringView(key)
	return binary.BigEndian.Uint32(b[1:]), storage.RecordID(binary.BigEndian.Uint64(b[5:])), nil
}

// makeStored joins timestamp and document.
func makeStored(doc value.Doc, ts int64) string {
	var b strings.Builder
	b.Grow(8 + len(doc))
	var head [8]byte
	binary.LittleEndian.PutUint64(head[:], uint64(ts))
	b.Write(head[:])
	b.Write(doc)
	return b.String()
}

func storedTS(s string) int64 { return int64(binary.LittleEndian.Uint64(value.StringView(s[:8]))) }

func storedDoc(s string) value.Doc { return value.Doc(value.StringView(s[8:])) }

func makeInt64(v int64) string {
	return string(binary.LittleEndian.AppendUint64(nil, uint64(v)))
}

// catalogDoc is the catalog entry of a collection.
func catalogDoc(info *storage.Info) string {
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
		b.StartDocument("").String("name", x.Name).Document("spec", orEmpty(x.Spec)).End()
	}
	b.End()
	return string(b.Doc())
}

// parseCatalog is the inverse of catalogDoc. The Info has no indexers yet.
func parseCatalog(s string) (*storage.Info, error) {
	doc := value.Doc(value.StringView(s))
	if err := value.Validate(doc); err != nil {
		return nil, fmt.Errorf("catalog entry: %w", err)
	}
	info := &storage.Info{Namespace: storage.Namespace{
		DB:   strings.Clone(doc.Lookup("db").Str()),
		Coll: strings.Clone(doc.Lookup("coll").Str()),
	}}
	_, uuid := doc.Lookup("uuid").Binary()
	copy(info.UUID[:], uuid)
	if v := doc.Lookup("options"); !v.IsMissing() {
		info.Options = v.Doc()
	}
	for it := doc.Lookup("indexes").Doc().Iter(); it.Next(); {
		x := it.Value().Doc()
		info.Indexes = append(info.Indexes, storage.IndexInfo{IndexSpec: storage.IndexSpec{
			Name: x.Lookup("name").Str(),
			Spec: x.Lookup("spec").Doc(),
		}})
	}
	return info, nil
}

// orEmpty makes a document of no bytes the empty document.
func orEmpty(d value.Doc) value.Doc {
	if len(d) == 0 {
		return value.Doc{5, 0, 0, 0, 0}
	}
	return d
}

// stringView views key bytes as a string for the time of a look-up.
func stringView(b []byte) string { return value.BytesView(b) }
