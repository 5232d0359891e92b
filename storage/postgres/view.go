package postgres

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kv"
	"github.com/duskdb/duskdb/storage/internal/kvshared"
)

// view is a state: a read-only transaction, which begins with the first read. The
// first read of a brief one is a transaction of its own.
type view struct {
	s       *store
	from    *pool // the pool that has the connection
	catalog int64
	held    bool
	number  uint64 // under which others may hold the state, or 0
	name    string // name of the state of the database to read, or ""
	share   bool   // the state gets a name
	brief   bool
	moved   bool
	l       lease
	head    kvshared.Head
	begun   bool
	lost    bool
	ended   bool
}

// Head is that of the state.
func (v *view) Head() (kvshared.Head, bool) { return v.head, v.begun }

// Lost reports whether the connection was lost before the first answer.
func (v *view) Lost() bool { return v.lost }

// Moved reports whether the state of a brief view was gone when more was read.
func (v *view) Moved() bool { return v.moved }

// Read makes a round trip.
func (v *view) Read(ctx context.Context, r *kvshared.Request) (*kvshared.Reply, error) {
	if v.ended || v.s.closed.Load() {
		return nil, storage.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	switch {
	case v.moved:
		return nil, kvshared.ErrMoved
	case v.begun && v.head.Catalog > v.catalog:
		return nil, kvshared.ErrStale
	case v.begun && r.Empty():
		return &kvshared.Reply{}, nil
	case v.begun && v.brief:
		return v.readOn(ctx, r)
	case v.begun:
		return v.read(ctx, r)
	}
	return v.begin(ctx, r)
}

// begin makes the first round trip, which chooses the state.
func (v *view) begin(ctx context.Context, r *kvshared.Request) (reply *kvshared.Reply, err error) {
	var point *pointRead
	if v.brief {
		point = pointReadOf(r)
	}
	if point != nil {
		done, leading, err := v.s.points.join(ctx, point)
		switch {
		case err != nil:
			return nil, err
		case done:
			v.head, v.begun = point.head, true
			return &point.reply, v.fresh()
		case leading:
			defer v.s.points.leave()
		}
	}
	if v.l.conn == nil {
		if v.l, err = v.from.get(ctx); err != nil {
			v.l, v.lost = lease{}, true
			return nil, v.s.explain(ctx, err)
		}
	}
	floor := v.s.newest.Load()
	if v.name != "" {
		floor = 0 // the state is not the latest, and HoldAt checks which it is
	}
	switch {
	case point != nil:
		reply, err = v.readTogether(ctx, point, floor)
	case v.brief:
		reply, err = v.once(ctx, r)
	default:
		reply, err = v.first(ctx, r)
	}
	if err == nil {
		err = v.s.explain(ctx, v.s.progressed(v.l.conn, floor, v.head))
	}
	if err == nil {
		err = v.fresh()
	} else {
		v.begun = false
		v.lost = v.l.broken != nil || isLockTimeout(err)
		if v.l.broken != nil {
			v.s.drop()
		}
	}
	if v.brief {
		v.giveBack()
	}
	return reply, err
}

// fresh fails if the catalog of the state is newer than the known one.
func (v *view) fresh() error {
	if v.head.Catalog > v.catalog {
		return kvshared.ErrStale
	}
	return nil
}

// first begins the transaction.
func (v *view) first(ctx context.Context, r *kvshared.Request) (*kvshared.Reply, error) {
	v.l.queue(beginReader)
	n, head := 1, 1
	if v.name != "" {
		v.l.simple(takeSnapshot(v.name))
		n, head = 2, 2
	}
	v.l.queue(selectHead)
	if v.share {
		v.l.simple(nameSnapshot)
		n++
	}
	return v.trip(ctx, n+1, r, func(n int, row [][]byte) {
		if n == head {
			v.head, v.begun = headOf(row), true
		} else {
			v.name = string(row[0])
		}
	})
}

// once makes a transaction of one read.
func (v *view) once(ctx context.Context, r *kvshared.Request) (*kvshared.Reply, error) {
	v.l.queue(beginReader)
	v.l.queue(selectHead)
	return v.trip(ctx, 2, r, func(n int, row [][]byte) {
		if n == 1 {
			v.head, v.begun = headOf(row), true
		}
	}, rollback)
}

// readOn begins a transaction on the state that was chosen for a single read, if that
// is still the latest.
func (v *view) readOn(ctx context.Context, r *kvshared.Request) (*kvshared.Reply, error) {
	before := v.head.Version
	v.brief, v.begun = false, false
	reply, err := v.begin(ctx, r)
	if v.begun && v.head.Version != before {
		v.moved = true
		return nil, kvshared.ErrMoved
	}
	return reply, err
}

func (v *view) read(ctx context.Context, r *kvshared.Request) (*kvshared.Reply, error) {
	return v.trip(ctx, 0, r, nil)
}

// trip sends a request behind what is queued already, and before what comes last.
func (v *view) trip(ctx context.Context, before int, r *kvshared.Request, first func(n int, row [][]byte), last ...*statement) (*kvshared.Reply, error) {
	a := ask(v.l.conn, r, &v.s.sizes, v.s.id)
	for _, s := range last {
		v.l.queue(s)
	}
	err := v.l.run(ctx, func(n int, row [][]byte) error {
		if n < before {
			first(n, row)
			return nil
		}
		return a.row(n-before, row)
	})
	if err != nil {
		return nil, v.s.explain(ctx, err)
	}
	a.done()
	return &a.reply, nil
}

// Close ends the transaction without waiting for the answer.
func (v *view) Close() {
	if v.ended {
		return
	}
	v.ended = true
	if v.held {
		v.s.held.remove(v.l.conn)
	}
	v.giveBack()
	if v.number != 0 {
		v.s.forgetNumber(v.number)
	}
}

// giveBack ends the transaction, if it has not ended yet, and gives the connection back.
func (v *view) giveBack() {
	if v.l.conn == nil {
		return
	}
	if v.l.broken == nil && v.l.status != 'I' {
		v.l.queue(rollback)
		v.l.send()
	}
	v.from.put(v.l)
	v.l.conn = nil
}

func headOf(v [][]byte) kvshared.Head {
	return kvshared.Head{Version: int64Of(v[0]), Catalog: int64Of(v[1]), Stamp: uint64(int64Of(v[2])), Numbers: uint32(int64Of(v[3]))}
}

// answers puts the rows of a trip into a reply.
type answers struct {
	server string // the server that asks
	reply  kvshared.Reply
	kinds  []func(row [][]byte)
	page   *kvshared.Page
	limit  int
	bytes  int
	sizes  *sizes
	room   []byte
}

// dataKey splits the key of a record or an entry.
func dataKey(key []byte) (num uint32, rest []byte) {
	return binary.BigEndian.Uint32(key[1:]), key[5:]
}

// keep copies bytes into one piece of memory for several.
func (a *answers) keep(b []byte) []byte {
	if b == nil {
		return nil
	}
	if len(b) > 4<<10 {
		return clone(b)
	}
	if cap(a.room)-len(a.room) < len(b) {
		a.room = make([]byte, 0, max(min(2*cap(a.room), 16<<10), 512, len(b)))
	}
	start := len(a.room)
	a.room = append(a.room, b...)
	return a.room[start:len(a.room):len(a.room)]
}

// fullKey is the inverse of dataKey.
func (a *answers) fullKey(like, rest []byte) []byte {
	n := 5 + len(rest)
	if cap(a.room)-len(a.room) < n {
		a.room = make([]byte, 0, max(min(2*cap(a.room), 16<<10), 512, n))
	}
	start := len(a.room)
	a.room = append(append(a.room, like[:5]...), rest...)
	return a.room[start:len(a.room):len(a.room)]
}

// endOf is the end of a range within its collection: that of a whole collection
// is the beginning of the next.
func endOf(s kv.Span) []byte {
	num, _ := dataKey(s.Lo)
	if len(s.Hi) < 5 || binary.BigEndian.Uint32(s.Hi[1:]) != num {
		return []byte{0xff}
	}
	return s.Hi[5:]
}

// ask queues the statements of a request.
func ask(c *conn, r *kvshared.Request, z *sizes, server string) *answers {
	a := &answers{sizes: z, server: server}
	if r == nil {
		return a
	}
	a.points(c, r.Points)
	a.ends(c, r.Ends)
	a.ranges(c, r.Ranges)
	if len(r.Stats) > 0 {
		nums := newArray(typeInt4, len(r.Stats), 4*len(r.Stats))
		for _, n := range r.Stats {
			nums.addInt4(n)
		}
		c.queue(selectStats, nums.value())
		a.kinds = append(a.kinds, func(v [][]byte) {
			a.reply.Stats = append(a.reply.Stats, kvshared.StatsRow{Num: uint32(int64Of(v[0])), Version: int64Of(v[1]), Row: clone(v[2])})
		})
	}
	a.claims(c, r.Claims)
	if r.Catalog {
		c.queue(selectCatalog, int8Value(-1))
		a.kinds = append(a.kinds, func(v [][]byte) { a.reply.Catalog = append(a.reply.Catalog, catalogRow(v)) })
	}
	a.readPage(c, r.Page)
	return a
}

func (a *answers) row(n int, v [][]byte) error {
	a.kinds[n](v)
	return nil
}

func (a *answers) points(c *conn, points []kvshared.Point) {
	if len(points) == 0 {
		return
	}
	a.reply.Points = make([]kvshared.PointReply, len(points))
	if len(points) == 1 && points[0].Seen == 0 {
		num, rest := dataKey(points[0].Key)
		c.queue(selectKey, int4Value(num), rest)
		a.kinds = append(a.kinds, func(v [][]byte) { a.reply.Points[0].Value = clone(v[0]) })
		return
	}
	args := pointArrays(points)
	if slices.ContainsFunc(points, func(p kvshared.Point) bool { return p.Seen != 0 }) {
		c.queue(selectNewer, args...)
	} else {
		c.queue(selectKeys, args[:2]...)
	}
	a.kinds = append(a.kinds, func(v [][]byte) {
		p := &a.reply.Points[int64Of(v[0])-1]
		if v[1] == nil {
			p.Same = true
		} else {
			p.Value = a.keep(v[1])
		}
	})
}

func (a *answers) ends(c *conn, ends []kvshared.End) {
	if len(ends) == 0 {
		return
	}
	a.reply.Ends = make([]kvshared.KV, len(ends))
	for _, last := range []bool{false, true} {
		var at []int
		var spans []kv.Span
		for i := range ends {
			if ends[i].Last == last {
				at, spans = append(at, i), append(spans, ends[i].Span)
			}
		}
		if len(at) == 0 {
			continue
		}
		s := selectFirst
		if last {
			s = selectLast
		}
		c.queue(s, spanArrays(spans)...)
		a.kinds = append(a.kinds, func(v [][]byte) {
			i := at[int64Of(v[0])-1]
			a.reply.Ends[i] = kvshared.KV{Key: a.fullKey(ends[i].Lo, v[1]), Value: a.keep(v[2])}
		})
	}
}

func (a *answers) ranges(c *conn, ranges []kvshared.ReadRange) {
	a.reply.Ranges = make([]bool, len(ranges))
	for i, r := range ranges {
		num, lo := dataKey(r.Lo)
		c.queue(checkRange, int4Value(num), lo, endOf(r.Span))
		a.kinds = append(a.kinds, func(v [][]byte) {
			a.reply.Ranges[i] = int64Of(v[0]) == r.Rows && int64Of(v[1]) <= r.Seen
		})
	}
}

// The size of pages.
const (
	firstRows   = 128
	resumedRows = 320
	maxRows     = 1024
	maxWanted   = 4096
	maxBytes    = 4 << 20
)

func (a *answers) readPage(c *conn, p *kvshared.Page) {
	if p == nil {
		return
	}
	num, lo := dataKey(p.Lo)
	a.page, a.limit = p, p.Limit
	if a.limit == 0 {
		a.limit = firstRows
		if p.Resumed {
			a.limit = resumedRows
		}
		a.limit = min(a.limit<<min(2*p.Before, 8), maxRows)
		if p.Wanted > 0 {
			a.limit = min(p.Wanted, maxWanted)
		}
		if size := a.sizes.of(num, p.Joined); size > 0 {
			a.limit = max(min(a.limit, maxBytes/max(size, p.Size)), 4)
		} else if p.Size > 0 {
			a.limit = max(min(a.limit, maxBytes/p.Size), 4)
		} else if p.Joined || lo[0] == 'r' {
			a.limit = min(a.limit, firstRows)
		}
	}
	var s *statement
	switch {
	case p.Joined && p.Reverse:
		s = pageJoinedDown
	case p.Joined:
		s = pageJoinedUp
	case p.Reverse:
		s = pageDown
	default:
		s = pageUp
	}
	c.queue(s, int4Value(num), lo, endOf(p.Span), int8Value(int64(a.limit)))
	a.kinds = append(a.kinds, func(v [][]byte) {
		a.bytes += len(v[1])
		a.reply.Page = append(a.reply.Page, kvshared.KV{Key: a.fullKey(p.Lo, v[0]), Value: a.keep(v[1])})
	})
}

// done completes the reply.
func (a *answers) done() {
	if a.page == nil {
		return
	}
	n := len(a.reply.Page)
	a.reply.More = n == a.limit
	if n > 1 {
		num, _ := dataKey(a.page.Lo)
		a.sizes.note(num, a.page.Joined, a.bytes/n+1)
	}
}
