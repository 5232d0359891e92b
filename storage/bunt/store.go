package bunt

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kv"
	"github.com/duskdb/duskdb/storage/internal/mem"
	"github.com/duskdb/duskdb/value"
)

// store is the store of the engine: the data in memory, and a log of what changes them.
type store struct {
	*mem.Store
	e *Engine

	mu   sync.Mutex       // held from the log to the trees, so that both have the same commits; guards the log
	ops  []op             // operations of the commit being written
	at   []int            // for each write of that commit its operation, or -1
	seen map[uint32]int64 // bytes in the log since the description of each collection
}

func newStore(e *Engine, m *mem.Store) *store {
	return &store{Store: m, e: e, seen: map[uint32]int64{}}
}

// Apply writes a commit to the log and then to memory. It is on disk after the next sync.
func (s *store) Apply(ctx context.Context, w *kv.WriteSet) (func() error, error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	// 1. The log, if there is one.
	if s.e.persistent() {
		if err := s.write(w); err != nil {
			return nil, err
		}
	}

	// 2. The trees, which readers see once the engine shows them.
	return s.Store.Apply(ctx, w)
}

func (s *store) write(w *kv.WriteSet) error {
	s.collect(w)
	if len(s.ops) == 0 {
		return nil
	}
	err := s.e.writeCommit(s, w)
	if err == nil {
		s.e.commits.Add(1)
	}
	clear(s.ops) // of values
	return err
}

// collect makes the operations of a commit. Records that quote others come last.
func (s *store) collect(w *kv.WriteSet) {
	s.ops, s.at = s.ops[:0], s.at[:0]
	for range w.Writes {
		s.at = append(s.at, -1)
	}
	quotes := func(i int) bool {
		_, found := slices.BinarySearchFunc(w.Quotes, i, func(q kv.Quote, i int) int { return q.By - i })
		return found
	}
	for i, r := range w.Logged() {
		if !quotes(i) {
			s.add(i, r, w.Writes[i].Value)
		}
	}
	if len(w.Quotes) > 0 {
		for i, r := range w.Logged() {
			if quotes(i) {
				s.add(i, r, w.Writes[i].Value)
			}
		}
	}
	for _, q := range w.Quotes {
		if by, of := s.at[q.By], s.at[q.Of]; of >= 0 && of < by {
			s.ops[by].quotes = append(s.ops[by].quotes, quote{at: q.At, of: of})
		}
	}
	s.repeatDescriptions()
}

// add adds the operation of a write.
func (s *store) add(i int, r kv.Row, v []byte) {
	s.at[i] = len(s.ops)
	s.ops = append(s.ops, op{kind: byte(r.Kind), del: v == nil, num: r.Num, id: r.ID, value: value.BytesView(v)})
}

// catalogShare says when the description of a collection is written again: when its records
// have taken so many times its size in the log. So a damaged group loses only its own
// records, not the name of the collection.
const catalogShare = 64

func (s *store) repeatDescriptions() {
	state := s.snapshot()
	for i := range s.ops {
		o := &s.ops[i]
		switch {
		case o.kind == opCatalog:
			delete(s.seen, o.num)
			continue
		case o.kind != opRecord:
			continue
		}
		n := s.seen[o.num] + int64(len(o.value)) + recordOverhead
		entry := state.Catalog(o.num)
		if len(entry) > 0 && n >= int64(catalogShare*len(entry)) {
			s.ops, n = append(s.ops, op{kind: opCatalog, num: o.num, value: value.BytesView(entry)}), 0
		}
		s.seen[o.num] = n
	}
}

// frees reports whether a commit mainly removes documents or collections. Deletes in a
// collection that also gains documents do not count, so that a capped collection cannot grow
// with the space of the reserve.
func (s *store) frees(w *kv.WriteSet) bool {
	type change struct {
		deletes, removed int64
		gains            bool
	}
	state := s.snapshot()
	changes, added := map[uint32]*change{}, int64(0)
	for i, r := range w.Logged() {
		v := w.Writes[i].Value
		added += int64(len(v))
		c := changes[r.Num]
		if c == nil {
			c = &change{}
			changes[r.Num] = c
		}
		switch old := state.Record(r.Num, r.ID); {
		case r.Kind == kv.RowCatalog && v == nil:
			c.deletes++
			state.EachRecord(r.Num, storage.Range{}, func(r storage.Record) bool {
				c.removed += int64(len(r.Doc))
				return true
			})
		case r.Kind != kv.RowRecord:
		case v == nil:
			c.deletes, c.removed = c.deletes+1, c.removed+int64(len(old))
		case old == nil:
			c.gains = true
		}
	}
	var deletes, removed int64
	for _, c := range changes {
		if !c.gains {
			deletes, removed = deletes+c.deletes, removed+c.removed
		}
	}
	return deletes > 0 && added <= addedShare*removed+addedEach*deletes
}

// Sync returns when all that was applied is on disk.
func (s *store) Sync(ctx context.Context) error {
	err := s.e.sync.wait(ctx)
	if err != nil {
		s.e.noteFailure(err)
	}
	return err
}

// Compact rewrites the log without what was overwritten or deleted.
func (s *store) Compact(ctx context.Context) error { return s.e.compactNow(ctx) }

// Stats describes the log.
func (s *store) Stats(st *storage.EngineStats) error {
	st.Resident = true
	st.FileBytes = s.e.sync.fileSize()
	st.Syncs, st.SyncErrors = s.e.sync.counts()
	st.SyncTimes = s.e.sync.times.Counts()
	st.RecoveredCut = s.e.recoveredCut
	return nil
}

// Close syncs and closes the log.
func (s *store) Close() error { return s.e.closeLog() }

// snapshot returns the latest state.
func (s *store) snapshot() *mem.Snapshot {
	latest, _ := s.Snapshot()
	return latest.(*mem.Snapshot)
}

// loaded fills the store of a log that is being read.
type loaded struct{ *mem.Loader }

// apply repeats the operations of a group.
func (l loaded) apply(ops []op) error {
	for i := range ops {
		o := &ops[i]
		if o.kind == opHeader {
			continue
		}
		if err := l.one(o); err != nil {
			return err
		}
	}
	return nil
}

func (l loaded) one(o *op) error {
	row := kv.Row{Kind: kv.RowKind(o.kind), Num: o.num, ID: o.id}
	if o.del {
		return l.Delete(row)
	}
	if err := l.Set(row, value.StringView(o.value)); err != nil {
		return fmt.Errorf("the log: %w", err)
	}
	return nil
}
