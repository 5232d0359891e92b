package share_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/share"
)

// Updates that wait share one commit, in their order, up to share.MaxGroup of them. A single
// one has its own context, a group the engine's.
func TestGroups(t *testing.T) {
	bubble(t, func(t *testing.T, h *engine, q *share.Queue) {
		for i, err := range together(t, h, q, adds(1), adds(2), adds(3)) {
			if err != nil {
				t.Errorf("update %d: %v", i, err)
			}
		}
		check(t, h, "[1 2 3]", 1)
		if h.contexts[0] != nil {
			t.Error("the group has the context of an update")
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if err := q.Update(ctx, h, adds(4)); err != nil {
			t.Error(err)
		}
		check(t, h, "[1 2 3 4]", 2)
		if h.contexts[1] != ctx {
			t.Error("a single update does not have its own context")
		}
	})
	bubble(t, func(t *testing.T, h *engine, q *share.Queue) {
		var updates []func(storage.Tx) error
		for n := range share.MaxGroup + 6 {
			updates = append(updates, adds(n))
		}
		together(t, h, q, updates...)
		if len(h.groups) != 2 || len(h.groups[0]) != share.MaxGroup || len(h.groups[1]) != 6 || !slices.IsSorted(h.data) {
			t.Errorf("the commits are %v", h.groups)
		}
	})
}

// An update that fails changes nothing and harms no other one: whether it has written
// before or not, whether it returns an error or panics, and however many fail.
func TestFailingUpdates(t *testing.T) {
	fails := func(tx storage.Tx) error { return errUpdate }
	writes := func(tx storage.Tx) error { add(tx, 99); return errUpdate }
	for name, tt := range map[string]struct {
		updates []func(storage.Tx) error
		data    string
		groups  int
	}{
		"before it writes":     {[]func(storage.Tx) error{adds(1), fails, adds(3)}, "[1 3]", 1},
		"after it wrote":       {[]func(storage.Tx) error{adds(1), writes, adds(3)}, "[1 3]", 1},
		"several":              {[]func(storage.Tx) error{writes, adds(2), writes, fails, adds(5)}, "[2 5]", 1},
		"all":                  {[]func(storage.Tx) error{fails, writes}, "[]", 0},
		"so many as run apart": {[]func(storage.Tx) error{writes, adds(2), writes, writes, writes, writes, adds(7)}, "[2 7]", 2},
	} {
		for _, finishes := range []bool{false, true} {
			bubble(t, func(t *testing.T, h *engine, q *share.Queue) {
				h.finishes = finishes
				for i, err := range together(t, h, q, tt.updates...) {
					want := errUpdate
					if slices.Contains(h.data, i+1) {
						want = nil
					}
					if !errors.Is(err, want) {
						t.Errorf("%s: update %d: %v, want %v", name, i+1, err, want)
					}
				}
				h.groups = slices.DeleteFunc(h.groups, func(g []int) bool { return len(g) == 0 })
				check(t, h, tt.data, tt.groups)
			})
		}
	}
}

// A panic reaches the goroutine whose update it is, and only that.
func TestPanic(t *testing.T) {
	bubble(t, func(t *testing.T, h *engine, q *share.Queue) {
		var got any
		<-h.writer
		var wg sync.WaitGroup
		wg.Go(func() {
			defer func() { got = recover() }()
			_ = q.Update(context.Background(), h, func(tx storage.Tx) error { add(tx, 99); panic("boom") })
		})
		synctest.Wait()
		var err error
		wg.Go(func() { err = q.Update(context.Background(), h, adds(1)) })
		synctest.Wait()
		h.writer <- struct{}{}
		wg.Wait()
		if got != "boom" || err != nil {
			t.Errorf("recovered %v, the other update: %v", got, err)
		}
		check(t, h, "[1]", 1)
	})
}

// An update whose context has ended does not run: before it is queued, while it waits, and
// when a group has taken it.
func TestCancelled(t *testing.T) {
	never := func(storage.Tx) error { panic("it runs") }
	bubble(t, func(t *testing.T, h *engine, q *share.Queue) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := q.Update(ctx, h, never); !errors.Is(err, context.Canceled) {
			t.Errorf("before: %v", err)
		}
	})
	bubble(t, func(t *testing.T, h *engine, q *share.Queue) {
		ctx, cancel := context.WithCancel(t.Context())
		<-h.writer
		var wg sync.WaitGroup
		var err error
		wg.Go(func() { err = q.Update(ctx, h, never) })
		synctest.Wait()
		cancel()
		wg.Wait()
		if !errors.Is(err, context.Canceled) || q.Waiting() != 0 {
			t.Errorf("while it waits: %v, %d wait", err, q.Waiting())
		}
	})
	bubble(t, func(t *testing.T, h *engine, q *share.Queue) {
		ctx, cancel := context.WithCancel(context.Background())
		var errs [2]error
		var wg sync.WaitGroup
		<-h.writer
		wg.Go(func() {
			errs[0] = q.Update(context.Background(), h, func(tx storage.Tx) error {
				cancel()
				synctest.Wait() // the other one has seen it, and that it is taken
				add(tx, 1)
				return nil
			})
		})
		synctest.Wait()
		wg.Go(func() { errs[1] = q.Update(ctx, h, never) })
		synctest.Wait()
		h.writer <- struct{}{}
		wg.Wait()
		if errs[0] != nil || !errors.Is(errs[1], context.Canceled) {
			t.Errorf("in a group: %v", errs)
		}
		check(t, h, "[1]", 1)
	})
}

// Each update gets the error for which its group could not begin or commit; those that may
// succeed alone get their own.
func TestFailingCommits(t *testing.T) {
	odd := func(added []int) error { // as an engine without space for some of them
		if slices.ContainsFunc(added, func(n int) bool { return n%2 == 1 }) {
			return errCommit
		}
		return nil
	}
	bubble(t, func(t *testing.T, h *engine, q *share.Queue) {
		h.commit = odd
		for _, err := range together(t, h, q, adds(1), adds(2)) {
			if !errors.Is(err, errCommit) {
				t.Errorf("a group whose commit fails: %v", err)
			}
		}
		check(t, h, "[]", 0)
	})
	for _, finishes := range []bool{false, true} {
		bubble(t, func(t *testing.T, h *engine, q *share.Queue) {
			h.commit, h.apart, h.finishes = odd, true, finishes
			errs := together(t, h, q, adds(1), adds(2), adds(3), adds(4))
			for i, err := range errs {
				if want := i%2 == 0; errors.Is(err, errCommit) != want {
					t.Errorf("apart: update %d: %v", i+1, err)
				}
			}
			check(t, h, "[2 4]", 2)
		})
	}
	bubble(t, func(t *testing.T, h *engine, q *share.Queue) {
		h.begin = func() error { return errBegin }
		for _, err := range together(t, h, q, adds(1), adds(2)) {
			if !errors.Is(err, errBegin) {
				t.Errorf("no transaction: %v", err)
			}
		}
	})
	bubble(t, func(t *testing.T, h *engine, q *share.Queue) { // a group begins, one of its parts does not
		tries := 0
		h.commit, h.apart = odd, true
		h.begin = func() error {
			if tries++; tries == 3 {
				return errBegin
			}
			return nil
		}
		errs := together(t, h, q, adds(1), adds(2), adds(4))
		if !errors.Is(errs[0], errCommit) || !errors.Is(errs[1], errBegin) || errs[2] != nil {
			t.Errorf("apart: %v", errs)
		}
		check(t, h, "[4]", 1)
	})
}

// While a group finishes, the next one has the right to write; each update returns after its
// own has finished, with its error.
func TestFinish(t *testing.T) {
	bubble(t, func(t *testing.T, h *engine, q *share.Queue) {
		h.finishes = true
		second := make(chan struct{})
		finished := 0
		h.finish = func(h *engine) error {
			if finished++; finished > 1 {
				return errFinish
			}
			var err error
			var wg sync.WaitGroup
			wg.Go(func() {
				defer close(second)
				err = q.Update(context.Background(), h, adds(2))
			})
			wg.Wait() // it could not end if the first group kept the right to write
			if !errors.Is(err, errFinish) {
				t.Errorf("the second update: %v", err)
			}
			return nil
		}
		if err := q.Update(context.Background(), h, adds(1)); err != nil {
			t.Error(err)
		}
		<-second
		check(t, h, "[1 2]", 2)
	})
	bubble(t, func(t *testing.T, h *engine, q *share.Queue) { // one by one
		h.finishes, h.apart = true, true
		h.commit = func(added []int) error {
			if len(added) > 1 {
				return errCommit
			}
			return nil
		}
		h.finish = func(h *engine) error {
			if len(h.data) == 2 {
				return errFinish
			}
			return nil
		}
		errs := together(t, h, q, adds(1), adds(2), adds(3))
		if errs[0] != nil || !errors.Is(errs[1], errFinish) || errs[2] != nil {
			t.Errorf("%v", errs)
		}
	})
}

// What many goroutines have been told is what is stored: every number whose update
// succeeded, once, and each in the order of its goroutine.
func TestConcurrent(t *testing.T) {
	const writers, each = 8, 100
	for _, finishes := range []bool{false, true} {
		h, q := newEngine(), &share.Queue{}
		h.finishes = finishes
		var mu sync.Mutex
		told := map[int]bool{}
		var wg sync.WaitGroup
		for w := range writers {
			r := rand.New(rand.NewPCG(uint64(w), 1))
			wg.Go(func() {
				for i := range each {
					n := w*each + i
					kind := r.IntN(4)
					err := q.Update(context.Background(), h, func(tx storage.Tx) error {
						if kind != 0 {
							add(tx, n)
						}
						if kind < 2 {
							return errUpdate
						}
						return nil
					})
					mu.Lock()
					told[n] = err == nil
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		last := map[int]int{}
		for _, n := range h.data {
			if !told[n] || n%each < last[n/each] {
				t.Errorf("%d is stored, told %v, behind %d", n, told[n], last[n/each])
			}
			delete(told, n)
			last[n/each] = n % each
		}
		for n, ok := range told {
			if ok {
				t.Errorf("%d is lost", n)
			}
		}
	}
}
