package datetime

import "math"

// Civil is a date and time of day as a calendar and a clock show it.
type Civil struct {
	Year                         int64
	Month, Day                   int // counted from 1
	Hour, Minute, Second, Millis int
	season                       season
	offset                       int64 // seconds east of UTC
}

const (
	msPerDay   = 86400 * 1000
	secPerDay  = 86400
	daysInEra  = 146097 // 400 years
	epochShift = 719468 // days from 0000-03-01 to 1970-01-01
)

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

func floorMod(a, b int64) int64 { return a - floorDiv(a, b)*b }

// dayNumber counts the days from 1970-01-01 to a date of the Gregorian
// calendar. Month and day may be out of their ranges.
func dayNumber(year, month, day int64) int64 {
	year += floorDiv(month-1, 12)
	month = floorMod(month-1, 12) + 1
	if month <= 2 {
		year--
	}
	era := floorDiv(year, 400)
	yoe := year - era*400
	doy := (153*(month+9-12*b2i(month > 2))+2)/5 + day - 1
	return era*daysInEra + yoe*365 + yoe/4 - yoe/100 + doy - epochShift
}

func b2i(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// fromDayNumber is the inverse of dayNumber.
func fromDayNumber(n int64) (year int64, month, day int) {
	n += epochShift
	era := floorDiv(n, daysInEra)
	doe := n - era*daysInEra
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	day = int(doy - (153*mp+2)/5 + 1)
	month = int(mp) + 3
	if month > 12 {
		month -= 12
	}
	return era*400 + yoe + b2i(month <= 2), month, day
}

// At is the civil time of an instant.
func (z Zone) At(ms int64) Civil {
	sec := floorDiv(ms, 1000)
	c := Civil{Millis: int(ms - sec*1000), offset: z.offset}
	if z.place != nil {
		var dst bool
		c.offset, _, dst = z.info(sec)
		if c.season = winter; dst {
			c.season = summer
		}
	}
	sec += c.offset
	days := floorDiv(sec, secPerDay)
	rest := int(sec - days*secPerDay)
	c.Year, c.Month, c.Day = fromDayNumber(days)
	c.Hour, c.Minute, c.Second = rest/3600, rest/60%60, rest%60
	return c
}

// dayNumber counts the days from the epoch to the civil date.
func (c Civil) dayNumber() int64 { return dayNumber(c.Year, int64(c.Month), int64(c.Day)) }

// seconds counts the seconds from the epoch as if the civil time were UTC.
func (c Civil) seconds() int64 {
	return c.dayNumber()*secPerDay + int64(c.Hour)*3600 + int64(c.Minute)*60 + int64(c.Second)
}

// TimeOfDay is a time of day whose parts may be out of their ranges.
type TimeOfDay struct{ Hour, Minute, Second, Millis int64 }

// FromParts converts civil parts, which may be out of their ranges, to an
// instant: month 14 is February of the next year. ok is false if the instant
// is out of the range of a date.
func (z Zone) FromParts(year, month, day int64, t TimeOfDay) (ms int64, ok bool) {
	total := float64(t.Second)*1000 + float64(t.Millis)
	if math.Abs(total) > 1<<62 {
		return 0, false
	}
	second := t.Second + floorDiv(t.Millis, 1000)
	civil := dayNumber(year, month, day)*secPerDay + t.Hour*3600 + t.Minute*60 + second
	return z.toUTC(civil, unknown)*1000 + floorMod(t.Millis, 1000), true
}

// FromISOParts converts the parts of an ISO week date to an instant.
func (z Zone) FromISOParts(year, week, day int64, t TimeOfDay) (ms int64, ok bool) {
	y, month, dom := fromDayNumber(isoDayNumber(year, week, day))
	return z.FromParts(y, int64(month), int64(dom), t)
}

// isoDayNumber is the day of an ISO week date: week 1 has January 4th.
func isoDayNumber(year, week, day int64) int64 {
	jan4 := dayNumber(year, 1, 4)
	monday := jan4 - floorMod(jan4+3, 7)
	return monday + (week-1)*7 + day - 1
}

// DayOfWeek is 1 (Sunday) to 7.
func (c Civil) DayOfWeek() int { return int(floorMod(c.dayNumber()+4, 7)) + 1 }

// ISODayOfWeek is 1 (Monday) to 7.
func (c Civil) ISODayOfWeek() int { return int(floorMod(c.dayNumber()+3, 7)) + 1 }

// DayOfYear is 1 to 366.
func (c Civil) DayOfYear() int { return int(c.dayNumber()-dayNumber(c.Year, 1, 1)) + 1 }

// Week is the number of the week, 0 to 53; weeks begin on Sundays and week 1
// with the year's first one.
func (c Civil) Week() int { return (c.DayOfYear() - c.DayOfWeek() + 7) / 7 }

// ISOWeek is the year and the number of the ISO week.
func (c Civil) ISOWeek() (year int64, week int) {
	n := c.dayNumber()
	thursday := n - floorMod(n+3, 7) + 3
	year, _, _ = fromDayNumber(thursday)
	return year, int((thursday-dayNumber(year, 1, 1))/7) + 1
}

// Offset is the distance from UTC in seconds.
func (c Civil) Offset() int64 { return c.offset }

func daysInMonth(year int64, month int) int {
	return int(dayNumber(year, int64(month)+1, 1) - dayNumber(year, int64(month), 1))
}
