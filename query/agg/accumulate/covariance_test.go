package accumulate

import (
	"math"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// in reads a JSON array of values.
func in(json string) (vs []value.Value) {
	for v := range value.MustJSON(`{"v": ` + json + `}`).Lookup("v").Doc().Values() {
		vs = append(vs, v)
	}
	return vs
}

// TestCovariance: the definitions on the manual's pages, and NaN and infinities as in
// mongod's AccumulatorCovariance.
func TestCovariance(t *testing.T) {
	for _, tt := range []struct{ name, pairs, pop, samp string }{
		{"none", `[]`, `null`, `null`},
		{"one", `[[1, 2]]`, `{"$numberDouble":"0.0"}`, `null`},
		{"two", `[[1, 1], [2, 3]]`, `{"$numberDouble":"0.5"}`, `{"$numberDouble":"1.0"}`},
		{"opposite", `[[0, 2], [2, 0]]`, `{"$numberDouble":"-1.0"}`, `{"$numberDouble":"-2.0"}`},
		{"others are ignored", `[[1, 1], 5, ["x", 1], [1], [1, null], [1, 2, 3], [2, 3]]`, `{"$numberDouble":"0.5"}`, `{"$numberDouble":"1.0"}`},
		{"mixed types", `[[{"$numberLong": "1"}, 1.0], [2, {"$numberDecimal": "3"}]]`, `{"$numberDecimal":"0.5"}`, `{"$numberDecimal":"1"}`},
		{"NaN", `[[1, 1], [2, 3], [{"$numberDouble": "NaN"}, 1]]`, `{"$numberDouble":"NaN"}`, `{"$numberDouble":"NaN"}`},
		{"infinity", `[[1, 1], [2, 3], [{"$numberDouble": "Infinity"}, 1]]`, `{"$numberDouble":"Infinity"}`, `{"$numberDouble":"Infinity"}`},
		{"minus infinity", `[[1, 1], [2, 3], [1, {"$numberDouble": "-Infinity"}]]`, `{"$numberDouble":"-Infinity"}`, `{"$numberDouble":"-Infinity"}`},
		{"both infinities", `[[1, 1], [2, 3], [{"$numberDouble": "Infinity"}, {"$numberDouble": "-Infinity"}]]`, `{"$numberDouble":"NaN"}`, `{"$numberDouble":"NaN"}`},
		{"infinite decimal", `[[1, 1], [2, 3], [1, {"$numberDecimal": "Infinity"}]]`, `{"$numberDecimal":"Infinity"}`, `{"$numberDecimal":"Infinity"}`},
		{"minus infinite decimal", `[[1, 1], [2, 3], [1, {"$numberDecimal": "-Infinity"}]]`, `{"$numberDecimal":"-Infinity"}`, `{"$numberDecimal":"-Infinity"}`},
		{"decimal NaN", `[[1, 1], [2, 3], [1, {"$numberDecimal": "NaN"}]]`, `{"$numberDecimal":"NaN"}`, `{"$numberDecimal":"NaN"}`},
	} {
		for _, sample := range []bool{false, true} {
			c, want := NewCovariance(sample), tt.pop
			if sample {
				want = tt.samp
			}
			for _, v := range in(tt.pairs) {
				c.Add(v)
			}
			if got := value.NewDoc("v", c.Result()).CanonicalJSON(); got != `{"v":`+want+`}` {
				t.Errorf("%s, sample %t: %s, want %s", tt.name, sample, got, want)
			}
		}
	}
}

// TestRemovedPairs: pairs that are taken away leave the covariance of the others; a decimal
// leaves decimals, as the means that it was compared with were.
func TestRemovedPairs(t *testing.T) {
	for _, tt := range []struct{ name, gone, stay, want string }{
		{"numbers", `[[1, 10], [2, 20]]`, `[[4, 40], [5, 50]]`, `{"$numberDouble":"2.500000000000007"}`},
		{"not numbers", `["x", [1], [1, null]]`, `[[4, 40], [5, 50]]`, `{"$numberDouble":"2.5"}`},
		{"infinities", `[[1, {"$numberDouble": "-Infinity"}], [{"$numberDouble": "Infinity"}, 1]]`, `[[4, 40], [5, 50]]`, `{"$numberDouble":"2.5"}`},
		{"NaN", `[[1, {"$numberDouble": "NaN"}], [{"$numberDecimal": "NaN"}, 1]]`, `[[4, 40], [5, 50]]`, `{"$numberDouble":"2.5"}`},
		{"an infinity of two", `[[1, {"$numberDouble": "Infinity"}]]`, `[[4, {"$numberDouble": "Infinity"}], [5, 50]]`, `{"$numberDouble":"0.0"}`},
		{"the smallest long", `[[1, {"$numberLong": "-9223372036854775808"}]]`, `[[4, 0], [4, 0]]`, `{"$numberDouble":"0.0"}`},
		{"a decimal", `[[{"$numberDecimal": "1"}, 10]]`, `[[4, 40], [5, 50]]`, `{"$numberDecimal":"2.5000000000001"}`},
		{"all", `[[1, 10], [2, 20]]`, `[]`, `null`},
	} {
		c := NewCovariance(false)
		for _, v := range append(in(tt.gone), in(tt.stay)...) {
			c.Add(v)
		}
		for _, v := range in(tt.gone) {
			c.Remove(v)
		}
		if got := value.NewDoc("v", c.Result()).CanonicalJSON(); got != `{"v":`+tt.want+`}` {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestLimitsOfArrays: an accumulator that grows beyond its limit fails with mongod's
// message.
func TestLimitsOfArrays(t *testing.T) {
	keyed := func(r *Ranked) func(value.Value) error {
		n := byte(0)
		return func(v value.Value) error { n++; return r.AddKeyed([]byte{n}, v) }
	}
	first, top, push, set := NewFirstN(100), NewTop(100, false), NewPush(MemoryLimit), NewAddToSet(nil, MemoryLimit)
	first.SetLimit(500)
	top.SetLimit(500)
	push.SetLimit(500)
	set.SetLimit(500)
	for name, add := range map[string]func(value.Value) error{"$firstN": first.Add, "$topN": keyed(top), "$push": push.Add, "$addToSet": set.Add} {
		var err error
		for i := 0; i < 200 && err == nil; i++ {
			err = add(value.Int32(int32(i)))
		}
		want := name + " used too much memory and spilling to disk cannot reduce memory consumption any further. Memory limit: 500 bytes"
		if name == "$push" || name == "$addToSet" {
			want = name + " used too much memory and cannot spill to disk. Used: "
		}
		e := mongoerr.From(err)
		if err == nil || e.Code != mongoerr.ExceededMemoryLimit || !strings.HasPrefix(e.Message, want) || !strings.HasSuffix(e.Message, " Memory limit: 500 bytes") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRankedOne: $top and $bottom give one value, null if there were no documents.
func TestRankedOne(t *testing.T) {
	for _, tt := range []struct {
		r    *Ranked
		want string
	}{{NewTop(1, true), `1`}, {NewBottom(1, true), `3`}, {NewTop(2, false), `[1,null]`}, {NewBottom(2, false), `[null,3]`}} {
		if got := tt.r.Result(); tt.r.single != got.IsNullish() {
			t.Error(got)
		}
		for i, v := range []value.Value{value.Int32(1), {}, value.Int32(3)} {
			if err := tt.r.AddKeyed([]byte{byte(i)}, v); err != nil {
				t.Fatal(err)
			}
		}
		if got := tt.r.Result().JSON(); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
		merged := *tt.r
		merged.items, merged.size = nil, 0
		if err := merged.Merge(tt.r.Partial()); err != nil || merged.Result().JSON() != tt.want || tt.r.Size() <= overhead {
			t.Error(merged.Result(), err, tt.r.Size())
		}
	}
}

// TestRepeated: adding a value n times is adding it n times.
func TestRepeated(t *testing.T) {
	for _, v := range in(`[2, {"$numberLong": "5"}, {"$numberLong": "9223372036854775807"}, 0.1, {"$numberDecimal": "0.1"}]`) {
		once, each := NewSum(), NewSum()
		if err := once.AddTimes(v, 10); err != nil {
			t.Fatal(err)
		}
		for range 10 {
			_ = each.Add(v)
		}
		if a, b := once.Result(), each.Result(); a.JSON() != b.JSON() || a.Kind() != b.Kind() {
			t.Errorf("%s: %s, want %s", v, a, b)
		}
	}
	c := NewCount()
	_ = c.AddTimes(value.Value{}, 7)
	if got := c.Result(); got.JSON() != "7" {
		t.Error(got)
	}
}

// TestDeviationOfWindows: mongod's removable deviation gives null for NaN and infinity,
// and an int for a single number.
func TestDeviationOfWindows(t *testing.T) {
	for json, want := range map[string]string{
		`[]`: `null`, `[5]`: `{"$numberInt":"0"}`, `[{"$numberDouble": "Infinity"}, 1]`: `null`, `[{"$numberDouble": "NaN"}]`: `null`, `[1, 3]`: `{"$numberDouble":"1.0"}`,
	} {
		s := NewStdDev(false)
		for _, v := range in(json) {
			_ = s.Add(v)
		}
		if got := value.NewDoc("v", s.WindowResult()).CanonicalJSON(); got != `{"v":`+want+`}` {
			t.Errorf("%s: %s, want %s", json, got, want)
		}
	}
}

// TestMergeOfDigests: two compressed halves of many numbers, merged, give nearly the same
// as all of the numbers.
func TestMergeOfDigests(t *testing.T) {
	ps := []float64{0, 0.1, 0.5, 0.9, 1}
	all, left, right := NewPercentile(ps), NewPercentile(ps), NewPercentile(ps)
	const n = 300_000
	for i := range n {
		v := value.Double(float64(i * 7919 % n))
		_ = all.Add(v)
		half := left
		if i%2 == 0 {
			half = right
		}
		_ = half.Add(v)
	}
	_ = all.Add(value.Double(math.NaN())) // is ignored
	for _, merged := range []*Percentile{left, NewPercentile(ps)} {
		if merged != left {
			_ = merged.Merge(left.Partial())
		} else {
			_ = merged.Merge(right.Partial())
		}
		for i, got := range enumerate(merged.Result()) {
			if want := ps[i] * (n - 1); math.Abs(got-want) > n/100 {
				t.Errorf("%v: %v, want %v", ps[i], got, want)
			}
		}
	}
}

// enumerate gives the doubles of an array.
func enumerate(array value.Value) (fs []float64) {
	for v := range array.Doc().Values() {
		fs = append(fs, v.Double())
	}
	return fs
}

// TestSizes: each accumulator reports its size, which grows with its contents.
func TestSizes(t *testing.T) {
	for name, make := range each {
		a := make()
		empty := a.Size()
		for i := range 200 {
			v := value.String(string(rune('a'+i%26)) + "a long text that takes room")
			if name == "mergeObjects" {
				v = value.Document(value.NewDoc("k", v))
			}
			if name == "median" || name == "percentile" {
				v = value.Int32(int32(i))
			}
			if err := a.Add(v); err != nil {
				t.Fatal(err)
			}
		}
		constant := map[string]bool{"sum": true, "count": true, "avg": true, "stdDevSamp": true}[name]
		if got := a.Size(); empty <= 0 || !constant && got <= empty || constant && got != empty {
			t.Errorf("%s: %d, with content %d", name, empty, got)
		}
	}
	m := NewMergeObjects()
	err := m.Add(value.Int32(5))
	if e := mongoerr.From(err); err == nil || e.Code != 40400 || e.Message != "$mergeObjects requires object inputs, but input 5 is of type int" {
		t.Error(err)
	}
	if err := m.Add(value.Null()); err != nil {
		t.Error(err)
	}
}
