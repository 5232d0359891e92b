package bunt

import (
	"fmt"

	"github.com/google/uuid"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// A repaired log contradicts itself where commits are lost. The functions in
// this file resolve the contradictions, and add to l.fixes the operations that
// make the log agree.

// reconcileColl makes a consistent collection from what a damaged log has left
// of it, if anything.
func (l *loader) reconcileColl(r *root, c *coll) error {
	if c.info == nil {
		if c.records.Len() == 0 {
			return nil
		}
		if err := l.adopt(r, c); err != nil {
			return err
		}
	}
	l.dropNamesake(r, c)
	return l.dropConflicts(c)
}

// adopt keeps the records of a collection whose catalog entry is lost in a
// collection with a name like those that mongod gives in this case.
func (l *loader) adopt(r *root, c *coll) error {
	info := &storage.Info{UUID: uuid.New(), Options: value.EmptyDoc}
	for n := int(c.num); ; n++ {
		info.Namespace = storage.Namespace{DB: "local", Coll: fmt.Sprintf("orphan.%d", n)}
		if r.get(info.Namespace) == nil {
			break
		}
	}
	if c.haveIDs() {
		for _, spec := range l.e.opts.OrphanIndexes {
			info.Indexes = append(info.Indexes, storage.IndexInfo{IndexSpec: spec})
		}
	}
	catalog := catalogDoc(info)
	var err error
	if c.info, err = l.info(catalog); err != nil {
		return err
	}
	l.fixes = append(l.fixes, op{kind: opCatalog, num: c.num, value: catalog})
	loss := l.e.repair.loss(c.num)
	loss.Namespace, loss.Adopted = info.Namespace, int64(c.records.Len())
	return nil
}

// haveIDs reports whether all documents have an _id. Documents in the server's
// own collections may lack it.
func (c *coll) haveIDs() bool {
	have := true
	c.records.Scan(func(_ storage.RecordID, stored string) bool {
		have = storedDoc(stored).Has("_id")
		return have
	})
	return have
}

// dropConflicts removes records that a later one contradicts in a unique
// index: the commit that removed them or changed them is lost.
func (l *loader) dropConflicts(c *coll) error {
	for i := range c.info.Indexes {
		x := c.info.Indexes[i].Index
		if !x.Unique() {
			continue
		}
		owner := map[string]storage.RecordID{}
		var older []storage.RecordID
		var err error
		c.records.Scan(func(id storage.RecordID, stored string) bool {
			var keys [][]byte
			if keys, _, err = x.Keys(nil, record(id, stored)); err != nil {
				return false
			}
			for _, k := range keys {
				k = x.Order(k)
				if other := owner[string(k)]; other != 0 && other != id {
					older = append(older, other)
				}
				owner[string(k)] = id
			}
			return true
		})
		if err != nil {
			return err
		}
		l.dropRecords(c, older)
	}
	return nil
}

func (l *loader) dropRecords(c *coll, ids []storage.RecordID) {
	for _, id := range ids {
		if old, ok := c.records.Delete(id); ok {
			c.size -= int64(len(storedDoc(old)))
			l.e.repair.LostRecords++
			l.e.repair.loss(c.num).Contradicted++
			l.fixes = append(l.fixes, op{kind: opRecord, num: c.num, id: id, del: true})
		}
	}
}

// dropNamesake removes the older of two collections of one name: the commit
// that dropped or renamed it is lost.
func (l *loader) dropNamesake(r *root, c *coll) {
	old := r.get(c.info.Namespace)
	if old == nil {
		return
	}
	l.e.repair.LostRecords += int64(old.records.Len())
	loss := l.e.repair.loss(old.num)
	loss.Namespace = old.info.Namespace
	loss.Contradicted += int64(old.records.Len())
	l.fixes = append(l.fixes, op{kind: opCatalog, num: old.num, del: true})
}
