package storagetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/duskdb/duskdb/storage"
)

// An engine may run the function of an update on a state that turns out not to be the
// right one, and undo that run: what a test finds wrong in it does not count. So within an
// update the helpers do not end the test, but the run, with an error. If that is what
// the update returns, it was the run that counts.

// wrong is what a test has found wrong within an update.
type wrong string

func (w wrong) Error() string { return string(w) }

// judging counts the updates under way, by the name of their test.
var judging struct {
	sync.Mutex
	tests map[string]int
}

func judge(test string, by int) {
	judging.Lock()
	defer judging.Unlock()
	if judging.tests == nil {
		judging.tests = map[string]int{}
	}
	if judging.tests[test] += by; judging.tests[test] == 0 {
		delete(judging.tests, test)
	}
}

func judged(test string) bool {
	judging.Lock()
	defer judging.Unlock()
	return judging.tests[test] > 0
}

// fail ends the test, or within an update the run.
func fail(t testing.TB, format string, args ...any) {
	t.Helper()
	if judged(t.Name()) {
		panic(wrong(fmt.Sprintf(format, args...)))
	}
	t.Fatalf(format, args...)
}

// Update is that of the engine; the helpers judge the run that counts.
func (s *session) Update(ctx context.Context, fn func(storage.Tx) error) error {
	s.Helper()
	err := s.Engine.Update(ctx, func(tx storage.Tx) (err error) {
		judge(s.Name(), 1)
		defer judge(s.Name(), -1)
		defer func() {
			switch r := recover().(type) {
			case nil:
			case wrong:
				err = r
			default:
				panic(r)
			}
		}()
		return fn(tx)
	})
	if w := wrong(""); errors.As(err, &w) {
		s.Fatal(w)
	}
	return err
}
