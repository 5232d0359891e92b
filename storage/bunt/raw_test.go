package bunt

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/tidwall/buntdb"

	"github.com/duskdb/duskdb/storage"
)

// The cost of the engine compared with BuntDB used directly: a key for each record, and
// nothing derived from it.

// openRaw opens BuntDB with the settings of the engine.
func openRaw(b *testing.B, path string) *buntdb.DB {
	db, err := openBunt(path)
	must(b, err)
	b.Cleanup(func() { _ = db.Close() })
	return db
}

// setRaw sets n records of about size bytes in one transaction.
func setRaw(b *testing.B, db *buntdb.DB, from, n, size int) {
	must(b, db.Update(func(tx *buntdb.Tx) error {
		for i := from; i < from+n; i++ {
			if _, _, err := tx.Set(fmt.Sprintf("r%012d", i), string(benchDoc(i, size)), nil); err != nil {
				return err
			}
		}
		return nil
	}))
}

// BenchmarkBatchAgainstBunt writes 1000 documents of 1 KB in a transaction;
// the engine keeps an index on _id besides.
func BenchmarkBatchAgainstBunt(b *testing.B) {
	b.Run("engine", func(b *testing.B) {
		e := openBench(b, b.TempDir())
		create(b, e, benchIndexes[0])
		b.ResetTimer()
		for k := range b.N {
			must(b, inColl(e, ns, func(c storage.Collection) error {
				for i := range 1000 {
					if _, err := c.Insert(benchDoc(k*1000+i, 1000), 1); err != nil {
						return err
					}
				}
				return nil
			}))
		}
	})
	b.Run("buntdb", func(b *testing.B) {
		db := openRaw(b, filepath.Join(b.TempDir(), "raw"))
		b.ResetTimer()
		for k := range b.N {
			setRaw(b, db, k*1000, 1000, 1000)
		}
	})
}
