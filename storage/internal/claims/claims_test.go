package claims_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/claims"
)

// model is the table as it should be: the holder of each key, and the holders that use each
// collection.
type model struct {
	held map[claims.Key]*claims.Holder
	used map[storage.Namespace]map[*claims.Holder]bool
}

func (m *model) any() bool {
	for _, users := range m.used {
		if len(users) > 0 {
			return true
		}
	}
	return len(m.held) > 0
}

// release removes everything of a holder.
func (m *model) release(h *claims.Holder) {
	for k, owner := range m.held {
		if owner == h {
			delete(m.held, k)
		}
	}
	for _, users := range m.used {
		delete(users, h)
	}
}

// free reports whether nobody but h has k.
func (m *model) free(k claims.Key, h *claims.Holder) bool {
	return m.held[k] == nil || m.held[k] == h
}

// unused reports whether nobody but h uses a collection.
func (m *model) unused(ns storage.Namespace, h *claims.Holder) bool {
	for user := range m.used[ns] {
		if user != h {
			return false
		}
	}
	return true
}

// keys are one of each kind, and such that differ in one field only.
func keys() []claims.Key {
	return []claims.Key{
		{NS: storage.Namespace{DB: "a", Coll: "b"}}, {NS: storage.Namespace{DB: "a", Coll: "c"}},
		{Num: 1, ID: 1}, {Num: 1, ID: 2}, {Num: 2, ID: 1},
		{Num: 1, Index: "x", Key: "k"}, {Num: 1, Index: "x", Key: "l"}, {Num: 1, Index: "y", Key: "k"},
	}
}

// Every step of random holders on few keys does what it does in the model, and the last
// release leaves nothing.
func TestTable(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			var table claims.Table
			m := model{map[claims.Key]*claims.Holder{}, map[storage.Namespace]map[*claims.Holder]bool{}}
			holders := []*claims.Holder{{}, {}, {}}
			for range 500 {
				m.step(t, &table, r, holders[r.IntN(len(holders))])
			}
			for _, h := range holders {
				table.Release(h)
				m.release(h)
				if table.Any() != m.any() {
					t.Fatalf("after a release: Any is %v", table.Any())
				}
			}
			if table.Any() {
				t.Error("claims are left without holders")
			}
		})
	}
}

// step does a random thing with table and model, and compares.
func (m *model) step(t *testing.T, table *claims.Table, r *rand.Rand, h *claims.Holder) {
	t.Helper()
	k := keys()[r.IntN(len(keys()))]
	ns := keys()[r.IntN(2)].NS
	switch r.IntN(16) {
	case 0:
		table.Release(h)
		m.release(h)
	case 1, 2:
		table.Drop(k, h)
		if m.held[k] == h {
			delete(m.held, k)
		}
	case 3, 4:
		table.Use(ns, h)
		if m.used[ns] == nil {
			m.used[ns] = map[*claims.Holder]bool{}
		}
		m.used[ns][h] = true
	case 5, 6:
		conflict(t, "CheckUnused", table.CheckUnused(ns, h), !m.unused(ns, h))
	case 7, 8, 9:
		conflict(t, "Check", table.Check(k, h), !m.free(k, h))
	default:
		free, had := m.free(k, h), m.held[k] == h
		taken, err := table.Claim(k, h)
		conflict(t, "Claim", err, !free)
		if taken != (free && !had) {
			t.Fatalf("Claim of %v: taken is %v", k, taken)
		}
		if free {
			m.held[k] = h
		}
	}
	if table.Any() != m.any() {
		t.Fatalf("Any is %v, want %v", table.Any(), m.any())
	}
}

// conflict checks that an error is ErrConflict if it should be, else nil.
func conflict(t *testing.T, what string, err error, want bool) {
	t.Helper()
	if errors.Is(err, storage.ErrConflict) != want || !want && err != nil {
		t.Fatalf("%s: %v, want a conflict: %v", what, err, want)
	}
}
