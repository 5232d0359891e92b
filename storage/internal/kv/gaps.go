package kv

import (
	"bytes"
	"context"
	"slices"

	"github.com/duskdb/duskdb/storage"
)

// A store keeps the keys of deleted entries until it merges its parts, and a scan
// walks over them. Where entries are deleted again and again, as those of the
// oldest documents are by a TTL monitor, each scan from there would walk over more
// of them. So an index remembers where it has no entries.
//
// The gaps belong to one state of the index: a scan of that state that had to walk
// far notes what it found, and a ranged delete what it leaves behind. The next
// writer takes them over into its state, and divides a gap into which it writes.

// gap is a range of keys of the store, lo <= key < hi, in which an index has no
// entry.
type gap struct{ lo, hi []byte }

func (g *gap) has(key []byte) bool {
	return bytes.Compare(g.lo, key) <= 0 && bytes.Compare(key, g.hi) < 0
}

// gaps are some of the gaps of an index, in order. No two of them touch. They do not
// change.
type gaps []gap

// maxGaps is how many gaps an index remembers.
const maxGaps = 8

// skip returns the first key, not below the given one, that is in no gap.
func (g gaps) skip(key []byte) []byte {
	for i := range g {
		if g[i].has(key) {
			return g[i].hi
		}
	}
	return key
}

// behind returns the end of the gap that begins right behind a key, or nil.
func (g gaps) behind(key []byte) []byte {
	for i := range g {
		if n := len(key); len(g[i].lo) == n+1 && g[i].lo[n] == 0 && bytes.Equal(g[i].lo[:n], key) {
			return g[i].hi
		}
	}
	return nil
}

// with returns the gaps with another one, which is joined with those that it
// touches. If that is too many, it forgets one.
func (g gaps) with(n gap) gaps {
	out := make(gaps, 0, len(g)+1)
	at := 0
	for _, old := range g {
		switch {
		case bytes.Compare(old.hi, n.lo) < 0:
			out = append(out, old)
			at = len(out)
		case bytes.Compare(n.hi, old.lo) < 0:
			out = append(out, old)
		default:
			n.lo, n.hi = lesser(n.lo, old.lo), greater(n.hi, old.hi)
		}
	}
	out = slices.Insert(out, at, n)
	if len(out) <= maxGaps {
		return out
	}
	if at == 0 {
		return out[:maxGaps]
	}
	return out[1:]
}

func lesser(a, b []byte) []byte {
	if bytes.Compare(a, b) < 0 {
		return a
	}
	return b
}

func greater(a, b []byte) []byte {
	if bytes.Compare(a, b) > 0 {
		return a
	}
	return b
}

// without returns the gaps without the key of an entry: it divides the gap that has
// it, or, if there are too many, keeps the part before it.
func (g gaps) without(key []byte) gaps {
	i := slices.IndexFunc(g, func(old gap) bool { return old.has(key) })
	if i < 0 {
		return g
	}
	var parts gaps
	if bytes.Compare(g[i].lo, key) < 0 {
		parts = append(parts, gap{g[i].lo, bytes.Clone(key)})
	}
	if next := following(key); bytes.Compare(next, g[i].hi) < 0 && (len(g) < maxGaps || parts == nil) {
		parts = append(parts, gap{next, g[i].hi})
	}
	return slices.Concat(g[:i], parts, g[i+1:])
}

// following is the first key behind another one.
func following(key []byte) []byte { return append(key[:len(key):len(key)], 0) }

// knownGaps are the gaps that the index remembers.
func (x *Index) knownGaps() gaps {
	if g := x.gaps.Load(); g != nil {
		return *g
	}
	return nil
}

// note remembers a gap. Readers of the same state may do so at the same time: then
// one of the gaps is forgotten.
func (x *Index) note(n gap) {
	if bytes.Compare(n.lo, n.hi) >= 0 {
		return
	}
	old := x.gaps.Load()
	g := x.knownGaps().with(n)
	x.gaps.CompareAndSwap(old, &g)
}

// fillGap takes a key that is written out of the gaps. Only the writer to which the index
// belongs calls it.
func (x *Index) fillGap(key []byte) {
	if old := x.gaps.Load(); old != nil {
		g := old.without(key)
		x.gaps.Store(&g)
	}
}

// widenGap adds a key that is removed to a gap that ends at it. Only the writer to which
// the index belongs calls it.
func (x *Index) widenGap(key []byte) {
	for _, g := range x.knownGaps() {
		if bytes.Equal(g.hi, key) {
			x.note(gap{g.hi, following(key)})
			return
		}
	}
}

// noteGap notes that a ranged delete has removed every entry from the beginning of
// a range to the last that it has visited.
func (x *Index) noteGap(c *Coll, keys storage.KeyRange, out storage.RangeDeleted) {
	if keys.Reverse || out.Visited == 0 || out.Removed < out.Visited {
		return
	}
	if x.rowPerOrder && len(x.Maker.Order(keys.Lo)) != len(keys.Lo) {
		return // the first row may have been left out
	}
	stored := func(key []byte, id storage.RecordID) []byte {
		if x.rowPerOrder {
			return appendRowKey(nil, c.Num, x.Num, x.Maker.Order(key))
		}
		return AppendEntryKey(nil, c.Num, x.Num, key, id)
	}
	n := gap{lo: spanIn(c, x, storage.KeyRange{Lo: keys.Lo}).Lo, hi: following(stored(out.Key, out.ID))}
	if resumed(keys) {
		if after := following(stored(keys.AfterKey, keys.AfterID)); bytes.Compare(after, n.lo) > 0 {
			n.lo = after
		}
	}
	x.note(n)
}

// spanIn is the part of an index that a scan visits.
func spanIn(c *Coll, x *Index, r storage.KeyRange) Span {
	if x.rowPerOrder {
		return rowSpan(c, x, r)
	}
	return entrySpan(c, x, r)
}

// scanIndex iterates over a part of an index.
func (r reader) scanIndex(ctx context.Context, x *Index, s Span, reverse bool) Iterator {
	if reverse || r.gapKeys == 0 {
		return r.scan(ctx, s, reverse)
	}
	g := &gapped{r: r, ctx: ctx, x: x, gaps: x.knownGaps(), lo: s.Lo, hi: s.Hi}
	if len(g.gaps) > 0 {
		g.r, g.lo = r.frozen(s), g.gaps.skip(s.Lo)
	}
	if bytes.Compare(g.lo, g.hi) > 0 {
		g.lo = g.hi
	}
	g.Iterator = g.r.scan(ctx, Span{Lo: g.lo, Hi: g.hi}, false)
	return g
}

// gapped is an iterator over a part of an index that skips the gaps that are known. If
// it must walk far before its first key, it notes a new one.
type gapped struct {
	Iterator        // the iterator, from lo on
	r        reader // as it was at the beginning
	ctx      context.Context
	x        *Index
	gaps     gaps
	lo, hi   []byte
	begun    bool
	wide     bool   // it walked far and found nothing
	resume   []byte // the end of the gap behind the present key; nil: there is no gap
}

// walker is an iterator that counts the keys of the store that it has passed, deleted
// ones included.
type walker interface{ Walked() int }

// Next moves to the next key.
func (g *gapped) Next() bool {
	if g.resume != nil && !g.skip() {
		return false
	}
	ok := g.Iterator.Next()
	if !g.begun {
		g.begun = true
		if far := g.walked() >= g.r.gapKeys; far && ok {
			g.x.note(gap{g.lo, bytes.Clone(g.Key())})
		} else {
			g.wide = far
		}
	}
	if ok && len(g.gaps) > 0 {
		g.resume = g.gaps.behind(g.Key())
	}
	return ok
}

// skip continues behind a gap.
func (g *gapped) skip() bool {
	lo := g.resume
	g.resume = nil
	if bytes.Compare(lo, g.hi) >= 0 {
		lo = g.hi
	}
	if err := g.Iterator.Close(); err != nil {
		g.Iterator = failed{err}
		return false
	}
	g.Iterator = g.r.scan(g.ctx, Span{Lo: lo, Hi: g.hi}, false)
	return true
}

func (g *gapped) walked() int {
	it := g.Iterator
	if m, ok := it.(*merged); ok {
		it = m.below
	}
	if w, ok := it.(walker); ok {
		return w.Walked()
	}
	return 0
}

// Close releases the iterator and returns the error that ended it.
func (g *gapped) Close() error {
	err := g.Iterator.Close()
	if err == nil && g.wide {
		g.x.note(gap{g.lo, g.hi})
	}
	return err
}

// failed is an iterator that has ended with an error.
type failed struct{ err error }

func (failed) Next() bool             { return false }
func (failed) Key() []byte            { return nil }
func (failed) Value() ([]byte, error) { return nil, nil }
func (f failed) Close() error         { return f.err }
