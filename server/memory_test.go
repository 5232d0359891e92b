package server

import (
	"math"
	"runtime"
	"testing"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

func TestParseMemory(t *testing.T) {
	const total = 1000 << 20
	for text, want := range map[string]int64{
		"": 800 << 20, "80%": 800 << 20, "12.5%": 125 << 20, "100%": total, "none": 0, "0": 0,
		"1048576": 1 << 20, "64MB": 64 << 20, "64mb": 64 << 20, "64M": 64 << 20, "64MiB": 64 << 20, "1.5GB": 3 << 29, "2TB": 2 << 40, "10kb": 10 << 10, "10B": 10,
	} {
		if got, err := parseMemory(text, total); err != nil || got != want {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"x", "-1", "101%", "0%", "%", "1XB", "MB", "1e30", "NaN", "1 GB ", "NaN%", "10BM"} {
		if got, err := parseMemory(text, total); err == nil {
			t.Errorf("%q: %d, no error", text, got)
		}
	}
}

// TestMinMemory: a control group may have less than the machine, or no limit, which the
// kernel also writes as a very large number.
func TestMinMemory(t *testing.T) {
	says := func(n uint64) memlimit.Provider { return func() (uint64, error) { return n, nil } }
	none := func() (uint64, error) { return 0, memlimit.ErrNoLimit }
	for want, sources := range map[int64][]memlimit.Provider{
		8 << 30:   {says(8 << 30), none},
		512 << 20: {says(8 << 30), says(512 << 20)},
		7 << 30:   {says(7 << 30), says(math.MaxUint64)},
		6 << 30:   {none, says(6 << 30)},
		0:         {none, none},
	} {
		if got := minMemory(sources...); got != want {
			t.Errorf("%d, want %d", got, want)
		}
	}
	if runtime.GOOS == "linux" && machineMemory() <= 0 {
		t.Error("the memory of this machine is not known")
	}
}

func TestGCPercent(t *testing.T) {
	for live, want := range map[int64]int{0: 400, 1 << 20: 400, 64 << 20: 400, 128 << 20: 200, 256 << 20: 100, 4 << 30: 100} {
		if got := gcInMemory.percent(live); got != want {
			t.Errorf("%d MB alive: %d, want %d", live>>20, got, want)
		}
	}
	// A quarter of the cache, whether that is a part of the heap or not.
	for live, want := range map[int64]int{0: 400, 16 << 20: 400, 64 << 20: 100, 256 << 20: 25, 4 << 30: 20} {
		if got := gcCached(256 << 20).percent(live); got != want {
			t.Errorf("%d MB alive, with a cache: %d, want %d", live>>20, got, want)
		}
	}
}
