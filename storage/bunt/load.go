package bunt

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// loader builds the first root from the groups of the log.
type loader struct {
	e     *Engine
	colls map[uint32]*loading
	last  *loading // of the operation before
	fixes []op     // operations that a repair adds to the log
}

// loading is the state of a collection while the log is read.
type loading struct {
	coll
	catalog string // its entry in the catalog, none if it was dropped
}

func newLoader(e *Engine) *loader { return &loader{e: e, colls: make(map[uint32]*loading)} }

// apply repeats the operations of a group.
func (l *loader) apply(ops []op) error {
	for i := range ops {
		o := &ops[i]
		if o.kind == opHeader {
			continue
		}
		if l.last == nil || l.last.num != o.num {
			l.last = l.coll(o.num)
		}
		if err := l.last.apply(o); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) coll(num uint32) *loading {
	c := l.colls[num]
	if c == nil {
		c = &loading{coll: coll{num: num, records: newRecords(), noted: new(storage.Noted)}}
		l.colls[num] = c
	}
	return c
}

// apply repeats one operation on the collection that is being loaded.
func (c *loading) apply(o *op) error {
	switch o.kind {
	case opCatalog:
		c.catalog = strings.Clone(o.value)
		c.entrySize = int64(len(o.value))
		if o.del { // the records go with it
			c.records, c.size, c.savedID = newRecords(), 0, 0
		}
	case opLastID:
		c.savedID = 0
		if !o.del {
			if len(o.value) != 8 {
				return fmt.Errorf("bad last id of collection %d in the log", o.num)
			}
			c.savedID = storage.RecordID(binary.LittleEndian.Uint64(value.StringView(o.value)))
		}
	case opRecord:
		if !o.del && len(o.value) < 8 {
			return fmt.Errorf("record %d of collection %d in the log is too short", o.id, o.num)
		}
		c.record(o)
	}
	return nil
}

func (c *loading) record(o *op) {
	var old string
	if o.del {
		old, _ = c.records.Delete(o.id)
	} else {
		old, _ = c.records.Set(o.id, strings.Clone(o.value))
		c.size += int64(len(o.value) - 8)
	}
	if old != "" {
		c.size -= int64(len(old) - 8)
	}
}

// prepare creates the collections from the operations read.
func (l *loader) prepare() error {
	for _, num := range slices.Sorted(maps.Keys(l.colls)) {
		c := l.colls[num]
		newest, _, _ := c.records.Max()
		c.lastID = max(c.savedID, newest)
		if c.catalog == "" {
			continue
		}
		var err error
		if c.info, err = l.info(c.catalog); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) info(catalog string) (*storage.Info, error) {
	info, err := parseCatalog(catalog)
	if err != nil {
		return nil, err
	}
	for i := range info.Indexes {
		x := &info.Indexes[i]
		if x.Index, err = l.e.opts.Indexer.Index(info.Options, x.IndexSpec); err != nil {
			return nil, fmt.Errorf("index %q of %s: %w", x.Name, info.Namespace, err)
		}
	}
	l.e.attach(info)
	return info, nil
}

// work is the work of building all indexes.
func (l *loader) work() *work {
	w := &work{report: l.e.opts.Indexing}
	for _, c := range l.colls {
		if c.info != nil {
			w.total += 2 * int64(c.records.Len()*len(c.info.Indexes))
		}
	}
	return w
}

// finish builds the indexes.
func (l *loader) finish() (*root, error) {
	if err := l.prepare(); err != nil {
		return nil, err
	}
	r := newRoot()
	w := l.work()
	w.add(0)
	for _, num := range slices.Sorted(maps.Keys(l.colls)) {
		c := &l.colls[num].coll
		r.nextNum = num + 1
		if l.e.repair != nil {
			if err := l.reconcileColl(r, c); err != nil {
				return nil, err
			}
		}
		if c.info == nil {
			continue
		}
		if err := c.buildAll(context.Background(), w); err != nil {
			return nil, err
		}
		r.set(c)
	}
	if l.e.repair != nil {
		l.e.repair.account(l)
	}
	return r, nil
}
