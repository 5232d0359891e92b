package kvshared

import (
	"context"
	"errors"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kv"
)

// failing makes a server fail the first trips of a kind.
func (s *server) failing(kind string, times int, err error) {
	s.set(func() {
		s.fail = func(trip string) error {
			if trip != kind || times == 0 {
				return nil
			}
			times--
			return err
		}
	})
}

// TestRetries: a commit that was not possible is tried again, and a read whose connection
// was lost before its first answer; other failures reach the caller.
func TestRetries(t *testing.T) {
	t.Parallel()
	again := errors.Join(ErrAgain, storage.ErrUnavailable)
	other := errors.New("the disk is full")
	for _, tt := range []struct {
		name   string
		kind   string
		times  int
		err    error
		locked bool // the commit takes the lock at once
		want   error
		again  int64 // commits that are counted as repeated
	}{
		{"a commit without the lock", "attempt", 3, again, false, nil, 1}, // the next one takes the lock,
		{"the lock", "lock", 2, again, true, nil, 2},
		{"a commit", "commit", 2, again, true, nil, 2},
		{"a full disk", "commit", 1, other, true, other, 0},
		{"a full disk without the lock", "attempt", 1, other, false, other, 0},
		{"a conflict", "lock", 1, storage.ErrConflict, true, storage.ErrConflict, 0},
		{"a read", "read", 2, errLost, false, nil, 0},
		{"a read again and again", "read", 3, errLost, false, errLost, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e, s := newDatabase().open(t, "e")
			prepared(t, e)
			if tt.locked {
				e.writer.backoff.left = 100
			}
			before := e.counts.retries.Load()
			s.failing(tt.kind, tt.times, tt.err)
			err := e.change(incremented(3))
			if !errors.Is(err, tt.want) {
				t.Fatalf("%v, want %v", err, tt.want)
			}
			if n := e.counts.retries.Load() - before; n != tt.again {
				t.Errorf("%d commits were repeated, want %d", n, tt.again)
			}
			want := int32(3)
			if tt.want == nil {
				want++
			}
			s.set(func() { s.fail = nil })
			if got := e.counters(t)[3]; got != want {
				t.Errorf("the counter is %d, want %d", got, want)
			}
		})
	}
}

// TestLostUnderTheLock: a function that fails because its reads under the lock fail runs
// again; the error of its own stays.
func TestLostUnderTheLock(t *testing.T) {
	t.Parallel()
	d := newDatabase()
	e, s := d.open(t, "e")
	prepared(t, e)
	locked := 0
	err := e.Update(e.life, func(tx storage.Tx) error {
		if u := clusterTx(tx.(*kv.Tx)); u.turn != nil {
			if locked++; locked == 1 {
				u.turn.(*dbTurn).lost = true
				return errLost
			}
		}
		_, err := tx.Create(storage.Namespace{DB: "db", Coll: "new"}, nil, nil)
		return err
	})
	must(t, err)
	if locked != 2 || len(s.db.now.catalog) != 2 {
		t.Errorf("it has run %d times with the lock, and there are %d collections", locked, len(s.db.now.catalog))
	}
	own := errors.New("my own")
	if err := e.Update(e.life, func(tx storage.Tx) error {
		if err := tx.Drop(ns); err != nil {
			return err
		}
		return own
	}); !errors.Is(err, own) {
		t.Errorf("%v, want the function's own error", err)
	}
}

// TestContexts: a context that has ended ends what waits.
func TestContexts(t *testing.T) {
	t.Parallel()
	e, s := newDatabase().open(t, "e")
	prepared(t, e)
	ctx, cancel := context.WithCancel(t.Context())
	s.set(func() {
		s.fail = func(trip string) error {
			if trip == "lock" || trip == "attempt" {
				cancel()
				return ErrAgain
			}
			return nil
		}
	})
	insert := func(tx storage.Tx) error {
		c, err := tx.Collection(ns)
		if err == nil {
			_, err = c.Insert(document(70, 1), 1)
		}
		return err
	}
	if err := e.Update(ctx, insert); !errors.Is(err, context.Canceled) {
		t.Errorf("an Update that waits to be tried again: %v", err)
	}
	if err := e.View(ctx, func(storage.Tx) error { t.Error("it runs"); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("a View: %v", err)
	}
}

// TestClosed: a closed engine says so, whatever is asked of it.
func TestClosed(t *testing.T) {
	t.Parallel()
	e, _ := newDatabase().open(t, "e")
	prepared(t, e)
	must(t, e.Close())
	must(t, e.Close())
	ctx := t.Context()
	nothing := func(storage.Tx) error { return nil }
	_, begin := e.Begin(ctx)
	_, at := e.BeginAt(ctx, 1)
	_, prepare := e.PrepareIndex(ctx, ns, storage.IndexSpec{})
	_, stamp := e.Stamp(ns)
	_, follow := e.follow(Head{}, nil)
	for name, err := range map[string]error{
		"View": e.View(ctx, nothing), "ViewBriefly": e.ViewBriefly(ctx, nothing), "Update": e.Update(ctx, nothing),
		"UpdateShared": e.UpdateShared(ctx, nothing), "Begin": begin, "BeginAt": at, "PrepareIndex": prepare,
		"Stamp": stamp, "Sync": e.Sync(ctx), "Compact": e.Compact(ctx), "follow": follow, "reload": e.reload(ctx),
	} {
		if !errors.Is(err, storage.ErrClosed) {
			t.Errorf("%s: %v, want %v", name, err, storage.ErrClosed)
		}
	}
}

// TestOpenFails: an engine without an indexer, or over a catalog that is damaged.
func TestOpenFails(t *testing.T) {
	t.Parallel()
	d := newDatabase()
	if _, err := Open(t.Context(), d.server("none"), kv.Options{}); err == nil {
		t.Error("an engine without an indexer is opened")
	}
	e, _ := d.open(t, "e")
	prepared(t, e)
	num := uint32(0)
	for num = range d.now.catalog {
	}
	good := d.now.catalog[num]
	for what, doc := range map[string][]byte{"no description": nil, "a damaged one": {1, 2, 3}} {
		row := good
		row.Doc = doc
		d.now.catalog[num] = row
		if _, err := Open(t.Context(), d.server(what), kv.Options{Indexer: e.common.Options.Indexer}); err == nil {
			t.Errorf("an engine is opened over %s", what)
		}
	}
	d.now.catalog[num] = good
	stats := d.now.stats[num]
	d.now.stats[num] = StatsRow{Num: num, Version: stats.Version, Row: stats.Row[:2]}
	if _, err := Open(t.Context(), d.server("stats"), kv.Options{Indexer: e.common.Options.Indexer}); err == nil {
		t.Error("an engine is opened over damaged statistics")
	}
	d.now.stats[num] = stats
}
