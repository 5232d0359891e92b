package serverdocs_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/serverdocs"
	"github.com/duskdb/duskdb/value"
)

// broken is an engine whose views can be made to fail; it counts them.
type broken struct {
	storage.Engine
	view, stamp error
	views       int
}

func (b *broken) View(ctx context.Context, fn func(storage.Tx) error) error {
	b.views++
	if b.view != nil {
		return b.view
	}
	return b.Engine.View(ctx, fn)
}

func (b *broken) Stamp(ns storage.Namespace) (uint64, error) {
	if b.stamp != nil {
		return 0, b.stamp
	}
	return b.Engine.Stamp(ns)
}

func sums() *serverdocs.Cache[int64] {
	return serverdocs.NewCache(ns, func(docs []value.Doc) *int64 {
		sum := new(int64)
		for _, d := range docs {
			*sum += d.Lookup("n").Int64()
		}
		return sum
	})
}

// A cache reads again when a document has changed, and only then.
func TestCacheFollowsDocuments(t *testing.T) {
	e := &broken{Engine: open(t)}
	c := sums()
	check := func(want int64, views int) {
		t.Helper()
		for range 3 {
			got, err := c.Get(ctx, e)
			if err != nil || *got != want {
				t.Errorf("got %v, %v, want %d", got, err, want)
			}
		}
		if e.views != views {
			t.Errorf("%d views, want %d", e.views, views)
		}
	}
	check(0, 1)
	put(t, e, value.NewDoc("_id", value.String("a"), "n", value.Int64(2)))
	check(2, 2)
	put(t, e, value.NewDoc("_id", value.String("b"), "n", value.Int64(3)))
	check(5, 3)
	update(t, e, func(tx storage.Tx) error {
		_, err := tx.Create(storage.Namespace{DB: "config", Coll: "x"}, nil, nil)
		return err
	})
	check(5, 3)
	update(t, e, func(tx storage.Tx) error { return tx.Drop(ns) })
	check(0, 4)
}

// The error of a read is reported, and the next Get tries again.
func TestCacheReportsErrors(t *testing.T) {
	failed := errors.New("failed")
	e := &broken{Engine: open(t)}
	put(t, e, value.NewDoc("_id", value.String("a"), "n", value.Int64(2)))
	c := sums()
	for _, step := range []struct{ view, stamp error }{{failed, nil}, {nil, failed}} {
		e.view, e.stamp = step.view, step.stamp
		if got, err := c.Get(ctx, e); !errors.Is(err, failed) {
			t.Errorf("got %v, %v", got, err)
		}
		e.view, e.stamp = nil, nil
		if got, err := c.Get(ctx, e); err != nil || *got != 2 {
			t.Errorf("got %v, %v", got, err)
		}
	}
	put(t, e, value.NewDoc("_id", value.String("a"), "n", value.Int64(7)))
	e.view = failed
	if got, err := c.Get(ctx, e); !errors.Is(err, failed) {
		t.Errorf("what has changed and cannot be read: got %v, %v", got, err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	e.view = nil
	if _, err := c.Get(cancelled, e); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// A Get that begins after a commit never returns what was before.
func TestCacheIsNeverBehind(t *testing.T) {
	e := open(t)
	c := sums()
	var readers sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		readers.Go(func() {
			last := int64(0)
			for {
				select {
				case <-done:
					return
				default:
				}
				got, err := c.Get(ctx, e)
				if err != nil || *got < last {
					t.Errorf("got %v, %v after %d", got, err, last)
					return
				}
				last = *got
			}
		})
	}
	for n := range int64(300) {
		put(t, e, value.NewDoc("_id", value.String("a"), "n", value.Int64(n)))
		if got, err := c.Get(ctx, e); err != nil || *got != n {
			t.Fatalf("got %v, %v, want %d", got, err, n)
		}
	}
	close(done)
	readers.Wait()
}

func BenchmarkCacheGet(b *testing.B) {
	e := open(b)
	c := sums()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Get(ctx, e); err != nil {
			b.Fatal(err)
		}
	}
}
