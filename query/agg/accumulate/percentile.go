package accumulate

import (
	"math"
	"slices"

	"github.com/duskdb/duskdb/value"
)

// exactSamples is how many numbers a percentile keeps before it begins to
// summarise; below that its answer is the exact discrete percentile.
const exactSamples = 10000

// compression of the digest: MongoDB's default, well under 0.1 % error in
// rank.
const compression = 1000

// Percentile is $percentile and $median with method "approximate": a
// t-digest, that is a sorted list of weighted means, fine at both ends and
// coarse in the middle. It is exact until it begins to merge numbers into means.
type Percentile struct {
	ps     []float64
	median bool
	buffer []float64  // the values that are not in centroids yet
	digest []centroid // the centroids in the order of their means
	weight float64    // the weight of digest
	min    float64
	max    float64
	limit  int
}

type centroid struct{ mean, weight float64 }

// NewPercentile makes a $percentile for the given fractions.
func NewPercentile(ps []float64) *Percentile { return &Percentile{ps: ps, limit: exactSamples} }

// NewMedian makes a $median.
func NewMedian() *Percentile {
	return &Percentile{ps: []float64{0.5}, median: true, limit: exactSamples}
}

// Add takes a number and ignores everything else.
func (p *Percentile) Add(v value.Value) error {
	if !v.IsNumber() {
		return nil
	}
	f := v.AsDouble()
	if math.IsNaN(f) {
		return nil
	}
	p.buffer = append(p.buffer, f)
	if len(p.buffer) >= p.limit {
		p.compress()
	}
	return nil
}

// Result is an array of doubles, or one double for $median; nulls if there
// was no number.
func (p *Percentile) Result() value.Value {
	vs := make([]value.Value, len(p.ps))
	if len(p.digest) > 0 {
		p.compress()
	} else {
		slices.Sort(p.buffer)
	}
	for i, q := range p.ps {
		vs[i] = p.at(q)
	}
	if p.median {
		return vs[0]
	}
	return value.NewArray(vs...)
}

// OfSorted returns the result for n numbers in ascending order instead of those that were
// added.
func (p *Percentile) OfSorted(n int, number func(i int) float64) value.Value {
	vs := make([]value.Value, len(p.ps))
	for i, q := range p.ps {
		if vs[i] = value.Null(); n > 0 {
			vs[i] = value.Double(number(Rank(n, q)))
		}
	}
	if p.median {
		return vs[0]
	}
	return value.NewArray(vs...)
}

func (p *Percentile) at(q float64) value.Value {
	switch {
	case len(p.digest) > 0:
		return value.Double(p.estimate(q))
	case len(p.buffer) == 0:
		return value.Null()
	}
	return value.Double(p.buffer[Rank(len(p.buffer), q)])
}

// Rank is the index of the discrete percentile q among n sorted values.
func Rank(n int, q float64) int {
	return min(max(int(math.Ceil(q*float64(n)))-1, 0), n-1)
}

// compress merges buffer and digest into a new digest.
func (p *Percentile) compress() {
	if len(p.buffer) == 0 {
		return
	}
	slices.Sort(p.buffer)
	if len(p.digest) == 0 {
		p.min, p.max = p.buffer[0], p.buffer[len(p.buffer)-1]
	}
	p.min, p.max = math.Min(p.min, p.buffer[0]), math.Max(p.max, p.buffer[len(p.buffer)-1])
	all := make([]centroid, 0, len(p.digest)+len(p.buffer))
	all = append(all, p.digest...)
	for _, f := range p.buffer {
		all = append(all, centroid{f, 1})
	}
	p.weight += float64(len(p.buffer))
	p.buffer = p.buffer[:0]
	slices.SortStableFunc(all, func(a, b centroid) int { return compareFloat(a.mean, b.mean) })
	p.digest = merged(all, p.weight)
}

func compareFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// merged joins neighbouring centroids as long as the scale function allows it.
func merged(all []centroid, total float64) []centroid {
	normaliser := compression / (4*math.Log(total/compression) + 24)
	out := all[:1]
	before := 0.0 // weight left of the current centroid
	for _, c := range all[1:] {
		cur := &out[len(out)-1]
		w := cur.weight + c.weight
		q0, q2 := before/total, (before+w)/total
		size := total / normaliser * math.Min(q0*(1-q0), q2*(1-q2))
		if w <= size && !math.IsInf(cur.mean, 0) && !math.IsInf(c.mean, 0) {
			cur.mean += (c.mean - cur.mean) * c.weight / w
			cur.weight = w
			continue
		}
		before += cur.weight
		out = append(out, c)
	}
	return out
}

// estimate finds the value of rank q by interpolation between centroids.
func (p *Percentile) estimate(q float64) float64 {
	rank := q * p.weight
	if rank < 1 {
		return p.min
	}
	if rank > p.weight-1 {
		return p.max
	}
	left := 0.0
	for i, c := range p.digest {
		if rank > left+c.weight {
			left += c.weight
			continue
		}
		if c.weight == 1 {
			return c.mean
		}
		return p.within(i, (rank-left)/c.weight)
	}
	return p.max
}

// within interpolates inside centroid i at the fraction f of its weight.
func (p *Percentile) within(i int, f float64) float64 {
	c := p.digest[i]
	low, high := p.min, p.max
	if i > 0 {
		low = (p.digest[i-1].mean + c.mean) / 2
	}
	if i+1 < len(p.digest) {
		high = (p.digest[i+1].mean + c.mean) / 2
	}
	if math.IsInf(low, 0) || math.IsInf(high, 0) {
		return c.mean
	}
	if f < 0.5 {
		return low + (c.mean-low)*f*2
	}
	return c.mean + (high-c.mean)*(f-0.5)*2
}

// Size is the memory held.
func (p *Percentile) Size() int { return overhead + 8*cap(p.buffer) + 16*cap(p.digest) }

// Partial is the state for Merge.
func (p *Percentile) Partial() value.Value {
	vs := []value.Value{value.Double(p.min), value.Double(p.max)}
	for _, c := range p.digest {
		vs = append(vs, value.Double(c.mean), value.Double(c.weight))
	}
	for _, f := range p.buffer {
		vs = append(vs, value.Double(f), value.Double(1))
	}
	return value.NewArray(vs...)
}

// Merge adds the other's centroids.
func (p *Percentile) Merge(partial value.Value) error {
	it := partial.Doc().Iter()
	bound := [2]float64{}
	for i := range bound {
		if it.Next() {
			bound[i] = it.Value().Double()
		}
	}
	var heavy []centroid
	for it.Next() {
		mean := it.Value().Double()
		it.Next()
		if w := it.Value().Double(); w != 1 {
			heavy = append(heavy, centroid{mean, w})
			continue
		}
		_ = p.Add(value.Double(mean))
	}
	if len(heavy) == 0 {
		return nil
	}
	p.compress()
	if len(p.digest) == 0 {
		p.min, p.max = bound[0], bound[1]
	}
	p.min, p.max = math.Min(p.min, bound[0]), math.Max(p.max, bound[1])
	for _, c := range heavy {
		p.weight += c.weight
	}
	all := append(p.digest, heavy...)
	slices.SortStableFunc(all, func(a, b centroid) int { return compareFloat(a.mean, b.mean) })
	p.digest = merged(all, p.weight)
	return nil
}
