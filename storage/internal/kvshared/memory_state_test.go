package kvshared

import (
	"bytes"
	"encoding/binary"
	"maps"

	"github.com/tidwall/btree"

	"github.com/duskdb/duskdb/storage/internal/kv"
)

// dbState is a state of the database, which does not change.
type dbState struct {
	head    Head
	bytes   int64 // size of the rows
	rows    *btree.Map[string, dbRow]
	catalog map[uint32]CatalogRow
	stats   map[uint32]StatsRow
}

type dbRow struct {
	value   []byte
	version int64
}

// with returns the state after a commit.
func (st *dbState) with(w *kv.WriteSet, h Head) *dbState {
	next := &dbState{head: h, bytes: st.bytes, rows: st.rows.Copy(), catalog: maps.Clone(st.catalog), stats: maps.Clone(st.stats)}
	for _, x := range w.Writes {
		num := binary.BigEndian.Uint32(x.Key[1:])
		switch {
		case x.Key[0] == 'd' && x.Value == nil:
			next.remove(string(x.Key))
		case x.Key[0] == 'd':
			next.remove(string(x.Key))
			next.rows.Set(string(x.Key), dbRow{bytes.Clone(x.Value), h.Version})
			next.bytes += int64(len(x.Value))
		case x.Key[0] == 's' && x.Value == nil:
			delete(next.stats, num)
		case x.Key[0] == 's':
			next.stats[num] = StatsRow{Num: num, Version: h.Version, Row: bytes.Clone(x.Value)}
		case x.Key[0] == 'c' && x.Value == nil:
			delete(next.catalog, num)
		case x.Key[0] == 'c':
			next.catalog[num] = CatalogRow{Num: num, Version: h.Version, Doc: bytes.Clone(x.Value)}
		}
	}
	for _, drop := range w.Drops {
		for _, key := range next.keys(drop, false, 0) {
			next.remove(key)
		}
	}
	return next
}

func (st *dbState) remove(key string) {
	if was, ok := st.rows.Delete(key); ok {
		st.bytes -= int64(len(was.value))
	}
}

// keys are the first keys of a range, or the last; all, if max is 0.
func (st *dbState) keys(s kv.Span, last bool, max int) (keys []string) {
	it := st.rows.Iter()
	ok, next := it.Seek(string(s.Lo)), it.Next
	if last {
		if next = it.Prev; it.Seek(string(s.Hi)) {
			ok = it.Prev()
		} else {
			ok = it.Last()
		}
	}
	for ; ok && it.Key() >= string(s.Lo) && it.Key() < string(s.Hi) && (max == 0 || len(keys) < max); ok = next() {
		keys = append(keys, it.Key())
	}
	return keys
}

// unchanged reports whether a range is as it was in the state of a version.
func (st *dbState) unchanged(r ReadRange) bool {
	keys := st.keys(r.Span, false, 0)
	for _, key := range keys {
		if row, _ := st.rows.Get(key); row.version > r.Seen {
			return false
		}
	}
	return int64(len(keys)) == r.Rows
}

// page reads a part of a range: few rows, so that scans have several pages.
func (st *dbState) page(p *Page) (rows []KV, more bool) {
	limit := p.Limit
	if limit == 0 {
		limit = 5 + p.Wanted
	}
	for _, key := range st.keys(p.Span, p.Reverse, limit) {
		row, _ := st.rows.Get(key)
		if p.Joined {
			row, _ = st.rows.Get(string(kv.RecordKeyOf([]byte(key))))
		}
		rows = append(rows, KV{[]byte(key), bytes.Clone(row.value)})
	}
	return rows, len(rows) == limit
}

// catalogRows are the collections, with the documents of those that are newer than a
// version.
func (st *dbState) catalogRows(since int64) (rows []CatalogRow) {
	for num, row := range st.catalog {
		if row.Stats = st.stats[num]; row.Version <= since {
			row.Doc = nil
		}
		rows = append(rows, row)
	}
	return rows
}
