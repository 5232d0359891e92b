package oplog

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/changestream/token"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// A writer marks the groups of streams that its entries concern, before they become
// visible, so that other streams may skip them unread. No writer on this server marks
// what another server writes. So with other servers a stream skips only entries that this
// server has examined: each entry is read once for all streams, by the first stream that
// reaches it or on the news of a commit elsewhere.

// examination is how far the log has been examined.
type examination struct {
	mu   sync.Mutex // held while examining
	upTo atomic.Int64
}

// Examine marks the groups that new entries of the log concern, up to tail at least, and
// wakes their streams.
func (l *Log) Examine(coll storage.Collection, tail storage.RecordID) error {
	x := &l.examined
	if x.upTo.Load() >= int64(tail) {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	from := storage.RecordID(x.upTo.Load())
	if from >= tail {
		return nil
	}
	if l.streams.Load() == 0 { // a new stream reads the log from its tail
		x.upTo.Store(int64(tail))
		return nil
	}
	var ops operations
	var streams markedStreams
	last := tail
	err := coll.Scan(storage.Range{After: from}, func(rec storage.Record) bool {
		ops.load(rec.Doc)
		l.mark(&ops, &streams, rec.ID, 0, len(ops.Marks))
		last = max(last, rec.ID)
		return true
	})
	if err != nil {
		return err
	}
	x.upTo.Store(int64(last))
	streams.wake()
	return nil
}

// load replaces the operations by those of a stored entry.
func (o *operations) load(entry value.Doc) {
	o.clear()
	list := entry.Lookup("o").Doc().Lookup("applyOps")
	if list.IsMissing() {
		o.loadOp(entry)
		return
	}
	for v := range list.Doc().Values() {
		o.loadOp(v.Doc())
	}
}

func (o *operations) loadOp(op value.Doc) {
	kind := op.Lookup("op").Str()
	if kind == "n" && !token.IsShardEvent(op) {
		return
	}
	db, coll, _ := strings.Cut(op.Lookup("ns").Str(), ".")
	m := LoggedOp{Command: kind == "c" || kind == "n", ns: storage.Namespace{DB: db, Coll: coll}}
	if kind == "c" {
		_, on := op.Lookup("o").Doc().First()
		m.ns.Coll = on.Str() // empty: the command is about the database
	}
	o.docs = append(o.docs, op...)
	m.end = len(o.docs)
	o.Marks = append(o.Marks, m)
}

// measureEvery is how often the size of the log is read if nobody waits for its entries.
const measureEvery = 5 * time.Second

// ChangedElsewhere is called when another server has committed something: it wakes the
// streams that it concerns, and the trimmer if the log has become too large. While there are
// no streams it reads the log only now and then.
func (l *Log) ChangedElsewhere(ctx context.Context) error {
	if l.Off {
		return nil
	}
	now := clock.System().Now()
	if last := l.measured.Load(); l.streams.Load() == 0 && last != nil && now.Sub(*last) < measureEvery {
		return nil
	}
	l.measured.Store(&now)
	return l.Engine.View(ctx, func(tx storage.Tx) error {
		coll, err := tx.Collection(Namespace)
		if err != nil {
			return err
		}
		l.seeSize(coll)
		if err := l.measure(coll); err != nil {
			return err
		}
		l.Appended(0)
		tail, err := coll.LastID()
		if err != nil {
			return err
		}
		return l.Examine(coll, tail)
	})
}
