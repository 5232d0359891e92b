package kv

import (
	"bytes"
	"cmp"
	"context"
	"math"

	"github.com/duskdb/duskdb/storage"
)

// reader reads a snapshot with the writes of a transaction over it.
type reader struct {
	snap    Snapshot
	Overlay *Overlay    // nil: none
	cache   *valueCache // nil: what is read is not kept
	stamp   uint64      // stamp of the snapshot
	gapKeys int         // how far a scan must walk to note a gap; 0: there are no gaps
	hint    ScanHint
	mem     Resident // the snapshot, if it is in memory; otherwise nil
}

// getCached returns a value, which must not be changed, or nil. keep says that the value is likely to be read
// again.
func (r reader) getCached(ctx context.Context, key []byte, keep bool) ([]byte, error) {
	if v, ok := r.Overlay.Get(key); ok {
		return v, nil
	}
	hash := r.cache.hash(key)
	if v := r.cache.get(key, hash, r.stamp); v != nil {
		return v, nil
	}
	v, err := r.snap.Get(ctx, key)
	if keep && err == nil && v != nil {
		r.cache.put(key, hash, v, r.stamp)
	}
	return v, err
}

// maxCachedKeys is how many values are read together one by one, through the cache.
const maxCachedKeys = 32

// getMany calls fn with the values that exist, in the order of keys, until it
// returns false.
func (r reader) getMany(ctx context.Context, keys [][]byte, fn func(i int, value []byte) bool) error {
	if len(keys) > maxCachedKeys && (r.Overlay == nil || r.Overlay.writes.Len() == 0) {
		return r.snap.GetMany(ctx, keys, fn)
	}
	for i, key := range keys {
		v, err := r.getCached(ctx, key, len(keys) <= maxCachedKeys)
		if err != nil {
			return err
		}
		if v != nil && !fn(i, v) {
			return nil
		}
	}
	return nil
}

// scan iterates over a range as it is now.
func (r reader) scan(ctx context.Context, s Span, reverse bool) Iterator {
	below := r.below(ctx, s, reverse)
	if over := r.Overlay.freeze(s.Lo, s.Hi); over != nil {
		return newMerged(below, over, s.Lo, s.Hi, reverse)
	}
	return below
}

// below iterates over a range of the snapshot.
func (r reader) below(ctx context.Context, s Span, reverse bool) Iterator {
	if j, ok := r.snap.(Joiner); ok && r.hint.Rows > 0 {
		return j.ScanSome(ctx, s, reverse, r.hint)
	}
	return r.snap.Scan(ctx, s.Lo, s.Hi, reverse)
}

// frozen is a reader that later writes of the transaction do not change.
func (r reader) frozen(s Span) reader {
	r.Overlay = r.Overlay.freeze(s.Lo, s.Hi)
	return r
}

// stored reads the value of a record.
func (r reader) stored(ctx context.Context, c *Coll, id storage.RecordID) ([]byte, error) {
	if r.mem != nil {
		return r.mem.Record(c.Num, id), nil
	}
	if id <= 0 {
		return nil, nil
	}
	var room [recordPrefix + idSize]byte
	return r.getCached(ctx, AppendRecordKey(room[:0], c.Num, id), true)
}

// storedOnce reads the value of a record that is about to change.
func (r reader) storedOnce(ctx context.Context, c *Coll, id storage.RecordID) ([]byte, error) {
	if r.mem != nil {
		return r.mem.Record(c.Num, id), nil
	}
	if id <= 0 {
		return nil, nil
	}
	var room [recordPrefix + idSize]byte
	return r.getCached(ctx, AppendRecordKey(room[:0], c.Num, id), false)
}

// Find returns the first record whose entry in an index has the key as its
// Order part, or 0.
func (r reader) Find(ctx context.Context, c *Coll, x *Index, key []byte) (id storage.RecordID, err error) {
	if x.rowPerOrder {
		return r.findRow(ctx, c, x, key)
	}
	if r.mem != nil {
		return r.mem.Find(c.Num, x.Num, x.Maker, key), nil
	}
	var room [128]byte
	lo := appendIndexPrefix(room[:0], c.Num, x.Num)
	n := len(lo)
	lo = appendEscaped(lo, key)
	s := Span{Lo: lo, Hi: after(lo)}
	if j, ok := r.snap.(Joiner); ok && !r.Overlay.Has(s) {
		return firstOf(ctx, j, x, s, n, key)
	}
	it := r.scan(ctx, s, false)
	if it.Next() {
		var buf [128]byte
		var found []byte
		if found, id, err = parseEntry(buf[:0], it.Key()[n:]); err == nil && !sameOrder(x.Maker, found, key) {
			id = 0
		}
	}
	if cerr := it.Close(); err == nil {
		err = cerr
	}
	return id, err
}

// greatest returns the key of the last entry of an index, of a unique one the
// Order. It is empty if there are no entries.
func (r reader) greatest(ctx context.Context, c *Coll, x *Index) ([]byte, error) {
	it := r.scan(ctx, IndexSpan(c.Num, x.Num), true)
	key, err := []byte{}, error(nil)
	if it.Next() {
		if key = append(key, it.Key()[entryPrefix:]...); !x.rowPerOrder {
			key, _, err = parseEntry(nil, key)
		}
	}
	if cerr := it.Close(); err == nil {
		err = cerr
	}
	return key, err
}

// sameOrder reports whether the Order parts of two keys are equal.
func sameOrder(maker storage.Index, a, b []byte) bool {
	return bytes.Equal(a, b) || bytes.Equal(maker.Order(a), maker.Order(b))
}

// expecting is a reader for a scan that is likely to take so many rows of a
// collection.
func (r reader) expecting(wanted int, c *Coll) reader {
	if _, ok := r.snap.(Joiner); ok && wanted > 0 {
		r.hint = ScanHint{Rows: wanted}
		if c.count > 0 {
			r.hint.RowSize = int(c.size/c.count) + recordOverhead
		}
	}
	return r
}

// entrySize is about the size of an entry.
const entrySize = 64

// recordOverhead is the size of a stored record beside its document.
const recordOverhead = 8

// ScanHint is what is known of a scan in advance.
type ScanHint struct {
	Rows    int // rows; 0: not known
	RowSize int // the average size of a record; 0: not known
}

// ScanRecords walks records within a range until fn returns false.
func (r reader) ScanRecords(ctx context.Context, c *Coll, rg storage.Range, fn func(storage.Record) bool) error {
	if r.mem != nil {
		r.mem.EachRecord(c.Num, rg, fn)
		return nil
	}
	low, high := rg.After+1, rg.Until
	if rg.Reverse {
		low, high = rg.Until, rg.After-1
	}
	if rg.Reverse && rg.After <= 0 || !rg.Reverse && rg.Until <= 0 {
		high = noLimit
	}
	r = r.expecting(rg.Wanted, c)
	if rg.Reverse && high == noLimit && low <= c.LastID && r.Overlay == nil && !c.Estimated {
		return r.scanLast(ctx, c, low, fn)
	}
	if rg.Reverse {
		return r.scanIDs(ctx, c, low, high, true, fn)
	}
	first, known := c.firstID.at(r.stamp)
	if known && low <= first && r.cache != nil && !r.Overlay.Has(recordSpan(c.Num)) {
		return r.scanFirst(ctx, c, first, high, fn)
	}
	return r.scanIDs(ctx, c, max(low, first), high, false, fn)
}

// scanFirst walks records from the first id that may exist, and notes which one does.
func (r reader) scanFirst(ctx context.Context, c *Coll, low, high storage.RecordID, fn func(storage.Record) bool) error {
	first := storage.RecordID(0)
	err := r.scanIDs(ctx, c, low, high, false, func(rec storage.Record) bool {
		if first == 0 {
			first = rec.ID
		}
		return fn(rec)
	})
	if first == 0 && err == nil && high == noLimit {
		first = c.LastID + 1
	}
	c.firstID.raise(first, r.stamp)
	return err
}

// scanLast walks records backwards from the end. The last one is mostly that with
// the last id: reading that is one search, while an iterator reads a block of each
// part of the store first, which are many, and cold, after a start in the midst of
// writes.
func (r reader) scanLast(ctx context.Context, c *Coll, low storage.RecordID, fn func(storage.Record) bool) error {
	stored, err := r.stored(ctx, c, c.LastID)
	if err == nil && stored != nil {
		var rec storage.Record
		if rec, err = ParseRecord(c.LastID, stored); err == nil && !fn(rec) {
			return nil
		}
	}
	if err != nil {
		return err
	}
	return r.scanIDs(ctx, c, low, c.LastID-1, true, fn)
}

// noLimit is greater than all ids.
const noLimit = math.MaxInt64

// scanIDs walks records with ids from low to high.
func (r reader) scanIDs(ctx context.Context, c *Coll, low, high storage.RecordID, reverse bool, fn func(storage.Record) bool) error {
	s := recordSpan(c.Num)
	if low > 0 {
		s.Lo = AppendRecordKey(nil, c.Num, low)
	}
	if high < 0 {
		return nil
	}
	if high != noLimit {
		s.Hi = AppendRecordKey(nil, c.Num, high+1)
	}
	if bytes.Compare(s.Lo, s.Hi) >= 0 {
		return nil
	}
	it := r.scan(ctx, s, reverse)
	err := walkRecords(it, fn)
	if cerr := it.Close(); err == nil {
		err = cerr
	}
	return err
}

// walkRecords calls fn with the records of an iterator, copied: several into one
// piece of memory, which grows with the scan, so that a caller who keeps one
// record does not hold much more.
func walkRecords(it Iterator, fn func(storage.Record) bool) error {
	var copies pieces
	for it.Next() {
		id := recordID(it.Key())
		v, err := it.Value()
		if err != nil {
			return err
		}
		rec, err := ParseRecord(id, copies.keep(v))
		if err != nil {
			return err
		}
		if !fn(rec) {
			return nil
		}
	}
	return nil
}

// pieces is memory for copies of records.
type pieces struct {
	room []byte
	size int // size of the last piece
}

// The size of pieces.
const (
	minPiece = 512
	maxPiece = 16 << 10
)

func (p *pieces) keep(b []byte) []byte {
	if len(b) > maxPiece/4 {
		return bytes.Clone(b)
	}
	if cap(p.room)-len(p.room) < len(b) {
		p.size = min(max(minPiece, 2*p.size, len(b)), maxPiece)
		p.room = make([]byte, 0, p.size)
	}
	start := len(p.room)
	p.room = append(p.room, b...)
	return p.room[start:len(p.room):len(p.room)]
}

// entrySpan is the part of an index that a scan visits.
func entrySpan(c *Coll, x *Index, r storage.KeyRange) Span {
	s := IndexSpan(c.Num, x.Num)
	prefix := s.Lo
	at := func(key []byte) []byte { return appendEscaped(bytes.Clone(prefix), key) }
	if len(r.Lo) > 0 {
		s.Lo = at(r.Lo)
	}
	if len(r.Hi) > 0 {
		s.Hi = at(r.Hi)
	}
	if !resumed(r) {
		return s
	}
	if r.Reverse {
		if end := AppendEntryKey(nil, c.Num, x.Num, r.AfterKey, r.AfterID); bytes.Compare(end, s.Hi) < 0 {
			s.Hi = end
		}
	} else if begin := AppendEntryKey(nil, c.Num, x.Num, r.AfterKey, r.AfterID+1); bytes.Compare(begin, s.Lo) > 0 {
		s.Lo = begin
	}
	return s
}

// scanEntries walks index entries within a range until fn returns false.
func (r reader) scanEntries(ctx context.Context, c *Coll, x *Index, rg storage.KeyRange, fn func(key []byte, id storage.RecordID) bool) error {
	if x.rowPerOrder {
		return r.scanRows(ctx, c, x, rg, fn)
	}
	if r.mem != nil {
		r.mem.EachEntry(c.Num, x.Num, rg, fn)
		return nil
	}
	s := entrySpan(c, x, rg)
	if bytes.Compare(s.Lo, s.Hi) >= 0 {
		return nil
	}
	r = r.expecting(rg.Wanted, c)
	r.hint.RowSize = entrySize
	it := r.scanIndex(ctx, x, s, rg.Reverse)
	err := walkEntries(it, fn)
	if cerr := it.Close(); err == nil {
		err = cerr
	}
	return err
}

func walkEntries(it Iterator, fn func(key []byte, id storage.RecordID) bool) error {
	var buf []byte
	for it.Next() {
		key, id, err := parseEntry(buf[:0], it.Key()[entryPrefix:])
		if err != nil {
			return err
		}
		if buf = key; !fn(key, id) {
			return nil
		}
	}
	return nil
}

// Records that entries lead to are read in batches, of few at first.
const (
	firstBatch = 8
	maxBatch   = 256
)

// batch collects entries whose records are to be read.
type batch struct {
	keys    []byte // keys of the entries, one behind the other
	ends    []int
	ids     []storage.RecordID
	records [][]byte // their keys
	room    []byte
}

func (b *batch) add(num uint32, key []byte, id storage.RecordID) {
	b.keys = append(b.keys, key...)
	b.ends = append(b.ends, len(b.keys))
	b.ids = append(b.ids, id)
	start := len(b.room)
	b.room = AppendRecordKey(b.room, num, id)
	b.records = append(b.records, b.room[start:len(b.room):len(b.room)])
}

func (b *batch) key(i int) []byte {
	start := 0
	if i > 0 {
		start = b.ends[i-1]
	}
	return b.keys[start:b.ends[i]]
}

// read calls fn with the entries and their records, and empties the batch.
func (b *batch) read(ctx context.Context, r reader, fn func(key []byte, r storage.Record) bool) (more bool, err error) {
	more = true
	rerr := r.getMany(ctx, b.records, func(i int, stored []byte) bool {
		var rec storage.Record
		if rec, err = ParseRecord(b.ids[i], stored); err == nil {
			more = fn(b.key(i), rec)
		}
		return more && err == nil
	})
	b.keys, b.ends, b.ids, b.records, b.room = b.keys[:0], b.ends[:0], b.ids[:0], b.records[:0], b.room[:0]
	if err == nil {
		err = rerr
	}
	return more, err
}

// scanJoined walks index entries with their records until fn returns false.
func (r reader) scanJoined(ctx context.Context, c *Coll, x *Index, rg storage.KeyRange, fn func(key []byte, r storage.Record) bool) error {
	return r.scanJoinedMax(ctx, c, x, rg, 0, fn)
}

// scanJoinedMax is scanJoined for a caller that takes about most entries; 0: it is
// not known how many. It reads no more records at a time than are wanted.
func (r reader) scanJoinedMax(ctx context.Context, c *Coll, x *Index, rg storage.KeyRange, max int, fn func(key []byte, r storage.Record) bool) error {
	if r.mem != nil {
		r.mem.EachEntryRecord(c.Num, x.Num, rg, fn)
		return nil
	}
	if j, ok := r.snap.(Joiner); ok && !r.Overlay.Has(DataSpan(c.Num)) {
		s := entrySpan(c, x, rg)
		if bytes.Compare(s.Lo, s.Hi) >= 0 {
			return nil
		}
		rg.Wanted = cmp.Or(rg.Wanted, max)
		return r.scanWithRecords(ctx, j, c, rg, s, fn)
	}
	records := r.frozen(recordSpan(c.Num))
	var b batch
	size, more := firstBatch, true
	if max > 0 {
		size = min(max, maxBatch)
	}
	var failed error
	err := r.scanEntries(ctx, c, x, rg, func(key []byte, id storage.RecordID) bool {
		if b.add(c.Num, key, id); len(b.ids) < size {
			return true
		}
		if max -= len(b.ids); max > 0 {
			size = min(max, maxBatch)
		} else {
			size = min(2*size, maxBatch)
		}
		more, failed = b.read(ctx, records, fn)
		return more && failed == nil
	})
	if failed == nil {
		failed = err
	}
	if failed == nil && more && len(b.ids) > 0 {
		_, failed = b.read(ctx, records, fn)
	}
	return failed
}
