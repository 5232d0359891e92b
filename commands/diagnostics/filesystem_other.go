//go:build !unix

package diagnostics

// fileSystem returns zeros: the use is not known on this system.
func fileSystem(string) (used, total uint64) { return 0, 0 }
