package postgres_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/internal/pgtest"
	"github.com/duskdb/duskdb/storage"
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
func benchEngine(b *testing.B, uri string, rows int32) *postgres.Engine {
	b.Helper()
	e, err := postgres.Open(ctx, postgres.Options{URI: uri, Schema: pgtest.Schema(b.TempDir()), Indexer: storagetest.Indexer{}, Logger: b.Logf})
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

// compare lets both do the same operations in turns, since others use the machine as
// well, and reports the median of the ratios: how many operations the engine does while
// pgconn does one.
func compare(b *testing.B, workers, ops int, raw, engine func(worker int, n int64) error) {
	b.Helper()
	var next atomic.Int64
	var times [2][]time.Duration
	var ratios []float64
	b.ResetTimer()
	for range b.N {
		var took [2]time.Duration
		for i, do := range []func(int, int64) error{raw, engine} {
			begun := clock.System().Now()
			end := next.Load() + int64(ops)
			var wg sync.WaitGroup
			for w := range workers {
				wg.Go(func() {
					for n := next.Add(1); n <= end; n = next.Add(1) {
						if err := do(w, n); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			next.Store(end)
			took[i] = clock.System().Now().Sub(begun) / time.Duration(ops)
			times[i] = append(times[i], took[i])
		}
		ratios = append(ratios, float64(took[0])/float64(took[1]))
	}
	for i, unit := range []string{"raw-ops/s", "engine-ops/s"} {
		slices.Sort(times[i])
		b.ReportMetric(float64(time.Second)/float64(times[i][len(times[i])/2]), unit)
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "ratio")
	b.ReportMetric(0, "ns/op")
}

// rawConns are connections with prepared statements.
func rawConns(b *testing.B, uri string, n int, statements map[string]string) []*pgconn.PgConn {
	b.Helper()
	list := make([]*pgconn.PgConn, n)
	for i := range list {
		c, err := pgconn.Connect(ctx, uri)
		must(b, err)
		b.Cleanup(func() { _ = c.Close(context.Background()) })
		for name, sql := range statements {
			_, err := c.Prepare(ctx, name, sql, nil)
			must(b, err)
		}
		list[i] = c
	}
	return list
}

var rawFormat = []int16{1}

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
	var batch pgconn.Batch
	ver := binary.BigEndian.AppendUint64(nil, uint64(version))
	batch.ExecPrepared("head", nil, nil, nil)
	batch.ExecPrepared("write", [][]byte{rawArray(23, r.nums), rawArray(17, r.keys), rawArray(17, r.values), ver}, rawFormat, nil)
	return c.ExecBatch(ctx, &batch).Close() // a batch is a transaction
}

var rawStatements = map[string]string{
	"head":  `update rawhead set ver = ver + 1`,
	"write": rawWrite,
}

// BenchmarkFindOne finds a document by its _id, and gets a row by its key.
func BenchmarkFindOne(b *testing.B) {
	uri := benchURI(b)
	e := benchEngine(b, uri, benchRows)
	conns := rawConns(b, uri, 16, map[string]string{})
	must(b, conns[0].Exec(ctx, rawTables).Close())
	_, err := conns[0].Prepare(ctx, "write", rawWrite, nil)
	must(b, err)
	_, err = conns[0].Prepare(ctx, "head", rawStatements["head"], nil)
	must(b, err)
	for from := int64(0); from < benchRows; from += 1000 {
		var rows rawRows
		for n := range int64(1000) {
			rows.add(from + n)
		}
		must(b, rows.commit(conns[0], 1))
	}
	must(b, conns[0].Exec(ctx, "vacuum analyze").Close())
	for _, c := range conns {
		_, err := c.Prepare(ctx, "get", `select v from raw where c = $1 and k = $2`, nil)
		must(b, err)
	}
	for _, workers := range []int{1, 16} {
		b.Run(fmt.Sprint(workers), func(b *testing.B) {
			compare(b, workers, 500, func(w int, n int64) error {
				key := binary.BigEndian.AppendUint64([]byte("r"), uint64(n*7919%benchRows))
				r := conns[w].ExecPrepared(ctx, "get", [][]byte{{0, 0, 0, 1}, key}, rawFormat, rawFormat).Read()
				if r.Err == nil && len(r.Rows) != 1 {
					return fmt.Errorf("%d rows", len(r.Rows))
				}
				return r.Err
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
}

type joinedWrite struct {
	n    int64
	done chan error
}

func (j *joined) insert(n int64) error {
	w := &joinedWrite{n: n, done: make(chan error, 1)}
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
		rows.add(w.n)
	}
	var err error
	if len(group) > 0 {
		j.version++
		err = rows.commit(j.conn, j.version)
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
	e := benchEngine(b, uri, 0)
	setup := rawConns(b, uri, 1, nil)
	must(b, setup[0].Exec(ctx, rawTables).Close())
	j := &joined{conn: rawConns(b, uri, 1, rawStatements)[0], turn: make(chan struct{}, 1)}
	j.turn <- struct{}{}
	var id atomic.Int64
	for _, workers := range []int{1, 16} {
		b.Run(fmt.Sprint(workers), func(b *testing.B) {
			compare(b, workers, 40*workers, func(int, int64) error { return j.insert(id.Add(1)) },
				func(int, int64) error { return benchInsert(e, int32(id.Add(1)), 1) })
		})
	}
}

// BenchmarkInsertMany inserts a thousand documents at a time.
func BenchmarkInsertMany(b *testing.B) {
	uri := benchURI(b)
	e := benchEngine(b, uri, 0)
	setup := rawConns(b, uri, 1, nil)
	must(b, setup[0].Exec(ctx, rawTables).Close())
	conn := rawConns(b, uri, 1, rawStatements)[0]
	var id atomic.Int64
	compare(b, 1, 1, func(_ int, n int64) error {
		var rows rawRows
		for range 1000 {
			rows.add(id.Add(1))
		}
		return rows.commit(conn, n)
	}, func(int, int64) error { return benchInsert(e, int32(id.Add(1000)-999), 1000) })
}
