package kv

import (
	"context"
	"slices"

	"github.com/duskdb/duskdb/value"
)

// memory is what a run of an Update without the right to commit has read, so that
// it can be checked, or read again, in one round trip, for the run that counts.
type memory struct {
	points map[string]remembered
	ends   map[endKey]foundEnd
	ranges []*seenPages
	stats  []uint32
	claims map[string]Claim // that others must not have
	txn    int64            // the snapshot transaction that is committed, or 0
	held   int              // how many claims it has
	bytes  int
	recent bool // something is known only from earlier
}

// remembered is the value of a key in the state of a version; version 0: it was
// not read, but will be needed.
type remembered struct {
	value   []byte
	version int64
}

type endKey struct {
	lo, hi string
	last   bool
}

// foundEnd is the key at the end of a range, nil if the range is empty, in the state
// of a version; version 0: it was not read.
type foundEnd struct {
	key     []byte
	version int64
}

// seenPages are the rows of a range as far as they were read.
type seenPages struct {
	page    Page
	rows    []KV
	more    bool // there are others behind them
	version int64
}

// mostRemembered bounds the values in a memory; what is read beyond that is read again.
const mostRemembered = 16 << 20

func (m *memory) full() bool { return m.bytes > mostRemembered }

func (m *memory) point(key, value []byte, version int64) {
	if m.full() {
		return
	}
	m.bytes += len(key) + len(value) + 64
	if m.points == nil {
		m.points = map[string]remembered{}
	}
	m.points[string(key)] = remembered{value, version}
}

func (m *memory) end(s Span, last bool, found foundEnd) {
	if !m.full() {
		m.bytes += len(s.Lo) + len(s.Hi) + 64
		id := endKey{string(s.Lo), string(s.Hi), last}
		if m.ends == nil {
			m.ends = map[endKey]foundEnd{}
		}
		if old := m.ends[id]; found.version >= old.version {
			m.ends[id] = found
		}
	}
}

func (m *memory) stat(num uint32) {
	if !slices.Contains(m.stats, num) {
		m.stats = append(m.stats, num)
	}
}

// rangeOf begins to remember a range.
func (m *memory) rangeOf(p Page) *seenPages {
	r := &seenPages{page: p, more: true}
	if !m.full() {
		m.ranges = append(m.ranges, r)
	}
	return r
}

// drafted is the state that a draft reads: it remembers what is read.
type drafted struct {
	remote
	m     *memory
	known *recent // may be nil
	alone bool    // there are no other servers
}

var _ joiner = drafted{}

func (d drafted) version() int64 {
	h, _ := d.Head()
	return h.Version
}

func (d drafted) Get(ctx context.Context, key []byte) ([]byte, error) {
	if known, ok := d.m.points[string(key)]; ok && known.version > 0 {
		return known.value, nil
	}
	v, err := d.remote.Get(ctx, key)
	if err == nil {
		d.m.point(key, v, d.version())
	}
	return v, err
}

func (d drafted) GetMany(ctx context.Context, keys [][]byte, fn func(i int, value []byte) bool) error {
	next := 0
	absent := func(end int) {
		for ; next < end; next++ {
			d.m.point(keys[next], nil, d.version())
		}
	}
	stopped := false
	err := d.remote.GetMany(ctx, keys, func(i int, v []byte) bool {
		absent(i)
		d.m.point(keys[i], v, d.version())
		next = i + 1
		stopped = !fn(i, v)
		return !stopped
	})
	if err == nil && !stopped {
		absent(len(keys))
	}
	return err
}

func (d drafted) First(ctx context.Context, s Span) ([]byte, error) {
	if known, ok := d.m.ends[endKey{string(s.Lo), string(s.Hi), false}]; ok && known.version > 0 {
		return known.key, nil
	}
	key, err := d.remote.First(ctx, s)
	if err == nil {
		d.m.end(s, false, foundEnd{key, d.version()})
	}
	return key, err
}

func (d drafted) FirstRecord(ctx context.Context, s Span) (key, record []byte, err error) {
	if d.known != nil {
		if f := d.known.get(s); f != nil {
			d.m.recent = true
			d.m.end(s, false, foundEnd{f.entry, f.version})
			d.m.point(value.StringView(f.record), f.value, f.version)
			return f.entry, f.value, nil
		}
	}
	key, record, err = d.remote.FirstRecord(ctx, s)
	if err == nil {
		d.m.end(s, false, foundEnd{key, d.version()})
		if key != nil {
			d.m.point(recordKeyOf(key), record, d.version())
		}
		if key != nil && d.known != nil && d.alone { // others may write what is written often here
			d.known.putAgain(s, key, record, d.version())
		}
	}
	return key, record, err
}

func (d drafted) Scan(ctx context.Context, lo, hi []byte, reverse bool) Iterator {
	return d.remember(newPager(ctx, d.SharedSnapshot, Page{Span: Span{lo, hi}, Reverse: reverse}))
}

func (d drafted) ScanRecords(ctx context.Context, s Span, reverse, resumed bool, h hint) Iterator {
	return d.remember(newPager(ctx, d.SharedSnapshot, joinedPage(s, reverse, resumed, h)))
}

func (d drafted) ScanSome(ctx context.Context, s Span, reverse bool, h hint) Iterator {
	return d.remember(newPager(ctx, d.SharedSnapshot, Page{Span: s, Reverse: reverse, Wanted: h.wanted, Size: h.size}))
}

func (d drafted) remember(p *pager) *pager {
	r := d.m.rangeOf(p.page)
	p.read = func(rows []KV, more bool) {
		for _, row := range rows {
			d.m.bytes += len(row.Key) + len(row.Value) + 64
			if r.page.Joined {
				d.m.point(recordKeyOf(row.Key), row.Value, d.version())
			}
		}
		r.rows, r.more, r.version = append(r.rows, rows...), more, d.version()
	}
	return p
}

// recalled is the state that the run that counts reads: what drafts have read,
// corrected under the lock, and the rest from the database.
type recalled struct {
	remote
	guess  *guess // of a run without the lock; then there are neither points nor ends
	points map[string][]byte
	ends   map[endKey][]byte
	ranges map[string]*seenPages

	claims  map[string]bool // whether transactions of other servers have them
	foreign bool            // they have any
}

var _ joiner = (*recalled)(nil)

// recollection makes one request of the memories of several drafts.
type recollection struct {
	request Request
	values  []remembered // of the request's points
	ends    []endKey
	found   []foundEnd // of these ends, as drafts have read them
	ranges  []*seenPages
	claims  []string // of the request's claims
}

func recollect(list []*memory, known func(num uint32) bool) *recollection {
	var c recollection
	points, ends, stats := map[string]int{}, map[endKey]int{}, map[uint32]struct{}{}
	needed := map[string]struct{}{}
	for _, m := range list {
		c.request.Txn, c.request.Held = m.txn, m.held // it is alone
		for id, claim := range m.claims {
			if _, again := needed[id]; !again {
				needed[id] = struct{}{}
				c.claims = append(c.claims, id)
				c.request.Claims = append(c.request.Claims, claim)
			}
		}
		for key, v := range m.points {
			if i, again := points[key]; again {
				if v.version > c.values[i].version {
					c.values[i], c.request.Points[i].Seen = v, v.version
				}
				continue
			}
			points[key] = len(c.values)
			c.values = append(c.values, v)
			c.request.Points = append(c.request.Points, Point{Key: value.StringView(key), Seen: v.version})
		}
		for key, found := range m.ends {
			if i, again := ends[key]; again {
				if found.version > c.found[i].version {
					c.found[i] = found
				}
			} else {
				ends[key] = len(c.ends)
				c.ends, c.found = append(c.ends, key), append(c.found, found)
				c.request.Ends = append(c.request.Ends, End{Span: Span{value.StringView(key.lo), value.StringView(key.hi)}, Last: key.last})
			}
		}
		for _, r := range m.ranges {
			if r.version == 0 {
				continue // begun, but not read
			}
			c.ranges = append(c.ranges, r)
			c.request.Ranges = append(c.request.Ranges, SeenRange{Span: r.covered(), Rows: int64(len(r.rows)), Seen: r.version})
		}
		for _, num := range m.stats {
			if _, again := stats[num]; !again && known(num) {
				stats[num] = struct{}{}
				c.request.Stats = append(c.request.Stats, num)
			}
		}
	}
	return &c
}

// covered is the part of a range that was read.
func (r *seenPages) covered() Span {
	s := r.page.Span
	if !r.more || len(r.rows) == 0 {
		return s
	}
	last := r.rows[len(r.rows)-1].Key
	if r.page.Reverse {
		s.Lo = last
	} else {
		s.Hi = append(last[:len(last):len(last)], 0)
	}
	return s
}

func (p Page) id() string {
	id := string(p.Lo) + "\x00\x00" + string(p.Hi)
	if p.Reverse {
		return "r" + id
	}
	return id
}

// recall takes the answer to a recollection.
func (c *recollection) recall(from SharedSnapshot, reply *Reply) *recalled {
	r := &recalled{remote: remote{from}, points: make(map[string][]byte, len(c.values)), ends: make(map[endKey][]byte, len(c.ends)), ranges: map[string]*seenPages{},
		claims: make(map[string]bool, len(c.claims)), foreign: reply.Foreign}
	for i, claimed := range reply.Claimed {
		r.claims[c.claims[i]] = claimed
	}
	for i := range reply.Points {
		v := reply.Points[i].Value
		if reply.Points[i].Same {
			v = c.values[i].value
		}
		r.points[value.BytesView(c.request.Points[i].Key)] = v
	}
	for i := range reply.Ends {
		r.ends[c.ends[i]] = reply.Ends[i].Key
	}
	for i, same := range reply.Ranges {
		seen := c.ranges[i]
		if !same {
			continue
		}
		if other := r.ranges[seen.page.id()]; other == nil || other.more && len(other.rows) < len(seen.rows) {
			r.ranges[seen.page.id()] = seen
		}
	}
	return r
}

// point is the value of a key, if it is known.
func (r *recalled) point(key []byte) (value []byte, ok bool) {
	if r.guess != nil {
		return r.guess.point(key)
	}
	value, ok = r.points[string(key)]
	return value, ok
}

// first is the first key of a range, if it is known.
func (r *recalled) first(id endKey) (key []byte, ok bool) {
	if r.guess != nil {
		return r.guess.end(id)
	}
	key, ok = r.ends[id]
	return key, ok
}

func (r *recalled) Get(ctx context.Context, key []byte) ([]byte, error) {
	if v, ok := r.point(key); ok {
		return v, nil
	}
	v, err := r.remote.Get(ctx, key)
	if err == nil {
		r.points[string(key)] = v
	}
	return v, err
}

func (r *recalled) GetMany(ctx context.Context, keys [][]byte, fn func(i int, value []byte) bool) error {
	for start := 0; start < len(keys); start += mostPoints {
		part := keys[start:min(start+mostPoints, len(keys))]
		values := make([][]byte, len(part))
		var missing [][]byte
		var at []int
		for i, key := range part {
			v, ok := r.point(key)
			if values[i] = v; !ok {
				missing, at = append(missing, key), append(at, i)
			}
		}
		if len(missing) > 0 {
			err := r.remote.GetMany(ctx, missing, func(i int, v []byte) bool {
				values[at[i]] = v
				return true
			})
			if err != nil {
				return err
			}
		}
		for i, v := range values {
			if v != nil && !fn(start+i, v) {
				return nil
			}
		}
	}
	return nil
}

func (r *recalled) First(ctx context.Context, s Span) ([]byte, error) {
	id := endKey{string(s.Lo), string(s.Hi), false}
	if key, ok := r.first(id); ok {
		return key, nil
	}
	key, err := r.remote.First(ctx, s)
	if err == nil {
		r.ends[id] = key
	}
	return key, err
}

func (r *recalled) FirstRecord(ctx context.Context, s Span) (key, record []byte, err error) {
	id := endKey{string(s.Lo), string(s.Hi), false}
	key, ok := r.first(id)
	if !ok {
		return r.remote.FirstRecord(ctx, s)
	}
	if key == nil {
		return nil, nil, nil
	}
	record, err = r.Get(ctx, recordKeyOf(key))
	return key, record, err
}

// last returns the last key of a range, if that was asked for in advance.
func (r *recalled) last(s Span) (key []byte, ok bool) {
	key, ok = r.ends[endKey{string(s.Lo), string(s.Hi), true}]
	return key, ok
}

func (r *recalled) Scan(ctx context.Context, lo, hi []byte, reverse bool) Iterator {
	if key, ok := r.first(endKey{string(lo), string(hi), false}); ok && key == nil {
		return noRows{}
	}
	return r.replay(newPager(ctx, r.SharedSnapshot, Page{Span: Span{lo, hi}, Reverse: reverse}))
}

func (r *recalled) ScanRecords(ctx context.Context, s Span, reverse, resumed bool, h hint) Iterator {
	return r.replay(newPager(ctx, r.SharedSnapshot, joinedPage(s, reverse, resumed, h)))
}

func (r *recalled) ScanSome(ctx context.Context, s Span, reverse bool, h hint) Iterator {
	return r.replay(newPager(ctx, r.SharedSnapshot, Page{Span: s, Reverse: reverse, Wanted: h.wanted, Size: h.size}))
}

// replay lets a pager begin with the rows that are remembered.
func (r *recalled) replay(p *pager) Iterator {
	seen := r.ranges[p.page.id()]
	if seen == nil {
		return p
	}
	rows := seen.rows
	if p.page.Joined {
		rows = make([]KV, len(seen.rows))
		for i, row := range seen.rows {
			rows[i] = KV{row.Key, nil}
			v, ok := r.point(recordKeyOf(row.Key))
			if !ok {
				return p // not remembered as a whole
			}
			rows[i].Value = v
		}
	} else if seen.page.Joined {
		rows = make([]KV, len(seen.rows))
		for i, row := range seen.rows {
			rows[i] = KV{row.Key, []byte{}}
		}
	}
	if r.guess != nil {
		r.guess.pages(seen)
	}
	p.rows, p.more = rows, seen.more
	p.behind()
	p.more = seen.more
	return p
}
