package kvshared

import (
	"bytes"
	"context"

	"github.com/duskdb/duskdb/storage/internal/kv"
)

// remoteState is a state of a shared store as transactions read it.
type remoteState struct{ Snapshot }

var _ kv.Joiner = remoteState{}

// cachingState is a state as Views read it: what they find is remembered for dry runs.
type cachingState struct {
	remoteState
	lookups *lookupCache
}

// FirstRecord returns the first entry of a range and its record.
func (v cachingState) FirstRecord(ctx context.Context, s kv.Span, unique bool) (key, record []byte, err error) {
	key, record, err = v.remoteState.FirstRecord(ctx, s, unique)
	if unique && err == nil && key != nil {
		v.found(s, key, record)
	}
	return key, record, err
}

// found remembers where a unique key has led to; nowhere without an entry.
func (v cachingState) found(s kv.Span, entry, record []byte) {
	v.lookups.guesses.note(s, entry)
	if h, ok := v.Head(); ok && entry != nil {
		v.lookups.put(s, entry, record, h.Version)
	}
}

// Get reads one value.
func (r remoteState) Get(ctx context.Context, key []byte) ([]byte, error) {
	reply, err := r.Read(ctx, &Request{Points: []Point{{Key: key}}})
	if err != nil {
		return nil, err
	}
	return reply.Points[0].Value, nil
}

// maxPoints is how many values are read at a time.
const maxPoints = 1024

// GetMany reads values in the order of keys.
func (r remoteState) GetMany(ctx context.Context, keys [][]byte, fn func(i int, value []byte) bool) error {
	for start := 0; start < len(keys); start += maxPoints {
		part := keys[start:min(start+maxPoints, len(keys))]
		req := Request{Points: make([]Point, len(part))}
		for i, key := range part {
			req.Points[i].Key = key
		}
		reply, err := r.Read(ctx, &req)
		if err != nil {
			return err
		}
		for i := range part {
			if v := reply.Points[i].Value; v != nil && !fn(start+i, v) {
				return nil
			}
		}
	}
	return nil
}

// First returns the first key of a range, or nil.
func (r remoteState) First(ctx context.Context, s kv.Span) ([]byte, error) {
	reply, err := r.Read(ctx, &Request{Ends: []End{{Span: s}}})
	if err != nil {
		return nil, err
	}
	return reply.Ends[0].Key, nil
}

// FirstRecord returns the first entry of a range and its record.
func (r remoteState) FirstRecord(ctx context.Context, s kv.Span, _ bool) (key, record []byte, err error) {
	reply, err := r.Read(ctx, &Request{Page: &Page{Span: s, Limit: 1, Joined: true}})
	if err != nil || len(reply.Page) == 0 {
		return nil, nil, err
	}
	return reply.Page[0].Key, reply.Page[0].Value, nil
}

// Scan iterates over a range.
func (r remoteState) Scan(ctx context.Context, lo, hi []byte, reverse bool) kv.Iterator {
	return newPager(ctx, r.Snapshot, Page{Span: kv.Span{Lo: lo, Hi: hi}, Reverse: reverse})
}

// ScanRecords iterates over entries and their records.
func (r remoteState) ScanRecords(ctx context.Context, s kv.Span, reverse, resumed bool, h kv.ScanHint) kv.Iterator {
	return newPager(ctx, r.Snapshot, joinedPage(s, reverse, resumed, h))
}

func joinedPage(s kv.Span, reverse, resumed bool, h kv.ScanHint) Page {
	return Page{Span: s, Reverse: reverse, Resumed: resumed, Joined: true, Wanted: h.Rows, Size: h.RowSize}
}

// ScanSome iterates over a range of which something is known in advance.
func (r remoteState) ScanSome(ctx context.Context, s kv.Span, reverse bool, h kv.ScanHint) kv.Iterator {
	return newPager(ctx, r.Snapshot, Page{Span: s, Reverse: reverse, Wanted: h.Rows, Size: h.RowSize})
}

// pager is an iterator that reads a range in pages.
type pager struct {
	ctx    context.Context
	from   Snapshot
	page   Page
	rows   []KV
	at     int
	more   bool
	err    error
	onPage func(rows []KV, more bool) // called with each page; may be nil
}

func newPager(ctx context.Context, from Snapshot, p Page) *pager {
	p.Lo, p.Hi = bytes.Clone(p.Lo), bytes.Clone(p.Hi)
	return &pager{ctx: ctx, from: from, page: p, at: -1, more: true}
}

// Next moves to the next key.
func (p *pager) Next() bool {
	if p.at++; p.at < len(p.rows) {
		return true
	}
	if !p.more || p.err != nil || bytes.Compare(p.page.Lo, p.page.Hi) >= 0 {
		return false
	}
	reply, err := p.from.Read(p.ctx, &Request{Page: &p.page})
	if err != nil {
		p.err = err
		return false
	}
	p.rows, p.more, p.at = reply.Page, reply.More, 0
	if p.onPage != nil {
		p.onPage(p.rows, p.more)
	}
	p.advance()
	return len(p.rows) > 0
}

// advance makes the range begin behind what was read.
func (p *pager) advance() {
	if len(p.rows) == 0 {
		p.more = false
		return
	}
	last := p.rows[len(p.rows)-1].Key
	p.page.Before++
	p.page.Wanted = max(p.page.Wanted-len(p.rows), 0)
	if p.page.Reverse {
		p.page.Hi = last
	} else {
		p.page.Lo = append(bytes.Clone(last), 0)
	}
}

// Key is the present key.
func (p *pager) Key() []byte { return p.rows[p.at].Key }

// Value is the present value.
func (p *pager) Value() ([]byte, error) { return p.rows[p.at].Value, nil }

// Close returns the error that ended the iterator.
func (p *pager) Close() error { return p.err }
