package kv

import (
	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
)

// Commit commits the writes.
func (t *tx) Commit() error { return t.e.host.Commit(t) }

// Settle waits until the writes of a commit are safe.
func (t *tx) Settle() error { return t.e.host.Settle(t) }

// effective keeps the changes that change anything, and reports whether there are
// any.
func (t *tx) effective() bool {
	changed := t.changes[:0]
	for _, ch := range t.changes {
		if ch.effective() {
			changed = append(changed, ch)
		} else if ch.cur != nil && ch.base != nil {
			t.root.set(ch.base) // opened for a write that failed
		}
	}
	t.changes = changed
	return len(changed) > 0
}

// commit applies the writes to the store, and makes the new state that of the
// next writer. The caller has the right to write. Readers see the state when
// settle has returned.
func (e *Engine) commit(t *tx) (err error) {
	if !t.effective() {
		return nil
	}
	t.began = clock.System().Now()
	defer t.scratch.release()
	t.gather(&t.scratch.set)
	if len(t.scratch.set.Writes)+len(t.scratch.set.Drops) > 0 {
		if t.wait, err = e.store.Apply(t.ctx, &t.scratch.set); err != nil {
			return err
		}
		e.common.commits.Add(1)
	}
	e.stamps++
	for _, hash := range t.stale {
		e.common.hot.wrote(hash, e.stamps)
	}
	for _, key := range t.renewed {
		if v, _ := t.over.get(key); v != nil { // not deleted since
			e.common.hot.renew(key, v, e.stamps)
		}
	}
	for _, ch := range t.changes {
		e.common.prepared.adopted(ch.made)
		if ch.cur != nil {
			ch.cur.stamp = e.stamps
			ch.cur.change = nil // immutable from now on
		}
	}
	e.common.prepared.note(t.written)
	t.after, err = e.advance(t.root)
	if err != nil && t.wait != nil {
		_ = t.wait()
	}
	return err
}

// settle waits until the writes of a commit survive the end of the process, and
// shows the new state to readers. The states of earlier commits are safe too:
// the store writes commits in their order.
func (e *Engine) settle(t *tx) error {
	if t.after == nil {
		return nil
	}
	if t.wait != nil {
		if err := t.wait(); err != nil {
			t.after.release()
			return err
		}
	}
	e.common.times.Observe(clock.System().Now().Sub(t.began))
	e.show(t.after)
	for _, ch := range t.changes {
		ch.note(&e.ChangeNotes)
	}
	return nil
}

// note notes a change that readers see.
func (ch *change) note(notes *storage.ChangeNotes) {
	before, _ := ch.base.described()
	after, noted := ch.cur.described()
	notes.NoteChange(noted, before, after)
}

// described is the catalog entry of a collection, nil if there is no collection, and what is
// noted of its states.
func (c *coll) described() (*storage.Info, *storage.Noted) {
	if c == nil {
		return nil, nil
	}
	return c.info, c.noted
}

// effective reports whether a change changes anything.
func (ch *change) effective() bool {
	if ch.cur == nil {
		return ch.base != nil
	}
	return ch.base == nil || ch.data || ch.catalog
}

// gather collects what must be written.
func (t *tx) gather(w *WriteSet) {
	t.over.writes.Scan(func(key string, value []byte) bool {
		w.Writes = append(w.Writes, Write{Key: bytesOf(key), Value: value})
		return true
	})
	for _, ch := range t.changes {
		ch.gather(w)
	}
}

// gather adds the description and the statistics of a collection, and removes
// what is left of a collection or an index that is gone.
func (ch *change) gather(w *WriteSet) {
	for _, num := range ch.made {
		w.del(numberKey(spaceBuilding, num))
	}
	if ch.cur == nil {
		w.del(numberKey(spaceCatalog, ch.base.num))
		w.del(numberKey(spaceStats, ch.base.num))
		w.drop(dataSpan(ch.base.num))
		return
	}
	c := ch.cur
	if ch.catalog {
		w.set(numberKey(spaceCatalog, c.num), c.catalogDoc())
	}
	w.set(numberKey(spaceStats, c.num), c.statsRow())
	for _, num := range ch.dropped {
		w.drop(indexSpan(c.num, num))
	}
}

// writtenRecord is a record that a transaction has written.
type writtenRecord struct {
	num uint32
	id  storage.RecordID
}
