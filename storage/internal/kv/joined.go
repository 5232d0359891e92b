package kv

import (
	"context"
	"errors"

	"github.com/duskdb/duskdb/storage"
)

// Joiner is a Snapshot that follows the entries of indexes to their records.
type Joiner interface {
	Snapshot
	// First returns the first key of a range, or nil.
	First(ctx context.Context, s Span) ([]byte, error)
	// FirstRecord returns the first entry of a range and its record, or nil. unique says
	// that all entries of the range can only be of one record.
	FirstRecord(ctx context.Context, s Span, unique bool) (key, record []byte, err error)
	// ScanRecords is Scan with the records of the entries as their values.
	ScanRecords(ctx context.Context, s Span, reverse, resumed bool, h ScanHint) Iterator
	// ScanSome is Scan with what is known of it in advance.
	ScanSome(ctx context.Context, s Span, reverse bool, h ScanHint) Iterator
}

// Guesser is a Joiner that remembers to which records unique keys have led. An entry can
// be looked up only by a search for it, and then its record by another one: to read the
// record alone, and find that it has the key, costs half of that.
type Guesser interface {
	Joiner
	// Guess returns the record that the entries of a range are likely to lead to, or 0.
	Guess(s Span) storage.RecordID
	// Guessed notes what has become of a guess: the entry of a range and its record, or nil
	// if it was wrong.
	Guessed(s Span, entry, record []byte)
}

// guess reads the record that a unique key is likely to lead to.
func (r reader) guess(ctx context.Context, g Guesser, c *Coll, x *Index, s Span, key []byte) (rec storage.Record, right bool, err error) {
	id := g.Guess(s)
	if id == 0 {
		return rec, false, nil
	}
	at := AppendRecordKey(nil, c.Num, id)
	if _, own := r.Overlay.Get(at); own {
		return rec, false, nil
	}
	stored, err := g.Get(ctx, at)
	if err != nil || stored == nil {
		g.Guessed(s, nil, nil)
		return rec, false, err
	}
	if rec, err = ParseRecord(id, stored); err != nil {
		return rec, false, err
	}
	y := Index{Maker: x.Maker} // what is found out about its fields is not needed
	keys, err := y.KeysOf(nil, rec)
	for _, k := range keys {
		if err == nil && sameOrder(x.Maker, k, key) { // a record with a key has its entry
			g.Guessed(s, AppendEntryKey(nil, c.Num, x.Num, k, id), stored)
			return rec, true, nil
		}
	}
	g.Guessed(s, nil, nil)
	return rec, false, err
}

// findJoined returns the first record with a key in one read, if nothing that
// the transaction has written comes between.
func (r reader) findJoined(ctx context.Context, j Joiner, c *Coll, x *Index, key []byte) (rec storage.Record, found, done bool, err error) {
	s := OrderSpan(c.Num, x.Num, key)
	if r.Overlay.Has(s) {
		return rec, false, false, nil
	}
	if g, ok := j.(Guesser); ok && x.Maker.Unique() {
		if rec, right, err := r.guess(ctx, g, c, x, s, key); right || err != nil {
			return rec, right, true, err
		}
	}
	entry, stored, err := j.FirstRecord(ctx, s, x.Maker.Unique())
	if err != nil || entry == nil {
		return rec, false, true, err
	}
	at, id, err := parseEntry(nil, entry[entryPrefix:])
	if err != nil || !sameOrder(x.Maker, at, key) {
		return rec, false, true, err
	}
	if own, ok := r.Overlay.Get(AppendRecordKey(nil, c.Num, id)); ok {
		stored = own
	}
	if stored == nil {
		return rec, false, true, errors.New("the record of an index entry is missing")
	}
	rec, err = ParseRecord(id, stored)
	return rec, err == nil, true, err
}

// firstOf is find with one read.
func firstOf(ctx context.Context, j Joiner, x *Index, s Span, prefix int, key []byte) (storage.RecordID, error) {
	first, err := j.First(ctx, s)
	if err != nil || first == nil {
		return 0, err
	}
	found, id, err := parseEntry(nil, first[prefix:])
	if err != nil || !sameOrder(x.Maker, found, key) {
		return 0, err
	}
	return id, nil
}

// scanWithRecords walks index entries with their records, which are read together.
func (r reader) scanWithRecords(ctx context.Context, j Joiner, c *Coll, rg storage.KeyRange, s Span, fn func(key []byte, r storage.Record) bool) error {
	it := j.ScanRecords(ctx, s, rg.Reverse, rg.AfterKey != nil || rg.AfterID != 0, r.expecting(rg.Wanted, c).hint)
	var buf []byte
	var err error
	for err == nil && it.Next() {
		var stored []byte
		key, id, perr := parseEntry(buf[:0], it.Key()[entryPrefix:])
		if buf, err = key, perr; err != nil {
			break
		}
		if stored, err = it.Value(); err != nil || stored == nil {
			continue
		}
		var rec storage.Record
		if rec, err = ParseRecord(id, stored); err == nil && !fn(key, rec) {
			break
		}
	}
	return errors.Join(err, it.Close())
}
