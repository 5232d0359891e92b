package postgres

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kv"
	"github.com/duskdb/duskdb/storage/internal/kvshared"
)

// Attempt commits in one round trip, if the state is what the server takes it for.
// A failed check divides by zero, which aborts the round trip.
func (s *store) Attempt(ctx context.Context, w *kv.WriteSet, before, after kvshared.Head, c *kvshared.Conditions) error {
	if s.closed.Load() {
		return storage.ErrClosed
	}
	l, err := s.turns.get(ctx)
	if err != nil {
		return again(s.explain(ctx, err))
	}
	t := turn{view: view{s: s, from: s.turns, l: l, begun: true}}
	defer s.impatient(l.session)()
	defer func() { t.Close() }()
	if !l.whole {
		l.queue(begin)
	}
	s.seq++
	rows := sortOut(w)
	t.move(before, after)
	t.replace(rows.stats, c.Stats, after.Version)
	if len(c.None) > 0 {
		l.queue(surelyNone, spanArrays(c.None)...)
	}
	rows.stats = nil // replaced already
	rows.queue(l.conn, after.Version)
	t.finish(s.members.others.Load() > 0, !l.whole)
	if err = l.run(s.life, nil); err == nil {
		s.saw(after.Version)
		return nil
	}
	if l.broken != nil {
		return t.unknown(ctx, s.seq, s.explain(ctx, err))
	}
	return fmt.Errorf("%w: %w", kvshared.ErrMoved, err) // mostly a check that has failed
}

// move queues the statement that takes the place of a commit in the order of all, and
// notes its number for the server. A
// server that is alone meets no claims of others: before another one writes, it makes
// sure that this one has seen it.
func (t *turn) move(before, after kvshared.Head) {
	move := moveFree
	if t.s.Alone() {
		move = moveHead
	}
	t.l.queue(move, int8Value(before.Version), int8Value(after.Version), int8Value(int64(after.Stamp)), []byte(t.s.id), int8Value(t.s.seq))
}

// replace queues statistics that replace those of known versions, two at a time: mostly one
// of them is that of the change log.
func (t *turn) replace(stats []kv.Write, was []kvshared.StatsRow, version int64) {
	known := func(x kv.Write) (num, version []byte) {
		n := binary.BigEndian.Uint32(x.Key[1:])
		i := slices.IndexFunc(was, func(row kvshared.StatsRow) bool { return row.Num == n })
		if i < 0 {
			return int4Value(n), int8Value(0)
		}
		return int4Value(n), int8Value(was[i].Version)
	}
	for ; len(stats) > 1; stats = stats[2:] {
		num, before := known(stats[0])
		other, otherBefore := known(stats[1])
		t.l.queue(moveTwo, num, before, stats[0].Value, int8Value(version), other, otherBefore, stats[1].Value)
	}
	if len(stats) > 0 {
		num, before := known(stats[0])
		t.l.queue(moveStats, num, before, int8Value(version), stats[0].Value)
	}
}
