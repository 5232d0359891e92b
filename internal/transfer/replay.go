package transfer

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/duskdb/duskdb/value"
)

// The oplog is replayed in batches of so many entries or bytes.
const (
	replayEntries = 200
	replayBytes   = 8 << 20
)

// replay applies the oplog of a dump, which has what was written while mongodump --oplog
// read the collections: without it, they are from different instants.
func (d *dump) replay(source Source) error {
	var batch []value.Value
	size := 0
	for {
		entry, line, err := source.Next()
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("the oplog: %w", err)
		}
		if err == nil && replayed(entry) {
			batch, size = append(batch, value.Document(withoutUUID(entry))), size+len(entry)
		}
		if err != nil || len(batch) == replayEntries || size > replayBytes {
			if applied := d.apply(batch); applied != nil {
				return fmt.Errorf("the oplog, up to entry %d: %w", line, applied)
			}
			batch, size = nil, 0
		}
		if err != nil {
			return nil
		}
	}
}

// replayed reports whether an entry changes data, and not those of the server itself.
func replayed(entry value.Doc) bool {
	db, _, _ := strings.Cut(entry.Lookup("ns").Str(), ".")
	return entry.Lookup("op").Str() != "n" && db != "config" && db != "local"
}

// withoutUUID removes the UUID of the collection, which is another one now.
func withoutUUID(entry value.Doc) value.Doc {
	b := value.NewBuilder()
	for it := entry.Iter(); it.Next(); {
		if it.Key() != "ui" {
			b.Raw(it.Element())
		}
	}
	return b.Doc()
}

func (d *dump) apply(batch []value.Value) error {
	if len(batch) == 0 {
		return nil
	}
	_, err := d.to.Run(value.NewDoc("applyOps", value.NewArray(batch...), "$db", value.String("admin")))
	return err
}
