package kernel

import (
	"context"
	"math"
	"net/netip"

	"github.com/duskdb/duskdb/commands/limits"
	"github.com/duskdb/duskdb/value"
)

// EstablishmentParameters are the parameters that limit how fast connections begin.
func EstablishmentParameters() []Parameter {
	changed := func(s *Service, _ value.Value) {
		rate := float64(s.Params.Int(limits.EstablishmentRate))
		s.establishment.SetRate(rate, rate*s.Params.Value(limits.EstablishmentBurst).AsDouble(), s.Real.Now())
	}
	return []Parameter{
		{Name: limits.EstablishmentEnabled, Initial: value.Bool(false), Startup: true, Runtime: true, Check: CheckBool},
		{Name: limits.EstablishmentRate, Initial: value.Int32(math.MaxInt32), Startup: true, Runtime: true, Check: CheckInt(limits.EstablishmentRate, 1, math.MaxInt32), OnChange: changed},
		{Name: limits.EstablishmentBurst, Initial: value.Double(math.MaxFloat64), Startup: true, Runtime: true, Check: limits.CheckPositive(limits.EstablishmentBurst), OnChange: changed},
		{
			Name: limits.EstablishmentDepth, Initial: value.Int32(0), Startup: true, Runtime: true, Check: CheckInt(limits.EstablishmentDepth, 0, math.MaxInt32),
			OnChange: func(s *Service, v value.Value) { s.establishment.SetDepth(v.SafeInt64()) },
		},
		{Name: limits.EstablishmentBypass, Initial: value.Document(value.NewDoc("ranges", value.NewArray())), Startup: true, Runtime: true, Check: limits.CheckRanges},
	}
}

// AdmitConnection waits until a new connection may begin. It returns an error if too many
// connections wait, or if ctx has ended.
func (s *Service) AdmitConnection(ctx context.Context, c *Conn) error {
	if !s.Params.Bool(limits.EstablishmentEnabled) {
		return nil
	}
	if s.bypasses(c) {
		s.establishment.Exempt()
		return nil
	}
	return s.establishment.Wait(ctx, s.Real)
}

// bypasses reports whether the client's address, or the socket that it
// connected to, is exempt.
func (s *Service) bypasses(c *Conn) bool {
	remote, err := netip.ParseAddrPort(c.Remote)
	for r := range s.Params.Value(limits.EstablishmentBypass).Doc().Lookup("ranges").Doc().Values() {
		p, ok := limits.ParseRange(r.Str())
		if ok && err == nil && p.Contains(remote.Addr().Unmap()) || !ok && r.Str() == c.Local {
			return true
		}
	}
	return false
}

// WriteEstablishment writes the counters of the limit for serverStatus.connections.
func (s *Service) WriteEstablishment(b *value.Builder) {
	stats, queued, _ := s.establishment.Snapshot(s.Real.Now())
	b.Int64("queuedForEstablishment", queued)
	b.StartDocument("establishmentRateLimit").Int64("rejected", stats.Rejected).Int64("exempted", stats.Exempted).
		Int64("interruptedDueToClientDisconnect", stats.HungUp).End()
}

// WriteQueues writes the section queues of serverStatus.
func WriteQueues(c *Call, b *value.Builder) {
	b.StartDocument("ingressSessionEstablishment")
	c.Svc.establishment.WriteQueue(b, c.Svc.Real.Now())
	b.End()
}
