package queue

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

func TestParseDuration(t *testing.T) {
	tests := []struct {
		in   value.Value
		want int64
		code mongoerr.Code
	}{
		{value.String("PT1M"), 60_000, 0},
		{value.String("PT5M"), 300_000, 0},
		{value.String("P14D"), 14 * 86_400_000, 0},
		{value.String("P1DT2H3M4.5S"), 93_784_500, 0},
		{value.String("P1W"), 7 * 86_400_000, 0},
		{value.String("P1Y2M"), (365 + 60) * 86_400_000, 0},
		{value.String("PT0.001S"), 1, 0},
		{value.String("PT0S"), 0, 0},
		{value.String("-PT1S"), -1000, 0},
		{value.String(unlimitedText), Unlimited, 0},
		{value.String("P99999999999D"), Unlimited, 0},
		{value.Int32(30), 30_000, 0},
		{value.Int64(300), 300_000, 0},
		{value.Double(0.001), 1, 0},
		{value.Double(1.005), 1005, 0},
		{value.Double(-2), -2000, 0},
		{value.Double(math.Inf(1)), Unlimited, 0},
		{value.Int64(math.MaxInt64), Unlimited, 0},
		{value.Double(math.NaN()), 0, mongoerr.BadValue},
		{value.String(""), 0, mongoerr.BadValue},
		{value.String("P"), 0, mongoerr.BadValue},
		{value.String("PT"), 0, mongoerr.BadValue},
		{value.String("P1DT"), 0, mongoerr.BadValue},
		{value.String("1M"), 0, mongoerr.BadValue},
		{value.String("PT1"), 0, mongoerr.BadValue},
		{value.String("PTS"), 0, mongoerr.BadValue},
		{value.String("PT1S1M"), 0, mongoerr.BadValue},
		{value.String("P1H"), 0, mongoerr.BadValue},
		{value.String("PT1.5M"), 0, mongoerr.BadValue},
		{value.String("PT1..5S"), 0, mongoerr.BadValue},
		{value.String("00:01:00"), 0, mongoerr.BadValue},
		{value.Bool(true), 0, mongoerr.TypeMismatch},
		{value.Null(), 0, mongoerr.TypeMismatch},
	}
	for _, tt := range tests {
		got, err := parseDuration("x", tt.in)
		if mongoerr.CodeOf(err) != tt.code || got != tt.want {
			t.Errorf("%s: %d, %v; want %d, code %d", tt.in, got, err, tt.want, tt.code)
		}
	}
}

func TestFormatDuration(t *testing.T) {
	tests := []struct {
		ms   int64
		want string
	}{
		{0, "PT0S"}, {1, "PT0.001S"}, {1000, "PT1S"}, {30_000, "PT30S"}, {60_000, "PT1M"}, {300_000, "PT5M"},
		{86_400_000, "P1D"}, {93_784_500, "P1DT2H3M4.5S"}, {3_600_001, "PT1H0.001S"}, {Unlimited, unlimitedText},
	}
	for _, tt := range tests {
		if got := formatDuration(tt.ms); got != tt.want {
			t.Errorf("%d: %s, want %s", tt.ms, got, tt.want)
		}
	}
}

func TestDurationRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ms := rapid.Int64Range(0, 1<<42).Draw(t, "ms")
		if got, ok := parseISO(formatDuration(ms)); !ok || got != ms {
			t.Fatalf("%d -> %s -> %d, %v", ms, formatDuration(ms), got, ok)
		}
	})
}

func FuzzParseISO(f *testing.F) {
	for _, s := range []string{"PT1M", "P1DT2H3M4.5S", unlimitedText, "-PT1S", "P", "P1H", "PT1e5S"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if ms, ok := parseISO(s); ok && (ms > Unlimited || ms < -Unlimited) {
			t.Errorf("%q: %d", s, ms)
		}
	})
}

func TestParseConfig(t *testing.T) {
	tests := []struct {
		in, want string
		code     mongoerr.Code
		fragment string
	}{
		{`{}`, `{"defaultMessageTimeToLive": "P10675199DT2H48M5.4775807S", "deadLetteringOnMessageExpiration": false,
			"lockDuration": "PT1M", "maxDeliveryCount": 10, "autoDeleteOnIdle": "P10675199DT2H48M5.4775807S"}`, 0, ""},
		{`{"defaultMessageTimeToLive": 1209600, "deadLetteringOnMessageExpiration": true, "lockDuration": 0.5,
			"maxDeliveryCount": 1, "autoDeleteOnIdle": "PT5M"}`,
			`{"defaultMessageTimeToLive": "P14D", "deadLetteringOnMessageExpiration": true, "lockDuration": "PT0.5S",
			"maxDeliveryCount": 1, "autoDeleteOnIdle": "PT5M"}`, 0, ""},
		{in: `{"lockDuration": "PT5M0.001S"}`, code: 2, fragment: "at most PT5M"},
		{in: `{"lockDuration": 0}`, code: 2},
		{in: `{"lockDuration": "soon"}`, code: 2, fragment: "ISO 8601"},
		{in: `{"lockDuration": true}`, code: 14},
		{in: `{"lockDuration": null}`, code: 14},
		{in: `{"defaultMessageTimeToLive": -1}`, code: 2, fragment: "greater than zero"},
		{in: `{"autoDeleteOnIdle": "PT4M59.999S"}`, code: 2, fragment: "at least PT5M"},
		{in: `{"maxDeliveryCount": 1.5}`, code: 2},
		{in: `{"maxDeliveryCount": 2147483648}`, code: 2},
		{in: `{"maxDeliveryCount": "3"}`, code: 14},
		{in: `{"deadLetteringOnMessageExpiration": 1}`, code: 14},
		{in: `{"colour": 1}`, code: 40415, fragment: "BSON field 'create.messageQueue.colour' is an unknown field."},
		{in: `{"deadLetterOf": "x"}`, code: 72},
		{in: `{"requiresSession": true}`, code: 72},
		{in: `{"forwardTo": "x"}`, code: 72},
	}
	e := &env{t: t}
	for _, tt := range tests {
		c, err := ParseConfig("create", value.Document(value.MustJSON(tt.in)))
		if tt.code != 0 {
			e.fails(err, tt.code, tt.fragment)
			continue
		}
		e.must(err)
		if got, want := c.Doc().String(), value.MustJSON(tt.want).String(); got != want {
			t.Errorf("%s:\n got %s\nwant %s", tt.in, got, want)
		}
		again, err := ParseConfig("create", value.Document(c.Doc()))
		if e.must(err); again != c {
			t.Errorf("%s: read back as %+v", tt.in, again)
		}
	}
	_, err := ParseConfig("create", value.String("x"))
	e.fails(err, mongoerr.TypeMismatch, "create.messageQueue")
}
