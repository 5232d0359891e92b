package ttl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tidwall/btree"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// fakeHost is a server in memory: collections with the indexes that expiry
// works on, and nothing else.
type fakeHost struct {
	colls      []*fakeColl
	targets    []Target
	mu         sync.Mutex // guards params and locked, which a running monitor reads
	params     Parameters
	locked     bool
	active     int
	operations atomic.Int64
	views      int
	updates    int
	largest    int // records removed in one transaction
	onUpdate   func()
	conflicts  int                   // updates that are to have one
	refuse     func(value.Doc) error // for Remover
	letters    []value.Doc
}

func newFakeHost() *fakeHost { return &fakeHost{params: DefaultParameters()} }

func (h *fakeHost) Collections(context.Context, *Agenda, int64) (Listing, error) {
	l := Listing{Queues: h.targets}
	for _, c := range h.colls {
		if r := NewRules(c.info); r != nil {
			l.Due = append(l.Due, Collection{Namespace: c.info.Namespace, UUID: c.info.UUID, Rules: r})
			l.Skipped += r.Skipped
		}
	}
	return l, nil
}

func (h *fakeHost) Parameters() Parameters {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.params
}

func (h *fakeHost) Locked() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.locked
}

// set changes what a running monitor reads.
func (h *fakeHost) set(enabled, locked bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.params.Enabled, h.locked = enabled, locked
}

func (h *fakeHost) ActiveOperations() int { return h.active }
func (h *fakeHost) Operations() int64     { return h.operations.Load() }

func (h *fakeHost) find(c *Collection) *fakeColl {
	for _, f := range h.colls {
		if f.info.UUID == c.UUID {
			return f
		}
	}
	return nil
}

func (h *fakeHost) View(_ context.Context, c *Collection, fn func(storage.Collection, *Rules) error) error {
	h.views++
	f := h.find(c)
	if f == nil {
		return ErrGone
	}
	return fn(f, NewRules(f.info))
}

func (h *fakeHost) Update(_ context.Context, c *Collection, fn func(storage.Collection, *Rules, Remover) error) error {
	h.updates++
	if h.onUpdate != nil {
		h.onUpdate()
	}
	f := h.find(c)
	if f == nil {
		return ErrGone
	}
	if h.conflicts > 0 {
		h.conflicts--
		return storage.ErrConflict
	}
	n := 0
	defer func() { h.largest = max(h.largest, n) }()
	rules := NewRules(f.info)
	return fn(f, rules, func(r storage.Record, e *Expired) error {
		if h.refuse != nil {
			if err := h.refuse(r.Doc); err != nil {
				return err
			}
		}
		if rules.OnExpire != nil {
			h.letters = append(h.letters, e.DeadLetter(r.Doc, f.info.Namespace))
		}
		n++
		return nil
	})
}

// fakeColl implements storage.Collection.
type fakeColl struct {
	info    *storage.Info
	records map[storage.RecordID]storage.Record
	last    storage.RecordID
	entries map[string]*btree.BTreeG[fakeEntry]
	multi   map[string]storage.Multikey
}

type fakeEntry struct {
	key string
	id  storage.RecordID
}

func entryLess(a, b fakeEntry) bool { return a.key < b.key || a.key == b.key && a.id < b.id }

// newColl makes a collection of the given options and index specifications,
// in JSON.
func (h *fakeHost) newColl(name, options string, indexes ...string) *fakeColl {
	f := &fakeColl{
		info:    &storage.Info{Namespace: storage.Namespace{DB: "db", Coll: name}, Options: value.MustJSON(options)},
		records: map[storage.RecordID]storage.Record{},
		entries: map[string]*btree.BTreeG[fakeEntry]{}, multi: map[string]storage.Multikey{},
	}
	f.info.UUID[0] = byte(len(h.colls) + 1)
	for _, spec := range indexes {
		f.addIndex(value.MustJSON(spec))
	}
	h.colls = append(h.colls, f)
	return f
}

// setOptions changes the options; the Info is a new one, as in an engine.
func (f *fakeColl) setOptions(options string) {
	info := *f.info
	info.Options = value.MustJSON(options)
	f.info = &info
}

func (f *fakeColl) addIndex(spec value.Doc) {
	info := *f.info
	name := spec.Lookup("name").Str()
	info.Indexes = append(slices.Clip(info.Indexes), storage.IndexInfo{IndexSpec: storage.IndexSpec{Name: name, Spec: spec}})
	f.info = &info
	f.entries[name] = btree.NewBTreeG(entryLess)
	for _, r := range f.records {
		f.index(&info.Indexes[len(info.Indexes)-1], r)
	}
}

// internal adds the internal indexes of a policy.
func (f *fakeColl) internal(list []Internal) *fakeColl {
	for _, i := range list {
		f.addIndex(value.NewDoc("v", value.Int32(2), "key", value.Document(value.NewDoc(i.Path, value.Int32(1))),
			"name", value.String(i.Name), "internal", value.String(i.Order)))
	}
	return f
}

func (f *fakeColl) index(i *storage.IndexInfo, r storage.Record) {
	keys := fakeKeys(i.Spec, r)
	if len(keys) > 1 {
		f.multi[i.Name] = 1
	}
	for _, k := range keys {
		f.entries[i.Name].Set(fakeEntry{string(k), r.ID})
	}
}

// fakeKeys makes the keys of a record, independently of package index.
func fakeKeys(spec value.Doc, r storage.Record) (keys [][]byte) {
	path, direction := spec.Lookup("key").Doc().First()
	second := r.TS - (r.TS%1000+1000)%1000
	own, isOwn := ownTTL(r.Doc)
	switch spec.Lookup("internal").Str() {
	case "ts-inherit":
		if !isOwn {
			keys = append(keys, dateKey(second))
		}
		return keys
	case "ts-own":
		if isOwn && own > 0 {
			keys = append(keys, dateKey(second+own*1000))
		}
		return keys
	}
	add := func(v value.Value) {
		k := value.AppendKey(nil, v)
		if direction.AsDouble() < 0 {
			value.InvertKey(k)
		}
		if !slices.ContainsFunc(keys, func(o []byte) bool { return bytes.Equal(o, k) }) {
			keys = append(keys, k)
		}
	}
	p := value.ParsePath(path)
	p.Walk(r.Doc, func(v value.Value) bool {
		switch {
		case v.Kind() == value.KindArray && v.Doc().IsEmpty():
			add(value.Undefined())
		case v.Kind() == value.KindArray:
			for e := range v.Doc().Values() {
				add(e)
			}
		default:
			add(v)
		}
		return false
	})
	return keys
}

func (f *fakeColl) remove(id storage.RecordID) (keys int) {
	r := f.records[id]
	delete(f.records, id)
	for i := range f.info.Indexes {
		for _, k := range fakeKeys(f.info.Indexes[i].Spec, r) {
			f.entries[f.info.Indexes[i].Name].Delete(fakeEntry{string(k), id})
			keys++
		}
	}
	return keys
}

func (f *fakeColl) put(ts int64, docs ...string) {
	for _, d := range docs {
		_, _ = f.Insert(value.MustJSON(d), ts)
	}
}

// ids lists the _id values of what is left, in order of insertion.
func (f *fakeColl) ids() string {
	var ids []storage.RecordID
	for id := range f.records {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	out := ""
	for _, id := range ids {
		out += fmt.Sprint(f.records[id].Doc.Lookup("_id"), " ")
	}
	return out
}

func (f *fakeColl) Info() *storage.Info { return f.info }

func (f *fakeColl) Get(id storage.RecordID) (storage.Record, bool, error) {
	r, ok := f.records[id]
	return r, ok, nil
}

func (f *fakeColl) GetMany(ids []storage.RecordID, fn func(storage.Record) bool) error {
	for _, id := range ids {
		if r, ok := f.records[id]; ok && !fn(r) {
			break
		}
	}
	return nil
}

func (f *fakeColl) ScanRecords(name string, r storage.KeyRange, fn func([]byte, storage.Record) bool) error {
	return f.ScanIndex(name, r, func(key []byte, id storage.RecordID) bool { return fn(key, f.records[id]) })
}

func (f *fakeColl) Insert(d value.Doc, ts int64) (storage.RecordID, error) {
	f.last++
	r := storage.Record{ID: f.last, TS: ts, Doc: d}
	f.records[r.ID] = r
	for i := range f.info.Indexes {
		f.index(&f.info.Indexes[i], r)
	}
	return r.ID, nil
}

func (f *fakeColl) ScanIndex(name string, r storage.KeyRange, fn func([]byte, storage.RecordID) bool) error {
	t := f.entries[name]
	if t == nil {
		return storage.ErrNoIndex
	}
	visit := func(e fakeEntry) bool {
		if len(r.Lo) > 0 && e.key < string(r.Lo) || len(r.Hi) > 0 && e.key >= string(r.Hi) {
			return false
		}
		return fn([]byte(e.key), e.id)
	}
	after := fakeEntry{string(r.AfterKey), r.AfterID}
	if r.Reverse {
		start := fakeEntry{string(r.Hi), 0}
		if r.AfterKey != nil {
			start = after
		}
		t.Descend(start, func(e fakeEntry) bool {
			if e.key >= string(r.Hi) && len(r.Hi) > 0 || r.AfterKey != nil && !entryLess(e, after) {
				return true
			}
			return visit(e)
		})
		return nil
	}
	start := fakeEntry{string(r.Lo), math.MinInt64}
	if r.AfterKey != nil {
		start = after
	}
	t.Ascend(start, func(e fakeEntry) bool {
		if r.AfterKey != nil && e == after {
			return true
		}
		return visit(e)
	})
	return nil
}

func (f *fakeColl) IndexStats(name string) (storage.IndexStats, error) {
	t := f.entries[name]
	if t == nil {
		return storage.IndexStats{}, storage.ErrNoIndex
	}
	return storage.IndexStats{Entries: int64(t.Len()), Multikey: f.multi[name]}, nil
}

var errNotFaked = errors.New("not part of the fake")

func (f *fakeColl) Update(storage.RecordID, value.Doc, int64) (w storage.Written, err error) {
	return w, errNotFaked
}

func (f *fakeColl) Delete(id storage.RecordID) (w storage.Written, err error) {
	w.Old = f.records[id]
	w.Keys = f.remove(id)
	return w, nil
}

func (f *fakeColl) DeleteRange(d *storage.RangeDelete) (out storage.RangeDeleted, err error) {
	out.Done = true
	met := map[storage.RecordID]bool{}
	var picked []storage.RecordID
	scanned := f.ScanRecords(d.Index, d.Keys, func(key []byte, r storage.Record) bool {
		if met[r.ID] {
			return true
		}
		met[r.ID] = true
		var v storage.Verdict
		if v, err = d.Pick(key, r); err != nil || v.Do == storage.Stop {
			out.Done = false
			return false
		}
		if v.Do == storage.Remove {
			picked = append(picked, r.ID)
		}
		out.Visited, out.Key, out.ID = out.Visited+1, key, r.ID
		out.Done = d.Limit == 0 || out.Visited < d.Limit
		return out.Done
	})
	if err = errors.Join(scanned, err); err != nil {
		return out, err
	}
	for _, id := range picked {
		out.Keys += f.remove(id)
	}
	out.Removed = len(picked)
	return out, nil
}

func (f *fakeColl) Truncate() error { return errNotFaked }
func (f *fakeColl) Scan(storage.Range, func(storage.Record) bool) error {
	return errNotFaked
}
func (f *fakeColl) Find(string, []byte) (storage.Record, bool, error) {
	return storage.Record{}, false, errNotFaked
}
func (f *fakeColl) Count() (int64, error)             { return int64(len(f.records)), nil }
func (f *fakeColl) Size() (int64, error)              { return 0, nil }
func (f *fakeColl) LastID() (storage.RecordID, error) { return f.last, nil }
