package kv

import (
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Create makes a collection.
func (t *tx) Create(ns storage.Namespace, options value.Doc, specs []storage.IndexSpec) (storage.Collection, error) {
	return t.createWith(ns, uuid.New(), options, specs, t.create)
}

// CreateAs creates a collection with the given UUID.
func (t *tx) CreateAs(ns storage.Namespace, id [16]byte, options value.Doc, specs []storage.IndexSpec) (storage.Collection, error) {
	return t.createWith(ns, id, options, specs, t.createAs)
}

// createWith compiles the indexes of a new collection, builds its description
// and calls create to add it.
func (t *tx) createWith(ns storage.Namespace, id [16]byte, options value.Doc, specs []storage.IndexSpec, create func(*storage.Info) error) (storage.Collection, error) {
	info := &storage.Info{Namespace: ns, UUID: id, Options: cloneDoc(options)}
	for _, s := range specs {
		if info.Index(s.Name) != nil {
			return nil, fmt.Errorf("index %q: %w", s.Name, storage.ErrExists)
		}
		x, err := t.e.opts.Indexer.Index(info.Options, s)
		if err != nil {
			return nil, err
		}
		info.Indexes = append(info.Indexes, storage.IndexInfo{IndexSpec: cloneSpec(s), Index: x})
	}
	t.e.attach(info)
	if err := create(info); err != nil {
		return nil, err
	}
	return t.Collection(ns)
}

// createAs adds an empty collection whose UUID may be in use.
func (t *tx) createAs(info *storage.Info) error {
	if err := t.usable(true); err != nil {
		return err
	}
	if t.root.get(info.Namespace) != nil {
		return storage.ErrExists
	}
	infos, err := t.Collections("")
	if err != nil {
		return err
	}
	for _, other := range infos {
		if other.UUID == info.UUID {
			return storage.ErrUUIDExists
		}
	}
	return t.add(info, (*tx).createAs)
}

// create adds an empty collection.
func (t *tx) create(info *storage.Info) error {
	if err := t.usable(true); err != nil {
		return err
	}
	if t.root.get(info.Namespace) != nil {
		return storage.ErrExists
	}
	return t.add(info, (*tx).create)
}

// add adds a collection. The commit of a snapshot transaction calls again to
// repeat it.
func (t *tx) add(info *storage.Info, again func(*tx, *storage.Info) error) error {
	if err := t.claimName(info.Namespace); err != nil {
		return err
	}
	t.record(func(u *tx) error { return again(u, info) })
	t.addColl(info, 0)
	return nil
}

// addColl puts a new, empty collection into the private root.
func (t *tx) addColl(info *storage.Info, lastID storage.RecordID) *coll {
	ch := &change{catalog: true}
	c := &coll{num: t.number(), info: info, lastID: lastID, least: new(least), noted: new(storage.Noted), change: ch}
	for i := range info.Indexes {
		c.indexes = append(c.indexes, t.newIndex(info.Indexes[i].Index))
	}
	ch.cur = c
	t.changes = append(t.changes, ch)
	t.root.set(c)
	return c
}

// Drop removes a collection.
func (t *tx) Drop(ns storage.Namespace) error {
	c, err := t.own(ns)
	if err != nil {
		return err
	}
	if err := t.claimName(ns); err != nil {
		return err
	}
	t.record(func(u *tx) error { return u.Drop(ns) })
	t.discard(c)
	t.root.remove(ns)
	return nil
}

// discard notes that a collection is gone, and forgets the writes to it.
func (t *tx) discard(c *coll) {
	c.change.cur = nil
	t.over.clear(dataSpan(c.num))
}

// truncate gives a collection a new number and no records; the old records
// go with the old number, as if the collection had been dropped.
func (t *tx) truncate(ns storage.Namespace) error {
	c, err := t.own(ns)
	if err != nil {
		return err
	}
	if err := t.claimRecords(ns, c); err != nil {
		return err
	}
	t.record(func(u *tx) error { return u.truncate(ns) })
	t.discard(c)
	t.addColl(c.info, c.lastID)
	return nil
}

// Rename moves a collection to a free name.
func (t *tx) Rename(from, to storage.Namespace) error {
	c, err := t.own(from)
	if err != nil {
		return err
	}
	if t.root.get(to) != nil {
		return storage.ErrExists
	}
	if err := t.claimName(from); err != nil {
		return err
	}
	if err := t.claimName(to); err != nil {
		return err
	}
	t.record(func(u *tx) error { return u.Rename(from, to) })
	t.root.remove(from)
	info := *c.info
	info.Namespace = to
	t.setInfo(c, &info)
	return nil
}

// SetOptions replaces a collection's options.
func (t *tx) SetOptions(ns storage.Namespace, options value.Doc) error {
	c, err := t.own(ns)
	if err != nil {
		return err
	}
	if err := t.claimName(ns); err != nil {
		return err
	}
	info := *c.info
	info.Options = cloneDoc(options)
	t.record(func(u *tx) error { return u.SetOptions(ns, info.Options) })
	t.dropBuilding(c, func(building, *index) bool { return true }) // their keys may depend on the options
	t.setInfo(c, &info)
	return nil
}

// setInfo replaces a collection's description in the private root.
func (t *tx) setInfo(c *coll, info *storage.Info) {
	t.e.attach(info)
	c.info = info
	c.change.catalog = true
	t.root.set(c)
}

// CreateIndex adds an index over the existing records.
func (t *tx) CreateIndex(ns storage.Namespace, spec storage.IndexSpec) error {
	c, err := t.own(ns)
	if err != nil {
		return err
	}
	if c.index(spec.Name) != nil {
		return fmt.Errorf("index %q: %w", spec.Name, storage.ErrExists)
	}
	if err := t.claimName(ns); err != nil {
		return err
	}
	spec = cloneSpec(spec)
	maker, err := t.e.opts.Indexer.Index(c.info.Options, spec)
	if err != nil {
		return err
	}
	x, err := t.build(c, spec, maker)
	if err != nil {
		return err
	}
	t.record(func(u *tx) error { return u.CreateIndex(ns, spec) })
	info := *c.info
	info.Indexes = append(slices.Clip(info.Indexes), storage.IndexInfo{IndexSpec: spec, Index: maker})
	c.indexes = slices.Insert(slices.Clone(c.indexes), len(c.info.Indexes), x) // before those that are being built
	t.setInfo(c, &info)
	return nil
}

// DropIndex removes an index.
func (t *tx) DropIndex(ns storage.Namespace, name string) error {
	c, i, err := t.ownIndex(ns, name)
	if err != nil {
		return err
	}
	t.record(func(u *tx) error { return u.DropIndex(ns, name) })
	t.dropEntries(c, c.indexes[i])
	info := *c.info
	info.Indexes = slices.Delete(slices.Clone(info.Indexes), i, i+1)
	c.indexes = slices.Delete(slices.Clone(c.indexes), i, i+1)
	t.setInfo(c, &info)
	return nil
}

// dropEntries removes the entries of an index.
func (t *tx) dropEntries(c *coll, x *index) {
	t.over.clear(indexSpan(c.num, x.num))
	c.change.dropped = append(c.change.dropped, x.num)
}

// SetIndex replaces the specification of an index whose keys stay the same. An
// index that is not unique any more gets entries of another form.
func (t *tx) SetIndex(ns storage.Namespace, spec storage.IndexSpec) error {
	c, i, err := t.ownIndex(ns, spec.Name)
	if err != nil {
		return err
	}
	spec = cloneSpec(spec)
	maker, err := t.e.opts.Indexer.Index(c.info.Options, spec)
	if err != nil {
		return err
	}
	x := c.indexes[i]
	if x.single && !maker.Unique() {
		if x, err = t.buildHere(c, spec, maker); err != nil {
			return err
		}
		t.dropEntries(c, c.indexes[i])
	}
	t.record(func(u *tx) error { return u.SetIndex(ns, spec) })
	info := *c.info
	info.Indexes = slices.Clone(info.Indexes)
	info.Indexes[i] = storage.IndexInfo{IndexSpec: spec, Index: maker}
	x.maker = maker // the clone's own
	c.indexes[i] = x
	t.setInfo(c, &info)
	return nil
}

// ownIndex makes a collection private whose catalog entry will change, and
// finds one of its indexes.
func (t *tx) ownIndex(ns storage.Namespace, name string) (c *coll, i int, err error) {
	if c, err = t.own(ns); err != nil {
		return nil, 0, err
	}
	i = slices.IndexFunc(c.info.Indexes, func(x storage.IndexInfo) bool { return x.Name == name })
	if i < 0 {
		return nil, 0, storage.ErrNoIndex
	}
	return c, i, t.claimName(ns)
}
