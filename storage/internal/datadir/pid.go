package datadir

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// writePID writes the process id into the lock file, for error messages and
// operators.
func writePID(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// Owner describes the process that has the lock, if its file says so.
func Owner(f *os.File) string {
	b, err := io.ReadAll(io.LimitReader(f, 32))
	if err != nil {
		return ""
	}
	pid := strings.TrimSpace(string(b))
	if _, err := strconv.Atoi(pid); err != nil {
		return ""
	}
	return fmt.Sprintf(" (process %s)", pid)
}
