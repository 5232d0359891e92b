package kvshared

import (
	"context"
	"errors"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kv"
)

// Update runs fn as a writer and commits unless it fails.
func (e *Engine) Update(ctx context.Context, fn func(storage.Tx) error) error {
	return e.update(ctx, nil, func(t *kv.Tx) error { return fn(t) })
}

func (e *Engine) update(ctx context.Context, replays *kv.Txn, fn func(*kv.Tx) error) error {
	m, done, err := e.dryRun(ctx, replays, false, fn)
	if err != nil || done {
		return err
	}
	return e.retry(ctx, func() error { return e.updateOnce(ctx, replays, fn, m) })
}

// maxAway is how long writes wait for a database that cannot be reached.
const maxAway = 10 * time.Second

// retry repeats commits that were not possible.
func (e *Engine) retry(ctx context.Context, once func() error) error {
	var pause storage.Backoff
	begun := clock.System().Now()
	for tries := 1; ; tries++ {
		err := once()
		if !errors.Is(err, ErrAgain) {
			e.counts.note(err)
			return err
		}
		e.counts.retries.Add(1)
		if tries > 1 && clock.System().Now().Sub(begun) > maxAway { // the process may have been stopped meanwhile
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

func (e *Engine) updateOnce(ctx context.Context, replays *kv.Txn, fn func(*kv.Tx) error, m *readSet) error {
	if replays == nil {
		if done, err := e.updateOptimistically(ctx, fn, m); done {
			return err
		}
	}
	t, err := e.updateLocked(ctx, replays, fn, m)
	if err != nil {
		return err
	}
	return t.Finish()
}

// updateLocked is the part of an Update that needs the right to write.
func (e *Engine) updateLocked(ctx context.Context, replays *kv.Txn, fn func(*kv.Tx) error, m *readSet) (*tx, error) {
	if err := e.lockWriter(ctx); err != nil {
		return nil, err
	}
	defer e.unlockWriter()
	t, err := e.beginCommit(ctx, []*readSet{m})
	if err != nil {
		return nil, err
	}
	defer t.End()
	t.Replays = replays
	if err := t.orAgain(fn(&t.Tx)); err != nil {
		return nil, err
	}
	return t, t.Commit()
}

// orAgain replaces the error of a function whose reads have failed.
func (t *tx) orAgain(err error) error {
	if err != nil && t.turn != nil && t.turn.Lost() {
		return errors.Join(ErrAgain, err)
	}
	return err
}

// lockWriter waits for the right to write on this server.
func (e *Engine) lockWriter(ctx context.Context) error {
	return kv.TakeWriter(ctx, e.writer.token, func() bool { return e.known.catalog.Load() != nil })
}

func (e *Engine) unlockWriter() { e.writer.token <- struct{}{} }

// beginCommit takes the lock and begins the run that counts.
func (e *Engine) beginCommit(ctx context.Context, sets []*readSet) (*tx, error) {
	c := combine(sets, isStored)
	turn, reply, err := e.store.Lock(ctx, &c.request)
	if err != nil {
		return nil, err
	}
	head, _ := turn.Head()
	cat, err := e.known.latest()
	if err == nil && cat.version < head.Catalog {
		if err = e.reload(ctx); err == nil {
			cat, err = e.known.latest()
		}
	}
	if err != nil {
		turn.Close()
		return nil, err
	}
	t := &tx{phase: committing, state: turn, catalog: cat, turn: turn, head: head, stats: map[uint32]StatsRow{}}
	for _, row := range reply.Stats {
		t.stats[row.Num] = row
	}
	t.cached = c.answered(turn, reply)
	e.on(ctx, t.cached, t).MakeWritable(&e.writer.scratch)
	return t, nil
}

// commit commits the writes of an Update.
func (e *Engine) commit(t *tx) error {
	if t.optimistic != nil {
		return e.commitOptimistic(t)
	}
	return e.commitLocked(t)
}

// commitLocked commits with the lock.
func (e *Engine) commitLocked(t *tx) error {
	// 1. Leave out collections that were opened but not changed. A stamp that was given is
	// stored even if nothing else is.
	before, _ := t.turn.Head()
	if !t.DropIdleChanges() && t.head.Stamp == before.Stamp {
		return nil
	}

	// 2. The commit gets the next version. If the catalog changes, that is its version, too.
	t.head.Version++
	for _, ch := range t.Changes {
		if moreArrays(ch) {
			ch.Description = true
		}
		if ch.Description || ch.After == nil {
			t.head.Catalog = t.head.Version
		}
	}

	// 3. One trip writes everything, commits and gives the lock back.
	began := clock.System().Now()
	defer t.Scratch.Release()
	if err := t.turn.Commit(t.Ctx, t.writes(), t.head); err != nil {
		return err
	}
	e.common.CommitTimes.Observe(clock.System().Now().Sub(began))
	if t.Replays != nil {
		clusterTx(t.Replays.Tx).claims.sent = false // its claims went with the commit
	}

	// 4. This server knows what has changed.
	e.committed(t)

	// 5. Finish waits until the other servers have seen what they keep in memory.
	if t.head.Catalog == t.head.Version || e.watched(t) {
		t.awaitSeen = func() { t.turn.Seen(e.life, t.head.Version) }
	}
	return nil
}

// writes collects what the transaction writes.
func (t *tx) writes() *kv.WriteSet {
	t.CollectWrites(&t.Scratch.Writes)
	t.Scratch.Writes.Fresh = t.newKeys()
	return &t.Scratch.Writes
}

// committed makes a commit known on this server: for dry runs, for the next commits, and
// for readers.
func (e *Engine) committed(t *tx) {
	e.lookups.wrote(t.Scratch.Writes.Writes, t.head.Version)
	e.writer.history.add(t.head.Version, t.Overlay, &t.Scratch.Writes)
	e.common.Commits.Add(1)
	e.publish(t)
}

// newKeys returns a function that reports whether a key is that of a record, or of
// an entry of one, that nobody has had before: its id is behind all others.
func (t *tx) newKeys() func(key []byte) bool {
	last := make(map[uint32]storage.RecordID, len(t.Changes))
	for _, ch := range t.Changes {
		if ch.After != nil && ch.Before != nil && ch.After.Num == ch.Before.Num {
			last[ch.After.Num] = ch.Before.LastID
		}
	}
	return func(key []byte) bool {
		num, id := kv.RecordOf(key)
		before, ok := last[num]
		return ok && id > before
	}
}

// watched reports whether a commit has changed a collection that others must see.
func (e *Engine) watched(t *tx) bool {
	for _, ch := range t.Changes {
		if ch.After != nil && e.common.Options.Watched != nil && e.common.Options.Watched(ch.After.Info.Namespace) {
			return true
		}
	}
	return false
}

// moreArrays reports whether an index was found to have arrays in further fields,
// which readers must know.
func moreArrays(ch *kv.Change) bool {
	if ch.After == nil || ch.Before == nil || ch.Description {
		return false
	}
	for i, x := range ch.After.Indexes {
		if x.Multikey != ch.Before.Indexes[i].Multikey {
			return true
		}
	}
	return false
}

// publish makes what was committed known on this server.
func (e *Engine) publish(t *tx) {
	e.known.learn(t.head)
	for _, ch := range t.Changes {
		if c := ch.After; c != nil {
			c.Stamp, c.Estimated, c.Change = uint64(t.head.Version), true, nil
			if ch.Description {
				c.EntryVersion = t.head.Version
			}
		}
	}
	_ = e.known.replace(func(now *catalog) (*catalog, error) { // it fails only if the engine is closed
		if now.version > t.head.Catalog {
			return nil, nil
		}
		next := now.root.Fork() // others may have been heard of since the transaction began
		for _, ch := range t.Changes {
			if ch.Before == nil {
				continue
			}
			if c := next.Get(ch.Before.Info.Namespace); c != nil && c.Num == ch.Before.Num {
				next.Remove(ch.Before.Info.Namespace)
			}
		}
		for _, ch := range t.Changes {
			if ch.After != nil {
				next.Set(ch.After)
			}
		}
		return &catalog{root: next, version: t.head.Catalog}, nil
	})
}
