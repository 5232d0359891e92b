// Package histogram estimates quantiles of values that were counted in buckets, as
// histogram_quantile of Prometheus does.
//
// A histogram is a list of counts. Each bucket but the last has an upper bound, which
// belongs to it, and begins after the bound of the bucket before, or after zero. The last
// has no bound.
package histogram

// Total counts the values of all buckets.
func Total(counts []int64) (n int64) {
	for _, c := range counts {
		n += c
	}
	return n
}

// Quantile estimates the value that a share q of them, 0 to 1, did not exceed: linearly
// within a bucket, and the greatest bound for what is in the last. Without values it is 0.
func Quantile(counts []int64, bound func(bucket int) float64, q float64) float64 {
	total := Total(counts)
	if total == 0 {
		return 0
	}
	rank, low := q*float64(total), 0.0
	for i, count := range counts[:len(counts)-1] {
		n, high := float64(count), bound(i)
		if n > 0 && rank <= n {
			return low + (high-low)*rank/n
		}
		rank, low = rank-n, high
	}
	return low
}
