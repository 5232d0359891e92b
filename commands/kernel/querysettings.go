package kernel

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// QuerySettings are the query settings: for each query shape, which indexes it may use, or
// that it is refused. As in mongod, they are one document among the cluster parameters.
type QuerySettings []*QuerySetting

// QuerySetting is the setting of one shape.
type QuerySetting struct {
	Hash           string    // queryShapeHash, in hexadecimal
	Settings       value.Doc // the document given to setQuerySettings
	Representative value.Doc // the query it was set with; nil if only the hash was known
}

// ReadQuerySettings reads the document; nil: nothing was set.
func ReadQuerySettings(d value.Doc) (s QuerySettings) {
	for v := range d.Lookup("settingsArray").Doc().Values() {
		e := v.Doc()
		s = append(s, &QuerySetting{
			Hash: e.Lookup("queryShapeHash").Str(), Settings: e.Lookup("settings").Doc(), Representative: e.Lookup("representativeQuery").Doc(),
		})
	}
	return s
}

// Find returns the setting of a shape, nil if it has none.
func (s QuerySettings) Find(hash string) *QuerySetting {
	for _, q := range s {
		if q.Hash == hash {
			return q
		}
	}
	return nil
}

// AppendTo writes what commands and the stage show of it.
func (q *QuerySetting) AppendTo(b *value.Builder) {
	b.String("queryShapeHash", q.Hash).Document("settings", q.Settings)
	if !q.Representative.IsEmpty() {
		b.Document("representativeQuery", q.Representative)
	}
}

// IndexFilters are the index filters of all collections. They last until the
// server stops, as in mongod.
type IndexFilters struct {
	Any atomic.Bool                          // cheap to ask, for those who have none
	Mu  sync.Mutex                           // guards Of
	Of  map[storage.Namespace][]*IndexFilter // the filters of each collection, in the order in which they were set
}

// Forget removes the filters of a collection that was dropped.
func (f *IndexFilters) Forget(ns storage.Namespace) {
	if f.Any.Load() {
		f.Mu.Lock()
		defer f.Mu.Unlock()
		delete(f.Of, ns)
	}
}

// Rename moves the filters of a collection to its new name.
func (f *IndexFilters) Rename(from, to storage.Namespace) {
	if f.Any.Load() {
		f.Mu.Lock()
		defer f.Mu.Unlock()
		if list := f.Of[from]; len(list) > 0 {
			delete(f.Of, from)
			f.Of[to] = list
		}
	}
}

// IndexFilter limits the indexes that queries of one shape may use.
type IndexFilter struct {
	Shape   uint64    // hash of the shape of Query, Sort, Project and Collate
	Query   value.Doc // the query of planCacheSetFilter
	Sort    value.Doc // nil: none
	Project value.Doc // nil: none
	Collate value.Doc // nil: none
	Indexes value.Doc // array of names and key patterns
}

// Apply removes the indexes that the filter does not name. It overrides a hint.
func (f *IndexFilter) Apply(pq *plan.Query, pc *plan.Collection) {
	pq.Hint = plan.Hint{}
	pc.Indexes = slices.DeleteFunc(pc.Indexes, func(x *plan.Index) bool { return !f.allows(x) })
}

func (f *IndexFilter) allows(x *plan.Index) bool {
	for v := range f.Indexes.Values() {
		if v.Kind() == value.KindString && v.Str() == x.Name || v.Kind() == value.KindDocument && value.CompareDocs(v.Doc(), x.Key, nil) == 0 {
			return true
		}
	}
	return false
}

// OrEmpty returns d, or the empty document in place of nil.
func OrEmpty(d value.Doc) value.Doc {
	if d == nil {
		return value.EmptyDoc
	}
	return d
}
