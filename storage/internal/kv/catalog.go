package kv

import (
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Create makes a collection.
func (t *Tx) Create(ns storage.Namespace, options value.Doc, specs []storage.IndexSpec) (storage.Collection, error) {
	return t.createWith(ns, uuid.New(), options, specs, t.create)
}

// CreateAs creates a collection with the given UUID.
func (t *Tx) CreateAs(ns storage.Namespace, id [16]byte, options value.Doc, specs []storage.IndexSpec) (storage.Collection, error) {
	return t.createWith(ns, id, options, specs, t.createAs)
}

// createWith compiles the indexes of a new collection, builds its description
// and calls create to add it.
func (t *Tx) createWith(ns storage.Namespace, id [16]byte, options value.Doc, specs []storage.IndexSpec, create func(*storage.Info) error) (storage.Collection, error) {
	info := &storage.Info{Namespace: ns, UUID: id, Options: cloneDoc(options)}
	for _, s := range specs {
		if info.Index(s.Name) != nil {
			return nil, fmt.Errorf("index %q: %w", s.Name, storage.ErrExists)
		}
		x, err := t.Common.Options.Indexer.Index(info.Options, s)
		if err != nil {
			return nil, err
		}
		info.Indexes = append(info.Indexes, storage.IndexInfo{IndexSpec: CloneSpec(s), Index: x})
	}
	t.Common.attach(info)
	if err := create(info); err != nil {
		return nil, err
	}
	return t.Collection(ns)
}

// createAs adds an empty collection whose UUID may be in use.
func (t *Tx) createAs(info *storage.Info) error {
	if err := t.usable(true); err != nil {
		return err
	}
	if t.Root.Get(info.Namespace) != nil {
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
	return t.add(info, (*Tx).createAs)
}

// create adds an empty collection.
func (t *Tx) create(info *storage.Info) error {
	if err := t.usable(true); err != nil {
		return err
	}
	if t.Root.Get(info.Namespace) != nil {
		return storage.ErrExists
	}
	return t.add(info, (*Tx).create)
}

// add adds a collection. The commit of a snapshot transaction calls again to
// repeat it.
func (t *Tx) add(info *storage.Info, again func(*Tx, *storage.Info) error) error {
	if err := t.claimName(info.Namespace); err != nil {
		return err
	}
	t.record(func(u *Tx) error { return again(u, info) })
	t.addColl(info, 0)
	return nil
}

// addColl puts a new, empty collection into the private root.
func (t *Tx) addColl(info *storage.Info, lastID storage.RecordID) *Coll {
	ch := &Change{Description: true}
	c := &Coll{Num: t.number(), Info: info, LastID: lastID, firstID: new(firstID), noted: new(storage.Noted), Change: ch}
	for i := range info.Indexes {
		c.Indexes = append(c.Indexes, t.NewIndex(info.Indexes[i].Index))
	}
	ch.After = c
	t.Changes = append(t.Changes, ch)
	t.Root.Set(c)
	return c
}

// Drop removes a collection.
func (t *Tx) Drop(ns storage.Namespace) error {
	c, err := t.Own(ns)
	if err != nil {
		return err
	}
	if err := t.claimName(ns); err != nil {
		return err
	}
	t.record(func(u *Tx) error { return u.Drop(ns) })
	t.discard(c)
	t.Root.Remove(ns)
	return nil
}

// discard notes that a collection is gone, and forgets the writes to it.
func (t *Tx) discard(c *Coll) {
	c.Change.After = nil
	if t.fork != nil {
		t.fork.DropCollection(c.Num)
	} else {
		t.Overlay.clear(DataSpan(c.Num))
	}
}

// truncate gives a collection a new number and no records; the old records
// go with the old number, as if the collection had been dropped.
func (t *Tx) truncate(ns storage.Namespace) error {
	c, err := t.Own(ns)
	if err != nil {
		return err
	}
	if err := t.claimRecords(ns, c); err != nil {
		return err
	}
	t.record(func(u *Tx) error { return u.truncate(ns) })
	t.discard(c)
	t.addColl(c.Info, c.LastID)
	return nil
}

// Rename moves a collection to a free name.
func (t *Tx) Rename(from, to storage.Namespace) error {
	c, err := t.Own(from)
	if err != nil {
		return err
	}
	if t.Root.Get(to) != nil {
		return storage.ErrExists
	}
	if err := t.claimName(from); err != nil {
		return err
	}
	if err := t.claimName(to); err != nil {
		return err
	}
	t.record(func(u *Tx) error { return u.Rename(from, to) })
	t.Root.Remove(from)
	info := *c.Info
	info.Namespace = to
	t.setInfo(c, &info)
	return nil
}

// SetOptions replaces a collection's options.
func (t *Tx) SetOptions(ns storage.Namespace, options value.Doc) error {
	c, err := t.Own(ns)
	if err != nil {
		return err
	}
	if err := t.claimName(ns); err != nil {
		return err
	}
	info := *c.Info
	info.Options = cloneDoc(options)
	t.record(func(u *Tx) error { return u.SetOptions(ns, info.Options) })
	t.DropBuilding(c, func(BuildingIndex, *Index) bool { return true }) // their keys may depend on the options
	t.setInfo(c, &info)
	return nil
}

// setInfo replaces a collection's description in the private root.
func (t *Tx) setInfo(c *Coll, info *storage.Info) {
	t.Common.attach(info)
	c.Info = info
	c.Change.Description = true
	t.Root.Set(c)
}

// CreateIndex adds an index over the existing records.
func (t *Tx) CreateIndex(ns storage.Namespace, spec storage.IndexSpec) error {
	c, err := t.Own(ns)
	if err != nil {
		return err
	}
	if c.Index(spec.Name) != nil {
		return fmt.Errorf("index %q: %w", spec.Name, storage.ErrExists)
	}
	if err := t.claimName(ns); err != nil {
		return err
	}
	spec = CloneSpec(spec)
	maker, err := t.Common.Options.Indexer.Index(c.Info.Options, spec)
	if err != nil {
		return err
	}
	x, err := t.build(c, spec, maker)
	if err != nil {
		return err
	}
	t.record(func(u *Tx) error { return u.CreateIndex(ns, spec) })
	info := *c.Info
	info.Indexes = append(slices.Clip(info.Indexes), storage.IndexInfo{IndexSpec: spec, Index: maker})
	c.Indexes = slices.Insert(slices.Clone(c.Indexes), len(c.Info.Indexes), x) // before those that are being built
	t.setInfo(c, &info)
	return nil
}

// DropIndex removes an index.
func (t *Tx) DropIndex(ns storage.Namespace, name string) error {
	c, i, err := t.ownIndex(ns, name)
	if err != nil {
		return err
	}
	t.record(func(u *Tx) error { return u.DropIndex(ns, name) })
	t.dropEntries(c, c.Indexes[i])
	info := *c.Info
	info.Indexes = slices.Delete(slices.Clone(info.Indexes), i, i+1)
	c.Indexes = slices.Delete(slices.Clone(c.Indexes), i, i+1)
	t.setInfo(c, &info)
	return nil
}

// dropEntries removes the entries of an index.
func (t *Tx) dropEntries(c *Coll, x *Index) {
	if t.fork != nil {
		t.fork.DropIndex(c.Num, x.Num)
	} else {
		t.Overlay.clear(IndexSpan(c.Num, x.Num))
	}
	c.Change.dropped = append(c.Change.dropped, x.Num)
}

// SetIndex replaces the specification of an index whose keys stay the same. An
// index that is not unique any more gets entries of another form.
func (t *Tx) SetIndex(ns storage.Namespace, spec storage.IndexSpec) error {
	c, i, err := t.ownIndex(ns, spec.Name)
	if err != nil {
		return err
	}
	spec = CloneSpec(spec)
	maker, err := t.Common.Options.Indexer.Index(c.Info.Options, spec)
	if err != nil {
		return err
	}
	x := c.Indexes[i]
	if x.rowPerOrder && !maker.Unique() {
		if x, err = t.buildHere(c, spec, maker); err != nil {
			return err
		}
		t.dropEntries(c, c.Indexes[i])
	}
	t.record(func(u *Tx) error { return u.SetIndex(ns, spec) })
	info := *c.Info
	info.Indexes = slices.Clone(info.Indexes)
	info.Indexes[i] = storage.IndexInfo{IndexSpec: spec, Index: maker}
	x.Maker = maker // the clone's own
	c.Indexes[i] = x
	t.setInfo(c, &info)
	return nil
}

// ownIndex makes a collection private whose catalog entry will change, and
// finds one of its indexes.
func (t *Tx) ownIndex(ns storage.Namespace, name string) (c *Coll, i int, err error) {
	if c, err = t.Own(ns); err != nil {
		return nil, 0, err
	}
	i = slices.IndexFunc(c.Info.Indexes, func(x storage.IndexInfo) bool { return x.Name == name })
	if i < 0 {
		return nil, 0, storage.ErrNoIndex
	}
	return c, i, t.claimName(ns)
}
