package queue

import (
	"context"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Present converts the stored form of a message to the form for readers that
// do not hold its lock: without the lock and the fields that only the indexes
// read, and, after a lapsed lock, with one more failed delivery.
func Present(d value.Doc, now int64) value.Doc {
	m := decode(storage.Record{Doc: d})
	return m.present(now)
}

func (m *message) present(now int64) value.Doc {
	dead := m.isDead()
	if m.locked && !m.held(now) && !dead {
		m.deliveries++
	}
	return m.encode(browsed, dead)
}

// Touch records that an ordinary command has read a queue, so that the queue
// does not count as idle. It does nothing for other collections.
func (b *Broker) Touch(ctx context.Context, s Store, info *storage.Info, now int64) error {
	if info == nil || !IsQueue(info.Options) {
		return nil
	}
	if DeadLetterOf(info.Options) == "" {
		q := b.queue(info.UUID)
		if c, err := q.configOf(info); err == nil && !c.idle() {
			q.used(now)
			return nil
		}
	}
	return b.update(ctx, s, Ref{Namespace: info.Namespace}, now, func(e *entity) error { return e.used(now) })
}

// Stats are the counts of messages at an instant.
type Stats struct {
	Active, Locked, Deferred, Scheduled int64
	ExpiredPending                      int64 // expired and still stored
	DeadLettered                        int64
	LastActivity                        int64 // 0 if it is unknown
	IdleDeadline                        int64 // 0 if the queue is not deleted
}

// Stats counts the messages of a queue by their state at now, even if the
// stored state is older. Its cost grows with the number of due messages whose
// new state has not been stored.
func (b *Broker) Stats(ctx context.Context, s Store, ref Ref, now int64) (st Stats, err error) {
	err = b.view(ctx, s, ref, now, func(e *entity) error {
		st, err = e.stats()
		return err
	})
	return st, err
}

// stats takes the counts from the sizes of the indexes, corrected for messages
// that are due.
func (e *entity) stats() (st Stats, err error) {
	dead, err := e.deadLetters()
	if err != nil {
		return st, err
	}
	if dead != nil {
		if st.DeadLettered, err = dead.Count(); err != nil {
			return st, err
		}
	}
	for _, c := range []struct {
		index string
		n     *int64
	}{{byReady, &st.Active}, {byLock, &st.Locked}, {byDeferred, &st.Deferred}, {bySchedule, &st.Scheduled}} {
		if e.dead && c.index == bySchedule {
			continue
		}
		i, err := e.coll.IndexStats(c.index)
		if err != nil {
			return st, err
		}
		*c.n = i.Entries
	}
	if err := e.advance(&st); err != nil {
		return st, err
	}
	st.LastActivity, st.IdleDeadline, err = e.idleness()
	return st, err
}

// advance corrects the counts for messages whose state has changed with time
// but has not been stored.
func (e *entity) advance(st *Stats) error {
	err := walk(e.coll, byLock, until(e.now), func(m *message) bool {
		st.Locked--
		e.countLapsed(st, m)
		return true
	})
	if err != nil || e.dead {
		return err
	}
	err = walk(e.coll, bySchedule, until(e.now), func(m *message) bool {
		st.Scheduled--
		if m.expired(e.now) {
			st.ExpiredPending++
		} else {
			st.Active++
		}
		return true
	})
	if err != nil {
		return err
	}
	expired, err := countIn(e.coll, byExpiry, until(e.now))
	st.Active -= expired
	st.ExpiredPending += expired
	return err
}

// countLapsed counts a message with a lapsed lock in its new state.
func (e *entity) countLapsed(st *Stats, m *message) {
	switch {
	case !e.dead && m.expired(m.lockedUntil):
		st.ExpiredPending++
	case !e.dead && m.fail(e.config):
		st.DeadLettered++
	case m.state == deferred:
		st.Deferred++
	case !e.dead && m.expired(e.now):
		st.ExpiredPending++
	default:
		st.Active++
	}
}

// idleness returns the last activity and the instant at which the queue is
// deleted if it stays idle; 0 if it is never deleted.
func (e *entity) idleness() (last, ends int64, err error) {
	l, err := e.numbers()
	if err != nil {
		return 0, 0, err
	}
	last = max(l.activity, e.state.activity.Load())
	if !e.config.idle() || last == 0 {
		return last, 0, nil
	}
	scheduled, err := anyIn(e.main, bySchedule, storage.KeyRange{})
	if err != nil || scheduled {
		return last, 0, err
	}
	return last, after(last, e.config.AutoDeleteOnIdle), nil
}
