package kv

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/google/uuid"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Rebuild says that a store, which is a Resident one, has the descriptions
// and the records of its collections alone: Open counts and makes the rest.
type Rebuild struct {
	// Progress takes how many steps of making the indexes were done: at the beginning and at
	// intervals, from several goroutines. May be nil.
	Progress func(done, total int64)
	// Repair resolves contradictions in data that has lost a part. If it is nil, such data is
	// refused.
	Repair *Repair
}

// Repair is how Open resolves contradictions, and what it has done. The maps have the numbers
// of collections as their keys.
type Repair struct {
	// OrphanIndexes are the indexes of a collection that is made for records whose collection
	// is not known, if all of them have an _id.
	OrphanIndexes []storage.IndexSpec

	Adopted      map[uint32]int64             // records that were put into a collection of their own
	Contradicted map[uint32]int64             // records that were removed because later ones contradict them
	Names        map[uint32]storage.Namespace // names of the collections that have changed
}

// rebuilding is a store that is being opened without what can be derived.
type rebuilding struct {
	e     *Engine
	snap  Resident
	colls []*Coll // in the order of their numbers
	root  *Root
	fixes WriteSet // what a repair changes, with the entries of all indexes in its fork
}

// rebuild makes the root, and the entries of all indexes, from descriptions and records.
func (e *Engine) rebuild(snap Snapshot, of *Rebuild) (*Root, error) {
	mem, ok := snap.(Resident)
	if !ok {
		return nil, errors.New("kv: a store that has its data elsewhere cannot be rebuilt")
	}
	b := &rebuilding{e: e, snap: mem, root: NewRoot()}
	b.fixes.Fork = mem.Fork()
	if err := b.read(of.Repair); err != nil {
		return nil, err
	}
	if err := b.resolve(of.Repair); err != nil {
		return nil, err
	}
	for _, c := range b.colls {
		b.fixes.Fork.EachRecord(c.Num, storage.Range{}, func(r storage.Record) bool {
			c.count++
			c.size += int64(len(r.Doc))
			return true
		})
	}
	if err := b.build(of.Progress); err != nil {
		return nil, err
	}
	return b.root, e.applyNow(e.life, &b.fixes)
}

// read reads the descriptions. Records without one are a contradiction.
func (b *rebuilding) read(repair *Repair) error {
	stats := map[uint32][]byte{}
	err := b.e.loadSpace(b.snap, spaceStats, func(num uint32, v []byte) error { stats[num] = v; return nil })
	if err != nil {
		return err
	}
	names := map[storage.Namespace]bool{}
	err = b.e.loadSpace(b.snap, spaceCatalog, func(num uint32, v []byte) error {
		c, err := ParseCatalog(num, v)
		if err != nil {
			return err
		}
		c.LastID = LastIDOf(stats[num])
		for _, x := range c.Indexes {
			b.e.numbered(x.Num)
		}
		delete(stats, num)
		b.colls, names[c.Info.Namespace] = append(b.colls, c), true
		return b.e.common.Compile(c)
	})
	if err != nil {
		return err
	}
	for _, num := range slices.Sorted(maps.Keys(stats)) {
		orphans := int64(0)
		b.snap.EachRecord(num, storage.Range{}, func(storage.Record) bool { orphans++; return true })
		switch {
		case orphans == 0:
		case repair == nil:
			return fmt.Errorf("there are %d records of a collection %d that does not exist", orphans, num)
		default:
			if err := b.adopt(num, LastIDOf(stats[num]), names, repair); err != nil {
				return err
			}
			repair.Adopted[num] = orphans
		}
	}
	slices.SortFunc(b.colls, func(c, d *Coll) int { return int(int64(c.Num) - int64(d.Num)) })
	return nil
}

// adopt makes a collection for records whose description is lost, with a name like those
// that mongod gives in this case.
func (b *rebuilding) adopt(num uint32, last storage.RecordID, names map[storage.Namespace]bool, repair *Repair) error {
	info := &storage.Info{UUID: uuid.New(), Options: value.EmptyDoc}
	for n := int(num); info.Namespace == (storage.Namespace{}) || names[info.Namespace]; n++ {
		info.Namespace = storage.Namespace{DB: "local", Coll: fmt.Sprintf("orphan.%d", n)}
	}
	names[info.Namespace] = true
	c := &Coll{Num: num, Info: info, LastID: last, firstID: new(firstID), noted: new(storage.Noted)}
	if b.haveIDs(num) {
		for _, spec := range repair.OrphanIndexes {
			info.Indexes = append(info.Indexes, storage.IndexInfo{IndexSpec: CloneSpec(spec)})
			c.Indexes = append(c.Indexes, &Index{Num: b.e.nextNumber()})
		}
	}
	b.fixes.Set(numberKey(spaceCatalog, num), c.CatalogDoc())
	b.fixes.Set(numberKey(spaceStats, num), c.statsRow())
	if repair.Adopted == nil {
		repair.Adopted = map[uint32]int64{}
	}
	b.colls = append(b.colls, c)
	repair.name(c)
	return b.e.common.Compile(c)
}

// haveIDs reports whether all documents of a collection have an _id. Documents in the
// server's own collections may lack it.
func (b *rebuilding) haveIDs(num uint32) bool {
	have := true
	b.snap.EachRecord(num, storage.Range{}, func(r storage.Record) bool {
		have = r.Doc.Has("_id")
		return have
	})
	return have
}

func (r *Repair) name(c *Coll) {
	if r.Names == nil {
		r.Names = map[uint32]storage.Namespace{}
	}
	r.Names[c.Num] = c.Info.Namespace
}

func (r *Repair) contradicted(c *Coll, n int64) {
	if r.Contradicted == nil {
		r.Contradicted = map[uint32]int64{}
	}
	r.Contradicted[c.Num] += n
	r.name(c)
}

// resolve adds the collections to the root. With a repair it removes what later commits
// contradict.
func (b *rebuilding) resolve(repair *Repair) error {
	for _, c := range b.colls {
		if repair != nil {
			if err := b.dropConflicts(c, repair); err != nil {
				return err
			}
			b.dropNamesake(c, repair)
		}
		if err := b.root.Add(c); err != nil {
			return err
		}
	}
	b.colls = slices.DeleteFunc(b.colls, func(c *Coll) bool { return b.root.Get(c.Info.Namespace) != c })
	return nil
}

// dropNamesake removes the older of two collections of one name: the commit that dropped or
// renamed it is lost.
func (b *rebuilding) dropNamesake(c *Coll, repair *Repair) {
	old := b.root.Get(c.Info.Namespace)
	if old == nil {
		return
	}
	n := int64(0)
	b.snap.EachRecord(old.Num, storage.Range{}, func(storage.Record) bool { n++; return true })
	repair.contradicted(old, n-repair.Contradicted[old.Num])
	b.fixes.Delete(numberKey(spaceCatalog, old.Num))
	b.fixes.Delete(numberKey(spaceStats, old.Num))
	b.fixes.Fork.DropCollection(old.Num)
	b.root.Remove(c.Info.Namespace)
}

// dropConflicts removes records that a later one contradicts in a unique index: the commit
// that removed them or changed them is lost.
func (b *rebuilding) dropConflicts(c *Coll, repair *Repair) error {
	gone := map[storage.RecordID]bool{}
	for i := range c.Indexes {
		x := c.Indexes[i].Maker
		if !x.Unique() {
			continue
		}
		owner := map[string]storage.RecordID{}
		var older []storage.RecordID
		var keys [][]byte
		var err error
		b.snap.EachRecord(c.Num, storage.Range{}, func(r storage.Record) bool {
			if gone[r.ID] {
				return true
			}
			keys, _, err = x.Keys(keys[:0], r)
			for _, k := range keys {
				k = x.Order(k)
				if other := owner[string(k)]; other != 0 && other != r.ID {
					older = append(older, other)
				}
				owner[string(k)] = r.ID
			}
			return err == nil
		})
		if err != nil {
			return fmt.Errorf("index %q of %s: %w", c.Info.Indexes[i].Name, c.Info.Namespace, err)
		}
		for _, id := range older {
			if !gone[id] {
				gone[id] = true
				b.fixes.Delete(AppendRecordKey(nil, c.Num, id))
				b.fixes.Fork.SetRecord(c.Num, id, nil)
				repair.contradicted(c, 1)
			}
		}
	}
	return nil
}

// build makes the entries of all indexes.
func (b *rebuilding) build(progress func(done, total int64)) error {
	total, done := int64(0), atomic.Int64{}
	for _, c := range b.colls {
		total += 2 * c.count * int64(len(c.Indexes))
	}
	var steps func(int64)
	if progress != nil {
		steps = func(n int64) { progress(done.Add(n), total) }
		steps(0)
	}
	for _, c := range b.colls {
		of := &Build{Namespace: c.Info.Namespace, Num: c.Num, Indexes: c.Indexes, Threads: runtime.GOMAXPROCS(0), Steps: steps}
		for i := range c.Info.Indexes {
			of.Names = append(of.Names, c.Info.Indexes[i].Name)
		}
		install, err := b.fixes.Fork.Build(b.e.life, of)
		if err != nil {
			return fmt.Errorf("index %q of %s: %w", err.Index, c.Info.Namespace, err.Err)
		}
		install(b.fixes.Fork)
	}
	return nil
}
