package kv

import (
	"context"
	"errors"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
)

// Update runs fn as a writer and commits unless it fails.
func (e *Shared) Update(ctx context.Context, fn func(storage.Tx) error) error {
	return e.update(ctx, nil, func(t *tx) error { return fn(t) })
}

func (e *Shared) update(ctx context.Context, replays *snapshot, fn func(*tx) error) error {
	m, done, err := e.draft(ctx, replays, false, fn)
	if err != nil || done {
		return err
	}
	return e.persist(ctx, func() error { return e.updateOnce(ctx, replays, fn, m) })
}

// mostAway is how long writes wait for a database that cannot be reached.
const mostAway = 10 * time.Second

// persist repeats commits that were not possible.
func (e *Shared) persist(ctx context.Context, once func() error) error {
	var pause storage.Backoff
	begun := clock.System().Now()
	for tries := 1; ; tries++ {
		err := once()
		if !errors.Is(err, ErrAgain) {
			e.counts.note(err)
			return err
		}
		e.counts.retries.Add(1)
		if tries > 1 && clock.System().Now().Sub(begun) > mostAway { // the process may have been stopped meanwhile
			if errors.Is(err, storage.ErrUnavailable) {
				return err
			}
			return errors.Join(storage.ErrConflict, err)
		}
		if err := e.wait(ctx, &pause); err != nil {
			return err
		}
	}
}

func (e *Shared) updateOnce(ctx context.Context, replays *snapshot, fn func(*tx) error, m *memory) error {
	if replays == nil {
		if done, err := e.updateTentatively(ctx, fn, m); done {
			return err
		}
	}
	t, err := e.updateFirst(ctx, replays, fn, m)
	if err != nil {
		return err
	}
	return t.Settle()
}

// updateFirst is the part of an Update that needs the right to write.
func (e *Shared) updateFirst(ctx context.Context, replays *snapshot, fn func(*tx) error, m *memory) (*dtx, error) {
	if err := e.lockWriter(ctx); err != nil {
		return nil, err
	}
	defer e.unlockWriter()
	t, err := e.beginCommit(ctx, []*memory{m})
	if err != nil {
		return nil, err
	}
	defer t.End()
	t.replays = replays
	if err := t.sound(fn(&t.tx)); err != nil {
		return nil, err
	}
	return t, t.Commit()
}

// sound replaces the error of a function whose reads have failed.
func (t *dtx) sound(err error) error {
	if err != nil && t.turn != nil && t.turn.Lost() {
		return errors.Join(ErrAgain, err)
	}
	return err
}

// lockWriter waits for the right to write on this server.
func (e *Shared) lockWriter(ctx context.Context) error {
	return takeTurn(ctx, e.writer, func() bool { return e.known.Load() != nil })
}

func (e *Shared) unlockWriter() { e.writer <- struct{}{} }

// beginCommit takes the lock and begins the run that counts.
func (e *Shared) beginCommit(ctx context.Context, drafts []*memory) (*dtx, error) {
	c := recollect(drafts, func(num uint32) bool { return num < firstProvisional })
	turn, reply, err := e.store.Lock(ctx, &c.request)
	if err != nil {
		return nil, err
	}
	head, _ := turn.Head()
	cat, err := e.latestCatalog()
	if err == nil && cat.version < head.Catalog {
		if err = e.reload(ctx); err == nil {
			cat, err = e.latestCatalog()
		}
	}
	if err != nil {
		turn.Close()
		return nil, err
	}
	t := &dtx{phase: committing, from: turn, cat: cat, turn: turn, head: head, stats: map[uint32]StatsRow{}}
	for _, row := range reply.Stats {
		t.stats[row.Num] = row
	}
	t.known = c.recall(turn, reply)
	e.on(ctx, t.known, t).write(&e.memory)
	return t, nil
}

// commit commits the writes of an Update.
func (e *Shared) commit(t *dtx) error {
	if t.guessing != nil {
		return e.commitTentative(t)
	}
	before, _ := t.turn.Head()
	if !t.effective() && t.head.Stamp == before.Stamp {
		return nil
	}
	defer t.scratch.release()
	t.head.Version++
	for _, ch := range t.changes {
		if moreArrays(ch) {
			ch.catalog = true
		}
		if ch.catalog || ch.cur == nil {
			t.head.Catalog = t.head.Version
		}
	}
	t.gather(&t.scratch.set)
	t.scratch.set.Fresh = t.newKeys()
	began := clock.System().Now()
	if err := t.turn.Commit(e.life, &t.scratch.set, t.head); err != nil {
		return err
	}
	e.common.times.Observe(clock.System().Now().Sub(began))
	e.recent.wrote(t.scratch.set.Writes, t.head.Version)
	e.history.add(t.head.Version, t.over, &t.scratch.set)
	e.common.commits.Add(1)
	if t.replays != nil {
		of(t.replays.tx).far.tried = false // its claims went with the commit
	}
	e.publish(t)
	t.seen = func() { t.turn.Seen(e.life, t.head.Version) }
	if t.head.Catalog < t.head.Version && !e.watched(t) {
		t.seen = nil
	}
	return nil
}

// newKeys returns a function that reports whether a key is that of a record, or of
// an entry of one, that nobody has had before: its id is behind all others.
func (t *dtx) newKeys() func(key []byte) bool {
	last := make(map[uint32]storage.RecordID, len(t.changes))
	for _, ch := range t.changes {
		if ch.cur != nil && ch.base != nil && ch.cur.num == ch.base.num {
			last[ch.cur.num] = ch.base.lastID
		}
	}
	return func(key []byte) bool {
		num, id := recordOf(key)
		before, ok := last[num]
		return ok && id > before
	}
}

// watched reports whether a commit has changed a collection that others must see.
func (e *Shared) watched(t *dtx) bool {
	for _, ch := range t.changes {
		if ch.cur != nil && e.common.opts.Watched != nil && e.common.opts.Watched(ch.cur.info.Namespace) {
			return true
		}
	}
	return false
}

// moreArrays reports whether an index was found to have arrays in further fields,
// which readers must know.
func moreArrays(ch *change) bool {
	if ch.cur == nil || ch.base == nil || ch.catalog {
		return false
	}
	for i, x := range ch.cur.indexes {
		if x.multikey != ch.base.indexes[i].multikey {
			return true
		}
	}
	return false
}

// publish makes what was committed known on this server.
func (e *Shared) publish(t *dtx) {
	e.learn(t.head)
	for _, ch := range t.changes {
		if c := ch.cur; c != nil {
			c.stamp, c.bare, c.change = uint64(t.head.Version), true, nil
			if ch.catalog {
				c.entry = t.head.Version
			}
		}
	}
	e.naming.Lock()
	defer e.naming.Unlock()
	now := e.known.Load()
	if now == nil || now.version > t.head.Catalog {
		return
	}
	next := now.root.fork() // others may have been heard of since the transaction began
	for _, ch := range t.changes {
		if ch.base == nil {
			continue
		}
		if c := next.get(ch.base.info.Namespace); c != nil && c.num == ch.base.num {
			next.remove(ch.base.info.Namespace)
		}
	}
	for _, ch := range t.changes {
		if ch.cur != nil {
			next.set(ch.cur)
		}
	}
	e.known.Store(&catalog{root: next, version: t.head.Catalog})
}
