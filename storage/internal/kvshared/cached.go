package kvshared

import (
	"context"

	"github.com/duskdb/duskdb/storage/internal/kv"
	"github.com/duskdb/duskdb/value"
)

// cachedState is the state that the run that counts reads: what dry runs have read, as it
// is now, and the rest from the database.
type cachedState struct {
	remoteState
	points map[string][]byte
	ends   map[endKey][]byte
	ranges map[string]*readRange // ranges by the ids of their pages

	claims      map[string]bool // whether transactions of other servers have these claims
	othersClaim bool            // transactions of other servers have any claims
}

var _ kv.Joiner = (*cachedState)(nil)

// combinedReads makes one request of the read sets of several dry runs.
type combinedReads struct {
	request Request

	// In the order of the lists of the request:
	values []readValue  // the values of the points, as dry runs have read them
	ends   []endKey     // the ends
	found  []readEnd    // what dry runs have found there
	ranges []*readRange // the ranges
	claims []string     // the ids of the claims
}

func combine(list []*readSet, known func(num uint32) bool) *combinedReads {
	var c combinedReads
	points, ends, stats := map[string]int{}, map[endKey]int{}, map[uint32]struct{}{}
	needed := map[string]struct{}{}
	for _, m := range list {
		c.request.Txn, c.request.Held = m.txn, m.claimsHeld // it is alone
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
				c.request.Ends = append(c.request.Ends, End{Span: kv.Span{Lo: value.StringView(key.lo), Hi: value.StringView(key.hi)}, Last: key.last})
			}
		}
		for _, r := range m.ranges {
			if r.version == 0 {
				continue // begun, but not read
			}
			c.ranges = append(c.ranges, r)
			c.request.Ranges = append(c.request.Ranges, ReadRange{Span: r.covered(), Rows: int64(len(r.rows)), Seen: r.version})
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
func (r *readRange) covered() kv.Span {
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

// newCachedState makes a state that knows nothing yet.
func (c *combinedReads) newCachedState(from Snapshot) *cachedState {
	return &cachedState{
		remoteState: remoteState{from},
		points:      make(map[string][]byte, len(c.values)),
		ends:        make(map[endKey][]byte, len(c.ends)),
		ranges:      make(map[string]*readRange, len(c.ranges)),
		claims:      make(map[string]bool, len(c.claims)),
	}
}

// answered is the state that the reply to the request describes.
func (c *combinedReads) answered(from Snapshot, reply *Reply) *cachedState {
	r := c.newCachedState(from)
	r.othersClaim = reply.Foreign
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
		if same {
			r.addRange(c.ranges[i])
		}
	}
	return r
}

// after is the state after the last commit of a history, as far as dry runs have read it;
// nil if the history does not tell how something is then.
func (c *combinedReads) after(h *history, from Snapshot) *cachedState {
	r := c.newCachedState(from)
	for i, read := range c.values {
		key := c.request.Points[i].Key
		v, ok := h.point(key, read)
		if !ok {
			return nil
		}
		r.points[value.BytesView(key)] = v
	}
	for i, id := range c.ends {
		found := c.found[i]
		if found.version == 0 {
			continue // the run that counts takes it for empty, or does not need it
		}
		if !h.unchanged(c.request.Ends[i].Span, found.key, found.version) {
			return nil
		}
		r.ends[id] = found.key
	}
	for i, read := range c.ranges {
		if !h.unchanged(c.request.Ranges[i].Span, nil, read.version) {
			return nil
		}
		r.addRange(read)
	}
	return r
}

// addRange adds a range that is as it was read. Of several that begin alike the longest
// counts.
func (r *cachedState) addRange(read *readRange) {
	id := read.page.id()
	if other := r.ranges[id]; other == nil || other.more && len(other.rows) < len(read.rows) {
		r.ranges[id] = read
	}
}

func (r *cachedState) Get(ctx context.Context, key []byte) ([]byte, error) {
	if v, ok := r.points[string(key)]; ok {
		return v, nil
	}
	v, err := r.remoteState.Get(ctx, key)
	if err == nil {
		r.points[string(key)] = v
	}
	return v, err
}

func (r *cachedState) GetMany(ctx context.Context, keys [][]byte, fn func(i int, value []byte) bool) error {
	for start := 0; start < len(keys); start += maxPoints {
		part := keys[start:min(start+maxPoints, len(keys))]
		values := make([][]byte, len(part))
		var missing [][]byte
		var at []int
		for i, key := range part {
			v, ok := r.points[string(key)]
			if values[i] = v; !ok {
				missing, at = append(missing, key), append(at, i)
			}
		}
		if len(missing) > 0 {
			err := r.remoteState.GetMany(ctx, missing, func(i int, v []byte) bool {
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

func (r *cachedState) First(ctx context.Context, s kv.Span) ([]byte, error) {
	id := endKey{string(s.Lo), string(s.Hi), false}
	if key, ok := r.ends[id]; ok {
		return key, nil
	}
	key, err := r.remoteState.First(ctx, s)
	if err == nil {
		r.ends[id] = key
	}
	return key, err
}

func (r *cachedState) FirstRecord(ctx context.Context, s kv.Span, unique bool) (key, record []byte, err error) {
	id := endKey{string(s.Lo), string(s.Hi), false}
	key, ok := r.ends[id]
	if !ok {
		return r.remoteState.FirstRecord(ctx, s, unique)
	}
	if key == nil {
		return nil, nil, nil
	}
	record, err = r.Get(ctx, kv.RecordKeyOf(key))
	return key, record, err
}

// last returns the last key of a range, if that was asked for in advance.
func (r *cachedState) last(s kv.Span) (key []byte, ok bool) {
	key, ok = r.ends[endKey{string(s.Lo), string(s.Hi), true}]
	return key, ok
}

func (r *cachedState) Scan(ctx context.Context, lo, hi []byte, reverse bool) kv.Iterator {
	if key, ok := r.ends[endKey{string(lo), string(hi), false}]; ok && key == nil {
		return kv.NoRows{}
	}
	return r.rewind(newPager(ctx, r.Snapshot, Page{Span: kv.Span{Lo: lo, Hi: hi}, Reverse: reverse}))
}

func (r *cachedState) ScanRecords(ctx context.Context, s kv.Span, reverse, resumed bool, h kv.ScanHint) kv.Iterator {
	return r.rewind(newPager(ctx, r.Snapshot, joinedPage(s, reverse, resumed, h)))
}

func (r *cachedState) ScanSome(ctx context.Context, s kv.Span, reverse bool, h kv.ScanHint) kv.Iterator {
	return r.rewind(newPager(ctx, r.Snapshot, Page{Span: s, Reverse: reverse, Wanted: h.Rows, Size: h.RowSize}))
}

// rewind lets a pager begin with the rows that are remembered.
func (r *cachedState) rewind(p *pager) kv.Iterator {
	seen := r.ranges[p.page.id()]
	if seen == nil {
		return p
	}
	rows := seen.rows
	if p.page.Joined {
		rows = make([]KV, len(seen.rows))
		for i, row := range seen.rows {
			rows[i] = KV{row.Key, nil}
			v, ok := r.points[string(kv.RecordKeyOf(row.Key))]
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
	p.rows, p.more = rows, seen.more
	p.advance()
	p.more = seen.more
	return p
}
