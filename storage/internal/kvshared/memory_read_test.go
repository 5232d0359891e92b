package kvshared

import (
	"bytes"
	"context"
	"math"

	"github.com/duskdb/duskdb/storage"
)

// dbView is a state as a server reads it.
type dbView struct {
	s           *server
	state       *dbState
	catalog     int64
	brief       bool
	reads       int
	lost, moved bool
	closed      bool
}

func (v *dbView) Head() (Head, bool) {
	if v.state == nil {
		return Head{}, false
	}
	return v.state.head, true
}

func (v *dbView) Lost() bool  { return v.lost }
func (v *dbView) Moved() bool { return v.moved }
func (v *dbView) Close()      { v.closed = true }

func (v *dbView) Read(ctx context.Context, r *Request) (*Reply, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	d := v.s.db
	d.mu.Lock()
	defer d.mu.Unlock()
	if v.closed || v.s.closed {
		return nil, storage.ErrClosed
	}
	if v.moved {
		return nil, ErrMoved
	}
	if v.state != nil && r.Empty() {
		return &Reply{}, nil
	}
	if err := v.s.trip("read"); err != nil {
		v.lost = v.state == nil
		return nil, err
	}
	if v.brief && v.reads > 0 && d.now.head.Version != v.state.head.Version {
		v.moved = true
		return nil, ErrMoved
	}
	if v.reads++; v.state == nil {
		v.state = d.now
	}
	if v.state.head.Catalog > v.catalog {
		return nil, ErrStale
	}
	return d.answer(v.s.name, v.state, r), nil
}

// answer reads what a request asks for.
func (d *database) answer(server string, st *dbState, r *Request) *Reply {
	reply := &Reply{Ends: make([]KV, len(r.Ends))}
	for _, p := range r.Points {
		row, ok := st.rows.Get(string(p.Key))
		if ok && p.Seen != 0 && row.version <= p.Seen {
			reply.Points = append(reply.Points, PointReply{Same: true})
		} else {
			reply.Points = append(reply.Points, PointReply{Value: bytes.Clone(row.value)})
		}
	}
	for i, end := range r.Ends {
		if keys := st.keys(end.Span, end.Last, 1); len(keys) > 0 {
			row, _ := st.rows.Get(keys[0])
			reply.Ends[i] = KV{[]byte(keys[0]), bytes.Clone(row.value)}
		}
	}
	for _, seen := range r.Ranges {
		reply.Ranges = append(reply.Ranges, st.unchanged(seen))
	}
	for _, num := range r.Stats {
		if row, ok := st.stats[num]; ok {
			reply.Stats = append(reply.Stats, row)
		}
	}
	for _, c := range r.Claims {
		reply.Claimed = append(reply.Claimed, d.claimedByOthers(server, c))
	}
	if r.Catalog {
		reply.Catalog = st.catalogRows(-1)
	}
	if r.Page != nil {
		reply.Page, reply.More = st.page(r.Page)
	}
	return reply
}

func (s *server) Snapshot(catalog int64, brief bool) Snapshot {
	return &dbView{s: s, catalog: catalog, brief: brief}
}

func (s *server) Hold(ctx context.Context, catalog int64) (Snapshot, error) {
	v := &dbView{s: s, catalog: catalog}
	_, err := v.Read(ctx, &Request{})
	return v, err
}

func (s *server) HoldNumbered(ctx context.Context, catalog int64, next func() uint64) (Snapshot, uint64, error) {
	v := &dbView{s: s, catalog: catalog}
	if _, err := v.Read(ctx, &Request{}); err != nil {
		return v, 0, err
	}
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	for {
		number := next()
		if _, taken := s.db.numbers[number]; !taken {
			s.db.numbers[number] = v.state
			return v, number, nil
		}
	}
}

func (s *server) TellReading(storage.Reading) {}

func (s *server) HearReadings(func(storage.Reading)) {}

func (s *server) HoldAt(_ context.Context, number uint64) (Snapshot, error) {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	st := s.db.numbers[number]
	if st == nil {
		return nil, storage.ErrNoSnapshot
	}
	return &dbView{s: s, catalog: math.MaxInt64, state: st, reads: 1}, nil
}

func (s *server) Catalog(_ context.Context, since int64) (Head, []CatalogRow, error) {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	if err := s.trip("catalog"); err != nil {
		return Head{}, nil, err
	}
	return s.db.now.head, s.db.now.catalogRows(since), nil
}
