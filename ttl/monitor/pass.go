package monitor

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

// Result is the result of a pass.
type Result struct {
	At        int64 // the instant it used, milliseconds
	SubPasses int64
	Deferred  bool // a purge gave way to client operations
	Errors    int
	Took      time.Duration
	ByPolicy  [ttl.NumPolicies]PolicyResult
}

// PolicyResult is the result of a pass for one policy.
type PolicyResult struct {
	ttl.Removed
	Took time.Duration
}

// Of returns what the pass did for a policy.
func (r *Result) Of(p ttl.Policy) PolicyResult { return r.ByPolicy[p] }

func (r *Result) removedAny() bool {
	for i := range r.ByPolicy {
		if r.ByPolicy[i].Any() {
			return true
		}
	}
	return false
}

// Append writes the fields of the reply to runExpirationPass except ok.
func (r *Result) Append(b *value.Builder) {
	messages := r.ByPolicy[ttl.Message]
	b.StartDocument("deleted")
	b.Int64("ttl", r.ByPolicy[ttl.Index].Documents)
	b.Int64("clustered", r.ByPolicy[ttl.Clustered].Documents)
	b.Int64("timeseriesBuckets", r.ByPolicy[ttl.TimeSeries].Documents+r.ByPolicy[ttl.PartialBucket].Documents)
	b.Int64("documentTtl", r.ByPolicy[ttl.Document].Documents)
	b.Int64("messagesDropped", messages.MessagesDropped)
	b.Int64("messagesDeadLettered", messages.MessagesDeadLettered)
	b.Int64("queuesDropped", messages.QueuesDropped)
	b.End().Int64("subPasses", r.SubPasses)
}

// AppendTook writes the duration of the pass, and that of each policy with any
// work.
func (r *Result) AppendTook(b *value.Builder) {
	b.Double("tookMillis", Millis(r.Took))
	b.StartDocument("policyMillis")
	for p := range ttl.NumPolicies {
		if took := r.ByPolicy[p].Took; took > 0 {
			b.Double(p.String(), Millis(took))
		}
	}
	b.End()
}

// Millis converts a duration to milliseconds.
func Millis(d time.Duration) float64 { return float64(d) / 1e6 }

// RunPass runs a pass now, independently of the sleep, and waits for it. It
// implements the command runExpirationPass.
func (m *Monitor) RunPass(ctx context.Context, wanted ttl.Set) (Result, error) {
	if !m.host.Parameters().Enabled {
		return Result{}, mongoerr.New(mongoerr.InvalidOptions, "cannot run an expiration pass while ttlMonitorEnabled is false")
	}
	if m.host.Locked() {
		return Result{}, mongoerr.New(mongoerr.IllegalOperation, "cannot run an expiration pass while fsyncLock is held")
	}
	m.passing.Lock()
	defer m.passing.Unlock()
	return m.pass(ctx, wanted)
}

// pass runs sub-passes until one leaves nothing due. The caller holds passing.
func (m *Monitor) pass(ctx context.Context, wanted ttl.Set) (r Result, err error) {
	p := &pass{m: m, wanted: wanted, params: m.host.Parameters(), failed: map[string]bool{}, kept: map[string]*kept{}}
	p.pacer = newPacer(ctx, m.host, m.real, m.pace, m.batch)
	began := m.real.Now()
	p.result.At = m.clock.NowMillis()
	for more := true; more && err == nil; {
		more, err = p.subPass(ctx)
	}
	p.reportKept()
	p.result.Took = m.real.Now().Sub(began)
	m.metrics.Passes.Add(1)
	m.metrics.PassTimes.Observe(p.result.Took)
	if p.result.Deferred {
		m.metrics.DeferredPasses.Add(1)
	}
	m.ended(p.result)
	m.report(&p.result)
	return p.result, err
}

// pass is the state of a running pass.
type pass struct {
	m      *Monitor
	params Parameters
	wanted ttl.Set
	pacer  *pacer
	failed map[string]bool // targets that had an error
	kept   map[string]*kept
	result Result
}

// subPass visits each target in turn until none has more, or until its time is
// over. more reports whether another sub-pass is needed.
func (p *pass) subPass(ctx context.Context) (more bool, err error) {
	began := p.m.real.Now()
	limit := time.Duration(p.params.SubPassTargetSecs) * time.Second
	list, skipped, err := targets(ctx, p.m.host, &p.m.schedule, p.wanted, p.result.At)
	if err != nil {
		return false, err
	}
	if p.result.SubPasses == 0 {
		p.m.metrics.InvalidTTLIndexSkips.Add(int64(skipped))
	}
	for len(list) > 0 {
		left := list[:0]
		for _, t := range list {
			if err := ctx.Err(); err != nil {
				return false, err
			}
			if p.visit(ctx, t) {
				left = append(left, t)
			}
		}
		list = left
		if p.m.real.Now().Sub(began) >= limit {
			break
		}
	}
	p.result.SubPasses++
	p.m.metrics.SubPasses.Add(1)
	return len(list) > 0, ctx.Err()
}

// visit lets a target remove its expired items, within the limits of one
// visit.
func (p *pass) visit(ctx context.Context, t Target) (more bool) {
	name := t.String()
	if p.failed[name] {
		return false
	}
	began := p.m.real.Now()
	v := &Visit{Now: p.result.At, limits: p.limits(began)}
	p.m.visiting.Store(&Visiting{Target: t, Since: began})
	err := t.Sweep(ctx, v)
	p.m.visiting.Store(nil)
	of := &p.result.ByPolicy[t.Policy()]
	of.Took += p.m.real.Now().Sub(began)
	of.Add(v.Removed)
	p.m.metrics.Count(t.UUID(), t.Policy(), v.Removed)
	p.m.metrics.Lagged(t.Policy(), &v.lags)
	p.result.Deferred = p.result.Deferred || v.Deferred
	if err != nil && ctx.Err() == nil { // a cancelled pass is no error of the target
		p.failed[name] = true
		p.result.Errors++
		p.m.metrics.Errors.Add(1)
		p.m.log.Error().Err(err).Str("policy", t.Policy().String()).Str("target", name).Msg("Error running an expiration job")
		return false
	}
	p.noteKept(name, v)
	return v.More
}

// kept counts the documents of a target that could not be removed. Each sub-pass
// finds them again.
type kept struct {
	max   int64 // the most that one sub-pass has found
	cause error // the error for one of them
}

func (p *pass) noteKept(name string, v *Visit) {
	n := v.keptBefore + v.Removed.Kept
	if n == 0 {
		return
	}
	if p.kept[name] == nil {
		p.kept[name] = &kept{cause: v.Refused}
	}
	k := p.kept[name]
	k.max = max(k.max, n)
}

// reportKept logs a warning for each target with documents that could not be
// removed, with one error as an example.
func (p *pass) reportKept() {
	for _, name := range slices.Sorted(maps.Keys(p.kept)) {
		k := p.kept[name]
		p.m.metrics.Kept.Add(k.max)
		p.m.log.Warn().Str("target", name).Int64("kept", k.max).AnErr("example", k.cause).
			Msg("Expired documents were kept, as they could not be dead-lettered")
	}
}

// limits returns the limits of a visit: those of mongod's parameters for
// batched deletes unless they are switched off, and the condition under which
// a purge may run.
func (p *pass) limits(began time.Time) visitLimits {
	real, host, threshold := p.m.real, p.m.host, p.params.PurgeThreshold
	l := visitLimits{
		batch: p.pacer.batch,
		over:  func() bool { return false },
		yield: p.pacer.yield,
		pause: p.pacer.pause,
		canPurge: func() bool {
			return threshold > 0 && int64(host.ActiveOperations()) < threshold
		},
	}
	if !p.params.BatchDeletes {
		return l
	}
	l.docs = p.params.DeleteTargetDocs
	if ms := p.params.DeleteTargetMS; ms > 0 {
		limit := time.Duration(ms) * time.Millisecond
		l.over = func() bool { return real.Now().Sub(began) >= limit }
	}
	return l
}
