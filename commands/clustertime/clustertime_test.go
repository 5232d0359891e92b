package clustertime_test

import (
	"math"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/commands/clustertime"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// The upper half of a BSON timestamp is seconds since the epoch, the lower an
// increment within the second that begins with 1.
func TestNext(t *testing.T) {
	t.Parallel()
	var c clustertime.Clock
	for i, tt := range []struct {
		now                int64
		seconds, increment uint32
	}{
		{5_999, 5, 1}, {5_000, 5, 2}, {6_000, 6, 1}, {1_000, 6, 2}, {-1, 6, 3},
	} {
		want := uint64(tt.seconds)<<32 | uint64(tt.increment)
		if got := c.Next(tt.now); got != want || c.Current() != want {
			t.Errorf("%d: %x, want %x", i, got, want)
		}
	}
	if got := new(clustertime.Clock).Next(-5); got != 1 {
		t.Errorf("before the epoch: %x", got)
	}
}

func TestAdvance(t *testing.T) {
	t.Parallel()
	var c clustertime.Clock
	c.Advance(7<<32 | 9)
	c.Advance(3 << 32)
	if got := c.Next(5_000); got != 7<<32|10 {
		t.Errorf("%x", got)
	}
}

// Timestamps always grow, even if the clock goes back.
func TestNextGrows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var c clustertime.Clock
		last := uint64(0)
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "advance") {
				c.Advance(uint64(rapid.Uint32().Draw(t, "ts")) << 32)
				if c.Current() < last {
					t.Fatal("Advance went back")
				}
				last = c.Current()
				continue
			}
			got := c.Next(rapid.Int64Range(-1000, math.MaxUint32*1000).Draw(t, "now"))
			if got <= last {
				t.Fatalf("%x behind %x", got, last)
			}
			last = got
		}
	})
}

func TestNextIsUnique(t *testing.T) {
	t.Parallel()
	var c clustertime.Clock
	var mu sync.Mutex
	var wg sync.WaitGroup
	seen := map[uint64]bool{}
	for range 8 {
		wg.Go(func() {
			for range 100 {
				ts := c.Next(1000)
				mu.Lock()
				if seen[ts] {
					t.Errorf("%x twice", ts)
				}
				seen[ts] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

func TestValue(t *testing.T) {
	t.Parallel()
	v := clustertime.Value(7<<32 | 3)
	if s, i := v.Timestamp(); v.Kind() != value.KindTimestamp || s != 7 || i != 3 {
		t.Errorf("%s", v)
	}
	rapid.Check(t, func(t *rapid.T) {
		if ts := rapid.Uint64().Draw(t, "ts"); clustertime.Of(clustertime.Value(ts)) != ts {
			t.Fatalf("%x", ts)
		}
	})
}

// mongod accepts up to maxAcceptableLogicalClockDriftSecs, by default a year.
func TestCheckDrift(t *testing.T) {
	t.Parallel()
	const year = 365 * 24 * 3600
	const now = 1_000_000
	if err := clustertime.CheckDrift((now+year)<<32, now*1000); err != nil {
		t.Errorf("a year ahead: %v", err)
	}
	err := clustertime.CheckDrift((now+year)<<32|1, now*1000)
	if mongoerr.CodeOf(err) != mongoerr.ClusterTimeFailsRateLimiter {
		t.Errorf("more than a year ahead: %v", err)
	}
}

// engine is the part of an engine that a Clock uses.
type engine struct{ last uint64 }

func (e *engine) CommitStamp() uint64 { return e.last }

// commit is an Update of an engine.
type commit struct{ *engine }

func (c commit) CommitStamp(least uint64) (uint64, error) {
	c.last = max(c.last+1, least)
	return c.last, nil
}

// Two servers over one engine give their entries timestamps that grow, whichever
// is ahead, and each knows those of the other.
func TestCommit(t *testing.T) {
	t.Parallel()
	e := new(engine)
	var a, b clustertime.Clock
	a.Follow(e)
	b.Follow(e)
	a.Advance(9 << 32)
	last := uint64(0)
	for i, c := range []*clustertime.Clock{&b, &a, &b, &b, &a} {
		got, err := c.Commit(commit{e}, 5_000)
		if err != nil || got <= last {
			t.Errorf("step %d: %x behind %x, %v", i, got, last, err)
		}
		last = got
	}
	if last != 9<<32|4 || a.Current() != last || b.Current() != last || b.Next(0) != last+1 {
		t.Errorf("the last is %x, a has %x, b %x", last, a.Current(), b.Current())
	}
}
