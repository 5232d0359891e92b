package monitor

import (
	"context"
	"errors"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
)

// indexTarget sweeps one expiry index of a collection.
type indexTarget struct {
	host   Host
	coll   *Collection
	policy ttl.Policy
	index  string

	knownDue bool // the listing found something due, and no visit has run since

	began ttl.Sweep // where the next visit goes on: behind what the last one has removed
	kept  int64     // documents before it that could not be removed
}

func (t *indexTarget) Policy() ttl.Policy { return t.policy }
func (t *indexTarget) String() string     { return t.coll.Namespace.String() + " " + t.index }
func (t *indexTarget) UUID() [16]byte     { return t.coll.UUID }

// Namespace implements Target.
func (t *indexTarget) Namespace() storage.Namespace { return t.coll.Namespace }

// Sweep implements Target. It reads the rules in each transaction, so that a
// changed policy takes effect at once. A visit that stops at a limit is the beginning of
// the next one, which does not walk again over what was removed: engines
// keep the entries for a while.
func (t *indexTarget) Sweep(ctx context.Context, v *Visit) error {
	s := t.began.Clone()
	s.Now = v.Now
	v.keptBefore = t.kept
	t.began, t.kept = ttl.Sweep{}, 0
	defer func() {
		v.Refused = s.Refused
		if v.More {
			t.began, t.kept = s, v.keptBefore+v.Removed.Kept
		}
	}()
	if !t.knownDue {
		if idle, err := t.idle(ctx, v.Now); idle || err != nil {
			return silent(err)
		}
	}
	t.knownDue = false // the next visit looks for itself
	for done := false; !done; {
		if t.policy == ttl.Document && !v.limits.canPurge() {
			v.Deferred = true
			return nil
		}
		limit := v.Batch()
		if limit == 0 {
			return nil
		}
		var r ttl.Removed
		before := s.Clone()
		err := t.host.Update(ctx, t.coll, func(coll storage.Collection, rules *ttl.Rules, remove ttl.Remover) (err error) {
			l := rules.Index(t.policy, t.index)
			if l == nil {
				return ErrGone
			}
			s = before.Clone() // the function may run again
			r, done, err = s.Batch(coll, rules, l, limit, remove)
			return err
		})
		if errors.Is(err, storage.ErrConflict) && v.Again() {
			s = before
			done = false
			continue
		}
		if err != nil {
			return silent(err)
		}
		v.Count(r)
		v.lags.Add(&s.Lags)
		if err := ctx.Err(); err != nil {
			return err
		}
		v.Yield()
		if done && s.Busy() && v.Again() { // from the beginning, where what was kept is found again
			s.Restart()
			v.Removed.Kept, v.keptBefore, done = 0, 0, false
		}
	}
	return nil
}

func (t *indexTarget) idle(ctx context.Context, now int64) (idle bool, err error) {
	err = t.host.View(ctx, t.coll, func(coll storage.Collection, rules *ttl.Rules) (err error) {
		l := rules.Index(t.policy, t.index)
		if l == nil {
			return ErrGone
		}
		next, err := l.NextDue(coll)
		idle = err != nil || next > now
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
func targets(ctx context.Context, h Host, sched *Schedule, wanted ttl.Set, now int64) (list []Target, skipped int, err error) {
	l, err := h.Collections(ctx, sched, now)
	if err != nil {
		return nil, 0, err
	}
	if wanted.Has(ttl.Index) {
		skipped = l.Skipped
	}
	var byPolicy [ttl.NumPolicies][]Target
	for i := range l.Due {
		c := &l.Due[i]
		for k := range c.Rules.Indexes {
			if x := &c.Rules.Indexes[k]; wanted.Has(x.Policy) && c.next[k] <= now {
				byPolicy[x.Policy] = append(byPolicy[x.Policy], &indexTarget{host: h, coll: c, policy: x.Policy, index: x.Index, knownDue: true})
			}
		}
	}
	if wanted.Has(ttl.Message) {
		byPolicy[ttl.Message] = l.Queues
	}
	for _, group := range byPolicy {
		list = append(list, group...)
	}
	return list, skipped, nil
}
