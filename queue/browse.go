package queue

import (
	"context"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Present turns the stored form of a message into what a reader sees who
// does not hold it: without the lock and the fields that only the indexes
// read, and with the failed delivery that a lapsed lock means.
func Present(d value.Doc, now int64) value.Doc {
	m := decode(storage.Record{Doc: d})
	return m.present(now)
}

func (m *message) present(now int64) value.Doc {
	dead := m.source != ""
	if m.locked && !m.held(now) && !dead {
		m.deliveries++
	}
	return m.encode(browsed, dead)
}

// Peek browses messages in the order of their numbers, whatever their state,
// from a number on.
func (b *Broker) Peek(ctx context.Context, s Store, ref Ref, from int64, n int, now int64) (docs []value.Doc, err error) {
	idle := false
	err = b.view(ctx, s, ref, now, func(e *entity) error {
		e.live.used(now)
		idle = e.config.idle()
		messages, err := heads(e.coll, byNumber, storage.KeyRange{Lo: numberKey(from)}, n)
		bytes := 0
		for i := range messages {
			d := messages[i].present(now)
			docs = append(docs, d)
			if bytes += len(d); bytes > maxBytes {
				break
			}
		}
		return err
	})
	if err == nil && idle {
		err = b.update(ctx, s, ref, now, func(e *entity) error { return e.used(now) })
	}
	return docs, err
}

// Touch notes that a queue has been read by an ordinary command, which keeps
// it from being deleted for idleness. It does nothing for other collections.
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

// Stats are numbers of messages at an instant.
type Stats struct {
	Active, Locked, Deferred, Scheduled int64
	ExpiredPending                      int64 // expired and still stored
	DeadLettered                        int64
	LastActivity                        int64 // 0 if it is not known
	IdleDeadline                        int64 // 0 if the queue is not deleted
}

// Stats counts the messages of a queue as they stand now, whatever has been
// written down of it. It costs what is due and not written down.
func (b *Broker) Stats(ctx context.Context, s Store, ref Ref, now int64) (st Stats, err error) {
	err = b.view(ctx, s, ref, now, func(e *entity) error {
		st, err = e.stats()
		return err
	})
	return st, err
}

func (e *entity) stats() (st Stats, err error) {
	dead, err := e.deadLetters()
	if err != nil {
		return st, err
	}
	st.DeadLettered = dead.Count()
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

// advance corrects the numbers by what time has done since it was last
// written down.
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

// countLapsed says where a message with a lapsed lock belongs.
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

// idleness is the last activity and the instant at which the queue is deleted
// unless something happens; 0 if it is not.
func (e *entity) idleness() (last, ends int64, err error) {
	l, err := e.numbers()
	if err != nil {
		return 0, 0, err
	}
	last = max(l.activity, e.live.activity.Load())
	if !e.config.idle() || last == 0 {
		return last, 0, nil
	}
	scheduled, err := anyIn(e.main, bySchedule, storage.KeyRange{})
	if err != nil || scheduled {
		return last, 0, err
	}
	return last, after(last, e.config.AutoDeleteOnIdle), nil
}
