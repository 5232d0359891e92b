package kernel

import (
	"context"
	"math"
	"net/netip"
	"strconv"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// The parameters of the limit to how fast connections begin, which keeps a
// storm of clients that connect anew from drowning those that are served.
const (
	EstablishmentEnabled = "ingressConnectionEstablishmentRateLimiterEnabled"
	EstablishmentRate    = "ingressConnectionEstablishmentRatePerSec"
	EstablishmentBurst   = "ingressConnectionEstablishmentBurstCapacitySecs"
	EstablishmentDepth   = "ingressConnectionEstablishmentMaxQueueDepth"
	EstablishmentBypass  = "ingressConnectionEstablishmentRateLimiterBypass"
)

func establishmentParameters() []Parameter {
	changed := func(s *Service, _ value.Value) {
		rate := float64(s.Params.Int(EstablishmentRate))
		s.Establishment.SetRate(rate, rate*s.Params.Value(EstablishmentBurst).AsDouble(), s.Real.Now())
	}
	return []Parameter{
		{Name: EstablishmentEnabled, initial: value.Bool(false), Startup: true, Runtime: true, check: checkBool},
		{Name: EstablishmentRate, initial: value.Int32(math.MaxInt32), Startup: true, Runtime: true, check: checkInt(EstablishmentRate, 1, math.MaxInt32), onChange: changed},
		{Name: EstablishmentBurst, initial: value.Double(math.MaxFloat64), Startup: true, Runtime: true, check: checkPositive(EstablishmentBurst), onChange: changed},
		{
			Name: EstablishmentDepth, initial: value.Int32(0), Startup: true, Runtime: true, check: checkInt(EstablishmentDepth, 0, math.MaxInt32),
			onChange: func(s *Service, v value.Value) { s.Establishment.SetDepth(v.SafeInt64()) },
		},
		{Name: EstablishmentBypass, initial: value.Document(value.NewDoc("ranges", value.NewArray())), Startup: true, Runtime: true, check: checkRanges},
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
	Ranges args.Array `arg:"ranges,required"`
}

var rangesSpec = args.New[rangesArgs]("ConnectionListParameters")

// checkRanges accepts {ranges: [address, CIDR range or path of a socket]}, and
// writes addresses as the ranges that they are.
func checkRanges(v value.Value) (value.Value, error) {
	if v.Kind() != value.KindDocument {
		return v, mongoerr.Newf(mongoerr.BadValue, "Invalid value for parameter %s: %s is not a document", EstablishmentBypass, v)
	}
	var a rangesArgs
	if err := rangesSpec.DecodeNested("ConnectionListParameters", v.Doc(), &a); err != nil {
		return v, err
	}
	var ranges []value.Value
	for r := range value.Doc(a.Ranges).Values() {
		if r.Kind() != value.KindString {
			return v, args.WrongType("ConnectionListParameters", "ranges."+strconv.Itoa(len(ranges)), r, "string")
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
	if !s.Params.Bool(EstablishmentEnabled) {
		return nil
	}
	if s.bypasses(c) {
		s.Establishment.exempt()
		return nil
	}
	return s.Establishment.wait(ctx, s.Real)
}

// bypasses reports whether the client's address, or the socket that it
// connected to, is exempt.
func (s *Service) bypasses(c *Conn) bool {
	remote, err := netip.ParseAddrPort(c.Remote)
	for r := range s.Params.Value(EstablishmentBypass).Doc().Lookup("ranges").Doc().Values() {
		p, ok := parseRange(r.Str())
		if ok && err == nil && p.Contains(remote.Addr().Unmap()) || !ok && r.Str() == c.Local {
			return true
		}
	}
	return false
}

// WriteEstablishment writes what serverStatus shows of it among connections.
func (s *Service) WriteEstablishment(b *value.Builder) {
	stats, queued, _ := s.Establishment.Snapshot(s.Real.Now())
	b.Int64("queuedForEstablishment", queued)
	b.StartDocument("establishmentRateLimit").Int64("rejected", stats.Rejected).Int64("exempted", stats.exempted).
		Int64("interruptedDueToClientDisconnect", stats.HungUp).End()
}

func WriteQueues(c *Call, b *value.Builder) {
	b.StartDocument("ingressSessionEstablishment")
	c.Svc.Establishment.writeQueue(b, c.Svc.Real.Now())
	b.End()
}
