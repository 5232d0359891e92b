package limits_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/limits"
)

// longOperation is an operation that may have to wait for its turn.
type longOperation struct {
	turn limits.Turn
	done chan error
}

// step lets an operation check in the background that has run for a time.
func step(ctx context.Context, turns *limits.Turns, c clock.Clock, ran time.Duration) *longOperation {
	o := &longOperation{done: make(chan error, 1)}
	began := c.Now().Add(-ran)
	go func() { o.done <- turns.Step(ctx, &o.turn, began) }()
	return o
}

// waitFor waits until so many operations wait.
func waitFor(turns *limits.Turns, n int) {
	for turns.Waiting() != n {
		runtime.Gosched()
	}
}

// TestTurns: while memory is short, the oldest operation goes on alone. Short operations
// do not wait, and one that is interrupted ends.
func TestTurns(t *testing.T) {
	const mb = 1 << 20
	c := clock.NewManual(harness.TestStart)
	turns := limits.NewTurns(0, c)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	if turns.Collected(100*mb, 0) || turns.Collected(150*mb, 0) {
		t.Error("memory is short below the limit")
	}
	if err := turns.Step(ctx, new(limits.Turn), c.Now().Add(-time.Minute)); err != nil || turns.Collected(160*mb, 0) {
		t.Error("memory is short below the limit")
	}
	_ = turns.Step(ctx, new(limits.Turn), c.Now())
	if !turns.Collected(300*mb, 0) {
		t.Fatal("memory is not short")
	}
	old := step(ctx, turns, c, time.Minute)
	if err := <-old.done; err != nil {
		t.Fatal(err)
	}
	young, younger := step(ctx, turns, c, 2*time.Second), step(ctx, turns, c, time.Second)
	waitFor(turns, 2)
	if err := <-step(ctx, turns, c, 0).done; err != nil {
		t.Error("a short operation:", err)
	}
	leaving, leave := context.WithCancel(ctx)
	left := step(leaving, turns, c, 3*time.Second)
	waitFor(turns, 3)
	leave()
	if err := <-left.done; !errors.Is(err, context.Canceled) {
		t.Error("an interrupted operation:", err)
	}
	turns.Done(&left.turn)
	turns.Done(&old.turn)
	if err := <-young.done; err != nil {
		t.Error(err)
	}
	waitFor(turns, 1)
	if turns.Collected(110*mb, 0) {
		t.Error("memory is short again")
	}
	c.Advance(time.Second) // another one goes on beside it
	if err := <-younger.done; err != nil {
		t.Error(err)
	}
	turns.Done(&young.turn)
	turns.Done(&younger.turn)
	waitFor(turns, 0)
}

// TestTurnsStuck: an operation that makes no step may wait for one that has to wait for its
// turn, which therefore goes on after a while.
func TestTurnsStuck(t *testing.T) {
	c := clock.NewManual(harness.TestStart)
	turns := limits.NewTurns(0, c)
	turns.Collected(1, 0)
	_ = turns.Step(t.Context(), new(limits.Turn), c.Now())
	turns.Collected(1<<30, 0)
	holder := step(t.Context(), turns, c, time.Minute)
	<-holder.done
	other := step(t.Context(), turns, c, time.Second)
	waitFor(turns, 1)
	c.Advance(time.Second)
	waitFor(turns, 1)
	c.Advance(10 * time.Second)
	if err := <-other.done; err != nil {
		t.Error(err)
	}
}

// TestTurnsOfData: what is written to the data is not the memory of operations.
func TestTurnsOfData(t *testing.T) {
	const mb = 1 << 20
	c := clock.NewManual(harness.TestStart)
	turns := limits.NewTurns(0, c)
	turns.Collected(100*mb, 0)
	read := func() { _ = turns.Step(t.Context(), new(limits.Turn), c.Now()) }
	for _, s := range []struct {
		live, written int64
		want          bool
	}{{600 * mb, 500 * mb, false}, {700 * mb, 520 * mb, true}, {650 * mb, 540 * mb, false}, {300 * mb, 540 * mb, false}, {400 * mb, 540 * mb, true}} {
		read()
		if got := turns.Collected(s.live, s.written); got != s.want {
			t.Errorf("live %d MB, %d MB written: short is %v", s.live/mb, s.written/mb, got)
		}
	}
}

// TestTurnsOfUnknownData: what remains when the operations from before the shortage are over
// is data, even if there is always an operation.
func TestTurnsOfUnknownData(t *testing.T) {
	const mb = 1 << 20
	c := clock.NewManual(harness.TestStart)
	turns := limits.NewTurns(0, c)
	turns.Collected(100*mb, 0)
	read := func() { _ = turns.Step(t.Context(), new(limits.Turn), c.Now()) }
	read()
	if !turns.Collected(300*mb, 0) {
		t.Fatal("memory is not short")
	}
	old := step(t.Context(), turns, c, time.Minute)
	<-old.done
	young := step(t.Context(), turns, c, 0)
	<-young.done
	c.Advance(2 * time.Second)
	read()
	if !turns.Collected(300*mb, 0) {
		t.Error("memory suffices while an operation from before may have it")
	}
	turns.Done(&old.turn)
	read()
	if turns.Collected(300*mb, 0) {
		t.Error("memory is short although no operation from before is left")
	}
	read()
	if !turns.Collected(400*mb, 0) {
		t.Error("memory is not short again")
	}
}

// TestTurnsOfClaims: while the claims exceed the limit, the oldest operation with a large claim
// goes on alone, however short it has run. Operations without one do not wait for it.
func TestTurnsOfClaims(t *testing.T) {
	const mb = 1 << 20
	c := clock.NewManual(harness.TestStart)
	turns := limits.NewTurns(0, c)
	turns.Collected(100*mb, 0)
	urgent := 0
	turns.OnPressure(func() { urgent++ })
	claim := func(n int64) *longOperation {
		o := &longOperation{done: make(chan error, 1)}
		turns.Claim(&o.turn, n)
		began := c.Now()
		c.Advance(time.Millisecond)
		go func() { o.done <- turns.Step(t.Context(), &o.turn, began) }()
		return o
	}
	small := claim(30 * mb)
	if err := <-small.done; err != nil || urgent != 0 || turns.Collected(100*mb, 0) {
		t.Error("memory is short below half of the limit", err)
	}
	large := claim(30 * mb)
	if err := <-large.done; err != nil || urgent != 1 || !turns.Collected(100*mb, 0) {
		t.Errorf("%v, %d notices above half of the limit", err, urgent)
	}
	first := claim(20 * mb)
	if err := <-first.done; err != nil {
		t.Error(err)
	}
	second := claim(20 * mb)
	waitFor(turns, 1)
	if err := <-claim(mb).done; err != nil {
		t.Error("a short operation with a small claim:", err)
	}
	if err := <-step(t.Context(), turns, c, time.Minute).done; err != nil {
		t.Error("a long operation without a claim:", err)
	}
	turns.Done(&first.turn)
	if err := <-second.done; err != nil {
		t.Error(err)
	}
	turns.Done(&second.turn)
	turns.Done(&large.turn)
	turns.Done(&small.turn)
	if turns.Collected(100*mb, 0) || turns.Waiting() != 0 || urgent != 1 {
		t.Errorf("memory is short at the end, %d wait, %d notices", turns.Waiting(), urgent)
	}
}
