package kv

import (
	"bytes"
	"context"
	"fmt"

	"github.com/duskdb/duskdb/storage"
)

// phase is what a transaction of several servers is for.
type phase uint8

const (
	viewing    phase = iota
	holding          // a snapshot transaction
	drafting         // the first run of an Update, to learn what it reads
	committing       // the run that counts
)

// dtx is a transaction over a store that other servers use, too.
type dtx struct {
	tx
	engine *Shared
	cat    *catalog // the collections that the transaction knows
	phase  phase
	from   SharedSnapshot   // the state that it reads
	exact  map[uint32]*coll // collections whose statistics were read, by their numbers

	// Of a run that collects reads:
	memory *memory // what it has read
	hope   bool    // unique keys are taken to be new
	rough  bool    // the statistics in memory are taken to be near the present ones
	guess  bool    // it has used what may be outdated
	mark   uint64  // the last stamp that it has given

	// Of a run that counts:
	turn     Turn                // the right to commit; nil without the lock
	known    *recalled           // what it reads
	head     Head                // as it will be after the commit
	stats    map[uint32]StatsRow // the statistics that were read with the lock
	guessing *guess              // the conditions of a commit without the lock; nil with it
	seen     func()              // waits until other servers have seen the commit; may be nil

	// Of a snapshot transaction:
	far *far // its claims
}

var _ clusterTx = (*dtx)(nil)

// of is what a transaction of this engine has beside those of others.
func of(t *tx) *dtx { return t.cluster.(*dtx) }

// alone reports whether there are no other servers.
func (t *dtx) alone() bool { return t.engine.store.Alone() }

// Working tells the store that the server that has the lock is alive.
func (t *dtx) Working() {
	if t.turn != nil {
		t.turn.Keep()
	}
}

// Estimates reports whether other servers may have changed statistics.
func (t *dtx) Estimates() bool { return !t.alone() }

// AnyLastID reports whether the run only assumes the last ids of collections.
func (t *dtx) AnyLastID() bool { return t.phase == drafting && t.hope }

// CheckCatalog makes sure that the catalog is that of the state that will be read.
func (t *dtx) CheckCatalog() error {
	if t.phase == committing {
		return nil
	}
	if _, begun := t.from.Head(); begun || t.sure() {
		return nil
	}
	_, err := t.from.Read(t.ctx, &Request{})
	return err
}

// sure reports whether the catalog in memory is certainly the latest.
func (t *dtx) sure() bool {
	if !t.engine.store.Current() {
		return false
	}
	now := t.engine.known.Load()
	return now != nil && now.version == t.cat.version
}

// Exact returns a collection with its exact statistics.
func (t *dtx) Exact(c *coll) (*coll, error) {
	if d := t.exact[c.num]; d != nil && d.info == c.info {
		return d, nil
	}
	d, err := t.load(c)
	if err != nil || d == c {
		return d, err
	}
	if t.exact == nil {
		t.exact = map[uint32]*coll{}
	}
	t.exact[c.num] = d
	return d, nil
}

// guessedIDs is how far the ids of a draft are from those that it knows.
const guessedIDs = 1 << 40

func (t *dtx) load(c *coll) (*coll, error) {
	if t.phase == drafting {
		t.memory.stat(c.num)
	}
	if t.phase == drafting && (t.hope || t.rough) {
		t.guess = true
		if t.alone() {
			return c, nil
		}
		d, err := c.withStats(c.stamp, nil)
		if err == nil {
			d.lastID += guessedIDs // apart from what others may have inserted
		}
		return d, err
	}
	if t.guessing != nil {
		t.guessing.stat(c.num)
		return c, nil
	}
	if row, ok := t.stats[c.num]; ok {
		if row.Version == int64(c.stamp) {
			return c, nil // what is known is exact
		}
		return c.withStats(uint64(row.Version), row.Row)
	}
	return loadFrom(t.ctx, t.from, c)
}

// loadFrom reads the statistics of a collection.
func loadFrom(ctx context.Context, from SharedSnapshot, c *coll) (*coll, error) {
	reply, err := from.Read(ctx, &Request{Stats: []uint32{c.num}})
	if err != nil {
		return nil, err
	}
	if len(reply.Stats) == 0 {
		return nil, fmt.Errorf("there are no statistics of %s", c.info.Namespace)
	}
	return c.withStats(uint64(reply.Stats[0].Version), reply.Stats[0].Row)
}

// Holder returns the record that has an Order in a unique index, or 0. A draft may take a
// key for new, and let the run that counts find out.
func (t *dtx) Holder(c *coll, x *index, order []byte) (storage.RecordID, error) {
	if t.phase == drafting {
		if c.num < firstProvisional && !(t.hope && x.top != nil && bytes.Compare(order, x.top) > 0 && t.alone()) {
			t.want(c, x, order)
		}
		if !t.hope {
			return t.find(t.ctx, c, x, order)
		}
		return t.ownHolder(c, x, order)
	}
	if x.top == nil && t.phase == committing {
		if err := t.learnTop(c, x); err != nil {
			return 0, err
		}
	}
	if x.top != nil && bytes.Compare(order, x.top) > 0 {
		return 0, nil
	}
	if base := c.before(x); base != nil && base.top != nil && bytes.Compare(order, base.top) > 0 {
		return t.ownHolder(c, x, order)
	}
	if t.guessing != nil && c.num < firstProvisional {
		t.guessing.hope(c, x, order)
	}
	return t.find(t.ctx, c, x, order)
}

// want notes that the run that counts is likely to need the holder of a unique key.
func (t *dtx) want(c *coll, x *index, order []byte) {
	t.memory.end(orderSpan(c.num, x.num, order), false, foundEnd{})
	if x.top == nil {
		t.memory.end(indexSpan(c.num, x.num), true, foundEnd{})
	}
}

// learnTop sets the last key of an index, if that was read with the lock.
func (t *dtx) learnTop(c *coll, x *index) error {
	if x.entries == 0 {
		x.top = []byte{}
		return nil
	}
	last, ok := t.known.last(indexSpan(c.num, x.num))
	if !ok || last == nil {
		return nil
	}
	top, _, err := parseEntryKey([]byte{}, last)
	if err != nil {
		return err
	}
	x.top = top
	if top, err = t.ownGreatest(c, x); err == nil && bytes.Compare(top, x.top) > 0 {
		x.top = top
	}
	return err
}
