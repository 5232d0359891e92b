package commands

import (
	"errors"
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

// retryHistory is what the retryable write of the session's number has done.
type retryHistory struct{ done []retriedStatement }

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
	h.done = h.done[:0]
	return h
}

// find looks for a statement.
func (h *retryHistory) find(id int32) *retriedStatement {
	if h == nil {
		return nil
	}
	for i := range h.done {
		if s := &h.done[i]; s.first <= id && id <= s.last {
			return s
		}
	}
	return nil
}

// extend adds a statement, to the last one if that says the same.
func extend(done []retriedStatement, s retriedStatement) []retriedStatement {
	if n := len(done); n > 0 {
		l := &done[n-1]
		if l.kind == s.kind && l.last+1 == s.first && l.id.IsMissing() && s.id.IsMissing() && l.image == nil && s.image == nil {
			l.last = s.last
			return done
		}
	}
	return append(done, s)
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
	mu  sync.Mutex
	ids map[recordKey]storage.RecordID
}

// open finds the records that an earlier process has left.
func (r *sessionRecords) open(s *Service) error {
	r.ids = map[recordKey]storage.RecordID{}
	return s.engine.View(s.background, func(tx storage.Tx) error {
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
func (r *sessionRecords) reap(s *Service, live func(recordKey) bool, before int64) error {
	var old []recordKey
	err := s.engine.View(s.background, func(tx storage.Tx) error {
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
	err = s.engine.Update(s.background, func(tx storage.Tx) error {
		coll, err := tx.Collection(transactionsNS)
		if err != nil {
			return err
		}
		for _, k := range old {
			if err := coll.Delete(r.get(k)); err != nil && !errors.Is(err, storage.ErrNoRecord) {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
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
	if err := s.records.reap(s, func(k recordKey) bool { return live[k] }, before); err != nil {
		s.log.Warn().Err(err).Msg("Records of ended sessions could not be removed")
	}
	if err := s.oplog.expireImages(s.background); err != nil {
		s.log.Warn().Err(err).Msg("Pre-images could not be removed")
	}
}
