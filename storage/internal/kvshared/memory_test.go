package kvshared

import (
	"context"
	"errors"
	"maps"
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
