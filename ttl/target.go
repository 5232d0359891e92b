package ttl

import (
	"context"
	"errors"

	"github.com/duskdb/duskdb/storage"
)

// indexTarget sweeps one expiry index of a collection.
type indexTarget struct {
	host   Host
	coll   *Collection
	policy Policy
	index  string

	knownDue bool // listing has found something due
}

func (t *indexTarget) Policy() Policy { return t.policy }
func (t *indexTarget) String() string { return t.coll.Namespace.String() + " " + t.index }
func (t *indexTarget) UUID() [16]byte { return t.coll.UUID }

// Sweep implements Target. It reads the rules in each transaction, so that a
// changed policy takes effect at once.
func (t *indexTarget) Sweep(ctx context.Context, v *Visit) error {
	s := sweep{now: v.Now}
	defer func() { v.Refused = s.refused }()
	if !t.knownDue {
		if idle, err := t.idle(ctx, &s); idle || err != nil {
			return silent(err)
		}
	}
	t.knownDue = false // the next visit looks for itself
	for done := false; !done; {
		if t.policy == Document && !v.limits.canPurge() {
			v.Deferred = true
			return nil
		}
		limit := v.Batch()
		if limit == 0 {
			return nil
		}
		var r Removed
		before := s.mark()
		err := t.host.Update(ctx, t.coll, func(coll storage.Collection, rules *Rules, remove Remover) (err error) {
			l := rules.index(t.policy, t.index)
			if l == nil {
				return ErrGone
			}
			s.resume(&before) // the function may run again
			r, done, err = s.batch(coll, l, limit, remove)
			r.moving(rules)
			return err
		})
		if errors.Is(err, storage.ErrConflict) && v.Again() {
			s.resume(&before)
			done = false
			continue
		}
		if err != nil {
			return silent(err)
		}
		v.Count(r)
		v.lags.Add(&s.lags)
		if err := ctx.Err(); err != nil {
			return err
		}
		v.Yield()
		if done && s.busy && v.Again() { // from the beginning, where what was kept is found again
			s.position, v.Removed.Kept = position{}, 0
			done = false
		}
	}
	return nil
}

func (t *indexTarget) idle(ctx context.Context, s *sweep) (idle bool, err error) {
	err = t.host.View(ctx, t.coll, func(coll storage.Collection, rules *Rules) (err error) {
		l := rules.index(t.policy, t.index)
		if l == nil {
			return ErrGone
		}
		idle, err = s.idle(coll, l)
		return err
	})
	return idle, err
}

// harmless are the errors that a pass does not log: the collection or the
// index was dropped meanwhile, or an open transaction was in the way, and the
// next pass will find the rest.
var harmless = []error{ErrGone, storage.ErrNotFound, storage.ErrNoIndex, storage.ErrConflict}

func silent(err error) error {
	for _, h := range harmless {
		if errors.Is(err, h) {
			return nil
		}
	}
	return err
}

// targets lists the targets of a sub-pass, in the order of the policies.
// skipped counts the TTL indexes that never expire documents.
func targets(ctx context.Context, h Host, a *Agenda, wanted Set, now int64) (list []Target, skipped int, err error) {
	l, err := h.Collections(ctx, a, now)
	if err != nil {
		return nil, 0, err
	}
	if wanted.Has(Index) {
		skipped = l.Skipped
	}
	var byPolicy [policies][]Target
	for i := range l.Due {
		c := &l.Due[i]
		for k := range c.Rules.Indexes {
			known := c.next != nil
			if x := &c.Rules.Indexes[k]; wanted.Has(x.Policy) && (!known || c.next[k] <= now) {
				byPolicy[x.Policy] = append(byPolicy[x.Policy], &indexTarget{h, c, x.Policy, x.Index, known})
			}
		}
	}
	if wanted.Has(Message) {
		byPolicy[Message] = l.Queues
	}
	for _, group := range byPolicy {
		list = append(list, group...)
	}
	return list, skipped, nil
}
