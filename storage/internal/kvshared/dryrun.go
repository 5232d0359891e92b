package kvshared

import (
	"context"

	"github.com/duskdb/duskdb/storage/internal/kv"
	"github.com/duskdb/duskdb/value"
)

// dryRun is what a run without the right to commit needs, in one piece of memory.
type dryRun struct {
	tx      tx
	state   kv.State
	scratch kv.Scratch
	reads   readSet
}

// dryRun runs fn without the right to commit. done says that this was all: it has
// written nothing.
func (e *Engine) dryRun(ctx context.Context, replays *kv.Txn, assumeNew bool, fn func(*kv.Tx) error) (reads *readSet, done bool, err error) {
	reads, done, err = e.dryRunWith(ctx, &e.lookups, replays, assumeNew, fn)
	if done && reads.cached { // no commit makes sure of what it has read
		return e.dryRunWith(ctx, nil, replays, assumeNew, fn)
	}
	return reads, done, err
}

func (e *Engine) dryRunWith(ctx context.Context, known *lookupCache, replays *kv.Txn, assumeNew bool, fn func(*kv.Tx) error) (m *readSet, done bool, err error) {
	brief := replays == nil
	err = e.withCatalog(ctx, func(cat *catalog) (Snapshot, error, error) {
		snap := e.store.Snapshot(cat.version, brief)
		brief = false
		d := &dryRun{}
		m = &d.reads
		from := recordingState{remoteState{snap}, m, known, e.store.Alone()}
		d.tx = tx{engine: e, phase: dryRunning, state: snap, catalog: cat, reads: m, assumeNew: assumeNew, approximate: replays != nil && !replays.ComparesStats}
		d.state.Init(cat.root, from)
		t := &d.tx
		t.Init(ctx, &e.common, &d.state, t)
		t.MakeWritable(&d.scratch)
		defer t.End()
		t.Replays = replays
		m.replaying(replays)
		if err := from.readAhead(ctx, replays); err != nil {
			return snap, err, nil
		}
		err := fn(&t.Tx)
		if done = t.Touched() == 0 && !t.unverified; done {
			return snap, err, t.CheckCatalog()
		}
		return snap, nil, nil
	})
	return m, done, err
}

// recordingState is the state that a dry run reads: it remembers what is read.
type recordingState struct {
	remoteState
	reads   *readSet
	lookups *lookupCache // where it looks before it asks the store; may be nil
	alone   bool         // there are no other servers
}

var _ kv.Joiner = recordingState{}

func (d recordingState) version() int64 {
	h, _ := d.Head()
	return h.Version
}

func (d recordingState) Get(ctx context.Context, key []byte) ([]byte, error) {
	if known, ok := d.reads.points[string(key)]; ok && known.version > 0 {
		return known.value, nil
	}
	v, err := d.remoteState.Get(ctx, key)
	if err == nil {
		d.reads.point(key, v, d.version())
	}
	return v, err
}

func (d recordingState) GetMany(ctx context.Context, keys [][]byte, fn func(i int, value []byte) bool) error {
	next := 0
	absent := func(end int) {
		for ; next < end; next++ {
			d.reads.point(keys[next], nil, d.version())
		}
	}
	stopped := false
	err := d.remoteState.GetMany(ctx, keys, func(i int, v []byte) bool {
		absent(i)
		d.reads.point(keys[i], v, d.version())
		next = i + 1
		stopped = !fn(i, v)
		return !stopped
	})
	if err == nil && !stopped {
		absent(len(keys))
	}
	return err
}

func (d recordingState) First(ctx context.Context, s kv.Span) ([]byte, error) {
	if known, ok := d.reads.ends[endKey{string(s.Lo), string(s.Hi), false}]; ok && known.version > 0 {
		return known.key, nil
	}
	key, err := d.remoteState.First(ctx, s)
	if err == nil {
		d.reads.end(s, false, readEnd{key, d.version()})
	}
	return key, err
}

func (d recordingState) FirstRecord(ctx context.Context, s kv.Span, unique bool) (key, record []byte, err error) {
	if unique && d.lookups != nil {
		if f, version := d.lookups.get(s); f != nil {
			d.reads.cached = true
			d.reads.end(s, false, readEnd{f.entry, version})
			d.reads.point(value.StringView(f.record), f.value, version)
			return f.entry, f.value, nil
		}
	}
	key, record, err = d.remoteState.FirstRecord(ctx, s, unique)
	if err == nil {
		d.found(s, key, record, unique)
	}
	return key, record, err
}

// found notes the first entry of a range, or that there is none, and its record.
func (d recordingState) found(s kv.Span, entry, record []byte, unique bool) {
	d.reads.end(s, false, readEnd{entry, d.version()})
	if entry == nil {
		return
	}
	d.reads.point(kv.RecordKeyOf(entry), record, d.version())
	if !unique || d.lookups == nil {
		return
	}
	d.lookups.guesses.note(s, entry)
	if d.alone { // others may write what is written often here
		d.lookups.putAgain(s, entry, record, d.version())
	}
}

func (d recordingState) Scan(ctx context.Context, lo, hi []byte, reverse bool) kv.Iterator {
	return d.record(newPager(ctx, d.Snapshot, Page{Span: kv.Span{Lo: lo, Hi: hi}, Reverse: reverse}))
}

func (d recordingState) ScanRecords(ctx context.Context, s kv.Span, reverse, resumed bool, h kv.ScanHint) kv.Iterator {
	return d.record(newPager(ctx, d.Snapshot, joinedPage(s, reverse, resumed, h)))
}

func (d recordingState) ScanSome(ctx context.Context, s kv.Span, reverse bool, h kv.ScanHint) kv.Iterator {
	return d.record(newPager(ctx, d.Snapshot, Page{Span: s, Reverse: reverse, Wanted: h.Rows, Size: h.RowSize}))
}

func (d recordingState) record(p *pager) *pager {
	r := d.reads.newRange(p.page)
	p.onPage = func(rows []KV, more bool) {
		for _, row := range rows {
			d.reads.bytes += len(row.Key) + len(row.Value) + 64
			if r.page.Joined {
				d.reads.point(kv.RecordKeyOf(row.Key), row.Value, d.version())
			}
		}
		r.rows, r.more, r.version = append(r.rows, rows...), more, d.version()
	}
	return p
}
