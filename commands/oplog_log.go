package commands

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/index"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// The server's own collections.
var (
	oplogNS        = storage.Namespace{DB: "local", Coll: "oplog.rs"}
	preImagesNS    = storage.Namespace{DB: "config", Coll: "system.preimages"}
	transactionsNS = storage.Namespace{DB: "config", Coll: "transactions"}
	statementsNS   = storage.Namespace{DB: "config", Coll: "system.statements"}
)

// Without --oplogSize the change log is bounded by defaultOplogBytes; as long
// as nobody has read it by unreadOplogBytes, so that a server whose data come
// and go, and which nobody watches, keeps its file small.
const (
	defaultOplogBytes = 64 << 20
	unreadOplogBytes  = 4 << 20
)

// changeLog is the log of all committed changes, in local.oplog.rs. Each
// engine transaction that changes something appends to it what it did, so
// the log and the data it describes survive a crash together. It is bounded:
// the oldest entries make way, many at a time.
type changeLog struct {
	logConfig
	off   bool
	limit atomic.Int64 // bytes, once it is read
	read  atomic.Bool
	noted atomic.Bool  // that it is read is known after a restart
	keep  atomic.Int64 // milliseconds that entries are kept at least
	size  atomic.Int64
	full  chan struct{} // wakes the trimmer

	watchers
}

var recorders = sync.Pool{New: func() any { return new(recorder) }}

// logConfig is what the change log works with.
type logConfig struct {
	engine storage.Engine
	clock  clock.Clock
	log    *zerolog.Logger
	stamps *timestamps
	term   *atomic.Int64 // of the last election
	// bytes bounds the log; 0: defaultOplogBytes once it is read, negative: there
	// is no log. retention is how long entries are kept at least, in milliseconds.
	bytes, retention int64
	locked           func() bool  // reports whether fsyncLock keeps everybody from writing
	txnBytes         func() int64 // most bytes of the operations of one transaction
}

func newChangeLog(config logConfig) *changeLog {
	l := &changeLog{logConfig: config, full: make(chan struct{}, 1)}
	l.limit.Store(config.bytes)
	l.keep.Store(config.retention)
	l.off = config.bytes < 0
	l.read.Store(config.bytes != 0 || config.retention > 0)
	if config.bytes == 0 {
		l.limit.Store(defaultOplogBytes)
	}
	return l
}

// bound is how many bytes the log may have now.
func (l *changeLog) bound() int64 {
	if l.read.Load() {
		return l.limit.Load()
	}
	return min(l.limit.Load(), unreadOplogBytes)
}

// newRecorder notes what a transaction does.
func (l *changeLog) newRecorder(tx storage.Tx, now int64) *recorder {
	r := recorders.Get().(*recorder)
	r.log, r.tx, r.now, r.stmt = l, tx, now, noStatement
	return r
}

// openLog opens what the server keeps beside the data: the change log, and
// the records of sessions.
func (s *Service) openLog() error {
	s.oplog = newChangeLog(s.logConfig())
	s.sessions.onEnd = s.sessionEnded
	if err := s.oplog.open(s.background); err != nil {
		return err
	}
	return s.records.open(s.background, s.engine)
}

func (s *Service) logConfig() logConfig {
	return logConfig{
		engine: s.engine, clock: s.clock, log: &s.log, stamps: &s.stamps, term: &s.leader.term,
		bytes: s.options.OplogBytes, retention: s.options.OplogMinRetentionMillis,
		locked: s.fsync.held, txnBytes: func() int64 { return s.params.int("transactionSizeLimitBytes") },
	}
}

// open makes the log, or goes on behind the last entry that there is.
func (l *changeLog) open(ctx context.Context) error {
	if l.off {
		return nil
	}
	var last storage.Record
	err := l.engine.View(ctx, func(tx storage.Tx) error {
		coll, err := tx.Collection(oplogNS)
		if err != nil {
			return err
		}
		l.size.Store(coll.Size())
		if size := coll.Info().Options.Lookup("size"); l.bytes == 0 && size.SafeInt64() > defaultOplogBytes {
			l.limit.Store(size.SafeInt64()) // as it was set before
			l.read.Store(true)
		}
		reader, err := onlyDocument(tx, oplogReaderHome)
		if err != nil {
			return err
		}
		if reader != nil { // who may come back
			l.read.Store(true)
			l.noted.Store(true)
		} else if coll.Size() > unreadOplogBytes+unreadOplogBytes/16 { // read before this was noted
			l.read.Store(true)
		}
		return coll.Scan(storage.Range{Reverse: true}, func(r storage.Record) bool { last = r; return false })
	})
	if last.Doc != nil {
		l.stamps.advance(stampOf(last.Doc.Lookup("ts")))
	}
	if !errors.Is(err, storage.ErrNotFound) {
		return err
	}
	return l.engine.Update(ctx, func(tx storage.Tx) error {
		coll, err := tx.Create(oplogNS, oplogOptions(l.limit.Load()), nil)
		if err != nil {
			return err
		}
		_, err = coll.Insert(l.noop(value.NewDoc("msg", value.String("initiating set"))), l.clock.NowMillis())
		return err
	})
}

// noop is an entry that says something and does nothing.
func (l *changeLog) noop(o value.Doc) value.Doc {
	now := l.clock.NowMillis()
	return value.NewDoc("op", value.String("n"), "ns", value.String(""), "o", value.Document(o), "ts", stampValue(l.stamps.next(now)),
		"t", value.Int64(l.term.Load()), "v", value.Int64(2), "wall", value.DateTime(now))
}

// ensureCollection opens one of the server's own collections, making it if
// needed.
func ensureCollection(tx storage.Tx, ns storage.Namespace, withID bool) (storage.Collection, error) {
	coll, err := tx.Collection(ns)
	if !errors.Is(err, storage.ErrNotFound) {
		return coll, err
	}
	var indexes []storage.IndexSpec
	if withID {
		indexes = append(indexes, index.IDSpec(nil).Stored())
	}
	return tx.Create(ns, value.EmptyDoc, indexes)
}

// record runs fn in a transaction whose changes are logged at its end.
func (c *Call) record(tx storage.Tx, fn func(storage.Tx) error) error {
	if c.log != nil { // of an attempt that counts for nothing
		c.log.release()
	}
	r := c.svc.oplog.newRecorder(tx, c.now)
	c.log = r
	if c.retry.on {
		r.stmt, r.keep = c.retry.stmt, c.retry.image
	}
	if err := fn(r.logged()); err != nil {
		return err
	}
	if err := c.failWrite(); err != nil {
		return err
	}
	if err := r.flush(); err != nil {
		return err
	}
	return c.saveStatements(tx, r.last)
}

// recorded ends what record began: after a commit, or after a failure.
func (c *Call) recorded(err error) {
	r := c.log
	c.log, c.retry.fails = nil, nil
	if r == nil {
		return
	}
	if err == nil {
		r.committed()
		c.statementsSaved()
	}
	r.release()
}

// recorder is where the changes of the running transaction are noted.
func (c *Call) recorder() *recorder {
	if t := c.transaction(); t != nil {
		return t.log
	}
	return c.log
}
