package kv

import (
	"bytes"
	"context"
)

// remote is a state of a shared store as transactions read it.
type remote struct{ SharedSnapshot }

var _ joiner = remote{}

// viewed is a state as Views read it: what they find is remembered for drafts.
type viewed struct {
	remote
	recent *recent
}

// FirstRecord returns the first entry of a range and its record.
func (v viewed) FirstRecord(ctx context.Context, s Span) (key, record []byte, err error) {
	key, record, err = v.remote.FirstRecord(ctx, s)
	if h, ok := v.Head(); ok && err == nil && key != nil {
		v.recent.put(s, key, record, h.Version)
	}
	return key, record, err
}

// Get reads one value.
func (r remote) Get(ctx context.Context, key []byte) ([]byte, error) {
	reply, err := r.Read(ctx, &Request{Points: []Point{{Key: key}}})
	if err != nil {
		return nil, err
	}
	return reply.Points[0].Value, nil
}

// mostPoints is how many values are read at a time.
const mostPoints = 1024

// GetMany reads values in the order of keys.
func (r remote) GetMany(ctx context.Context, keys [][]byte, fn func(i int, value []byte) bool) error {
	for start := 0; start < len(keys); start += mostPoints {
		part := keys[start:min(start+mostPoints, len(keys))]
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
func (r remote) First(ctx context.Context, s Span) ([]byte, error) {
	reply, err := r.Read(ctx, &Request{Ends: []End{{Span: s}}})
	if err != nil {
		return nil, err
	}
	return reply.Ends[0].Key, nil
}

// FirstRecord returns the first entry of a range and its record.
func (r remote) FirstRecord(ctx context.Context, s Span) (key, record []byte, err error) {
	reply, err := r.Read(ctx, &Request{Page: &Page{Span: s, Limit: 1, Joined: true}})
	if err != nil || len(reply.Page) == 0 {
		return nil, nil, err
	}
	return reply.Page[0].Key, reply.Page[0].Value, nil
}

// Scan iterates over a range.
func (r remote) Scan(ctx context.Context, lo, hi []byte, reverse bool) Iterator {
	return newPager(ctx, r.SharedSnapshot, Page{Span: Span{lo, hi}, Reverse: reverse})
}

// ScanRecords iterates over entries and their records.
func (r remote) ScanRecords(ctx context.Context, s Span, reverse, resumed bool, h hint) Iterator {
	return newPager(ctx, r.SharedSnapshot, joinedPage(s, reverse, resumed, h))
}

func joinedPage(s Span, reverse, resumed bool, h hint) Page {
	return Page{Span: s, Reverse: reverse, Resumed: resumed, Joined: true, Wanted: h.wanted, Size: h.size}
}

// ScanSome iterates over a range of which something is known in advance.
func (r remote) ScanSome(ctx context.Context, s Span, reverse bool, h hint) Iterator {
	return newPager(ctx, r.SharedSnapshot, Page{Span: s, Reverse: reverse, Wanted: h.wanted, Size: h.size})
}

// pager is an iterator that reads a range in pages.
type pager struct {
	ctx  context.Context
	from SharedSnapshot
	page Page
	rows []KV
	at   int
	more bool
	err  error
	read func(rows []KV, more bool) // called with each page; may be nil
}

func newPager(ctx context.Context, from SharedSnapshot, p Page) *pager {
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
	if p.read != nil {
		p.read(p.rows, p.more)
	}
	p.behind()
	return len(p.rows) > 0
}

// behind makes the range begin behind what was read.
func (p *pager) behind() {
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
