package agg

import (
	"bytes"
	"slices"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/agg/spill"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

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
	limit   int64
	memory  int64 // bytes to hold before spilling
	records []sortRecord
	size    int64
	seq     int
	arena   arena
	store   spill.Store
	own     bool // documents are copied, since they keep more memory than their own
}

// newSorting begins to sort for a stage: its first limit documents, 0 for all.
// Above so many bytes of memory it goes to disk.
func newSorting(x *Exec, owner stage, limit, memory int64) *sorting {
	return &sorting{x: x, owner: owner, limit: limit, memory: memory, store: spill.Store{Dir: x.TempDir}}
}

// copyDocs makes the sorter copy documents, for those that keep more memory
// than their own.
func (r *sorting) copyDocs() { r.own = true }

// close gives back what the sorter holds on disk.
func (r *sorting) close() { _ = r.store.Close() }

// worst is the document that is last of those to give, once there are as many
// as are wanted.
func (r *sorting) worst() (d value.Doc, full bool) {
	if r.limit == 0 || int64(len(r.records)) < r.limit {
		return nil, false
	}
	return r.records[0].doc, true
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
