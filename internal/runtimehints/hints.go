package runtimehints

import (
	"os"
	"runtime"
)

// Off reports whether there are no hints.
func Off() bool { return off }

var (
	off = os.Getenv("DUSKDB_PLAIN") == "1"
	one = runtime.GOMAXPROCS(0) == 1 // there is no thread to wake
)

// WatchNetwork makes another thread wait for the network while the caller computes.
func WatchNetwork() {
	if !off && !one {
		go func() {}()
	}
}

// Yield lets goroutines run first that are ready to.
func Yield() {
	if !off {
		runtime.Gosched()
	}
}
