package transfer

import (
	"fmt"
	"strings"
	"time"

	"github.com/duskdb/duskdb/value"
)

// dateIn makes columns of dates, whose argument is a layout in some notation.
func dateIn(notation func(string) string) func(arg string) (func(string) (value.Value, error), error) {
	return func(arg string) (func(string) (value.Value, error), error) {
		if arg == "" {
			return nil, fmt.Errorf("a date needs a layout, as in date(2006-01-02)")
		}
		layout := notation(arg)
		return func(s string) (value.Value, error) {
			t, err := time.Parse(layout, s)
			if err != nil {
				return value.Value{}, fmt.Errorf("%q is not a date of the form %s", s, arg)
			}
			return value.DateTime(t.UnixMilli()), nil
		}, nil
	}
}

// goLayout is Go's own notation, by the reference time.
func goLayout(s string) string { return s }

// microsoftLayout reads what FORMAT of Microsoft's SQL takes: yyyy-MM-dd HH:mm:ss.
var microsoftLayout = strings.NewReplacer(
	"yyyy", "2006", "yy", "06",
	"MMMM", "January", "MMM", "Jan", "MM", "01", "M", "1",
	"dddd", "Monday", "ddd", "Mon", "dd", "02", "d", "2",
	"HH", "15", "hh", "03", "h", "3", "mm", "04", "m", "4", "ss", "05", "s", "5",
	"fff", "000", "ff", "00", "f", "0", "tt", "PM",
	"zzz", "-07:00", "zz", "-07", "K", "Z07:00",
).Replace

// oracleLayout reads what TO_DATE of Oracle's SQL takes: YYYY-MM-DD HH24:MI:SS.
// Upper and lower case are the same to it.
func oracleLayout(s string) string {
	return strings.NewReplacer(
		"YYYY", "2006", "YY", "06",
		"MONTH", "January", "MON", "Jan", "MM", "01",
		"DAY", "Monday", "DY", "Mon", "DD", "02",
		"HH24", "15", "HH12", "03", "HH", "03", "MI", "04", "SS", "05",
		"FF3", "000", "FF2", "00", "FF1", "0", "AM", "PM", "PM", "PM",
		"TZH:TZM", "-07:00", "TZH", "-07",
	).Replace(strings.ToUpper(s))
}
