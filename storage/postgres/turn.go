package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kv"
	"github.com/duskdb/duskdb/storage/internal/kvshared"
)

// turn is the right to commit: a transaction that has the lock of the head.
type turn struct {
	view
	others int64 // living servers beside this one
	txn    int64 // the snapshot transaction that is committed, or 0
	over   bool
	spoke  time.Duration // when the database was sent something, at the earliest
}

// Lock begins a commit.
func (s *store) Lock(ctx context.Context, r *kvshared.Request) (kvshared.Turn, *kvshared.Reply, error) {
	if s.closed.Load() {
		return nil, nil, storage.ErrClosed
	}
	l, err := s.turns.get(ctx)
	if err != nil {
		return nil, nil, again(s.explain(ctx, err))
	}
	t := &turn{view: view{s: s, from: s.turns, l: l, catalog: 1 << 62, begun: true}}
	floor := s.newest.Load()
	defer s.impatient(l.session)()
	t.l.queue(begin)
	t.l.queue(lockHead)
	t.l.queue(countRivals, []byte(s.id))
	before, held, foreign := 3, int64(r.Held), false
	if t.txn = r.Txn; t.txn != 0 {
		t.l.queue(countClaims, []byte(s.id), int8Value(t.txn))
		before++
	}
	reply, err := t.trip(ctx, before, r, func(n int, row [][]byte) {
		switch n {
		case 1:
			t.head = headOf(row)
		case 2:
			t.others, foreign = int64Of(row[0]), row[1][0] != 0
		case 3:
			held -= int64Of(row[0])
		}
	})
	if err == nil {
		err = s.explain(ctx, s.progressed(l.conn, floor, t.head))
	}
	if err != nil {
		if t.l.broken != nil {
			s.drop()
		}
		t.Close()
		return nil, nil, again(err)
	}
	if t.txn != 0 && held != 0 {
		t.Close()
		return nil, nil, fmt.Errorf("the claims of the transaction were removed: %w", storage.ErrConflict)
	}
	reply.Foreign = foreign
	t.spoke = s.members.now()
	return t, reply, nil
}

// Keep lets the database know that the server works, if it has not for a while.
func (t *turn) Keep() {
	if now := t.s.members.now(); now > t.spoke+t.s.opts.Silence/4 && t.l.broken == nil {
		t.spoke = now
		t.l.send()
	}
}

// Lost reports whether the connection is lost, and with it the turn.
func (t *turn) Lost() bool { return t.l.conn != nil && t.l.broken != nil }

// Commit writes everything and commits.
func (t *turn) Commit(ctx context.Context, w *kv.WriteSet, h kvshared.Head) error {
	s := t.s
	rows := sortOut(w)
	rows.queue(t.l.conn, h.Version)
	t.l.queue(writeHead, int8Value(h.Version), int8Value(h.Catalog), int8Value(int64(h.Stamp)), int8Value(int64(h.Numbers)))
	s.seq++
	t.l.queue(writeSeq, []byte(s.id), int8Value(s.seq))
	t.finish(t.others > 0, true)
	err := t.l.run(s.life, nil)
	if err == nil {
		t.over = true
		s.saw(h.Version)
		s.claimants.Delete(t.txn)
		return nil
	}
	err = s.explain(ctx, err)
	if t.l.broken != nil {
		return t.unknown(ctx, s.seq, err)
	}
	return again(err)
}

// finish queues the end of a commit, of a transaction that was begun or of a trip that is
// one.
func (t *turn) finish(others, begun bool) {
	if t.txn != 0 {
		list := newArray(typeInt8, 1, 8)
		list.addInt8(t.txn)
		t.l.queue(dropClaims, []byte(t.s.id), list.value())
	}
	if others && t.s.members.notifies.Load() {
		t.l.queue(notifyOthers, []byte(t.s.members.channel), []byte{})
	}
	if begun {
		t.l.queue(commit)
	}
}

// unknown finds out whether a commit has happened when the connection was lost.
func (t *turn) unknown(ctx context.Context, seq int64, err error) error {
	t.Close()
	t.s.drop()
	if readOnly(err) {
		return again(err) // that was the answer
	}
	if err = t.s.outcome(ctx, seq, err); err == nil {
		t.s.claimants.Delete(t.txn)
	}
	return err
}

// Seen waits until all living servers have seen the commit.
func (t *turn) Seen(ctx context.Context, version int64) {
	if t.others > 0 {
		t.s.members.awaitSeen(ctx, version)
	}
}

// errUnknown says that the outcome of a commit is not known.
var errUnknown = fmt.Errorf("%w, and whether the commit has happened is not known", storage.ErrUnavailable)

// outcome finds out whether a commit has happened whose answer was lost. With the
// lock of the head, the connection that was lost has ended its transaction. It gives up when the
// context ends, or the database is silent.
func (s *store) outcome(ctx context.Context, seq int64, cause error) error {
	var pause storage.Backoff
	for {
		if s.members.silent.Load() {
			return fmt.Errorf("%w: %w", errUnknown, errSilent)
		}
		known, done, err := s.committed(ctx, seq)
		switch {
		case err != nil:
		case !known:
			return fmt.Errorf("%w: the others took this server for gone", errUnknown)
		case done:
			return nil
		default:
			return again(errors.Join(storage.ErrUnavailable, cause))
		}
		select {
		case <-clock.System().After(max(pause.Next(), 20*time.Millisecond)):
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.life.Done():
			return storage.ErrClosed
		}
	}
}

// committed reports whether the commit with a number has happened. That is not known if
// the row of this server was removed since.
func (s *store) committed(ctx context.Context, seq int64) (known, done bool, err error) {
	l, err := s.turns.get(ctx)
	if err != nil {
		return false, false, err
	}
	defer s.turns.put(l)
	defer s.impatient(l.session)()
	floor := s.newest.Load()
	var h kvshared.Head
	l.queue(begin)
	l.queue(lockHead)
	l.queue(readSeq, []byte(s.id))
	l.queue(rollback)
	err = l.run(ctx, func(n int, v [][]byte) error {
		switch n {
		case 1:
			h = headOf(v)
		case 2:
			known, done = int64Of(v[0]) >= 0, int64Of(v[0]) >= seq
		}
		return nil
	})
	if err == nil {
		err = s.progressed(l.conn, floor, h)
	}
	return known, done, err
}

// Close gives the turn up, if it was not used.
func (t *turn) Close() {
	if t.over && !t.ended && t.l.conn != nil {
		t.ended = true
		t.from.put(t.l)
		t.l.conn = nil
		return
	}
	t.view.Close()
}

// rows are the writes of a commit, by their tables.
type rows struct {
	news, sets, dels     []kv.Write
	stats, entries       []kv.Write
	goneStats, goneEntry []uint32
	drops                []kv.Span
}

// sortOut sorts writes by their tables.
func sortOut(w *kv.WriteSet) *rows {
	r := &rows{drops: w.Drops}
	for _, x := range w.Writes {
		switch num := binary.BigEndian.Uint32(x.Key[1:]); {
		case x.Key[0] == 'd' && x.Value == nil:
			r.dels = append(r.dels, x)
		case x.Key[0] == 'd' && w.Fresh != nil && w.Fresh(x.Key):
			r.news = append(r.news, x)
		case x.Key[0] == 'd':
			r.sets = append(r.sets, x)
		case x.Key[0] == 's' && x.Value == nil:
			r.goneStats = append(r.goneStats, num)
		case x.Key[0] == 's':
			r.stats = append(r.stats, x)
		case x.Key[0] == 'c' && x.Value == nil:
			r.goneEntry = append(r.goneEntry, num)
		case x.Key[0] == 'c':
			r.entries = append(r.entries, x)
		}
	}
	return r
}

// What one statement writes at most.
const (
	maxWritten      = 10_000
	maxWrittenBytes = 16 << 20
)

func (r *rows) queue(c *conn, version int64) {
	records(c, r.news, &insertFew, insertKeys, version)
	records(c, r.sets, &writeFew, writeKeys, version)
	parts(r.dels, func(nums, keys, _ array) { c.queue(deleteKeys, nums.value(), keys.value()) })
	for _, d := range r.drops {
		if num, lo := dataKey(d.Lo); len(lo) == 0 {
			c.queue(deleteAll, int4Value(num))
		} else {
			c.queue(deleteRange, int4Value(num), lo, endOf(d))
		}
	}
	parts(r.entries, func(nums, _, values array) { c.queue(writeCatalog, nums.value(), values.value(), int8Value(version)) })
	parts(r.stats, func(nums, _, values array) { c.queue(writeStats, nums.value(), values.value(), int8Value(version)) })
	numbers(c, dropCatalog, r.goneEntry)
	numbers(c, dropStats, r.goneStats)
}

// records queues the writes of records and entries.
func records(c *conn, list []kv.Write, few *[fewRows]*statement, many *statement, version int64) {
	if len(list) == 0 || len(list) > len(few) {
		parts(list, func(nums, keys, values array) {
			c.queue(many, nums.value(), keys.value(), values.value(), int8Value(version))
		})
		return
	}
	args := append(make([][]byte, 0, 1+3*len(few)), int8Value(version))
	for _, x := range list {
		num, rest := dataKey(x.Key)
		args = append(args, int4Value(num), rest, x.Value)
	}
	c.queue(few[len(list)-1], args...)
}

func numbers(c *conn, s *statement, list []uint32) {
	if len(list) == 0 {
		return
	}
	a := newArray(typeInt4, len(list), 4*len(list))
	for _, n := range list {
		a.addInt4(n)
	}
	c.queue(s, a.value())
}

// parts calls fn with the arrays of not too many writes at a time.
func parts(list []kv.Write, fn func(nums, keys, values array)) {
	for len(list) > 0 {
		n, keyBytes, valueBytes := 0, 0, 0
		for n < len(list) && n < maxWritten && keyBytes+valueBytes < maxWrittenBytes {
			keyBytes += len(list[n].Key)
			valueBytes += len(list[n].Value)
			n++
		}
		nums, keys, values := newArray(typeInt4, n, 4*n), newArray(typeBytes, n, keyBytes), newArray(typeBytes, n, valueBytes)
		for _, x := range list[:n] {
			num, rest := dataKey(x.Key)
			nums.addInt4(num)
			keys.add(rest)
			values.add(x.Value)
		}
		fn(nums, keys, values)
		list = list[n:]
	}
}
