// Package monitor runs the passes that remove what has expired.
//
// A [Monitor] runs a pass every ttlMonitorSleepSecs. The first entry of each expiry index
// says when something falls due in it; the [Schedule] remembers that of the collections
// that have not changed. A pass visits its targets in turn: the expiry indexes in which
// something is due, each of which a [ttl.Sweep] clears, and the message queues, which
// implement [Target]. The monitor knows the server only through [Host], which package
// commands/write implements.
//
// sleep.go, jump.go and lease.go decide when a pass runs, pass.go and target.go what it
// does, pace.go how fast.
//
// The package is for the rest of DuskDB: it may change with any version.
package monitor
