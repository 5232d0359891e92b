// Package runtimehints has what DuskDB tells Go's scheduler because the scheduler cannot know
// it. A hint changes when something runs, never what it does: with the environment variable
// DUSKDB_PLAIN=1 there are none, and the tests pass as well (stage plain of .ci/run). A hint
// stays only if a driver sees 5 % of the rate or 20 % of a 99.9th percentile from it alone.
//
// # WatchNetwork
//
// In Go, an idle thread waits for the network. When a request arrives, that thread runs the
// goroutine of the connection, and unless something else is ready to run, no other thread is
// woken to wait in its place: the network is looked at again when the goroutine waits, or by
// the scheduler's monitor after 10 ms. A short command is over before that matters. Beside a
// long one, requests of other connections would wait although a processor is idle. So
// whatever will go on for more than about 0.1 ms (a large message, a scan that goes on, an
// index build, compact) calls WatchNetwork once: a goroutine that has nothing to do makes the
// scheduler wake a thread, which waits for the network when it finds nothing else.
//
// On two processors, for a client that reads documents by _id beside another one that loads,
// aggregates or builds an index, this takes the 99.9th percentile from 17.7, 11.5 and 15.1 ms
// to 7.2, 6.1 and 4.2 ms, and raises the rate by 30 to 60 % (duskbench beside --workload
// findOne --client driver, medians of six).
//
// # Yield
//
// Three places let goroutines go first that are ready to run:
//
//   - Writers that commit together share the cost of a commit. The one that gets the right
//     to write yields to those that are about to ask for it (storage/internal/share). With 16
//     clients that update by _id, this brings 8 % of the rate (duskbench compare).
//   - The monitor yields after each transaction of a pass while it knows of no active client
//     (ttl/pace.go). For a client that comes then, reading by _id, this takes the 99.9th
//     percentile from 3.8 to 1.1 ms (duskbench beside --load expiry).
//   - A long command yields each time it looks whether it was killed (kernel.Call.Step).
//     For a client that reads by _id beside eight that scan ranges, this takes the 99.9th
//     percentile from 73 to 53 ms on two processors.
//
// Measured and removed: sockets read within one RawConn.Read and by system calls that the
// scheduler does not know of, reading on for a moment before a connection waits, a timer that
// keeps the monitor of the scheduler awake. Each brought less than 5 % of the rate that a
// driver sees.
package runtimehints
