package window

import (
	"time"

	"github.com/duskdb/duskdb/internal/mongoerr"
)

// dateUnit is a unit of time of $densify and the window operators: a fixed number
// of milliseconds or a number of months.
type dateUnit struct {
	name   string
	millis int64
	months int64
}

var dateUnits = map[string]dateUnit{
	"day":         {"day", 24 * 60 * 60 * 1000, 0},
	"hour":        {"hour", 60 * 60 * 1000, 0},
	"millisecond": {"millisecond", 1, 0},
	"minute":      {"minute", 60 * 1000, 0},
	"month":       {"month", 0, 1},
	"quarter":     {"quarter", 0, 3},
	"second":      {"second", 1000, 0},
	"week":        {"week", 7 * 24 * 60 * 60 * 1000, 0},
	"year":        {"year", 0, 12},
}

func parseDateUnit(name string) (dateUnit, error) {
	u, ok := dateUnits[name]
	if !ok {
		return u, mongoerr.Newf(mongoerr.FailedToParse, "unknown time unit value: %s", name)
	}
	return u, nil
}

// add adds n units to a time in UTC. If the month does not have the day, the result
// is its last day.
func (u dateUnit) add(ms, n int64) int64 {
	if u.months == 0 {
		return ms + n*u.millis
	}
	t := time.UnixMilli(ms).UTC()
	months := int64(t.Month()) - 1 + n*u.months
	year, month := int64(t.Year())+floorDiv(months, 12), time.Month(floorMod(months, 12)+1)
	last := time.Date(int(year), month+1, 0, 0, 0, 0, 0, time.UTC).Day()
	midnight := time.Date(int(year), month, min(t.Day(), last), 0, 0, 0, 0, time.UTC)
	return midnight.UnixMilli() + floorMod(ms, 24*60*60*1000)
}

// onStep reports whether ms is base plus a multiple of step units.
func (u dateUnit) onStep(ms, base, step int64) bool {
	if u.months == 0 {
		size := step * u.millis
		return size != 0 && (ms-base)%size == 0
	}
	from, to := time.UnixMilli(base).UTC(), time.UnixMilli(ms).UTC()
	months := int64(to.Year()-from.Year())*12 + int64(to.Month()-from.Month())
	size := step * u.months
	return size != 0 && months%size == 0 && u.add(base, months/u.months) == ms
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func floorMod(a, b int64) int64 { return a - floorDiv(a, b)*b }
