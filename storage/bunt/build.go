package bunt

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/tidwall/btree"
	"golang.org/x/sync/errgroup"

	"github.com/duskdb/duskdb/storage"
)

// part is the entries of some of the records of a collection.
type part struct {
	entries  []entry
	multikey storage.Multikey
}

// buildIndex makes an index over existing records: the keys of several
// stretches of records at once, each sorted, then merged into a tree that is
// filled in order.
func buildIndex(ctx context.Context, ns storage.Namespace, name string, maker storage.Index,
	records *btree.Map[storage.RecordID, string]) (*index, error) {
	n := runtime.GOMAXPROCS(0)
	if records.Len() < 4096 {
		n = 1
	}
	frozen := records.Copy()
	parts := make([]part, n)
	g, ctx := errgroup.WithContext(ctx)
	for i := range parts {
		g.Go(func() error {
			size := frozen.Len()
			return parts[i].fill(ctx, maker, frozen, size*i/n, size*(i+1)/n)
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	x := &index{maker: maker, entries: newEntries()}
	for _, p := range parts {
		x.multikey |= p.multikey
	}
	return x, x.fill(ns, name, merge(parts))
}

// fill makes the sorted entries of the records at positions from to to-1.
func (p *part) fill(ctx context.Context, maker storage.Index, records *btree.Map[storage.RecordID, string], from, to int) error {
	if from == to {
		return nil
	}
	p.entries = make([]entry, 0, to-from)
	first, _, _ := records.GetAt(from)
	var keys [][]byte
	var err error
	n := to - from
	records.Ascend(first, func(id storage.RecordID, stored string) bool {
		if n--; n&4095 == 0 && ctx.Err() != nil {
			err = ctx.Err()
			return false
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
			p.entries = append(p.entries, entry{string(k), id})
		}
		return n > 0
	})
	slices.SortFunc(p.entries, compareEntries)
	return err
}

func compareEntries(a, b entry) int {
	if c := strings.Compare(a.key, b.key); c != 0 {
		return c
	}
	return int(a.id - b.id)
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
	var last entry
	for e := range entries {
		if unique && !first && last.id != e.id && x.sameOrder(last.key, e.key) {
			return &storage.DuplicateKeyError{
				Namespace: ns, Index: name, Key: []byte(e.key), Existing: last.id,
			}
		}
		first, last = false, e
		if _, replaced := x.entries.Load(e); !replaced {
			x.bytes += int64(len(e.key)) + entryOverhead
		}
	}
	return nil
}

// buildAll makes all indexes of a collection whose records are loaded.
func (c *coll) buildAll(ctx context.Context) error {
	for i := range c.info.Indexes {
		x, err := buildIndex(ctx, c.info.Namespace, c.info.Indexes[i].Name, c.info.Indexes[i].Index, c.records)
		if err != nil {
			return fmt.Errorf("index %q of %s: %w", c.info.Indexes[i].Name, c.info.Namespace, err)
		}
		c.indexes = append(c.indexes, x)
	}
	return nil
}
