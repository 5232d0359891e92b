package kvshared

import (
	"errors"
	"fmt"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
)

// begin opens a snapshot transaction that the test ends.
func (e *Engine) begin(tb testing.TB) storage.Txn {
	tb.Helper()
	txn, err := e.Begin(tb.Context())
	must(tb, err)
	tb.Cleanup(txn.Abort)
	return txn
}

// in runs an operation in a transaction.
func in(tx storage.Tx, fn func(c storage.Collection) error) error {
	c, err := tx.Collection(ns)
	if err != nil {
		return err
	}
	return fn(c)
}

// in runs an operation on the catalog or the collection in a transaction.
func (o operation) in(tx storage.Tx) error { return o.fn(tx) }

// TestClaims: what a snapshot transaction of one server has written, an Update of another
// one cannot write until the transaction has ended, and neither can a transaction.
func TestClaims(t *testing.T) {
	t.Parallel()
	createOther := operation{"create", func(tx storage.Tx) error {
		_, err := tx.Create(storage.Namespace{DB: "db", Coll: "other"}, nil, nil)
		return err
	}}
	rename := operations[len(operations)-1]
	drop := operations[len(operations)-2]
	for _, tt := range []struct {
		name       string
		txn, other operation
		conflict   bool
	}{
		{"the same record", each("", incremented(1)), each("", incremented(1)), true},
		{"a record that is removed", each("", remove(1)), each("", incremented(1)), true},
		{"another record", each("", incremented(1)), each("", incremented(2)), false},
		{"the same new key", each("", insertDoc(50, 1)), each("", insertDoc(50, 2)), true},
		{"other new keys", each("", insertDoc(50, 1)), each("", insertDoc(51, 2)), false},
		{"an index of what is written to", each("", incremented(1)), operation{"", func(tx storage.Tx) error { return tx.CreateIndex(ns, storagetest.Spec("z")) }}, true},
		{"dropping what is written to", each("", incremented(1)), drop, true},
		{"writing to what is dropped", drop, each("", incremented(1)), true},
		{"the same new name", createOther, createOther, true},
		{"a rename to a new name", createOther, rename, true},
		{"a ranged delete", each("", deleteBelow(2)), each("", incremented(0)), true},
		{"beside a ranged delete", each("", deleteBelow(2)), each("", incremented(3)), false},
	} {
		for _, late := range []bool{false, true} {
			t.Run(fmt.Sprint(tt.name, late), func(t *testing.T) {
				t.Parallel()
				d := newDatabase()
				a, _ := d.open(t, "a")
				prepared(t, a)
				b, _ := d.open(t, "b")
				txn := a.begin(t)
				if late {
					txn.(storage.LateClaimer).ClaimLater()
				}
				must(t, tt.txn.in(txn))
				if late {
					must(t, txn.(storage.LateClaimer).Claim())
				}
				want := map[bool]error{false: nil, true: storage.ErrConflict}[tt.conflict]
				if err := tt.other.alone(b); !errors.Is(err, want) {
					t.Errorf("an Update of another server: %v, want %v", err, want)
				}
				if tt.conflict {
					second := b.begin(t)
					err := tt.other.in(second)
					if err == nil {
						err = second.Commit(t.Context())
					}
					if !errors.Is(err, storage.ErrConflict) {
						t.Errorf("a transaction of another server: %v", err)
					}
					second.Abort()
				}
				must(t, txn.Commit(t.Context()))
				if n := len(d.claims); n != 0 {
					t.Errorf("%d claims are left", n)
				}
			})
		}
	}
}

// TestSnapshotConflicts: a transaction cannot write what another server has written since
// its snapshot, whether it finds out at once or when it commits.
func TestSnapshotConflicts(t *testing.T) {
	t.Parallel()
	for _, first := range operations {
		for _, second := range operations {
			t.Run(first.name+"/"+second.name, func(t *testing.T) {
				t.Parallel()
				d := newDatabase()
				a, _ := d.open(t, "a")
				prepared(t, a)
				b, _ := d.open(t, "b")
				txn := a.begin(t)
				if err := first.run(b); err != nil {
					t.Skip("the first operation fails by itself")
				}
				after := b.contents(t)
				err := second.in(txn)
				if err == nil {
					err = txn.Commit(t.Context())
				}
				txn.Abort()
				switch got := b.contents(t); {
				case errors.Is(err, storage.ErrConflict):
					if got != after {
						t.Errorf("after a conflict the database has\n%swant\n%s", got, after)
					}
				case err != nil:
					t.Errorf("the transaction fails with %v", err)
				default:
					want, _ := newDatabase().open(t, "serial")
					prepared(t, want)
					must(t, first.run(want))
					if err := second.run(want); err != nil && !readsAll(second) {
						t.Errorf("the transaction succeeds, in a series it fails with %v", err)
					}
					if !readsAll(second) && got != want.contents(t) {
						t.Errorf("the database has\n%swant\n%s", got, want.contents(t))
					}
				}
				if n := len(d.claims); n != 0 {
					t.Errorf("%d claims are left", n)
				}
			})
		}
	}
}

// readsAll says that an operation writes what it has read elsewhere: snapshot isolation
// allows that its reads are older than its commit.
func readsAll(o operation) bool {
	return o.name == "sum of all" || o.name == "count" || o.name == "first by a" || o.name == "delete a range"
}

// TestLostClaims: a transaction whose claims were removed, because its server was taken for
// dead, cannot be committed.
func TestLostClaims(t *testing.T) {
	t.Parallel()
	d := newDatabase()
	a, s := d.open(t, "a")
	prepared(t, a)
	txn := a.begin(t)
	must(t, in(txn, incremented(1)))
	s.set(func() { d.claimsOf("a") })
	if err := txn.Commit(t.Context()); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("a commit without its claims: %v", err)
	}
	if got := a.counters(t)[1]; got != 3 {
		t.Errorf("the counter is %d", got)
	}
}

// TestClaimTrips: a statement that claims late makes one trip for all it has written, and
// nothing is claimed twice.
func TestClaimTrips(t *testing.T) {
	t.Parallel()
	a, s := newDatabase().open(t, "a")
	prepared(t, a)
	txn := a.begin(t)
	late := txn.(storage.LateClaimer)
	must(t, late.Claim()) // nothing is deferred
	n := s.counted("claim", func() {
		late.ClaimLater()
		for id := range int32(4) {
			must(t, in(txn, incremented(id)))
		}
		must(t, late.Claim())
	})
	if n != 1 {
		t.Errorf("%d trips for one statement", n)
	}
	if n := s.counted("claim", func() { must(t, in(txn, incremented(1))) }); n != 0 {
		t.Errorf("%d trips for what is claimed already", n)
	}
	s.failing("claim", 1, errLost)
	if err := in(txn, insertDoc(77, 1)); !errors.Is(err, errLost) {
		t.Errorf("a claim that fails: %v", err)
	}
	must(t, txn.Commit(t.Context()))
	late.ClaimLater()
	must(t, late.Claim()) // the transaction is over
}

// TestNumberedSnapshots: a state that one server has numbered another one reads, whatever has
// happened to the catalog since.
func TestNumberedSnapshots(t *testing.T) {
	t.Parallel()
	d := newDatabase()
	a, _ := d.open(t, "a")
	b, _ := d.open(t, "b")
	prepared(t, a)
	number := uint64(10)
	first, n, err := a.BeginNumbered(t.Context(), func() uint64 { number++; return number })
	must(t, err)
	defer first.Abort()
	number = 10 // taken: the next one is tried
	second, m, err := a.BeginNumbered(t.Context(), func() uint64 { number++; return number })
	must(t, err)
	defer second.Abort()
	if n != 11 || m != 12 {
		t.Errorf("the numbers are %d and %d, want 11 and 12", n, m)
	}
	for _, o := range operations[:10] {
		_ = o.run(b)
	}
	must(t, b.Update(b.life, func(tx storage.Tx) error { return tx.Drop(ns) }))
	for _, e := range []*Engine{a, b} {
		txn, err := e.BeginAt(t.Context(), n)
		must(t, err)
		docs := 0
		must(t, in(txn, func(c storage.Collection) error {
			count, err := c.Count()
			if err == nil && count != 4 {
				err = fmt.Errorf("%d documents are counted", count)
			}
			return errors.Join(err, c.Scan(storage.Range{}, func(storage.Record) bool { docs++; return true }))
		}))
		if docs != 4 {
			t.Errorf("%d documents, want 4", docs)
		}
		if err := in(txn, incremented(2)); !errors.Is(err, storage.ErrConflict) {
			t.Errorf("a write to what is gone: %v", err)
		}
		txn.Abort()
	}
	if _, err := a.BeginAt(t.Context(), 99); !errors.Is(err, storage.ErrNoSnapshot) {
		t.Errorf("an unknown number: %v", err)
	}
}
