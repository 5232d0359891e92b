package session

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// A retryable write carries a txnNumber, and each of its statements a
// number of its own. What a statement has written is remembered in the
// session's record in config.transactions, by the same engine transaction
// that wrote it. When a client that lost the reply sends the command again,
// on another connection or to a restarted server, the statement is not run again: the reply
// comes from the record. A statement that wrote nothing is not recorded, since it can run
// again.

// A command of n statements runs each in its own engine transaction. So that the cost grows
// with n, not with its square, the record has only the latest outcomes. Older ones are
// moved, many at a time, to parts in config.system.statements, which are written only once
// (parts.go).

// MaxRecent is how many outcomes the session's record holds.
const MaxRecent = 16

// RetryHistory is what the retryable write of the session's number has done.
type RetryHistory struct {
	Done   []RetriedStatement         // sorted by statement number
	odd    map[int32]RetriedStatement // statements whose numbers did not come in order
	Recent []RetriedStatement         // the outcomes in the session's record, in the order of execution
	Parts  bool                       // there may be parts of this number

	Pending PendingStatements // what the running engine transaction adds
}

// PendingStatements has the outcomes that the running engine transaction adds to the
// history. Its slices are reused.
type PendingStatements struct {
	Any    bool               // something is pending
	Joined int32              // how many statements are joined to the newest outcome
	Fresh  []RetriedStatement // further ones
	Parts  []storage.RecordID // the parts that were written
	Moved  bool               // all but the last outcome are in parts now
	Record storage.RecordID   // where the session's record was written
}

// RetriedStatement is the outcome of a statement, or of several in a row
// with the same outcome.
type RetriedStatement struct {
	First, Last int32       // numbers of the statements
	Kind        byte        // 'i', 'u' or 'd'
	ID          value.Value // _id of an inserted document, for an upsert
	Image       value.Doc   // what findAndModify returned, nil: no document
}

// Forget clears the history for a new txnNumber.
func (h *RetryHistory) Forget() *RetryHistory {
	if h == nil {
		return &RetryHistory{}
	}
	clear(h.Done)
	clear(h.Recent[:cap(h.Recent)])
	h.Done, h.Recent, h.odd, h.Parts = h.Done[:0], h.Recent[:0], nil, false
	return h
}

// Find looks for a statement.
func (h *RetryHistory) Find(id int32) *RetriedStatement {
	if h == nil {
		return nil
	}
	i, _ := slices.BinarySearchFunc(h.Done, id, func(s RetriedStatement, id int32) int { return cmp.Compare(s.Last, id) })
	if i < len(h.Done) && h.Done[i].First <= id {
		return &h.Done[i]
	}
	if s, ok := h.odd[id]; ok {
		return &s
	}
	return nil
}

// Add adds an outcome to the history.
func (h *RetryHistory) Add(s RetriedStatement) {
	if n := len(h.Done); n == 0 || h.Done[n-1].Last < s.First {
		h.Done = append(h.Done, s)
		return
	}
	if h.odd == nil {
		h.odd = map[int32]RetriedStatement{}
	}
	for id := s.First; ; id++ {
		h.odd[id] = s
		if id == s.Last {
			return
		}
	}
}

// Newest returns the newest outcome, to which the next one may be joined. It returns nil if
// that is not possible.
func (h *RetryHistory) Newest() *RetriedStatement {
	n := len(h.Recent)
	if n == 0 {
		return nil
	}
	if s := &h.Recent[n-1]; s.Last == h.Done[len(h.Done)-1].Last {
		return s
	}
	return nil // it is among the odd ones
}

// Joins reports whether s follows l directly and has the same outcome.
func (l *RetriedStatement) Joins(s *RetriedStatement) bool {
	return l.Kind == s.Kind && l.Last+1 == s.First && l.ID.IsMissing() && s.ID.IsMissing() && l.Image == nil && s.Image == nil
}

// Append writes the outcome as an element of an array that is stored.
func (s *RetriedStatement) Append(b *value.Builder) {
	b.StartDocument("").Int32("first", s.First).Int32("last", s.Last).String("op", string(s.Kind)).Append("id", s.ID)
	if s.Image != nil {
		b.Document("image", s.Image)
	}
	b.End()
}

// ReadStatement reads what Append has written.
func ReadStatement(d value.Doc) RetriedStatement {
	s := RetriedStatement{First: d.Lookup("first").Int32(), Last: d.Lookup("last").Int32(), ID: d.Lookup("id"), Image: d.Lookup("image").Doc()}
	if op := d.Lookup("op").Str(); op != "" {
		s.Kind = op[0]
	}
	return s
}

// Records finds the records of config.transactions, which has no
// index.
type Records struct {
	mu    sync.Mutex
	ids   map[RecordKey]storage.RecordID
	parts map[RecordKey][]storage.RecordID // in config.system.statements
}

// Open finds the stored records.
func (r *Records) Open(ctx context.Context, engine storage.Engine) error {
	r.ids = map[RecordKey]storage.RecordID{}
	if err := r.openParts(ctx, engine); err != nil {
		return err
	}
	return engine.View(ctx, func(tx storage.Tx) error {
		coll, err := tx.Collection(oplog.Transactions)
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

// Get returns where a session's record is, 0 if it has none.
func (r *Records) Get(k RecordKey) storage.RecordID {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ids[k]
}

// Set notes where a session's record is, once that is committed.
func (r *Records) Set(k RecordKey, id storage.RecordID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ids[k] != id {
		r.ids[k] = id
	}
}

// Save writes a session's record. The returned id is valid when the caller's transaction has
// been committed.
func (r *Records) Save(tx storage.Tx, k RecordKey, d value.Doc, now int64) (storage.RecordID, error) {
	coll, err := catalog.EnsurePlain(tx, oplog.Transactions)
	if err != nil {
		return 0, err
	}
	if id := r.Get(k); id != 0 {
		_, err := coll.Update(id, d, now)
		if !errors.Is(err, storage.ErrNoRecord) {
			return id, err
		}
	}
	return coll.Insert(d, now)
}

// Reap removes the records of sessions that have ended and were last written before an
// instant.
func (r *Records) Reap(ctx context.Context, engine storage.Engine, live func(RecordKey) bool, before int64) error {
	var old []RecordKey
	err := engine.View(ctx, func(tx storage.Tx) error {
		old = old[:0]
		coll, err := tx.Collection(oplog.Transactions)
		if errors.Is(err, storage.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		return coll.Scan(storage.Range{}, func(rec storage.Record) bool {
			if k := readRecordKey(rec.Doc.Lookup("_id").Doc()); rec.TS < before && !live(k) {
				old = append(old, k)
			}
			return len(old) < oplog.TrimChunk
		})
	})
	if err != nil || len(old) == 0 {
		return err
	}
	err = storage.Retry(ctx, engine, func(tx storage.Tx) error {
		coll, err := tx.Collection(oplog.Transactions)
		if err != nil {
			return err
		}
		for _, k := range old {
			if _, err := coll.Delete(r.Get(k)); err != nil && !errors.Is(err, storage.ErrNoRecord) {
				return err
			}
			if err := r.DropParts(tx, k); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.ForgetParts(old...)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range old {
		delete(r.ids, k)
	}
	return nil
}
