package kv

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/share"
)

// Options describe an engine.
type Options struct {
	Name       string // the name in serverStatus
	Persistent bool
	// Indexer gives meaning to index specifications. Required.
	Indexer storage.Indexer
	// ValueCacheBytes is the memory for records that are read again and again.
	ValueCacheBytes int64
	// ReadOnly keeps what a crash has left: nothing may be written to the store.
	ReadOnly bool
	// GapKeys is over how many deleted keys the scan of an index walks before it
	// remembers that there is nothing. 0: no scan does. A store that others write to
	// needs 0.
	GapKeys int
	// RetrySingly reports whether the updates of a group that could not be committed
	// because of err may succeed one by one. Never if nil.
	RetrySingly func(err error) bool
	// Watched reports whether other servers must see the commits to a collection at
	// once, because they keep what is in it. None if nil.
	Watched func(storage.Namespace) bool
	// Snapshots is how many snapshots of a shared store may be held open.
	Snapshots int
	// Rebuild says that the store has lost what can be derived. nil: it has all.
	Rebuild *Rebuild
}

// Engine is a storage.Engine over a Store that belongs to this process alone.
type Engine struct {
	storage.Alone
	storage.ChangeNotes
	common  Common
	store   Store
	shared  share.Queue   // the updates that wait to be committed together; has a lock of its own
	numbers atomic.Uint32 // the last number given to a collection or an index

	publishing sync.Mutex            // held while current changes
	current    atomic.Pointer[State] // the state that readers see; nil when the engine is closed

	writer chan struct{} // holds one token: the right to write
	// Guarded by writer:
	writerState *State  // the state that the next writer begins with: current, or ahead of it
	scratch     Scratch // memory that one writer after the other uses
	stamps      uint64  // the last stamp that a commit has given

	life     context.Context // ends with Close
	end      context.CancelFunc
	closing  sync.Once
	closeErr error // the error of the first Close
}

var (
	_ storage.Engine       = (*Engine)(nil)
	_ storage.Sharer       = (*Engine)(nil)
	_ storage.ChangeLister = (*Engine)(nil)
)

// Open reads the catalog of a store. The engine closes the store; if Open
// fails, the caller does.
func Open(store Store, opts Options) (*Engine, error) {
	if opts.Indexer == nil {
		return nil, errors.New("kv: no indexer")
	}
	e := &Engine{store: store, writer: make(chan struct{}, 1)}
	e.common.Options, e.common.Backend, e.common.cache = opts, backend{e}, newValueCache(opts.ValueCacheBytes)
	e.life, e.end = context.WithCancel(context.Background())
	r, err := e.load()
	var s *State
	if err == nil {
		s, err = e.advance(r)
	}
	if err != nil {
		e.end()
		return nil, err
	}
	e.current.Store(s)
	e.writer <- struct{}{}
	return e, nil
}

// load reads all collections, and removes indexes whose building a crash has
// interrupted.
func (e *Engine) load() (*Root, error) {
	snap, err := e.store.Snapshot()
	if err != nil {
		return nil, err
	}
	defer snap.Close()
	_, e.common.resident = snap.(Resident)
	if n, ok := e.store.(interface{ LastNumber() uint32 }); ok {
		e.numbered(n.LastNumber())
	}
	if of := e.common.Options.Rebuild; of != nil {
		return e.rebuild(snap, of)
	}
	r, byNum := NewRoot(), map[uint32]*Coll{}
	err = e.loadSpace(snap, spaceCatalog, func(num uint32, v []byte) error {
		c, err := ParseCatalog(num, v)
		if err != nil {
			return err
		}
		byNum[num] = c
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = e.loadSpace(snap, spaceStats, func(num uint32, v []byte) error {
		c := byNum[num]
		if c == nil {
			return fmt.Errorf("there are statistics of a collection %d that does not exist", num)
		}
		delete(byNum, num)
		for _, x := range c.Indexes {
			e.numbered(x.Num)
		}
		return errors.Join(c.ReadStats(v), e.common.Compile(c), r.Add(c))
	})
	if err == nil && len(byNum) > 0 {
		err = fmt.Errorf("%d collections have no statistics", len(byNum))
	}
	if err != nil {
		return nil, err
	}
	return r, e.clearUnfinished(snap, r)
}

// loadSpace reads the rows that belong to numbers.
func (e *Engine) loadSpace(snap Snapshot, space byte, fn func(num uint32, value []byte) error) error {
	s := SpanOf([]byte{space})
	it := snap.Scan(e.life, s.Lo, s.Hi, false)
	var err error
	for err == nil && it.Next() {
		var v []byte
		if v, err = it.Value(); err != nil {
			break
		}
		num := binary.BigEndian.Uint32(it.Key()[1:])
		e.numbered(num)
		err = fn(num, append([]byte(nil), v...))
	}
	return errors.Join(err, it.Close())
}

// Compile compiles the indexes of a collection that was loaded.
func (e *Common) Compile(c *Coll) error {
	for i := range c.Info.Indexes {
		x := &c.Info.Indexes[i]
		maker, err := e.Options.Indexer.Index(c.Info.Options, x.IndexSpec)
		if err != nil {
			return fmt.Errorf("index %q of %s: %w", x.Name, c.Info.Namespace, err)
		}
		x.Index, c.Indexes[i].Maker = maker, maker
	}
	for k, b := range c.Building {
		maker, err := e.Options.Indexer.Index(c.Info.Options, b.Spec)
		if err != nil {
			return fmt.Errorf("index %q of %s: %w", b.Spec.Name, c.Info.Namespace, err)
		}
		c.Indexes[len(c.Info.Indexes)+k].Maker = maker
	}
	e.attach(c.Info)
	return nil
}

// Add adds a collection that was loaded.
func (r *Root) Add(c *Coll) error {
	if r.Get(c.Info.Namespace) != nil {
		return fmt.Errorf("there are two collections %s", c.Info.Namespace)
	}
	r.Set(c)
	return nil
}

// clearUnfinished removes the entries of indexes that were being built.
func (e *Engine) clearUnfinished(snap Snapshot, r *Root) error {
	var w WriteSet
	err := e.loadSpace(snap, spaceBuilding, func(num uint32, v []byte) error {
		if len(v) != 4 {
			return errors.New("the mark of an unfinished index is damaged")
		}
		w.Drop(IndexSpan(binary.BigEndian.Uint32(v), num))
		w.Delete(numberKey(spaceBuilding, num))
		return nil
	})
	if err != nil || len(w.Writes) == 0 || e.common.Options.ReadOnly {
		return err
	}
	return e.applyNow(e.life, &w)
}

// applyNow applies a write set and waits until it is safe.
func (e *Engine) applyNow(ctx context.Context, w *WriteSet) error {
	wait, err := e.store.Apply(ctx, w)
	if err != nil {
		return err
	}
	return wait()
}

// numbered notes a number that is in use.
func (e *Engine) numbered(num uint32) { e.numbers.Store(max(e.numbers.Load(), num)) }

// nextNumber gives the next number.
func (e *Engine) nextNumber() uint32 { return e.numbers.Add(1) }

// advance makes a root the state that the next writer begins with. The caller has
// the right to write, and owns the reference to the state.
func (e *Engine) advance(r *Root) (*State, error) {
	snap, err := e.store.Snapshot()
	if err != nil {
		return nil, err
	}
	s := &State{root: r, snap: snap, place: 1, stamp: e.stamps}
	s.mem, _ = snap.(Resident)
	if e.writerState != nil {
		s.place = e.writerState.place + 1
		e.writerState.release()
	}
	s.refs.Store(2)
	e.writerState = s
	return s, nil
}

// show makes a state, whose writes are safe, the latest one, unless a later one
// is. It takes over the reference.
func (e *Engine) show(s *State) {
	e.publishing.Lock()
	old := e.current.Load()
	if old == nil || old.place > s.place { // closed, or overtaken
		old = s
	} else {
		e.current.Store(s)
	}
	e.publishing.Unlock()
	old.release()
}

// publish makes a root the latest state. All its writes are safe, and the caller
// has the right to write.
func (e *Engine) publish(r *Root) error {
	s, err := e.advance(r)
	if err == nil {
		e.show(s)
	}
	return err
}

// lastWritten returns the state after the last commit, which must be released. The
// caller has the right to write.
func (e *Engine) lastWritten() (*State, error) {
	if e.current.Load() == nil {
		return nil, storage.ErrClosed
	}
	e.writerState.refs.Add(1)
	return e.writerState, nil
}

// latest returns the latest state, which must be released.
func (e *Engine) latest() (*State, error) {
	for {
		s := e.current.Load()
		if s == nil {
			return nil, storage.ErrClosed
		}
		if s.hold() {
			return s, nil
		}
	}
}

// View runs fn on the latest committed state.
func (e *Engine) View(ctx context.Context, fn func(storage.Tx) error) error {
	t, err := e.begin(ctx)
	if err != nil {
		return err
	}
	defer t.End()
	return fn(t)
}

// Update runs fn as the only writer and commits unless it fails.
func (e *Engine) Update(ctx context.Context, fn func(storage.Tx) error) error {
	return e.update(ctx, nil, func(t *Tx) error { return fn(t) })
}

func (e *Engine) update(ctx context.Context, replays *Txn, fn func(*Tx) error) error {
	t, err := e.updateFirst(ctx, replays, fn)
	if err != nil {
		return err
	}
	return t.Finish()
}

// updateFirst is the part of an Update that needs the right to write.
func (e *Engine) updateFirst(ctx context.Context, replays *Txn, fn func(*Tx) error) (*Tx, error) {
	if err := e.lockWriter(ctx); err != nil {
		return nil, err
	}
	defer e.unlockWriter()
	t, err := e.beginWrite(ctx)
	if err != nil {
		return nil, err
	}
	defer t.End()
	t.Replays = replays
	if err := fn(t); err != nil {
		return nil, err
	}
	return t, t.Commit()
}

// lockWriter waits for the right to write.
func (e *Engine) lockWriter(ctx context.Context) error {
	return TakeWriter(ctx, e.writer, func() bool { return e.current.Load() != nil })
}

func (e *Engine) unlockWriter() { e.writer <- struct{}{} }

// Stamp changes with every committed change of a collection. 1 is the stamp of
// those that have not changed since the engine was opened.
func (e *Engine) Stamp(ns storage.Namespace) (uint64, error) {
	s := e.current.Load()
	if s == nil {
		return 0, storage.ErrClosed
	}
	c := s.root.Get(ns)
	if c == nil {
		return 0, nil
	}
	return c.Stamp + 1, nil
}

// Snapshots are the limits of the contract: a snapshot costs what was changed
// since.
func (e *Engine) Snapshots() storage.SnapshotLimits { return storage.DefaultSnapshots }

// Sync returns when all updates committed before the call are on disk.
func (e *Engine) Sync(ctx context.Context) error {
	if e.current.Load() == nil {
		return storage.ErrClosed
	}
	return e.store.Sync(ctx)
}

// Compact reclaims the space of overwritten and deleted records.
func (e *Engine) Compact(ctx context.Context) error {
	if e.current.Load() == nil {
		return storage.ErrClosed
	}
	return e.store.Compact(ctx)
}

// Stats describes the engine.
func (e *Engine) Stats() (storage.EngineStats, error) {
	st := storage.EngineStats{
		Name:          e.common.Options.Name,
		Persistent:    e.common.Options.Persistent,
		Commits:       e.common.Commits.Load(),
		CommitTimes:   e.common.CommitTimes.Counts(),
		OpenSnapshots: e.common.OpenTxns.Load(),
	}
	return st, e.store.Stats(&st)
}

// Totals are the numbers of collections and records in the latest state.
func (e *Engine) Totals() (collections, records int64, err error) {
	s, err := e.latest()
	if err != nil {
		return 0, 0, err
	}
	defer s.release()
	s.root.All(func(c *Coll) bool {
		collections++
		records += c.count
		return true
	})
	return collections, records, nil
}

// RecordBytes are the number of records and the size of their documents in the latest state; 0
// when the engine is closed.
func (e *Engine) RecordBytes() (records, bytes int64) {
	s, err := e.latest()
	if err != nil {
		return 0, 0
	}
	defer s.release()
	s.root.All(func(c *Coll) bool {
		records, bytes = records+c.count, bytes+c.size
		return true
	})
	return records, bytes
}

// Close syncs and releases everything. Waiting writers get storage.ErrClosed;
// records that were read stay valid.
func (e *Engine) Close() error {
	e.closing.Do(func() {
		e.end()
		<-e.writer
		defer e.unlockWriter()
		e.publishing.Lock()
		s := e.current.Swap(nil)
		e.publishing.Unlock()
		s.release()
		e.writerState.release()
		e.closeErr = e.store.Close()
	})
	return e.closeErr
}

// backend is the engine as its transactions see it.
type backend struct{ e *Engine }

var _ Backend = backend{}

func (b backend) Latest() (*State, error) { return b.e.latest() }

func (b backend) Number(*Tx) uint32 { return b.e.nextNumber() }

// NextStamp gives the next stamp: the caller has the right to write.
func (b backend) NextStamp(_ *Tx, min uint64) (uint64, error) { return b.e.NextStamp(min), nil }

func (b backend) Commit(t *Tx) error { return b.e.commit(t) }

func (b backend) Finish(t *Tx) error { return b.e.finish(t) }

func (b backend) Update(ctx context.Context, replays *Txn, fn func(*Tx) error) error {
	return b.e.update(ctx, replays, fn)
}
