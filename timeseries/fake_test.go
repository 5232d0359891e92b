package timeseries

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// fakeBuckets is a collection of buckets in memory, with an index on meta
// value and time. It implements Buckets and Store.
type fakeBuckets struct {
	info    *storage.Info
	records map[storage.RecordID]storage.Record
	last    storage.RecordID
	writes  int
	fail    error
	trust   bool // store without checks: for benchmarks
}

func newBuckets(o *Options) *fakeBuckets {
	f := &fakeBuckets{info: &storage.Info{}, records: map[storage.RecordID]storage.Record{}}
	if spec := o.DefaultIndex(); spec != nil {
		stored, err := o.BucketIndex(spec)
		if err != nil {
			panic(err)
		}
		f.info.Indexes = []storage.IndexInfo{{IndexSpec: storage.IndexSpec{Name: "i", Spec: stored}}}
	}
	return f
}

func (f *fakeBuckets) Info() *storage.Info { return f.info }

func (f *fakeBuckets) Get(id storage.RecordID) (storage.Record, bool, error) {
	r, ok := f.records[id]
	return r, ok, nil
}

var errDuplicate = errors.New("duplicate _id")

func (f *fakeBuckets) store(r storage.Record) error {
	if f.fail != nil {
		return f.fail
	}
	if f.trust {
		f.records[r.ID] = r
		return nil
	}
	if err := value.Validate(r.Doc); err != nil {
		return err
	}
	for _, o := range f.records {
		if o.ID != r.ID && value.Equal(o.Doc.Lookup("_id"), r.Doc.Lookup("_id")) {
			return errDuplicate
		}
	}
	f.writes++
	r.Doc = r.Doc.Clone()
	f.records[r.ID] = r
	return nil
}

func (f *fakeBuckets) Insert(d value.Doc) (storage.RecordID, error) {
	f.last++
	return f.last, f.store(storage.Record{ID: f.last, Doc: d})
}

func (f *fakeBuckets) Replace(r storage.Record, d value.Doc) error {
	r.Doc = d
	return f.store(r)
}

// ScanRecords scans the index on meta value and minimum, downwards.
func (f *fakeBuckets) ScanRecords(_ string, r storage.KeyRange, fn func([]byte, storage.Record) bool) error {
	type entry struct {
		key []byte
		id  storage.RecordID
	}
	var entries []entry
	for id, rec := range f.records {
		meta := rec.Doc.Lookup("meta")
		if meta.IsMissing() {
			meta = value.Null()
		}
		c := rec.Doc.Lookup("control").Doc()
		key := value.AppendKey(nil, meta)
		key = value.AppendKey(key, c.Lookup("min").Doc().Lookup("t"))
		key = value.AppendKey(key, c.Lookup("max").Doc().Lookup("t"))
		if bytes.Compare(key, r.Lo) >= 0 && bytes.Compare(key, r.Hi) < 0 {
			entries = append(entries, entry{key, id})
		}
	}
	slices.SortFunc(entries, func(a, b entry) int { return bytes.Compare(b.key, a.key) })
	for _, e := range entries {
		if !fn(e.key, f.records[e.id]) {
			break
		}
	}
	return nil
}

// all unpacks everything, in order of records.
func (f *fakeBuckets) all(t testing.TB, o *Options) (docs []value.Doc) {
	for id := storage.RecordID(1); id <= f.last; id++ {
		if r, ok := f.records[id]; ok {
			some, err := Unpack(o, r.Doc)
			if err != nil {
				t.Fatal(err)
			}
			docs = append(docs, some...)
		}
	}
	return docs
}
