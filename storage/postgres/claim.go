package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kv"
	"github.com/duskdb/duskdb/storage/internal/kvshared"
)

// noteFreed is the notification that claims have ended without a commit.
const noteFreed = "freed"

// Claim writes claims and looks at what they are of, in one round trip. If the
// connection is lost, it asks once more: a transaction may claim again what it has.
func (s *store) Claim(ctx context.Context, r *kvshared.ClaimRequest) (granted []bool, same bool, err error) {
	s.claimants.Store(r.Txn, nil)
	granted, same, lost, err := s.claimOnce(ctx, r)
	if lost && ctx.Err() == nil {
		s.drop()
		granted, same, _, err = s.claimOnce(ctx, r)
	}
	for _, got := range granted {
		if got {
			s.metrics.claims.Add(1)
		} else {
			s.metrics.refused.Add(1)
		}
	}
	return granted, same, err
}

func (s *store) claimOnce(ctx context.Context, r *kvshared.ClaimRequest) (granted []bool, same, lost bool, err error) {
	if s.closed.Load() {
		return nil, false, false, storage.ErrClosed
	}
	l, err := s.pool.get(ctx)
	if err != nil {
		return nil, false, false, s.explain(ctx, err)
	}
	defer s.pool.put(l)
	q := claiming{c: l.conn, granted: make([]bool, len(r.Take)), same: true}
	q.take(r.Take, s.id, r.Txn)
	q.unchanged(r.Same, r.Seen)
	q.nothingNew(r.New, r.Seen)
	q.free(r.Free, s.id)
	err = s.explain(ctx, l.run(ctx, func(n int, v [][]byte) error { q.rows[n](v); return nil }))
	if errors.Is(err, kvshared.ErrAgain) { // a deadlock with another transaction that claims
		err = fmt.Errorf("%w: %w", storage.ErrConflict, err)
	}
	return q.granted, q.same && q.missing == 0, l.broken != nil, err
}

// claiming is a trip that claims.
type claiming struct {
	c       *conn
	rows    []func(v [][]byte) // readers of the statements' rows
	granted []bool
	same    bool
	missing int64 // keys that are not as they were
}

func (q *claiming) queue(s *statement, row func(v [][]byte), args ...[]byte) {
	q.c.queue(s, args...)
	q.rows = append(q.rows, row)
}

func (q *claiming) take(list []kvshared.Claim, server string, txn int64) {
	if len(list) == 0 {
		return
	}
	at := make(map[string]int, len(list))
	nums, keys := newArray(typeInt4, len(list), 4*len(list)), newArray(typeBytes, len(list), 0)
	for i, c := range list {
		at[string(int4Value(c.Num))+string(c.Key)] = i
		nums.addInt4(c.Num)
		keys.add(c.Key)
	}
	q.queue(takeClaims, func(v [][]byte) { q.granted[at[string(v[0])+string(v[1])]] = true },
		nums.value(), keys.value(), []byte(server), int8Value(txn))
}

// unchanged looks whether rows are as they were.
func (q *claiming) unchanged(list [][]byte, seen int64) {
	if len(list) == 0 {
		return
	}
	q.missing += int64(len(list))
	q.queue(countSame, func(v [][]byte) { q.missing -= int64Of(v[0]) }, append(keyArrays(list), int8Value(seen))...)
}

// nothingNew looks whether ranges have got new rows.
func (q *claiming) nothingNew(list []kv.Span, seen int64) {
	if len(list) == 0 {
		return
	}
	q.queue(countNewer, func(v [][]byte) { q.missing += int64Of(v[0]) }, append(spanArrays(list), int8Value(seen))...)
}

// free looks whether others have claims.
func (q *claiming) free(list []kvshared.Claim, server string) {
	if len(list) > 0 {
		q.queue(claimedBy, func([][]byte) { q.same = false }, claimRanges(list, server)...)
	}
}

// claimRanges are the parameters of claimedBy.
func claimRanges(list []kvshared.Claim, server string) [][]byte {
	nums, los, his := newArray(typeInt4, len(list), 4*len(list)), newArray(typeBytes, len(list), 0), newArray(typeBytes, len(list), 0)
	for _, c := range list {
		end := append(clone(c.Key), 0)
		if c.All {
			end[len(end)-1] = 0xff // keys go on with the number of a transaction, which is positive
		}
		nums.addInt4(c.Num)
		los.add(c.Key)
		his.add(end)
	}
	return [][]byte{nums.value(), los.value(), his.value(), []byte(server)}
}

// claims asks for the claims of other servers.
func (a *answers) claims(c *conn, list []kvshared.Claim) {
	if len(list) == 0 {
		return
	}
	a.reply.Claimed = make([]bool, len(list))
	c.queue(claimedBy, claimRanges(list, a.server)...)
	a.kinds = append(a.kinds, func(v [][]byte) { a.reply.Claimed[int64Of(v[0])-1] = true })
}

// Release removes the claims of a transaction. What cannot be removed now is swept.
func (s *store) Release(txn int64) {
	s.claimants.Delete(txn)
	s.ending.Lock()
	defer s.ending.Unlock()
	if !s.closed.Load() { // otherwise all claims of the server are removed
		s.work.Go(func() { s.release(txn) })
	}
}

func (s *store) release(txn int64) {
	ctx, end := context.WithTimeout(s.life, statsTime)
	defer end()
	l, err := s.pool.get(ctx)
	if err != nil {
		return
	}
	defer s.pool.put(l)
	_ = s.removeClaims(ctx, l.conn, txn)
}

// removeClaims removes the claims of transactions and tells the other servers.
func (s *store) removeClaims(ctx context.Context, c *conn, txns ...int64) error {
	list := newArray(typeInt8, len(txns), 8*len(txns))
	for _, txn := range txns {
		list.addInt8(txn)
	}
	c.queue(dropClaims, []byte(s.id), list.value())
	if s.members.notifies.Load() && !s.Alone() {
		c.queue(notifyOthers, []byte(s.members.channel), []byte(noteFreed))
	}
	return c.run(ctx, nil)
}

// sweepBeats is the number of beats from one sweep to the next.
const sweepBeats = 5

// sweep removes the claims of transactions that have ended: a claim whose connection
// was lost may have been written after its transaction had released all it knew of.
func (s *store) sweep(ctx context.Context, c *conn) error {
	var ended []int64
	c.queue(selectClaimants, []byte(s.id))
	err := c.run(ctx, func(_ int, v [][]byte) error {
		txn := int64Of(v[0])
		if _, open := s.claimants.Load(txn); !open { // it was noted before its claims
			ended = append(ended, txn)
		}
		return nil
	})
	if err != nil || len(ended) == 0 {
		return err
	}
	return s.removeClaims(ctx, c, ended...)
}
