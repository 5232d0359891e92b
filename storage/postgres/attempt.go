package postgres

import (
	"context"
	"encoding/binary"
	"fmt"

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
	l.queue(writeSeq, []byte(s.id), int8Value(s.seq))
	if len(c.None) > 0 {
		l.queue(surelyNone, spanArrays(c.None)...)
	}
	rows.stats = nil // replaced already
	rows.queue(l.conn, after.Version)
	t.finish(s.members.others.Load() > 0, !l.whole)
	if err = l.run(ctx, nil); err == nil {
		s.saw(after.Version)
		return nil
	}
	if l.broken != nil {
		return t.unknown(ctx, s.seq, s.explain(ctx, err))
	}
	return fmt.Errorf("%w: %w", kvshared.ErrMoved, err) // mostly a check that has failed
}

// move queues the statement that takes the place of a commit in the order of all. A
// server that is alone meets no claims of others: before another one writes, it makes
// sure that this one has seen it.
func (t *turn) move(before, after kvshared.Head) {
	args := [][]byte{int8Value(before.Version), int8Value(after.Version), int8Value(int64(after.Stamp)), []byte(t.s.id)}
	if t.s.Alone() {
		t.l.queue(moveHead, args[:3]...)
	} else {
		t.l.queue(moveFree, args...)
	}
}

// replace queues statistics that replace those of known versions.
func (t *turn) replace(stats []kv.Write, was []kvshared.StatsRow, version int64) {
	for _, x := range stats {
		num, known := binary.BigEndian.Uint32(x.Key[1:]), int64(0)
		for _, row := range was {
			if row.Num == num {
				known = row.Version
			}
		}
		t.l.queue(moveStats, int4Value(num), int8Value(known), int8Value(version), x.Value)
	}
}
