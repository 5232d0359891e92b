package share_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/share"
)

var (
	errUpdate = errors.New("the update failed")
	errCommit = errors.New("the commit failed")
	errBegin  = errors.New("no transaction")
	errFinish = errors.New("not safe")
)

// engine is an engine whose data are a list of numbers.
type engine struct {
	writer   chan struct{}
	data     []int
	groups   [][]int // what each commit has added
	ended    int     // transactions
	began    int
	contexts []context.Context
	apart    bool
	finishes bool
	begin    func() error            // may be nil
	commit   func(added []int) error // may be nil
	finish   func(h *engine) error   // may be nil
}

func newEngine() *engine {
	h := &engine{writer: make(chan struct{}, 1)}
	h.writer <- struct{}{}
	return h
}

func (h *engine) Writer() chan struct{} { return h.writer }
func (h *engine) Apart(err error) bool  { return h.apart && errors.Is(err, errCommit) }

func (h *engine) BeginGroup(ctx context.Context) (share.Run, error) {
	if h.begin != nil {
		if err := h.begin(); err != nil {
			return nil, err
		}
	}
	h.began++
	h.contexts = append(h.contexts, ctx)
	r := &run{h: h, data: slices.Clone(h.data)}
	if h.finishes {
		return &finisher{r}, nil
	}
	return r, nil
}

// run is a transaction on a copy of the numbers.
type run struct {
	storage.Tx
	h       *engine
	data    []int
	touched int
	ended   bool
}

func (r *run) Touched() int { return r.touched }
func (r *run) End()         { r.ended = true; r.h.ended++ }

func (r *run) Commit() error {
	added := slices.Clone(r.data[len(r.h.data):])
	if r.h.commit != nil {
		if err := r.h.commit(added); err != nil {
			return err
		}
	}
	r.h.data = r.data
	r.h.groups = append(r.h.groups, added)
	return nil
}

// finisher is a run whose commit is not safe before Finish.
type finisher struct{ *run }

func (s *finisher) Finish() error {
	if s.h.finish != nil {
		return s.h.finish(s.h)
	}
	return nil
}

// add appends a number in a transaction.
func add(tx storage.Tx, n int) {
	r, ok := tx.(*run)
	if !ok {
		r = tx.(*finisher).run
	}
	if r.ended {
		panic("a transaction is used after its end")
	}
	r.data = append(r.data, n)
	r.touched++
}

// adds returns an update that appends a number.
func adds(n int) func(storage.Tx) error {
	return func(tx storage.Tx) error { add(tx, n); return nil }
}

// together queues updates while the right to write is taken, in order, hands it on and
// returns their errors.
func together(t *testing.T, h *engine, q *share.Queue, updates ...func(storage.Tx) error) []error {
	t.Helper()
	errs := make([]error, len(updates))
	var wg sync.WaitGroup
	<-h.writer
	for i, fn := range updates {
		wg.Go(func() { errs[i] = q.Update(context.Background(), h, fn) })
		synctest.Wait() // it is in the queue
		if got := q.Waiting(); got != i+1 {
			t.Fatalf("%d updates wait, want %d", got, i+1)
		}
	}
	h.writer <- struct{}{}
	wg.Wait()
	if got := q.Waiting(); got != 0 {
		t.Errorf("%d updates wait in the end", got)
	}
	if h.ended != h.began {
		t.Errorf("%d transactions were begun, %d ended", h.began, h.ended)
	}
	if len(h.writer) != 1 {
		t.Error("the right to write was not handed back")
	}
	return errs
}

// check compares what is stored, and in which commits.
func check(t *testing.T, h *engine, data string, groups int) {
	t.Helper()
	if got := fmt.Sprint(h.data); got != data || len(h.groups) != groups {
		t.Errorf("stored %s in %d commits %v, want %s in %d", got, len(h.groups), h.groups, data, groups)
	}
}

// bubble runs a test in which Wait knows that all goroutines wait.
func bubble(t *testing.T, fn func(t *testing.T, h *engine, q *share.Queue)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { fn(t, newEngine(), &share.Queue{}) })
}
