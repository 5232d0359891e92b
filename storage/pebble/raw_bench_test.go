package pebble

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/versus"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// The benchmarks do the same with the engine and with Pebble itself, by a program that
// knows its keys, with the same options, files and durability, in one run:
//
//	go test ./storage/pebble -run '^$' -bench Raw -benchtime 9x
//
// A document has a record under a number, a row of the unique index of _id that leads
// to the number, and an entry of the index of a. A commit also writes the counters of the
// collection.

// rawRow is a key of collection 1.
func rawRow(kind string, parts ...[]byte) []byte {
	key := []byte("d\x00\x00\x00\x01" + kind)
	for _, p := range parts {
		key = append(key, p...)
	}
	return key
}

func bytesOf(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

func idRow(id int64) []byte {
	return rawRow("x\x00\x00\x00\x02", value.AppendKey(nil, value.Int64(id)))
}

func entryRow(id int64) []byte {
	return rawRow("x\x00\x00\x00\x03", value.AppendKey(nil, value.Int64(id%100)), bytesOf(id))
}

var counters = []byte("s\x00\x00\x00\x01")

// rivals are an engine and a Pebble with the same documents.
type rivals struct {
	e    storage.Engine
	raw  *pebble.DB
	next atomic.Int64 // the last document of either
}

func newRivals(b *testing.B) *rivals {
	e, err := Open(Options{Path: b.TempDir(), Indexer: storagetest.Indexer{}})
	must(b, err)
	s, err := openStore(func() Options {
		o := Options{Path: filepath.Join(b.TempDir(), "raw")}
		o.setDefaults()
		return o
	}())
	must(b, err)
	b.Cleanup(func() { must(b, errors.Join(e.Close(), s.Close())) })
	r := &rivals{e: e, raw: s.db}
	must(b, e.Update(ctx, func(tx storage.Tx) error {
		_, err := tx.Create(storagetest.NS, nil, []storage.IndexSpec{storagetest.UniqueSpec("_id"), storagetest.Spec("a")})
		return err
	}))
	for i := int64(0); i < benchRecords; i += 1000 {
		must(b, errors.Join(r.insert(i, 1000), r.insertRaw(i, 1000)))
	}
	r.next.Store(benchRecords)
	return r
}

// insert inserts documents through the engine.
func (r *rivals) insert(from, n int64) error {
	return r.e.(storage.Sharer).UpdateShared(ctx, func(tx storage.Tx) error {
		c, err := tx.Collection(storagetest.NS)
		for i := from; i < from+n && err == nil; i++ {
			_, err = c.Insert(benchDoc(i), 1)
		}
		return err
	})
}

func (r *rivals) insertRaw(from, n int64) error {
	batch := r.raw.NewBatch()
	var err error
	for i := from; i < from+n && err == nil; i++ {
		err = errors.Join(batch.Set(rawRow("r", bytesOf(i)), benchDoc(i), nil),
			batch.Set(idRow(i), bytesOf(i), nil), batch.Set(entryRow(i), nil, nil))
	}
	return errors.Join(err, batch.Set(counters, bytesOf(from), nil), batch.Commit(pebble.Sync))
}

// find looks a document up in the engine.
func find(c storage.Collection, id int64) (storage.Record, error) {
	rec, ok, err := c.Find("_id", value.AppendKey(nil, value.Int64(id)))
	if err == nil && !ok {
		err = fmt.Errorf("there is no document %d", id)
	}
	return rec, err
}

// read is a View of the collection.
func (r *rivals) read(fn func(c storage.Collection) error) error {
	return r.e.View(ctx, func(tx storage.Tx) error {
		c, err := tx.Collection(storagetest.NS)
		if err == nil {
			err = fn(c)
		}
		return err
	})
}

// get reads a value.
func (r *rivals) get(key []byte) ([]byte, error) {
	v, closer, err := r.raw.Get(key)
	if err != nil {
		return nil, err
	}
	v = append([]byte(nil), v...)
	return v, closer.Close()
}

// findRaw reads a record by way of the index.
func (r *rivals) findRaw(id int64) (key, record []byte, err error) {
	at, err := r.get(idRow(id))
	if err != nil {
		return nil, nil, err
	}
	key = rawRow("r", at)
	record, err = r.get(key)
	return key, record, err
}

// eachRaw calls fn with the rows of a range.
func (r *rivals) eachRaw(lo, hi []byte, fn func(key, v []byte) error) error {
	it, err := r.raw.NewIter(&pebble.IterOptions{LowerBound: lo, UpperBound: hi})
	if err != nil {
		return err
	}
	for ok := it.First(); ok && err == nil; ok = it.Next() {
		err = fn(it.Key(), it.Value())
	}
	return errors.Join(err, it.Close())
}

// spread is the number of a document, in an order without pattern.
func spread(n int64) int64 { return n * 7919 % benchRecords }

// BenchmarkRaw compares single operations.
func BenchmarkRaw(b *testing.B) {
	r := newRivals(b)
	many := func(n int64) (engine, raw func(int, int64) error) {
		return func(int, int64) error { return r.insert(r.next.Add(n)-n, n) }, func(int, int64) error { return r.insertRaw(r.next.Add(n)-n, n) }
	}
	insertOne, insertOneRaw := many(1)
	insertMany, insertManyRaw := many(1000)
	for _, x := range []struct {
		name         string
		workers, ops int
		raw, engine  func(int, int64) error
	}{
		{"Find", 1, 20_000, r.findOpRaw, r.findOp},
		{"Find16", 16, 20_000, r.findOpRaw, r.findOp},
		{"Update", 1, 2000, r.updateOpRaw, r.updateOp},
		{"Update16", 16, 8000, r.updateOpRaw, r.updateOp},
		{"Insert", 1, 2000, insertOneRaw, insertOne},
		{"Insert16", 16, 8000, insertOneRaw, insertOne},
		{"Insert1000", 1, 8, insertManyRaw, insertMany},
		{"Scan", 1, 4, r.scanOpRaw, r.scanOp},
		{"Range100", 1, 200, r.rangeOpRaw, r.rangeOp},
	} {
		b.Run(x.name, func(b *testing.B) { versus.Run(b, x.workers, x.ops, x.raw, x.engine) })
	}
}

func (r *rivals) findOp(_ int, n int64) error {
	return r.read(func(c storage.Collection) error { _, err := find(c, spread(n)); return err })
}

func (r *rivals) findOpRaw(_ int, n int64) error {
	_, _, err := r.findRaw(spread(n))
	return err
}

func (r *rivals) updateOp(_ int, n int64) error {
	return r.e.(storage.Sharer).UpdateShared(ctx, func(tx storage.Tx) error {
		c, err := tx.Collection(storagetest.NS)
		if err != nil {
			return err
		}
		rec, err := find(c, spread(n))
		if err == nil {
			_, err = c.Update(rec.ID, benchDoc(spread(n)), n)
		}
		return err
	})
}

func (r *rivals) updateOpRaw(_ int, n int64) error {
	key, _, err := r.findRaw(spread(n))
	if err != nil {
		return err
	}
	batch := r.raw.NewBatch()
	return errors.Join(batch.Set(key, benchDoc(spread(n)), nil), batch.Set(counters, bytesOf(n), nil), batch.Commit(pebble.Sync))
}

// scanOp reads the first documents, as inserts add further ones.
func (r *rivals) scanOp(int, int64) error {
	return r.read(func(c storage.Collection) error {
		n := 0
		err := c.Scan(storage.Range{Until: benchRecords}, func(storage.Record) bool { n++; return true })
		return counted(err, n, benchRecords)
	})
}

func (r *rivals) scanOpRaw(int, int64) error {
	n := 0
	err := r.eachRaw(rawRow("r"), rawRow("r", bytesOf(benchRecords)), func(_, v []byte) error { n++; return nil })
	return counted(err, n, benchRecords)
}

func counted(err error, n, want int) error {
	if err == nil && n != want {
		err = fmt.Errorf("%d documents, want %d", n, want)
	}
	return err
}

// rangeOp reads the first hundred documents of one key of the index.
func (r *rivals) rangeOp(_ int, i int64) error {
	lo := value.AppendKey(nil, value.Int64(i%100))
	return r.read(func(c storage.Collection) error {
		n := 0
		err := c.ScanRecords("a", storage.KeyRange{Lo: lo, Hi: append(lo[:len(lo):len(lo)], 0xff), Wanted: 100}, func([]byte, storage.Record) bool { n++; return n < 100 })
		return counted(err, n, 100)
	})
}

var errEnough = errors.New("enough")

func (r *rivals) rangeOpRaw(_ int, i int64) error {
	lo := rawRow("x\x00\x00\x00\x03", value.AppendKey(nil, value.Int64(i%100)))
	n := 0
	err := r.eachRaw(lo, append(lo[:len(lo):len(lo)], 0xff), func(key, _ []byte) error {
		if _, err := r.get(rawRow("r", key[len(key)-8:])); err != nil {
			return err
		}
		if n++; n == 100 {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return counted(err, n, 100)
}

// BenchmarkRawOpen opens a directory that was closed.
func BenchmarkRawOpen(b *testing.B) {
	dir := b.TempDir()
	opts := Options{Path: dir, Indexer: storagetest.Indexer{}}
	e, err := Open(opts)
	must(b, err)
	must(b, e.Update(ctx, func(tx storage.Tx) error {
		c, err := tx.Create(storagetest.NS, nil, []storage.IndexSpec{storagetest.UniqueSpec("_id"), storagetest.Spec("a")})
		for i := int64(0); i < 100_000 && err == nil; i++ {
			_, err = c.Insert(benchDoc(i), 1)
		}
		return err
	}))
	must(b, e.Close())
	versus.Run(b, 1, 1, func(int, int64) error {
		o := opts
		o.setDefaults()
		s, err := openStore(o)
		if err != nil {
			return err
		}
		return s.Close()
	}, func(int, int64) error {
		e, err := Open(opts)
		if err != nil {
			return err
		}
		return e.Close()
	})
}
