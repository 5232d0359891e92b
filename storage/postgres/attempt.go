package postgres

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/kv"
)

// Attempt commits in one round trip, if the state is what the server takes it for.
// Each check divides by whether it holds, so that nothing behind it is done.
func (s *store) Attempt(ctx context.Context, w *kv.WriteSet, before, after kv.Head, c *kv.Conditions) error {
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
	l.queue(begin)
	s.seq++
	rows := sortOut(w)
	nums, values, vers := replaced(rows.stats, c.Stats)
	l.queue(moveHead, int8Value(before.Version), int8Value(after.Version), int8Value(int64(after.Stamp)), []byte(s.id), int8Value(s.seq),
		nums, values, vers, int8Value(int64(len(rows.stats))))
	checks{l.conn}.all(c)
	rows.stats = nil // replaced already
	rows.queue(l.conn, after.Version)
	t.finish(s.members.others.Load() > 0)
	if err = l.run(ctx, nil); err == nil {
		s.saw(after.Version)
		return nil
	}
	if l.broken != nil {
		return t.unknown(ctx, s.seq, s.explain(ctx, err))
	}
	return fmt.Errorf("%w: %w", kv.ErrMoved, err) // mostly a check that has failed
}

// replaced are the parameters for statistics that replace those of known versions.
func replaced(stats []kv.Write, was []kv.StatsRow) (nums, values, vers []byte) {
	before := make(map[uint32]int64, len(was))
	for _, row := range was {
		before[row.Num] = row.Version
	}
	n, v, b := newArray(typeInt4, len(stats), 4*len(stats)), newArray(typeBytes, len(stats), 64*len(stats)), newArray(typeInt8, len(stats), 8*len(stats))
	for _, x := range stats {
		num := binary.BigEndian.Uint32(x.Key[1:])
		n.addInt4(num)
		v.add(x.Value)
		b.addInt8(before[num])
	}
	return n.value(), v.value(), b.value()
}

// checks queues the statements that make sure of conditions.
type checks struct{ c *conn }

func (q checks) all(c *kv.Conditions) {
	q.same(c.Same)
	q.none(c.None)
	for _, r := range c.Ranges {
		num, lo := dataKey(r.Lo)
		q.c.queue(surelyRange, int4Value(num), lo, endOf(r.Span), int8Value(r.Rows), int8Value(r.Seen))
	}
}

func (q checks) same(list []kv.Point) {
	if len(list) == 0 {
		return
	}
	q.c.queue(surelySame, append(pointArrays(list), int8Value(int64(len(list))))...)
}

func (q checks) none(list []kv.Span) {
	if len(list) == 0 {
		return
	}
	q.c.queue(surelyNone, spanArrays(list)...)
}
