package bunt

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

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
