package storagetest

import (
	"context"
	"sync"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
)

// LeaseTime is how long the leases of a server of a [Cluster] outlive it.
const LeaseTime = 10 * time.Second

// Cluster is an engine that several servers share, for tests of what they must not
// assume: it reports the commits of the others to each, and a background job runs
// where its lease is.
type Cluster struct {
	engine storage.Engine
	clock  clock.Clock // by which leases end

	mu      sync.Mutex // guards the fields below, and died of the members
	members []*Member
	holders map[string]*Member // by the name of the job
	states  map[uint64]*numberedState
}

// NewCluster returns a cluster without servers.
func NewCluster(e storage.Engine, c clock.Clock) *Cluster {
	return &Cluster{engine: e, clock: c, holders: map[string]*Member{}, states: map[uint64]*numberedState{}}
}

// Member is the engine as one server of a [Cluster] has it. Close leaves the
// engine open.
type Member struct {
	storage.Engine
	cluster *Cluster
	changes chan struct{}
	dead    bool
	died    time.Time
	hear    func(storage.Reading)
}

// Join adds a server.
func (c *Cluster) Join() *Member {
	m := &Member{Engine: c.engine, cluster: c, changes: make(chan struct{}, 1)}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.members = append(c.members, m)
	return m
}

// Die ends the server as a crash does: its leases go to others after LeaseTime.
func (m *Member) Die() {
	m.cluster.mu.Lock()
	defer m.cluster.mu.Unlock()
	m.dead, m.died = true, m.cluster.clock.Now()
}

// Lease gives the job to the first that asks, for as long as it lives.
func (m *Member) Lease(job string) bool {
	c := m.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.dead {
		return false
	}
	if h := c.holders[job]; h == nil || h.dead && c.clock.Now().Sub(h.died) >= LeaseTime {
		c.holders[job] = m
	}
	return c.holders[job] == m
}

// Changes reports the commits of the other members.
func (m *Member) Changes() <-chan struct{} { return m.changes }

// committed reports a commit to the other members, and returns its error.
func (m *Member) committed(err error) error {
	if err != nil {
		return err
	}
	m.cluster.mu.Lock()
	defer m.cluster.mu.Unlock()
	for _, other := range m.cluster.members {
		if other == m {
			continue
		}
		select {
		case other.changes <- struct{}{}:
		default:
		}
	}
	return nil
}

// Update is that of the engine.
func (m *Member) Update(ctx context.Context, fn func(storage.Tx) error) error {
	return m.committed(m.Engine.Update(ctx, fn))
}

// UpdateShared is that of the engine, or an Update.
func (m *Member) UpdateShared(ctx context.Context, fn func(storage.Tx) error) error {
	if sharer, ok := m.Engine.(storage.Sharer); ok {
		return m.committed(sharer.UpdateShared(ctx, fn))
	}
	return m.Update(ctx, fn)
}

// Begin is that of the engine.
func (m *Member) Begin(ctx context.Context) (storage.Txn, error) {
	txn, err := m.Engine.Begin(ctx)
	if err != nil {
		return nil, err
	}
	return memberTxn{txn, m}, nil
}

// Close leaves the cluster at once.
func (m *Member) Close() error {
	m.cluster.mu.Lock()
	defer m.cluster.mu.Unlock()
	m.dead, m.died = true, time.Time{}
	return nil
}

// memberTxn is a snapshot transaction whose commit is reported.
type memberTxn struct {
	storage.Txn
	m *Member
}

func (t memberTxn) Commit(ctx context.Context) error { return t.m.committed(t.Txn.Commit(ctx)) }

func (t memberTxn) CommitWith(ctx context.Context, last func(storage.Tx) error) error {
	return t.m.committed(t.Txn.CommitWith(ctx, last))
}
