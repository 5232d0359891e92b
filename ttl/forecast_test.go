package ttl

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/value"
)

func TestForecast(t *testing.T) {
	c := newColl(t, openEngine(t), `{"documentTtl":{"default":1000}}`, `{"key":{"x":1},"name":"x_1","expireAfterSeconds":10}`)
	c.Put(t0.UnixMilli(), `{"_id":1,"x":`+at(-20)+`}`, `{"_id":2,"x":`+at(5)+`,"ttl":70}`, `{"_id":3,"x":[`+at(20)+`,`+at(25)+`]}`, `{"_id":4,"x":7,"ttl":-1}`, `{"_id":5,"x":`+at(1e6)+`,"ttl":30}`)
	zero := t0.UnixMilli()
	all := forecast(c, Horizon{Now: zero, Length: 60_000, Parts: 4})
	want := []string{
		`{ttl x_1  4 1 ` + fmt.Sprint(zero-10_000) + ` ` + fmt.Sprint(zero+15_000) + ` true [1 1 0 0]}`,
		`{documentTtl  own 2 0 0 ` + fmt.Sprint(zero+30_000) + ` true [0 1 0 0]}`,
		`{documentTtl  inherit 2 0 0 ` + fmt.Sprint(zero+1000_000) + ` true []}`,
	}
	for i, f := range all {
		if got := fmt.Sprint(f); got != want[i] {
			t.Errorf("%s, want %s", got, want[i])
		}
	}
	b := value.NewBuilder()
	all[0].Append(b, Horizon{Now: zero, Length: 60_000, Parts: 4})
	d := b.Doc()
	if d.Lookup("pending").Int64() != 4 || d.Lookup("nextDue").DateTime() != zero+15_000 || d.Lookup("histogram").Doc().Len() != 2 {
		t.Error(d)
	}
	b = value.NewBuilder()
	all[0].Append(b, Horizon{Now: zero, Length: 60_000, Parts: 4, Empty: true})
	if d := b.Doc(); d.Lookup("histogram").Doc().Len() != 4 {
		t.Error(d)
	}
}

// The parts of a forecast add up, and agree with counting.
func TestForecastProperty(t *testing.T) {
	outer := t
	rapid.Check(t, func(t *rapid.T) {
		c := newColl(t, openEngine(outer), `{"documentTtl":{"default":-1}}`)
		now := t0.UnixMilli()
		hz := Horizon{Now: now, Length: rapid.Int64Range(1, 100_000).Draw(t, "length"), Parts: rapid.IntRange(1, 7).Draw(t, "parts")}
		want := make([]int64, hz.Parts)
		var overdue, pending int64
		for range rapid.IntRange(0, 50).Draw(t, "n") {
			written := now - rapid.Int64Range(0, 100_000).Draw(t, "age")
			ttl := rapid.Int64Range(1, 200).Draw(t, "ttl")
			c.Put(written, fmt.Sprintf(`{"ttl":%d}`, ttl))
			pending++
			at := (floorSeconds(written) + ttl) * 1000
			if at <= now {
				overdue++
				continue
			}
			for i := range want {
				lo, hi := float64(i)*float64(hz.Length)/float64(hz.Parts), float64(i+1)*float64(hz.Length)/float64(hz.Parts)
				if since := float64(at-now) - 1; since >= lo && since < hi {
					want[i]++
				}
			}
		}
		all := forecast(c, hz)
		if len(all) != 1 {
			t.Fatal(all)
		}
		f := all[0]
		if f.Buckets == nil {
			f.Buckets = make([]int64, hz.Parts)
		}
		if f.Pending != pending || f.Overdue != overdue || fmt.Sprint(f.Buckets) != fmt.Sprint(want) || f.HasNext != (pending > overdue) {
			t.Fatalf("%+v, want %d pending, %d overdue, %v", f, pending, overdue, want)
		}
	})
}

// Dates beyond the horizon are pending; values other than dates, and dates that do not
// count, are not.
func TestForecastCountsBeyondHorizon(t *testing.T) {
	for _, tt := range []struct {
		name, options, index string
		docs                 []string
		pending              int
	}{
		{"dates", `{}`, `{"key":{"x":1},"name":"x_1","expireAfterSeconds":10}`, []string{`{"x":` + at(0) + `}`, `{"x":` + at(1e6) + `}`, `{"x":` + at(2e6) + `}`}, 3},
		{"descending dates", `{}`, `{"key":{"x":-1},"name":"x_1","expireAfterSeconds":10}`, []string{`{"x":` + at(0) + `}`, `{"x":` + at(1e6) + `}`, `{"x":` + at(2e6) + `}`}, 3},
		{"others too", `{}`, `{"key":{"x":1},"name":"x_1","expireAfterSeconds":10}`, []string{`{"x":` + at(0) + `}`, `{"x":` + at(1e6) + `}`, `{"x":7}`}, 2},
		{"clustered", `{"clusteredIndex":{},"expireAfterSeconds":10}`, `{"key":{"_id":1},"name":"_id_","clustered":true}`, []string{`{"_id":` + at(0) + `}`, `{"_id":` + at(1e6) + `}`, `{"_id":{"$date":{"$numberLong":"-5"}}}`}, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newColl(t, openEngine(t), tt.options, tt.index)
			c.Put(t0.UnixMilli(), tt.docs...)
			all := forecast(c, Horizon{Now: t0.UnixMilli(), Length: 60_000, Parts: 1})
			if len(all) != 1 {
				t.Fatal(all)
			}
			if f := all[0]; f.Pending != int64(tt.pending) || f.Overdue != 0 || f.Buckets[0] != 1 {
				t.Errorf("%+v, want %d pending", f, tt.pending)
			}
		})
	}
}
