package share_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/share"
)

var errMoved = errors.New("moved")

// preparing is an engine whose groups begin on a state that may not be the latest.
type preparing struct {
	*engine
	worth    bool
	commit   error // error of the commit of optimistic runs
	firm     []bool
	prepared []string
}

func (h *preparing) BeginGroupOf(ctx context.Context, prepared []any, firm bool) (share.Run, error) {
	h.firm, h.prepared = append(h.firm, firm), append(h.prepared, fmt.Sprint(prepared))
	if !firm && !h.worth {
		return nil, errMoved
	}
	r, err := h.BeginGroup(ctx)
	if err != nil || firm {
		return r, err
	}
	return &optimistic{r.(*run), h}, nil
}

// optimistic is a run without the right to commit.
type optimistic struct {
	*run
	of *preparing
}

func (t *optimistic) Optimistic() bool     { return true }
func (t *optimistic) Moved(err error) bool { return errors.Is(err, errMoved) }

func (t *optimistic) Commit() error {
	if t.of.commit != nil {
		return t.of.commit
	}
	return t.run.Commit()
}

// write appends a number; in an optimistic run it may fail.
func write(n int, optimistically error) func(storage.Tx) error {
	return func(tx storage.Tx) error {
		r, ok := tx.(*run)
		if !ok {
			if r = tx.(*optimistic).run; optimistically != nil {
				return optimistically
			}
		}
		add(r, n)
		return nil
	}
}

// What an optimistic run has done counts only if all its updates and its commit succeed.
// Otherwise the group runs again in a firm one, unless the commit has failed for good.
func TestOptimistic(t *testing.T) {
	for _, tt := range []struct {
		name    string
		worth   bool
		update  error // error of the second update, when it is optimistic
		commit  error
		data    string
		firm    string
		outcome error
	}{
		{"succeeds", true, nil, nil, "[1 2]", "[false]", nil},
		{"is not worth it", false, nil, nil, "[1 2]", "[false true]", nil},
		{"an update fails", true, errUpdate, nil, "[1 2]", "[false true]", nil},
		{"the state has moved", true, nil, errMoved, "[1 2]", "[false true]", nil},
		{"the commit fails", true, nil, errCommit, "[]", "[false]", errCommit},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, q := &preparing{engine: newEngine(), worth: tt.worth, commit: tt.commit}, &share.Queue{}
				var errs [2]error
				var wg sync.WaitGroup
				<-h.writer
				for i, fn := range []func(storage.Tx) error{write(1, nil), write(2, tt.update)} {
					wg.Go(func() { errs[i] = q.UpdateWith(context.Background(), h, i+1, fn) })
					synctest.Wait()
				}
				h.writer <- struct{}{}
				wg.Wait()
				for i, err := range errs {
					if !errors.Is(err, tt.outcome) || (err == nil) != (tt.outcome == nil) {
						t.Errorf("update %d: %v, want %v", i, err, tt.outcome)
					}
				}
				if got := fmt.Sprint(h.data); got != tt.data {
					t.Errorf("stored %s, want %s", got, tt.data)
				}
				if got := fmt.Sprint(h.firm); got != tt.firm {
					t.Errorf("firm runs: %s, want %s", got, tt.firm)
				}
				for _, b := range h.prepared {
					if b != "[1 2]" {
						t.Errorf("the engine got %s", b)
					}
				}
				if h.ended != h.began || len(h.writer) != 1 {
					t.Errorf("%d runs ended of %d; the right to write is there: %t", h.ended, h.began, len(h.writer) == 1)
				}
			})
		})
	}
}
