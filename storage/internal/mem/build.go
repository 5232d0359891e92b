package mem

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sort"

	"golang.org/x/sync/errgroup"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kv"
)

// work takes the number of steps that were done: for each record one to make its keys, and
// one to fill them in. nil: nobody wants to know.
type work func(steps int64)

// workEach is the number of records after which progress is reported.
const workEach = 4096

func (w work) add(n int64) {
	if w != nil {
		w(n)
	}
}

// smallBuild is the number of records below which an index is built by one
// goroutine.
const smallBuild = 4096

// builtAtOnce is how many indexes of a collection are built in one pass over its records:
// reading the documents takes long, and the entries of all of them take memory until they
// are in their trees.
const builtAtOnce = 4

// indexBuild makes indexes over existing records: it computes and sorts the
// keys of several ranges of records in parallel, then merges them and fills
// the trees in order, several ranges of keys in parallel. The records must not
// change meanwhile.
type indexBuild struct {
	w       work
	ns      storage.Namespace
	records *records
	threads int
	rooms   []sortRoom // memory of each thread
}

// newBuild prepares a build by n goroutines.
func newBuild(n int, w work, ns storage.Namespace, t *records) *indexBuild {
	if t.Len() < smallBuild || n < 1 {
		n = 1
	}
	return &indexBuild{w: w, ns: ns, records: t, threads: n, rooms: make([]sortRoom, n)}
}

// namedMaker is an index to be built.
type namedMaker struct {
	name  string
	maker storage.Index
}

// run makes indexes in one pass over the records.
func (b *indexBuild) run(ctx context.Context, of []namedMaker) ([]*made, *kv.BuildError) {
	all := make([][]part, len(of)) // parts of each index
	for k := range all {
		all[k] = make([]part, b.threads)
	}
	if err := b.computeKeys(ctx, of, all); err != nil {
		return nil, err
	}
	built := make([]*made, len(of))
	for k, m := range of {
		x := &made{maker: m.maker}
		for i := range all[k] {
			x.multikey |= all[k][i].multikey
		}
		prefix := commonPrefixOf(all[k])
		_ = inParallel(ctx, b.threads, func(_ context.Context, i int) error {
			all[k][i].sort(prefix, &b.rooms[i])
			return nil
		})
		if err := x.fill(b.w, b.records.Len(), b.ns, m.name, all[k]); err != nil {
			return nil, &kv.BuildError{Index: m.name, Err: err}
		}
		built[k], all[k] = x, nil
	}
	return built, nil
}

// computeKeys fills the parts of all indexes, each of a range of records.
func (b *indexBuild) computeKeys(ctx context.Context, of []namedMaker, all [][]part) *kv.BuildError {
	first, end := b.records.bounds()
	step := (end-first)/storage.RecordID(b.threads) + 1
	failed := make([]*kv.BuildError, b.threads)
	_ = inParallel(ctx, b.threads, func(ctx context.Context, i int) error {
		f := filling{w: b.w, parts: make([]*part, len(of)), makers: of}
		for k := range of {
			f.parts[k] = &all[k][i]
			f.parts[k].entries = make([]keyed, 0, b.records.Len()/b.threads+b.threads)
		}
		from := first + step*storage.RecordID(i)
		if failed[i] = f.fill(ctx, b.records, from, min(from+step, end)); failed[i] != nil {
			return failed[i].Err // stops the others
		}
		return nil
	})
	var stopped *kv.BuildError
	for _, err := range failed {
		if err != nil && (stopped == nil || errors.Is(stopped.Err, context.Canceled)) {
			stopped = err
		}
	}
	return stopped
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

// stretch is a range of keys of all parts, and what is built of them.
type stretch struct {
	lists []keyList // keys of each part
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
			list := keyList{parts[i].entries, &parts[i].keys}
			for k := range min(samples, len(list.entries)) {
				keys = append(keys, list.entry(k*len(list.entries)/min(samples, len(list.entries))).key)
			}
		}
		slices.Sort(keys)
	}
	out := make([]stretch, len(parts))
	for i := range parts {
		rest := keyList{parts[i].entries, &parts[i].keys}
		for k := range out {
			end := len(rest.entries)
			if k+1 < len(out) && len(keys) > 0 {
				cut := keys[(k+1)*len(keys)/len(out)]
				end = sort.Search(end, func(i int) bool { return rest.entry(i).key >= cut })
			}
			out[k].lists = append(out[k].lists, keyList{rest.entries[:end], rest.keys})
			out[k].n += end
			rest.entries = rest.entries[end:]
		}
	}
	return out
}

// merging takes the entries of sorted lists in order.
type merging struct {
	lists []keyList
	next  [leafFill]mergedEntry
	list  [leafFill]entry
}

// mergedEntry is an entry whose key has not been read.
type mergedEntry struct {
	keys *keyRoom
	at   keyPlace
	id   storage.RecordID
}

// take returns the next entries, as many as a leaf has; none at the end. The keys of
// successive entries are at random places in memory, and the processor waits less for
// them if they are read one directly after the other.
func (m *merging) take() []entry {
	n := 0
	for n < len(m.next) {
		least := m.least()
		if least == nil {
			break
		}
		e := &least.entries[0]
		m.next[n] = mergedEntry{least.keys, e.at, e.id}
		least.entries = least.entries[1:]
		n++
	}
	for i := range m.next[:n] {
		e := &m.next[i]
		m.list[i] = entry{e.keys.key(e.at), e.id}
	}
	return m.list[:n]
}

// least returns the list whose first entry is the next, nil if all are empty.
func (m *merging) least() *keyList {
	var least *keyList
	for i := range m.lists {
		if l := &m.lists[i]; len(l.entries) > 0 && (least == nil || l.before(least)) {
			least = l
		}
	}
	return least
}

// fill takes sorted parts, whose keys are of n records, and checks uniqueness.
func (x *made) fill(w work, n int, ns storage.Namespace, name string, parts []part) error {
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
func (x *made) duplicate(a, b entry) *duplicate {
	if !x.maker.Unique() || a.id == b.id || !sameOrder(x.maker, a.key, b.key) {
		return nil
	}
	return &duplicate{key: b.key, existing: a.id}
}

// build builds the leaves of a range of keys. It reports how many entries it
// has taken, at intervals.
func (x *made) build(s *stretch, taken func(entries int)) {
	m := merging{lists: s.lists}
	untold := 0
	for leaf := m.take(); len(leaf) > 0; leaf = m.take() {
		last := s.tree.last
		if s.tree.n == 0 {
			s.first, last = leaf[0], leaf[0]
		}
		for _, e := range leaf {
			if s.dup = x.duplicate(last, e); s.dup != nil {
				return
			}
			last = e
			s.bytes += int64(len(e.key)) + entryOverhead
		}
		s.tree.leaf(leaf)
		if untold += len(leaf); untold >= workEach {
			taken(untold)
			untold = 0
		}
	}
	if untold > 0 {
		taken(untold)
	}
}

// made is an index that was made.
type made struct {
	maker    storage.Index
	entries  *entries
	bytes    int64
	multikey storage.Multikey
}

// entryOverhead is the size that an entry counts beside its key.
const entryOverhead = 8

// Build implements kv.Resident.
func (n *Snapshot) Build(ctx context.Context, of *kv.Build) (install func(kv.Fork), failed *kv.BuildError) {
	list := newRecords()
	if c := n.coll(of.Num); c != nil {
		list = &c.records
	}
	makers := make([]namedMaker, len(of.Indexes))
	for i, x := range of.Indexes {
		makers[i] = namedMaker{of.Names[i], x.Maker}
	}
	b := newBuild(of.Threads, of.Steps, of.Namespace, list)
	var all []*made
	for part := range slices.Chunk(makers, builtAtOnce) {
		built, failed := b.run(ctx, part)
		if failed != nil {
			return nil, failed
		}
		all = append(all, built...)
	}
	for i, x := range of.Indexes {
		x.Made(int64(all[i].entries.Len()), all[i].bytes, all[i].multikey)
	}
	return func(f kv.Fork) {
		for i, x := range of.Indexes {
			f.(*Fork).install(of.Num, x.Num, all[i].entries)
		}
	}, nil
}
