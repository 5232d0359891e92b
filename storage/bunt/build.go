package bunt

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/duskdb/duskdb/storage"
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
	entries  []entry
	multikey storage.Multikey
	room     []byte // for keys: many share one piece of memory
}

// buildIndex makes an index over existing records: it computes and sorts the
// keys of several ranges of records in parallel, then merges them and fills
// the tree in order. The records must not change meanwhile.
func buildIndex(ctx context.Context, w *work, ns storage.Namespace, name string, maker storage.Index, t *records) (*index, error) {
	n := runtime.GOMAXPROCS(0)
	if t.Len() < 4096 {
		n = 1
	}
	parts := make([]part, n)
	first, end := t.bounds()
	step := (end-first)/storage.RecordID(n) + 1
	g, ctx := errgroup.WithContext(ctx)
	for i := range parts {
		from := first + step*storage.RecordID(i)
		g.Go(func() error { return parts[i].fill(ctx, w, maker, t, from, min(from+step, end)) })
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	x := &index{maker: maker}
	for _, p := range parts {
		x.multikey |= p.multikey
	}
	err := x.fill(ns, name, merge(parts))
	w.add(int64(t.Len()))
	return x, err
}

// bounds returns the first id and the one after the last.
func (t *records) bounds() (first, end storage.RecordID) {
	t.Scan(func(id storage.RecordID, _ string) bool { first = id; return false })
	last, _, _ := t.Max()
	return first, last + 1
}

// fill computes the sorted entries of the records with ids from first to
// end-1.
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
			keys = sortedKeys(keys)
		}
		for _, k := range keys {
			p.entries = append(p.entries, entry{p.keep(k), id})
		}
		return true
	})
	w.add(int64(n % workEach))
	slices.SortFunc(p.entries, compareEntries)
	return err
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

// merge yields the entries of all parts in order.
func merge(parts []part) func(yield func(entry) bool) {
	return func(yield func(entry) bool) {
		heads := make([]int, len(parts))
		for {
			least := -1
			for i, p := range parts {
				if heads[i] < len(p.entries) &&
					(least < 0 || entryLess(p.entries[heads[i]], parts[least].entries[heads[least]])) {
					least = i
				}
			}
			if least < 0 || !yield(parts[least].entries[heads[least]]) {
				return
			}
			heads[least]++
		}
	}
}

// fill takes sorted entries and checks uniqueness.
func (x *index) fill(ns storage.Namespace, name string, entries func(func(entry) bool)) error {
	unique, first := x.maker.Unique(), true
	var b entryBuilder
	var last entry
	for e := range entries {
		if unique && !first && last.id != e.id && x.sameOrder(last.key, e.key) {
			return &storage.DuplicateKeyError{
				Namespace: ns, Index: name, Key: []byte(e.key), Existing: last.id,
			}
		}
		first, last = false, e
		b.add(e)
		x.bytes += int64(len(e.key)) + entryOverhead
	}
	x.entries = b.tree()
	return nil
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
