package commands

import (
	"context"
	"math"
	"net/netip"
	"strconv"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// The parameters of the limit to how fast connections begin, which keeps a
// storm of clients that connect anew from drowning those that are served.
const (
	establishmentEnabled = "ingressConnectionEstablishmentRateLimiterEnabled"
	establishmentRate    = "ingressConnectionEstablishmentRatePerSec"
	establishmentBurst   = "ingressConnectionEstablishmentBurstCapacitySecs"
	establishmentDepth   = "ingressConnectionEstablishmentMaxQueueDepth"
	establishmentBypass  = "ingressConnectionEstablishmentRateLimiterBypass"
)

func establishmentParameters() []parameter {
	changed := func(s *Service, _ value.Value) {
		rate := float64(s.params.int(establishmentRate))
		s.establishment.setRate(rate, rate*s.params.value(establishmentBurst).AsDouble(), s.real.Now())
	}
	return []parameter{
		{name: establishmentEnabled, initial: value.Bool(false), startup: true, runtime: true, check: checkBool},
		{name: establishmentRate, initial: value.Int32(math.MaxInt32), startup: true, runtime: true, check: checkInt(establishmentRate, 1, math.MaxInt32), onChange: changed},
		{name: establishmentBurst, initial: value.Double(math.MaxFloat64), startup: true, runtime: true, check: checkPositive(establishmentBurst), onChange: changed},
		{
			name: establishmentDepth, initial: value.Int32(0), startup: true, runtime: true, check: checkInt(establishmentDepth, 0, math.MaxInt32),
			onChange: func(s *Service, v value.Value) { s.establishment.setDepth(v.SafeInt64()) },
		},
		{name: establishmentBypass, initial: value.Document(value.NewDoc("ranges", value.NewArray())), startup: true, runtime: true, check: checkRanges},
	}
}

// checkPositive accepts numbers above 0, as doubles.
func checkPositive(name string) func(value.Value) (value.Value, error) {
	return func(v value.Value) (value.Value, error) {
		if !v.IsNumber() {
			return v, mongoerr.Newf(mongoerr.BadValue, "Invalid value for parameter %s: %s is not a number", name, v)
		}
		f := v.AsDouble()
		if !(f > 0) {
			return v, mongoerr.Newf(mongoerr.BadValue, "Invalid value for parameter %s: %s is not greater than 0", name, v)
		}
		return value.Double(f), nil
	}
}

type rangesArgs struct {
	Ranges array `arg:"ranges,required"`
}

var rangesSpec = newArgs[rangesArgs]("ConnectionListParameters")

// checkRanges accepts {ranges: [address, CIDR range or path of a socket]}, and
// writes addresses as the ranges that they are.
func checkRanges(v value.Value) (value.Value, error) {
	if v.Kind() != value.KindDocument {
		return v, mongoerr.Newf(mongoerr.BadValue, "Invalid value for parameter %s: %s is not a document", establishmentBypass, v)
	}
	var a rangesArgs
	if err := rangesSpec.decodeNested("ConnectionListParameters", v.Doc(), &a); err != nil {
		return v, err
	}
	var ranges []value.Value
	for r := range value.Doc(a.Ranges).Values() {
		if r.Kind() != value.KindString {
			return v, wrongType("ConnectionListParameters", "ranges."+strconv.Itoa(len(ranges)), r, "string")
		}
		if p, ok := parseRange(r.Str()); ok {
			r = value.String(p.String())
		}
		ranges = append(ranges, r)
	}
	return value.Document(value.NewDoc("ranges", value.NewArray(ranges...))), nil
}

// parseRange reads a CIDR range, or an address as the range of itself.
func parseRange(s string) (netip.Prefix, bool) {
	if p, err := netip.ParsePrefix(s); err == nil {
		return p, true
	}
	a, err := netip.ParseAddr(s)
	return netip.PrefixFrom(a, a.BitLen()), err == nil
}

// AdmitConnection waits until a new connection may begin, or returns why it
// may not: too many want to, or ctx has ended.
func (s *Service) AdmitConnection(ctx context.Context, c *Conn) error {
	if !s.params.bool(establishmentEnabled) {
		return nil
	}
	if s.bypasses(c) {
		s.establishment.exempt()
		return nil
	}
	return s.establishment.wait(ctx, s.real)
}

// bypasses reports whether the client's address, or the socket that it
// connected to, is exempt.
func (s *Service) bypasses(c *Conn) bool {
	remote, err := netip.ParseAddrPort(c.Remote)
	for r := range s.params.value(establishmentBypass).Doc().Lookup("ranges").Doc().Values() {
		p, ok := parseRange(r.Str())
		if ok && err == nil && p.Contains(remote.Addr().Unmap()) || !ok && r.Str() == c.Local {
			return true
		}
	}
	return false
}

// writeEstablishment writes what serverStatus shows of it among connections.
func (s *Service) writeEstablishment(b *value.Builder) {
	stats, queued, _ := s.establishment.snapshot(s.real.Now())
	b.Int64("queuedForEstablishment", queued)
	b.StartDocument("establishmentRateLimit").Int64("rejected", stats.rejected).Int64("exempted", stats.exempted).
		Int64("interruptedDueToClientDisconnect", stats.hungUp).End()
}

func writeQueues(c *Call, b *value.Builder) {
	b.StartDocument("ingressSessionEstablishment")
	c.svc.establishment.writeQueue(b, c.svc.real.Now())
	b.End()
}
