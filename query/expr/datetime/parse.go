package datetime

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/duskdb/duskdb/internal/mongoerr"
)

// parts are the parts of a date that have been parsed so far; unset parts are
// -1.
type parts struct {
	in                       string
	year                     int64
	hasYear                  bool
	month, day               int64
	hour, minute, second     int64
	millis                   int64
	isoYear, isoWeek, isoDay int64
	hasISO, hasISOYear       bool
	dayOfYear                int64
	zone                     zoneKind
	offset                   int64
	zoneName                 string
	epoch                    bool
	epochSeconds             int64
}

type zoneKind byte

const (
	noZone zoneKind = iota
	offsetZone
	namedZone
)

func newParts(in string) *parts {
	return &parts{in: in, month: -1, day: -1, hour: -1, minute: -1, second: -1, isoWeek: -1, isoDay: -1, dayOfYear: -1}
}

// parseError returns the error for a position in a date string.
func parseError(in string, at int, what string) error {
	c := ""
	if at < len(in) {
		_, n := utf8.DecodeRuneInString(in[at:])
		c = in[at : at+n]
	}
	return mongoerr.Newf(mongoerr.ConversionFailure, "Error parsing date string '%s'; %d: %s '%s'", in, at, what, c)
}

const (
	monthWord = `(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)`
	gap       = `[ \t.-]*`
	suffix    = `(?:st|nd|rd|th)?`
)

// dateForm is one notation of a date (or a date and time); the first one that
// matches is used.
type dateForm struct {
	re    *regexp.Regexp
	order string // meaning of the groups: y m d M (month by name) w u j h i s e f (fraction of e)
}

func form(re, order string) dateForm {
	return dateForm{regexp.MustCompile(`^(?i:` + re + `)`), order}
}

// dateForms are compiled when the first date is parsed: all starts of the server would wait for them.
var dateForms = sync.OnceValue(func() []dateForm {
	return []dateForm{
		form(`@(-?\d+)\.(\d{1,6})`, "ef"),
		form(`@(-?\d+)`, "e"),
		form(`(\d{4})-?W(\d{2})-?([1-7])?`, "ywu"),
		form(`(\d{4})(\d{2})(\d{2})T?(\d{2}):?(\d{2}):?(\d{2})`, "ymdhis"),
		form(`([+-]?\d{4,6})-(\d{1,2})-(\d{1,2})`, "ymd"),
		form(`(\d{4})/(\d{1,2})/(\d{1,2})`, "ymd"),
		form(`(\d{1,2})/(\d{1,2})/(\d{4})`, "mdy"),
		form(`(\d{1,2})[-.\t](\d{1,2})[-.](\d{4})`, "dmy"),
		form(`(\d{1,2})`+suffix+gap+monthWord+`[ \t.,-]*(\d{4})`, "dMy"),
		form(monthWord+gap+`(\d{1,2})`+suffix+`[, .\t-]+(\d{4})`, "Mdy"),
		form(`(\d{4})`+gap+monthWord+gap+`(\d{1,2})`, "yMd"),
		form(monthWord+gap+`(\d{4})`, "My"),
		form(`(\d{4})`+gap+monthWord, "yM"),
		form(monthWord+gap+`(\d{1,2})`+suffix+`\b`, "Md"),
		form(`(\d{4})(\d{2})(\d{2})`, "ymd"),
		form(`(\d{4})[.-]?(\d{3})`, "yj"),
		form(`(\d{4})-(\d{1,2})`, "ym"),
		form(`(\d{4})(?:[ \t]|$)`, "y"),
	}
})

// lazy is an expression that is compiled when it is first used.
func lazy(re string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(re) })
}

var (
	timeForm   = lazy(`^(?i:t?(\d{1,2})[:.](\d{2})(?:[:.](\d{2})(?:[.,:](\d+))?)?(?:[ \t]*([ap])\.?m\.?)?)`)
	hourForm   = lazy(`^(?i:(\d{1,2})[ \t]*([ap])\.?m\.?)`)
	bareHour   = lazy(`^(?i:t(2[0-4]|[01]?\d))`)
	offsetForm = lazy(`^(?i:(?:GMT|UTC)?([+-])(\d{1,2}):?(\d{2})?)`)
	wordForm   = lazy(`^[A-Za-z]+(?:[/_+-][A-Za-z0-9_+-]+)*`)
	weekday    = lazy(`^(?i:(?:mon|tue|tues|wed|wednes|thu|thur|thurs|fri|sat|satur|sun)(?:day)?)\b`)
	relative   = lazy(`^(?i:now|today|midnight|noon|tomorrow|yesterday)\b`)
)

// abbreviations are the zone names that a date string may contain, with their
// hours from UTC. Single letters are the zones of the military, which have no J.
var abbreviations = map[string]float64{
	"Z": 0, "UTC": 0, "GMT": 0, "WET": 0, "BST": 1, "WEST": 1, "CET": 1, "MET": 1, "CEST": 2, "MEST": 2, "EET": 2, "SAST": 2,
	"EEST": 3, "MSK": 3, "PKT": 5, "IST": 5.5, "JST": 9, "KST": 9, "ACST": 9.5, "AEST": 10, "AEDT": 11, "NZST": 12, "NZDT": 13,
	"NST": -3.5, "NDT": -2.5, "AST": -4, "ADT": -3, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6,
	"PST": -8, "PDT": -7, "AKST": -9, "AKDT": -8, "HST": -10,
	"A": 1, "B": 2, "C": 3, "D": 4, "E": 5, "F": 6, "G": 7, "H": 8, "I": 9, "K": 10, "L": 11, "M": 12,
	"N": -1, "O": -2, "P": -3, "Q": -4, "R": -5, "S": -6, "T": -7, "U": -8, "V": -9, "W": -10, "X": -11, "Y": -12,
}

// Parse parses a date string in any of the usual notations; z is the zone of a
// string without a zone.
func Parse(s string, z Zone) (int64, error) {
	p := newParts(s)
	if s == "" {
		return 0, parseError(s, 0, "Empty string")
	}
	end := len(strings.TrimRight(s, spaces))
	for at := len(s) - len(strings.TrimLeft(s, spaces)); at < end; {
		n, err := p.token(s[at:end], at)
		if err != nil {
			return 0, err
		}
		at += n
	}
	return p.instant(z)
}

// spaces may surround a date.
const spaces = " \t\n\v\f\r"

// token parses the next token of a date string and returns its length.
func (p *parts) token(s string, at int) (int, error) {
	if r, n := utf8.DecodeRuneInString(s); strings.ContainsRune(" \t,\n\x00\u00a0", r) {
		return n, nil
	}
	if !p.hasYear && !p.epoch && !p.hasISO {
		for _, f := range dateForms() {
			if m := f.re.FindStringSubmatch(s); m != nil && (f.order != "y" || p.month >= 0) {
				if f.order == "ymd" && startsWithTime(m[1]) {
					return 0, parseError(p.in, at+4, "Unexpected character")
				}
				return len(m[0]), p.takeDate(f, m, at)
			}
		}
	}
	if p.hour < 0 {
		if m := timeForm().FindStringSubmatch(s); m != nil {
			return len(m[0]), p.takeTime(m[1], m[2], m[3], m[4], m[5], at)
		}
		if m := hourForm().FindStringSubmatch(s); m != nil {
			return len(m[0]), p.takeTime(m[1], "0", "0", "", m[2], at)
		}
		if m := bareHour().FindStringSubmatch(s); m != nil {
			return len(m[0]), p.takeTime(m[1], "0", "0", "", "", at)
		}
	}
	if m := relative().FindString(s); m != "" {
		return len(m), nil
	}
	if m := weekday().FindString(s); m != "" {
		return len(m), nil
	}
	return p.takeZone(s, at)
}

// startsWithTime reports whether the digits of a year could begin with an hour
// and a minute; then more than four digits are not a year.
func startsWithTime(year string) bool {
	return len(year) > 4 && year[0] >= '0' && year[:2] <= "24" && year[2] <= '5'
}

// takeDate stores the groups of a matched date notation.
func (p *parts) takeDate(f dateForm, m []string, at int) error {
	for i, what := range f.order {
		text := m[i+1]
		n, _ := strconv.ParseInt(text, 10, 64)
		switch what {
		case 'y':
			p.year, p.hasYear = n, true
		case 'm':
			p.month = n
		case 'd':
			p.day = n
		case 'M':
			p.month = monthNumber(text)
		case 'h':
			p.hour = n
		case 'i':
			p.minute = n
		case 's':
			p.second = n
		case 'e':
			p.epoch, p.epochSeconds = true, n
		case 'f':
			p.millis = number((text + "00")[:3])
			if strings.HasPrefix(m[1], "-") {
				p.millis = -p.millis
			}
		case 'j':
			p.dayOfYear = n
		case 'w':
			p.isoYear, p.isoWeek, p.hasISO, p.hasISOYear, p.hasYear = p.year, n, true, true, false
		case 'u':
			p.isoDay = max(n, 1)
		}
	}
	if p.month >= 0 && p.day < 0 {
		p.day = 1
	}
	return p.checkDate(at + len(m[0]) - 1)
}

func (p *parts) checkDate(at int) error {
	if p.month > 12 || p.month == 0 || p.day > 31 || p.day == 0 || p.hour > 24 || p.minute > 59 || p.second > 59 {
		return parseError(p.in, at, "Unexpected character")
	}
	return nil
}

func monthNumber(word string) int64 {
	for i, name := range monthNames {
		if strings.EqualFold(word[:3], name[:3]) {
			return int64(i + 1)
		}
	}
	return -1
}

// takeTime stores a time of day; half is am, pm or empty.
func (p *parts) takeTime(h, m, s, frac, half string, at int) error {
	p.hour, p.minute, p.second = number(h), number(m), number(s)
	if frac != "" {
		p.millis = number((frac + "00")[:3])
	}
	if half != "" {
		if p.hour < 1 || p.hour > 12 {
			return parseError(p.in, at, "Unexpected character")
		}
		p.hour %= 12
		if half == "p" || half == "P" {
			p.hour += 12
		}
	}
	return p.checkDate(at)
}

// takeZone parses a zone: an abbreviation, an offset or an Olson name. It
// returns the length of the text.
func (p *parts) takeZone(s string, at int) (int, error) {
	if p.zone != noZone {
		return 0, parseError(p.in, at, "Double timezone specification")
	}
	if m := offsetForm().FindStringSubmatch(s); m != nil {
		hours, minutes := number(m[2]), number(m[3])
		p.zone, p.offset = offsetZone, hours*3600+minutes*60
		if m[1] == "-" {
			p.offset = -p.offset
		}
		return len(m[0]), nil
	}
	word := wordForm().FindString(s)
	if word == "" {
		return 0, parseError(p.in, at, "Unexpected character")
	}
	hours, ok := abbreviations[strings.ToUpper(word)]
	if !ok {
		if _, err := ParseZone(word); err == nil {
			return 0, parseError(p.in, at, "passing a time zone identifier as part of the string is not allowed")
		}
		return 0, parseError(p.in, at, "The timezone could not be found in the database")
	}
	p.zone, p.zoneName, p.offset = namedZone, strings.ToUpper(word), int64(hours*3600)
	return len(word), nil
}

// instant converts the parsed parts to an instant of the zone.
func (p *parts) instant(z Zone) (int64, error) {
	if p.epoch {
		return p.epochSeconds*1000 + p.millis, nil
	}
	if p.hour < 0 && p.minute < 0 && p.second < 0 {
		p.hour, p.minute, p.second = 0, 0, 0
	}
	switch {
	case p.hasISO:
		if err := p.fromISO(); err != nil {
			return 0, err
		}
	case p.hasYear && p.dayOfYear > 0:
		var month, day int
		p.year, month, day = fromDayNumber(dayNumber(p.year, 1, 1) + p.dayOfYear - 1)
		p.month, p.day = int64(month), int64(day)
	}
	if !p.hasYear || p.month < 0 || p.day < 0 || p.hour < 0 || p.minute < 0 || p.second < 0 {
		return 0, mongoerr.Newf(mongoerr.ConversionFailure,
			`an incomplete date/time string has been found, with elements missing: "%s"`, p.in)
	}
	if int(p.day) > daysInMonth(p.year, int(p.month)) {
		return 0, parseError(p.in, len(p.in), "The parsed date was invalid")
	}
	zone, err := p.zoneOr(z)
	if err != nil {
		return 0, err
	}
	ms, _ := zone.FromParts(p.year, p.month, p.day, TimeOfDay{p.hour, p.minute, p.second, p.millis})
	return ms, nil
}

func (p *parts) fromISO() error {
	if p.month >= 0 || p.day >= 0 || p.hasYear {
		return mongoerr.Newf(mongoerr.ConversionFailure, "Error parsing date string '%s'; %d: Mixing of ISO dates with natural dates is not allowed ''", p.in, len(p.in))
	}
	if !p.hasISOYear {
		return mongoerr.Newf(mongoerr.ConversionFailure, `an incomplete date/time string has been found, with elements missing: "%s"`, p.in)
	}
	var month, day int
	p.year, month, day = fromDayNumber(isoDayNumber(p.isoYear, max(p.isoWeek, 1), max(p.isoDay, 1)))
	p.month, p.day, p.hasYear = int64(month), int64(day), true
	return nil
}

// zoneOr returns the zone in the string, otherwise z. Giving both is an error.
func (p *parts) zoneOr(z Zone) (Zone, error) {
	if p.zone == noZone {
		return z, nil
	}
	switch {
	case z.IsUTC():
		return Zone{offset: p.offset}, nil
	case p.zone == offsetZone:
		return z, mongoerr.New(mongoerr.ConversionFailure,
			"you cannot pass in a date/time string with GMT offset together with a timezone argument")
	}
	return z, mongoerr.New(mongoerr.ConversionFailure, fmt.Sprintf(
		"you cannot pass in a date/time string with time zone information ('%s') together with a timezone argument", p.zoneName))
}
