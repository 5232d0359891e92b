package queue

import (
	"context"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
)

// Selection selects messages of a queue, as they are at an instant.
type Selection struct {
	State  State // "": any, except locked ones
	Before int64 // only messages enqueued before this instant, if HasBefore
	UpTo   int64 // only messages with this sequence number or a lower one, if HasUpTo

	HasBefore, HasUpTo bool
}

// matches reports whether the selection contains a message at an instant.
func (s *Selection) matches(m *message, now int64, dead bool) bool {
	state := m.stateAt(now, dead)
	switch {
	case s.State == "" && state == Locked, s.State != "" && s.State != state:
		return false
	case s.HasBefore && m.enqueued >= s.Before:
		return false
	}
	return !s.HasUpTo || m.number <= s.UpTo
}

// manageBatch limits the messages that one transaction of a purge or of a resubmission
// writes, so that other writers do not wait long.
const manageBatch = 200

// picked is a message that a purge or a resubmission has found in a view.
type picked struct {
	id     storage.RecordID
	number int64
}

// pick finds the first messages of a selection with numbers of at least from, in their
// order, at most n and about maxBytes of them.
func (e *entity) pick(ctx context.Context, s *Selection, from int64, n int) (list []picked, err error) {
	bytes := 0
	r := storage.KeyRange{Lo: numberKey(from)}
	scanErr := e.coll.ScanRecords(byNumber, r, func(_ []byte, rec storage.Record) bool {
		m := decode(rec)
		if err = ctx.Err(); err != nil || s.HasUpTo && m.number > s.UpTo {
			return false
		}
		if s.matches(&m, e.now, e.dead) {
			list = append(list, picked{m.id, m.number})
			bytes += len(rec.Doc)
		}
		return len(list) < n && bytes < maxBytes
	})
	if err == nil {
		err = scanErr
	}
	return list, err
}

// bound limits the selection to the messages that are in the queue now, so that a command
// ends although others send. empty reports that there are no messages.
func (e *entity) bound(s *Selection) (empty bool, err error) {
	newest, err := heads(e.coll, byNumber, storage.KeyRange{Reverse: true}, 1)
	if err != nil || len(newest) == 0 {
		return true, err
	}
	if last := newest[0].number; !s.HasUpTo || s.UpTo > last {
		s.UpTo, s.HasUpTo = last, true
	}
	return false, nil
}

// Count counts the messages of a selection. It is not an activity.
func (b *Broker) Count(ctx context.Context, s Store, ref Ref, sel Selection, now int64) (n int64, err error) {
	err = b.view(ctx, s, ref, now, func(e *entity) error {
		n = 0
		var stopped error
		err := walk(e.coll, byNumber, storage.KeyRange{}, func(m *message) bool {
			if sel.matches(m, now, e.dead) {
				n++
			}
			stopped = ctx.Err()
			return stopped == nil
		})
		if err == nil {
			err = stopped
		}
		return err
	})
	return n, err
}

// Purge removes the messages of a selection that are in the queue when it begins, in
// transactions of a limited number. n counts the removed ones, also if there is an error.
func (b *Broker) Purge(ctx context.Context, s Store, ref Ref, sel Selection, now int64) (n int64, err error) {
	return b.manage(ctx, s, ref, sel, now, func(e *entity, list []picked) (err error) {
		for _, p := range list {
			r, ok, err := e.coll.Get(p.id)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			m := decode(r)
			if m.number != p.number || !sel.matches(&m, now, e.dead) {
				continue // taken or replaced meanwhile
			}
			if err := remove(e.coll, m.id); err != nil {
				return err
			}
			e.out.managed++
		}
		return nil
	})
}

// manage finds the messages of a selection batch by batch, in views that delay nobody,
// and runs fn on each batch in a writing transaction. total is the sum of what the
// transactions counted.
func (b *Broker) manage(ctx context.Context, s Store, ref Ref, sel Selection, now int64, fn func(*entity, []picked) error) (total int64, err error) {
	empty, from := false, int64(0)
	err = b.view(ctx, s, ref, now, func(e *entity) (err error) {
		empty, err = e.bound(&sel)
		return err
	})
	for err == nil && !empty {
		var list []picked
		err = b.view(ctx, s, ref, now, func(e *entity) (err error) {
			list, err = e.pick(ctx, &sel, from, manageBatch)
			return err
		})
		if err != nil || len(list) == 0 {
			break
		}
		done := int64(0)
		err = b.update(ctx, s, ref, now, func(e *entity) error {
			if err := e.used(now); err != nil {
				return err
			}
			err := fn(e, list)
			done = e.out.managed
			return err
		})
		if err == nil {
			total += done
			from = list[len(list)-1].number + 1
		}
	}
	return total, err
}

// ParseState reads the name of a state.
func ParseState(field, name string) (State, error) {
	switch s := State(name); s {
	case Active, Locked, Deferred, Scheduled, DeadLettered:
		return s, nil
	}
	return "", mongoerr.Newf(mongoerr.BadValue, "Enumeration value '%s' for field '%s' is not a valid value.", name, field)
}
