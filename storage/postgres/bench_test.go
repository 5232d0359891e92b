package postgres_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/duskdb/duskdb/internal/pgtest"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/versus"
	"github.com/duskdb/duskdb/storage/postgres"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// The benchmarks do the same with the engine and with pgconn, written by hand, in one
// run, so that the ratio says what the engine costs:
//
//	go test ./storage/postgres -run '^$' -bench . -benchtime 50x
//
// The database is one in memory whose commits are durable, which makes the most of
// the engine's cost, or the one that DUSKDB_TEST_POSTGRES names.

// benchRows is how many documents there are.
const benchRows = 20_000

// filler makes documents of about 200 bytes.
var filler = value.String(string(make([]byte, 150)))

func benchDoc(id int32) value.Doc {
	return value.NewDoc("_id", value.Int32(id), "a", value.Int32(id*7%1000), "s", filler)
}

func benchURI(b *testing.B) string {
	if uri := os.Getenv(pgtest.Variable); uri != "" {
		return uri
	}
	return pgtest.Own(b).URI("")
}

// benchEngine opens an engine over a collection with an index beside that of _id.
func benchEngine(b *testing.B, uri string, rows int32, trips func()) *postgres.Engine {
	b.Helper()
	e, err := postgres.Open(ctx, postgres.Options{URI: uri, Schema: pgtest.Schema(b.TempDir()), Indexer: storagetest.Indexer{}, Logger: b.Logf, Trips: trips})
	must(b, err)
	b.Cleanup(func() { _ = e.Close() })
	create(b, e, ns, storagetest.UniqueSpec("_id"), storagetest.Spec("a"))
	for from := int32(0); from < rows; from += 1000 {
		must(b, benchInsert(e, from, 1000))
	}
	return e
}

func benchInsert(e storage.Sharer, from, n int32) error {
	return e.UpdateShared(ctx, func(tx storage.Tx) error {
		c, err := tx.Collection(ns)
		for id := from; id < from+n && err == nil; id++ {
			_, err = c.Insert(benchDoc(id), 1)
		}
		return err
	})
}

// rawConns are connections with prepared statements.
func rawConns(b *testing.B, uri string, n int, statements map[string]string) []*pgconn.PgConn {
	b.Helper()
	list := make([]*pgconn.PgConn, n)
	for i := range list {
		c, err := pgconn.Connect(ctx, uri)
		must(b, err)
		b.Cleanup(func() { _ = c.Close(context.Background()) })
		must(b, c.Exec(ctx, rawPlanner).Close())
		for name, sql := range statements {
			_, err := c.Prepare(ctx, name, sql, nil)
			must(b, err)
		}
		list[i] = c
	}
	return list
}

var rawFormat = []int16{1}

// rawPlanner makes the plans those that the engine gets.
const rawPlanner = `set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off; set enable_bitmapscan = off; set jit = off; set plan_cache_mode = force_generic_plan`

const rawTables = `drop table if exists raw; drop table if exists rawhead;
create table raw (c int4 not null, k bytea not null, v bytea not null, ver int8 not null, primary key (c, k));
create table rawhead (one int4 primary key, ver int8 not null);
insert into rawhead values (1, 1)`

const rawWrite = `insert into raw (c, k, v, ver) select u.c, u.k, u.v, $4 from unnest($1::int4[], $2::bytea[], $3::bytea[]) u(c, k, v)`

// rawRows adds the rows of a document as the engine has them: the record and two
// entries.
type rawRows struct {
	nums, keys, values [][]byte
}

func (r *rawRows) add(n int64) {
	id := binary.BigEndian.AppendUint64(nil, uint64(n))
	key := value.AppendKey(nil, value.Int32(int32(n)))
	for _, row := range []struct{ k, v []byte }{
		{append([]byte("r"), id...), append(make([]byte, 8), benchDoc(int32(n))...)},
		{append(append([]byte("x\x00\x00\x00\x01"), key...), append([]byte{0, 1}, id...)...), []byte{}},
		{append(append([]byte("x\x00\x00\x00\x02"), value.AppendKey(nil, value.Int32(int32(n*7%1000)))...), append([]byte{0, 1}, id...)...), []byte{}},
	} {
		r.nums = append(r.nums, []byte{0, 0, 0, 1})
		r.keys = append(r.keys, row.k)
		r.values = append(r.values, row.v)
	}
}

// rawArray is an array in the binary format.
func rawArray(of uint32, list [][]byte) []byte {
	b := make([]byte, 0, 64+len(list)*64)
	for _, n := range []uint32{1, 0, of, uint32(len(list)), 1} {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	for _, v := range list {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(v))), v...)
	}
	return b
}

// commit writes rows as one commit, in one round trip: the row that orders commits
// first, then everything else.
func (r *rawRows) commit(c *pgconn.PgConn, version int64) error {
	return r.run(c, "write", rawArray(17, r.values), binary.BigEndian.AppendUint64(nil, uint64(version)))
}

// change overwrites rows in the same way, and remove deletes them.
func (r *rawRows) change(c *pgconn.PgConn, version int64) error {
	return r.run(c, "change", rawArray(17, r.values), binary.BigEndian.AppendUint64(nil, uint64(version)))
}

func (r *rawRows) remove(c *pgconn.PgConn) error { return r.run(c, "remove") }

func (r *rawRows) run(c *pgconn.PgConn, statement string, more ...[]byte) error {
	var batch pgconn.Batch
	batch.ExecPrepared("head", nil, nil, nil)
	batch.ExecPrepared(statement, append([][]byte{rawArray(23, r.nums), rawArray(17, r.keys)}, more...), rawFormat, nil)
	return c.ExecBatch(ctx, &batch).Close() // a batch is a transaction
}

// addRecord adds the record of a document only.
func (r *rawRows) addRecord(n int64) {
	r.nums, r.keys = append(r.nums, []byte{0, 0, 0, 1}), append(r.keys, rawRecord(n))
	r.values = append(r.values, append(make([]byte, 8), benchDoc(int32(n))...))
}

var rawStatements = map[string]string{
	"head":   `update rawhead set ver = ver + 1`,
	"write":  rawWrite,
	"change": `update raw set v = u.v, ver = $4 from unnest($1::int4[], $2::bytea[], $3::bytea[]) u(c, k, v) where raw.c = u.c and raw.k = u.k`,
	"remove": `delete from raw using unnest($1::int4[], $2::bytea[]) u(c, k) where raw.c = u.c and raw.k = u.k`,
}

// rawFilled fills the tables and returns connections that read them.
func rawFilled(b *testing.B, uri string) []*pgconn.PgConn {
	b.Helper()
	setup := rawConns(b, uri, 1, nil)[0]
	must(b, setup.Exec(ctx, rawTables).Close())
	writer := rawConns(b, uri, 1, rawStatements)[0]
	for from := int64(0); from < benchRows; from += 1000 {
		var rows rawRows
		for n := range int64(1000) {
			rows.add(from + n)
		}
		must(b, rows.commit(writer, 1))
	}
	must(b, setup.Exec(ctx, "vacuum analyze").Close())
	return rawConns(b, uri, 16, map[string]string{
		"get":     `select v from raw where c = $1 and k = $2`,
		"range":   `select k, (select r.v from raw r where r.c = $1 and r.k = '\x72'::bytea || substring(e.k from length(e.k) - 7)) from raw e where c = $1 and k >= $2 and k < $3 order by k`,
		"records": `select k, v from raw where c = $1 and k >= $2 and k < $3 order by k`,
	})
}

func rawRecord(n int64) []byte { return binary.BigEndian.AppendUint64([]byte("r"), uint64(n)) }

// rawGet reads the record of a document.
func rawGet(c *pgconn.PgConn, n int64) error {
	return rawRead(c, "get", 1, rawRecord(n))
}

// rawRead runs a statement for collection 1.
func rawRead(c *pgconn.PgConn, statement string, rows int, args ...[]byte) error {
	r := c.ExecPrepared(ctx, statement, append([][]byte{{0, 0, 0, 1}}, args...), rawFormat, rawFormat).Read()
	if r.Err == nil && len(r.Rows) != rows {
		return fmt.Errorf("%d rows, want %d", len(r.Rows), rows)
	}
	return r.Err
}

// BenchmarkFindOne finds a document by its _id, and gets a row by its key.
func BenchmarkFindOne(b *testing.B) {
	uri := benchURI(b)
	e := benchEngine(b, uri, benchRows, nil)
	conns := rawFilled(b, uri)
	for _, workers := range []int{1, 16} {
		b.Run(fmt.Sprint(workers), func(b *testing.B) {
			versus.Run(b, workers, 500, func(w int, n int64) error {
				return rawGet(conns[w], n*7919%benchRows)
			}, func(_ int, n int64) error {
				return e.ViewBriefly(ctx, func(tx storage.Tx) error {
					c, err := tx.Collection(ns)
					if err != nil {
						return err
					}
					_, ok, err := c.Find("_id", value.AppendKey(nil, value.Int32(int32(n*7919%benchRows))))
					if !ok {
						b.Error("there is no such document")
					}
					return err
				})
			})
		})
	}
}

// joined commits what several goroutines write together, as the engine does.
type joined struct {
	mu      sync.Mutex
	waiting []*joinedWrite
	turn    chan struct{}
	conn    *pgconn.PgConn
	version int64
	commit  func(r *rawRows, c *pgconn.PgConn, version int64) error
}

type joinedWrite struct {
	add  func(r *rawRows)
	done chan error
}

func newJoined(b *testing.B, uri string, commit func(r *rawRows, c *pgconn.PgConn, version int64) error) *joined {
	j := &joined{conn: rawConns(b, uri, 1, rawStatements)[0], turn: make(chan struct{}, 1), commit: commit}
	j.turn <- struct{}{}
	return j
}

func (j *joined) write(add func(r *rawRows)) error {
	w := &joinedWrite{add: add, done: make(chan error, 1)}
	j.mu.Lock()
	j.waiting = append(j.waiting, w)
	j.mu.Unlock()
	select {
	case err := <-w.done:
		return err
	case <-j.turn:
	}
	j.mu.Lock()
	group := j.waiting
	j.waiting = nil
	j.mu.Unlock()
	var rows rawRows
	for _, w := range group {
		w.add(&rows)
	}
	var err error
	if len(group) > 0 {
		j.version++
		err = j.commit(&rows, j.conn, j.version)
	}
	j.turn <- struct{}{}
	for _, w := range group {
		w.done <- err
	}
	return <-w.done
}

// BenchmarkInsertOne inserts documents one by one, those that wait together.
func BenchmarkInsertOne(b *testing.B) {
	uri := benchURI(b)
	e := benchEngine(b, uri, 0, nil)
	setup := rawConns(b, uri, 1, nil)
	must(b, setup[0].Exec(ctx, rawTables).Close())
	j := newJoined(b, uri, (*rawRows).commit)
	var id atomic.Int64
	for _, workers := range []int{1, 16} {
		b.Run(fmt.Sprint(workers), func(b *testing.B) {
			versus.Run(b, workers, 40*workers, func(int, int64) error { return j.write(func(r *rawRows) { r.add(id.Add(1)) }) },
				func(int, int64) error { return benchInsert(e, int32(id.Add(1)), 1) })
		})
	}
}

// BenchmarkInsertMany inserts a thousand documents at a time.
func BenchmarkInsertMany(b *testing.B) {
	uri := benchURI(b)
	e := benchEngine(b, uri, 0, nil)
	setup := rawConns(b, uri, 1, nil)
	must(b, setup[0].Exec(ctx, rawTables).Close())
	conn := rawConns(b, uri, 1, rawStatements)[0]
	var id atomic.Int64
	versus.Run(b, 1, 1, func(_ int, n int64) error {
		var rows rawRows
		for range 1000 {
			rows.add(id.Add(1))
		}
		return rows.commit(conn, n)
	}, func(int, int64) error { return benchInsert(e, int32(id.Add(1000)-999), 1000) })
}

// BenchmarkUpdateOne reads a document and overwrites it, those that wait together. The engine
// makes sure that nobody else has written it meanwhile.
func BenchmarkUpdateOne(b *testing.B) {
	var trips, next atomic.Int64
	document := func() int64 { return next.Add(1) * 7919 % benchRows }
	uri := benchURI(b)
	e := benchEngine(b, uri, benchRows, func() { trips.Add(1) })
	conns := rawFilled(b, uri)
	j := newJoined(b, uri, (*rawRows).change)
	for _, workers := range []int{1, 16} {
		b.Run(fmt.Sprint(workers), func(b *testing.B) {
			trips.Store(0)
			versus.Run(b, workers, 40*workers, func(w int, _ int64) error {
				at := document()
				if err := rawGet(conns[w], at); err != nil {
					return err
				}
				return j.write(func(r *rawRows) { r.addRecord(at) })
			}, func(int, int64) error { return benchUpdate(e, int32(document())) })
			b.ReportMetric(float64(trips.Load())/float64(b.N*40*workers), "trips/op")
		})
	}
}

func benchUpdate(e *postgres.Engine, id int32) error {
	return updateByID(e, id, func(value.Doc) value.Doc { return benchDoc(id) })
}

// benchRange reads so many documents of an index, or, without one, in the order in which they
// are stored.
func benchRange(e *postgres.Engine, index string, key []byte, want int) error {
	n := 0
	each := func(storage.Record) bool { n++; return true }
	err := e.View(ctx, func(tx storage.Tx) error {
		n = 0
		c, err := tx.Collection(ns)
		if err != nil {
			return err
		}
		if index == "" {
			return c.Scan(storage.Range{Wanted: want}, each)
		}
		r := storage.KeyRange{Lo: key, Hi: append(key[:len(key):len(key)], 0xff), Wanted: want}
		return c.ScanRecords(index, r, func(_ []byte, r storage.Record) bool { return each(r) })
	})
	if err == nil && n != want {
		err = fmt.Errorf("%d documents, want %d", n, want)
	}
	return err
}

// BenchmarkRead reads 20 documents by an index, and all in one answer.
func BenchmarkRead(b *testing.B) {
	uri := benchURI(b)
	e := benchEngine(b, uri, benchRows, nil)
	conns := rawFilled(b, uri)
	const some = benchRows / 1000
	b.Run(fmt.Sprint("Range", some), func(b *testing.B) {
		versus.Run(b, 1, 100, func(w int, n int64) error {
			lo := append([]byte("x\x00\x00\x00\x02"), value.AppendKey(nil, value.Int32(int32(n%1000)))...)
			return rawRead(conns[w], "range", some, lo, append(lo[:len(lo):len(lo)], 0xff))
		}, func(_ int, n int64) error {
			return benchRange(e, "a", value.AppendKey(nil, value.Int32(int32(n%1000))), some)
		})
	})
	b.Run("Scan", func(b *testing.B) {
		versus.Run(b, 1, 1, func(w int, _ int64) error {
			return rawRead(conns[w], "records", benchRows, []byte("r"), []byte("s"))
		}, func(int, int64) error { return benchRange(e, "", nil, benchRows) })
	})
}

// BenchmarkExpiry removes documents in the order of an index, as the TTL monitor does, and the
// same rows by their keys. An operation is a batch.
func BenchmarkExpiry(b *testing.B) {
	const batch, batches = 500, 8
	uri := benchURI(b)
	e := benchEngine(b, uri, 0, nil)
	must(b, rawConns(b, uri, 1, nil)[0].Exec(ctx, rawTables).Close())
	conn := rawConns(b, uri, 1, rawStatements)[0]
	var next int64
	var race versus.Race
	for range b.N {
		first := next
		for ; next < first+batch*batches; next += batch {
			var rows rawRows
			for n := range int64(batch) {
				rows.add(next + n)
			}
			must(b, errors.Join(rows.commit(conn, next), benchInsert(e, int32(next), batch)))
		}
		at := first
		race.Round(b, 1, batches, func(int, int64) error {
			var rows rawRows
			for ; len(rows.keys) < 3*batch; at++ {
				rows.add(at)
			}
			return rows.remove(conn)
		}, func(int, int64) error {
			d := storage.RangeDelete{Index: "_id", Limit: batch, Pick: func([]byte, storage.Record) (storage.Verdict, error) { return storage.Verdict{Do: storage.Remove}, nil }}
			removed := 0
			err := e.Update(ctx, func(tx storage.Tx) error {
				c, err := tx.Collection(ns)
				if err != nil {
					return err
				}
				out, err := c.DeleteRange(&d)
				removed = out.Removed
				return err
			})
			if err == nil && removed != batch {
				err = fmt.Errorf("%d documents were removed", removed)
			}
			return err
		})
	}
	race.Report(b)
}
