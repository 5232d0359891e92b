// Package inspect checks the data of an engine through the contract of package
// storage: whatever an engine stores its data in, every document must be whole
// and every index must have the entries that the documents give, and no others.
package inspect

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/maphash"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// maxProblems limits the problems that a report lists.
const maxProblems = 100

// Engine adds to a report what is found in the latest state of an engine. An
// error means that the check could not be finished.
func Engine(ctx context.Context, e storage.Engine, r *storage.Report) error {
	return e.View(ctx, func(tx storage.Tx) error {
		list, err := tx.Collections("")
		if err != nil {
			return err
		}
		for _, info := range list {
			c, err := tx.Collection(info.Namespace)
			if err != nil {
				return err
			}
			v := visit{Report: r, ns: info.Namespace, seed: maphash.MakeSeed()}
			if err := v.collection(c); err != nil {
				v.problem("%v", err)
			}
		}
		return ctx.Err()
	})
}

// visit is the check of one collection.
type visit struct {
	*storage.Report
	ns   storage.Namespace
	seed maphash.Seed
	buf  []byte
}

func (v *visit) problem(format string, args ...any) {
	if len(v.Problems) < maxProblems {
		v.Problems = append(v.Problems, v.ns.String()+": "+fmt.Sprintf(format, args...))
	}
}

// entries are a number of entries and a sum over them in which their order does
// not count.
type entries struct {
	n   int64
	sum uint64
}

func (v *visit) add(e *entries, key []byte, id storage.RecordID) {
	v.buf = binary.BigEndian.AppendUint64(append(v.buf[:0], key...), uint64(id))
	e.n++
	e.sum += maphash.Bytes(v.seed, v.buf)
}

func (v *visit) collection(c storage.Collection) error {
	info := c.Info()
	line := storage.CollectionReport{Namespace: v.ns, Indexes: int64(len(info.Indexes))}
	want, err := v.records(c, &line)
	if err != nil {
		return err
	}
	if n, err := c.Count(); err != nil || n != line.Records {
		v.problem("it has %d documents and counts %d, %v", line.Records, n, err)
	}
	if n, err := c.Size(); err != nil || n != line.Bytes {
		v.problem("its documents have %d bytes, and it counts %d, %v", line.Bytes, n, err)
	}
	for i, x := range info.Indexes {
		var got entries
		err := c.ScanIndex(x.Name, storage.KeyRange{}, func(key []byte, id storage.RecordID) bool {
			v.add(&got, key, id)
			return true
		})
		if err != nil {
			return fmt.Errorf("index %s: %w", x.Name, err)
		}
		if got != want[i] {
			v.problem("index %s has %d entries, the documents give %d; they do not agree", x.Name, got.n, want[i].n)
		}
		line.Entries += got.n
	}
	v.Collections = append(v.Collections, line)
	return nil
}

// records reads all documents, and sums up the entries that they give.
func (v *visit) records(c storage.Collection, line *storage.CollectionReport) ([]entries, error) {
	info := c.Info()
	want := make([]entries, len(info.Indexes))
	var keys [][]byte
	err := c.Scan(storage.Range{}, func(r storage.Record) bool {
		line.Records++
		line.Bytes += int64(len(r.Doc))
		if err := value.Validate(r.Doc); err != nil {
			v.problem("record %d: %v", r.ID, err)
			return true
		}
		for i, x := range info.Indexes {
			var err error
			if keys, _, err = x.Index.Keys(keys[:0], r); err != nil {
				v.problem("record %d: index %s: %v", r.ID, x.Name, err)
			}
			for _, key := range distinct(keys) {
				v.add(&want[i], key, r.ID)
			}
		}
		return true
	})
	return want, err
}
