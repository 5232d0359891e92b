//go:build !linux

package diagnostics

// openFilesLimit returns 0: hostInfo shows the limit on Linux only.
func openFilesLimit() int64 { return 0 }
