package kv

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/keydiff"
)

var _ storage.IndexPreparer = (*Engine)(nil)

// preparation is an index over an earlier state of a collection, whose entries
// are in the store under a number that no catalog entry names yet. Creating the
// index applies the changes made since.
type preparation struct {
	num     uint32 // number of the collection
	options []byte
	spec    storage.IndexSpec
	base    *State
	index   *Index
	changed map[storage.RecordID]bool // records written since; guarded by the list's lock
	used    bool                      // an index has its entries
}

// preparations are the prepared indexes that have not been released.
type preparations struct {
	n    atomic.Int64
	mu   sync.Mutex
	list []*preparation
}

// track notes a write to a record while an index is being prepared.
func (e *Common) track(num uint32, id storage.RecordID, t *Tx) {
	if e.prepared.n.Load() > 0 && t.Txn == nil {
		t.written = append(t.written, writtenRecord{num, id})
	}
}

// note takes the records that a commit has written.
func (l *preparations) note(written []writtenRecord) {
	if len(written) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range written {
		for _, p := range l.list {
			if p.num == w.num {
				p.changed[w.id] = true
			}
		}
	}
}

func (l *preparations) add(p *preparation) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, p)
}

func (l *preparations) remove(p *preparation) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = slices.DeleteFunc(l.list, func(q *preparation) bool { return q == p })
	l.n.Add(-1)
}

// adopted marks the preparations whose indexes a commit has made.
func (l *preparations) adopted(nums []uint32) {
	if len(nums) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.list {
		if p.index != nil && slices.Contains(nums, p.index.Num) {
			p.used = true
		}
	}
}

// find returns a finished preparation that nobody has taken.
func (l *preparations) find(c *Coll, spec storage.IndexSpec) *preparation {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.list {
		if p.num == c.Num && p.index != nil && !p.used && p.spec.Name == spec.Name &&
			!slices.Contains(c.Change.made, p.index.Num) && bytes.Equal(p.spec.Spec, spec.Spec) && bytes.Equal(p.options, c.Info.Options) {
			return p
		}
	}
	return nil
}

// PrepareIndex builds an index over the latest state while writers continue.
func (e *Engine) PrepareIndex(ctx context.Context, ns storage.Namespace, spec storage.IndexSpec) (release func(), err error) {
	c, p, err := e.startPreparation(ctx, ns, spec)
	if err != nil {
		return nil, err
	}
	release = sync.OnceFunc(func() { e.endPreparation(p) })
	maker, err := e.common.Options.Indexer.Index(c.Info.Options, p.spec)
	if err != nil {
		release()
		return nil, err
	}
	x := e.common.newIndex(e.nextNumber(), maker)
	if e.common.resident {
		err = e.buildBeside(ctx, p, c, x)
	} else {
		err = e.fill(ctx, p, c, x)
	}
	if err != nil {
		release()
		return nil, err
	}
	e.common.prepared.mu.Lock()
	p.index = x
	e.common.prepared.mu.Unlock()
	return release, nil
}

// startPreparation begins to note changes and takes the state before them. It
// does so between two commits.
func (e *Engine) startPreparation(ctx context.Context, ns storage.Namespace, spec storage.IndexSpec) (*Coll, *preparation, error) {
	if err := e.lockWriter(ctx); err != nil {
		return nil, nil, err
	}
	defer e.unlockWriter()
	base, err := e.lastWritten()
	if err != nil {
		return nil, nil, err
	}
	c := base.root.Get(ns)
	if c == nil {
		base.release()
		return nil, nil, storage.ErrNotFound
	}
	p := &preparation{num: c.Num, options: c.Info.Options, spec: CloneSpec(spec), base: base, changed: map[storage.RecordID]bool{}}
	e.common.prepared.n.Add(1)
	e.common.prepared.add(p)
	return c, p, nil
}

// endPreparation forgets a preparation. Entries that no index has adopted are
// removed.
func (e *Engine) endPreparation(p *preparation) {
	e.common.prepared.remove(p)
	defer p.base.release()
	if p.index == nil {
		return
	}
	if err := e.lockWriter(e.life); err != nil {
		return // the next open removes them
	}
	defer e.unlockWriter()
	key := numberKey(spaceBuilding, p.index.Num)
	s, err := e.lastWritten()
	if err != nil {
		return
	}
	defer s.release()
	if mark, err := s.snap.Get(e.life, key); err != nil || mark == nil {
		return // adopted, or the next open removes them
	}
	var w WriteSet
	w.Delete(key)
	w.Drop(IndexSpan(p.num, p.index.Num))
	if e.applyNow(e.life, &w) == nil {
		_ = e.publish(s.root)
	}
}

// buildBeside makes a prepared index in memory.
func (e *Engine) buildBeside(ctx context.Context, p *preparation, c *Coll, x *Index) error {
	install, failed := p.base.mem.Build(ctx, &Build{
		Namespace: c.Info.Namespace, Num: c.Num, Indexes: []*Index{x}, Names: []string{p.spec.Name}, Threads: besideClients(),
	})
	if failed != nil {
		return failed.Err
	}
	if err := e.lockWriter(ctx); err != nil {
		return err
	}
	defer e.unlockWriter()
	s, err := e.lastWritten()
	if err != nil {
		return err
	}
	defer s.release()
	var w WriteSet
	w.Set(numberKey(spaceBuilding, x.Num), binary.BigEndian.AppendUint32(nil, c.Num))
	w.Fork = s.mem.Fork()
	install(w.Fork)
	if err := e.applyNow(ctx, &w); err != nil {
		return err
	}
	return e.publish(s.root)
}

// fillBytes is the size of the parts in which the entries of a prepared index are written.
const fillBytes = 1 << 20

// fill writes the entries of a prepared index to the store, with a mark so that
// the next open removes them after a crash, and counts them.
func (e *Engine) fill(ctx context.Context, p *preparation, c *Coll, x *Index) error {
	f := filler{e: e, ctx: ctx, prefix: appendIndexPrefix(nil, c.Num, x.Num)}
	f.set.Set(numberKey(spaceBuilding, x.Num), binary.BigEndian.AppendUint32(nil, c.Num))
	var keys [][]byte
	var err error
	base := reader{snap: p.base.snap}
	serr := base.ScanRecords(ctx, c, storage.Range{}, func(r storage.Record) bool {
		if keys, err = x.KeysOf(keys, r); err != nil {
			return false
		}
		f.addRecord(x, keys, r.ID)
		if f.size >= fillBytes {
			err = f.flush()
		}
		return err == nil
	})
	if err == nil {
		err = serr
	}
	if ferr := f.flush(); err == nil {
		err = ferr
	}
	if err == nil {
		err = e.countFilled(ctx, p, c, x, f.rows)
	}
	if err != nil {
		// The entries go with the mark.
		e.common.prepared.mu.Lock()
		p.index = x
		p.used = true
		e.common.prepared.mu.Unlock()
	}
	return err
}

// countFilled counts the entries that were written in so many rows. If there are
// fewer, records have overwritten the rows of others with the same key.
func (e *Engine) countFilled(ctx context.Context, p *preparation, c *Coll, x *Index, rows int64) error {
	s, err := e.latest()
	if err != nil {
		return err
	}
	defer s.release()
	now := reader{snap: s.snap}
	if !x.rowPerOrder {
		return now.countStored(ctx, c, p.spec.Name, x)
	}
	n, err := now.countRows(ctx, c, x)
	if err == nil && n != rows {
		err = e.duplicate(ctx, p, c, x, now)
	}
	return err
}

// duplicate returns the error for the first record whose row in a prepared index
// is that of a later one.
func (e *Engine) duplicate(ctx context.Context, p *preparation, c *Coll, x *Index, filled reader) error {
	var keys [][]byte
	err := errors.New("the entries of a prepared index are not complete")
	serr := reader{snap: p.base.snap}.ScanRecords(ctx, c, storage.Range{}, func(r storage.Record) bool {
		var kerr error
		if keys, kerr = x.KeysOf(keys, r); kerr != nil {
			err = kerr
			return false
		}
		for _, key := range keys {
			other, ferr := filled.findRow(ctx, c, x, x.Maker.Order(key))
			if ferr != nil {
				err = ferr
				return false
			}
			if other != r.ID {
				err = &storage.DuplicateKeyError{Namespace: c.Info.Namespace, Index: p.spec.Name, Key: bytes.Clone(key), Existing: r.ID}
				return false
			}
		}
		return true
	})
	if serr != nil {
		return serr
	}
	return err
}

// filler writes entries in parts.
type filler struct {
	e      *Engine
	ctx    context.Context
	prefix []byte // prefix of the keys
	set    WriteSet
	size   int
	rows   int64
}

// addRecord adds the entries of a record, whose keys are in order.
func (f *filler) addRecord(x *Index, keys [][]byte, id storage.RecordID) {
	if !x.rowPerOrder {
		for _, key := range keys {
			f.add(appendEntry(bytes.Clone(f.prefix), key, id), empty)
		}
		return
	}
	eachOrder(x.Maker, keys, func(order []byte, keys [][]byte) {
		f.add(append(bytes.Clone(f.prefix), order...), appendRow(nil, id, len(order), keys))
	})
}

func (f *filler) add(key, value []byte) {
	f.set.Set(key, value)
	f.size += len(key) + len(value)
	f.rows++
}

// flush writes what was collected, between two commits.
func (f *filler) flush() error {
	if err := f.e.lockWriter(f.ctx); err != nil {
		return err
	}
	defer f.e.unlockWriter()
	s, err := f.e.lastWritten()
	if err != nil {
		return err
	}
	defer s.release()
	if err := f.e.applyNow(f.ctx, &f.set); err != nil {
		return err
	}
	f.set, f.size = WriteSet{}, 0
	return f.e.publish(s.root)
}

// adopt returns a prepared index brought up to the transaction's state. It
// removes all old keys before it adds new ones, because records may have
// exchanged keys. If it fails, it has changed nothing.
func (t *Tx) adopt(p *preparation, c *Coll) (*Index, error) {
	ids := t.changedSince(p)
	x := new(Index)
	p.index.copyTo(x)
	before := t.Overlay
	if t.fork == nil {
		t.Overlay = &Overlay{}
		if before.writes.Len() > 0 {
			t.Overlay.writes = *before.writes.Copy()
		}
	}
	err := t.catchUp(p, c, x, ids)
	if err != nil {
		if t.Overlay = before; t.fork != nil {
			t.fork.UndoIndex(c.Num, x.Num)
		}
		return nil, err
	}
	c.Change.made = append(c.Change.made, x.Num)
	return x, nil
}

// changedSince lists the records that have changed since a preparation began,
// also by the transaction itself.
func (t *Tx) changedSince(p *preparation) []storage.RecordID {
	t.Common.prepared.mu.Lock()
	defer t.Common.prepared.mu.Unlock()
	var ids []storage.RecordID
	for id := range p.changed {
		ids = append(ids, id)
	}
	for _, w := range t.written {
		if w.num == p.num {
			ids = append(ids, w.id)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// catchUp applies the changes of records to a prepared index.
func (t *Tx) catchUp(p *preparation, c *Coll, x *Index, ids []storage.RecordID) error {
	old := p.base.reader()
	var keys [][]byte
	for _, id := range ids {
		r, ok, err := t.readFrom(old, c, id)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		y := Index{Maker: x.Maker} // what a record that is gone had adds nothing
		if keys, err = y.KeysOf(keys, r); err != nil {
			return err
		}
		for _, key := range keys {
			t.removeEntry(c, x, key, id)
		}
	}
	for _, id := range ids {
		r, ok, err := t.readFrom(t.reader, c, id)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if keys, err = x.KeysOf(keys, r); err != nil {
			return err
		}
		if err := t.addKeys(c, x, p.spec.Name, keys, id); err != nil {
			return err
		}
	}
	return nil
}

// readFrom reads a record of a state.
func (t *Tx) readFrom(from reader, c *Coll, id storage.RecordID) (r storage.Record, ok bool, err error) {
	stored, err := from.stored(t.Ctx, c, id)
	if err != nil || stored == nil {
		return r, false, err
	}
	r, err = ParseRecord(id, stored)
	return r, err == nil, err
}

// addKeys adds the keys of a record to an index that is brought up to date.
func (t *Tx) addKeys(c *Coll, x *Index, name string, keys [][]byte, id storage.RecordID) error {
	for _, key := range keys {
		if x.Maker.Unique() {
			other, err := t.Find(t.Ctx, c, x, x.Maker.Order(key))
			if err != nil {
				return err
			}
			if other != 0 && other != id {
				return &storage.DuplicateKeyError{Namespace: c.Info.Namespace, Index: name, Key: bytes.Clone(key), Existing: other}
			}
		}
	}
	if x.rowPerOrder {
		t.changeRows(c, x, &keydiff.Change{Add: keys, Keys: keys}, id)
		return nil
	}
	for _, key := range keys {
		t.AddEntry(c, x, key, id)
	}
	return nil
}
