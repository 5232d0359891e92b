package bunt

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/tidwall/buntdb"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// loader builds the first root from the log.
type loader struct {
	e     *Engine
	colls map[uint32]*coll
	last  *coll // of the record before
}

// load reads everything that BuntDB has. The values are shared with it.
func (e *Engine) load() (*root, error) {
	l := &loader{e: e, colls: make(map[uint32]*coll)}
	var err error
	verr := e.log.db.View(func(tx *buntdb.Tx) error {
		return tx.AscendGreaterOrEqual("", "", func(key, val string) bool {
			err = l.item(key, val)
			return err == nil
		})
	})
	if err == nil {
		err = verr
	}
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", e.log.path, err)
	}
	return l.finish()
}

// item takes one key of the log; catalog entries come before records.
func (l *loader) item(key, val string) error {
	switch key[0] {
	case prefixCatalog:
		return l.catalog(key, val)
	case prefixLastID:
		num, err := parseNumberKey(key)
		if err != nil || len(val) != 8 {
			return fmt.Errorf("bad last id %q", key)
		}
		c := l.coll(num)
		c.savedID = storage.RecordID(binary.LittleEndian.Uint64(value.StringView(val)))
		c.lastID = c.savedID
	case prefixRecord:
		return l.record(key, val)
	case keyHeader[0], keyMarker[0]:
	default:
		return fmt.Errorf("unknown key %q: the log was written by a newer version", key)
	}
	return nil
}

func (l *loader) coll(num uint32) *coll {
	c := l.colls[num]
	if c == nil {
		c = &coll{num: num, records: newRecords()}
		l.colls[num] = c
	}
	return c
}

func (l *loader) catalog(key, val string) error {
	num, err := parseNumberKey(key)
	if err != nil {
		return err
	}
	info, err := parseCatalog(val)
	if err != nil {
		return err
	}
	for i := range info.Indexes {
		x := &info.Indexes[i]
		if x.Index, err = l.e.opts.Indexer.Index(info.Options, x.IndexSpec); err != nil {
			return fmt.Errorf("index %q of %s: %w", x.Name, info.Namespace, err)
		}
	}
	info.Meta = l.e.opts.Indexer.Attach(info)
	l.coll(num).info = info
	return nil
}

func (l *loader) record(key, val string) error {
	num, id, err := parseRecordKey(key)
	if err != nil {
		return err
	}
	if len(val) < 8 {
		return fmt.Errorf("record %q is too short", key)
	}
	if l.last == nil || l.last.num != num {
		l.last = l.coll(num)
	}
	c := l.last
	c.records.Set(id, val)
	c.size += int64(len(storedDoc(val)))
	c.lastID = max(c.lastID, id)
	return nil
}

// finish builds the indexes and sorts out the orphans.
func (l *loader) finish() (*root, error) {
	r := newRoot()
	for _, num := range slices.Sorted(maps.Keys(l.colls)) {
		c := l.colls[num]
		r.nextNum = num + 1
		if c.info == nil {
			l.e.orphans.add(c)
			continue
		}
		if l.e.repair != nil {
			if err := errors.Join(l.dropNamesake(r, c), l.dropConflicts(c)); err != nil {
				return nil, err
			}
		}
		if err := c.buildAll(context.Background()); err != nil {
			return nil, err
		}
		r.set(c)
	}
	return r, nil
}
