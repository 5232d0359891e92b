package mem

import (
	"bytes"
	"context"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kv"
	"github.com/duskdb/duskdb/storage/storagetest"
)

var (
	ctx = context.Background()
	ns  = storage.Namespace{DB: "db", Coll: "c"}
)

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// logged is a store that notes what a log needs of its write sets.
type logged struct {
	*Store
	log    []loggedRow
	groups int
	quotes []kv.Quote // quotes of the last write set, whose writes are in last
	last   []kv.Write
}

type loggedRow struct {
	kv.Row
	value []byte // nil: deleted
}

func (s *logged) Apply(ctx context.Context, w *kv.WriteSet) (func() error, error) {
	before := len(s.log)
	for i, row := range w.Logged() {
		s.log = append(s.log, loggedRow{row, bytes.Clone(w.Writes[i].Value)})
	}
	if len(s.log) > before {
		s.groups++
	}
	s.quotes, s.last = append([]kv.Quote(nil), w.Quotes...), append([]kv.Write(nil), w.Writes...)
	return s.Store.Apply(ctx, w)
}

// replayed is a store with what the log has.
func (s *logged) replayed(tb testing.TB) *logged {
	tb.Helper()
	l := NewLoader()
	for _, r := range s.log {
		if r.value == nil {
			must(tb, l.Delete(r.Row))
		} else {
			must(tb, l.Set(r.Row, r.value))
		}
	}
	return &logged{Store: l.Store(), log: s.log}
}

// dumped is a store with what a compaction would write.
func (s *logged) dumped(tb testing.TB) *logged {
	tb.Helper()
	next := &logged{}
	must(tb, s.latest.Load().Dump(func(r kv.Row, value []byte) error {
		next.log = append(next.log, loggedRow{r, value})
		return nil
	}))
	return next.replayed(tb)
}

// engine opens an engine over the store.
func (s *logged) engine(tb testing.TB, ix storage.Indexer) *kv.Engine {
	tb.Helper()
	e, err := kv.Open(s, kv.Options{Name: "bunt", Indexer: ix, Rebuild: &kv.Rebuild{}})
	must(tb, err)
	return e
}

// TestConformance: an engine that is opened again is made of what a log has of it, by turns
// after a compaction.
func TestConformance(t *testing.T) {
	for name, reopened := range map[string]func(s *logged, tb testing.TB) *logged{
		"log": (*logged).replayed, "compacted": (*logged).dumped,
	} {
		t.Run(name, func(t *testing.T) {
			stores := map[string]*logged{}
			storagetest.Run(t, func(tb testing.TB, dir string, ix storage.Indexer) storage.Engine {
				if s := stores[dir]; s == nil {
					stores[dir] = &logged{Store: New()}
				} else {
					stores[dir] = reopened(s, tb)
				}
				return stores[dir].engine(tb, ix)
			})
		})
	}
}
