package window

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Months are added as the calendar does, but never run into the next month.
func TestAddMonths(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ms := rapid.Int64Range(-1e14, 1e14).Draw(rt, "ms")
		n := rapid.Int64Range(-5000, 5000).Draw(rt, "n")
		got := time.UnixMilli(dateUnits["month"].add(ms, n)).UTC()
		from := time.UnixMilli(ms).UTC()
		first := time.Date(from.Year(), from.Month(), 1, 0, 0, 0, 0, time.UTC).AddDate(0, int(n), 0)
		if got.Year() != first.Year() || got.Month() != first.Month() {
			rt.Fatalf("%s + %d months = %s", from, n, got)
		}
		if got.Day() != from.Day() && got.AddDate(0, 0, 1).Month() == got.Month() {
			rt.Fatalf("%s + %d months = %s, which is not the last day", from, n, got)
		}
		if got.Sub(got.Truncate(24*time.Hour)) != from.Sub(from.Truncate(24*time.Hour)) {
			rt.Fatalf("time of day changed: %s, %s", from, got)
		}
		if u := dateUnits["month"]; from.Day() <= 28 && n > 0 && !u.onStep(got.UnixMilli(), ms, n) {
			rt.Fatalf("%s is not on the step of %d from %s", got, n, from)
		}
	})
}
