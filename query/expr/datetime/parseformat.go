package datetime

import "strings"

// ParseFormat parses a date string by a checked format.
func ParseFormat(s, format string, z Zone) (int64, error) {
	p := newParts(s)
	at := 0
	for i := 0; i < len(format); i++ {
		c := format[i]
		if c == '%' && i+1 < len(format) {
			if i++; format[i] != '%' {
				n, err := p.specifier(s, at, format[i])
				if err != nil {
					return 0, err
				}
				at += n
				continue
			}
		}
		if at >= len(s) {
			return 0, parseError(s, at, "Not enough data available to satisfy format")
		}
		if s[at] != c {
			return 0, parseError(s, at, "The format separator does not match")
		}
		at++
	}
	if at < len(s) {
		return 0, parseError(s, at, "Trailing data")
	}
	p.fillTime()
	return p.instant(z)
}

// fillTime sets the missing parts of an incomplete time to zero.
func (p *parts) fillTime() {
	if p.hour < 0 && p.minute < 0 && p.second < 0 {
		return
	}
	p.hour, p.minute, p.second = max(p.hour, 0), max(p.minute, 0), max(p.second, 0)
}

// numeric describes a specifier of digits.
type numeric struct {
	min, max int // the number of digits
	low, top int64
	missing  string
	set      func(p *parts, n int64)
}

var numerics = map[byte]numeric{
	'd': {1, 2, 1, 31, "A two digit day could not be found", func(p *parts, n int64) { p.day = n }},
	'G': {4, 4, 0, 9999, "A four digit ISO year could not be found", func(p *parts, n int64) { p.isoYear, p.hasISO, p.hasISOYear = n, true, true }},
	'H': {1, 2, 0, 24, "A two digit hour could not be found", func(p *parts, n int64) { p.hour = n }},
	'j': {1, 3, 1, 366, "A three digit day-of-year could not be found", func(p *parts, n int64) { p.dayOfYear = n + 1 }}, // counted from zero
	'L': {1, 3, 0, 999, "A three digit millisecond could not be found", nil},
	'm': {1, 2, 1, 12, "A two digit month could not be found", func(p *parts, n int64) { p.month = n }},
	'M': {2, 2, 0, 59, "A two digit minute could not be found", func(p *parts, n int64) { p.minute = n }},
	'S': {2, 2, 0, 59, "A two digit second could not be found", func(p *parts, n int64) { p.second = n }},
	'u': {1, 1, 1, 7, "A single digit day of week could not be found", func(p *parts, n int64) { p.isoDay, p.hasISO = n, true }},
	'V': {1, 2, 1, 53, "A two digit ISO week number could not be found", func(p *parts, n int64) { p.isoWeek, p.hasISO = n, true }},
	'Y': {4, 4, 0, 9999, "A four digit year could not be found", func(p *parts, n int64) { p.year, p.hasYear = n, true }},
}

// specifier parses the text for a specifier and returns its length.
func (p *parts) specifier(s string, at int, spec byte) (int, error) {
	rest := s[at:]
	switch spec {
	case 'b', 'B':
		return p.monthByName(rest, at)
	case 'z':
		if rest == "" {
			return 0, parseError(s, at, "The timezone could not be found in the database")
		}
		saved := p.hour
		p.hour = max(p.hour, 0) // an offset is allowed here even without a time
		n, err := p.takeZone(rest, at)
		p.hour = saved
		return n, err
	case 'Z':
		return p.minutesOffset(rest, at)
	}
	f := numerics[spec]
	n := 0
	for n < len(rest) && n < f.max && rest[n] >= '0' && rest[n] <= '9' {
		n++
	}
	if n < f.min {
		return 0, parseError(s, at, f.missing)
	}
	v := number(rest[:n])
	if v < f.low || v > f.top {
		return 0, parseError(s, at, f.missing)
	}
	if spec == 'L' {
		p.millis = number((rest[:n] + "00")[:3])
		return n, nil
	}
	f.set(p, v)
	return n, nil
}

func (p *parts) monthByName(rest string, at int) (int, error) {
	for i, name := range monthNames {
		for _, word := range []string{name, name[:3]} {
			if len(rest) >= len(word) && strings.EqualFold(rest[:len(word)], word) {
				p.month = int64(i + 1)
				return len(word), nil
			}
		}
	}
	return 0, parseError(p.in, at, "A textual month could not be found")
}

// minutesOffset parses a signed offset in minutes.
func (p *parts) minutesOffset(rest string, at int) (int, error) {
	n := 0
	sign := int64(1)
	if rest != "" && (rest[0] == '+' || rest[0] == '-') {
		if n = 1; rest[0] == '-' {
			sign = -1
		}
	}
	start := n
	for n < len(rest) && n-start < 4 && rest[n] >= '0' && rest[n] <= '9' {
		n++
	}
	if start == 0 || n == start {
		return 0, parseError(p.in, at, "Invalid timezone offset in minutes")
	}
	p.zone, p.offset = offsetZone, sign*number(rest[start:n])*60
	return n, nil
}
