package server

import (
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// defaultMemory is the part of the machine's memory that the server uses if
// it is not told.
const defaultMemory = "80%"

// noMemoryLimit is Config.MemoryLimit without a limit.
const noMemoryLimit = "none"

// parseMemory reads a limit: bytes, with a unit (KB, MB, GB, …, of 1024) or
// without, a percentage of total, or "none" (0). Where total is not known (0)
// a percentage is no limit.
func parseMemory(text string, total int64) (int64, error) {
	if text == "" {
		text = defaultMemory
	}
	if text == noMemoryLimit || text == "0" {
		return 0, nil
	}
	bad := fmt.Errorf("memoryLimit must be bytes, a percentage or none, not %q", text)
	if number, ok := strings.CutSuffix(text, "%"); ok {
		p, err := strconv.ParseFloat(number, 64)
		if err != nil || !(p > 0 && p <= 100) {
			return 0, bad
		}
		return int64(float64(total) * p / 100), nil
	}
	number := strings.TrimRight(strings.ToUpper(text), "KMGTIB")
	shift, ok := map[string]int{"": 0, "B": 0, "K": 10, "M": 20, "G": 30, "T": 40}[strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(text[len(number):]), "B"), "I")]
	n, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || !(n > 0) || n*math.Pow(2, float64(shift)) >= math.MaxInt64 {
		return 0, bad
	}
	return int64(n * math.Pow(2, float64(shift))), nil
}

// machineMemory is the memory that the process may use: the machine's, or less
// where its control group, or one that this is in, says so; 0 if that cannot be
// told.
func machineMemory() int64 { return leastMemory(memlimit.FromSystem, memlimit.FromCgroup) }

// leastMemory is the least of what the sources say that say anything.
func leastMemory(sources ...memlimit.Provider) (least int64) {
	for _, ask := range sources {
		n, err := ask()
		if err == nil && n > 0 && n < math.MaxInt64 && (least == 0 || int64(n) < least) {
			least = int64(n)
		}
	}
	return least
}

// gcTuner sets the garbage collector of the process for a server: it is asked
// to stay below the memory limit, and a small heap may grow to several times
// its size before it is collected. With 16 clients this gives a third more
// inserts than Go's default, for memory that a machine has to spare; a large
// heap is collected as by default. What the environment sets is left alone.
type gcTuner struct {
	fixed   bool // GOGC is given
	percent int
	idle    *idleRelease
}

// gcSpare is how much garbage the tuner lets lie, within the bounds of
// percentages of what is alive.
const (
	gcSpare    = 256 << 20
	leastGC    = 100
	mostGC     = 400
	gcDistance = 20 // percentages that are no nearer than that are worth a change
)

func newGCTuner(memoryLimit int64) *gcTuner {
	g := &gcTuner{fixed: os.Getenv("GOGC") != "", percent: leastGC, idle: newIdleRelease()}
	if memoryLimit > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
	g.tune()
	return g
}

// tune is called now and then.
func (g *gcTuner) tune() {
	if g.fixed {
		return
	}
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	percent := gcPercent(int64(sample[0].Value.Uint64()))
	if d := percent - g.percent; d > gcDistance || d < -gcDistance {
		g.percent = percent
		debug.SetGCPercent(percent)
	}
}

// gcPercent is how much a heap may grow of which so much is alive.
func gcPercent(live int64) int {
	return int(min(max(gcSpare*100/max(live, 1), leastGC), mostGC))
}
