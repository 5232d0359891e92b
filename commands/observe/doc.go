// Package observe is what the server knows of its own work: counters, latencies, use
// of collections, settings of the profiler, levels of the log's components, and fail
// points. Everybody may write to it; it knows nobody.
package observe
