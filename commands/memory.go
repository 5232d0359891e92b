package commands

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

// memoryBytes is the memory of the machine, 0 if that cannot be told.
func memoryBytes() uint64 {
	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for _, line := range strings.Split(string(b), "\n") {
		if rest, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			kb, _ := strconv.ParseUint(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			return kb << 10
		}
	}
	return 0
}

// processMemory is what the process took from the system, and what of it is
// in use, in bytes.
func processMemory() (resident, virtual uint64) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Sys - m.HeapReleased, m.Sys
}
