package datetime

import (
	"math"
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
)

// Unit is a calendar unit.
type Unit byte

// The units, from small to large.
const (
	Millisecond Unit = iota
	Second
	Minute
	Hour
	Day
	Week
	Month
	Quarter
	Year
)

var unitNames = []string{"millisecond", "second", "minute", "hour", "day", "week", "month", "quarter", "year"}

// String returns the unit's name: "day".
func (u Unit) String() string { return unitNames[u] }

// ParseUnit reads the name of a unit.
func ParseUnit(name string) (Unit, error) {
	for i, n := range unitNames {
		if n == name {
			return Unit(i), nil
		}
	}
	return 0, mongoerr.Newf(mongoerr.FailedToParse, "unknown time unit value: %s", name)
}

// Weekday is a day of the week in ISO numbering: Monday is 1.
type Weekday int

// Sunday is the default first day of the week.
const Sunday Weekday = 7

// ParseWeekday reads a day's name or its first three letters, in any case.
func ParseWeekday(name string) (Weekday, bool) {
	days := []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}
	name = strings.ToLower(name)
	for i, d := range days {
		if name == d || name == d[:3] {
			return Weekday(i + 1), true
		}
	}
	return 0, false
}

// fixedMillis is the length of the units that are always equally long; 0 for
// the others.
func (u Unit) fixedMillis() int64 {
	switch u {
	case Millisecond:
		return 1
	case Second:
		return 1000
	case Minute:
		return 60 * 1000
	case Hour:
		return 3600 * 1000
	}
	return 0
}

// months is the length of the units that are made of months; 0 for the others.
func (u Unit) months() int64 {
	switch u {
	case Month:
		return 1
	case Quarter:
		return 3
	case Year:
		return 12
	}
	return 0
}

// maxAmount limits the amount that may be added, so that no intermediate
// result overflows.
func (u Unit) maxAmount() int64 {
	const days = math.MaxUint64/msPerDay + 1
	const years = days/365 + 1
	switch u {
	case Year:
		return years
	case Quarter:
		return years * 4
	case Month:
		return years * 12
	case Week:
		return days / 7
	case Day:
		return days
	case Hour:
		return days * 24
	case Minute:
		return days * 24 * 60
	}
	return days * 24 * 60 * 60
}

// Add moves an instant by an amount of units. Days and longer units keep the
// time of day in the zone; a day that the month does not have becomes its last
// day.
func Add(ms int64, u Unit, amount int64, z Zone) (int64, error) {
	if limit := u.maxAmount(); u != Millisecond && (amount <= -limit || amount >= limit) {
		return 0, mongoerr.Newf(5976500, "invalid dateAdd 'amount' parameter value: %d %s", amount, u)
	}
	if fixed := u.fixedMillis(); fixed > 0 {
		return addFixed(ms, amount, fixed)
	}
	c := z.At(ms)
	days := c.dayNumber()
	if months := u.months(); months > 0 {
		total := c.Year*12 + int64(c.Month) - 1 + amount*months
		year, month := floorDiv(total, 12), int(floorMod(total, 12))+1
		days = dayNumber(year, int64(month), int64(min(c.Day, daysInMonth(year, month))))
	} else {
		if u == Week {
			amount *= 7
		}
		days += amount
	}
	civil := days*secPerDay + c.seconds() - c.dayNumber()*secPerDay
	sec := z.toUTC(civil, c.season)
	if sec > math.MaxInt64/1000 || sec < math.MinInt64/1000 {
		return 0, mongoerr.New(5166406, "dateAdd overflowed")
	}
	return sec*1000 + int64(c.Millis), nil
}

func addFixed(ms, amount, unit int64) (int64, error) {
	product := amount * unit
	sum := ms + product
	if product/unit != amount || (sum > ms) != (product > 0) && product != 0 {
		return 0, mongoerr.New(5166406, "dateAdd overflowed")
	}
	return sum, nil
}

// Diff counts the boundaries of a unit between two instants.
func Diff(start, end int64, u Unit, z Zone, startOfWeek Weekday) (int64, error) {
	if u == Millisecond {
		d := end - start
		if (d < end) != (start > 0) {
			return 0, mongoerr.New(5166308, "dateDiff overflowed")
		}
		return d, nil
	}
	a, b := z.At(start), z.At(end)
	switch u {
	case Year:
		return b.Year - a.Year, nil
	case Quarter:
		return (b.Year-a.Year)*4 + int64((b.Month-1)/3-(a.Month-1)/3), nil
	case Month:
		return (b.Year-a.Year)*12 + int64(b.Month-a.Month), nil
	case Week:
		return diffWeeks(a.dayNumber(), b.dayNumber(), startOfWeek), nil
	case Day:
		return b.dayNumber() - a.dayNumber(), nil
	}
	return diffClock(a, b, u), nil
}

func diffWeeks(a, b int64, startOfWeek Weekday) int64 {
	day := func(n int64) int64 { return floorMod(n+3+1-int64(startOfWeek), 7) }
	return (b - a + day(a) - day(b)) / 7
}

// diffClock counts in civil time and corrects for the zone's change of offset,
// in whole units.
func diffClock(a, b Civil, u Unit) int64 {
	shift := a.offset - b.offset
	hours := int64(b.Hour-a.Hour) + (b.dayNumber()-a.dayNumber())*24
	minutes := int64(b.Minute-a.Minute) + hours*60
	switch u {
	case Hour:
		return hours + shift/3600
	case Minute:
		return minutes + shift/60
	}
	return int64(b.Second-a.Second) + minutes*60 + shift
}

const (
	reference     = 946684800000 // 2000-01-01T00:00:00Z, a Saturday
	referenceDay  = reference / msPerDay
	maxTruncation = 100_000_000_000
)

// Trunc rounds an instant down to a multiple of binSize units, counted from
// the beginning of the year 2000 in the zone.
func Trunc(ms int64, u Unit, binSize int64, z Zone, startOfWeek Weekday) (int64, error) {
	refDay := int64(referenceDay)
	if u == Week {
		refDay += floorMod(int64(startOfWeek)-6, 7) // the first start of a week
	}
	ref := reference - z.Offset(reference)*1000 + (refDay-referenceDay)*msPerDay
	if fixed := u.fixedMillis(); fixed > 0 {
		return truncFixed(ms, ref, fixed, binSize)
	}
	if binSize > maxTruncation {
		return 0, mongoerr.New(5439006, "dateTrunc unsupported binSize value")
	}
	c := z.At(ms)
	var distance int64
	switch u {
	case Day:
		distance = c.dayNumber() - refDay
	case Week:
		distance = diffWeeks(refDay, c.dayNumber(), startOfWeek)
	case Month:
		distance = (c.Year-2000)*12 + int64(c.Month-1)
	case Quarter:
		distance = (c.Year-2000)*4 + int64((c.Month-1)/3)
	case Year:
		distance = c.Year - 2000
	}
	return Add(ref, u, distance-floorMod(distance, binSize), z)
}

// truncFixed rounds down to a multiple of a fixed length from a reference, and
// checks for overflow.
func truncFixed(ms, ref, unit, binSize int64) (int64, error) {
	size := binSize * unit
	if size/unit != binSize {
		return 0, mongoerr.New(5439002, "dateTrunc overflowed")
	}
	shifted := ms - ref
	if (shifted < ms) != (ref > 0) && ref != 0 {
		return 0, mongoerr.New(5439000, "dateTrunc overflowed")
	}
	down := floorMod(shifted, size)
	if ms < math.MinInt64+down {
		return 0, mongoerr.New(5439001, "dateTrunc overflowed")
	}
	return ms - down, nil
}
