package plan

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/value"
)

// long returns a $in of so many values that they are used as they are.
func long(t *testing.T, r *rand.Rand) *match.In {
	t.Helper()
	var list value.ArrayBuilder
	for i := range manyPoints + r.IntN(100) {
		switch r.IntN(4) {
		case 0:
			list.Append(value.String(fmt.Sprint("s", r.IntN(50))))
		case 1:
			list.Append(value.Double(float64(r.IntN(50)) / 4))
		default:
			list.Append(value.Int32(int32(i)))
		}
	}
	m, err := match.Compile(value.NewDoc("a", value.Document(value.NewDoc("$in", list.Value()))), match.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m.Root().(*match.In)
}

// asList is a set as a list of intervals.
func asList(s Intervals) Intervals { return intervals(slices.Collect(s.All())...) }

// TestLongLists: what is computed of the values of a long $in is what lists of intervals give.
func TestLongLists(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	reader := reader{strings: true}
	for range 200 {
		in := long(t, r)
		set := reader.in(in).set
		if in.Values.Len() < manyPoints {
			continue
		}
		if set.points == nil {
			t.Fatal("a list was made of a long $in")
		}
		same := func(what string, a, b Intervals) {
			if fmt.Sprint(asList(a).list) != fmt.Sprint(asList(b).list) {
				t.Fatalf("%s: %v, not %v", what, asList(a).list, asList(b).list)
			}
		}
		gaps := reader.complement(set)
		same("complement", gaps, reader.complement(asList(set)))
		same("complement of a complement", set, reader.complement(gaps))
		part := reader.ranged(match.OpLt, value.Int32(40))
		for _, s := range []Intervals{set, gaps} {
			same("intersection", reader.intersect(s, part), reader.intersect(asList(s), part))
			same("union", reader.union(s, part), reader.union(asList(s), part))
			for _, v := range []value.Value{value.Int32(3), value.Double(3.25), value.String("s7"), value.Null(), value.MaxKey()} {
				if reader.contains(s, v) != reader.contains(asList(s), v) {
					t.Fatalf("%v is in one of the two sets", v)
				}
			}
			for _, desc := range []bool{false, true} {
				for _, before := range []Intervals{all, point(value.Int32(7)), Points(value.Int32(7), value.Int32(8))} {
					sameRanges(t, before, s, desc)
				}
			}
		}
	}
}

// sameRanges compares the ranges of a set with those of its list of intervals.
func sameRanges(t *testing.T, before, set Intervals, desc bool) {
	t.Helper()
	parts := func(set Intervals) []part {
		if before.isAll() {
			return []part{{set: set, desc: desc}, {set: all}}
		}
		return []part{{set: before}, {set: set, desc: desc}}
	}
	got, used := keyer{}.ranges(parts(set))
	want, wantUsed := keyer{}.ranges(parts(asList(set)))
	if used != wantUsed || got.Len() != want.Len() {
		t.Fatalf("%d ranges of %d parts, not %d of %d", got.Len(), used, want.Len(), wantUsed)
	}
	for _, back := range []bool{false, true} {
		for i := range got.Len() {
			a, b := got.At(i), want.At(i)
			if !bytes.Equal(a.Lo, b.Lo) || !bytes.Equal(a.Hi, b.Hi) || a.Prefix != b.Prefix {
				t.Fatalf("range %d is %v, not %v", i, a, b)
			}
		}
		if got.Disjoint(back) != want.Disjoint(back) {
			t.Fatal("only one of the two is disjoint")
		}
		got, want = got.backward(), want.backward()
	}
}

// TestJoined: many sets are combined as they would be one after the other.
func TestJoined(t *testing.T) {
	o := order{}
	for n := range 40 {
		j := joined{order: o, join: order.union}
		want := none
		for i := range n {
			set := point(value.Int32(int32(i * 7 % 40)))
			j.add(set)
			want = o.union(want, set)
		}
		if got := j.result(none); fmt.Sprint(got.list) != fmt.Sprint(want.list) {
			t.Fatalf("%d sets: %v, not %v", n, got.list, want.list)
		}
	}
}
