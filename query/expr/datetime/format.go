package datetime

import (
	"strconv"
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
)

// ISOFormat is the default format of a date; in zones other than UTC the Z is
// left out.
const ISOFormat = "%Y-%m-%dT%H:%M:%S.%LZ"

const (
	toSpecifiers   = "bBdGHjLmMSwuUVYzZ"
	fromSpecifiers = "bBdGHjLmMSuVYzZ"
)

var monthNames = []string{"January", "February", "March", "April", "May", "June", "July", "August",
	"September", "October", "November", "December"}

// CheckToFormat checks a format for [Zone.Format].
func CheckToFormat(format string) error { return checkFormat(format, toSpecifiers) }

// CheckFromFormat checks a format for [ParseFormat].
func CheckFromFormat(format string) error { return checkFormat(format, fromSpecifiers) }

func checkFormat(format, specifiers string) error {
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		if i++; i == len(format) {
			return mongoerr.New(18535, "Unmatched '%' at end of format string")
		}
		if format[i] != '%' && strings.IndexByte(specifiers, format[i]) < 0 {
			return mongoerr.Newf(18536, "Invalid format character '%%%c' in format string", format[i])
		}
	}
	return nil
}

// Format writes an instant by a format that was checked.
func (z Zone) Format(format string, ms int64) (string, error) {
	c := z.At(ms)
	out := make([]byte, 0, len(format)+16)
	var err error
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			out = append(out, format[i])
			continue
		}
		i++
		if out, err = c.specifier(out, format[i]); err != nil {
			return "", err
		}
	}
	return string(out), nil
}

// specifier appends the text for one format specifier.
func (c Civil) specifier(out []byte, s byte) ([]byte, error) {
	switch s {
	case 'Y':
		return padYear(out, c.Year)
	case 'G':
		year, _ := c.ISOWeek()
		return padYear(out, year)
	case 'V':
		_, week := c.ISOWeek()
		return pad(out, week, 2), nil
	case 'z', 'Z':
		return c.appendOffset(out, s == 'Z'), nil
	case 'b':
		return append(out, monthNames[c.Month-1][:3]...), nil
	case 'B':
		return append(out, monthNames[c.Month-1]...), nil
	case 'w':
		return pad(out, c.DayOfWeek(), 1), nil
	case 'u':
		return pad(out, c.ISODayOfWeek(), 1), nil
	}
	return c.twoDigits(out, s), nil
}

// twoDigits appends the specifiers with at least two digits.
func (c Civil) twoDigits(out []byte, s byte) []byte {
	switch s {
	case 'm':
		return pad(out, c.Month, 2)
	case 'd':
		return pad(out, c.Day, 2)
	case 'H':
		return pad(out, c.Hour, 2)
	case 'M':
		return pad(out, c.Minute, 2)
	case 'S':
		return pad(out, c.Second, 2)
	case 'L':
		return pad(out, c.Millis, 3)
	case 'j':
		return pad(out, c.DayOfYear(), 3)
	case 'U':
		return pad(out, c.Week(), 2)
	}
	return append(out, s) // %%
}

// pad writes a number with leading zeros.
func pad(out []byte, n, width int) []byte {
	for p := 10; width > 1; width-- {
		if n < p {
			for range width - 1 {
				out = append(out, '0')
			}
			break
		}
		p *= 10
	}
	return strconv.AppendInt(out, int64(n), 10)
}

func padYear(out []byte, year int64) ([]byte, error) {
	if year < 0 || year > 9999 {
		return out, mongoerr.Newf(18537, "Could not convert date to string: date component was outside the supported range of 0-9999: %d", year)
	}
	return pad(out, int(year), 4), nil
}

func (c Civil) appendOffset(out []byte, minutes bool) []byte {
	if minutes { // without a plus sign
		return strconv.AppendInt(out, c.offset/60, 10)
	}
	sign, offset := byte('+'), c.offset
	if offset < 0 {
		sign, offset = '-', -offset
	}
	out = append(out, sign)
	return pad(pad(out, int(offset/3600), 2), int(offset/60%60), 2)
}
