package queue

import (
	"math"
	"strconv"
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// Unlimited is the longest duration, in milliseconds. It stands for "never".
const Unlimited int64 = 922337203685477

// unlimitedText is the text of the longest duration: the maximum of the .NET
// TimeSpan, which is a little more than whole milliseconds.
const unlimitedText = "P10675199DT2H48M5.4775807S"

const (
	millisPerSecond = 1000
	millisPerMinute = 60 * millisPerSecond
	millisPerHour   = 60 * millisPerMinute
	millisPerDay    = 24 * millisPerHour
)

// parseDuration reads a number of seconds or an ISO 8601 duration into
// milliseconds. Longer durations become Unlimited.
func parseDuration(name string, v value.Value) (int64, error) {
	switch {
	case v.IsNumber():
		ms := math.Round(v.AsDouble() * millisPerSecond)
		if math.IsNaN(ms) {
			return 0, mongoerr.Newf(mongoerr.BadValue, "The duration '%s' must not be NaN", name)
		}
		return clampDuration(ms), nil
	case v.Kind() == value.KindString:
		ms, ok := parseISO(v.Str())
		if !ok {
			return 0, mongoerr.Newf(mongoerr.BadValue, "The value '%s' of '%s' is not an ISO 8601 duration such as 'PT90S' or 'P1DT12H'", v.Str(), name)
		}
		return ms, nil
	}
	return 0, errType(name, v, "types '[string, long, int, decimal, double]'")
}

func clampDuration(ms float64) int64 {
	return int64(max(min(ms, float64(Unlimited)), -float64(Unlimited)))
}

// isoDateUnits are the designators in their required order, with the length of the
// unit in milliseconds. As in .NET, a year has 365 days and a month 30.
var isoDateUnits = []isoUnit{{'Y', 365 * millisPerDay}, {'M', 30 * millisPerDay}, {'W', 7 * millisPerDay}, {'D', millisPerDay}}
var isoTimeUnits = []isoUnit{{'H', millisPerHour}, {'M', millisPerMinute}, {'S', millisPerSecond}}

type isoUnit struct {
	designator byte
	millis     float64
}

// parseISO reads an ISO 8601 duration, "PT1M30.5S".
func parseISO(s string) (ms int64, ok bool) {
	sign := 1.0
	if rest, negative := strings.CutPrefix(s, "-"); negative {
		sign, s = -1, rest
	}
	s, ok = strings.CutPrefix(s, "P")
	if !ok {
		return 0, false
	}
	date, clock, hasClock := strings.Cut(s, "T")
	days, n1, ok1 := parseISOParts(date, isoDateUnits)
	hours, n2, ok2 := parseISOParts(clock, isoTimeUnits)
	if !ok1 || !ok2 || n1+n2 == 0 || hasClock && n2 == 0 {
		return 0, false
	}
	return clampDuration(sign * math.Round(days+hours)), true
}

// parseISOParts reads numbers with designators; only seconds may have a
// fraction.
func parseISOParts(s string, units []isoUnit) (ms float64, n int, ok bool) {
	for s != "" {
		end := strings.IndexFunc(s, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
		if end <= 0 {
			return 0, 0, false
		}
		at := -1
		for i, u := range units {
			if u.designator == s[end] {
				at = i
			}
		}
		if at < 0 || strings.Contains(s[:end], ".") && s[end] != 'S' {
			return 0, 0, false
		}
		x, err := strconv.ParseFloat(s[:end], 64)
		if err != nil {
			return 0, 0, false
		}
		ms += x * units[at].millis
		n++
		s, units = s[end+1:], units[at+1:]
	}
	return ms, n, true
}

// formatDuration writes milliseconds as an ISO 8601 duration.
func formatDuration(ms int64) string {
	if ms >= Unlimited {
		return unlimitedText
	}
	out := []byte{'P'}
	part := func(unit int64, designator byte) {
		if n := ms / unit; n > 0 {
			out = append(strconv.AppendInt(out, n, 10), designator)
			ms %= unit
		}
	}
	part(millisPerDay, 'D')
	if ms > 0 || len(out) == 1 {
		out = append(out, 'T')
	}
	part(millisPerHour, 'H')
	part(millisPerMinute, 'M')
	if ms > 0 || len(out) == 2 && out[1] == 'T' {
		out = append(strconv.AppendFloat(out, float64(ms)/millisPerSecond, 'f', -1, 64), 'S')
	}
	return string(out)
}
