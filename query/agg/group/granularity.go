package group

import (
	"math"

	"github.com/cockroachdb/apd/v3"

	"github.com/duskdb/duskdb/value"
)

// rounder rounds numbers to a series of preferred numbers, the granularity
// of $bucketAuto. A nil series stands for the powers of two.
type rounder struct {
	name   string
	series []int64 // the numbers of one decade
}

// rounders by name of the granularity.
var rounders = map[string]*rounder{}

func init() {
	for _, r := range []rounder{
		{"1-2-5", []int64{10, 20, 50}},
		{"E12", []int64{10, 12, 15, 18, 22, 27, 33, 39, 47, 56, 68, 82}},
		{"E192", e192},
		{"E24", []int64{10, 11, 12, 13, 15, 16, 18, 20, 22, 24, 27, 30, 33, 36, 39, 43, 47, 51, 56, 62, 68, 75, 82, 91}},
		{"E48", everyOther(everyOther(e192))},
		{"E6", []int64{10, 15, 22, 33, 47, 68}},
		{"E96", everyOther(e192)},
		{"POWERSOF2", nil},
		{"R10", []int64{100, 125, 160, 200, 250, 315, 400, 500, 630, 800}},
		{"R20", []int64{100, 112, 125, 140, 160, 180, 200, 224, 250, 280, 315, 355, 400, 450, 500, 560, 630, 710, 800, 900}},
		{"R40", []int64{
			100, 106, 112, 118, 125, 132, 140, 150, 160, 170, 180, 190, 200, 212, 224, 236, 250, 265, 280, 300,
			315, 355, 375, 400, 425, 450, 475, 500, 530, 560, 600, 630, 670, 710, 750, 800, 850, 900, 950,
		}},
		{"R5", []int64{10, 16, 25, 40, 63}},
		{"R80", []int64{
			103, 109, 115, 122, 128, 136, 145, 155, 165, 175, 185, 195, 206, 218, 230, 243, 258, 272, 290, 307,
			325, 345, 365, 387, 412, 437, 462, 487, 515, 545, 575, 615, 650, 690, 730, 775, 825, 875, 925, 975,
		}},
	} {
		rounders[r.name] = &r
	}
}

// e192 is the E192 series of IEC 60063; E96 and E48 are every second and
// every fourth of it.
var e192 = []int64{
	100, 101, 102, 104, 105, 106, 107, 109, 110, 111, 113, 114, 115, 117, 118, 120, 121, 123,
	124, 126, 127, 129, 130, 132, 133, 135, 137, 138, 140, 142, 143, 145, 147, 149, 150, 152,
	154, 156, 158, 160, 162, 164, 165, 167, 169, 172, 174, 176, 178, 180, 182, 184, 187, 189,
	191, 193, 196, 198, 200, 203, 205, 208, 210, 213, 215, 218, 221, 223, 226, 229, 232, 234,
	237, 240, 243, 246, 249, 252, 255, 258, 261, 264, 267, 271, 274, 277, 280, 284, 287, 291,
	294, 298, 301, 305, 309, 312, 316, 320, 324, 328, 332, 336, 340, 344, 348, 352, 357, 361,
	365, 370, 374, 379, 383, 388, 392, 397, 402, 407, 412, 417, 422, 427, 432, 437, 442, 448,
	453, 459, 464, 470, 475, 481, 487, 493, 499, 505, 511, 517, 523, 530, 536, 542, 549, 556,
	562, 569, 576, 583, 590, 597, 604, 612, 619, 626, 634, 642, 649, 657, 665, 673, 681, 690,
	698, 706, 715, 723, 732, 741, 750, 759, 768, 777, 787, 796, 806, 816, 825, 835, 845, 856,
	866, 876, 887, 898, 909, 920, 931, 942, 953, 965, 976, 988,
}

func everyOther(series []int64) (out []int64) {
	for i := 0; i < len(series); i += 2 {
		out = append(out, series[i])
	}
	return out
}

// up is the least number of the series above v; zero stays.
func (r *rounder) up(v value.Value) value.Value { return r.round(v, true) }

// down is the greatest number of the series below v; zero stays.
func (r *rounder) down(v value.Value) value.Value { return r.round(v, false) }

func (r *rounder) round(v value.Value, up bool) value.Value {
	f := v.AsDouble()
	switch {
	case f == 0 || math.IsInf(f, 0):
		return v
	case r.series == nil:
		return powerOfTwo(f, up)
	case v.Kind() == value.KindDecimal:
		return r.roundDecimal(v, up)
	}
	return value.Double(r.roundDouble(f, up))
}

// powerOfTwo returns what $pow returns for the integer 2 and an integer: an int or long
// if the result fits, else a double.
func powerOfTwo(f float64, up bool) value.Value {
	exponent := math.Ceil(math.Log2(f)) - 1
	if up {
		exponent = math.Floor(math.Log2(f)) + 1
	}
	if exponent < 0 || exponent > 62 {
		return value.Double(math.Exp2(exponent))
	}
	return value.Int(1 << int64(exponent))
}

// roundDouble walks the decades; the products are formed as mongod forms
// them, so that the last bits agree.
func (r *rounder) roundDouble(f float64, up bool) float64 {
	first, last := float64(r.series[0]), float64(r.series[len(r.series)-1])
	m := 1.0
	if up {
		for f >= last*m {
			m *= 10
		}
		for f < first*m {
			lowest := first * m
			m /= 10
			if f >= last*m {
				return lowest
			}
		}
		for _, s := range r.series {
			if p := float64(s) * m; p > f {
				return p
			}
		}
		return last * m
	}
	for f <= first*m {
		m /= 10
	}
	for f > last*m {
		highest := last * m
		m *= 10
		if f <= first*m {
			return highest
		}
	}
	for i := len(r.series) - 1; i >= 0; i-- {
		if p := float64(r.series[i]) * m; p < f {
			return p
		}
	}
	return first * m
}

func (r *rounder) roundDecimal(v value.Value, up bool) value.Value {
	x := v.Decimal().Apd()
	// Begin one decade below the number's own, so that the loop meets both neighbours.
	exp := int32(x.NumDigits()) + x.Exponent - 4
	var best *apd.Decimal
	for e := exp; e <= exp+4; e++ {
		for _, s := range r.series {
			c := apd.New(s, e)
			switch {
			case up && c.Cmp(x) > 0 && (best == nil || c.Cmp(best) < 0),
				!up && c.Cmp(x) < 0 && (best == nil || c.Cmp(best) > 0):
				best = c
			}
		}
	}
	if best == nil {
		return v
	}
	// A power of ten is written out: 160, not 1.6E+2.
	plain := new(apd.Decimal)
	if _, err := value.DecimalContext.Quantize(plain, best, min(best.Exponent, 0)); err == nil && plain.Form == apd.Finite {
		best = plain
	}
	return value.DecimalValue(value.DecimalFromApd(best))
}
