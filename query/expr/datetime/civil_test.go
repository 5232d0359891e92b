package datetime

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The calendar must agree with the standard library's.
func TestCivilAgreesWithTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ms := rapid.Int64Range(-1e15, 1e15).Draw(t, "ms")
		want := time.UnixMilli(ms).UTC()
		c := Zone{}.At(ms)
		year, week := c.ISOWeek()
		wantYear, wantWeek := want.ISOWeek()
		if c.Year != int64(want.Year()) || c.Month != int(want.Month()) || c.Day != want.Day() ||
			c.Hour != want.Hour() || c.Minute != want.Minute() || c.Second != want.Second() ||
			c.Millis != want.Nanosecond()/1e6 || c.DayOfYear() != want.YearDay() ||
			c.DayOfWeek() != int(want.Weekday())+1 || int(year) != wantYear || week != wantWeek {
			t.Fatalf("%d: %+v, want %v", ms, c, want)
		}
		if back, _ := (Zone{}).FromParts(c.Year, int64(c.Month), int64(c.Day), TimeOfDay{int64(c.Hour), int64(c.Minute), int64(c.Second), int64(c.Millis)}); back != ms {
			t.Fatalf("back to %d, want %d", back, ms)
		}
		iso, _ := (Zone{}).FromISOParts(year, int64(week), int64(c.ISODayOfWeek()), TimeOfDay{})
		if day := floorDiv(ms, msPerDay) * msPerDay; iso != day {
			t.Fatalf("iso day %d, want %d", iso, day)
		}
	})
}

func mustZone(t *testing.T, name string) Zone {
	t.Helper()
	z, err := ParseZone(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func millis(t *testing.T, s string) int64 {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		t.Fatal(err)
	}
	return at.UnixMilli()
}

// Local times in a skipped hour are moved forward, west and east of Greenwich.
func TestTransitions(t *testing.T) {
	for _, c := range []struct {
		zone                     string
		month, day, hour, minute int64
		want                     string
	}{
		{"America/New_York", 3, 8, 2, 30, "2020-03-08T07:30:00Z"},
		{"America/New_York", 11, 1, 1, 30, "2020-11-01T05:30:00Z"},
		{"America/New_York", 7, 4, 12, 0, "2020-07-04T16:00:00Z"},
		{"Europe/Berlin", 3, 29, 2, 30, "2020-03-29T01:30:00Z"},
		{"Europe/Berlin", 1, 1, 0, 0, "2019-12-31T23:00:00Z"},
		{"Asia/Kolkata", 1, 1, 0, 0, "2019-12-31T18:30:00Z"},
		{"+05:45", 1, 1, 0, 0, "2019-12-31T18:15:00Z"},
		{"-0330", 1, 1, 0, 0, "2020-01-01T03:30:00Z"},
		{"+08", 1, 1, 0, 0, "2019-12-31T16:00:00Z"},
	} {
		z := mustZone(t, c.zone)
		if got, _ := z.FromParts(2020, c.month, c.day, TimeOfDay{Hour: c.hour, Minute: c.minute}); got != millis(t, c.want) {
			t.Errorf("%s %d-%d %d:%d = %s, want %s", c.zone, c.month, c.day, c.hour, c.minute, time.UnixMilli(got).UTC(), c.want)
		}
	}
}

func TestZoneNames(t *testing.T) {
	for _, name := range []string{"UTC", "GMT", "Etc/GMT+5", "America/Argentina/Buenos_Aires", "+01", "-1234", "+12:34"} {
		if _, err := ParseZone(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"", "Local", "../etc/passwd", "Mars/Phobos", "+1", "+1:30", "+0:0:0", "+abc", "DoesNot/Exist", "+1e23"} {
		if _, err := ParseZone(name); err == nil {
			t.Errorf("%q was accepted", name)
		}
	}
}
