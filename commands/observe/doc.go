// Package observe has the counters, latencies and usage statistics of the server, the
// settings of the profiler, the verbosity of log components, and fail points. Most rooms
// use it; it imports none of them.
package observe
