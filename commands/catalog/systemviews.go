package catalog

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/query/index"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// SystemViews is the collection that has the definitions of the views of a database, also
// those that time series are. It is not stored: [Open] makes it of the catalog, so that
// the two cannot differ.
const SystemViews = "system.views"

// Open opens a collection for reading. system.views exists while its database has a view.
func Open(tx storage.Tx, ns storage.Namespace) (storage.Collection, error) {
	if ns.Coll != SystemViews {
		return tx.Collection(ns)
	}
	infos, err := tx.Collections(ns.DB)
	if err != nil {
		return nil, err
	}
	if v := newViews(infos); v != nil {
		return v, current(tx, v.list[0].Namespace)
	}
	return tx.Collection(ns)
}

// current fails if the transaction reads an outdated catalog, and runs again therefore. Reads
// of records notice that by themselves, before the function of a View relies on what it read.
func current(tx storage.Tx, ns storage.Namespace) error {
	coll, err := tx.Collection(ns)
	if err != nil {
		return err
	}
	_, _, err = coll.Get(1)
	return err
}

// List lists the collections of a database ("" for all) with system.views, which stands
// behind the others of its database.
func List(tx storage.Tx, db string) ([]*storage.Info, error) {
	infos, err := tx.Collections(db)
	if err != nil || !slices.ContainsFunc(infos, isView) {
		return infos, err
	}
	var all []*storage.Info
	for len(infos) > 0 {
		end := slices.IndexFunc(infos, func(i *storage.Info) bool { return i.Namespace.DB != infos[0].Namespace.DB })
		if end < 0 {
			end = len(infos)
		}
		all = append(all, infos[:end]...)
		if v := newViews(infos[:end]); v != nil {
			all = slices.DeleteFunc(all, func(i *storage.Info) bool { return i.Namespace == v.info.Namespace })
			all = append(all, v.info)
		}
		infos = infos[end:]
	}
	return all, nil
}

func isView(info *storage.Info) bool {
	k := Of(info).Kind
	return k == View || k == TimeSeries
}

// views is the collection system.views of one state of the catalog. The id of a record is
// that of the view, so that cursors find their place when other views come and go.
type views struct {
	info *storage.Info
	list []*storage.Info // the views, in the order of their names
	byID []*storage.Info // in the order of their record ids; nil until it is wanted
}

// newViews makes system.views of the collections of a database, nil if none is a view.
func newViews(infos []*storage.Info) *views {
	v := &views{}
	for _, info := range infos {
		if isView(info) {
			v.list = append(v.list, info)
		}
	}
	if v.list == nil {
		return nil
	}
	v.info = &storage.Info{Namespace: storage.Namespace{DB: v.list[0].Namespace.DB, Coll: SystemViews}, Options: value.EmptyDoc, Indexes: viewsIndexes}
	v.info.UUID = viewsUUID(v.info.Namespace)
	v.info.Meta = Indexer{}.Attach(v.info)
	return v
}

// viewsIndexes is the index on _id.
var viewsIndexes = func() []storage.IndexInfo {
	spec := index.IDSpec(nil)
	return []storage.IndexInfo{{IndexSpec: spec.Stored(), Index: spec}}
}()

// viewsUUID makes a UUID of a namespace, always the same one.
func viewsUUID(ns storage.Namespace) (id [16]byte) {
	sum := sha256.Sum256([]byte(ns.String()))
	copy(id[:], sum[:])
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return id
}

// ordered returns the views in the order of their record ids.
func (v *views) ordered() []*storage.Info {
	if v.byID == nil {
		v.byID = slices.SortedFunc(slices.Values(v.list), func(a, b *storage.Info) int { return cmp.Compare(viewID(a), viewID(b)) })
	}
	return v.byID
}

func viewID(view *storage.Info) storage.RecordID {
	return storage.RecordID(binary.BigEndian.Uint64(view.UUID[:])>>1 | 1)
}

// record is the definition of a view as mongod stores it.
func (v *views) record(view *storage.Info) storage.Record {
	m := Of(view)
	b := value.NewBuilder().String("_id", view.Namespace.String())
	if m.Kind == TimeSeries {
		b.String("viewOn", reserved.Buckets(view.Namespace.Coll)).Array("pipeline", m.Series.ViewPipeline())
	} else {
		b.String("viewOn", m.ViewOn).Array("pipeline", m.Pipeline)
	}
	if m.Collation != nil {
		b.Document("collation", m.Collation.Doc())
	}
	return storage.Record{ID: viewID(view), Doc: b.Doc()}
}

// key is the key of a view in the index on _id.
func (v *views) key(view *storage.Info) []byte {
	id := value.NewDoc("_id", value.String(view.Namespace.String()))
	keys, _, err := viewsIndexes[0].Index.Keys(nil, storage.Record{Doc: id})
	if err != nil { // every string has a key
		return nil
	}
	return keys[0]
}

// Info implements storage.Collection, as do the other methods.
func (v *views) Info() *storage.Info { return v.info }

// Get reads the definition of a view.
func (v *views) Get(id storage.RecordID) (storage.Record, bool, error) {
	list := v.ordered()
	i, found := slices.BinarySearchFunc(list, id, func(view *storage.Info, id storage.RecordID) int { return cmp.Compare(viewID(view), id) })
	if !found {
		return storage.Record{}, false, nil
	}
	return v.record(list[i]), true, nil
}

// GetMany yields the definitions of views.
func (v *views) GetMany(ids []storage.RecordID, fn func(storage.Record) bool) error {
	for _, id := range ids {
		if r, ok, _ := v.Get(id); ok && !fn(r) {
			return nil
		}
	}
	return nil
}

// Scan yields the definitions in the order of the record ids.
func (v *views) Scan(r storage.Range, fn func(storage.Record) bool) error {
	for view := range inDirection(v.ordered(), r.Reverse) {
		id := viewID(view)
		after, until := r.After == 0 || id > r.After, r.Until == 0 || id <= r.Until
		if r.Reverse {
			after, until = r.After == 0 || id < r.After, r.Until == 0 || id >= r.Until
		}
		if after && until && !fn(v.record(view)) {
			return nil
		}
	}
	return nil
}

// ScanIndex yields the entries of the index on _id.
func (v *views) ScanIndex(name string, r storage.KeyRange, fn func([]byte, storage.RecordID) bool) error {
	return v.scanIndex(name, r, func(key []byte, view *storage.Info) bool { return fn(key, viewID(view)) })
}

// ScanRecords yields the entries of the index on _id with the definitions.
func (v *views) ScanRecords(name string, r storage.KeyRange, fn func([]byte, storage.Record) bool) error {
	return v.scanIndex(name, r, func(key []byte, view *storage.Info) bool { return fn(key, v.record(view)) })
}

func (v *views) scanIndex(name string, r storage.KeyRange, fn func([]byte, *storage.Info) bool) error {
	if name != reserved.IDIndex {
		return storage.ErrNoIndex
	}
	for view := range inDirection(v.list, r.Reverse) {
		key := v.key(view)
		beyond := cmp.Or(bytes.Compare(key, r.AfterKey), cmp.Compare(viewID(view), r.AfterID))
		if r.Reverse {
			beyond = -beyond
		}
		switch {
		case bytes.Compare(key, r.Lo) < 0, len(r.Hi) > 0 && bytes.Compare(key, r.Hi) >= 0, len(r.AfterKey) > 0 && beyond <= 0:
		case !fn(key, view):
			return nil
		}
	}
	return nil
}

// inDirection yields a list from its beginning or from its end.
func inDirection(list []*storage.Info, reverse bool) func(func(*storage.Info) bool) {
	return func(yield func(*storage.Info) bool) {
		for i := range list {
			if reverse {
				i = len(list) - 1 - i
			}
			if !yield(list[i]) {
				return
			}
		}
	}
}

// Find returns the definition of the view whose key has the given order.
func (v *views) Find(name string, order []byte) (r storage.Record, found bool, err error) {
	err = v.ScanRecords(name, storage.KeyRange{Lo: order}, func(key []byte, first storage.Record) bool {
		r, found = first, bytes.Equal(viewsIndexes[0].Index.Order(key), order)
		return false
	})
	if !found {
		r = storage.Record{}
	}
	return r, found, err
}

// Count is the number of views.
func (v *views) Count() (int64, error) { return int64(len(v.list)), nil }

// Size is the length of all definitions.
func (v *views) Size() (n int64, err error) {
	for _, view := range v.list {
		n += int64(len(v.record(view).Doc))
	}
	return n, nil
}

// LastID is the greatest id of a definition.
func (v *views) LastID() (storage.RecordID, error) { return viewID(v.ordered()[len(v.list)-1]), nil }

// IndexStats describes the index on _id.
func (v *views) IndexStats(name string) (s storage.IndexStats, err error) {
	err = v.scanIndex(name, storage.KeyRange{}, func(key []byte, _ *storage.Info) bool {
		s.Entries, s.Bytes = s.Entries+1, s.Bytes+int64(len(key))
		return true
	})
	return s, err
}

// The methods that write fail: views are changed by create, collMod and drop.

// Insert fails.
func (v *views) Insert(value.Doc, int64) (storage.RecordID, error) { return 0, storage.ErrReadOnly }

// Update fails.
func (v *views) Update(storage.RecordID, value.Doc, int64) (storage.Written, error) {
	return storage.Written{}, storage.ErrReadOnly
}

// Delete fails.
func (v *views) Delete(storage.RecordID) (storage.Written, error) {
	return storage.Written{}, storage.ErrReadOnly
}

// DeleteRange fails.
func (v *views) DeleteRange(*storage.RangeDelete) (storage.RangeDeleted, error) {
	return storage.RangeDeleted{}, storage.ErrReadOnly
}

// Truncate fails.
func (v *views) Truncate() error { return storage.ErrReadOnly }
