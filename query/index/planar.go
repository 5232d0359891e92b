package index

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// PlanarOptions are the options of a 2d index: the square that it covers and
// how often each side is halved.
type PlanarOptions struct {
	Bits     int
	Min, Max float64
}

// planarOptions reads the options of a 2d index, with their defaults.
func planarOptions(full value.Doc) PlanarOptions {
	o := PlanarOptions{Bits: 26, Min: -180, Max: 180}
	if v := full.Lookup("bits"); v.IsNumber() {
		o.Bits = int(v.SafeInt64())
	}
	if v := full.Lookup("min"); v.IsNumber() {
		o.Min = v.AsDouble()
	}
	if v := full.Lookup("max"); v.IsNumber() {
		o.Max = v.AsDouble()
	}
	return o
}

// checkPlanar checks the options of a 2d index.
func checkPlanar(full value.Doc) error {
	geo, other := 0, 0
	for _, v := range full.Lookup("key").Doc().All() {
		switch {
		case v.Kind() != value.KindString:
			other++
		case geo > 0:
			return mongoerr.New(16800, "can't have 2 geo fields")
		case other > 0:
			return mongoerr.New(16801, "2d has to be first in index")
		default:
			geo++
		}
	}
	o := planarOptions(full)
	if o.Bits < 1 || o.Bits > 32 {
		return mongoerr.Newf(mongoerr.InvalidOptions, "bits for hash must be > 0 and <= 32, but %d bits were specified", o.Bits)
	}
	if !(o.Min < o.Max) {
		return mongoerr.Newf(mongoerr.InvalidOptions, "region for hash must be valid and have positive area, but [%s, %s] was specified", value.FormatDouble(o.Min), value.FormatDouble(o.Max))
	}
	return nil
}
