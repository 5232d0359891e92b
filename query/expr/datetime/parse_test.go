package datetime

import (
	"testing"
	"time"

	"github.com/duskdb/duskdb/internal/mongoerr"
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"2017-07-06T12:35:37Z", "2017-07-06T12:35:37Z"},
		{"2017-07-06T12:35:37.513Z", "2017-07-06T12:35:37.513Z"},
		{"2017-07-06T12:35:37.5", "2017-07-06T12:35:37.5Z"},
		{"2017-07-06 12:35:37", "2017-07-06T12:35:37Z"},
		{"2017-07-06 12:35:37 +02", "2017-07-06T10:35:37Z"},
		{"2017-07-06T12:35:37+04:30", "2017-07-06T08:05:37Z"},
		{"2017-07-06 17:35:37 EDT", "2017-07-06T21:35:37Z"},
		{"July 4, 2017", "2017-07-04T00:00:00Z"},
		{"4 July 2017", "2017-07-04T00:00:00Z"},
		{"July 4th, 2017 12:39pm", "2017-07-04T12:39:00Z"},
		{"4-Jul-2017", "2017-07-04T00:00:00Z"},
		{"Tue, 04 Jul 2017 12:39:30 GMT", "2017-07-04T12:39:30Z"},
		{"Wed Jul  5 12:00:00 2017", "2017-07-05T12:00:00Z"},
		{"7/4/2017", "2017-07-04T00:00:00Z"},
		{"04.07.2017", "2017-07-04T00:00:00Z"},
		{"2017/07/04", "2017-07-04T00:00:00Z"},
		{"20170704", "2017-07-04T00:00:00Z"},
		{"20170704T030405", "2017-07-04T03:04:05Z"},
		{"2017-185", "2017-07-04T00:00:00Z"},
		{"2017-W27-2", "2017-07-04T00:00:00Z"},
		{"2017-W27-2 13:00", "2017-07-04T13:00:00Z"},
		{"2017-07", "2017-07-01T00:00:00Z"},
		{"@1499126400", "2017-07-04T00:00:00Z"},
		{"@1499126400.5", "2017-07-04T00:00:00.5Z"},
		{"@-1.25", "1969-12-31T23:59:58.75Z"},
		{"2018-03-05 +10:00", "2018-03-04T14:00:00Z"},
		{"2017-07-04T00", "2017-07-04T00:00:00Z"},
		{"2017-07-04 t7", "2017-07-04T07:00:00Z"},
		{"2017-07-04T23+01:00", "2017-07-04T22:00:00Z"},
		{"2017-07-04 12:00 C", "2017-07-04T09:00:00Z"},
		{"2017-07-04T12:00:00k", "2017-07-04T02:00:00Z"},
		{"2017-07-04 12:00 T", "2017-07-04T19:00:00Z"},
		{"2017-07-04R", "2017-07-04T05:00:00Z"},
	} {
		ms, err := Parse(c.in, Zone{})
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
		} else if ms != millis(t, c.want) {
			t.Errorf("%s = %s, want %s", c.in, time.UnixMilli(ms).UTC(), c.want)
		}
	}
	for _, in := range []string{"", "x", "2017", "12:35", "July 4", "now", "2017-13-01", "2017-02-29", "2017-07-04 25:00", "2017-07-04 12:60", "2017-07-04 Europe/London",
		"2017-07-04T12:00:00Z Z", "2017-07-04 13pm", "60.Monday1770/06:59", "2017-07-04 Nowhere", "2017-07-04 12:00 J", "2017-07-04T25"} {
		if ms, err := Parse(in, Zone{}); !mongoerr.Is(err, mongoerr.ConversionFailure) {
			t.Errorf("%q = %d %v, want a failed conversion", in, ms, err)
		}
	}
}

func TestParseInZone(t *testing.T) {
	ny := mustZone(t, "America/New_York")
	if ms, err := Parse("2017-07-04T12:00:00", ny); err != nil || ms != millis(t, "2017-07-04T16:00:00Z") {
		t.Errorf("%d %v", ms, err)
	}
	for _, in := range []string{"2017-07-04T12:00:00Z", "2017-07-04T12:00:00+01:00", "2017-07-04 12:00 BST"} {
		if _, err := Parse(in, ny); err == nil {
			t.Errorf("%s was accepted together with a zone", in)
		}
	}
}

func TestParseFormat(t *testing.T) {
	for _, c := range []struct{ in, format, want string }{
		{"07/04/2017", "%m/%d/%Y", "2017-07-04T00:00:00Z"},
		{"2017-07-04T03", "%Y-%m-%dT%H", "2017-07-04T03:00:00Z"},
		{"100% 2017-7-4", "100%% %Y-%m-%d", "2017-07-04T00:00:00Z"},
		{"2017 july 4", "%Y %B %d", "2017-07-04T00:00:00Z"},
		{"2017 3 27", "%G %u %V", "2017-07-05T00:00:00Z"},
		{"2017-07-04 10:20:30.456 +0100", "%Y-%m-%d %H:%M:%S.%L %z", "2017-07-04T09:20:30.456Z"},
		{"2017-07-04 EST", "%Y-%m-%d %z", "2017-07-04T05:00:00Z"},
		{"2017-07-04 Y", "%Y-%m-%d %z", "2017-07-04T12:00:00Z"},
		{"2017-07-04 -90", "%Y-%m-%d %Z", "2017-07-04T01:30:00Z"},
	} {
		ms, err := ParseFormat(c.in, c.format, Zone{})
		if err != nil {
			t.Errorf("%s by %s: %v", c.in, c.format, err)
		} else if ms != millis(t, c.want) {
			t.Errorf("%s by %s = %s, want %s", c.in, c.format, time.UnixMilli(ms).UTC(), c.want)
		}
	}
	for _, c := range []struct{ in, format string }{
		{"2017-07", "%Y-%m"}, {"2017-07-04x", "%Y-%m-%d"}, {"2017/07/04", "%Y-%m-%d"}, {"17-07-04", "%Y-%m-%d"}, {"2017-13-04", "%Y-%m-%d"}, {"", "%Y"},
		{"2017-02-30", "%Y-%m-%d"}, {"2017 W5 2017", "%G W%V %Y"}, {"2017-07-04 ", "%Y-%m-%d %z"}, {"2017 foo 4", "%Y %b %d"},
	} {
		if ms, err := ParseFormat(c.in, c.format, Zone{}); !mongoerr.Is(err, mongoerr.ConversionFailure) {
			t.Errorf("%s by %s = %d %v, want a failed conversion", c.in, c.format, ms, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("2017-07-06T12:35:37.513Z", "%Y-%m-%d")
	f.Add("July 4th, 2017 12:39pm EST", "%G-W%V-%u %z")
	f.Fuzz(func(t *testing.T, s, format string) {
		_, _ = Parse(s, Zone{})
		if CheckFromFormat(format) == nil {
			_, _ = ParseFormat(s, format, Zone{})
		}
		if CheckToFormat(format) == nil {
			_, _ = Zone{}.Format(format, int64(len(s))*1e11)
		}
	})
}
