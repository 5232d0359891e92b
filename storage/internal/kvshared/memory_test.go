package kvshared

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/tidwall/btree"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kv"
	"github.com/duskdb/duskdb/storage/storagetest"
)

// database is what several servers share: a database in memory that does what the
// contract of Store says and nothing more. Tests make its servers fail, keep news from
// them, and count their trips.
type database struct {
	mu      sync.Mutex
	now     *dbState
	numbers map[uint64]*dbState // the states that servers have numbered
	claims  map[string]dbClaim
	servers []*server
	lock    chan struct{} // holds one token: the lock of the head
}

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

type dbClaim struct {
	server string
	txn    int64
}

func newDatabase() *database {
	d := &database{numbers: map[uint64]*dbState{}, claims: map[string]dbClaim{}, lock: make(chan struct{}, 1)}
	d.now = &dbState{rows: new(btree.Map[string, dbRow]), catalog: map[uint32]CatalogRow{}, stats: map[uint32]StatsRow{}}
	d.lock <- struct{}{}
	return d
}

// server is the Store of one server.
type server struct {
	db      *database
	name    string
	closed  bool // guarded by the database's lock, like all below
	seen    int64
	follow  func(Head, []StatsRow) (bool, error)
	changes chan struct{}

	// What a test sets and reads:
	deaf    bool                    // the server is not told what others commit
	away    bool                    // the server does not know whether it has seen all commits
	before  func(trip string)       // called before a trip that commits, or takes the lock
	fail    func(trip string) error // fails a trip; nil: none fails
	trips   map[string]int          // how many trips of each kind there were
	attempt *Conditions             // those of the last attempt
}

// server adds a server.
func (d *database) server(name string) *server {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := &server{db: d, name: name, changes: make(chan struct{}, 1), trips: map[string]int{}}
	d.servers = append(d.servers, s)
	return s
}

// open opens an engine over a new server.
func (d *database) open(tb testing.TB, name string, opts ...func(*kv.Options)) (*Engine, *server) {
	tb.Helper()
	s := d.server(name)
	o := kv.Options{Name: "memory", Indexer: storagetest.Indexer{}, Snapshots: 32}
	for _, set := range opts {
		set(&o)
	}
	e, err := Open(tb.Context(), s, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = e.Close() })
	return e, s
}

var errLost = errors.New("the connection is lost")

// interrupt lets a test do something before a trip.
func (s *server) interrupt(trip string) {
	s.db.mu.Lock()
	before := s.before
	s.db.mu.Unlock()
	if before != nil {
		before(trip)
	}
}

// trip counts a trip, and fails it if a test wants that. The caller has the lock.
func (s *server) trip(kind string) error {
	if s.closed {
		return storage.ErrClosed
	}
	s.trips[kind]++
	if s.fail != nil {
		return s.fail(kind)
	}
	return nil
}

// tell tells the servers that listen what they have not heard of, also this one.
func (d *database) tell(also *server) {
	for _, s := range slices.Clone(d.servers) {
		d.mu.Lock()
		fn, state := s.follow, d.now
		skip := fn == nil || s.closed || s.deaf && s != also || s.seen >= state.head.Version
		var rows []StatsRow
		for _, row := range state.stats {
			if row.Version > s.seen {
				rows = append(rows, row)
			}
		}
		d.mu.Unlock()
		if skip {
			continue
		}
		if news, err := fn(state.head, rows); err == nil {
			d.mu.Lock()
			s.seen = max(s.seen, state.head.Version)
			d.mu.Unlock()
			if news {
				select {
				case s.changes <- struct{}{}:
				default:
				}
			}
		}
	}
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

// claimedByOthers reports whether a transaction of another server has a claim.
func (d *database) claimedByOthers(server string, c Claim) bool {
	id := c.id()
	for key, by := range d.claims {
		if by.server != server && (key == id || c.All && len(key) > len(id) && key[:len(id)] == id) {
			return true
		}
	}
	return false
}

// foreign reports whether a transaction of another server has any claim.
func (d *database) foreign(server string) bool {
	for _, by := range d.claims {
		if by.server != server {
			return true
		}
	}
	return false
}

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

// dbTurn is the lock of the head.
type dbTurn struct {
	dbView
	txn  int64
	over bool
}

func (s *server) Lock(ctx context.Context, r *Request) (Turn, *Reply, error) {
	s.interrupt("lock")
	select {
	case <-s.db.lock:
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
	d := s.db
	d.mu.Lock()
	defer d.mu.Unlock()
	t := &dbTurn{dbView: dbView{s: s, catalog: math.MaxInt64, state: d.now, reads: 1}, txn: r.Txn}
	held := 0
	for _, by := range d.claims {
		if by == (dbClaim{s.name, r.Txn}) {
			held++
		}
	}
	err := s.trip("lock")
	if err == nil && r.Txn != 0 && held != r.Held {
		err = storage.ErrConflict
	}
	if err != nil {
		t.Close()
		return nil, nil, err
	}
	reply := d.answer(s.name, d.now, r)
	reply.Foreign = d.foreign(s.name)
	return t, reply, nil
}

func (t *dbTurn) Keep() {}

func (t *dbTurn) Close() {
	if !t.over {
		t.over, t.closed = true, true
		t.s.db.lock <- struct{}{}
	}
}

func (t *dbTurn) Commit(_ context.Context, w *kv.WriteSet, h Head) error {
	defer t.Close()
	d := t.s.db
	d.mu.Lock()
	if err := t.s.trip("commit"); err != nil {
		d.mu.Unlock()
		return err
	}
	d.now = d.now.with(w, h)
	d.drop(dbClaim{t.s.name, t.txn})
	d.mu.Unlock()
	d.tell(nil)
	return nil
}

func (t *dbTurn) Seen(context.Context, int64) { t.s.db.tell(nil) }

func (s *server) Attempt(_ context.Context, w *kv.WriteSet, before, after Head, c *Conditions) error {
	s.interrupt("attempt")
	<-s.db.lock
	s.db.mu.Lock()
	s.attempt = c
	err := s.trip("attempt")
	if err == nil && !s.db.meets(s.name, before, c) {
		err = ErrMoved
	}
	if err == nil {
		after.Catalog, after.Numbers = s.db.now.head.Catalog, s.db.now.head.Numbers
		s.db.now = s.db.now.with(w, after)
	}
	s.db.mu.Unlock()
	s.db.lock <- struct{}{}
	if err == nil {
		s.db.tell(nil)
	}
	return err
}

// meets reports whether the conditions of an attempt hold.
func (d *database) meets(server string, before Head, c *Conditions) bool {
	st := d.now
	if st.head.Version != before.Version || d.foreign(server) {
		return false
	}
	for _, none := range c.None {
		if len(st.keys(none, false, 1)) > 0 {
			return false
		}
	}
	for _, row := range c.Stats {
		if st.stats[row.Num].Version != row.Version {
			return false
		}
	}
	return true
}

func (s *server) Claim(_ context.Context, r *ClaimRequest) (granted []bool, same bool, err error) {
	d := s.db
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := s.trip("claim"); err != nil {
		return nil, false, err
	}
	same = true
	for _, c := range r.Take {
		by, taken := d.claims[c.id()]
		free := !taken || by.server == s.name
		if granted = append(granted, free); free {
			d.claims[c.id()] = dbClaim{s.name, r.Txn}
		}
	}
	for _, c := range r.Free {
		same = same && !d.claimedByOthers(s.name, c)
	}
	for _, key := range r.Same {
		row, ok := d.now.rows.Get(string(key))
		same = same && ok && row.version <= r.Seen
	}
	for _, span := range r.New {
		for _, key := range d.now.keys(span, false, 0) {
			row, _ := d.now.rows.Get(key)
			same = same && row.version <= r.Seen
		}
	}
	return granted, same, nil
}

func (s *server) Release(txn int64) {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	s.db.drop(dbClaim{s.name, txn})
}

func (d *database) drop(gone dbClaim) {
	maps.DeleteFunc(d.claims, func(_ string, by dbClaim) bool { return by == gone })
}

func (s *server) Follow(fn func(Head, []StatsRow) (bool, error)) {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	s.follow = fn
}

func (s *server) Current() bool {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	return !s.away
}

func (s *server) Name() string { return s.name }

func (s *server) Living(context.Context) (names []string, err error) {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	for _, other := range s.db.servers {
		if !other.closed {
			names = append(names, other.name)
		}
	}
	return names, s.trip("living")
}

func (s *server) Alone() bool {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	for _, other := range s.db.servers {
		if other != s && !other.closed {
			return false
		}
	}
	return !s.away
}

func (s *server) Changes() <-chan struct{}      { return s.changes }
func (s *server) Lease(string) bool             { return true }
func (s *server) Sync(context.Context) error    { return nil }
func (s *server) Compact(context.Context) error { return nil }

// Stats counts the bytes of the rows.
func (s *server) Stats(st *storage.EngineStats) error {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	st.Syncs, st.FileBytes = st.Commits, s.db.now.bytes
	return nil
}

func (s *server) Close() error {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	s.closed = true
	s.db.claimsOf(s.name)
	return nil
}

// claimsOf removes the claims of a server that has ended.
func (d *database) claimsOf(server string) {
	maps.DeleteFunc(d.claims, func(_ string, by dbClaim) bool { return by.server == server })
}

// counted returns how many trips of a kind something makes.
func (s *server) counted(kind string, do func()) int {
	count := func() int {
		s.db.mu.Lock()
		defer s.db.mu.Unlock()
		return s.trips[kind]
	}
	before := count()
	do()
	return count() - before
}

// set changes what a test sets, under the lock.
func (s *server) set(do func()) {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	do()
}
