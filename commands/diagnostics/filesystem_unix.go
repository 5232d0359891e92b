//go:build unix

package diagnostics

import (
	"syscall"
)

// fileSystem is the use of the file system that holds a path.
func fileSystem(path string) (used, total uint64) {
	if path == "" || path == ":memory:" {
		return 0, 0
	}
	var st syscall.Statfs_t
	if syscall.Statfs(path, &st) != nil {
		return 0, 0
	}
	size := uint64(st.Bsize)
	return (st.Blocks - st.Bfree) * size, st.Blocks * size
}
