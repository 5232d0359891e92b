package commands

import (
	"runtime"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// memoryBytes is the memory of the machine, 0 if that cannot be told.
func memoryBytes() uint64 {
	n, err := memlimit.FromSystem()
	if err != nil {
		return 0
	}
	return n
}

// processMemory is what the process took from the system, and what of it is
// in use, in bytes.
func processMemory() (resident, virtual uint64) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Sys - m.HeapReleased, m.Sys
}
