package accumulate

import (
	"bytes"
	"math"
	"math/big"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// each makes one of every accumulator.
var each = map[string]func() Accumulator{
	"addToSet":     func() Accumulator { return NewAddToSet(nil, MemoryLimit) },
	"avg":          func() Accumulator { return NewAvg() },
	"count":        func() Accumulator { return NewCount() },
	"first":        func() Accumulator { return NewFirst() },
	"firstN":       func() Accumulator { return NewFirstN(3) },
	"last":         func() Accumulator { return NewLast() },
	"lastN":        func() Accumulator { return NewLastN(3) },
	"max":          func() Accumulator { return NewMax(nil) },
	"maxN":         func() Accumulator { return NewMaxN(3, nil) },
	"median":       func() Accumulator { return NewMedian() },
	"mergeObjects": func() Accumulator { return NewMergeObjects() },
	"min":          func() Accumulator { return NewMin(nil) },
	"minN":         func() Accumulator { return NewMinN(3, nil) },
	"percentile":   func() Accumulator { return NewPercentile([]float64{0, 0.5, 1}) },
	"push":         func() Accumulator { return NewPush(MemoryLimit) },
	"stdDevSamp":   func() Accumulator { return NewStdDev(true) },
	"sum":          func() Accumulator { return NewSum() },
}

func genInt(t *rapid.T) value.Value {
	return rapid.SampledFrom([]value.Value{
		value.Int32(1), value.Int32(-7), value.Int64(5), value.Double(0.25), value.Null(), {}, value.String("x"),
		value.DecimalValue(value.DecimalFromInt64(3)), value.Int64(math.MaxInt64),
	}).Draw(t, "v")
}

// Merging the partials of two halves gives what one accumulator gives.
func TestMergeIsAdd(t *testing.T) {
	for name, make := range each {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				one, left, right, merged := make(), make(), make(), make()
				n := rapid.IntRange(0, 12).Draw(rt, "n")
				cut := rapid.IntRange(0, n).Draw(rt, "cut")
				for i := range n {
					v := genInt(rt)
					if name == "mergeObjects" {
						v = value.Document(value.NewDoc(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "k"), value.Int32(int32(i))))
					}
					half := left
					if i >= cut {
						half = right
					}
					for _, a := range []Accumulator{one, half} {
						if err := a.Add(v); err != nil {
							rt.Fatal(err)
						}
					}
				}
				for _, half := range []Accumulator{left, right} {
					// Partials go through bytes, as when they are spilled.
					if err := merged.Merge(value.Unmarshal(value.Marshal(nil, half.Partial()))); err != nil {
						rt.Fatal(err)
					}
				}
				want, got := one.Result(), merged.Result()
				if name == "stdDevSamp" && want.Kind() == value.KindDouble {
					if math.Abs(want.Double()-got.Double()) > 1e-9*math.Abs(want.Double()) {
						rt.Fatalf("%s, want %s", got, want)
					}
					return
				}
				if want.JSON() != got.JSON() || want.Kind() != got.Kind() {
					rt.Fatalf("%s, want %s", got.JSON(), want.JSON())
				}
			})
		})
	}
}

// A sum of integers is exact as long as a long can hold it.
func TestSumOfIntegersIsExact(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, exact := NewSum(), new(big.Int)
		for _, n := range rapid.SliceOf(rapid.Int64()).Draw(rt, "ns") {
			_ = s.Add(value.Int64(n))
			exact.Add(exact, big.NewInt(n))
		}
		got := s.Result()
		if exact.IsInt64() && exact.Sign() != 0 && (got.Kind() != value.KindInt64 || got.Int64() != exact.Int64()) {
			rt.Fatalf("%s, want long %s", got, exact)
		}
		if f, _ := new(big.Float).SetInt(exact).Float64(); !exact.IsInt64() && got.AsDouble() != f {
			rt.Fatalf("%s, want %g", got, f)
		}
	})
}

// The compensated sum of doubles lies within one unit of the exact one.
func TestSumOfDoublesIsCompensated(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var d DoubleDouble
		exact := new(big.Float).SetPrec(2000)
		for _, f := range rapid.SliceOf(rapid.Float64Range(-1e10, 1e10)).Draw(rt, "fs") {
			d.AddDouble(f)
			exact.Add(exact, new(big.Float).SetFloat64(f))
		}
		want, _ := exact.Float64()
		if got := d.Double(); math.Abs(got-want) > 1e-20+math.Abs(want)*1e-15 {
			rt.Fatalf("%g, want %g", got, want)
		}
	})
}

func TestDecimalOfSum(t *testing.T) {
	var d DoubleDouble
	d.AddDouble(0.1)
	d.AddInt64(3)
	if got := d.Decimal().String(); got != "3.100000000000000005551115123125783" {
		t.Error(got)
	}
	d.AddDouble(math.Inf(1))
	if d.Decimal().IsInf() != 1 {
		t.Error(d.Decimal())
	}
}

func TestPercentileOfManyIsClose(t *testing.T) {
	p := NewPercentile([]float64{0, 0.01, 0.5, 0.9, 0.999, 1})
	const n = 200_000
	x := uint32(1)
	values := make([]float64, n)
	for i := range values {
		x = x*1664525 + 1013904223
		values[i] = float64(x % 1_000_000)
		if err := p.Add(value.Double(values[i])); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(values)
	i := 0
	for v := range p.Result().Doc().Values() {
		want := values[Rank(n, p.ps[i])]
		if math.Abs(v.Double()-want) > 2000 {
			t.Errorf("p %v: %v, want about %v", p.ps[i], v, want)
		}
		i++
	}
	if p.Size() > 1<<20 {
		t.Error("size", p.Size())
	}
}

func TestLimits(t *testing.T) {
	push := NewPush(100)
	set := NewAddToSet(nil, 200)
	var err, err2 error
	for i := range 50 {
		if e := push.Add(value.Int32(int32(i))); e != nil {
			err = e
		}
		if e := set.Add(value.Int32(int32(i))); e != nil {
			err2 = e
		}
	}
	if !mongoerr.Is(err, mongoerr.ExceededMemoryLimit) || !mongoerr.Is(err2, mongoerr.ExceededMemoryLimit) {
		t.Error(err, err2)
	}
}

func TestAvgOfDecimalsDividesOnce(t *testing.T) {
	a := NewAvg()
	for _, s := range []string{"1.10", "2.20", "3.31"} {
		d, _ := value.ParseDecimal(s)
		_ = a.Add(value.DecimalValue(d))
	}
	if got := a.Result().Decimal().String(); got != "2.203333333333333333333333333333333" {
		t.Error(got)
	}
}

func BenchmarkSumInts(b *testing.B) {
	s := NewSum()
	for i := range b.N {
		_ = s.Add(value.Int32(int32(i)))
	}
}

func BenchmarkSumDoubles(b *testing.B) {
	s := NewSum()
	for i := range b.N {
		_ = s.Add(value.Double(float64(i) * 0.1))
	}
}

// TestPushIsNotCopied: a long $push is not copied to grow, and its result once.
func TestPushIsNotCopied(t *testing.T) {
	const n = 20_000
	v := value.String(strings.Repeat("x", 1000))
	var p *Push
	var array value.Doc
	var before, middle, after runtime.MemStats
	runtime.ReadMemStats(&before)
	p = NewPush(MemoryLimit)
	for range n {
		if err := p.Add(v); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&middle)
	array = p.Result().Doc()
	runtime.ReadMemStats(&after)
	size := uint64(len(array))
	if got := middle.TotalAlloc - before.TotalAlloc; got > size*11/10+maxPart || uint64(p.Size()) > size+2*maxPart {
		t.Errorf("%d bytes allocated, Size is %d, for an array of %d", got, p.Size(), size)
	}
	if got := after.TotalAlloc - middle.TotalAlloc; got > size*11/10 {
		t.Errorf("%d bytes allocated for the result of %d", got, size)
	}
	b := value.NewBuilder()
	p.AppendTo(b.String("s", "x"), "a")
	d := b.Int32("n", 1).Doc()
	if !bytes.Equal(d.Lookup("a").Doc(), array) || d.Lookup("n").Int32() != 1 {
		t.Error("a document with the array has another one")
	}
	if err := value.Validate(d); err != nil {
		t.Error(err)
	}
	if array.Len() != n || array.Index(n-1).Str() != v.Str() {
		t.Errorf("%d elements", array.Len())
	}
}
