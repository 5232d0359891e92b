package agg

import (
	"bytes"
	"slices"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/agg/spill"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// sortStage is $sort, with a $limit that was joined into it.
type sortStage struct {
	pattern  sortPattern
	limit    int64 // 0: none
	collator value.Collator
}

func parseSort(p *parser, v value.Value) ([]stage, error) {
	if v.Kind() != value.KindDocument {
		return nil, mongoerr.New(15973, "the $sort key specification must be an object")
	}
	pattern, err := parseSortPattern(v.Doc())
	if err != nil {
		return nil, err
	}
	return []stage{&sortStage{pattern: pattern, collator: p.Collation}}, nil
}

func (s *sortStage) name() string { return "$sort" }

func (s *sortStage) spec() value.Value {
	b := value.NewBuilder().Document("sortKey", s.pattern.doc())
	if s.limit > 0 {
		b.Int64("limit", s.limit)
	}
	return value.Document(b.Doc())
}

func (s *sortStage) metadata() (kinds []expr.MetaKind) {
	for _, part := range s.pattern {
		if part.meta {
			kinds = append(kinds, part.kind)
		}
	}
	return kinds
}

func (s *sortStage) deps(d *deps) reach {
	s.pattern.deps(d)
	return seesAll
}

func (s *sortStage) effect() effect {
	if s.limit > 0 {
		return effect{opaque: true}
	}
	return effect{}
}

func (*sortStage) appendStats(b *value.Builder, st *Stats) { st.appendDisk(b) }

func (s *sortStage) open(x *Exec, src Iterator) (Iterator, error) {
	return lazy(src, func() (Iterator, error) {
		r := newSorting(x, s, s.limit)
		if err := r.fill(src, r.add); err != nil {
			return nil, err
		}
		return r.sorted()
	}), nil
}

// sortRecord is one document with its key.
type sortRecord struct {
	key  []byte
	doc  value.Doc
	meta expr.Meta
	seq  int
}

func (r *sortRecord) size() int64 { return int64(len(r.key) + len(r.doc) + 96) }

func compareRecords(a, b sortRecord) int {
	if c := bytes.Compare(a.key, b.key); c != 0 {
		return c
	}
	return a.seq - b.seq
}

// sorting sorts documents for one run of a stage.
type sorting struct {
	x       *Exec
	owner   stage // for statistics
	s       *sortStage
	limit   int64
	memory  int64 // bytes to hold before spilling
	records []sortRecord
	size    int64
	seq     int
	key     []byte
	arena   arena
	store   spill.Store
	own     bool // documents are copied, since they keep more memory than their own
}

func newSorting(x *Exec, owner stage, limit int64) *sorting {
	r := &sorting{x: x, owner: owner, limit: limit, memory: x.memoryLimit(), store: spill.Store{Dir: x.TempDir}}
	r.s, _ = owner.(*sortStage)
	return r
}

// fill gives all documents of src to add.
func (r *sorting) fill(src Iterator, add func(value.Doc) error) error {
	for {
		d, err := src.Next()
		if err == nil && d != nil {
			err = add(d)
		}
		if err != nil {
			r.store.Close()
			return err
		}
		if d == nil {
			src.Close()
			return nil
		}
	}
}

// sorted ends the filling.
func (r *sorting) sorted() (*sortedIterator, error) {
	if r.store.Runs() > 0 {
		return r.merge()
	}
	slices.SortFunc(r.records, compareRecords)
	return &sortedIterator{x: r.x, r: r, records: r.records}, nil
}

// add takes a document with the key of the $sort.
func (r *sorting) add(d value.Doc) (err error) {
	if r.key, err = r.s.pattern.appendKey(r.key[:0], r.x.Env, d, r.s.collator); err != nil {
		return err
	}
	return r.addKeyed(r.key, d)
}

// addKeyed takes a document with its key, which is copied.
func (r *sorting) addKeyed(key []byte, d value.Doc) error {
	r.seq++
	return r.addRecord(sortRecord{key: key, doc: d, meta: r.x.Env.Meta, seq: r.seq})
}

// addRecord takes a record; its key is copied.
func (r *sorting) addRecord(rec sortRecord) error {
	if r.limit > 0 && int64(len(r.records)) >= r.limit {
		return r.replaceWorst(rec)
	}
	rec.key = r.arena.clone(rec.key)
	if r.own {
		rec.doc = rec.doc.Clone()
	}
	r.records = append(r.records, rec)
	r.size += rec.size()
	if r.limit > 0 && int64(len(r.records)) == r.limit {
		r.heapify()
	}
	if r.size > r.memory {
		return r.spill()
	}
	return nil
}

// spill writes what is in memory as a sorted run.
func (r *sorting) spill() error {
	if !r.x.AllowDiskUse {
		return mongoerr.Newf(mongoerr.QueryExceededMemoryLimitNoDiskUseAllowed,
			"Sort exceeded memory limit of %d bytes, but did not opt in to external sorting.", r.memory)
	}
	slices.SortFunc(r.records, compareRecords)
	before := r.store.Size()
	var buf []byte
	err := r.store.Write(len(r.records), func(i int) (key, payload []byte) {
		rec := &r.records[i]
		buf = append(appendMeta(buf[:0], rec.meta), rec.doc...)
		return rec.key, buf
	})
	if err != nil {
		return diskError(err)
	}
	r.x.spilled(r.owner, r.store.Size()-before)
	r.records, r.size, r.arena = r.records[:0], 0, arena{}
	return nil
}

func (r *sorting) merge() (*sortedIterator, error) {
	if len(r.records) > 0 {
		if err := r.spill(); err != nil {
			r.store.Close()
			return nil, err
		}
	}
	m, err := r.store.Merge()
	if err != nil {
		r.store.Close()
		return nil, diskError(err)
	}
	left := int64(-1)
	if r.limit > 0 {
		left = r.limit
	}
	return &sortedIterator{x: r.x, r: r, merger: m, left: left}, nil
}

// sortedIterator gives sorted documents, from memory or from disk.
type sortedIterator struct {
	x       *Exec
	r       *sorting
	records []sortRecord
	merger  *spill.Merger // nil: from memory
	left    int64         // documents to give from the merger, -1: all
}

func (it *sortedIterator) Next() (value.Doc, error) {
	rec, err := it.record()
	it.x.Env.Meta = rec.meta
	return rec.doc, err
}

// record returns the next document with its key; the document is nil at the
// end.
func (it *sortedIterator) record() (rec sortRecord, err error) {
	if err := it.x.tick(); err != nil {
		return rec, err
	}
	if it.merger == nil {
		if len(it.records) == 0 {
			return rec, nil
		}
		rec, it.records[0] = it.records[0], sortRecord{}
		it.records = it.records[1:]
		return rec, nil
	}
	if it.left == 0 {
		return rec, nil
	}
	it.left--
	key, payload, ok, err := it.merger.Next()
	if err != nil {
		return rec, diskError(err)
	}
	if !ok {
		return rec, nil
	}
	rec.key = key
	rec.meta, rec.doc = splitMeta(payload)
	return rec, nil
}

func (it *sortedIterator) Close() {
	it.records = nil
	_ = it.r.store.Close()
}

// The bounded sort keeps the best records in a heap with the worst on top.

func (r *sorting) heapify() {
	for i := len(r.records)/2 - 1; i >= 0; i-- {
		r.siftDown(i)
	}
}

func (r *sorting) replaceWorst(rec sortRecord) error {
	worst := &r.records[0]
	if compareRecords(rec, *worst) >= 0 {
		return nil
	}
	if r.own {
		rec.doc = rec.doc.Clone()
	}
	rec.key = append(worst.key[:0:0], rec.key...)
	r.size += rec.size() - worst.size()
	*worst = rec
	r.siftDown(0)
	if r.size > r.memory {
		return r.spill()
	}
	return nil
}

func (r *sorting) siftDown(i int) {
	h := r.records
	for {
		child := 2*i + 1
		if child >= len(h) {
			return
		}
		if child+1 < len(h) && compareRecords(h[child+1], h[child]) > 0 {
			child++
		}
		if compareRecords(h[i], h[child]) >= 0 {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}

// arena copies many small slices into few large ones.
type arena struct{ free []byte }

func (a *arena) clone(b []byte) []byte {
	if len(b) > len(a.free) {
		a.free = make([]byte, max(16<<10, len(b)))
	}
	c := a.free[:len(b):len(b)]
	copy(c, b)
	a.free = a.free[len(b):]
	return c
}
