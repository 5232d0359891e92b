//go:build linux || darwin || freebsd

package bunt

import "golang.org/x/sys/unix"

// fileSystem returns the size and the free space of a directory's file system.
func fileSystem(dir string) (total, free int64, err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, 0, err
	}
	block := int64(st.Bsize) //nolint:unconvert // has another type on other systems
	return int64(st.Blocks) * block, int64(st.Bavail) * block, nil
}
