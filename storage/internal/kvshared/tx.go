package kvshared

import (
	"bytes"
	"context"
	"fmt"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kv"
)

// phase is what a transaction of several servers is for.
type phase uint8

const (
	viewing    phase = iota
	holding          // a snapshot transaction
	dryRunning       // the first run of an Update, to learn what it reads
	committing       // the run that counts
)

// tx is a transaction over a store that other servers use, too.
type tx struct {
	kv.Tx
	engine  *Engine
	catalog *catalog // the collections that the transaction knows
	phase   phase
	state   Snapshot            // the state that it reads
	exact   map[uint32]*kv.Coll // collections whose statistics were read, by their numbers

	// Of a run that collects reads:
	reads       *readSet // what it has read
	assumeNew   bool     // unique keys are taken to be new
	approximate bool     // the statistics in memory are taken to be near the present ones
	unverified  bool     // it has used what may be outdated
	lastStamp   uint64   // the last stamp that it has given

	// Of a run that counts:
	turn       Turn                // the right to commit; nil without the lock
	cached     *cachedState        // what it reads
	head       Head                // as it will be after the commit
	stats      map[uint32]StatsRow // the statistics that were read with the lock
	optimistic *optimism           // the conditions of a commit without the lock; nil with it
	awaitSeen  func()              // waits until other servers have seen the commit; may be nil

	// Of a snapshot transaction:
	claims *claimSet // its claims
}

var _ kv.ClusterTx = (*tx)(nil)

// clusterTx is what a transaction of this engine has beside those of others.
func clusterTx(t *kv.Tx) *tx { return t.Cluster.(*tx) }

// alone reports whether there are no other servers.
func (t *tx) alone() bool { return t.engine.store.Alone() }

// Working tells the store that the server that has the lock is alive.
func (t *tx) Working() {
	if t.turn != nil {
		t.turn.Keep()
	}
}

// Estimates reports whether other servers may have changed statistics.
func (t *tx) Estimates() bool { return !t.alone() }

// AnyLastID reports whether the run only assumes the last ids of collections.
func (t *tx) AnyLastID() bool { return t.phase == dryRunning && t.assumeNew }

// CheckCatalog makes sure that the catalog is that of the state that will be read.
func (t *tx) CheckCatalog() error {
	if t.phase == committing {
		return nil
	}
	if _, begun := t.state.Head(); begun || t.sure() {
		return nil
	}
	_, err := t.state.Read(t.Ctx, &Request{})
	return err
}

// sure reports whether the catalog in memory is certainly the latest.
func (t *tx) sure() bool {
	if !t.engine.store.Current() {
		return false
	}
	now := t.engine.known.catalog.Load()
	return now != nil && now.version == t.catalog.version
}

// Exact returns a collection with its exact statistics.
func (t *tx) Exact(c *kv.Coll) (*kv.Coll, error) {
	if d := t.exact[c.Num]; d != nil && d.Info == c.Info {
		return d, nil
	}
	d, err := t.load(c)
	if err != nil || d == c {
		return d, err
	}
	if t.exact == nil {
		t.exact = map[uint32]*kv.Coll{}
	}
	t.exact[c.Num] = d
	return d, nil
}

// provisionalIDs is how far the ids of a dry run are from those that it knows.
const provisionalIDs = 1 << 40

func (t *tx) load(c *kv.Coll) (*kv.Coll, error) {
	if t.phase == dryRunning {
		t.reads.stat(c.Num)
	}
	if t.phase == dryRunning && (t.assumeNew || t.approximate) {
		t.unverified = true
		if t.alone() {
			return c, nil
		}
		d, err := c.WithStats(c.Stamp, nil)
		if err == nil {
			d.LastID += provisionalIDs // apart from what others may have inserted
		}
		return d, err
	}
	if t.optimistic != nil {
		t.optimistic.stat(c.Num)
		return c, nil
	}
	if row, ok := t.stats[c.Num]; ok {
		if row.Version == int64(c.Stamp) {
			return c, nil // what is known is exact
		}
		return c.WithStats(uint64(row.Version), row.Row)
	}
	return loadFrom(t.Ctx, t.state, c)
}

// loadFrom reads the statistics of a collection.
func loadFrom(ctx context.Context, from Snapshot, c *kv.Coll) (*kv.Coll, error) {
	reply, err := from.Read(ctx, &Request{Stats: []uint32{c.Num}})
	if err != nil {
		return nil, err
	}
	if len(reply.Stats) == 0 {
		return nil, fmt.Errorf("there are no statistics of %s", c.Info.Namespace)
	}
	return c.WithStats(uint64(reply.Stats[0].Version), reply.Stats[0].Row)
}

// Holder returns the record that has an Order in a unique index, or 0. A dry run may take a
// key for new, and let the run that counts find out.
func (t *tx) Holder(c *kv.Coll, x *kv.Index, order []byte) (storage.RecordID, error) {
	if t.phase == dryRunning {
		if c.Num < firstProvisional && (!t.assumeNew || x.MaxKey == nil || bytes.Compare(order, x.MaxKey) <= 0 || !t.alone()) {
			t.want(c, x, order)
		}
		if !t.assumeNew {
			return t.Find(t.Ctx, c, x, order)
		}
		return t.OwnHolder(c, x, order)
	}
	if x.MaxKey == nil && t.phase == committing {
		if err := t.learnTop(c, x); err != nil {
			return 0, err
		}
	}
	if x.MaxKey != nil && bytes.Compare(order, x.MaxKey) > 0 {
		return 0, nil
	}
	if base := c.IndexBefore(x); base != nil && base.MaxKey != nil && bytes.Compare(order, base.MaxKey) > 0 {
		return t.OwnHolder(c, x, order)
	}
	if t.optimistic != nil && c.Num < firstProvisional {
		t.assumeFree(c, x, order)
	}
	return t.Find(t.Ctx, c, x, order)
}

// want notes that the run that counts is likely to need the holder of a unique key.
func (t *tx) want(c *kv.Coll, x *kv.Index, order []byte) {
	t.reads.end(kv.OrderSpan(c.Num, x.Num, order), false, readEnd{})
	if x.MaxKey == nil {
		t.reads.end(kv.IndexSpan(c.Num, x.Num), true, readEnd{})
	}
}

// learnTop sets the last key of an index, if that was read with the lock.
func (t *tx) learnTop(c *kv.Coll, x *kv.Index) error {
	if x.Entries == 0 {
		x.MaxKey = []byte{}
		return nil
	}
	last, ok := t.cached.last(kv.IndexSpan(c.Num, x.Num))
	if !ok || last == nil {
		return nil
	}
	top, _, err := kv.ParseEntryKey([]byte{}, last)
	if err != nil {
		return err
	}
	x.MaxKey = top
	if top, err = t.OwnMaxKey(c, x); err == nil && bytes.Compare(top, x.MaxKey) > 0 {
		x.MaxKey = top
	}
	return err
}
