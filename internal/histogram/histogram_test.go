package histogram

import "testing"

func TestQuantile(t *testing.T) {
	bound := func(i int) float64 { return []float64{10, 20, 40}[i] }
	for _, tt := range []struct {
		counts []int64
		q      float64
		want   float64
	}{
		{[]int64{0, 0, 0, 0}, 0.5, 0},
		{[]int64{10, 0, 0, 0}, 0.5, 5},    // half of the first bucket
		{[]int64{10, 0, 0, 0}, 1, 10},     // its bound
		{[]int64{5, 5, 0, 0}, 0.5, 10},    // a bound belongs to the bucket below
		{[]int64{5, 5, 10, 0}, 0.75, 30},  // linear between 20 and 40
		{[]int64{0, 0, 4, 0}, 0.25, 25},   // begins after the bound of an empty bucket
		{[]int64{1, 0, 0, 9}, 0.99, 40},   // no bound: the greatest there is
		{[]int64{2, 0, 0, 2}, 0.5, 10},    // exactly what the first bucket has
		{[]int64{0, 0, 0, 100}, 0.01, 40}, // all without a bound
	} {
		if got := Quantile(tt.counts, bound, tt.q); got != tt.want {
			t.Errorf("%v: quantile %v is %v, want %v", tt.counts, tt.q, got, tt.want)
		}
	}
	if n := Total([]int64{1, 2, 3, 4}); n != 10 {
		t.Errorf("total is %d", n)
	}
}
