package clock

import (
	"errors"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var t0 = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func expectNow(t *testing.T, m *Manual, want time.Time) {
	t.Helper()
	if got := m.Now(); !got.Equal(want) {
		t.Errorf("Now() = %v, want %v", got, want)
	}
	if got := m.NowMillis(); got != want.UnixMilli() {
		t.Errorf("NowMillis() = %d, want %d", got, want.UnixMilli())
	}
}

func TestManualStandsStill(t *testing.T) {
	m := NewManual(t0)
	if !m.Frozen() {
		t.Error("a new Manual runs")
	}
	expectNow(t, m, t0)
	if err := m.Advance(time.Hour); err != nil {
		t.Fatal(err)
	}
	expectNow(t, m, t0.Add(time.Hour))
	if err := m.Set(t0.AddDate(500, 0, 0)); err != nil {
		t.Fatal(err)
	}
	expectNow(t, m, t0.AddDate(500, 0, 0))
	if !m.Frozen() {
		t.Error("a move has set the clock running")
	}
}

func TestManualStartsInThePast(t *testing.T) {
	past := time.Date(1969, 7, 20, 20, 17, 40, 0, time.UTC)
	m := NewManual(past)
	expectNow(t, m, past)
	if err := m.AdvanceMillis(1500); err != nil {
		t.Fatal(err)
	}
	expectNow(t, m, past.Add(1500*time.Millisecond))
}

func TestMoveErrors(t *testing.T) {
	tests := []struct {
		name string
		move func(m *Manual) error
		want error
	}{
		{"advance back", func(m *Manual) error { return m.Advance(-1) }, ErrBackwards},
		{"advance millis back", func(m *Manual) error { return m.AdvanceMillis(-1) }, ErrBackwards},
		{"set back", func(m *Manual) error { return m.Set(t0.Add(-1)) }, ErrBackwards},
		{"past the last date", func(m *Manual) error { return m.AdvanceMillis(math.MaxInt64) }, ErrOutOfRange},
		{"set past the last date", func(m *Manual) error { return m.Set(time.Unix(math.MaxInt64/2, 0)) }, ErrOutOfRange},
		{"advance by nothing", func(m *Manual) error { return m.Advance(0) }, nil},
		{"set to now", func(m *Manual) error { return m.Set(t0) }, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := NewManual(t0)
			jumped := false
			m.OnJump(func(time.Time) { jumped = true })
			if err := tt.move(m); !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			expectNow(t, m, t0)
			if jumped != (tt.want == nil) {
				t.Errorf("hook called: %v", jumped)
			}
		})
	}
}

func TestRunning(t *testing.T) {
	s := newFakeSource()
	m := newManual(s)
	if m.Frozen() || m.OffsetMillis() != 0 {
		t.Error("a new running clock does not show system time")
	}
	s.pass(time.Second)
	expectNow(t, m, t0.Add(time.Second))

	if err := m.Advance(time.Hour); err != nil {
		t.Fatal(err)
	}
	s.pass(time.Second)
	expectNow(t, m, t0.Add(time.Hour+2*time.Second))
	if got := m.OffsetMillis(); got != 3_600_000 {
		t.Errorf("offset %d", got)
	}
}

func TestFreezeAndResume(t *testing.T) {
	s := newFakeSource()
	m := newManual(s)
	m.Freeze()
	m.Freeze() // no effect
	s.pass(time.Minute)
	expectNow(t, m, t0)
	if got := m.OffsetMillis(); got != -60_000 || !m.Frozen() {
		t.Errorf("offset %d, frozen %v", got, m.Frozen())
	}
	m.Resume()
	m.Resume() // no effect
	s.pass(time.Second)
	expectNow(t, m, t0.Add(time.Second))
	if got := m.OffsetMillis(); got != -60_000 || m.Frozen() {
		t.Errorf("offset %d, frozen %v", got, m.Frozen())
	}
}

func TestReset(t *testing.T) {
	s := newFakeSource()
	m := newManual(s)
	m.Freeze()
	if err := m.Set(t0.AddDate(400, 0, 0)); err != nil { // beyond time.Duration
		t.Fatal(err)
	}
	var seen time.Time
	m.OnJump(func(now time.Time) { seen = now })
	s.pass(time.Second)
	m.Reset()
	expectNow(t, m, t0.Add(time.Second))
	if m.Frozen() || m.OffsetMillis() != 0 || !seen.Equal(t0.Add(time.Second)) {
		t.Errorf("frozen %v, offset %d, hook saw %v", m.Frozen(), m.OffsetMillis(), seen)
	}
}

func TestOnJump(t *testing.T) {
	m := NewManual(t0)
	var got []string
	note := func(name string) func(time.Time) {
		return func(now time.Time) {
			if !now.Equal(m.Now()) {
				t.Errorf("%s was called with %v, but the clock is at %v", name, now, m.Now())
			}
			got = append(got, name)
		}
	}
	m.OnJump(note("a"))
	cancelB := m.OnJump(note("b"))
	m.OnJump(note("c"))
	_ = m.Advance(time.Second)
	cancelB()
	cancelB() // no effect
	_ = m.Set(t0.Add(time.Minute))
	m.Freeze() // no move
	if want := []string{"a", "b", "c", "a", "c"}; !slices.Equal(got, want) {
		t.Errorf("called %v, want %v", got, want)
	}
}

func TestHookMayCancelAnother(t *testing.T) {
	m := NewManual(t0)
	var cancel func()
	m.OnJump(func(time.Time) { cancel() })
	cancel = m.OnJump(func(time.Time) { t.Error("called after cancel") })
	_ = m.Advance(1)
}

// Advance returns only when the hook has, even if the hook waits for work
// of another goroutine that reads the clock.
func TestAdvanceWaitsForHooks(t *testing.T) {
	m := NewManual(t0)
	work := make(chan chan time.Time)
	go func() {
		for reply := range work {
			reply <- m.Now()
		}
	}()
	defer close(work)
	var swept time.Time
	m.OnJump(func(time.Time) {
		reply := make(chan time.Time)
		work <- reply
		swept = <-reply
	})
	for i := range 100 {
		_ = m.Advance(time.Second)
		if want := t0.Add(time.Duration(i+1) * time.Second); !swept.Equal(want) {
			t.Fatalf("swept at %v, want %v", swept, want)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	m := NewManual(t0)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			last := m.Now()
			for range 200 {
				_ = m.Advance(time.Millisecond)
				tm := m.NewTimer(time.Millisecond)
				cancel := m.OnJump(func(time.Time) {})
				_ = m.Advance(time.Millisecond)
				<-tm.C()
				cancel()
				now := m.Now()
				if now.Before(last) {
					t.Error("time ran backwards")
				}
				last = now
			}
		})
	}
	wg.Wait()
	expectNow(t, m, t0.Add(8*200*2*time.Millisecond))
	if m.Timers() != 0 || len(m.hooks) != 0 {
		t.Errorf("%d timers, %d hooks left", m.Timers(), len(m.hooks))
	}
}

// A clock under any sequence of moves agrees with a plain model of two
// numbers: its own instant and that of the source.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newFakeSource()
		m := newManual(s)
		now, sys, frozen := t0, t0, false
		millis := rapid.Int64Range(0, 100_000)
		t.Repeat(map[string]func(*rapid.T){
			"pass": func(t *rapid.T) {
				d := time.Duration(millis.Draw(t, "ms")) * time.Millisecond
				s.pass(d)
				sys = sys.Add(d)
				if !frozen {
					now = now.Add(d)
				}
			},
			"advance": func(t *rapid.T) {
				ms := millis.Draw(t, "ms")
				if err := m.AdvanceMillis(ms); err != nil {
					t.Fatal(err)
				}
				now = now.Add(time.Duration(ms) * time.Millisecond)
			},
			"set": func(t *rapid.T) {
				to := t0.Add(time.Duration(millis.Draw(t, "ms")) * time.Millisecond)
				err := m.Set(to)
				if (err != nil) != to.Before(now) {
					t.Fatalf("Set(%v) at %v: %v", to, now, err)
				}
				if err == nil {
					now = to
				}
			},
			"freeze": func(*rapid.T) { m.Freeze(); frozen = true },
			"resume": func(*rapid.T) { m.Resume(); frozen = false },
			"reset":  func(*rapid.T) { m.Reset(); frozen, now = false, sys },
			"": func(t *rapid.T) {
				if got := m.Now(); !got.Equal(now) {
					t.Fatalf("Now() = %v, want %v", got, now)
				}
				if got, want := m.OffsetMillis(), now.Sub(sys).Milliseconds(); got != want {
					t.Fatalf("offset %d, want %d", got, want)
				}
				if m.Frozen() != frozen {
					t.Fatalf("frozen: %v", m.Frozen())
				}
			},
		})
	})
}

func BenchmarkManualNow(b *testing.B) {
	m := NewManual(t0)
	b.ReportAllocs()
	for b.Loop() {
		_ = m.NowMillis()
	}
}
