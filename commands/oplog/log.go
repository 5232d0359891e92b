package oplog

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/clustertime"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/serverdocs"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

// The server's own collections.
var (
	Namespace    = storage.Namespace{DB: "local", Coll: "oplog.rs"}
	PreImages    = storage.Namespace{DB: "config", Coll: "system.preimages"}
	Transactions = storage.Namespace{DB: "config", Coll: "transactions"}
	Statements   = storage.Namespace{DB: "config", Coll: "system.statements"}
)

// The bounds of the change log without --oplogSize. Before a client reads it for the first
// time, the bound is UnreadBytes, so that the file of a server without readers stays small;
// afterwards it is DefaultBytes.
const (
	DefaultBytes = 64 << 20
	UnreadBytes  = 4 << 20
)

// Log is the log of all committed changes, in local.oplog.rs. Each engine transaction
// appends its own changes, so that the log and the data survive a crash together. The log
// is bounded: the oldest entries are removed, many at a time.
type Log struct {
	Config
	Off         bool         // no log is kept
	Limit       atomic.Int64 // bytes, once it is read
	read        atomic.Bool
	readStored  atomic.Bool  // whether the log's use by readers is stored
	Keep        atomic.Int64 // minimum time that entries are kept, in milliseconds
	size        atomic.Int64
	storedLimit atomic.Int64  // the stored limit of the log at the last read
	Full        chan struct{} // wakes the trimmer

	watchers
	examined examination               // how much of the log was examined; used with other servers
	measured atomic.Pointer[time.Time] // the time at which the size was read after news from other servers
}

var recorders = sync.Pool{New: func() any { return new(Recorder) }}

// Config has what the change log needs of the server.
type Config struct {
	Engine storage.Engine     // holds the log beside the data
	Clock  clock.Clock        // gives the wall time of entries
	Logger *zerolog.Logger    // the log for errors in the background
	Stamps *clustertime.Clock // gives entries their cluster times
	Term   *atomic.Int64      // the term of the last election
	// Bytes bounds the log; 0: DefaultBytes once it is read, negative: there
	// is no log. Retention is how long entries are kept at least, in milliseconds.
	Bytes, Retention int64
	Locked           func() bool  // reports whether fsyncLock blocks writes
	TxnBytes         func() int64 // maximum bytes of the operations of one transaction
	// OnPurged is called after a commit with the expired documents that it has removed
	// outside of a pass.
	OnPurged func(ttl.Purged)
	// OnGone is called after a commit with the collections that it has dropped or renamed.
	OnGone func([]Gone)
}

// Gone is a collection that was dropped or renamed.
type Gone struct {
	Info *storage.Info
	To   storage.Namespace // its new name; empty: it was dropped
}

// New returns a log that Open must be called on.
func New(config Config) *Log {
	l := &Log{Config: config, Full: make(chan struct{}, 1)}
	l.Limit.Store(config.Bytes)
	l.Keep.Store(config.Retention)
	l.Off = config.Bytes < 0
	l.read.Store(config.Bytes != 0 || config.Retention > 0)
	if config.Bytes == 0 {
		l.Limit.Store(DefaultBytes)
	}
	return l
}

// shared reports whether other servers have the same log.
func (l *Log) shared() bool { return l.Engine.Changes() != nil }

// Bound returns the present bound of the log in bytes.
func (l *Log) Bound() int64 {
	if l.read.Load() {
		return l.Limit.Load()
	}
	return min(l.Limit.Load(), UnreadBytes)
}

// NewRecorder returns a recorder of the changes of a transaction.
func (l *Log) NewRecorder(tx storage.Tx, now int64) *Recorder {
	r := recorders.Get().(*Recorder)
	r.log, r.Tx, r.Now, r.Statement.ID = l, tx, now, NoStatement
	return r
}

// NewTxnRecorder returns a recorder of the changes of a multi-document transaction.
func (l *Log) NewTxnRecorder(tx storage.Tx, now int64, lsid value.Doc, number int64) *Recorder {
	r := l.NewRecorder(tx, now)
	r.txn = &txnID{lsid, number}
	return r
}

// Open creates the log, or continues after its last entry.
func (l *Log) Open(ctx context.Context) error {
	if l.Off {
		return nil
	}
	var last storage.Record
	err := l.Engine.View(ctx, func(tx storage.Tx) error {
		coll, err := tx.Collection(Namespace)
		if err != nil {
			return err
		}
		if err := l.measure(coll); err != nil {
			return err
		}
		l.storedLimit.Store(storedSize(coll))
		// As it was set before; with other servers also against the own setting, because
		// each of them may trim the log.
		if limit := l.storedLimit.Load(); l.Bytes == 0 && limit > DefaultBytes || l.shared() && limit != DefaultBytes {
			l.Limit.Store(limit)
			l.read.Store(true)
		} else if l.shared() && l.Bytes != 0 && l.Bytes != limit {
			l.Limit.Store(limit)
			l.Logger.Warn().Int64("bytes", limit).Msg("The change log keeps the size that another server has given it; replSetResizeOplog changes it")
		}
		reader, err := serverdocs.Get(tx, ReaderNamespace, value.String(readerNote))
		if err != nil {
			return err
		}
		if reader != nil { // the reader may come back
			l.read.Store(true)
			l.readStored.Store(true)
		} else if l.size.Load() > UnreadBytes+UnreadBytes/16 { // read before this was noted
			l.read.Store(true)
		}
		return coll.Scan(storage.Range{Reverse: true}, func(r storage.Record) bool { last = r; return false })
	})
	if last.Doc != nil {
		l.Stamps.Advance(clustertime.Of(last.Doc.Lookup("ts")))
		l.warnOfFuture(last.Doc)
	}
	if !errors.Is(err, storage.ErrNotFound) {
		return err
	}
	return storage.Retry(ctx, l.Engine, func(tx storage.Tx) error {
		if coll, err := tx.Collection(Namespace); err == nil {
			l.storedLimit.Store(storedSize(coll))
			return nil // another server has made it meanwhile
		}
		coll, err := tx.Create(Namespace, Options(l.Limit.Load()), nil)
		if err != nil {
			return err
		}
		l.storedLimit.Store(l.Limit.Load())
		_, err = l.addNoop(tx, coll, value.NewDoc("msg", value.String("initiating set")))
		return err
	})
}

// measure notes the size of the log.
func (l *Log) measure(coll storage.Collection) error {
	size, err := coll.Size()
	if err == nil {
		l.size.Store(size)
	}
	return err
}

// AddNoop adds an entry without effect, with a message, and returns its timestamp. There
// must be a log.
func (l *Log) AddNoop(tx storage.Tx, o value.Doc) (uint64, error) {
	coll, err := tx.Collection(Namespace)
	if err != nil {
		return 0, err
	}
	return l.addNoop(tx, coll, o)
}

func (l *Log) addNoop(tx storage.Tx, coll storage.Collection, o value.Doc) (uint64, error) {
	now := l.Clock.NowMillis()
	ts, err := l.Stamps.Commit(tx, now)
	if err != nil {
		return 0, err
	}
	_, err = coll.Insert(value.NewDoc("op", value.String("n"), "ns", value.String(""), "o", value.Document(o), "ts", clustertime.Value(ts),
		"t", value.Int64(l.Term.Load()), "v", value.Int64(2), "wall", value.DateTime(now)), now)
	return ts, err
}

// Options returns the options of the collection local.oplog.rs.
func Options(bytes int64) value.Doc {
	return value.NewDoc("capped", value.Bool(true), "size", value.Int(bytes), "autoIndexId", value.Bool(false))
}
