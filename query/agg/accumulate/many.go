package accumulate

import (
	"bytes"
	"slices"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// Ends is $firstN and $lastN: the first or last n values; missing becomes
// null.
type Ends struct {
	name   string
	n      int64
	last   bool
	values []value.Value
	start  int // ring start, for last
	size   int
	limit  int
}

// NewFirstN makes a $firstN.
func NewFirstN(n int64) *Ends { return &Ends{name: "$firstN", n: n, limit: MemoryLimit} }

// NewLastN makes a $lastN.
func NewLastN(n int64) *Ends { return &Ends{name: "$lastN", n: n, last: true, limit: MemoryLimit} }

// SetLimit changes how many bytes it may grow to.
func (e *Ends) SetLimit(n int) { e.limit = n }

// N returns how many values it keeps.
func (e *Ends) N() int64 { return e.n }

// Add takes v if there is room or it is a $lastN.
func (e *Ends) Add(v value.Value) error {
	if v.IsMissing() {
		v = value.Null()
	}
	if int64(len(e.values)) < e.n {
		e.values = append(e.values, v.Clone())
		e.size += valueSize(v)
		return checkSize(e.name, e.size, e.limit)
	}
	if e.last {
		e.size += valueSize(v) - valueSize(e.values[e.start])
		e.values[e.start] = v.Clone()
		e.start = (e.start + 1) % len(e.values)
		return checkSize(e.name, e.size, e.limit)
	}
	return nil
}

// Result is the array of values in order of arrival.
func (e *Ends) Result() value.Value {
	ordered := append(slices.Clone(e.values[e.start:]), e.values[:e.start]...)
	return value.NewArray(ordered...)
}

// Size is the memory held.
func (e *Ends) Size() int { return overhead + e.size }

// Partial is the state for Merge.
func (e *Ends) Partial() value.Value { return e.Result() }

// Merge adds the other's values.
func (e *Ends) Merge(p value.Value) error { return addAll(e, p) }

func checkSize(name string, size, limit int) error {
	if size < limit {
		return nil
	}
	return mongoerr.Newf(mongoerr.ExceededMemoryLimit,
		"%s used too much memory and spilling to disk cannot reduce memory consumption any further. Memory limit: %d bytes",
		name, limit)
}

// Ranked keeps the n best values by a key of bytes: $minN, $maxN, $top,
// $topN, $bottom and $bottomN.
type Ranked struct {
	name     string
	n        int64
	bottom   bool // keep the greatest keys instead of the least
	reverse  bool // give the greatest first
	single   bool // give the value itself instead of an array
	collator value.Collator
	items    []ranked // the values in the order of their keys, equal ones in that of arrival
	size     int
	limit    int
}

type ranked struct {
	key []byte
	v   value.Value
}

// NewMinN makes a $minN.
func NewMinN(n int64, c value.Collator) *Ranked {
	return &Ranked{name: "$minN", n: n, collator: c, limit: MemoryLimit}
}

// NewMaxN makes a $maxN.
func NewMaxN(n int64, c value.Collator) *Ranked {
	return &Ranked{name: "$maxN", n: n, collator: c, bottom: true, reverse: true, limit: MemoryLimit}
}

// NewTop makes a $top (single) or $topN; use AddKeyed.
func NewTop(n int64, single bool) *Ranked {
	return &Ranked{name: "$topN", n: n, single: single, limit: MemoryLimit}
}

// NewBottom makes a $bottom (single) or $bottomN; use AddKeyed.
func NewBottom(n int64, single bool) *Ranked {
	return &Ranked{name: "$bottomN", n: n, single: single, bottom: true, limit: MemoryLimit}
}

// SetLimit changes how many bytes it may grow to.
func (r *Ranked) SetLimit(n int) { r.limit = n }

// Add takes a value of $minN and $maxN; nullish values are ignored.
func (r *Ranked) Add(v value.Value) error {
	if v.IsNullish() {
		return nil
	}
	return r.AddKeyed(value.AppendKeyWith(nil, v, r.collator), v)
}

// AddKeyed takes a value with the bytes of its sort key, which it keeps.
func (r *Ranked) AddKeyed(key []byte, v value.Value) error {
	if v.IsMissing() {
		v = value.Null()
	}
	if int64(len(r.items)) >= r.n && !r.evict(key) {
		return nil
	}
	at, _ := slices.BinarySearchFunc(r.items, key, func(it ranked, key []byte) int {
		if bytes.Compare(it.key, key) <= 0 {
			return -1 // behind all equal keys
		}
		return 1
	})
	r.items = slices.Insert(r.items, at, ranked{key, v.Clone()})
	r.size += len(key) + valueSize(v) + 24
	return checkSize(r.name, r.size, r.limit)
}

// evict makes room for key. It returns false if key is not among the n best; of equal
// keys the earlier one stays.
func (r *Ranked) evict(key []byte) bool {
	at := len(r.items) - 1
	if r.bottom {
		at = 0
	}
	c := bytes.Compare(key, r.items[at].key)
	if r.bottom && c <= 0 || !r.bottom && c >= 0 {
		return false
	}
	r.size -= len(r.items[at].key) + valueSize(r.items[at].v) + 24
	r.items = slices.Delete(r.items, at, at+1)
	return true
}

// N returns how many values it keeps.
func (r *Ranked) N() int64 { return r.n }

// Greatest reports whether it keeps the values with the greatest keys.
func (r *Ranked) Greatest() bool { return r.bottom }

// Result returns the value itself if single is set, else an array.
func (r *Ranked) Result() value.Value {
	if r.single {
		if len(r.items) == 0 {
			return value.Null()
		}
		return r.items[0].v
	}
	vs := make([]value.Value, len(r.items))
	for i, it := range r.items {
		if r.reverse {
			i = len(vs) - 1 - i
		}
		vs[i] = it.v
	}
	return value.NewArray(vs...)
}

// Size is the memory held.
func (r *Ranked) Size() int { return overhead + r.size }

// Partial is the state for Merge.
func (r *Ranked) Partial() value.Value {
	b := value.NewBuilder()
	for i, it := range r.items {
		b.StartDocument(string(value.AppendIndex(nil, i)))
		b.Append("k", value.Binary(0, it.key)).Append("v", it.v)
		b.End()
	}
	return value.Array(b.Doc())
}

// Merge adds the other's values.
func (r *Ranked) Merge(p value.Value) error {
	for v := range p.Doc().Values() {
		_, key := v.Doc().Lookup("k").Binary()
		if err := r.AddKeyed(slices.Clone(key), v.Doc().Lookup("v")); err != nil {
			return err
		}
	}
	return nil
}
