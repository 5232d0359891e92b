package storagetest

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/storage"
)

// testSimulation compares an engine with a Model under random operations.
func testSimulation(t *testing.T, open Opener) {
	rapid.Check(t, func(rt *rapid.T) {
		sim := &simulation{T: rt, s: start(t, open), model: NewModel()}
		defer func() {
			if err := sim.s.Close(); err != nil {
				t.Error(err)
			}
		}()
		rt.Repeat(map[string]func(*rapid.T){
			"update":  sim.update,
			"begin":   sim.begin,
			"inside":  sim.inside,
			"commit":  sim.commit,
			"abort":   sim.abort,
			"reopen":  sim.reopen,
			"compact": sim.compact,
			"":        sim.check,
		})
	})
}

// simulation is an engine, its model, and up to two open transactions.
type simulation struct {
	*rapid.T
	s     *session
	model *Model
	txns  []*simTxn
}

// simTxn is an open transaction: the model at its beginning, the model with
// its own writes, and those that succeeded.
type simTxn struct {
	storage.Txn
	base, model *Model
	alone       bool // nothing else has happened since
	ops         []Op
	seen        map[provisional]bool // records that it changed, see touched
}

// check compares states.
func (sim *simulation) check(*rapid.T) {
	sim.same("engine", Dump(sim.s), sim.model.Dump())
	for _, x := range sim.txns {
		sim.same("transaction", dumpTx(x.Txn), x.model.Dump())
	}
}

func (sim *simulation) same(what, got, want string) {
	if got != want {
		sim.Fatalf("%s: state is\n%s\nwant\n%s", what, got, want)
	}
}

// disturb notes that the state changed under the open transactions.
func (sim *simulation) disturb() {
	for _, x := range sim.txns {
		x.alone = false
	}
}

// update runs an Update. While transactions are open, an operation may have
// a conflict, which leaves no trace like any other error.
func (sim *simulation) update(t *rapid.T) {
	ops := DrawOps(t, sim.model, 12)
	fail := rapid.IntRange(0, 4).Draw(t, "fail") == 0
	var after *Model
	var wrong error // of the last run: in one that is undone, an operation may fail for the engine's reasons
	err := sim.s.Update(ctx, func(tx storage.Tx) error {
		after, wrong = sim.model.Clone(), nil
		for _, o := range ops {
			_, err := step(after, tx, o, len(sim.txns) > 0)
			wrong = errors.Join(wrong, err)
		}
		if fail {
			return errRollback
		}
		return nil
	})
	if wrong != nil {
		t.Fatal(wrong)
	}
	if fail != errors.Is(err, errRollback) || !fail && err != nil {
		t.Fatalf("update: %v", err)
	}
	if !fail {
		sim.model = after
		sim.disturb()
	}
}

// step does one operation on both sides, and reports whether it succeeded. It fails if the
// sides differ.
func step(m *Model, tx storage.Tx, o Op, mayConflict bool) (done bool, err error) {
	before := m.Clone()
	want := m.Apply(o)
	got := Apply(tx, o)
	if mayConflict && errors.Is(got, storage.ErrConflict) {
		*m = *before
		return false, nil
	}
	if !SameError(got, want) {
		return false, fmt.Errorf("%v: error %w, want %w", o, got, want)
	}
	return want == nil, nil
}

// must is step for an operation whose run is not repeated.
func (sim *simulation) must(m *Model, tx storage.Tx, o Op, mayConflict bool) bool {
	done, err := step(m, tx, o, mayConflict)
	if err != nil {
		sim.Fatal(err)
	}
	return done
}

func (sim *simulation) begin(t *rapid.T) {
	if len(sim.txns) == 2 {
		t.Skip("enough")
	}
	txn, err := sim.s.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	sim.txns = append(sim.txns, &simTxn{
		Txn: txn, base: sim.model.Clone(), model: sim.model.Clone(), alone: len(sim.txns) == 0,
	})
	if len(sim.txns) > 1 {
		sim.disturb()
	}
}

func (sim *simulation) pick(t *rapid.T) *simTxn {
	if len(sim.txns) == 0 {
		t.Skip("no transaction")
	}
	return rapid.SampledFrom(sim.txns).Draw(t, "txn")
}

// inside writes records within a transaction.
func (sim *simulation) inside(t *rapid.T) {
	x := sim.pick(t)
	for _, o := range DrawOps(t, x.model, 5) {
		if o.Kind == "truncate" || o.Kind == "rename" {
			continue // their conflicts have tests of their own
		}
		var before []storage.RecordID
		if c := x.model.colls[o.NS]; c != nil {
			before = c.ids()
		}
		switch done := sim.must(x.model, x.Txn, o, !x.alone); {
		case done && o.Kind == "deleteRange":
			// The commit removes these records, and not what is in the range by then.
			for _, id := range before {
				if _, left := x.model.colls[o.NS].records[id]; !left {
					x.ops = append(x.ops, Op{Kind: "delete", NS: o.NS, ID: id})
				}
			}
		case done:
			x.ops = append(x.ops, o)
		}
	}
}

func (sim *simulation) forget(x *simTxn) {
	for i := range sim.txns {
		if sim.txns[i] == x {
			sim.txns = append(sim.txns[:i:i], sim.txns[i+1:]...)
			return
		}
	}
}

func (sim *simulation) abort(t *rapid.T) {
	x := sim.pick(t)
	x.Abort()
	sim.forget(x)
}

// commit either conflicts, or does what the transaction did on the latest
// state, in which nothing that it changed has changed.
func (sim *simulation) commit(t *rapid.T) {
	x := sim.pick(t)
	sim.forget(x)
	switch err := x.Commit(ctx); {
	case errors.Is(err, storage.ErrConflict) && !x.alone:
		return
	case err != nil:
		t.Fatalf("commit: %v", err)
	}
	final := map[provisional]storage.RecordID{}
	for _, o := range x.ops {
		sim.replay(x, o, final)
	}
	if len(x.ops) > 0 {
		sim.disturb()
	}
}

// provisional is a record that a transaction inserted.
type provisional struct {
	ns storage.Namespace
	id storage.RecordID
}

// replay does an operation of a transaction on the model. Records that the
// transaction inserted have other ids now.
func (sim *simulation) replay(x *simTxn, o Op, final map[provisional]storage.RecordID) {
	base, latest := x.base.colls[o.NS], sim.model.colls[o.NS]
	lastBase := storage.RecordID(0)
	if base != nil {
		lastBase = base.lastID
	}
	switch o.Kind {
	case "insert":
		if latest != nil {
			n := storage.RecordID(1)
			for final[provisional{o.NS, lastBase + n}] != 0 {
				n++
			}
			final[provisional{o.NS, lastBase + n}] = latest.lastID + 1
		}
	case "update", "delete":
		if now, ok := final[provisional{o.NS, o.ID}]; ok {
			o.ID = now
		} else if !x.touched(o) && !sameRecord(base, latest, o.ID) {
			sim.Fatalf("%v: committed, but the record had changed", o)
		}
	case "drop":
		for p := range final {
			if p.ns == o.NS {
				delete(final, p)
			}
		}
		x.base.colls[o.NS] = nil
	}
	if err := sim.model.Apply(o); err != nil {
		sim.Fatalf("%v: committed, but on the latest state it gives %v", o, err)
	}
}

// touched reports whether the transaction changed a record before, and notes
// that it does.
func (x *simTxn) touched(o Op) bool {
	p := provisional{o.NS, o.ID}
	if x.seen == nil {
		x.seen = map[provisional]bool{}
	}
	was := x.seen[p]
	x.seen[p] = true
	return was
}

func sameRecord(a, b *modelColl, id storage.RecordID) bool {
	if a == nil || b == nil {
		return false
	}
	ra, oka := a.records[id]
	rb, okb := b.records[id]
	return oka && okb && ra.ts == rb.ts && bytes.Equal(ra.doc, rb.doc)
}

func (sim *simulation) reopen(t *rapid.T) {
	for _, x := range sim.txns {
		x.Abort()
	}
	sim.txns = nil
	if err := sim.s.Close(); err != nil {
		t.Fatal(err)
	}
	sim.s.Engine = sim.s.open(sim.s.TB, sim.s.dir, Indexer{})
}

func (sim *simulation) compact(t *rapid.T) {
	if err := sim.s.Compact(ctx); err != nil {
		t.Fatal(err)
	}
}
