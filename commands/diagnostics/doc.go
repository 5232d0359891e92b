// Package diagnostics has the commands that look at the server: status, statistics,
// running operations, the profiler, fail points, the expiry monitor and its clock,
// maintenance.
package diagnostics
