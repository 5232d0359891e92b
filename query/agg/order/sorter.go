package order

import (
	"bytes"
	"slices"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/spill"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// Record is one document with its key.
type Record struct {
	Key  []byte
	Doc  value.Doc
	Meta expr.Meta
	Seq  int
}

// Size is the memory that a record takes.
func (r *Record) Size() int64 { return int64(len(r.Key) + len(r.Doc) + 96) }

// Compare orders records by their keys, and records with equal keys by their arrival.
func Compare(a, b Record) int { return compare(&a, &b) }

func compare(a, b *Record) int {
	if c := bytes.Compare(a.Key, b.Key); c != 0 {
		return c
	}
	return a.Seq - b.Seq
}

// Sorter sorts documents for one run of a stage.
type Sorter struct {
	x       *stage.Exec
	owner   stage.Stage // the stage that the statistics belong to
	limit   int64
	memory  int64 // bytes to hold before spilling
	records []Record
	heap    []heapItem // the heap of the records of a full sorter
	size    int64
	seq     int
	// replaced counts the changes of the worst document in a full sorter.
	replaced int
	arena    arena
	claim    stage.Claim
	store    spill.Store
	own      bool // documents are copied: each is a part of a larger buffer
}

// NewSorter returns a sorter for a stage. It returns the first limit documents, or all if
// limit is 0. When it holds more bytes than memory, it writes them to disk.
func NewSorter(x *stage.Exec, owner stage.Stage, limit, memory int64) *Sorter {
	return &Sorter{x: x, owner: owner, limit: limit, memory: memory, store: spill.Store{Dir: x.TempDir}}
}

// CopyDocs makes the sorter copy documents. It is for documents that are parts of larger
// buffers, which could not be freed otherwise.
func (r *Sorter) CopyDocs() { r.own = true }

// Close removes the sorter's temporary files.
func (r *Sorter) Close() { _ = r.store.Close() }

// Worst returns the last of the documents to return; full reports whether the sorter has
// as many as its limit.
func (r *Sorter) Worst() (d value.Doc, full bool) {
	if !r.full() {
		return nil, false
	}
	return r.worst().Doc, true
}

// full reports whether the sorter has as many documents as its limit.
func (r *Sorter) full() bool { return r.limit > 0 && int64(len(r.records)) >= r.limit }

// Fill calls add with each document of src.
func (r *Sorter) Fill(src stage.Iterator, add func(value.Doc) error) error {
	if err := stage.Each(src, add); err != nil {
		_ = r.store.Close()
		return err
	}
	src.Close()
	return nil
}

// Sorted returns the sorted documents. No more can be added.
func (r *Sorter) Sorted() (*Iterator, error) {
	if r.store.Runs() > 0 {
		return r.merge()
	}
	slices.SortFunc(r.records, Compare)
	return &Iterator{x: r.x, r: r, records: r.records}, nil
}

// AddKeyed adds a document with its key. It copies the key.
func (r *Sorter) AddKeyed(key []byte, d value.Doc) error {
	r.seq++
	return r.AddRecord(Record{Key: key, Doc: d, Meta: r.x.Env.Meta, Seq: r.seq})
}

// AddRecord adds a record. It copies the key.
func (r *Sorter) AddRecord(rec Record) error {
	if r.full() {
		return r.replaceWorst(rec)
	}
	rec.Key = r.arena.clone(rec.Key)
	if r.own {
		rec.Doc = rec.Doc.Clone()
	}
	r.records = append(r.records, rec)
	r.size += rec.Size()
	if r.limit > 0 && int64(len(r.records)) == r.limit {
		r.heapify()
	}
	if r.size > r.memory {
		return r.spill()
	}
	return r.claim.Grow(r.x, r.size)
}

// spill writes the records in memory to disk, as a sorted run.
func (r *Sorter) spill() error {
	if !r.x.AllowDiskUse {
		return mongoerr.Newf(mongoerr.QueryExceededMemoryLimitNoDiskUseAllowed,
			"Sort exceeded memory limit of %d bytes, but did not opt in to external sorting.", r.memory)
	}
	slices.SortFunc(r.records, Compare)
	before := r.store.Size()
	var buf []byte
	err := r.store.Write(len(r.records), func(i int) (key, payload []byte) {
		rec := &r.records[i]
		buf = append(stage.AppendMeta(buf[:0], rec.Meta), rec.Doc...)
		return rec.Key, buf
	})
	if err != nil {
		return stage.DiskError(err)
	}
	r.x.Spilled(r.owner, r.store.Size()-before)
	clear(r.records) // else the documents would be in use until others take their place
	r.records, r.heap, r.size, r.arena = r.records[:0], r.heap[:0], 0, arena{}
	return nil
}

func (r *Sorter) merge() (*Iterator, error) {
	if len(r.records) > 0 {
		if err := r.spill(); err != nil {
			_ = r.store.Close()
			return nil, err
		}
	}
	r.records, r.heap = nil, nil
	m, err := r.store.Merge()
	if err != nil {
		_ = r.store.Close()
		return nil, stage.DiskError(err)
	}
	left := int64(-1)
	if r.limit > 0 {
		left = r.limit
	}
	return &Iterator{x: r.x, r: r, merger: m, left: left}, nil
}

// Iterator gives sorted documents, from memory or from disk.
type Iterator struct {
	x       *stage.Exec
	r       *Sorter
	records []Record
	merger  *spill.Merger // nil: from memory
	left    int64         // documents still to return from the merger, -1: all
}

// Next returns the next document.
func (it *Iterator) Next() (value.Doc, error) {
	rec, err := it.Record()
	it.x.Env.Meta = rec.Meta
	return rec.Doc, err
}

// Record returns the next document with its key; the document is nil at the
// end.
func (it *Iterator) Record() (rec Record, err error) {
	if err := it.x.Tick(); err != nil {
		return rec, err
	}
	if it.merger == nil {
		if len(it.records) == 0 {
			return rec, nil
		}
		rec, it.records[0] = it.records[0], Record{}
		it.records = it.records[1:]
		return rec, nil
	}
	if it.left == 0 {
		return rec, nil
	}
	it.left--
	key, payload, ok, err := it.merger.Next()
	if err != nil {
		return rec, stage.DiskError(err)
	}
	if !ok {
		return rec, nil
	}
	rec.Key = key
	rec.Meta, rec.Doc = stage.SplitMeta(payload)
	return rec, nil
}

// Close releases the memory and files of the sort.
func (it *Iterator) Close() {
	it.records = nil
	_ = it.r.store.Close()
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
