package monitor

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/duskdb/duskdb/query/index"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/bunt"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/ttl/internal/ttltest"
	"github.com/duskdb/duskdb/value"
)

// rulesIndexer keeps the rules of a collection in its Info.Meta.
type rulesIndexer struct{ index.Indexer }

func (rulesIndexer) Attach(info *storage.Info) any { return ttl.NewRules(info) }

func rulesOf(info *storage.Info) *ttl.Rules { r, _ := info.Meta.(*ttl.Rules); return r }

// testHost is a host over the embedded engine, as a server has it, which tests disturb.
type testHost struct {
	storage.Engine
	targets    []Target
	mu         sync.Mutex // guards params and locked, which a running monitor reads
	params     Parameters
	locked     bool
	active     int
	operations atomic.Int64
	views      int
	updates    int
	largest    int                   // records removed in one transaction
	onUpdate   func()                // called before a transaction
	conflicts  int                   // updates that are to have one
	refuse     func(value.Doc) error // for Remover
	letters    []value.Doc
}

// newHost returns a host over an engine in memory.
func newHost(tb testing.TB) *testHost { return openHost(tb, bunt.Memory) }

func openHost(tb testing.TB, path string) *testHost {
	tb.Helper()
	return &testHost{Engine: ttltest.Open(tb, path, rulesIndexer{}), params: Parameters{
		Enabled: true, SleepSecs: 60, BatchDeletes: true, SubPassTargetSecs: 60,
		DeleteTargetMS: 1000, DeleteTargetDocs: 50000, PurgeThreshold: 64,
	}}
}

func (h *testHost) Collections(ctx context.Context, s *Schedule, now int64) (Listing, error) {
	l, err := s.List(ctx, h.Engine, now, func(info *storage.Info) (*ttl.Rules, bool) { return rulesOf(info), false }, nil)
	l.Queues = h.targets
	return l, err
}

func (h *testHost) Parameters() Parameters {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.params
}

func (h *testHost) Locked() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.locked
}

// set changes what a running monitor reads.
func (h *testHost) set(enabled, locked bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.params.Enabled, h.locked = enabled, locked
}

func (h *testHost) ActiveOperations() int { return h.active }
func (h *testHost) Operations() int64     { return h.operations.Load() }

func (h *testHost) open(tx storage.Tx, c *Collection) (storage.Collection, error) {
	for _, info := range storagetest.Got(tx.Collections("")) {
		if info.UUID == c.UUID {
			return tx.Collection(info.Namespace)
		}
	}
	return nil, ErrGone
}

func (h *testHost) View(ctx context.Context, c *Collection, fn func(storage.Collection, *ttl.Rules) error) error {
	h.views++
	return h.Engine.View(ctx, func(tx storage.Tx) error {
		coll, err := h.open(tx, c)
		if err != nil {
			return err
		}
		return fn(coll, rulesOf(coll.Info()))
	})
}

func (h *testHost) Update(ctx context.Context, c *Collection, fn func(storage.Collection, *ttl.Rules, ttl.Remover) error) error {
	h.updates++
	if h.onUpdate != nil {
		h.onUpdate()
	}
	if h.conflicts > 0 {
		h.conflicts--
		return storage.ErrConflict
	}
	return h.Engine.Update(ctx, func(tx storage.Tx) error {
		coll, err := h.open(tx, c)
		if err != nil {
			return err
		}
		n := 0
		defer func() { h.largest = max(h.largest, n) }()
		rules := rulesOf(coll.Info())
		return fn(coll, rules, func(r storage.Record, e *ttl.Expired) error {
			if h.refuse != nil {
				if err := h.refuse(r.Doc); err != nil {
					return err
				}
			}
			if rules.OnExpire != nil {
				h.letters = append(h.letters, e.DeadLetter(r.Doc, coll.Info().Namespace))
			}
			n++
			return nil
		})
	})
}

// create makes a collection with the given indexes, and internal ones.
func (h *testHost) create(tb ttltest.TB, name, options string, internal []ttl.Internal, indexes ...string) *ttltest.Coll {
	tb.Helper()
	c := ttltest.Create(tb, h.Engine, name, options, indexes...)
	for _, i := range internal {
		c.AddInternal(i.Name, i.Path, i.Order)
	}
	return c
}
