package diagnostics

import "syscall"

// openFilesLimit is how many files the process may have open, 0 if that is not known.
func openFilesLimit() int64 {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) != nil {
		return 0
	}
	return int64(l.Cur)
}
