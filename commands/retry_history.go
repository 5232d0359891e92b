package commands

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// A retryable write carries a txnNumber, and each of its statements a
// number of its own. What a statement has written is remembered in the
// session's record in config.transactions, by the same engine transaction
// that wrote it. When a client that lost the reply sends the command again,
// be it on another connection or to a restarted server, the statement is not
// run but answered from there. A statement that wrote nothing is not
// remembered: it may as well run again.

// A command of n statements runs them one after the other, each in an engine
// transaction of its own. So that this costs n, and not the square of it, the
// record holds the latest outcomes only; what no longer has room there is
// moved, many at a time, to parts in config.system.statements, which are not
// written again (retry_parts.go).

// mostRecent is how many outcomes the session's record holds.
const mostRecent = 16

// retryHistory is what the retryable write of the session's number has done.
type retryHistory struct {
	done   []retriedStatement         // by their numbers
	odd    map[int32]retriedStatement // those whose numbers came in no order
	recent []retriedStatement         // what the session's record holds, as it was done
	parts  bool                       // there may be parts of this number

	pending pendingStatements
}

// pendingStatements is what the running engine transaction adds to the
// history. Its slices are used again.
type pendingStatements struct {
	any    bool
	joined int32              // how many statements are joined to the newest outcome
	fresh  []retriedStatement // further ones
	parts  []storage.RecordID // the parts that were written
	moved  bool               // all but the last outcome are in parts now
	record storage.RecordID
}

// retriedStatement is the outcome of a statement, or of several in a row
// with the same outcome.
type retriedStatement struct {
	first, last int32
	kind        byte        // 'i', 'u' or 'd'
	id          value.Value // _id of an inserted document, for an upsert
	image       value.Doc   // what findAndModify returned, nil: no document
}

// forget begins with another number.
func (h *retryHistory) forget() *retryHistory {
	if h == nil {
		return &retryHistory{}
	}
	clear(h.done)
	clear(h.recent[:cap(h.recent)])
	h.done, h.recent, h.odd, h.parts = h.done[:0], h.recent[:0], nil, false
	return h
}

// find looks for a statement.
func (h *retryHistory) find(id int32) *retriedStatement {
	if h == nil {
		return nil
	}
	i, _ := slices.BinarySearchFunc(h.done, id, func(s retriedStatement, id int32) int { return cmp.Compare(s.last, id) })
	if i < len(h.done) && h.done[i].first <= id {
		return &h.done[i]
	}
	if s, ok := h.odd[id]; ok {
		return &s
	}
	return nil
}

// add takes an outcome that is kept.
func (h *retryHistory) add(s retriedStatement) {
	if n := len(h.done); n == 0 || h.done[n-1].last < s.first {
		h.done = append(h.done, s)
		return
	}
	if h.odd == nil {
		h.odd = map[int32]retriedStatement{}
	}
	for id := s.first; ; id++ {
		h.odd[id] = s
		if id == s.last {
			return
		}
	}
}

// newest is the outcome that a further one may be joined to, nil if there is
// none.
func (h *retryHistory) newest() *retriedStatement {
	n := len(h.recent)
	if n == 0 {
		return nil
	}
	if s := &h.recent[n-1]; s.last == h.done[len(h.done)-1].last {
		return s
	}
	return nil // it is among the odd ones
}

// joins reports whether a statement is the next of l and says the same.
func (l *retriedStatement) joins(s *retriedStatement) bool {
	return l.kind == s.kind && l.last+1 == s.first && l.id.IsMissing() && s.id.IsMissing() && l.image == nil && s.image == nil
}

func (s *retriedStatement) append(b *value.Builder) {
	b.StartDocument("").Int32("first", s.first).Int32("last", s.last).String("op", string(s.kind)).Append("id", s.id)
	if s.image != nil {
		b.Document("image", s.image)
	}
	b.End()
}

func readStatement(d value.Doc) retriedStatement {
	s := retriedStatement{first: d.Lookup("first").Int32(), last: d.Lookup("last").Int32(), id: d.Lookup("id"), image: d.Lookup("image").Doc()}
	if op := d.Lookup("op").Str(); op != "" {
		s.kind = op[0]
	}
	return s
}

// sessionRecords finds the records of config.transactions, which has no
// index.
type sessionRecords struct {
	mu    sync.Mutex
	ids   map[recordKey]storage.RecordID
	parts map[recordKey][]storage.RecordID // in config.system.statements
}

// open finds the records that an earlier process has left.
func (r *sessionRecords) open(ctx context.Context, engine storage.Engine) error {
	r.ids = map[recordKey]storage.RecordID{}
	if err := r.openParts(ctx, engine); err != nil {
		return err
	}
	return engine.View(ctx, func(tx storage.Tx) error {
		coll, err := tx.Collection(transactionsNS)
		if errors.Is(err, storage.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		return coll.Scan(storage.Range{}, func(rec storage.Record) bool {
			r.ids[readRecordKey(rec.Doc.Lookup("_id").Doc())] = rec.ID
			return true
		})
	})
}

func (r *sessionRecords) get(k recordKey) storage.RecordID {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ids[k]
}

func (r *sessionRecords) set(k recordKey, id storage.RecordID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ids[k] != id {
		r.ids[k] = id
	}
}

// save writes a session's record. The caller's transaction may still fail:
// the id counts once it has been committed.
func (r *sessionRecords) save(tx storage.Tx, k recordKey, d value.Doc, now int64) (storage.RecordID, error) {
	coll, err := ensureCollection(tx, transactionsNS, false)
	if err != nil {
		return 0, err
	}
	if id := r.get(k); id != 0 {
		err := coll.Update(id, d, now)
		if !errors.Is(err, storage.ErrNoRecord) {
			return id, err
		}
	}
	return coll.Insert(d, now)
}

// reap removes the records of sessions that have ended and not written for
// as long as a session lives.
func (r *sessionRecords) reap(ctx context.Context, engine storage.Engine, live func(recordKey) bool, before int64) error {
	var old []recordKey
	err := engine.View(ctx, func(tx storage.Tx) error {
		old = old[:0]
		coll, err := tx.Collection(transactionsNS)
		if err != nil {
			return nil
		}
		return coll.Scan(storage.Range{}, func(rec storage.Record) bool {
			if k := readRecordKey(rec.Doc.Lookup("_id").Doc()); rec.TS < before && !live(k) {
				old = append(old, k)
			}
			return len(old) < trimChunk
		})
	})
	if err != nil || len(old) == 0 {
		return err
	}
	err = engine.Update(ctx, func(tx storage.Tx) error {
		coll, err := tx.Collection(transactionsNS)
		if err != nil {
			return err
		}
		for _, k := range old {
			if err := coll.Delete(r.get(k)); err != nil && !errors.Is(err, storage.ErrNoRecord) {
				return err
			}
			if err := r.dropParts(tx, k); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.forgetParts(old...)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range old {
		delete(r.ids, k)
	}
	return nil
}

// logHousekeeping drops what is kept beside the data for longer than it is
// of use.
func (s *Service) logHousekeeping() {
	live := map[recordKey]bool{}
	for _, ss := range s.sessions.list() {
		live[ss.record] = true
	}
	before := s.clock.NowMillis() - s.params.int("localLogicalSessionTimeoutMinutes")*60_000
	if err := s.records.reap(s.background, s.engine, func(k recordKey) bool { return live[k] }, before); err != nil {
		s.log.Warn().Err(err).Msg("Records of ended sessions could not be removed")
	}
	if err := s.oplog.expireImages(s.background, s.streamOptions.expireAfter.Load()); err != nil {
		s.log.Warn().Err(err).Msg("Pre-images could not be removed")
	}
}
