package bunt

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/keydiff"
	"github.com/duskdb/duskdb/value"
)

// work counts the steps of building indexes: for each record one to make its
// keys, and one to fill them in.
type work struct {
	report func(done, total int64) // nil: to nobody
	total  int64
	done   atomic.Int64
}

// workEach is the number of records after which progress is reported.
const workEach = 4096

func (w *work) add(n int64) {
	if w != nil && w.report != nil {
		w.report(w.done.Add(n), w.total)
	}
}

// part holds the index entries of some records of a collection.
type part struct {
	entries  []keyed
	prefix   string // of all keys
	multikey storage.Multikey
	room     []byte // for keys: many share one piece of memory
}

// keyed is an entry with the bytes of its key that follow the prefix of all
// keys. Most comparisons end there and do not read the key, which is elsewhere
// in memory.
type keyed struct {
	head uint64
	entry
}

func compareKeyed(a, b keyed) int {
	if c := cmp.Compare(a.head, b.head); c != 0 {
		return c
	}
	return compareEntries(a.entry, b.entry)
}

// smallBuild is the number of records below which an index is built by one
// goroutine.
const smallBuild = 4096

// buildIndex makes an index over existing records: it computes and sorts the
// keys of several ranges of records in parallel, then merges them and fills
// the tree in order, several ranges of keys in parallel. The records must not
// change meanwhile.
func buildIndex(ctx context.Context, w *work, ns storage.Namespace, name string, maker storage.Index, t *records) (*index, error) {
	n := runtime.GOMAXPROCS(0)
	if t.Len() < smallBuild {
		n = 1
	}
	parts := make([]part, n)
	first, end := t.bounds()
	step := (end-first)/storage.RecordID(n) + 1
	err := inParallel(ctx, n, func(ctx context.Context, i int) error {
		from := first + step*storage.RecordID(i)
		return parts[i].fill(ctx, w, maker, t, from, min(from+step, end))
	})
	if err != nil {
		return nil, err
	}
	prefix := commonPrefixOf(parts)
	_ = inParallel(ctx, n, func(_ context.Context, i int) error {
		parts[i].sort(prefix)
		return nil
	})
	x := &index{maker: maker}
	for i := range parts {
		x.multikey |= parts[i].multikey
	}
	return x, x.fill(w, t.Len(), ns, name, parts)
}

// inParallel calls fn with 0 to n-1, and returns the first error.
func inParallel(ctx context.Context, n int, fn func(ctx context.Context, i int) error) error {
	if n == 1 {
		return fn(ctx, 0)
	}
	g, ctx := errgroup.WithContext(ctx)
	for i := range n {
		g.Go(func() error { return fn(ctx, i) })
	}
	return g.Wait()
}

// bounds returns the first id and the one after the last.
func (t *records) bounds() (first, end storage.RecordID) {
	t.Scan(func(id storage.RecordID, _ string) bool { first = id; return false })
	last, _, _ := t.Max()
	return first, last + 1
}

// fill computes the entries of the records with ids from first to end-1.
func (p *part) fill(ctx context.Context, w *work, maker storage.Index, t *records, first, end storage.RecordID) error {
	var keys [][]byte
	var err error
	n := 0
	t.Ascend(first, func(id storage.RecordID, stored string) bool {
		if id >= end {
			return false
		}
		if n++; n%workEach == 0 {
			w.add(workEach)
			if err = ctx.Err(); err != nil {
				return false
			}
		}
		var multi storage.Multikey
		if keys, multi, err = maker.Keys(keys[:0], record(id, stored)); err != nil {
			return false
		}
		p.multikey |= multi
		if len(keys) > 1 {
			keys = keydiff.Sorted(keys)
		}
		for _, k := range keys {
			p.add(entry{p.keep(k), id})
		}
		return true
	})
	w.add(int64(n % workEach))
	return err
}

func (p *part) add(e entry) {
	if len(p.entries) == 0 {
		p.prefix = e.key
	} else if !strings.HasPrefix(e.key, p.prefix) {
		p.prefix = p.prefix[:commonPrefix(p.prefix, e.key)]
	}
	p.entries = append(p.entries, keyed{entry: e})
}

// keep copies a key.
func (p *part) keep(key []byte) string {
	if cap(p.room)-len(p.room) < len(key) {
		p.room = make([]byte, 0, max(64<<10, len(key)))
	}
	start := len(p.room)
	p.room = append(p.room, key...)
	return stringView(p.room[start:])
}

// commonPrefixOf returns the prefix of the keys of all parts.
func commonPrefixOf(parts []part) string {
	prefix, found := "", false
	for i := range parts {
		p := &parts[i]
		switch {
		case len(p.entries) == 0:
		case !found:
			prefix, found = p.prefix, true
		default:
			prefix = prefix[:commonPrefix(prefix, p.prefix)]
		}
	}
	return prefix
}

// sort sorts the entries, whose keys begin with prefix.
func (p *part) sort(prefix string) {
	for i := range p.entries {
		p.entries[i].head = wideHead(p.entries[i].key[len(prefix):])
	}
	slices.SortFunc(p.entries, compareKeyed)
}

// wideHead returns the first eight bytes of a key as a number that sorts as
// they do.
func wideHead(rest string) uint64 {
	b := value.StringView(rest)
	if len(b) >= 8 {
		return binary.BigEndian.Uint64(b)
	}
	var h uint64
	for i, c := range b {
		h |= uint64(c) << (56 - 8*i)
	}
	return h
}

// stretch is a range of keys of all parts, and what is built of them.
type stretch struct {
	lists [][]keyed // of each part
	n     int       // entries
	first entry
	tree  entryBuilder
	bytes int64
	dup   *duplicate // nil: none
}

// stretches divides sorted parts by key into ranges of about the same size.
// Equal keys come into the same range.
func stretches(parts []part) []stretch {
	const samples = 64
	var keys []string
	if len(parts) > 1 {
		for i := range parts {
			list := parts[i].entries
			for k := range min(samples, len(list)) {
				keys = append(keys, list[k*len(list)/min(samples, len(list))].key)
			}
		}
		slices.Sort(keys)
	}
	out := make([]stretch, len(parts))
	for i := range parts {
		rest := parts[i].entries
		for k := range out {
			end := len(rest)
			if k+1 < len(out) && len(keys) > 0 {
				cut := keys[(k+1)*len(keys)/len(out)]
				end, _ = slices.BinarySearchFunc(rest, cut, func(e keyed, cut string) int {
					if e.key < cut {
						return -1
					}
					return 1
				})
			}
			out[k].lists = append(out[k].lists, rest[:end])
			out[k].n += end
			rest = rest[end:]
		}
	}
	return out
}

// merge yields the entries of sorted lists in order.
func merge(lists [][]keyed) func(yield func(entry) bool) {
	return func(yield func(entry) bool) {
		for {
			least := -1
			for i, l := range lists {
				if len(l) > 0 && (least < 0 || compareKeyed(l[0], lists[least][0]) < 0) {
					least = i
				}
			}
			if least < 0 || !yield(lists[least][0].entry) {
				return
			}
			lists[least] = lists[least][1:]
		}
	}
}

// fill takes sorted parts, whose keys are of n records, and checks uniqueness.
func (x *index) fill(w *work, n int, ns storage.Namespace, name string, parts []part) error {
	all := stretches(parts)
	total := 0
	for i := range all {
		total += all[i].n
	}
	_ = inParallel(context.Background(), len(all), func(_ context.Context, i int) error {
		x.build(&all[i], func(entries int) { w.add(int64(entries) * int64(n) / int64(total)) })
		return nil
	})
	var tree entryBuilder
	for i := range all {
		s := &all[i]
		if s.n == 0 {
			continue
		}
		dup := s.dup
		if tree.n > 0 {
			dup = cmp.Or(x.duplicate(tree.last, s.first), dup)
		}
		if dup != nil {
			return &storage.DuplicateKeyError{Namespace: ns, Index: name, Key: []byte(dup.key), Existing: dup.existing}
		}
		tree.join(&s.tree, s.first)
		x.bytes += s.bytes
	}
	x.entries = tree.tree()
	return nil
}

// duplicate is a key that a unique index has already.
type duplicate struct {
	key      string
	existing storage.RecordID
}

// duplicate compares successive entries; nil if a unique index may have both.
func (x *index) duplicate(a, b entry) *duplicate {
	if !x.maker.Unique() || a.id == b.id || !x.sameOrder(a.key, b.key) {
		return nil
	}
	return &duplicate{key: b.key, existing: a.id}
}

// build builds the leaves of a range of keys. It reports how many entries it
// has taken, at intervals.
func (x *index) build(s *stretch, taken func(entries int)) {
	var last entry
	for e := range merge(s.lists) {
		if s.tree.n == 0 {
			s.first = e
		} else if s.dup = x.duplicate(last, e); s.dup != nil {
			return
		}
		last = e
		s.tree.add(e)
		s.bytes += int64(len(e.key)) + entryOverhead
		if s.tree.n%workEach == 0 {
			taken(workEach)
		}
	}
	if s.n > 0 {
		taken(s.n % workEach)
		s.tree.cut()
	}
}

// buildAll makes all indexes of a collection whose records are loaded.
func (c *coll) buildAll(ctx context.Context, w *work) error {
	for i := range c.info.Indexes {
		x, err := buildIndex(ctx, w, c.info.Namespace, c.info.Indexes[i].Name, c.info.Indexes[i].Index, c.records)
		if err != nil {
			return fmt.Errorf("index %q of %s: %w", c.info.Indexes[i].Name, c.info.Namespace, err)
		}
		c.indexes = append(c.indexes, x)
	}
	return nil
}
