package kv

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/duskdb/duskdb/storage"
)

// phase is what a transaction of a shared engine does.
type phase uint8

const (
	viewing    phase = iota
	holding          // a snapshot transaction
	drafting         // the first run of an Update, to learn what it reads
	committing       // the run that counts, under the lock
)

// distant is what a transaction over a shared store has beside the others.
type distant struct {
	phase  phase
	snap   SharedSnapshot
	memory *memory             // of a draft
	turn   Turn                // when committing
	known  *recalled           // when committing
	head   Head                // when committing: as it will be
	stats  map[uint32]StatsRow // when committing: what was read
	exact  map[uint32]*coll    // whose statistics were read
	e      *Shared
	cat    *catalog // that the transaction knows
	guess  bool     // a draft has used what may be outdated
	hope   bool     // a draft takes unique keys for new
	rough  bool     // a draft takes the statistics in memory, more or less, for the present ones
	mark   uint64   // of a draft: the last stamp that it has given
	far    *far     // of a snapshot transaction

	guessing *guess // of a commit without the lock
}

// alone reports whether there are no other servers.
func (f *distant) alone() bool { return f.e.store.Alone() }

// sure reports whether the catalog in memory is certainly the latest.
func (f *distant) sure() bool {
	if !f.e.store.Current() {
		return false
	}
	now := f.e.known.Load()
	return now != nil && now.version == f.cat.version
}

// newIndex makes an index without entries. Over a shared store each entry is a row
// whose key ends with the id of its record, so that one statement follows it.
func (t *tx) newIndex(maker storage.Index) *index {
	x := newIndex(t.number(), maker)
	x.single = x.single && t.distant == nil
	return x
}

// fresh makes sure that the catalog is that of the state that will be read.
func (t *tx) fresh() error {
	if t.distant == nil || t.distant.phase == committing {
		return nil
	}
	if _, begun := t.distant.snap.Head(); begun || t.distant.sure() {
		return nil
	}
	_, err := t.distant.snap.Read(t.ctx, &Request{})
	return err
}

// loaded returns a collection with its exact statistics.
func (t *tx) loaded(c *coll) (*coll, error) {
	if t.distant == nil || !c.bare {
		return c, nil
	}
	if d := t.distant.exact[c.num]; d != nil && d.info == c.info {
		return d, nil
	}
	d, err := t.distant.load(t.ctx, c)
	if err != nil || d == c {
		return d, err
	}
	if t.distant.exact == nil {
		t.distant.exact = map[uint32]*coll{}
	}
	t.distant.exact[c.num] = d
	return d, nil
}

// guessedIDs is how far the ids of a draft are from those that it knows.
const guessedIDs = 1 << 40

func (f *distant) load(ctx context.Context, c *coll) (*coll, error) {
	if f.phase == drafting {
		f.memory.stat(c.num)
	}
	if f.phase == drafting && (f.hope || f.rough) {
		f.guess = true
		if f.alone() {
			return c, nil
		}
		d, err := c.exactly(StatsRow{Version: int64(c.stamp)})
		if err == nil {
			d.lastID += guessedIDs // apart from what others may have inserted
		}
		return d, err
	}
	if f.guessing != nil {
		f.guessing.stat(c.num)
		return c, nil
	}
	if row, ok := f.stats[c.num]; ok {
		if row.Version == int64(c.stamp) {
			return c, nil // what is known is exact
		}
		return c.exactly(row)
	}
	return c.loadFrom(ctx, f.snap)
}

// loadFrom reads the statistics of a collection.
func (c *coll) loadFrom(ctx context.Context, from SharedSnapshot) (*coll, error) {
	reply, err := from.Read(ctx, &Request{Stats: []uint32{c.num}})
	if err != nil {
		return nil, err
	}
	if len(reply.Stats) == 0 {
		return nil, fmt.Errorf("there are no statistics of %s", c.info.Namespace)
	}
	return c.exactly(reply.Stats[0])
}

// exactly returns a copy with the statistics of a row. If that is not newer than
// what is known, more is known.
func (c *coll) exactly(row StatsRow) (*coll, error) {
	d := c.clone(nil)
	d.bare = false
	if row.Version == int64(c.stamp) {
		return d, nil
	}
	for _, x := range d.indexes {
		x.top = nil
	}
	d.stamp = uint64(row.Version)
	return d, d.readStats(row.Row)
}

// want notes that a draft is likely to need the holder of a unique key.
func (f *distant) want(c *coll, x *index, order []byte) {
	lo := appendEscaped(appendIndexPrefix(nil, c.num, x.num), order)
	f.memory.end(Span{Lo: lo, Hi: after(lo)}, false, foundEnd{})
	if x.top == nil {
		f.memory.end(indexSpan(c.num, x.num), true, foundEnd{})
	}
}

// holderFar is holder over a shared store. A draft may take a key for new, and let
// the run that counts find out.
func (t *tx) holderFar(c *coll, x *index, order []byte) (storage.RecordID, error) {
	if t.distant.phase == drafting {
		if c.num < firstProvisional && !(t.distant.hope && x.top != nil && bytes.Compare(order, x.top) > 0 && t.distant.alone()) {
			t.distant.want(c, x, order)
		}
		if !t.distant.hope {
			return t.find(t.ctx, c, x, order)
		}
		own := reader{snap: nothing{}, over: t.over}
		return own.find(t.ctx, c, x, order)
	}
	if x.top == nil && t.distant.phase == committing {
		if x.entries == 0 {
			x.top = []byte{}
		} else if last, ok := t.distant.known.last(indexSpan(c.num, x.num)); ok && last != nil {
			top, _, err := parseEntry([]byte{}, last[entryPrefix:])
			if err != nil {
				return 0, err
			}
			x.top = top
			if top, err = t.over.greatest(c, x); err != nil {
				return 0, err
			}
			if bytes.Compare(top, x.top) > 0 {
				x.top = top
			}
		}
	}
	if x.top != nil && bytes.Compare(order, x.top) > 0 {
		return 0, nil
	}
	own := reader{snap: nothing{}, over: t.over}
	if base := c.before(x); base != nil && base.top != nil && bytes.Compare(order, base.top) > 0 {
		return own.find(t.ctx, c, x, order)
	}
	if g := t.distant.guessing; g != nil && c.num < firstProvisional {
		g.hope(c, x, order)
	}
	return t.find(t.ctx, c, x, order)
}

// before is an index as it was before the transaction, or nil.
func (c *coll) before(x *index) *index {
	if c.change == nil || c.change.base == nil {
		return nil
	}
	for _, y := range c.change.base.indexes {
		if y.num == x.num {
			return y
		}
	}
	return nil
}

// greatest is the key of the last entry of an index among the writes.
func (o *overlay) greatest(c *coll, x *index) ([]byte, error) {
	return reader{snap: nothing{}, over: o}.greatest(context.Background(), c, x)
}

// nothing is a state without any keys.
type nothing struct{}

func (nothing) Get(context.Context, []byte) ([]byte, error) { return nil, nil }

func (nothing) GetMany(context.Context, [][]byte, func(int, []byte) bool) error { return nil }

func (nothing) Scan(context.Context, []byte, []byte, bool) Iterator { return noRows{} }

func (nothing) Close() {}

type noRows struct{}

func (noRows) Next() bool { return false }

func (noRows) Key() []byte { return nil }

func (noRows) Value() ([]byte, error) { return nil, nil }

func (noRows) Close() error { return nil }

// findFar returns the first record with a key in one round trip, if nothing that
// the transaction has written comes between.
func (r reader) findFar(ctx context.Context, j joiner, c *coll, x *index, key []byte) (rec storage.Record, found, done bool, err error) {
	lo := appendEscaped(appendIndexPrefix(nil, c.num, x.num), key)
	s := Span{Lo: lo, Hi: after(lo)}
	if r.over.has(s) {
		return rec, false, false, nil
	}
	entry, stored, err := j.FirstRecord(ctx, s)
	if err != nil || entry == nil {
		return rec, false, true, err
	}
	found_, id, err := parseEntry(nil, entry[entryPrefix:])
	if err != nil || !sameOrder(x.maker, found_, key) {
		return rec, false, true, err
	}
	if own, ok := r.over.get(appendRecordKey(nil, c.num, id)); ok {
		stored = own
	}
	if stored == nil {
		return rec, false, true, errors.New("the record of an index entry is missing")
	}
	rec, err = record(id, stored)
	return rec, err == nil, true, err
}

// firstOf is search over a shared store.
func firstOf(ctx context.Context, j joiner, x *index, s Span, prefix int, key []byte) (storage.RecordID, error) {
	first, err := j.First(ctx, s)
	if err != nil || first == nil {
		return 0, err
	}
	found, id, err := parseEntry(nil, first[prefix:])
	if err != nil || !sameOrder(x.maker, found, key) {
		return 0, err
	}
	return id, nil
}

// scanFar walks index entries with their records, which are read together.
func (r reader) scanFar(ctx context.Context, j joiner, c *coll, rg storage.KeyRange, s Span, fn func(key []byte, r storage.Record) bool) error {
	it := j.ScanRecords(ctx, s, rg.Reverse, rg.AfterKey != nil || rg.AfterID != 0, r.expecting(rg.Wanted, c).hint)
	var buf []byte
	var err error
	for err == nil && it.Next() {
		var stored []byte
		key, id, perr := parseEntry(buf[:0], it.Key()[entryPrefix:])
		if buf, err = key, perr; err != nil {
			break
		}
		if stored, err = it.Value(); err != nil || stored == nil {
			continue
		}
		var rec storage.Record
		if rec, err = record(id, stored); err == nil && !fn(key, rec) {
			break
		}
	}
	return errors.Join(err, it.Close())
}
