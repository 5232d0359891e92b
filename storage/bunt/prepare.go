package bunt

import (
	"bytes"
	"context"
	"math/bits"
	"slices"
	"sync"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/keydiff"
)

var _ storage.IndexPreparer = (*Engine)(nil)

// preparation is an index over an earlier version of the records, built while
// writers continued. Creating the index applies the changes made since. They
// are found quickly, because versions of a tree share unchanged nodes.
type preparation struct {
	num     uint32 // of the collection
	options []byte
	spec    storage.IndexSpec
	records *records
	index   *index
}

// preparations are the prepared indexes that have not been released.
type preparations struct {
	mu   sync.Mutex
	list []*preparation
}

// prepareRounds limits how often a preparation is brought up to date before
// writers have to wait for the rest.
const prepareRounds = 4

// PrepareIndex builds an index over the latest state without blocking writers.
func (e *Engine) PrepareIndex(ctx context.Context, ns storage.Namespace, spec storage.IndexSpec) (release func(), err error) {
	c, err := e.latest(ns)
	if err != nil {
		return nil, err
	}
	maker, err := e.opts.Indexer.Index(c.info.Options, spec)
	if err != nil {
		return nil, err
	}
	x, err := buildIndex(ctx, ns, spec.Name, maker, c.records)
	if err != nil {
		return nil, err
	}
	p := &preparation{num: c.num, options: c.info.Options, spec: cloneSpec(spec), records: c.records, index: x}
	for range prepareRounds {
		if c, err = e.latest(ns); err != nil {
			return nil, err
		}
		if c.num != p.num || c.records == p.records {
			break
		}
		if p.index, err = p.upTo(c.records); err != nil {
			return nil, err
		}
		p.records = c.records
	}
	e.prepared.mu.Lock()
	defer e.prepared.mu.Unlock()
	e.prepared.list = append(e.prepared.list, p)
	return func() { e.prepared.remove(p) }, nil
}

// latest returns a collection in the latest state.
func (e *Engine) latest(ns storage.Namespace) (*coll, error) {
	r := e.root.Load()
	if r == nil {
		return nil, storage.ErrClosed
	}
	c := r.get(ns)
	if c == nil {
		return nil, storage.ErrNotFound
	}
	return c, nil
}

func (l *preparations) remove(p *preparation) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = slices.DeleteFunc(l.list, func(q *preparation) bool { return q == p })
}

func (l *preparations) find(c *coll, spec storage.IndexSpec) *preparation {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.list {
		if p.num == c.num && p.spec.Name == spec.Name && bytes.Equal(p.spec.Spec, spec.Spec) && bytes.Equal(p.options, c.info.Options) {
			return p
		}
	}
	return nil
}

// build returns an index over the records of a collection, based on a prepared
// one if there is one. If that fails, it builds the index from scratch, which
// gives the exact error.
func (t *tx) build(c *coll, spec storage.IndexSpec, maker storage.Index) (*index, error) {
	now := c.frozenRecords()
	if p := t.e.prepared.find(c, spec); p != nil {
		if x, err := p.upTo(now); err == nil {
			return x, nil
		}
	}
	return buildIndex(t.ctx, c.info.Namespace, spec.Name, maker, now)
}

// upTo returns the index over a later version of the records. It removes all
// old keys before it adds new ones, because records may have exchanged keys.
func (p *preparation) upTo(now *records) (*index, error) {
	x := *p.index
	x.entries = x.entries.fork()
	ids := changedIDs(p.records, now)
	for _, id := range ids {
		if old, ok := p.records.Get(id); ok {
			keys, _, err := x.maker.Keys(nil, record(id, old))
			if err != nil {
				return nil, err
			}
			for _, k := range keydiff.Sorted(keys) {
				x.remove(entry{stringView(k), id})
			}
		}
	}
	for _, id := range ids {
		stored, ok := now.Get(id)
		if !ok {
			continue
		}
		keys, multikey, err := x.maker.Keys(nil, record(id, stored))
		if err != nil {
			return nil, err
		}
		x.multikey |= multikey
		for _, k := range keydiff.Sorted(keys) {
			if other, ok := x.find(x.maker.Order(k)); ok && x.maker.Unique() && other != id {
				return nil, &storage.DuplicateKeyError{Index: p.spec.Name, Key: k, Existing: other}
			}
			x.add(entry{stringView(k), id})
		}
	}
	return &x, nil
}

// changedIDs are the ids of the records in which two versions of a tree
// differ, in order.
func changedIDs(a, b *records) []storage.RecordID {
	var ids []storage.RecordID
	changed := func(id storage.RecordID) {
		old, had := a.Get(id)
		if now, has := b.Get(id); had != has || old != now {
			ids = append(ids, id)
		}
	}
	height := max(a.height, b.height)
	differences(a.rootAt(height), b.rootAt(height), height*radixBits, 0, changed)
	for _, t := range []*records{a, b} {
		for i := range t.tailLen {
			changed(t.tailFirst + storage.RecordID(i))
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// rootAt is the root of the tree if it had a height.
func (t *records) rootAt(height uint) *recordNode {
	n := t.root
	for h := t.height; n != nil && h < height; h++ {
		n = &recordNode{bits: 1, children: []*recordNode{n}}
	}
	return n
}

// differences calls fn with the ids below nodes that two versions of a tree
// do not share.
func differences(a, b *recordNode, shift uint, base storage.RecordID, fn func(storage.RecordID)) {
	if a == b {
		return
	}
	var none recordNode
	if a == nil {
		a = &none
	}
	if b == nil {
		b = &none
	}
	for left := a.bits | b.bits; left != 0; left &= left - 1 {
		id := base + storage.RecordID(bits.TrailingZeros32(left))<<shift
		if shift == 0 {
			fn(id)
		} else {
			differences(a.kidAt(id, shift), b.kidAt(id, shift), shift-radixBits, id, fn)
		}
	}
}

func (n *recordNode) kidAt(id storage.RecordID, shift uint) *recordNode {
	if pos, _, ok := n.slot(id, shift); ok {
		return n.children[pos]
	}
	return nil
}
