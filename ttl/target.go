package ttl

import (
	"context"
	"errors"

	"github.com/duskdb/duskdb/storage"
)

// laneTarget sweeps one lane of a collection.
type laneTarget struct {
	host   Host
	coll   *Collection
	policy Policy
	index  string
}

func (t *laneTarget) Policy() Policy { return t.policy }
func (t *laneTarget) String() string { return t.coll.Namespace.String() + " " + t.index }

// Sweep implements Target. The lane is read anew in each transaction, so
// that a changed policy counts at once.
func (t *laneTarget) Sweep(ctx context.Context, v *Visit) error {
	s := sweep{now: v.Now}
	defer func() { v.Refused = s.refused }()
	if idle, err := t.idle(ctx, &s); idle || err != nil {
		return silent(err)
	}
	for done := false; !done; {
		if t.policy == Document && !v.limits.canPurge() {
			v.Deferred = true
			return nil
		}
		most := v.Batch()
		if most == 0 {
			return nil
		}
		var r Removed
		err := t.host.Update(ctx, t.coll, func(coll storage.Collection, rules *Rules, remove Remover) (err error) {
			l := rules.lane(t.policy, t.index)
			if l == nil {
				return ErrGone
			}
			r, done, err = s.batch(coll, l, most, remove)
			r.moving(rules)
			return err
		})
		if err != nil {
			return silent(err)
		}
		v.Count(r)
		if err := ctx.Err(); err != nil {
			return err
		}
		v.Yield()
	}
	return nil
}

func (t *laneTarget) idle(ctx context.Context, s *sweep) (idle bool, err error) {
	err = t.host.View(ctx, t.coll, func(coll storage.Collection, rules *Rules) (err error) {
		l := rules.lane(t.policy, t.index)
		if l == nil {
			return ErrGone
		}
		idle, err = s.idle(coll, l)
		return err
	})
	return idle, err
}

// harmless are the errors that a pass does not speak of: the collection or
// the index was dropped meanwhile, or an open transaction was in the way: the
// next pass will find what is left.
var harmless = []error{ErrGone, storage.ErrNotFound, storage.ErrNoIndex, storage.ErrConflict}

func silent(err error) error {
	for _, h := range harmless {
		if errors.Is(err, h) {
			return nil
		}
	}
	return err
}

// targets makes a fresh list of what a sub-pass visits, in the order of the
// policies. skipped counts the TTL indexes that expire nothing.
func targets(ctx context.Context, h Host, wanted Set) (list []Target, skipped int, err error) {
	colls, err := h.Collections(ctx)
	if err != nil {
		return nil, 0, err
	}
	var byPolicy [policies][]Target
	for i := range colls {
		c := &colls[i]
		if c.Rules == nil {
			continue
		}
		if wanted.Has(Index) {
			skipped += c.Rules.Skipped
		}
		for k := range c.Rules.Lanes {
			l := &c.Rules.Lanes[k]
			if wanted.Has(l.Policy) {
				byPolicy[l.Policy] = append(byPolicy[l.Policy], &laneTarget{h, c, l.Policy, l.Index})
			}
		}
	}
	if wanted.Has(Message) {
		if byPolicy[Message], err = h.Targets(ctx); err != nil {
			return nil, 0, err
		}
	}
	for _, group := range byPolicy {
		list = append(list, group...)
	}
	return list, skipped, nil
}
