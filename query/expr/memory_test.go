package expr

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// claims is a Memory that counts what is claimed.
type claims struct {
	total        int64
	ranges, maps int64
	refuse       error
}

func (c *claims) Claim(n int64) error { c.total += n; return c.refuse }
func (c *claims) RangeBytes() int64   { return cmp.Or(c.ranges, defaultMemory) }
func (c *claims) MapBytes() int64     { return cmp.Or(c.maps, defaultMemory) }

// allocated returns how many bytes fn allocates.
func allocated(fn func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	fn()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// TestMemoryOfArrays: arrays whose lengths are known are not copied to grow, and elements are
// sorted by their positions. What is allocated in all is a multiple of the array's bytes, and
// what is claimed covers the arrays.
func TestMemoryOfArrays(t *testing.T) {
	const n = 600_000
	array := evalWith(t, NewEnv(0), fmt.Sprintf(`{$range: ['$zero', %d]}`, n), value.NewDoc("zero", value.Int32(0)))
	size := int64(len(array.Bytes()))
	d := value.NewDoc("zero", value.Int32(0), "a", array)
	for _, c := range []struct {
		name, expr   string
		most, claims float64 // in arrays
	}{
		{"$range", fmt.Sprintf(`{$range: ['$zero', %d]}`, n), 1.1, 1},
		{"$concatArrays", `{$concatArrays: ['$a', '$a']}`, 2.3, 2},
		{"$map", `{$map: {input: '$a', in: {$add: ['$$this', 1]}}}`, 1.1, 1},
		{"$reverseArray", `{$reverseArray: '$a'}`, 1.5, 1.3},
		{"$sortArray", `{$sortArray: {input: '$a', sortBy: -1}}`, 1.7, 1.3},
		{"$setUnion", `{$setUnion: ['$a', {$range: ['$zero', 1000]}]}`, 1.7, 1.3},
		{"$slice", fmt.Sprintf(`{$slice: ['$a', %d]}`, n-1), 1.1, 1},
	} {
		e := compile(t, c.expr, nil)
		env, held := NewEnv(0), &claims{}
		env.Memory = held
		got := float64(allocated(func() {
			if _, err := e.Eval(env, d); err != nil {
				t.Error(c.name, err)
			}
		})) / float64(size)
		if got > c.most {
			t.Errorf("%s allocates %.2f times the array, want at most %.2f", c.name, got, c.most)
		}
		if claimed := float64(held.total) / float64(size); claimed < c.claims*0.95 || claimed > got+1 {
			t.Errorf("%s claims %.2f times the array and allocates %.2f", c.name, claimed, got)
		}
	}
}

func evalWith(t *testing.T, env *Env, e string, d value.Doc) value.Value {
	t.Helper()
	v, err := compile(t, e, nil).Eval(env, d)
	if err != nil {
		t.Fatal(e, err)
	}
	return v
}

// TestMemoryLimits: mongod's limits of $range, $map and $reduce, with its messages.
func TestMemoryLimits(t *testing.T) {
	for _, c := range []struct {
		expr, want string
		memory     claims
	}{
		{`{$range: ['$zero', 100]}`, "$range would use too much memory (1640 bytes) and cannot spill to disk. Memory limit: 1100 bytes", claims{ranges: 1100}},
		{`{$range: ['$zero', 60]}`, "", claims{ranges: 1100}},
		{`{$map: {input: {$range: ['$zero', 100]}, in: 'a long string, of more than thirty bytes'}}`, "$map would use too much memory and cannot spill", claims{maps: 1100}},
		{`{$map: {input: {$range: ['$zero', 10]}, in: 'a long string, of more than thirty bytes'}}`, "", claims{maps: 1100}},
		{`{$filter: {input: {$range: ['$zero', 100]}, cond: true}}`, "", claims{maps: 1100}},
		{`{$reduce: {input: {$range: ['$zero', 100]}, initialValue: [], in: {$concatArrays: ['$$value', ['0123456789abcdef']]}}}`, "$reduce would use too much memory and cannot spill", claims{maps: 1100}},
	} {
		env := NewEnv(0)
		env.Memory = &c.memory
		_, err := compile(t, c.expr, nil).Eval(env, value.NewDoc("zero", value.Int32(0)))
		switch {
		case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.HasSuffix(err.Error(), ": "+c.want) || !mongoerr.Is(err, mongoerr.ExceededMemoryLimit)):
			t.Errorf("%s: %v, want %q", c.expr, err, c.want)
		}
	}
}

// TestHeldMemory: what one evaluation holds at a time is limited. Only what is still needed
// counts.
func TestHeldMemory(t *testing.T) {
	d := value.NewDoc("a", evalWith(t, NewEnv(0), `{$range: ['$zero', 500000]}`, value.NewDoc("zero", value.Int32(0))))
	size := len(d)
	for _, c := range []struct {
		expr string
		held float64 // in arrays
	}{
		{`{$size: {$reverseArray: {$reverseArray: {$reverseArray: '$a'}}}}`, 2.4},
		{`{$sum: [{$size: {$reverseArray: '$a'}}, {$size: {$reverseArray: '$a'}}, {$size: {$reverseArray: '$a'}}]}`, 1.4},
		{`[{$reverseArray: '$a'}, {$reverseArray: '$a'}]`, 2.4},
		{`{$reduce: {input: [1, 2, 3], initialValue: 0, in: {$add: ['$$value', {$size: {$reverseArray: '$a'}}]}}}`, 1.4},
		{`{$let: {vars: {x: {$reverseArray: '$a'}, y: {$reverseArray: '$a'}}, in: {$size: {$concatArrays: ['$$x', '$$y']}}}}`, 4.1},
	} {
		env, held := NewEnv(0), &claims{}
		env.Memory = held
		evalWith(t, env, c.expr, d)
		if got := float64(held.total) / float64(size); got > c.held || got < c.held*0.8 {
			t.Errorf("%s holds %.2f arrays, want %.2f", c.expr, got, c.held)
		}
	}
	env := NewEnv(0)
	if err := env.hold("$setUnion", maxHeld); err != nil {
		t.Error(err)
	}
	if err := env.hold("$setUnion", 1); !mongoerr.Is(err, mongoerr.ExceededMemoryLimit) {
		t.Errorf("more than the limit: %v", err)
	}
	refusal := mongoerr.New(mongoerr.Interrupted, "operation was interrupted")
	env.Memory = &claims{refuse: refusal}
	if _, err := compile(t, `{$reverseArray: '$a'}`, nil).Eval(env, d); err == nil || err.Error() != refusal.Error() {
		t.Errorf("a refused claim: %v", err)
	}
}

// TestConstantsAreSmall: a constant expression whose value is large is not evaluated at
// compile time.
func TestConstantsAreSmall(t *testing.T) {
	var e *Expr
	if n := allocated(func() { e = compile(t, `{$range: [0, 6000000]}`, nil) }); n > maxFoldedBytes {
		t.Errorf("%d bytes allocated at compile time", n)
	}
	if _, ok := e.Const(); ok {
		t.Error("the array is a constant")
	}
}

// TestMergeSort: any order is sorted, and equal elements keep theirs.
func TestMergeSort(t *testing.T) {
	type item struct{ key, at int }
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 15, 16, 17, 31, 33, 100, 1000, 4097} {
		for _, keys := range []func(i int) int{
			func(i int) int { return i }, func(i int) int { return -i }, func(i int) int { return i % 7 },
			func(int) int { return r.IntN(n) }, func(int) int { return r.IntN(10) }, func(i int) int { return i % (n/2 + 1) },
			func(i int) int { return -i / 3 }, func(int) int { return 0 },
		} {
			s := make([]item, n)
			for i := range s {
				s[i] = item{keys(i), i}
			}
			want := slices.Clone(s)
			order := func(a, b item) int { return cmp.Compare(a.key, b.key) }
			slices.SortStableFunc(want, order)
			if err := mergeSort(NewEnv(0), s, order); err != nil || !slices.Equal(s, want) {
				t.Fatalf("%d elements: %v, %v, want %v", n, err, s, want)
			}
		}
	}
}

// TestManyArrays: a list of more bytes than positions can express is kept as values, whose
// memory is limited.
func TestManyArrays(t *testing.T) {
	a := value.NewArray(value.Binary(0, make([]byte, 1<<20)))
	arrays := make([]value.Value, math.MaxUint32>>20+1)
	for i := range arrays {
		arrays[i] = a
	}
	l, err := sorted(NewEnv(0), "$setUnion", arrays...)
	if err != nil || l.len() != 1 {
		t.Error(l.len(), err)
	}
}
