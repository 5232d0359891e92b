package limits

import (
	"net/netip"
	"strconv"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// The names of the server parameters that limit how fast connections begin, which
// keeps a storm of reconnecting clients from starving those that are served.
const (
	EstablishmentEnabled = "ingressConnectionEstablishmentRateLimiterEnabled"
	EstablishmentRate    = "ingressConnectionEstablishmentRatePerSec"
	EstablishmentBurst   = "ingressConnectionEstablishmentBurstCapacitySecs"
	EstablishmentDepth   = "ingressConnectionEstablishmentMaxQueueDepth"
	EstablishmentBypass  = "ingressConnectionEstablishmentRateLimiterBypass"
)

// CheckPositive returns the check of a server parameter that must be a number above
// 0; it is kept as a double.
func CheckPositive(name string) func(value.Value) (value.Value, error) {
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

// CheckRanges checks {ranges: [address, CIDR range or path of a socket]} and returns
// it with each address as the range of that address.
func CheckRanges(v value.Value) (value.Value, error) {
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
		if p, ok := ParseRange(r.Str()); ok {
			r = value.String(p.String())
		}
		ranges = append(ranges, r)
	}
	return value.Document(value.NewDoc("ranges", value.NewArray(ranges...))), nil
}

// ParseRange reads a CIDR range, or an address as the range of that address alone. It
// reports false for other texts, such as paths of sockets.
func ParseRange(s string) (netip.Prefix, bool) {
	if p, err := netip.ParsePrefix(s); err == nil {
		return p, true
	}
	a, err := netip.ParseAddr(s)
	return netip.PrefixFrom(a, a.BitLen()), err == nil
}
