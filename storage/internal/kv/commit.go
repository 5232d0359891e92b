package kv

import (
	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
)

// Commit commits the writes.
func (t *Tx) Commit() error { return t.Common.Backend.Commit(t) }

// Finish waits until the writes of a commit are safe.
func (t *Tx) Finish() error { return t.Common.Backend.Finish(t) }

// DropIdleChanges keeps the changes that change anything, and reports whether there are
// any.
func (t *Tx) DropIdleChanges() bool {
	changed := t.Changes[:0]
	for _, ch := range t.Changes {
		if ch.effective() {
			changed = append(changed, ch)
		} else if ch.After != nil && ch.Before != nil {
			t.Root.Set(ch.Before) // opened for a write that failed
		}
	}
	t.Changes = changed
	return len(changed) > 0
}

// commit applies the writes to the store, and makes the new state that of the
// next writer. The caller has the right to write. Readers see the state when
// finish has returned.
func (e *Engine) commit(t *Tx) (err error) {
	// 1. Leave out collections that were opened but not changed.
	if !t.DropIdleChanges() {
		return nil
	}

	// 2. Hand the store all writes, as one.
	t.began = clock.System().Now()
	defer t.Scratch.Release()
	t.CollectWrites(&t.Scratch.Writes)
	if len(t.Scratch.Writes.Writes)+len(t.Scratch.Writes.Drops) > 0 {
		if t.wait, err = e.store.Apply(t.Ctx, &t.Scratch.Writes); err != nil {
			return err
		}
		e.common.Commits.Add(1)
	}

	// 3. The cache learns of the new values before anybody can see their state.
	e.stamps++
	for _, hash := range t.overwritten {
		e.common.cache.wrote(hash, e.stamps)
	}
	for _, key := range t.renewed {
		if v, _ := t.Overlay.Get(key); v != nil { // not deleted since
			e.common.cache.renew(key, v, e.stamps)
		}
	}

	// 4. The collections become immutable, and prepared indexes learn what has changed.
	for _, ch := range t.Changes {
		e.common.prepared.adopted(ch.made)
		if ch.After != nil {
			ch.After.Stamp = e.stamps
			ch.After.Change = nil
		}
	}
	e.common.prepared.note(t.written)

	// 5. The next writer begins with the new state.
	t.after, err = e.advance(t.Root)
	if err != nil && t.wait != nil {
		_ = t.wait()
	}
	return err
}

// finish waits until the writes of a commit survive the end of the process, and
// shows the new state to readers. The states of earlier commits are safe too:
// the store writes commits in their order.
func (e *Engine) finish(t *Tx) error {
	if t.after == nil {
		return nil
	}
	if t.wait != nil {
		if err := t.wait(); err != nil {
			t.after.release()
			return err
		}
	}
	e.common.CommitTimes.Observe(clock.System().Now().Sub(t.began))
	e.show(t.after)
	for _, ch := range t.Changes {
		ch.note(&e.ChangeNotes)
		*ch = Change{}
	}
	return nil
}

// note notes a change that readers see.
func (ch *Change) note(notes *storage.ChangeNotes) {
	before, _ := ch.Before.described()
	after, noted := ch.After.described()
	notes.NoteChange(noted, before, after)
}

// described is the catalog entry of a collection, nil if there is no collection, and what is
// noted of its states.
func (c *Coll) described() (*storage.Info, *storage.Noted) {
	if c == nil {
		return nil, nil
	}
	return c.Info, c.noted
}

// effective reports whether a change changes anything.
func (ch *Change) effective() bool {
	if ch.After == nil {
		return ch.Before != nil
	}
	return ch.Before == nil || ch.Records || ch.Description
}

// CollectWrites collects what must be written.
func (t *Tx) CollectWrites(w *WriteSet) {
	if t.fork != nil {
		for _, ch := range t.Changes {
			ch.collectRecords(t, w)
		}
		t.collectQuotes(w)
		w.Fork = t.fork
	} else {
		t.Overlay.writes.Scan(func(key string, value []byte) bool {
			w.Writes = append(w.Writes, Write{Key: bytesOf(key), Value: value})
			return true
		})
	}
	for _, ch := range t.Changes {
		ch.gather(w)
	}
}

// gather adds the description and the statistics of a collection, and removes
// what is left of a collection or an index that is gone.
func (ch *Change) gather(w *WriteSet) {
	for _, num := range ch.made {
		w.Delete(numberKey(spaceBuilding, num))
	}
	if ch.After == nil {
		w.Delete(numberKey(spaceCatalog, ch.Before.Num))
		w.Delete(numberKey(spaceStats, ch.Before.Num))
		w.Drop(DataSpan(ch.Before.Num))
		return
	}
	c := ch.After
	if ch.Description {
		w.Set(numberKey(spaceCatalog, c.Num), c.CatalogDoc())
	}
	// A store in memory counts by itself: it needs the last id of a collection that is new.
	if ch.Description || w.Fork == nil {
		w.Set(numberKey(spaceStats, c.Num), c.statsRow())
	}
	for _, num := range ch.dropped {
		w.Drop(IndexSpan(c.Num, num))
	}
}

// writtenRecord is a record that a transaction has written.
type writtenRecord struct {
	num uint32
	id  storage.RecordID
}
