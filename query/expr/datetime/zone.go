package datetime

import (
	"strings"
	"sync"
	"time"

	"github.com/duskdb/duskdb/internal/mongoerr"
)

// Zone is a time zone: UTC (the zero Zone), a fixed offset or a place in the
// Olson database.
type Zone struct {
	place  *time.Location // nil: a fixed offset
	offset int64          // seconds east of UTC
}

var places sync.Map // name -> *time.Location

// ParseZone reads an Olson name or an offset of the forms +hh, +hhmm, +hh:mm.
func ParseZone(name string) (Zone, error) {
	if name == "UTC" {
		return Zone{}, nil
	}
	if offset, ok := parseOffset(name); ok {
		return Zone{offset: offset}, nil
	}
	if p, ok := places.Load(name); ok {
		return Zone{place: p.(*time.Location)}, nil
	}
	if plausible(name) {
		if p, err := loadLocation(name); err == nil {
			places.Store(name, p)
			return Zone{place: p}, nil
		}
	}
	return Zone{}, mongoerr.Newf(40485, `unrecognized time zone identifier: "%s"`, name)
}

// plausible rejects file paths and Go's special names, which the loader would
// accept.
func plausible(name string) bool {
	if name == "" || name == "Local" || len(name) > 64 {
		return false
	}
	if strings.Contains(name, "//") { // the loader takes it for one, and there are many ways to write it
		return false
	}
	return strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/") == "" && name[0] >= 'A'
}

// parseOffset parses ±hh, ±hhmm or ±hh:mm.
func parseOffset(s string) (seconds int64, ok bool) {
	if s == "" || s[0] != '+' && s[0] != '-' {
		return 0, false
	}
	d := s[1:]
	if len(d) == 5 && d[2] == ':' {
		d = d[:2] + d[3:]
	}
	if len(d) != 2 && len(d) != 4 || len(d) == 2 && len(s) != 3 || strings.Trim(d, "0123456789") != "" {
		return 0, false
	}
	seconds = number(d[:2]) * 3600
	if len(d) == 4 {
		seconds += number(d[2:]) * 60
	}
	if s[0] == '-' {
		seconds = -seconds
	}
	return seconds, true
}

func number(digits string) (n int64) {
	for _, c := range digits {
		n = n*10 + int64(c-'0')
	}
	return n
}

// IsUTC reports whether the zone is UTC itself.
func (z Zone) IsUTC() bool { return z.place == nil && z.offset == 0 }

// Offset is the zone's distance from UTC at an instant, in seconds.
func (z Zone) Offset(ms int64) int64 {
	if z.place == nil {
		return z.offset
	}
	_, offset := time.UnixMilli(ms).In(z.place).Zone()
	return int64(offset)
}

// info returns the zone's offset at an instant (seconds), since when it holds,
// and whether it is summer time.
func (z Zone) info(sec int64) (offset, since int64, summer bool) {
	t := time.Unix(sec, 0).In(z.place)
	_, off := t.Zone()
	start, _ := t.ZoneBounds()
	since = -1 << 62
	if !start.IsZero() {
		since = start.Unix()
	}
	return int64(off), since, t.IsDST()
}

// season says whether a civil time is known to be in daylight saving time.
type season int8

const (
	unknown season = iota
	winter
	summer
)

// toUTC finds the instant of a civil time given in seconds as if it were UTC.
// A skipped time is moved forward by the length of the gap. Of a repeated time
// one is chosen; s says whether the civil time came from summer time.
func (z Zone) toUTC(civil int64, s season) int64 {
	if z.place == nil {
		return civil - z.offset
	}
	current, _, currentDST := z.info(civil)
	actual, since, _ := z.info(civil - current)
	after := actual
	switch {
	case current != after || s == unknown:
	case current >= 0 && s == summer && !currentDST:
		earlier, earlierSince, _ := z.info(civil - current - 7200)
		if earlier != after && civil-earlier < since {
			actual, since = earlier, earlierSince
		}
	case current <= 0 && currentDST && s == winter:
		later, laterSince, _ := z.info(civil - current + 7200)
		if later != after && civil-later >= laterSince {
			actual = later
		}
	}
	inTransition := civil-actual >= since+(current-actual) && civil-actual < since
	if current != actual && !inTransition {
		return civil - actual
	}
	return civil - current
}
